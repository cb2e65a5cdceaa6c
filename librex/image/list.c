/*
 * list.c - lists the images in a file, and opens a view of each image with the reader of its kind.
 * A CUBIN, a host shared object and PTX are one image. A fatbin and an OffloadBinary have any
 * number of images.
 *
 * Implements the functions of rex/inspect.h for lists and views.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/cubin.h"
#include "image/elf.h"
#include "image/fatbin.h"
#include "image/hostimage.h"
#include "image/ptx.h"

/* ---- LLVM's OffloadBinary -------------------------------------------------------------------- */

/*
 * An OffloadBinary has a header, entries, strings and images. An entry has the offset and the size
 * of an image. Offsets are relative to the header. clang 15 to 17 register each image inside an
 * OffloadBinary.
 *
 * Version 1 of the format (LLVM 15 to 21) has one entry. In the field `entries_count` of the
 * header, version 1 has the size of the entry. The layouts are from llvm/Object/OffloadBinary.h:
 * version 1 of LLVM 16 and 19, version 2 of LLVM's main branch in 2026.
 */

static const unsigned char magic[] = {0x10, 0xff, 0x10, 0xad};

struct header {
    unsigned char magic[sizeof magic];
    uint32_t version;
    uint64_t size, entries_offset, entries_count; /* entries_count: version 2 only */
};

struct entry {
    uint16_t image_kind, producer;
    uint32_t flags;
    uint64_t strings_offset, strings_count, image_offset, image_size;
};

#define MOST_IMAGES 65536 /* more than any real file has */

_Static_assert(sizeof(struct header) == 32, "as the format has it");

uint32_t rex_container_version(const unsigned char *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    return memcmp(header.magic, magic, sizeof magic) == 0 ? header.version : 0;
}

size_t rex_container_images(const unsigned char *bytes, size_t size)
{
    struct header header;
    uint32_t version = rex_container_version(bytes, size);
    if (version < 1 || version > 2)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.entries_offset > size)
        return 0;
    /*
     * Limit the count, because a large sparse file could be a table of any number of empty images.
     */
    uint64_t count = version == 1 ? 1 : header.entries_count;
    uint64_t room = (size - header.entries_offset) / sizeof(struct entry);
    return count <= room && count <= MOST_IMAGES ? (size_t)count : 0;
}

int rex_container_image(const unsigned char *bytes, size_t size, size_t index,
                        struct rex_span *span)
{
    struct header header;
    struct entry entry;
    if (index >= rex_container_images(bytes, size))
        return -1;
    memcpy(&header, bytes, sizeof header);
    memcpy(&entry, bytes + header.entries_offset + index * sizeof entry, sizeof entry);
    if (entry.image_offset > size || entry.image_size > size - entry.image_offset)
        return -1;
    *span = (struct rex_span){(size_t)entry.image_offset, (size_t)entry.image_size};
    return 0;
}

/* ---- one image ------------------------------------------------------------------------------- */

static void set_image_kind(struct rex_image_item *item, const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    item->kind = REX_IMAGE_OTHER;
    item->architecture = rex_cubin_architecture(bytes, size);
    if (rex_ptx_is(bytes, size, &item->architecture, &item->suffix))
        item->kind = REX_IMAGE_PTX;
    else if (size >= sizeof header && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        memcpy(&header, bytes, sizeof header);
        item->kind = header.e_machine == EM_CUDA            ? REX_IMAGE_CUBIN
                     : header.e_machine == REX_HOST_MACHINE ? REX_IMAGE_HOST
                                                            : REX_IMAGE_OTHER;
    }
}

/*
 * Returns true if ELF is a program. A program cannot be a host image: dlopen() refuses a program,
 * and LLVM 16 to 22 end the process after this error.
 */
static bool is_program(const struct rex_elf *elf)
{
    Elf64_Shdr dynamic;
    Elf64_Dyn entry;
    if (elf->header.e_type != ET_DYN)
        return true;
    if (!rex_elf_find_type(elf, SHT_DYNAMIC, &dynamic))
        return false;
    for (size_t i = 0; rex_elf_row(elf, &dynamic, SHT_DYNAMIC, i, &entry, sizeof entry); i++)
        if (entry.d_tag == DT_FLAGS_1)
            return (entry.d_un.d_val & DF_1_PIE) != 0;
    return false;
}

int rex_view_open_within(struct rex_view *view, const void *bytes, size_t size, size_t most,
                         const char *name)
{
    struct rex_image_item item = {.size = size};
    struct rex_elf elf = {.why = NULL};
    set_image_kind(&item, bytes, size);
    *view = (struct rex_view){.kind = item.kind, .architecture = item.architecture, .most = most};
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    int result = -1;
    if (item.kind == REX_IMAGE_PTX)
        result = rex_ptx_read(view, bytes, size);
    else if (rex_elf_open(&elf, bytes, size) != 0) {
        if (rex_fatbin_is(bytes, size))
            elf.why = "it is a fatbin, not a single image";
        else if (rex_container_version(bytes, size) != 0)
            elf.why = "it is an OffloadBinary, not a single image";
        else if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
            elf.why = "it is none of these: CUBIN, fatbin, PTX (with .version and .target sm_NN), "
                      "OffloadBinary, shared object";
    } else if (item.kind == REX_IMAGE_CUBIN)
        result = rex_cubin_read(view, &elf);
    else if (item.kind != REX_IMAGE_HOST)
        elf.why = "it is for another processor";
    else if (is_program(&elf))
        elf.why = "it is for this processor, but it is not a shared object: link it with -shared";
    else
        result = rex_host_image_read(view, &elf);
    if (result == 0 && !view->incomplete) {
        rex_view_show(view);
        return REX_OK;
    }
    if (view->overfull)
        elf.why = "it is compressed, and has too many kernels and globals for a file of its size";
    rex_view_close(view);
    if (elf.why == NULL)
        return rex_fail_memory(size, "the symbols of a device image");
    return rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name, elf.why);
}

/* ---- the images of a file -------------------------------------------------------------------- */

/* bytes that each compressed image adds to the sum of unpacked bytes, besides its own size */
#define UNPACK_EACH 512

int rex_list_add(struct rex_list *list, const struct rex_image_item *item, enum rex_packing packing)
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
    entry->packed = item->compressed ? (uint64_t)item->size + UNPACK_EACH : 0;
    list->packed += entry->packed;
    return REX_OK;
}

static int add_unpacked_image(struct rex_list *list, size_t offset, size_t size)
{
    struct rex_image_item item = {.offset = offset, .stored = size, .size = size};
    set_image_kind(&item, list->bytes + offset, size);
    return rex_list_add(list, &item, REX_UNPACKED);
}

/* clang-offload-packager writes an OffloadBinary for each image, one after another. */
static int add_containers(struct rex_list *list, const char *name)
{
    struct header header;
    struct rex_span span;
    const char *why;
    for (size_t at = 0; rex_container_version(list->bytes + at, list->size - at) != 0;
         at += header.size) {
        const unsigned char *bytes = list->bytes + at;
        memcpy(&header, bytes, sizeof header);
        why = "is truncated";
        if (header.size > list->size - at)
            goto refuse;
        size_t count = rex_container_images(bytes, header.size), room = header.size;
        if (header.version > 2)
            why = "has an unknown version";
        else if (header.version == 2 && header.entries_count == 0)
            why = "has no image";
        if (count == 0)
            goto refuse;
        for (size_t i = 0; i < count; i++) {
            /*
             * Refuse images that overlap. If overlapping images were fatbins, listing the members
             * of all images would take quadratic time.
             */
            if (rex_container_image(bytes, header.size, i, &span) != 0)
                goto refuse;
            if (span.size > room) {
                why = "has images that overlap";
                goto refuse;
            }
            room -= span.size;
            int result = rex_fatbin_is(bytes + span.offset, span.size)
                             ? rex_fatbin_list(list, at + span.offset, span.size, name)
                             : add_unpacked_image(list, at + span.offset, span.size);
            if (result != REX_OK)
                return result;
        }
    }
    return REX_OK;
refuse:
    return rex_fail(REX_EIMAGE, "device image %s cannot be used: its OffloadBinary %s", name, why);
}

int rex_list_open(struct rex_list *list, const void *bytes, size_t size, const char *name)
{
    /*
     * A few bytes can claim to unpack to a gigabyte, so the unpacked bytes have a limit. nvcc's
     * images unpack to 3 to 8 times their size. A small image may unpack to a large table of
     * zeroes, so the limit includes 16 MiB. The views of compressed images may take twice the
     * unpacked bytes. So a file, the unpacked images and their views take less than 64 MiB plus 32
     * times the file's size.
     */
    uint64_t unpack_most = ((uint64_t)16 << 20) + (uint64_t)size * 10;
    *list = (struct rex_list){.bytes = bytes, .size = size, .unpack_most = unpack_most};
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    int result;
    if (rex_fatbin_is(bytes, size))
        result = rex_fatbin_list(list, 0, size, name);
    else if (rex_container_version(bytes, size) != 0)
        result = add_containers(list, name);
    else {
        struct rex_view view;
        list->plain = true;
        result = add_unpacked_image(list, 0, size);
        /* If the kind of the image is unknown, rex_view_open_within() fails and sets the error. */
        if (result == REX_OK && list->entries[0].item.kind == REX_IMAGE_OTHER)
            result = rex_view_open_within(&view, bytes, size, SIZE_MAX, name);
    }
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
                                        [REX_IMAGE_OTHER] = "another target (not usable)"};
    snprintf(buffer, REX_TARGET_MAX, forms[item->kind], item->architecture, &item->suffix);
    return buffer;
}

/* ---- one image of the list ------------------------------------------------------------------- */

size_t rex_list_view_most(const struct rex_list *list, size_t index)
{
    uint64_t packed = list->entries[index].packed;
    return packed > 0 ? (size_t)packed * 2 : SIZE_MAX;
}

static int refuse_unpacked(const struct rex_list *list, uint64_t unpacked, const char *name)
{
    return rex_fail(REX_EIMAGE,
                    "device image %s would unpack to %llu bytes, too many for a file of %zu bytes: "
                    "build it with nvcc --no-compress",
                    name, (unsigned long long)unpacked, list->size);
}

int rex_list_bytes(const struct rex_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size)
{
    const struct rex_image_entry *entry = &list->entries[index];
    if (entry->packed > list->unpack_most)
        return refuse_unpacked(list, entry->item.size, name);
    int result = rex_unpack(entry->packing, list->bytes + entry->item.offset, entry->item.stored,
                            entry->item.size, bytes, name);
    if (result == REX_OK)
        *size = entry->item.size;
    return result;
}

/* ---- the functions of rex/inspect.h ---------------------------------------------------------- */

int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size,
                        const char *name)
{
    if (list == NULL || bytes == NULL || name == NULL)
        return rex_fail_null("rex_image_list_open", list == NULL    ? "pointer to the list"
                                                    : bytes == NULL ? "pointer to the bytes"
                                                                    : "name");
    struct rex_list *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the images of a file");
    struct rex_image_item *items = NULL;
    int result = rex_list_open(opened, bytes, size, name);
    if (result == REX_OK && (items = calloc(opened->count, sizeof *items)) == NULL)
        result = rex_fail_memory(opened->count * sizeof *items, "the images of a file");
    if (result != REX_OK) {
        rex_image_list_close(&opened->shown);
        return result;
    }
    /* A program sees an array of items, without the other fields of the entries. */
    for (size_t i = 0; i < opened->count; i++)
        items[i] = opened->entries[i].item;
    opened->shown = (struct rex_image_list){.items = items, .count = opened->count};
    *list = &opened->shown;
    return REX_OK;
}

void rex_image_list_close(struct rex_image_list *list)
{
    if (list == NULL)
        return;
    rex_list_close((struct rex_list *)list);
    free(list);
}

int rex_image_view_open(struct rex_image_view **view, const struct rex_image_list *list,
                        size_t index, const char *name)
{
    if (list == NULL || name == NULL || view == NULL)
        return rex_fail_null("rex_image_view_open", view == NULL   ? "view"
                                                    : list == NULL ? "list"
                                                                   : "name");
    if (index >= list->count)
        return rex_fail(REX_EINVAL, "rex_image_view_open: image %zu does not exist", index);
    struct rex_view *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the view of an image");
    const struct rex_list *images = (const struct rex_list *)list;
    const struct rex_image_entry *entry = &images->entries[index];
    const unsigned char *bytes = images->bytes + entry->item.offset;
    unsigned char *unpacked = NULL;
    size_t size = entry->item.size, most = SIZE_MAX;
    int result;
    if (entry->item.compressed) {
        /*
         * A program may have views of all images open, so the sum includes the compressed images
         * before this image.
         */
        uint64_t sum = entry->packed_before + entry->packed;
        if (sum > images->unpack_most)
            result = refuse_unpacked(images, sum, name);
        else
            result = rex_list_bytes(images, index, name, &unpacked, &size);
        if (result != REX_OK)
            goto failed;
        bytes = unpacked;
        most = rex_list_view_most(images, index);
    }
    result = rex_view_open_within(opened, bytes, size, most, name);
    if (result != REX_OK)
        goto failed;
    opened->own = unpacked;
    *view = &opened->shown;
    return REX_OK;
failed:
    free(unpacked);
    free(opened);
    return result;
}

void rex_image_view_close(struct rex_image_view *view)
{
    if (view == NULL)
        return;
    rex_view_close((struct rex_view *)view);
    free(view);
}

const struct rex_image_symbol *rex_image_view_find(const struct rex_image_view *view,
                                                   const char *name)
{
    if (view != NULL && name != NULL)
        return rex_view_find((const struct rex_view *)view, name);
    rex_fail_null("rex_image_view_find", view == NULL ? "view" : "name");
    return NULL;
}
