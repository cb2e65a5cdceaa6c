/*
 * match.c - compares the program's names with those of its images, and checks the images' kernels.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "declared.h"
#include "names.h"
#include "stem.h"

/* Returns the names of all entries that are functions of the image: kernels and constructors. */
static struct names names_of(const struct program *program)
{
    struct names names = {0};
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].kind != ROW_GLOBAL && program->rows[i].name != NULL)
            names_add(&names, program->rows[i].name);
    names_sort(&names);
    return names;
}

static bool has_name(const struct names *names, const char *name)
{
    return names_find(names, name) != SIZE_MAX;
}

/* ---- entries without kernels ----------------------------------------------------------------- */

/*
 * Returns the names of IMAGE's kernels if KERNEL is true, and of IMAGE's globals if KERNEL is
 * false.
 */
static struct names symbols_of(const struct image *image, bool kernel)
{
    struct names names = {0};
    for (size_t i = 0; i < image->view->symbol_count; i++)
        if (image->view->symbols[i].kernel == kernel)
            names_add(&names, image->view->symbols[i].name);
    return names;
}

/*
 * SAME_KIND has the names of all kernels of IMAGE if ROW is a kernel, else of all globals of IMAGE.
 */
static void check_row(const struct program *program, const struct image *image,
                      const struct row *row, const struct names *same_kind, struct report *report)
{
    bool kernel = row->kind == ROW_KERNEL;
    const struct rex_image_symbol *symbol = rex_image_view_find(image->view, row->name);
    if (symbol == NULL || symbol->kernel != kernel)
        report_finding(report, FINDING_NO_KERNEL, program->path,
                       names_nearest(same_kind, row->name, report),
                       "an entry names the %s %s, which %s %s", kernel ? "kernel" : "global",
                       row->name, image->path,
                       symbol == NULL   ? "does not have"
                       : symbol->kernel ? "has as a kernel"
                                        : "has as a global");
    else if (!kernel && symbol->size != 0 && row->size != symbol->size)
        report_finding(report, FINDING_GLOBAL_SIZE, program->path, NULL,
                       "the global %s is %llu bytes in the program, %llu in %s", row->name,
                       (unsigned long long)row->size, (unsigned long long)symbol->size,
                       image->path);
}

static bool has_row(const struct image *image, const struct row *row)
{
    const struct rex_image_symbol *symbol =
        image->view != NULL ? rex_image_view_find(image->view, row->name) : NULL;
    return symbol != NULL && symbol->kernel == (row->kind == ROW_KERNEL);
}

/*
 * The entries of a program are divided among its images: exactly one image must have the name of
 * ROW.
 */
static void check_share(const struct program *program, const struct images *images,
                        const struct row *row, struct report *report)
{
    const char *what = row->kind == ROW_KERNEL ? "kernel" : "global";
    const struct image *owner = NULL;
    size_t shares = 0;
    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->list[i];
        shares = image->share > shares ? image->share : shares;
        if (image->share == 0 || !has_row(image, row))
            continue;
        if (owner != NULL && owner->share != image->share)
            report_finding(report, FINDING_NAME_SHARED, program->path, NULL,
                           "%s and %s both have the %s %s", owner->path, image->path, what,
                           row->name);
        owner = image;
    }
    if (owner == NULL && shares > 0)
        report_finding(report, FINDING_NO_KERNEL, program->path, NULL,
                       "an entry names the %s %s, which is in none of the program's %zu images",
                       what, row->name, shares);
}

static void check_rows(const struct program *program, const struct image *image,
                       struct report *report)
{
    struct names kernels = symbols_of(image, true), globals = symbols_of(image, false);
    for (size_t i = 0; i < program->row_count; i++) {
        const struct row *row = &program->rows[i];
        if (row->kind != ROW_OTHER && row->name != NULL &&
            (image->share == 0 || has_row(image, row)))
            check_row(program, image, row, row->kind == ROW_KERNEL ? &kernels : &globals, report);
    }
    names_free(&kernels);
    names_free(&globals);
}

/* ---- kernels without entries, and properties of kernels -------------------------------------- */

/* Returns the names in the entry table inside IMAGE. Only an image for the CPU has such a table. */
static struct names own_table_of(const struct image *image)
{
    struct names names = {0};
    for (size_t i = 0; i < image->view->entry_count; i++)
        names_add(&names, image->view->entries[i]);
    names_sort(&names);
    return names;
}

/*
 * Returns true if SYMBOL is a kernel of the program. In an image for the CPU, a kernel is a
 * function whose name ends in kernel__ or is in OWN. OWN has the names in the entry table of the
 * image. In an image for a GPU, the program's kernels are all kernels except those of CUDA's device
 * runtime, which nvcc links if kernels launch kernels.
 */
static bool is_kernel(const struct image *image, const struct names *own,
                      const struct rex_image_symbol *symbol)
{
    size_t length = strlen(symbol->name), suffix = strlen(NAME_SUFFIX);
    if (!symbol->kernel || image->view->kind != REX_IMAGE_HOST)
        return symbol->kernel && strstr(symbol->name, "cuda_device_runtime") == NULL;
    return (length > suffix && strcmp(symbol->name + length - suffix, NAME_SUFFIX) == 0) ||
           has_name(own, symbol->name);
}

static void check_parameters(const struct image *image, const struct rex_image_symbol *kernel,
                             struct report *report)
{
    for (size_t i = 0; kernel->parameter != NULL && i < kernel->parameters; i++)
        if (kernel->parameter[i].size != 8)
            report_finding(report, FINDING_PARAMETER_WIDTH, image->path, NULL,
                           "kernel %s: parameter %zu has %u bytes; %s", kernel->name, i,
                           kernel->parameter[i].size,
                           kernel->parameter[i].size > 8
                               ? "no libomptarget passes more than 8: declare the parameter as a "
                                 "pointer and pass the value with REX_FIRSTPRIVATE(), or launch "
                                 "the kernel in a queue of a GPU"
                               : "libomptarget of LLVM 19 to 22 passes 8 bytes for each "
                                 "parameter: declare the kernel with REX_DEVICE_KERNEL of "
                                 "rex/kernel.h");
}

enum {
    ENVIRONMENT_18_TO_22 = 48,
    ENVIRONMENT_23_AND_24 = 40
}; /* size of a KernelEnvironmentTy in bytes */

static void check_environment(const struct image *image, const struct rex_image_symbol *kernel,
                              struct report *report)
{
    uint32_t size = kernel->environment_size;
    if (size == 0 || size == ENVIRONMENT_18_TO_22 || size == ENVIRONMENT_23_AND_24)
        return;
    report_finding(report, FINDING_ENVIRONMENT, image->path, NULL,
                   "kernel %s: its symbol %s_kernel_environment is %u bytes: LLVM 18 to 22 abort "
                   "unless it is %d bytes, LLVM 23 and 24 unless it is %d bytes",
                   kernel->name, kernel->name, size, ENVIRONMENT_18_TO_22, ENVIRONMENT_23_AND_24);
}

static void check_kernel(const struct image *image, const struct names *names,
                         const struct rex_image_symbol *kernel, bool whole, struct report *report)
{
    if (whole && !has_name(names, kernel->name))
        report_finding(
            report, FINDING_NO_ENTRY, image->path, names_nearest(names, kernel->name, report),
            "kernel %s is in no entry (was the image built from other sources?)", kernel->name);
    check_parameters(image, kernel, report);
    check_environment(image, kernel, report);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* Returns true if REMARK is typical of an image that was built from older sources. */
static bool is_mismatch(const struct remark *remark)
{
    enum finding finding = remark->finding;
    return !remark->note && (finding == FINDING_NO_KERNEL || finding == FINDING_NO_ENTRY ||
                             finding == FINDING_GLOBAL_SIZE || finding == FINDING_SIGNATURE);
}

static size_t mismatches(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += is_mismatch(&report->remarks[i]);
    return count;
}

static bool is_older(const struct image *image, const struct program *program)
{
    const struct timespec *one = &image->changed, *other = &program->file.changed;
    return image->is_file && (one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec
                                                           : one->tv_nsec < other->tv_nsec);
}

/* Checks IMAGE against PROGRAM. If FIRST is not IMAGE, check_declared() compares the two images. */
static void check_image(const struct program *program, const struct image *image,
                        const struct image *first, const struct names *names, struct report *report)
{
    size_t before = mismatches(report), elsewhere = 0;
    bool whole = !elf_is_object(&program->file);
    struct names own = own_table_of(image);
    check_rows(program, image, report);
    /* Kernels that are found by name need no entry; their parameters may have any width. */
    for (size_t i = 0; !program_is_by_name(program) && i < image->view->symbol_count; i++) {
        const struct rex_image_symbol *symbol = &image->view->symbols[i];
        if (is_kernel(image, &own, symbol)) {
            check_kernel(image, names, symbol, whole, report);
            elsewhere += !whole && !has_name(names, symbol->name);
        }
    }
    names_free(&own);
    check_declared(program, image, first != image ? first : NULL, report);
    if (elsewhere > 0)
        report_note(report, image->path,
                    "%zu of its kernels %s no entry in %s: the program's other files may have %s",
                    elsewhere, elsewhere == 1 ? "has" : "have", program->path,
                    elsewhere == 1 ? "the entry" : "the entries");
    if (mismatches(report) > before && is_older(image, program))
        report_note(report, image->path, "the image is older than %s", program->path);
}

/*
 * Compares only files that have one image each. If a file or a list has several images, librex
 * chooses one image for the GPU, so the images may be for different GPUs.
 */
static void check_architectures(const struct images *images, struct report *report)
{
    const struct image *first = NULL;
    char one[32], other[32];
    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->list[i];
        if (image->view == NULL || image->view->kind != REX_IMAGE_CUBIN || image->one_of_several)
            continue;
        if (first == NULL)
            first = image;
        else if (image->view->architecture != first->view->architecture)
            report_finding(report, FINDING_MIXED_ARCHITECTURES, image->path, NULL,
                           "it is for %s, but %s is for %s: images for several GPUs belong in one "
                           "fatbin, or in a list such as REX_CUBIN=A:B",
                           image_target(image, one), first->path, image_target(first, other));
    }
}

void check_images(const struct program *program, const struct images *images, struct report *report)
{
    struct names names = names_of(program);
    check_architectures(images, report);
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].kind != ROW_OTHER && program->rows[i].name != NULL)
            check_share(program, images, &program->rows[i], report);
    const struct image *first = NULL;
    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->list[i];
        first = first == NULL && image->view != NULL ? image : first;
        if (image->view != NULL)
            check_image(program, image, first, &names, report);
    }
    names_free(&names);
}
