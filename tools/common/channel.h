/*
 * channel.h - a pipe to a child.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_CHANNEL_H
#define TOOLS_CHANNEL_H

/*
 * Opens a pipe as pipe(2) does, but never with descriptors 0 to 2, even if the tool was started
 * without them. If an end were standard error, a library's messages would mix with the answer. If
 * dup2() gave an end to its own number, closing the end would lose it.
 */
int channel_open(int ends[2]);

#endif
