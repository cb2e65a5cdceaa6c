/*
 * channel.c - a pipe to a child.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int move_away(int end)
{
    if (end > STDERR_FILENO)
        return end;
    int moved = fcntl(end, F_DUPFD, STDERR_FILENO + 1), error = errno;
    close(end);
    errno = error;
    return moved;
}

int channel_open(int ends[2])
{
    if (pipe(ends) != 0)
        return -1;
    ends[0] = move_away(ends[0]);
    ends[1] = move_away(ends[1]);
    return ends[0] >= 0 && ends[1] >= 0 ? 0 : -1;
}
