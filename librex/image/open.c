/*
 * open.c - look inside an image of a file with the reader of its kind.
 *
 * Implements rex_image_view_open() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/open.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/cubin.h"
#include "image/fatbin.h"
#include "image/hostimage.h"
#include "image/ptx.h"

static const char *refused_kind(const unsigned char *bytes, size_t size)
{
    if (rex_fatbin_is(bytes, size))
        return "it is a fatbin, and what is asked for is one of the images in it";
    if (rex_container_version(bytes, size) != 0)
        return "it is an OffloadBinary, and what is asked for is one of the images in it";
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return "it is not an ELF file; a device image is a CUBIN, a fatbin, PTX, an OffloadBinary "
               "or a shared object";
    return NULL;
}

/* dlopen() refuses a program, and LLVM 16 to 22 then stop the process. */
static bool is_program(const struct rex_elf *elf)
{
    Elf64_Shdr dynamic;
    Elf64_Dyn entry;
    if (elf->header.e_type != ET_DYN)
        return true;
    if (rex_elf_find_type(elf, SHT_DYNAMIC, &dynamic) != 0)
        return false;
    for (size_t i = 0; rex_elf_dynamic(elf, &dynamic, i, &entry) == 0; i++)
        if (entry.d_tag == DT_FLAGS_1)
            return (entry.d_un.d_val & DF_1_PIE) != 0;
    return false;
}

static int read_kind(struct rex_view *view, struct rex_elf *elf)
{
    if (elf->header.e_machine == EM_CUDA) {
        view->kind = REX_IMAGE_CUBIN;
        return rex_cubin_read(view, elf);
    }
    if (elf->header.e_machine != REX_HOST_MACHINE)
        elf->why = "it is for another processor";
    else if (is_program(elf))
        elf->why = "it is for this processor and no shared object; link it with -shared";
    else {
        view->kind = REX_IMAGE_HOST;
        return rex_host_image_read(view, elf);
    }
    return -1;
}

/* Why a reader has returned -1; WHY: what it says itself, NULL if nothing. */
static int failed(struct rex_view *view, const char *why, size_t size, const char *name)
{
    if (view->overfull)
        why = "it is compressed, and unpacks to more kernels and globals than so few bytes may";
    rex_view_close(view);
    return why != NULL ? rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name, why)
                       : rex_fail_memory(size, "the symbols of a device image");
}

int rex_view_open_within(struct rex_view *view, const void *bytes, size_t size, size_t most,
                         const char *name)
{
    struct rex_elf elf;
    char suffix;
    *view = (struct rex_view){.most = most};
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    if (rex_ptx_is(bytes, size, &view->architecture, &suffix)) {
        view->kind = REX_IMAGE_PTX;
        if (rex_ptx_read(view, bytes, size) != 0)
            return failed(view, NULL, size, name);
    } else if (rex_elf_open(&elf, bytes, size) != 0) {
        const char *why = refused_kind(elf.bytes, size);
        return failed(view, why != NULL ? why : elf.why, size, name);
    } else if (read_kind(view, &elf) != 0) {
        return failed(view, elf.why, size, name);
    }
    rex_view_show(view);
    return REX_OK;
}

int rex_view_open(struct rex_view *view, const void *bytes, size_t size, const char *name)
{
    return rex_view_open_within(view, bytes, size, SIZE_MAX, name);
}

/* ---- in a list ------------------------------------------------------------------------------ */

size_t rex_list_view_most(const struct rex_list *list, size_t index)
{
    uint64_t packed = list->entries[index].packed;
    return packed > 0 ? (size_t)packed * 2 : SIZE_MAX;
}

static int refuse_unpacked(const struct rex_list *list, uint64_t unpacked, const char *name)
{
    return rex_fail(REX_EIMAGE,
                    "device image %s would unpack to %llu bytes, of a file of %zu bytes: build it "
                    "with nvcc --no-compress",
                    name, (unsigned long long)unpacked, list->size);
}

int rex_list_bytes(const struct rex_list *list, size_t index, const char *name,
                   unsigned char **bytes, size_t *size)
{
    const struct rex_image_entry *entry = &list->entries[index];
    if (entry->packed > rex_unpack_most(list->size))
        return refuse_unpacked(list, entry->item.size, name);
    int result = rex_unpack(entry->packing, list->bytes + entry->item.offset, entry->item.stored,
                            entry->item.size, bytes, name);
    if (result == REX_OK)
        *size = entry->item.size;
    return result;
}

static int open_image(struct rex_view *view, const struct rex_list *list, size_t index,
                      const char *name)
{
    const struct rex_image_entry *entry = &list->entries[index];
    unsigned char *unpacked = NULL;
    size_t size;
    if (!entry->item.compressed)
        return rex_view_open(view, list->bytes + entry->item.offset, entry->item.size, name);
    /* All views may be open at a time. */
    if (entry->packed_before + entry->packed > rex_unpack_most(list->size))
        return refuse_unpacked(list, entry->packed_before + entry->packed, name);
    int result = rex_list_bytes(list, index, name, &unpacked, &size);
    if (result == REX_OK)
        result = rex_view_open_within(view, unpacked, size, rex_list_view_most(list, index), name);
    if (result == REX_OK)
        view->own = unpacked;
    else
        free(unpacked);
    return result;
}

int rex_image_view_open(struct rex_image_view **view, const struct rex_image_list *list,
                        size_t index, const char *name)
{
    if (list == NULL || name == NULL || view == NULL)
        return rex_fail_null("rex_image_view_open", view == NULL   ? "view"
                                                    : list == NULL ? "list"
                                                                   : "name");
    if (index >= list->count)
        return rex_fail(REX_EINVAL, "rex_image_view_open: there is no image %zu", index);
    struct rex_view *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the view of an image");
    int result = open_image(opened, (const struct rex_list *)list, index, name);
    if (result == REX_OK)
        *view = &opened->shown;
    else
        free(opened);
    return result;
}
