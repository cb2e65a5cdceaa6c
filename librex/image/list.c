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
#include "image/container.h"
#include "image/cubin.h"
#include "image/fatbin.h"
#include "image/open.h"
#include "image/ptx.h"

static int add(struct rex_image_list *list, const struct rex_image_item *item,
               enum rex_packing packing)
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

static int add_image(struct rex_image_list *list, size_t offset, size_t size)
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
static int add_fatbin(struct rex_image_list *list, size_t offset, size_t size, const char *name)
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

static int add_container(struct rex_image_list *list, size_t offset, size_t size, const char *name)
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
static int add_containers(struct rex_image_list *list, const char *name)
{
    int result = REX_OK;
    size_t at = 0, size;
    while (result == REX_OK && at < list->size &&
           rex_container_version(list->bytes + at, list->size - at) != 0) {
        size = rex_container_size(list->bytes + at, list->size - at);
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
static int add_plain(struct rex_image_list *list, const char *name)
{
    struct rex_image_view view;
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

static int add_all(struct rex_image_list *list, const char *name)
{
    if (rex_fatbin_is(list->bytes, list->size))
        return add_fatbin(list, 0, list->size, name);
    if (rex_container_version(list->bytes, list->size) != 0)
        return add_containers(list, name);
    return add_plain(list, name);
}

int rex_list_open(struct rex_image_list *list, const void *bytes, size_t size, const char *name)
{
    *list = (struct rex_image_list){.bytes = bytes, .size = size};
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

void rex_list_close(struct rex_image_list *list)
{
    free(list->entries);
    *list = (struct rex_image_list){0};
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

int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size,
                        const char *name)
{
    if (list == NULL || bytes == NULL || name == NULL)
        return rex_fail_null("rex_image_list_open", list == NULL    ? "list"
                                                    : bytes == NULL ? "bytes"
                                                                    : "name");
    struct rex_image_list *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the images of a file");
    int result = rex_list_open(opened, bytes, size, name);
    if (result == REX_OK)
        *list = opened;
    else
        free(opened);
    return result;
}

void rex_image_list_close(struct rex_image_list *list)
{
    if (list == NULL)
        return;
    rex_list_close(list);
    free(list);
}

const struct rex_image_item *rex_image_list_item(const struct rex_image_list *list, size_t index)
{
    if (list == NULL)
        rex_fail_null("rex_image_list_item", "list");
    return list != NULL && index < list->count ? &list->entries[index].item : NULL;
}
