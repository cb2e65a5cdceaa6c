/*
 * signature.c - what rex/kernel.h says of a kernel's parameters in its image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/signature.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define PREFIX "rex_signature_"

/* ---- mangled --------------------------------------------------------------------------------- */

/*
 * The name of the kernel in the mangled name of its signature, *LENGTH bytes; NULL where NAME is
 * none: _Z28rex_signature_axpy__kernel__P9rex_kindsIJ...EE, with _ZN, the names of namespaces and E
 * around it inside one.
 */
static const char *mangled_kernel(const char *name, size_t *length)
{
    const char *prefix = strncmp(name, "_Z", 2) == 0 ? strstr(name, PREFIX) : NULL,
               *digits = prefix;
    if (prefix == NULL)
        return NULL;
    while (isdigit((unsigned char)digits[-1]))
        digits--;
    unsigned long whole = digits < prefix ? strtoul(digits, NULL, 10) : 0;
    if (whole <= strlen(PREFIX) || whole > strlen(prefix))
        return NULL;
    *length = whole - strlen(PREFIX);
    return prefix + strlen(PREFIX);
}

bool rex_signature_is_mangled(const char *name)
{
    size_t length;
    return mangled_kernel(name, &length) != NULL;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A form and then kinds: "Lj12E" each, or of 2 bytes up to END, where that is not NULL. */
struct numbers {
    const char *at, *end;
};

static bool next_mangled(struct numbers *from, unsigned long *number)
{
    char *end;
    if (strncmp(from->at, "Lj", 2) != 0 || !isdigit((unsigned char)from->at[2]))
        return false;
    *number = strtoul(from->at + 2, &end, 10);
    if (*end != 'E')
        return false;
    from->at = end + 1;
    return true;
}

static bool next_number(struct numbers *from, unsigned long *number)
{
    uint16_t word;
    if (from->end == NULL)
        return next_mangled(from, number);
    if (from->end - from->at < (ptrdiff_t)sizeof word)
        return false;
    memcpy(&word, from->at, sizeof word);
    *number = word;
    from->at += sizeof word;
    return true;
}

static bool at_end(const struct numbers *from)
{
    return from->end != NULL ? from->at == from->end : strcmp(from->at, "EE") == 0;
}

#define FORM_0_1 2          /* forms below it are of librex 0.1 */
#define KIND_FLOATING_0_1 4 /* its floating point by value */

/*
 * How many parameters the signature tells, and whether the runtime's is in front of them; what they
 * are, into TO, if that is not NULL. -1: it is none. In 0.1 a parameter that was no rex_arg took
 * any value of its width.
 */
static long parse(struct numbers from, bool *env, struct rex_image_parameter *to)
{
    unsigned long form = 0, number = 0;
    long count = 0;
    if (!next_number(&from, &form) || form > 3)
        return -1;
    *env = form & 1;
    for (; next_number(&from, &number); count++) {
        unsigned long kind = number & 0xff;
        if (form < FORM_0_1 && (kind == REX_KIND_VALUE || kind == KIND_FLOATING_0_1))
            kind = REX_KIND_WORD;
        if (to != NULL)
            rex_parameter_set(&to[count], kind, number >> 8);
    }
    return at_end(&from) ? count : -1;
}

/* ---- told to a view -------------------------------------------------------------------------- */

/* A host image tells of a kernel's parameters by the signature alone: words of 8 bytes. */
static int add_words(struct rex_view *view, struct rex_image_symbol *kernel, size_t count)
{
    if (count > UINT16_MAX / 8)
        return 0;
    if (rex_view_add_parameters(view, count, &kernel->first) != 0)
        return -1;
    kernel->parameters = (uint16_t)count;
    for (size_t i = 0; i < count; i++)
        view->parameters[kernel->first + i] =
            (struct rex_image_parameter){.offset = (uint16_t)(8 * i), .size = 8};
    return 0;
}

/*
 * An argument is read as wide as the signature tells. One that is wider than its parameter would be
 * read behind its end: then nothing of the signature is kept.
 */
static bool is_wider(const struct rex_view *view, const struct rex_image_symbol *kernel)
{
    struct rex_image_parameter *parameters = view->parameters + kernel->first;
    size_t i = 0;
    while (i < kernel->parameters && parameters[i].width <= parameters[i].size)
        i++;
    if (i == kernel->parameters)
        return false;
    rex_log(REX_LOG_WARN,
            "kernel \"%s\": parameter %zu has %u bytes by its signature, and %u by the image: the "
            "signature is not used",
            kernel->name, i, parameters[i].width, parameters[i].size);
    for (i = 0; i < kernel->parameters; i++)
        rex_parameter_set(&parameters[i], REX_KIND_UNKNOWN, 0);
    return true;
}

static int tell(struct rex_view *view, struct rex_image_symbol *kernel, struct numbers numbers)
{
    bool env;
    long count = kernel != NULL && kernel->kernel ? parse(numbers, &env, NULL) : -1;
    if (count < 0)
        return 0;
    size_t all = (size_t)count + env;
    if (view->kind == REX_IMAGE_HOST && kernel->parameters == REX_PARAMETERS_UNKNOWN &&
        add_words(view, kernel, all) != 0)
        return -1;
    if (kernel->parameters != all)
        return 0;
    if (env)
        rex_parameter_set(&view->parameters[kernel->first], REX_KIND_POINTER, 0);
    if (all > 0) /* else there may be no parameters in the whole image */
        parse(numbers, &env, view->parameters + kernel->first + env);
    kernel->signature = all == 0 || !is_wider(view, kernel);
    kernel->env = kernel->signature && env;
    kernel->plain = kernel->signature && !env;
    return 0;
}

void rex_signature_read_mangled(struct rex_view *view, const char *mangled)
{
    static const char head[] = "P9rex_kindsIJ";
    char name[1024];
    size_t length;
    const char *kernel = mangled_kernel(mangled, &length);
    if (kernel == NULL || length >= sizeof name)
        return;
    memcpy(name, kernel, length);
    name[length] = '\0';
    kernel += length;
    kernel += *kernel == 'E';
    if (strncmp(kernel, head, strlen(head)) == 0)
        tell(view, rex_view_find(view, name), (struct numbers){kernel + strlen(head), NULL});
}

const char *rex_signature_of(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? name + strlen(PREFIX) : NULL;
}

int rex_signature_read_numbers(struct rex_view *view, const char *name, const char *bytes,
                               size_t size)
{
    return tell(view, rex_view_find(view, name), (struct numbers){bytes, bytes + size});
}
