/*
 * view.h - the view of a device image of any kind: the symbols of the image, and the signatures of
 * its kernels. The reader of each kind of image adds the symbols. Other code finds the symbols by
 * name.
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

/* A symbol in the index by name. The name has LENGTH bytes. */
struct rex_view_name {
    uint64_t hash;
    size_t length;
    struct rex_image_symbol *symbol;
};

struct rex_view {
    struct rex_image_view shown; /* the view that a program sees; filled by rex_view_show() */
    enum rex_image_kind kind;
    unsigned architecture; /* SM number of a CUBIN, such as 90 */
    struct rex_image_symbol *symbols;
    size_t count, room;
    /* number of mangled signatures, which follow the `count` other symbols in `symbols` */
    size_t signatures;
    /*
     * parameters of all kernels; `first` of a kernel's symbol is the index of the kernel's first
     * parameter
     */
    struct rex_image_parameter *parameters;
    size_t parameter_count, parameter_room;
    struct rex_view_name *names; /* index of the symbols by name, sorted, without duplicates */
    size_t name_count;
    const char **positions; /* names in a host image's own entry table, in the table's order */
    size_t position_count;
    char *text;         /* a copy of the PTX in which each name ends with a NUL */
    unsigned char *own; /* the image's bytes if the view frees them, else NULL */
    size_t taken, most; /* bytes counted by rex_view_may_take(); maximum of `taken` */
    bool overfull;      /* the image needs more than `most` bytes */
    bool incomplete;    /* memory ran out or the view is overfull: something is missing */
};

/*
 * Completes a view that has been read: applies the mangled signatures, sets each symbol's pointer
 * to its parameters, and fills ->shown.
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
 * Returns the kernel whose name stands between PREFIX and SUFFIX in NAME. Returns NULL if there is
 * none.
 */
struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *prefix, const char *suffix);

/* Returns the size of KERNEL's static shared memory, without the bytes that the GPU reserves. */
uint32_t rex_view_own_memory(const struct rex_view *view, const struct rex_image_symbol *kernel);

/*
 * Returns the name in VIEW whose spelling is nearest to NAME. Compares with the names of kernels if
 * KERNEL is true, and with the names of globals if KERNEL is false. Returns NULL if no name is
 * near.
 */
const char *rex_view_nearest(const struct rex_view *view, const char *name, bool kernel);

/*
 * For the readers: if the memory of the view and BYTES together are within the maximum, adds BYTES
 * to the memory that the view has taken, and returns true. Otherwise returns false, and the view
 * becomes incomplete. Without a maximum, an image that unpacks from a few bytes could fill all
 * memory with symbols.
 */
bool rex_view_may_take(struct rex_view *view, size_t bytes);

/*
 * For the readers of CUBINs, PTX and host images. rex_view_add() adds a symbol; if there is no
 * memory for the symbol, the view becomes incomplete. Call rex_view_index() once, after all symbols
 * are added: it indexes them by name. rex_view_index() returns 0, or -1 if memory ran out.
 *
 * Some globals describe kernels: axpy_exec_mode describes the kernel axpy. rex_view_index() copies
 * `exec_mode` and `environment_mode` of such a global to the kernel. The readers of CUBINs and PTX
 * store byte 0 of each global in its `exec_mode`. The reader of CUBINs stores byte 2 in
 * `environment_mode`, for globals such as axpy_kernel_environment.
 */
void rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol);
int rex_view_index(struct rex_view *view);

/*
 * For the readers: adds COUNT zeroed parameters, and writes the index of the first to *FIRST. If
 * there is no memory for them, returns false, and the view becomes incomplete.
 */
bool rex_view_add_parameters(struct rex_view *view, size_t count, uint32_t *first);

/* ---- signatures ------------------------------------------------------------------------------ */

/*
 * A signature is a list of numbers: the form of a kernel, and the kind of each parameter. The form
 * tells whether the kernel has a parameter for the runtime. In CUBINs and PTX the numbers are in
 * the mangled name of an empty kernel; in host images they are in an array.
 */

/* The name of a host image's signature is this prefix and the kernel's name. */
#define REX_SIGNATURE_PREFIX "rex_signature_"

/*
 * For the readers, after the parameters of all kernels are known. Sets KERNEL's form and the kinds
 * of its parameters from the numbers between AT and END. Each number has 2 bytes. If END is NULL,
 * AT is text, in which "Lj12E" is the number 12. If KERNEL is NULL, does nothing.
 *
 * Ignores a malformed signature, and a signature with another number of parameters than KERNEL has.
 * If a parameter is wider in the signature than in the image, warns and ignores the signature. If
 * KERNEL of a host image has no parameters yet, adds the parameters of the signature to the view.
 */
void rex_signature_apply(struct rex_view *view, struct rex_image_symbol *kernel, const char *at,
                         const char *end);

/*
 * Returns the type of PARAMETER: "pointer", "double", or "struct of 4 bytes". The function may
 * write the type to TEXT and return TEXT.
 */
#define REX_PARAMETER_MAX 40
const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX]);

/*
 * Writes the parameters of a kernel to TEXT for messages, such as "(int64_t, double, pointer)".
 * Cuts the text off if TEXT is too short.
 */
#define REX_SIGNATURE_MAX 400
void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX]);

#endif
