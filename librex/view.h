/* view.h - what a device image contains, whatever its kind. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_VIEW_H
#define REX_INTERNAL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elfview.h"

#define REX_PARAMETERS_UNKNOWN UINT16_MAX

/* A kernel or a global. Names point into the image. */
struct rex_symbol {
    const char *name;
    uint64_t size;       /* bytes of a global */
    uint16_t parameters; /* of a kernel, or REX_PARAMETERS_UNKNOWN */
    uint16_t odd_index;  /* the first parameter that is not 8 bytes wide, */
    uint32_t odd_size;   /* and its width; 0: there is none */
    bool kernel;
    bool env;            /* the image says that the first parameter is the runtime's */
};

enum rex_image_kind { REX_IMAGE_CUBIN, REX_IMAGE_HOST };

struct rex_view {
    enum rex_image_kind kind;
    unsigned architecture; /* SM number of a CUBIN: 90 */
    struct rex_symbol *symbols;
    size_t count, room;
    uint32_t *index; /* hash of names: index + 1 into symbols */
    size_t index_size;
    const char **positions; /* names of a host image's own entry table, in its order */
    size_t position_count;
};

/*
 * View an image. 0, or an error with its message recorded; NAME is what messages call the image. BYTES must outlive the view.
 */
int rex_view_open(struct rex_view *view, const void *bytes, size_t size, const char *name);
void rex_view_close(struct rex_view *view);

/* The symbol called NAME, NULL if there is none. */
struct rex_symbol *rex_view_find(const struct rex_view *view, const char *name);

/* The kernel (or global) whose name is nearest to NAME, NULL if none is near. */
const char *rex_view_nearest(const struct rex_view *view, const char *name, bool kernel);

/* For the readers: add a symbol, then index them all. 0 or -1: out of memory. */
int rex_view_add(struct rex_view *view, const struct rex_symbol *symbol);
int rex_view_index(struct rex_view *view);

/* The readers of each kind. 0, or -1 with ELF->why, NULL where memory ran out. */
int rex_cubin_read(struct rex_view *view, struct rex_elf *elf);
int rex_host_image_read(struct rex_view *view, struct rex_elf *elf);

#endif
