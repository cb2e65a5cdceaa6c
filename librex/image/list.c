/*
 * list.c - the images inside a file: a CUBIN, a host shared object and PTX are one, a fatbin and an
 * OffloadBinary hold any number.
 *
 * Implements the functions of rex/inspect.h that ask a list.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/cubin.h"
#include "image/fatbin.h"
#include "image/open.h"
#include "image/ptx.h"

/*
 * ---- LLVM's OffloadBinary: a header, entries that say where the images lie, strings, images
 * --------
 *
 * clang 15 to 17 register their images inside one. Version 1 (LLVM 15 to 21) has one entry, whose
 * size stands where version 2 has the number of entries. Offsets count from the header.
 * llvm/Object/OffloadBinary.h of LLVM 16 and 19; version 2 as in LLVM's main of 2026.
 */

static const unsigned char magic[] = {0x10, 0xff, 0x10, 0xad};

struct header {
    unsigned char magic[sizeof magic];
    uint32_t version;
    uint64_t size, entries_offset, entries_count; /* the count in version 2 alone */
};

struct entry {
    uint16_t image_kind, producer;
    uint32_t flags;
    uint64_t strings_offset, strings_count, image_offset, image_size;
};

#define MOST_IMAGES 65536 /* more than any file has */

_Static_assert(sizeof(struct header) == 32, "as the format has it");

/* The header if there is one of a known version; what it says may be wrong. */
static int read_header(const unsigned char *bytes, size_t size, struct header *header)
{
    if (size < sizeof *header)
        return -1;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->magic, magic, sizeof magic) == 0 ? 0 : -1;
}

uint32_t rex_container_version(const unsigned char *bytes, size_t size)
{
    struct header header;
    return read_header(bytes, size, &header) == 0 ? header.version : 0;
}

size_t rex_container_images(const unsigned char *bytes, size_t size)
{
    struct header header;
    if (read_header(bytes, size, &header) != 0 || header.version < 1 || header.version > 2 ||
        header.entries_offset > size)
        return 0;
    /* A hole of any size would be a table of empty images. */
    uint64_t room = (size - header.entries_offset) / sizeof(struct entry);
    room = room < MOST_IMAGES ? room : MOST_IMAGES;
    uint64_t count = header.version == 1 ? 1 : header.entries_count;
    return count <= room ? (size_t)count : 0;
}

int rex_container_image(const unsigned char *bytes, size_t size, size_t index,
                        struct rex_span *span)
{
    struct header header;
    struct entry entry;
    if (index >= rex_container_images(bytes, size) || read_header(bytes, size, &header) != 0)
        return -1;
    memcpy(&entry, bytes + header.entries_offset + index * sizeof entry, sizeof entry);
    if (entry.image_offset > size || entry.image_size > size - entry.image_offset)
        return -1;
    *span = (struct rex_span){(size_t)entry.image_offset, (size_t)entry.image_size};
    return 0;
}

/* Bytes of the whole container, as its header says; 0 if it is none, or ends before that. */
static size_t container_size(const unsigned char *bytes, size_t size)
{
    struct header header;
    return read_header(bytes, size, &header) == 0 && header.size >= sizeof header &&
                   header.size <= size
               ? (size_t)header.size
               : 0;
}

/* ---- the list -------------------------------------------------------------------------------- */

static int add(struct rex_list *list, const struct rex_image_item *item, enum rex_packing packing)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 4 : list->room * 2;
        struct rex_image_entry *grown = reallocarray(list->entries, room, sizeof *grown);
        if (grown == NULL)
            return rex_fail_memory(room * sizeof *grown, "the images of a file");
        list->entries = grown;
        list->room = room;
    }
    struct rex_image_entry *entry = &list->entries[list->count++];
    *entry = (struct rex_image_entry){*item, packing, list->packed, 0};
    entry->item.compressed = packing != REX_UNPACKED;
    entry->packed = entry->item.compressed ? (uint64_t)item->size + REX_UNPACK_EACH : 0;
    list->packed += entry->packed;
    return REX_OK;
}

/* ---- one image ------------------------------------------------------------------------------- */

static void tell_kind(struct rex_image_item *item, const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr header;
    item->kind = REX_IMAGE_OTHER;
    item->architecture = rex_cubin_architecture(bytes, size);
    if (item->architecture > 0)
        item->kind = REX_IMAGE_CUBIN;
    else if (rex_ptx_is(bytes, size, &item->architecture, &item->suffix))
        item->kind = REX_IMAGE_PTX;
    else if (size >= sizeof header && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        memcpy(&header, bytes, sizeof header);
        item->kind = header.e_machine == REX_HOST_MACHINE ? REX_IMAGE_HOST : REX_IMAGE_OTHER;
    }
}

static int add_image(struct rex_list *list, size_t offset, size_t size)
{
    struct rex_image_item item = {.offset = offset, .stored = size, .size = size};
    tell_kind(&item, list->bytes + offset, size);
    return add(list, &item, REX_UNPACKED);
}

/* ---- fatbins --------------------------------------------------------------------------------- */

/*
 * OFFSET: of the fatbin in the file. A member that is neither PTX nor a CUBIN, like the
 * intermediate code of -dlto, is OTHER.
 */
static int add_fatbin(struct rex_list *list, size_t offset, size_t size, const char *name)
{
    struct rex_fatbin fatbin = {.bytes = list->bytes + offset, .size = size};
    struct rex_fatbin_member member;
    int more = 0, result = REX_OK;
    while (result == REX_OK && (more = rex_fatbin_next(&fatbin, &member)) > 0) {
        const struct rex_image_item item = {
            .kind = member.kind == REX_FATBIN_CUBIN ? REX_IMAGE_CUBIN
                    : member.kind == REX_FATBIN_PTX ? REX_IMAGE_PTX
                                                    : REX_IMAGE_OTHER,
            .architecture = member.architecture,
            .suffix = member.suffix,
            .offset = (size_t)(member.payload - list->bytes),
            .stored = member.stored,
            .size = member.size,
        };
        result = add(list, &item, member.packing);
    }
    return result == REX_OK && more < 0
               ? rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name, fatbin.why)
               : result;
}

/* ---- OffloadBinary --------------------------------------------------------------------------- */

static int cut_off(const char *name)
{
    return rex_fail(REX_EIMAGE,
                    "device image %s cannot be used: its OffloadBinary is truncated, or of a "
                    "version that is not known, or its images overlap",
                    name);
}

static int add_container(struct rex_list *list, size_t offset, size_t size, const char *name)
{
    const unsigned char *bytes = list->bytes + offset;
    size_t count = rex_container_images(bytes, size), room = size;
    struct rex_span span;
    int result = count > 0 ? REX_OK : cut_off(name);
    for (size_t i = 0; result == REX_OK && i < count; i++) {
        /*
         * Images that lie over each other, each a fatbin, would be the square of the file's size to
         * list.
         */
        if (rex_container_image(bytes, size, i, &span) != 0 || span.size > room)
            return cut_off(name);
        room -= span.size;
        result = rex_fatbin_is(bytes + span.offset, span.size)
                     ? add_fatbin(list, offset + span.offset, span.size, name)
                     : add_image(list, offset + span.offset, span.size);
    }
    return result;
}

/* clang-offload-packager writes a container for each image, one behind the other. */
static int add_containers(struct rex_list *list, const char *name)
{
    int result = REX_OK;
    size_t at = 0, size;
    while (result == REX_OK && at < list->size &&
           rex_container_version(list->bytes + at, list->size - at) != 0) {
        size = container_size(list->bytes + at, list->size - at);
        if (size == 0)
            return cut_off(name);
        result = add_container(list, at, size, name);
        at += size;
    }
    return result;
}

/* ---- a file ---------------------------------------------------------------------------------- */

/*
 * The image that the file is. Where that cannot be told from its first bytes, whoever looks inside
 * says why.
 */
static int add_plain(struct rex_list *list, const char *name)
{
    struct rex_view view;
    int result = add_image(list, 0, list->size);
    list->plain = true;
    if (result != REX_OK || list->entries[0].item.kind != REX_IMAGE_OTHER)
        return result;
    result = rex_view_open(&view, list->bytes, list->size, name);
    if (result != REX_OK)
        return result;
    list->entries[0].item.kind = view.kind;
    rex_view_close(&view);
    return REX_OK;
}

static int add_all(struct rex_list *list, const char *name)
{
    if (rex_fatbin_is(list->bytes, list->size))
        return add_fatbin(list, 0, list->size, name);
    if (rex_container_version(list->bytes, list->size) != 0)
        return add_containers(list, name);
    return add_plain(list, name);
}

int rex_list_open(struct rex_list *list, const void *bytes, size_t size, const char *name)
{
    *list = (struct rex_list){.bytes = bytes, .size = size};
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    int result = add_all(list, name);
    if (result == REX_OK && list->count == 0)
        result = rex_fail(REX_EIMAGE,
                          "device image %s cannot be used: it is a fatbin without a member", name);
    if (result != REX_OK)
        rex_list_close(list);
    return result;
}

void rex_list_close(struct rex_list *list)
{
    free(list->entries);
    free((void *)(uintptr_t)list->shown.items);
    *list = (struct rex_list){0};
}

const char *rex_item_target(const struct rex_image_item *item, char buffer[REX_TARGET_MAX])
{
    static const char *const forms[] = {[REX_IMAGE_CUBIN] = "sm_%u%.1s",
                                        [REX_IMAGE_HOST] = "the CPU",
                                        [REX_IMAGE_PTX] = "compute_%u%.1s (PTX)",
                                        [REX_IMAGE_OTHER] = "another runtime"};
    snprintf(buffer, REX_TARGET_MAX, forms[item->kind], item->architecture, &item->suffix);
    return buffer;
}

/* ---- the public face (rex/inspect.h) --------------------------------------------------------- */

/* Users see the images side by side, without what librex keeps of each. */
static int show(struct rex_list *list)
{
    struct rex_image_item *items = reallocarray(NULL, list->count, sizeof *items);
    if (items == NULL)
        return rex_fail_memory(list->count * sizeof *items, "the images of a file");
    for (size_t i = 0; i < list->count; i++)
        items[i] = list->entries[i].item;
    list->shown = (struct rex_image_list){.items = items, .count = list->count};
    return REX_OK;
}

int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size,
                        const char *name)
{
    if (list == NULL || bytes == NULL || name == NULL)
        return rex_fail_null("rex_image_list_open", list == NULL    ? "list"
                                                    : bytes == NULL ? "bytes"
                                                                    : "name");
    struct rex_list *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the images of a file");
    int result = rex_list_open(opened, bytes, size, name);
    if (result == REX_OK && (result = show(opened)) != REX_OK)
        rex_list_close(opened);
    if (result == REX_OK)
        *list = &opened->shown;
    else
        free(opened);
    return result;
}

void rex_image_list_close(struct rex_image_list *list)
{
    if (list == NULL)
        return;
    rex_list_close((struct rex_list *)list);
    free(list);
}
