/*
 * channel.h - a pipe to a child.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_CHANNEL_H
#define TOOLS_CHANNEL_H

/*
 * Opens a pipe as pipe(2) does, but never with descriptors 0 to 2, even if these were closed when
 * the tool started. If an end of the pipe were descriptor 2, messages of a library would mix with
 * the data. A child copies an end to descriptor 1 by dup2(), and then closes the end. If the end
 * already were descriptor 1, the child would close its standard output.
 */
int channel_open(int ends[2]);

#endif
