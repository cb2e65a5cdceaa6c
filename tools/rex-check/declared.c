/*
 * declared.c - compares the parameters of kernels in a program and its images. The comparison finds
 * an image that was rebuilt with other parameters for the same kernel names.
 *
 * REX_KERNEL() of rex/entry.h writes the list of parameters to the program's section
 * rex_kernel_kinds. Each kernel has a row of 2-byte numbers there: the length of the row, then the
 * kind of each parameter. The kernel's name follows the row.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "declared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define SECTION "rex_kernel_kinds"

/* ---- what an image declares ------------------------------------------------------------------ */

static const struct rex_image_symbol *kernel_of(const struct image *image, const char *name)
{
    const struct rex_image_symbol *symbol =
        image->view != NULL ? rex_image_view_find(image->view, name) : NULL;
    return symbol != NULL && symbol->kernel ? symbol : NULL;
}

/*
 * LLVM's runtime passes the first parameter of some kernels (`env` is true). The program passes
 * only the other parameters. count_of() returns the number of parameters that the program passes,
 * and parameter_of() returns parameter INDEX of these parameters.
 */
static size_t count_of(const struct rex_image_symbol *kernel)
{
    return (size_t)kernel->parameters - kernel->env;
}

static const struct rex_image_parameter *parameter_of(const struct rex_image_symbol *kernel,
                                                      size_t index)
{
    return &kernel->parameter[index + kernel->env];
}

/* Enough bytes for one parameter of a list, of any kind and size, such as ", struct of 65535". */
#define MOST_OF_WORD 32

static size_t print_word(unsigned kind, unsigned width, char *text)
{
    const char *name = rex_kind_name(kind);
    bool sized = kind == REX_KIND_VALUE && width > 0;
    return (size_t)(sized ? snprintf(text, MOST_OF_WORD, "%s of %u", name, width)
                          : snprintf(text, MOST_OF_WORD, "%s", name));
}

char *declared_list(const struct rex_image_symbol *kernel)
{
    char *list = tool_alloc((size_t)kernel->parameters + 1, MOST_OF_WORD), *end = list;
    *end++ = '(';
    for (size_t i = 0; i < count_of(kernel); i++) {
        if (i > 0)
            end = stpcpy(end, ", ");
        end += print_word(parameter_of(kernel, i)->kind, parameter_of(kernel, i)->width, end);
    }
    stpcpy(end, ")");
    return list;
}

/* ---- what the program declares --------------------------------------------------------------- */

struct told {
    const char *kernel;
    const char *kinds; /* 2 bytes for each parameter: the kind (enum rex_kind), then the size */
    size_t count;
};

static unsigned number_at(const char *bytes, size_t index)
{
    uint16_t number;
    memcpy(&number, bytes + index * sizeof number, sizeof number);
    return number;
}

/*
 * Reads the first kernel of the SIZE bytes at BYTES. Returns the number of bytes that the kernel
 * takes. A linker may pad with pairs of zero bytes. For such a pair, returns 2 and sets `kernel` of
 * TOLD to NULL.
 */
static size_t told_read(struct told *told, const char *bytes, size_t size)
{
    size_t count = size >= 2 ? number_at(bytes, 0) : 0, head = 2 * count;
    *told = (struct told){.kernel = NULL};
    if (count == 0)
        return 2;
    if (head >= size || memchr(bytes + head, '\0', size - head) == NULL)
        return size;
    *told = (struct told){bytes + head, bytes + 2, count - 1};
    return (head + strlen(told->kernel) + 2) / 2 * 2;
}

static char *told_list(const struct told *told)
{
    char *list = tool_alloc(told->count + 1, MOST_OF_WORD), *end = list;
    *end++ = '(';
    for (size_t i = 0; i < told->count; i++) {
        if (i > 0)
            end = stpcpy(end, ", ");
        end += print_word(number_at(told->kinds, i) & 0xff, number_at(told->kinds, i) >> 8, end);
    }
    stpcpy(end, ")");
    return list;
}

/*
 * Returns true if a program that passes COUNT parameters can launch KERNEL. Usually count_of() must
 * be COUNT. If KERNEL has no signature and `env` is false, count_of() can also be COUNT + 1: the
 * first parameter can be a parameter that the runtime passes.
 */
static bool has_count(const struct rex_image_symbol *kernel, size_t count)
{
    size_t own = count_of(kernel);
    return own == count || (!kernel->signature && !kernel->env && own == count + 1);
}

/* An unknown kind agrees with every kind. */
static bool agree(unsigned one, unsigned one_width, unsigned other, unsigned other_width)
{
    if (one == REX_KIND_UNKNOWN || other == REX_KIND_UNKNOWN)
        return true;
    return one == other && (one != REX_KIND_VALUE || one_width == other_width);
}

static bool is_told(const struct told *told, const struct rex_image_symbol *kernel)
{
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN)
        return true;
    if (!has_count(kernel, told->count))
        return false;
    for (size_t i = 0; kernel->signature && i < told->count; i++) {
        const struct rex_image_parameter *parameter = parameter_of(kernel, i);
        unsigned number = number_at(told->kinds, i);
        if (!agree(number & 0xff, number >> 8, parameter->kind, parameter->width))
            return false;
    }
    return true;
}

static void check_told(const struct program *program, const struct told *told,
                       const struct image *image, struct report *report)
{
    const struct rex_image_symbol *kernel = kernel_of(image, told->kernel);
    if (kernel == NULL || is_told(told, kernel))
        return;
    char *wanted = told_list(told);
    char *list = kernel->signature ? declared_list(kernel)
                                   : tool_format(" with %u parameters", kernel->parameters);
    report_finding(report, FINDING_SIGNATURE, program->path, NULL,
                   "it was compiled for the kernel %s%s, but %s has %s%s", told->kernel, wanted,
                   image->path, told->kernel, list);
    free(list);
    free(wanted);
}

static void check_section(const struct program *program, const char *bytes, size_t size,
                          const struct image *image, struct report *report)
{
    for (size_t at = 0; at < size;) {
        struct told told;
        at += told_read(&told, bytes + at, size - at);
        if (told.kernel != NULL)
            check_told(program, &told, image, report);
    }
}

static void check_sections(const struct program *program, const struct image *image,
                           struct report *report)
{
    Elf64_Shdr section;
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++) {
        const unsigned char *bytes = rex_elf_section_bytes(&program->file.elf, &section);
        if (bytes != NULL &&
            strcmp(rex_elf_section_name(&program->file.elf, &section), SECTION) == 0)
            check_section(program, (const char *)bytes, section.sh_size, image, report);
    }
}

/* ---- images compared with each other --------------------------------------------------------- */

static bool are_same(const struct rex_image_symbol *kernel, const struct rex_image_symbol *again)
{
    size_t count = count_of(kernel);
    if (count_of(again) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct rex_image_parameter *mine = parameter_of(kernel, i),
                                         *theirs = parameter_of(again, i);
        if (!agree(mine->kind, mine->width, theirs->kind, theirs->width))
            return false;
    }
    return true;
}

/*
 * Compares the kernel NAME of two images. Does nothing if an image has no signature of this kernel.
 */
static void check_kernel(const char *name, const struct image *one, const struct image *other,
                         struct report *report)
{
    const struct rex_image_symbol *kernel = kernel_of(one, name), *again = kernel_of(other, name);
    if (kernel == NULL || again == NULL || !kernel->signature || !again->signature ||
        are_same(kernel, again))
        return;
    char *list = declared_list(again), *before = declared_list(kernel);
    report_finding(report, FINDING_SIGNATURE, other->path, NULL,
                   "it has the kernel %s%s, but %s has %s%s", name, list, one->path, name, before);
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
