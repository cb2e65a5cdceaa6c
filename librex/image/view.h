/*
 * view.h - the view of a device image of any kind: its symbols, which the readers add and which are
 * found by name, and the signatures of its kernels.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_VIEW_H
#define REX_INTERNAL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/inspect.h"

/* Suffix of the symbol from which LLVM 14 to 17 read a kernel's execution mode. */
#define REX_EXEC_MODE_SUFFIX "_exec_mode"

/* A row of the index by name: a symbol, whose name has LENGTH bytes. */
struct rex_view_name {
    uint64_t hash;
    size_t length;
    struct rex_image_symbol *symbol;
};

struct rex_view {
    struct rex_image_view shown; /* as a program sees it; filled by rex_view_show() */
    enum rex_image_kind kind;
    unsigned architecture; /* SM number of a CUBIN: 90 */
    struct rex_image_symbol *symbols;
    size_t count, room;
    /* number of mangled signatures; they are stored after the symbols, and cannot be launched */
    size_t signatures;
    struct rex_image_parameter *parameters; /* of all kernels; indexed by a symbol's `first` */
    size_t parameter_count, parameter_room;
    struct rex_view_name *names; /* index of the symbols by name, sorted, without duplicates */
    size_t name_count;
    const char **positions; /* names in a host image's own entry table, in its order */
    size_t position_count;
    char *text;         /* a copy of the PTX in which each name ends with a NUL */
    unsigned char *own; /* the image's bytes if the view frees them, else NULL */
    size_t taken, most; /* bytes of all these arrays but `own`, and their maximum */
    bool overfull;      /* the image needs more than `most` bytes */
    bool incomplete;    /* memory ran out or the view is overfull: something is missing */
};

/*
 * Completes a view that has been read: applies its mangled signatures, sets the symbols' pointers
 * to their parameters, and fills ->shown.
 */
void rex_view_show(struct rex_view *view);

/* Frees the view's memory. */
void rex_view_close(struct rex_view *view);

/* Returns the symbol called NAME, or NULL. */
struct rex_image_symbol *rex_view_find(const struct rex_view *view, const char *name);

/* Returns the part of NAME after PREFIX, or NULL if NAME does not start with PREFIX. */
static inline const char *rex_name_after(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

/* Returns the kernel whose name is the LENGTH bytes at NAME, or NULL. */
struct rex_image_symbol *rex_view_kernel(const struct rex_view *view, const char *name,
                                         size_t length);

/*
 * Returns the kernel whose name stands between PREFIX and SUFFIX in NAME, or NULL if there is none.
 */
struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *prefix, const char *suffix);

/* Returns the bytes of KERNEL's static shared memory, without the hardware's reserved bytes. */
uint32_t rex_view_own_memory(const struct rex_view *view, const struct rex_image_symbol *kernel);

/* Returns the name of the kernel, or global, that is nearest to NAME; NULL if none is near. */
const char *rex_view_nearest(const struct rex_view *view, const char *name, bool kernel);

/*
 * For the readers: counts BYTES more for the view, and returns true if they are within its maximum.
 * Without a maximum, an image that unpacks from a few bytes could fill all memory with symbols.
 */
bool rex_view_may_take(struct rex_view *view, size_t bytes);

/*
 * For the readers: rex_view_add() adds a symbol; if there is no room for it, the view becomes
 * incomplete. rex_view_index() is called once, after all symbols are added, and indexes them by
 * name. Until then the modes of each global are its bytes 0 and 2, because some globals describe
 * kernels. Returns 0, or -1 if memory ran out.
 */
void rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol);
int rex_view_index(struct rex_view *view);

/*
 * For the readers: adds COUNT zeroed parameters, of which *FIRST is the first. Returns false if
 * there is no room for them; the view is incomplete then.
 */
bool rex_view_add_parameters(struct rex_view *view, size_t count, uint32_t *first);

/* ---- signatures ------------------------------------------------------------------------------ */

/*
 * A signature is a list of numbers: a form and the kind of each parameter. In CUBINs and PTX the
 * numbers are in the mangled name of an empty kernel; in host images they are in an array.
 */

/* The name of a host image's signature: this prefix, then the kernel's name. */
#define REX_SIGNATURE_PREFIX "rex_signature_"

/*
 * For the readers, after the parameters of all kernels are known: sets KERNEL's form and the kinds
 * of its parameters from the numbers between AT and END. Each number has 2 bytes; if END is NULL,
 * AT is text, with "Lj12E" for each number. KERNEL may be NULL. A signature is ignored if it is
 * malformed or KERNEL has another number of parameters. It is also ignored, with a warning, if it
 * makes a parameter wider than the image does. Adds parameters to the view if a host image's KERNEL
 * has none yet.
 */
void rex_signature_apply(struct rex_view *view, struct rex_image_symbol *kernel, const char *at,
                         const char *end);

/*
 * Returns PARAMETER in words: "pointer", "double", or "struct of 4 bytes", which it writes to TEXT.
 */
#define REX_PARAMETER_MAX 40
const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX]);

/*
 * Writes the parameters of a kernel to TEXT for messages, cut off if TEXT is too short: "(int64_t,
 * double, pointer)".
 */
#define REX_SIGNATURE_MAX 400
void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX]);

#endif
