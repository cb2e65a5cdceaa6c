/*
 * view.c - what a device image contains, whatever its kind: what the readers put into a view, and
 * what is found in one.
 *
 * Implements rex_image_view_close(), rex_image_view_find() and rex_nearest_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"

/* ---- what the readers put in ----------------------------------------------------------------- */

bool rex_view_may_take(struct rex_view *view, size_t bytes)
{
    view->overfull = view->overfull || bytes > view->most - view->taken;
    view->taken += view->overfull ? 0 : bytes;
    return !view->overfull;
}

int rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol)
{
    if (!rex_view_may_take(view, sizeof *symbol + sizeof *view->names) || view->count == UINT32_MAX)
        return -1;
    if (view->count == view->room) {
        size_t room = view->room == 0 ? 16 : view->room * 2;
        struct rex_image_symbol *grown = reallocarray(view->symbols, room, sizeof *grown);
        if (grown == NULL)
            return -1;
        view->symbols = grown;
        view->room = room;
    }
    view->symbols[view->count++] = *symbol;
    return 0;
}

int rex_view_add_parameters(struct rex_view *view, size_t count, uint32_t *first)
{
    size_t wanted = view->parameter_count + count;
    if (wanted > UINT32_MAX || !rex_view_may_take(view, count * sizeof *view->parameters))
        return -1;
    if (wanted > view->parameter_room) {
        size_t room = wanted < 16 ? 32 : wanted * 2;
        struct rex_image_parameter *grown = reallocarray(view->parameters, room, sizeof *grown);
        if (grown == NULL)
            return -1;
        view->parameters = grown;
        view->parameter_room = room;
    }
    if (count > 0)
        memset(view->parameters + view->parameter_count, 0, count * sizeof *view->parameters);
    *first = (uint32_t)view->parameter_count;
    view->parameter_count = wanted;
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *name_of(const struct rex_view *view, const struct rex_view_name *one)
{
    return view->symbols[one->symbol].name;
}

/* By hash, so that few names are compared; then by name, since hashes can be made to collide. */
static int compare(const struct rex_view *view, const struct rex_view_name *one, uint64_t hash,
                   const char *name)
{
    if (one->hash != hash)
        return one->hash < hash ? -1 : 1;
    return strcmp(name_of(view, one), name);
}

static int compare_names(const void *a, const void *b, void *view)
{
    const struct rex_view_name *one = a, *other = b;
    int order = compare(view, one, other->hash, name_of(view, other));
    return order != 0 ? order : one->symbol < other->symbol ? -1 : one->symbol > other->symbol;
}

#define ENV_PREFIX "rex_env_"
#define PLAIN_PREFIX "rex_plain_"

struct rex_image_symbol *rex_view_kernel_after(const struct rex_view *view, const char *name,
                                               const char *prefix)
{
    size_t length = strlen(prefix);
    struct rex_image_symbol *kernel =
        strncmp(name, prefix, length) == 0 ? rex_view_find(view, name + length) : NULL;
    return kernel != NULL && kernel->kernel ? kernel : NULL;
}

/* What the marks say that rex/kernel.h made before there were signatures: globals of a byte. */
static void read_forms(struct rex_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const char *name = view->symbols[i].name;
        struct rex_image_symbol *env = rex_view_kernel_after(view, name, ENV_PREFIX),
                                *plain = rex_view_kernel_after(view, name, PLAIN_PREFIX);
        if (env != NULL)
            env->env = true;
        if (plain != NULL)
            plain->plain = true;
    }
}

/*
 * Sorted, not hashed: a table of hashes takes the square of the number of names where a file gives
 * them all to one symbol.
 */
int rex_view_index(struct rex_view *view)
{
    view->names = calloc(view->count + 1, sizeof *view->names);
    if (view->names == NULL)
        return -1;
    for (size_t i = 0; i < view->count; i++)
        view->names[i] =
            (struct rex_view_name){rex_hash_string(view->symbols[i].name), (uint32_t)i};
    qsort_r(view->names, view->count, sizeof *view->names, compare_names, view);
    for (size_t i = 0; i < view->count; i++)
        if (i == 0 || compare(view, &view->names[view->name_count - 1], view->names[i].hash,
                              name_of(view, &view->names[i])) != 0)
            view->names[view->name_count++] = view->names[i];
    read_forms(view);
    return 0;
}

struct rex_image_symbol *rex_view_find(const struct rex_view *view, const char *name)
{
    uint64_t hash = rex_hash_string(name);
    size_t low = 0, high = view->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(view, &view->names[middle], hash, name);
        if (order == 0)
            return &view->symbols[view->names[middle].symbol];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *suffix)
{
    char stem[1024];
    size_t length = strlen(name), behind = strlen(suffix);
    if (length <= behind || length - behind >= sizeof stem ||
        strcmp(name + length - behind, suffix) != 0)
        return NULL;
    memcpy(stem, name, length - behind);
    stem[length - behind] = '\0';
    struct rex_image_symbol *kernel = rex_view_find(view, stem);
    return kernel != NULL && kernel->kernel ? kernel : NULL;
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

void rex_view_show(struct rex_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        struct rex_image_symbol *symbol = &view->symbols[i];
        if (symbol->parameters > 0 && symbol->parameters != REX_PARAMETERS_UNKNOWN)
            symbol->parameter = view->parameters + symbol->first;
    }
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
