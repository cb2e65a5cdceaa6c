/*
 * extent.c - how many bytes of a file are an image.
 *
 * A file is read before it is looked into, and it may have any size: a name that is mistaken, or a
 * sparse file, would take the memory of the whole machine. So a large file's headers are read
 * first.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/extent.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/elf.h"
#include "image/fatbin.h"
#include "image/list.h"
#include "image/ptx.h"

#define SMALL ((size_t)16 << 20) /* read whole, whatever it is */
#define LARGEST_IMAGE ((uint64_t)1 << 30)
#define HEAD REX_PTX_HEAD /* which is enough for every other kind, too */

static size_t read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
    ssize_t got;
    do
        got = pread(fd, bytes, size, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

static uint64_t end_of(uint64_t offset, uint64_t size)
{
    return offset <= UINT64_MAX - size ? offset + size : UINT64_MAX;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* The end of the section or the header that lies last. */
static uint64_t elf_extent(int fd, const unsigned char *head)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    memcpy(&header, head, sizeof header);
    uint64_t extent = larger(end_of(header.e_shoff, (uint64_t)header.e_shnum * sizeof section),
                             end_of(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr)));
    for (size_t i = 0; i < header.e_shnum; i++)
        if (read_at(fd, header.e_shoff + i * sizeof section, &section, sizeof section) ==
                sizeof section &&
            section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
            extent = larger(extent, end_of(section.sh_offset, section.sh_size));
    return extent;
}

/* The end of the last of the containers that lie one behind the other. */
static uint64_t containers_extent(int fd, size_t size)
{
    unsigned char head[REX_CONTAINER_HEADER];
    uint64_t at = 0;
    size_t one = 1;
    while (one > 0 && at < size && at <= LARGEST_IMAGE) {
        size_t have = read_at(fd, at, head, sizeof head);
        one = have == sizeof head ? rex_container_size(head, size - (size_t)at) : 0;
        at += one;
    }
    return at;
}

/* 0 where the headers do not say it, or there are none: the reader says why. */
static uint64_t extent_of(int fd, size_t size, const unsigned char *head)
{
    unsigned architecture;
    char suffix;
    if (rex_fatbin_is(head, HEAD))
        return rex_fatbin_extent(head, HEAD);
    if (rex_container_version(head, HEAD) != 0)
        return containers_extent(fd, size);
    if (memcmp(head, ELFMAG, SELFMAG) == 0)
        return larger(elf_extent(fd, head), sizeof(Elf64_Ehdr));
    return rex_ptx_is(head, HEAD, &architecture, &suffix) ? size : 0;
}

size_t rex_image_extent(int fd, size_t size, char *why, size_t why_size)
{
    if (size <= SMALL)
        return size;
    unsigned char *head = malloc(HEAD);
    if (head == NULL || read_at(fd, 0, head, HEAD) != HEAD) {
        snprintf(why, why_size, head == NULL ? "out of memory" : "its first bytes cannot be read");
        errno = head == NULL ? ENOMEM : 0;
        free(head);
        return 0;
    }
    uint64_t extent = extent_of(fd, size, head);
    free(head);
    if (extent == 0)
        extent = HEAD;
    if (extent > size)
        extent = size; /* it is cut off, as its reader will say */
    if (extent <= LARGEST_IMAGE)
        return (size_t)extent;
    snprintf(why, why_size, "it is %llu bytes long, and no image is longer than a GiB",
             (unsigned long long)extent);
    errno = 0;
    return 0;
}
