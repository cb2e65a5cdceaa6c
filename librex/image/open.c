/*
 * open.c - look inside an image with the reader of its kind.
 *
 * Implements rex_image_view_open() of rex/image.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/open.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/container.h"
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
    return NULL;
}

static int read_ptx(struct rex_image_view *view, const void *bytes, size_t size)
{
    view->kind = REX_IMAGE_PTX;
    if (rex_ptx_read(view, bytes, size) == 0)
        return REX_OK;
    rex_view_close(view);
    return rex_fail_memory(size, "the symbols of PTX");
}

static int read_kind(struct rex_image_view *view, struct rex_elf *elf)
{
    if (elf->header.e_machine == EM_CUDA) {
        view->kind = REX_IMAGE_CUBIN;
        return rex_cubin_read(view, elf);
    }
    if (elf->header.e_machine != REX_HOST_MACHINE)
        elf->why = "it is for another processor";
    else if (elf->header.e_type != ET_DYN)
        elf->why = "it is for this processor and no shared object; link it with -shared";
    else {
        view->kind = REX_IMAGE_HOST;
        return rex_host_image_read(view, elf);
    }
    return -1;
}

int rex_view_open(struct rex_image_view *view, const void *bytes, size_t size, const char *name)
{
    struct rex_elf elf;
    const char *why = NULL;
    char suffix;
    memset(view, 0, sizeof *view);
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image %s is empty", name);
    if (rex_ptx_is(bytes, size, &view->architecture, &suffix))
        return read_ptx(view, bytes, size);
    if (rex_elf_open(&elf, bytes, size) != 0) {
        why = refused_kind(elf.bytes, size);
        return rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name,
                        why != NULL ? why : elf.why);
    }
    if (read_kind(view, &elf) == 0)
        return REX_OK;
    rex_view_close(view);
    return elf.why != NULL
               ? rex_fail(REX_EIMAGE, "device image %s cannot be used: %s", name, elf.why)
               : rex_fail_memory(size, "the symbols of a device image");
}

int rex_image_view_open(struct rex_image_view **view, const void *bytes, size_t size,
                        const char *name)
{
    if (view == NULL || bytes == NULL || name == NULL)
        return rex_fail(REX_EINVAL, "rex_image_view_open: %s is NULL",
                        view == NULL    ? "view"
                        : bytes == NULL ? "bytes"
                                        : "name");
    struct rex_image_view *opened = malloc(sizeof *opened);
    if (opened == NULL)
        return rex_fail_memory(sizeof *opened, "the view of an image");
    int result = rex_view_open(opened, bytes, size, name);
    if (result == REX_OK)
        *view = opened;
    else
        free(opened);
    return result;
}
