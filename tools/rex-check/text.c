/*
 * text.c - prints, for people to read, the report on a program: the parts that were read, then the
 * mistakes in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/print.h"
#include "declared.h"

static void print_program(const struct program *program)
{
    char buffer[96];
    print_text(stdout, program->path);
    printf(": %s", program_kind(program, buffer));
    for (size_t i = 0; i < program->table_count; i++) {
        const struct table *table = &program->tables[i];
        size_t rows = table->row_count;
        printf("%s %zu %s in %s (%zu bytes each)", i == 0 ? ";" : ",", rows,
               rows == 1 ? "entry" : "entries", table->name, table_entry_size(table));
    }
    if (program->relocations)
        printf("; %zu reference%s to host keys, found by relocations\n", program->launch_sites,
               program->launch_sites == 1 ? "" : "s");
    else
        printf("; references to host keys %s\n",
               program->symbols
                   ? "are looked for in instructions, data and symbols; some may not be found"
                   : "unknown: no symbols");
}

static void print_image(const struct image *image)
{
    char buffer[32];
    size_t kernels = 0;
    for (size_t i = 0; image->view != NULL && i < image->view->symbol_count; i++)
        kernels += image->view->symbols[i].kernel;
    print_text(stdout, image->path);
    if (image->view == NULL)
        puts(": image for another processor, not read");
    else
        printf(": image for %s, %zu %s%s\n", image_target(image, buffer), kernels,
               image->view->kind == REX_IMAGE_HOST ? "function" : "kernel",
               kernels == 1 ? "" : "s");
}

/*
 * Prints ": (int64_t, pointer)", without the runtime's parameter. Prints nothing if the kernel has
 * no other parameters.
 */
static void print_signature(const struct rex_image_symbol *kernel)
{
    if (kernel->parameters == kernel->env)
        return;
    char *list = declared_list(kernel);
    printf(": %s", list);
    free(list);
}

/* Prints "2 parameters of 8 bytes", or "2 parameters of 4, 8 bytes" if not all have 8 bytes. */
static void print_parameters(const struct rex_image_symbol *kernel)
{
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN) {
        fputs("parameters unknown", stdout);
        return;
    }
    printf("%u parameter%s", kernel->parameters, kernel->parameters == 1 ? "" : "s");
    if (kernel->parameters > 0 && kernel->odd_size == 0)
        fputs(" of 8 bytes", stdout);
    for (size_t i = 0; kernel->odd_size != 0 && i < kernel->parameters; i++)
        printf("%s %u", i == 0 ? " of" : ",", kernel->parameter[i].size);
    if (kernel->odd_size != 0)
        fputs(" bytes", stdout);
    if (kernel->env)
        fputs(", the first for the runtime", stdout);
    if (kernel->signature)
        print_signature(kernel);
}

static void print_limits(const struct rex_image_symbol *kernel)
{
    if (kernel->max_threads != 0)
        printf("; at most %u threads a block", kernel->max_threads);
    if (kernel->registers != 0)
        printf("; %u registers", kernel->registers);
    if (kernel->shared_memory != 0)
        printf("; %u bytes of shared memory", kernel->shared_memory);
    if (kernel->exec_mode != -1)
        printf("; exec_mode %d", kernel->exec_mode);
    if (kernel->environment_size != 0)
        printf("; environment of %u bytes, mode %u", kernel->environment_size,
               kernel->environment_mode);
}

static void print_in_image(const struct image *image, const struct row *row)
{
    char buffer[32];
    const struct rex_image_symbol *symbol =
        image->view != NULL ? rex_image_view_find(image->view, row->name) : NULL;
    if (image->share > 0 && symbol == NULL)
        return;
    fputs("    in ", stdout);
    print_text(stdout, image->path);
    printf(" (%s): ", image_target(image, buffer));
    if (symbol == NULL || symbol->kernel != (row->kind == ROW_KERNEL))
        fputs(image->view != NULL ? "missing" : "not read", stdout);
    else if (!symbol->kernel)
        printf("%llu bytes", (unsigned long long)symbol->size);
    else {
        print_parameters(symbol);
        print_limits(symbol);
    }
    putchar('\n');
}

static void print_key(const struct row *row)
{
    fputs("    key    ", stdout);
    if (row->key.symbol != NULL)
        print_text(stdout, row->key.symbol);
    else if (row->key.kind == TARGET_PLACE)
        printf("at 0x%llx", (unsigned long long)row->key.place.offset);
    else
        fputs("none", stdout);
    if (row->key.kind == TARGET_IMPORT)
        fputs(" (of another file)", stdout);
    putchar('\n');
}

static void print_row(const struct program *program, const struct images *images,
                      const struct row *row)
{
    static const char *const kinds[] = {"kernel", "global", "other entry"};
    printf("\n%s ", kinds[row->kind]);
    print_text(stdout, row->name != NULL ? row->name : "without a name");
    putchar('\n');
    if (row->kind == ROW_OTHER)
        return;
    print_key(row);
    fputs("    entry  ", stdout);
    if (row->symbol != NULL) {
        print_text(stdout, row->symbol);
        fputs(", ", stdout);
    }
    printf("row %zu of %s", row->index, program->tables[row->table].name);
    if (row->kind == ROW_GLOBAL)
        printf(", %llu bytes", (unsigned long long)row->size);
    putchar('\n');
    for (size_t i = 0; row->name != NULL && i < images->count; i++)
        print_in_image(&images->list[i], row);
}

void show_text(const struct program *program, const struct images *images,
               const struct report *report, bool quiet, bool colour)
{
    if (!quiet) {
        print_program(program);
        for (size_t i = 0; i < images->count; i++)
            print_image(&images->list[i]);
        for (size_t i = 0; i < program->row_count; i++)
            print_row(program, images, &program->rows[i]);
        putchar('\n');
    }
    report_print(report, colour);
}
