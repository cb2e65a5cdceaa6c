/*
 * declared.c - the parameters of kernels, as a program and its images declare them: an image that
 * was built again, with other parameters under the same name, is found by what it says.
 *
 * A program tells of a kernel by a text in its section rex_kernel_parameters, which
 * REX_KERNEL_PARAMETERS() of rex/entry.h makes: "axpy__kernel__(rex_arg n, double *x)".
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "declared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "kernels.h"

#define SECTION "rex_kernel_parameters"

/* ---- what an image declares ------------------------------------------------------------------ */

static const struct rex_image_symbol *kernel_of(const struct image *image, const char *name)
{
    const struct rex_image_symbol *symbol =
        image->view != NULL ? rex_image_view_find(image->view, name) : NULL;
    return symbol != NULL && symbol->kernel ? symbol : NULL;
}

/* Parameter INDEX, not counting the runtime's. */
static const struct rex_image_parameter *
parameter_of(const struct image *image, const struct rex_image_symbol *kernel, size_t index)
{
    return rex_image_view_parameter(image->view, kernel, index + kernel->env);
}

#define MOST_OF_WORD 32 /* bytes of ", floating of 65535", and of any kind's name */

static size_t print_word(const struct rex_image_parameter *parameter, char *text)
{
    const char *name = rex_kind_name(parameter->kind);
    bool wide = parameter->kind == REX_KIND_VALUE || parameter->kind == REX_KIND_FLOATING;
    return (size_t)(wide ? snprintf(text, MOST_OF_WORD, "%s of %u", name, parameter->width)
                         : snprintf(text, MOST_OF_WORD, "%s", name));
}

char *declared_list(const struct image *image, const struct rex_image_symbol *kernel)
{
    const struct rex_image_parameter *parameter;
    char *list = tool_alloc((size_t)kernel->parameters + 1, MOST_OF_WORD), *end = list;
    *end++ = '(';
    for (size_t i = 0; (parameter = parameter_of(image, kernel, i)) != NULL; i++) {
        if (i > 0)
            end = stpcpy(end, ", ");
        end += print_word(parameter, end);
    }
    stpcpy(end, ")");
    return list;
}

/* ---- what the program tells ------------------------------------------------------------------ */

struct told {
    char *text; /* "axpy__kernel__(rex_arg n, double *x)" */
    char *kernel;
    struct tokens tokens;
    struct parameters parameters;
};

/* LENGTH bytes at TEXT; false: they tell of no kernel. */
static bool told_read(struct told *told, const char *text, size_t length)
{
    *told = (struct told){.text = tool_format("%.*s", (int)length, text)};
    tokens_read(&told->tokens, told->text, length);
    const struct token *name = token_at(&told->tokens, 0);
    if (name->kind != TOKEN_NAME || !token_is(token_at(&told->tokens, 1), "(") ||
        token_closing(&told->tokens, 1) + 1 != told->tokens.count)
        return false;
    told->kernel = token_string(name);
    parameters_read(&told->parameters, &told->tokens, 1, 0);
    return true;
}

static void told_free(struct told *told)
{
    free(told->parameters.list);
    free(told->tokens.list);
    free(told->kernel);
    free(told->text);
}

/* A type that neither side knows agrees with all; of values, only rex_arg_f64 and its kin differ.
 */
static bool agrees(const struct parameter *told, const struct rex_image_parameter *declared)
{
    static const char typed[] = "rex_arg_";
    size_t length = sizeof typed - 1;
    if (told->kind == PARAMETER_UNKNOWN || declared->kind == REX_KIND_UNKNOWN)
        return true;
    if (told->kind == PARAMETER_POINTER || declared->kind == REX_KIND_POINTER)
        return told->kind == PARAMETER_POINTER && declared->kind == REX_KIND_POINTER;
    return declared->kind < REX_KIND_I8 || told->type.length < length ||
           memcmp(told->type.text, typed, length) != 0 ||
           token_is(&told->type, rex_kind_name(declared->kind));
}

/* Without a signature, one parameter more may be the runtime's. */
static bool has_count(const struct rex_image_symbol *kernel, size_t count)
{
    size_t own = (size_t)kernel->parameters - kernel->env;
    return own == count || (!kernel->signature && !kernel->env && own == count + 1);
}

static bool is_told(const struct told *told, const struct image *image,
                    const struct rex_image_symbol *kernel)
{
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN)
        return true;
    if (!has_count(kernel, told->parameters.count))
        return false;
    for (size_t i = 0; kernel->signature && i < told->parameters.count; i++)
        if (!agrees(&told->parameters.list[i], parameter_of(image, kernel, i)))
            return false;
    return true;
}

static void check_told(const struct program *program, const struct told *told,
                       const struct image *image, struct report *report)
{
    const struct rex_image_symbol *kernel = kernel_of(image, told->kernel);
    if (kernel == NULL || is_told(told, image, kernel))
        return;
    char *list = kernel->signature ? declared_list(image, kernel)
                                   : tool_format(" with %u parameters", kernel->parameters);
    report_finding(report, FINDING_SIGNATURE, program->path, NULL,
                   "it was compiled for the kernel %s, and %s has %s%s", told->text, image->path,
                   told->kernel, list);
    free(list);
}

/* Texts end with a 0; a linker may put more between them. */
static void check_section(const struct program *program, const char *bytes, size_t size,
                          const struct image *image, struct report *report)
{
    for (size_t at = 0; at < size;) {
        size_t length = strnlen(bytes + at, size - at);
        struct told told;
        if (length > 0 && told_read(&told, bytes + at, length))
            check_told(program, &told, image, report);
        if (length > 0)
            told_free(&told);
        at += length + 1;
    }
}

static void check_sections(const struct program *program, const struct image *image,
                           struct report *report)
{
    Elf64_Shdr section;
    for (size_t i = 1; elf_section(&program->file, i, &section) == 0; i++) {
        const unsigned char *bytes = elf_section_bytes(&program->file, &section);
        if (bytes != NULL && strcmp(elf_section_name(&program->file, &section), SECTION) == 0)
            check_section(program, (const char *)bytes, section.sh_size, image, report);
    }
}

/* ---- images among each other ----------------------------------------------------------------- */

/* Words and values of one width may be the same type, whose name another compiler has not told. */
static bool is_same(const struct rex_image_parameter *one, const struct rex_image_parameter *other)
{
    if (one->kind == REX_KIND_UNKNOWN || other->kind == REX_KIND_UNKNOWN)
        return true;
    if (one->kind >= REX_KIND_I8 && other->kind >= REX_KIND_I8)
        return one->kind == other->kind;
    return (one->kind == REX_KIND_POINTER) == (other->kind == REX_KIND_POINTER);
}

static bool are_same(const struct image *one, const struct rex_image_symbol *kernel,
                     const struct image *other, const struct rex_image_symbol *again)
{
    size_t count = (size_t)kernel->parameters - kernel->env;
    if ((size_t)again->parameters - again->env != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_same(parameter_of(one, kernel, i), parameter_of(other, again, i)))
            return false;
    return true;
}

/* The kernel NAME, where both images tell its parameters. */
static void check_kernel(const char *name, const struct image *one, const struct image *other,
                         struct report *report)
{
    const struct rex_image_symbol *kernel = kernel_of(one, name), *again = kernel_of(other, name);
    if (kernel == NULL || again == NULL || !kernel->signature || !again->signature ||
        are_same(one, kernel, other, again))
        return;
    char *list = declared_list(other, again), *before = declared_list(one, kernel);
    report_finding(report, FINDING_SIGNATURE, other->path, NULL,
                   "it has the kernel %s%s, and %s has %s%s", name, list, one->path, name, before);
    free(list);
    free(before);
}

void check_declared(const struct program *program, const struct image *image,
                    const struct image *other, struct report *report)
{
    check_sections(program, image, report);
    for (size_t i = 0; other != NULL && i < program->row_count; i++)
        if (program->rows[i].kind == ROW_KERNEL && program->rows[i].name != NULL)
            check_kernel(program->rows[i].name, other, image, report);
}
