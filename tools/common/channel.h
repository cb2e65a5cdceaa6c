/*
 * channel.h - a pipe to a child.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_CHANNEL_H
#define TOOLS_CHANNEL_H

/*
 * As pipe(2). No end has a number of 0 to 2, though the tool was started without these: what a
 * library says on standard error would be in between, and dup2() of such an end would close it.
 */
int channel_open(int ends[2]);

#endif
