/*
 * view.c - the view of a device image of any kind: the symbols of the image, and the signatures of
 * its kernels.
 *
 * Implements rex_kind_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"

/* ---- symbols and parameters, which the readers add ------------------------------------------- */

bool rex_view_may_take(struct rex_view *view, size_t bytes)
{
    REX_ASSERT(view->taken <= view->most);
    view->overfull = view->overfull || bytes > view->most - view->taken;
    view->incomplete |= view->overfull;
    view->taken += view->overfull ? 0 : bytes;
    return !view->overfull;
}

void rex_view_add(struct rex_view *view, const struct rex_image_symbol *symbol)
{
    if (!rex_view_may_take(view, sizeof *symbol + sizeof *view->names))
        return;
    if (view->count == view->room) {
        size_t room = view->room == 0 ? 16 : view->room * 2;
        void *more = reallocarray(view->symbols, room, sizeof *symbol);
        view->incomplete |= more == NULL;
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
        void *more = reallocarray(view->parameters, room, sizeof *view->parameters);
        view->incomplete |= more == NULL;
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

/*
 * Orders by hash first, so that few names are compared. Then orders by name, because a hostile file
 * can make hashes collide.
 */
static int compare_names(const void *a, const void *b)
{
    const struct rex_view_name *one = a, *other = b;
    if (one->hash != other->hash)
        return one->hash < other->hash ? -1 : 1;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->symbol->name, other->symbol->name, one->length);
}

/* Returns the symbol whose name is the LENGTH bytes at NAME, or NULL. */
static struct rex_image_symbol *find_symbol(const struct rex_view *view, const char *name,
                                            size_t length)
{
    struct rex_image_symbol wanted = {.name = name};
    const struct rex_view_name key = {rex_hash_bytes(name, length), length, &wanted};
    const struct rex_view_name *found =
        bsearch(&key, view->names, view->name_count, sizeof key, compare_names);
    return found != NULL ? found->symbol : NULL;
}

struct rex_image_symbol *rex_view_find(const struct rex_view *view, const char *name)
{
    return find_symbol(view, name, strlen(name));
}

struct rex_image_symbol *rex_view_kernel(const struct rex_view *view, const char *name,
                                         size_t length)
{
    struct rex_image_symbol *symbol = find_symbol(view, name, length);
    return symbol != NULL && symbol->kernel ? symbol : NULL;
}

struct rex_image_symbol *rex_view_kernel_of(const struct rex_view *view, const char *name,
                                            const char *prefix, const char *suffix)
{
    const char *rest = rex_name_after(name, prefix);
    if (rest == NULL)
        return NULL;
    size_t length = strlen(rest), behind = strlen(suffix);
    if (length <= behind || strcmp(rest + length - behind, suffix) != 0)
        return NULL;
    return rex_view_kernel(view, rest, length - behind);
}

/*
 * Finds the kernel's name in NAME, the mangled name of a signature such as
 * _Z28rex_signature_axpy__kernel__P9rex_kindsIJ...EE. Returns the kernel's name, of *LENGTH bytes,
 * or NULL if NAME is not a signature. If the signature is in a namespace, N and the names of the
 * namespaces follow _Z, and E follows the kernel's name.
 */
static const char *mangled_kernel(const char *name, size_t *length)
{
    const char *prefix = strncmp(name, "_Z", 2) == 0 ? strstr(name, REX_SIGNATURE_PREFIX) : NULL,
               *digits = prefix;
    if (prefix == NULL)
        return NULL;
    while (isdigit((unsigned char)digits[-1]))
        digits--;
    unsigned long whole = digits < prefix ? strtoul(digits, NULL, 10) : 0;
    if (whole <= strlen(REX_SIGNATURE_PREFIX) || whole > strlen(prefix))
        return NULL;
    *length = whole - strlen(REX_SIGNATURE_PREFIX);
    return prefix + strlen(REX_SIGNATURE_PREFIX);
}

#define ENVIRONMENT_SUFFIX "_kernel_environment" /* LLVM 18 and later */

/*
 * Sorts the names: a hash table would take quadratic time if all symbols had one name. Keeps only
 * the first of the symbols with equal names.
 */
int rex_view_index(struct rex_view *view)
{
    /*
     * A signature is an empty kernel, which is never launched. Move the signatures after the other
     * symbols, and do not count them in `count`.
     */
    size_t kept = 0, length;
    for (size_t i = 0; i < view->count; i++) {
        struct rex_image_symbol symbol = view->symbols[i];
        if (view->kind != REX_IMAGE_HOST && symbol.kernel &&
            mangled_kernel(symbol.name, &length) != NULL)
            continue;
        view->symbols[i] = view->symbols[kept];
        view->symbols[kept++] = symbol;
    }
    view->signatures = view->count - kept;
    view->count = kept;
    view->names = calloc(view->count + 1, sizeof *view->names);
    if (view->names == NULL)
        return -1;
    for (size_t i = 0; i < view->count; i++) {
        struct rex_image_symbol *symbol = &view->symbols[i];
        view->names[i] =
            (struct rex_view_name){rex_hash_string(symbol->name), strlen(symbol->name), symbol};
    }
    qsort(view->names, view->count, sizeof *view->names, compare_names);
    struct rex_view_name *last = view->names;
    for (size_t i = 0; i < view->count; i++) {
        if (i == 0 || compare_names(last, &view->names[i]) != 0)
            view->names[view->name_count++] = view->names[i];
        last = &view->names[view->name_count - 1];
        if (view->names[i].symbol < last->symbol)
            last->symbol = view->names[i].symbol;
    }
    for (size_t i = 0; i < view->count; i++) {
        /*
         * A global with a kernel's name and a suffix describes this kernel: copy its values to the
         * kernel.
         */
        struct rex_image_symbol *global = &view->symbols[i], *kernel;
        if (global->kernel)
            continue;
        kernel = rex_view_kernel_of(view, global->name, "", REX_EXEC_MODE_SUFFIX);
        if (kernel != NULL && global->exec_mode != -1)
            kernel->exec_mode = global->exec_mode;
        kernel = rex_view_kernel_of(view, global->name, "", ENVIRONMENT_SUFFIX);
        if (kernel != NULL && view->kind == REX_IMAGE_CUBIN) {
            kernel->environment_size =
                global->size < UINT32_MAX ? (uint32_t)global->size : UINT32_MAX;
            kernel->environment_mode = global->environment_mode;
        }
        global->exec_mode = -1;
        global->environment_mode = 0;
    }
    return 0;
}

/* ---- signatures: parameters ------------------------------------------------------------------ */

static const struct {
    const char *name; /* the type as a C program writes it */
    uint16_t width;   /* bytes of a value; 0: the kind has no fixed width */
} kinds[] = {
    [REX_KIND_UNKNOWN] = {"?", 0},    [REX_KIND_POINTER] = {"pointer", 8},
    [REX_KIND_VALUE] = {"struct", 0}, [REX_KIND_I8] = {"int8_t", 1},
    [REX_KIND_U8] = {"uint8_t", 1},   [REX_KIND_I16] = {"int16_t", 2},
    [REX_KIND_U16] = {"uint16_t", 2}, [REX_KIND_I32] = {"int", 4},
    [REX_KIND_U32] = {"unsigned", 4}, [REX_KIND_I64] = {"int64_t", 8},
    [REX_KIND_U64] = {"uint64_t", 8}, [REX_KIND_F32] = {"float", 4},
    [REX_KIND_F64] = {"double", 8},   [REX_KIND_BOOL] = {"bool", 1},
};
_Static_assert(sizeof kinds / sizeof *kinds == REX_KIND_BOOL + 1, "each kind has a row");

static bool is_known_kind(unsigned long kind)
{
    return kind < sizeof kinds / sizeof *kinds && kinds[kind].name != NULL;
}

const char *rex_kind_name(unsigned kind)
{
    return kinds[is_known_kind(kind) ? kind : REX_KIND_UNKNOWN].name;
}

const char *rex_parameter_print(const struct rex_image_parameter *parameter,
                                char text[REX_PARAMETER_MAX])
{
    if (parameter->kind != REX_KIND_VALUE || parameter->width == 0)
        return rex_kind_name(parameter->kind);
    snprintf(text, REX_PARAMETER_MAX, "%s of %u byte%s", rex_kind_name(parameter->kind),
             parameter->width, parameter->width == 1 ? "" : "s");
    return text;
}

void rex_signature_print(const struct rex_image_parameter *parameters, size_t count,
                         char text[REX_SIGNATURE_MAX])
{
    static const char more[] = ", ...)";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        char text_of_one[REX_PARAMETER_MAX];
        const char *one = rex_parameter_print(&parameters[i], text_of_one);
        if (length + strlen(", ") + strlen(one) + sizeof more > REX_SIGNATURE_MAX) {
            memcpy(text + length, more, sizeof more);
            return;
        }
        length += (size_t)sprintf(text + length, "%s%s", i == 0 ? "(" : ", ", one);
    }
    strcpy(text + length, count > 0 ? ")" : "()");
}

/* ---- signatures: numbers --------------------------------------------------------------------- */

/*
 * The numbers of a signature that are not read yet, from `at` on. If `end` is NULL, the numbers are
 * text: "Lj12E" is 12. Otherwise each number has 2 bytes.
 */
struct numbers {
    const char *at, *end;
};

static bool next_number(struct numbers *from, unsigned long *number)
{
    uint16_t word;
    char *end;
    if (from->end != NULL) {
        if (from->end - from->at < (ptrdiff_t)sizeof word)
            return false;
        memcpy(&word, from->at, sizeof word);
        *number = word;
        from->at += sizeof word;
        return true;
    }
    if (strncmp(from->at, "Lj", 2) != 0 || !isdigit((unsigned char)from->at[2]))
        return false;
    *number = strtoul(from->at + 2, &end, 10);
    if (*end != 'E')
        return false;
    from->at = end + 1;
    return true;
}

#define MOST_PARAMETERS (UINT16_MAX / 8) /* each has 8 bytes and a 16-bit offset */
#define FORM_PLAIN 2
#define FORM_ENV 3 /* the runtime's parameter comes first */

/*
 * Sets the parameter's kind and width from NUMBER. The low byte is the kind. If the kind is
 * REX_KIND_VALUE, the higher bits are the width. If NUMBER is invalid, sets the kind to
 * REX_KIND_UNKNOWN.
 */
static void set_kind(struct rex_image_parameter *to, unsigned long number)
{
    unsigned long kind = number & 0xff, width = number >> 8;
    bool sized = kind == REX_KIND_VALUE;
    bool known = is_known_kind(kind) && width <= 4096 && (!sized || width > 0);
    to->kind = known ? (uint16_t)kind : REX_KIND_UNKNOWN;
    to->width = known && sized ? (uint16_t)width : kinds[to->kind].width;
}

void rex_signature_apply(struct rex_view *view, struct rex_image_symbol *kernel, const char *at,
                         const char *end)
{
    struct numbers numbers = {at, end};
    unsigned long form = 0, number = 0;
    if (kernel == NULL || !next_number(&numbers, &form) || (form != FORM_PLAIN && form != FORM_ENV))
        return;
    bool env = form == FORM_ENV;
    size_t count = env;
    struct numbers rest = numbers;
    while (next_number(&rest, &number))
        count++;
    bool ends = rest.end != NULL ? rest.at == rest.end : strcmp(rest.at, "EE") == 0;
    if (!ends || count > MOST_PARAMETERS)
        return;
    /*
     * In a host image only the signature gives the number of parameters. Each parameter has 8
     * bytes.
     */
    if (view->kind == REX_IMAGE_HOST && kernel->parameters == REX_PARAMETERS_UNKNOWN) {
        if (!rex_view_add_parameters(view, count, &kernel->first))
            return;
        kernel->parameters = (uint16_t)count;
        for (size_t i = 0; i < count; i++)
            view->parameters[kernel->first + i] =
                (struct rex_image_parameter){.offset = (uint16_t)(8 * i), .size = 8};
    }
    if (kernel->parameters != count)
        return;
    /* Without parameters, view->parameters may be NULL. */
    struct rex_image_parameter *parameters = count > 0 ? view->parameters + kernel->first : NULL;
    if (env)
        set_kind(&parameters[0], REX_KIND_POINTER);
    for (size_t i = env; next_number(&numbers, &number); i++)
        set_kind(&parameters[i], number);
    /*
     * librex reads an argument with the width in the signature. If this width exceeded the
     * parameter's size in the image, librex would read past the argument's end. So drop the whole
     * signature.
     */
    size_t wide = 0;
    while (wide < count && parameters[wide].width <= parameters[wide].size)
        wide++;
    kernel->signature = wide == count;
    kernel->env = kernel->signature && env;
    kernel->plain = kernel->signature && !env;
    if (kernel->signature)
        return;
    rex_log(
        REX_LOG_WARN,
        "kernel \"%.*s\": parameter %zu has %u bytes in the list that rex/kernel.h put into the "
        "image, and %u in the kernel, so librex does not check the types of this kernel's "
        "arguments",
        REX_KERNEL_NAME(kernel->name), wide, parameters[wide].width, parameters[wide].size);
    for (size_t i = 0; i < count; i++)
        set_kind(&parameters[i], REX_KIND_UNKNOWN);
}

/* ---- look-ups for librex/module; completing and closing a view ------------------------------- */

/*
 * From sm_90 on nvcc adds 1 KiB of reserved memory, which does not count against the limit of a
 * kernel's shared memory.
 */
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
    for (size_t i = 0; i < view->signatures; i++) {
        size_t length;
        const char *kernel = mangled_kernel(view->symbols[view->count + i].name, &length);
        const char *behind = kernel + length;
        const char *numbers = rex_name_after(behind + (*behind == 'E'), "P9rex_kindsIJ");
        if (numbers != NULL)
            rex_signature_apply(view, rex_view_kernel(view, kernel, length), numbers, NULL);
    }
    for (size_t i = 0; i < view->count; i++) {
        struct rex_image_symbol *kernel = &view->symbols[i];
        if (kernel->parameters == 0 || kernel->parameters == REX_PARAMETERS_UNKNOWN)
            continue;
        REX_ASSERT(kernel->first + (size_t)kernel->parameters <= view->parameter_count);
        kernel->parameter = view->parameters + kernel->first;
        /* Find the first parameter that is not 8 bytes wide. */
        for (uint16_t j = 0; j < kernel->parameters && kernel->odd_size == 0; j++)
            if (kernel->parameter[j].size != 8) {
                kernel->odd_size = kernel->parameter[j].size;
                kernel->odd_index = j;
            }
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
