/*
 * view.c - the symbols of a device image of any kind: added by the readers, and found by name.
 *
 * Implements rex_image_view_close(), rex_image_view_find() and rex_nearest_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/signature.h"

/* ---- what the readers put in ----------------------------------------------------------------- */

bool rex_view_may_take(struct rex_view *view, size_t bytes)
{
    view->overfull = view->overfull || bytes > view->most - view->taken;
    view->incomplete |= view->overfull;
    view->taken += view->overfull ? 0 : bytes;
    return !view->overfull;
}

/* ITEMS with room for ROOM of SIZE bytes; NULL where there is no memory for them. */
static void *grown(struct rex_view *view, void *items, size_t room, size_t size)
{
    void *more = reallocarray(items, room, size);
    view->incomplete |= more == NULL;
    return more;
}

void rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol)
{
    if (!rex_view_may_take(view, sizeof *symbol + sizeof *view->names))
        return;
    if (view->count == view->room) {
        size_t room = view->room == 0 ? 16 : view->room * 2;
        void *more = grown(view, view->symbols, room, sizeof *symbol);
        if (more == NULL)
            return;
        view->symbols = more;
        view->room = room;
    }
    view->symbols[view->count++] = *symbol;
}

bool rex_view_add_parameters(struct rex_view *view, size_t count, uint32_t *first)
{
    size_t wanted = view->parameter_count + count;
    view->incomplete |= wanted > UINT32_MAX;
    if (wanted > UINT32_MAX || !rex_view_may_take(view, count * sizeof *view->parameters))
        return false;
    if (wanted > view->parameter_room) {
        size_t room = wanted < 16 ? 32 : wanted * 2;
        void *more = grown(view, view->parameters, room, sizeof *view->parameters);
        if (more == NULL)
            return false;
        view->parameters = more;
        view->parameter_room = room;
    }
    if (count > 0)
        memset(view->parameters + view->parameter_count, 0, count * sizeof *view->parameters);
    *first = (uint32_t)view->parameter_count;
    view->parameter_count = wanted;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* By hash, so that few names are compared; then by name, since hashes can be made to collide. */
static int compare_names(const void *a, const void *b)
{
    const struct rex_view_name *one = a, *other = b;
    if (one->hash != other->hash)
        return one->hash < other->hash ? -1 : 1;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->symbol->name, other->symbol->name, one->length);
}

static struct rex_view_name name_of(struct rex_image_symbol *symbol, size_t length)
{
    return (struct rex_view_name){rex_hash_bytes(symbol->name, length), length, symbol};
}

/* The symbol called by the LENGTH bytes at NAME; NULL if there is none. */
static struct rex_image_symbol *find(const struct rex_view *view, const char *name, size_t length)
{
    struct rex_image_symbol wanted = {.name = name};
    const struct rex_view_name key = name_of(&wanted, length);
    const struct rex_view_name *found =
        bsearch(&key, view->names, view->name_count, sizeof key, compare_names);
    return found != NULL ? found->symbol : NULL;
}

struct rex_image_symbol *rex_view_find(const struct rex_view *view, const char *name)
{
    return find(view, name, strlen(name));
}

struct rex_image_symbol *rex_view_kernel(const struct rex_view *view, const char *name,
                                         size_t length)
{
    struct rex_image_symbol *kernel = find(view, name, length);
    return kernel != NULL && kernel->kernel ? kernel : NULL;
}

struct rex_image_symbol *rex_view_kernel_after(const struct rex_view *view, const char *name,
                                               const char *prefix)
{
    const char *rest = rex_name_after(name, prefix);
    return rest != NULL ? rex_view_kernel(view, rest, strlen(rest)) : NULL;
}

struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *suffix)
{
    size_t length = strlen(name), behind = strlen(suffix);
    return length > behind && strcmp(name + length - behind, suffix) == 0
               ? rex_view_kernel(view, name, length - behind)
               : NULL;
}

/* Signatures go behind the other symbols, and count no more: they are no kernels to launch. */
static void set_signatures_apart(struct rex_view *view)
{
    size_t kept = 0;
    for (size_t i = 0; i < view->count; i++) {
        struct rex_image_symbol symbol = view->symbols[i];
        if (symbol.kernel && rex_signature_is_mangled(symbol.name))
            continue;
        view->symbols[i] = view->symbols[kept];
        view->symbols[kept++] = symbol;
    }
    view->signatures = view->count - kept;
    view->count = kept;
}

/* Globals of a byte, by which rex/kernel.h told a kernel's form before there were signatures. */
#define ENV_PREFIX "rex_env_"
#define PLAIN_PREFIX "rex_plain_"

#define ENVIRONMENT_SUFFIX "_kernel_environment" /* LLVM 18 and later */

/* The name of SYMBOL, and the first bytes of a global, may tell of a kernel. */
static void read_mark(struct rex_view *view, struct rex_image_symbol *symbol)
{
    struct rex_image_symbol *kernel;
    if ((kernel = rex_view_kernel_after(view, symbol->name, ENV_PREFIX)) != NULL)
        kernel->env = true;
    if ((kernel = rex_view_kernel_after(view, symbol->name, PLAIN_PREFIX)) != NULL)
        kernel->plain = true;
    if (symbol->kernel)
        return;
    if ((kernel = rex_view_kernel_of(view, symbol->name, REX_EXEC_MODE_SUFFIX)) != NULL &&
        symbol->exec_mode != -1)
        kernel->exec_mode = symbol->exec_mode;
    if (view->kind == REX_IMAGE_CUBIN &&
        (kernel = rex_view_kernel_of(view, symbol->name, ENVIRONMENT_SUFFIX)) != NULL) {
        kernel->environment_size = symbol->size < UINT32_MAX ? (uint32_t)symbol->size : UINT32_MAX;
        kernel->environment_mode = symbol->environment_mode;
    }
    symbol->exec_mode = -1;
    symbol->environment_mode = 0;
}

/*
 * Names are sorted: a hash table would take the square of their number where all symbols have one
 * name. The first symbol of equal names is kept.
 */
int rex_view_index(struct rex_view *view)
{
    if (view->kind != REX_IMAGE_HOST)
        set_signatures_apart(view);
    view->names = calloc(view->count + 1, sizeof *view->names);
    if (view->names == NULL)
        return -1;
    for (size_t i = 0; i < view->count; i++)
        view->names[i] = name_of(&view->symbols[i], strlen(view->symbols[i].name));
    qsort(view->names, view->count, sizeof *view->names, compare_names);
    struct rex_view_name *last = view->names;
    for (size_t i = 0; i < view->count; i++) {
        if (i == 0 || compare_names(last, &view->names[i]) != 0)
            view->names[view->name_count++] = view->names[i];
        last = &view->names[view->name_count - 1];
        if (view->names[i].symbol < last->symbol)
            last->symbol = view->names[i].symbol;
    }
    for (size_t i = 0; i < view->count; i++)
        read_mark(view, &view->symbols[i]);
    return 0;
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* nvcc reserves a KiB from sm_90 on: that is no part of what the kernel may have. */
uint32_t rex_view_own_memory(const struct rex_view *view, const struct rex_image_symbol *kernel)
{
    uint32_t reserved = view->architecture >= 90 ? 1024 : 0;
    return kernel->shared_memory > reserved ? kernel->shared_memory - reserved : 0;
}

const char *rex_view_nearest(const struct rex_view *view, const char *name, bool kernel)
{
    struct rex_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < view->count; i++)
        if (view->symbols[i].kernel == kernel)
            rex_nearest_try(&nearest, view->symbols[i].name);
    return nearest.name;
}

/* Where the parameters of KERNEL are, and the first that is not 8 bytes wide. */
static void show_parameters(const struct rex_view *view, struct rex_image_symbol *kernel)
{
    if (kernel->parameters == 0 || kernel->parameters == REX_PARAMETERS_UNKNOWN)
        return;
    kernel->parameter = view->parameters + kernel->first;
    for (uint16_t i = 0; i < kernel->parameters && kernel->odd_size == 0; i++)
        if (kernel->parameter[i].size != 8) {
            kernel->odd_size = kernel->parameter[i].size;
            kernel->odd_index = i;
        }
}

void rex_view_show(struct rex_view *view)
{
    for (size_t i = 0; i < view->signatures; i++)
        rex_signature_read_mangled(view, view->symbols[view->count + i].name);
    for (size_t i = 0; i < view->count; i++)
        show_parameters(view, &view->symbols[i]);
    view->shown = (struct rex_image_view){.kind = view->kind,
                                          .architecture = view->architecture,
                                          .symbols = view->symbols,
                                          .symbol_count = view->count,
                                          .entries = view->positions,
                                          .entry_count = view->position_count};
}

void rex_view_close(struct rex_view *view)
{
    free(view->symbols);
    free(view->parameters);
    free(view->names);
    free(view->positions);
    free(view->text);
    free(view->own);
    memset(view, 0, sizeof *view);
}

/* ---- the public functions (rex/inspect.h) --------------------------------------------------- */

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

const char *rex_nearest_name(const char *name, const char *const *names, size_t count)
{
    struct rex_nearest nearest = {.wanted = name};
    if (name == NULL || (names == NULL && count > 0)) {
        rex_fail_null("rex_nearest_name", name == NULL ? "name" : "array of names");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        rex_nearest_try(&nearest, names[i]);
    return nearest.name;
}
