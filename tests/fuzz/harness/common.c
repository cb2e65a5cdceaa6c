/* common.c - what the fuzz targets share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/* Messages of what is refused would be most of the time and all of the output. */
__attribute__((constructor)) static void be_quiet(void)
{
    setenv("REX_LOG", "off", 1);
}

static void write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(file, bytes, size);
        FUZZ_CHECK(wrote > 0);
        bytes += wrote;
        size -= (size_t)wrote;
    }
}

const char *fuzz_file(int slot, const void *bytes, size_t size)
{
    static int files[2] = {-1, -1};
    static char paths[2][32];
    if (files[slot] < 0) {
        files[slot] = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_CHECK(files[slot] >= 0);
        snprintf(paths[slot], sizeof paths[slot], "/proc/self/fd/%d", files[slot]);
    }
    FUZZ_CHECK(ftruncate(files[slot], 0) == 0 && lseek(files[slot], 0, SEEK_SET) == 0);
    write_all(files[slot], bytes, size);
    return paths[slot];
}

void fuzz_read_string(const char *string)
{
    volatile size_t length = strlen(string);
    (void)length;
}

uint8_t *fuzz_copy(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(copy != NULL);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}
