/*
 * mapping.c - maps a file of any size instead of reading it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int refuse(char why[MAPPING_WHY], const char *reason)
{
    snprintf(why, MAPPING_WHY, "%s", reason);
    return -1;
}

static int check(int descriptor, struct stat *status, char why[MAPPING_WHY])
{
    if (fstat(descriptor, status) != 0)
        return refuse(why, strerror(errno));
    if (!S_ISREG(status->st_mode))
        return refuse(why,
                      S_ISDIR(status->st_mode) ? "it is a folder" : "it is not a regular file");
    return status->st_size > 0 ? 0 : refuse(why, "it is empty");
}

int mapping_open(const char *path, struct stat *status, char why[MAPPING_WHY])
{
    /* Without O_NONBLOCK, open() of a pipe would wait until the pipe has a writer. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return refuse(why, strerror(errno));
    if (check(descriptor, status, why) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

const void *mapping_make(int descriptor, const struct stat *status, char why[MAPPING_WHY])
{
    void *bytes = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED)
        return bytes;
    snprintf(why, MAPPING_WHY, "its %lld bytes cannot be mapped: %s", (long long)status->st_size,
             strerror(errno));
    return NULL;
}

void mapping_end(const void *bytes, size_t size)
{
    munmap((void *)(uintptr_t)bytes, size);
}
