/*
 * sourcetext.c - sources in memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "sourcetext.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_SOURCE ((size_t)256 << 20)

static int fail(const char *path, const char *reason, char why[256])
{
    snprintf(why, 256, "%.150s: %s", path, reason);
    return -1;
}

/* More room for TEXT, which is full. */
static bool grow(struct source_text *text, size_t *room)
{
    size_t wanted = *room == 0 ? 65536 : *room * 2;
    char *grown = wanted <= LARGEST_SOURCE ? realloc(text->bytes, wanted) : NULL;
    if (grown == NULL)
        return false;
    text->bytes = grown;
    *room = wanted;
    return true;
}

/* Reads all of FILE, which may be a pipe. Why it cannot be used; NULL: it can. */
static const char *read_all(FILE *file, struct source_text *text)
{
    size_t room = 0, got;
    do {
        if (text->size == room && !grow(text, &room))
            return "it is larger than any source";
        got = fread(text->bytes + text->size, 1, room - text->size, file);
        if (memchr(text->bytes + text->size, '\0', got) != NULL)
            return "it is no source: --source wants C, C++ and CUDA files";
        text->size += got;
    } while (got > 0);
    return ferror(file) ? strerror(errno) : NULL;
}

int source_text_read(const char *path, struct source_text *text, char why[256])
{
    FILE *file = fopen(path, "re");
    const char *reason = file != NULL ? read_all(file, text) : strerror(errno);
    if (file != NULL)
        fclose(file);
    return reason == NULL ? 0 : fail(path, reason, why);
}
