/*
 * view.h - the symbols of a device image of any kind: added by the readers, and found by name; the
 * signatures of its kernels.
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

/* LLVM 14 to 17 append it to a kernel's name. */
#define REX_EXEC_MODE_SUFFIX "_exec_mode"

/* A symbol, as it is found by its name, of LENGTH bytes. */
struct rex_view_name {
    uint64_t hash;
    size_t length;
    struct rex_image_symbol *symbol;
};

struct rex_view {
    struct rex_image_view shown; /* for users: the fields below, by rex_view_show() */
    enum rex_image_kind kind;
    unsigned architecture; /* SM number of a CUBIN: 90 */
    struct rex_image_symbol *symbols;
    size_t count, room;
    size_t signatures; /* behind the symbols: mangled names, which are no kernels to launch */
    struct rex_image_parameter *parameters; /* of all kernels; a kernel's begin at its `first` */
    size_t parameter_count, parameter_room;
    struct rex_view_name *names; /* of the symbols, each once, in order */
    size_t name_count;
    const char **positions; /* names of a host image's own entry table, in its order */
    size_t position_count;
    char *text;         /* a copy of PTX, in which its names end with a NUL */
    unsigned char *own; /* the image's bytes, where they belong to the view */
    size_t taken, most; /* bytes of all these but the last, and how many there may be */
    bool overfull;      /* there would have been more */
    bool incomplete;    /* memory ran out, or it is overfull: what is missing is not used */
};

/*
 * The image has been read: apply its mangled signatures, set the symbols' pointers to their
 * parameters, and fill ->shown.
 */
void rex_view_show(struct rex_view *view);

/* Free what the view holds. */
void rex_view_close(struct rex_view *view);

/* The symbol called NAME, NULL if there is none. */
struct rex_image_symbol *rex_view_find(const struct rex_view *view, const char *name);

/* The rest of NAME behind PREFIX; NULL where NAME does not begin with it. */
static inline const char *rex_name_after(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

/* The kernel called by the LENGTH bytes at NAME, or NULL. */
struct rex_image_symbol *rex_view_kernel(const struct rex_view *view, const char *name,
                                         size_t length);

/*
 * The kernel that the symbol called NAME is about, whose name stands between PREFIX and SUFFIX
 * there; NULL if it is about none.
 */
struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *prefix, const char *suffix);

/* Bytes of shared memory of KERNEL's own, without what is reserved for the hardware. */
uint32_t rex_view_own_memory(const struct rex_view *view, const struct rex_image_symbol *kernel);

/* The kernel (or global) whose name is nearest to NAME, NULL if none is near. */
const char *rex_view_nearest(const struct rex_view *view, const char *name, bool kernel);

/*
 * For the readers: whether so many bytes more may be taken for the view. Otherwise an image that
 * unpacks from a few bytes could fill all memory with symbols.
 */
bool rex_view_may_take(struct rex_view *view, size_t bytes);

/*
 * For the readers: add a symbol; then, once, make all of them known by their names. Some globals
 * tell of kernels: until rex_view_index() the modes of each global are its bytes 0 and 2. A view
 * without room for a symbol is incomplete from then on. 0 or -1: there is no memory.
 */
void rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol);
int rex_view_index(struct rex_view *view);

/*
 * For the readers: COUNT more parameters, zeroed; the first is *FIRST. False where there is no
 * room, likewise.
 */
bool rex_view_add_parameters(struct rex_view *view, size_t count, uint32_t *first);

/* ---- signatures ------------------------------------------------------------------------------ */

/*
 * A signature is numbers: a form and the kind of each parameter. In a CUBIN and in PTX they are in
 * the mangled name of an empty kernel, in a host image they are an array.
 */

/* In a host image a signature has this and the kernel's name. */
#define REX_SIGNATURE_PREFIX "rex_signature_"

/*
 * For the readers, once the parameters of all kernels are known: the numbers AT up to END tell
 * KERNEL's form and the kinds of its parameters. They are of 2 bytes each, or text, "Lj12E" each,
 * if END is NULL. KERNEL may be NULL. A signature that is malformed, or not
 * of a kernel with as many parameters, tells nothing. One with a parameter that is wider than the
 * image's tells nothing either, and a warning says so. Room for parameters may be added.
 */
void rex_signature_apply(struct rex_view *view, struct rex_image_symbol *kernel, const char *at,
                         const char *end);

/* PARAMETER in words: "pointer", "double", or "struct of 4 bytes", which is put into TEXT. */
#define REX_PARAMETER_MAX 40
const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX]);

/*
 * The parameters of a kernel as messages list them, cut off where TEXT ends: "(int64_t,
 * double, pointer)".
 */
#define REX_SIGNATURE_MAX 400
void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX]);

#endif
