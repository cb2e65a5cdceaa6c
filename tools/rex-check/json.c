/*
 * json.c - prints the report on a program as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "json.h"

#include <stdio.h>

#include "common/print.h"

static void member(const char *name, const char *text)
{
    printf("\"%s\": ", name);
    print_json(stdout, text);
}

/* Prints `, "name": number`, or null if the number is unknown. */
static void number(const char *name, bool known, unsigned long long value)
{
    if (known)
        printf(", \"%s\": %llu", name, value);
    else
        printf(", \"%s\": null", name);
}

static void show_program(const struct program *program)
{
    char buffer[96];
    printf("  \"program\": {");
    member("path", program->path);
    printf(", ");
    member("kind", program_kind(program, buffer));
    printf(", \"tables\": [");
    for (size_t i = 0; i < program->table_count; i++)
        printf("%s{\"section\": \"%s\", \"bytes\": %llu, \"entry_bytes\": %zu}", i == 0 ? "" : ", ",
               program->tables[i].name, (unsigned long long)program->tables[i].size,
               table_entry_size(&program->tables[i]));
    printf("], ");
    member("launch_sites_told_by", program->relocations ? "relocations"
                                   : program->symbols   ? "symbols"
                                                        : NULL);
    number("launch_sites", program->relocations, program->launch_sites);
    printf(", ");
    member("image_name", program->module.image);
    printf(", ");
    member("host_image_name", program->module.host_image);
    printf("},\n");
}

static void show_image(const struct image *image)
{
    char buffer[32];
    static const char *const kinds[] = {
        [REX_IMAGE_CUBIN] = "cubin", [REX_IMAGE_HOST] = "host", [REX_IMAGE_PTX] = "ptx"};
    bool gpu = image->view != NULL && image->view->kind != REX_IMAGE_HOST;
    printf("{");
    member("path", image->path);
    printf(", ");
    member("kind", image->view == NULL ? NULL : kinds[image->view->kind]);
    printf(", ");
    member("architecture", gpu ? image_target(image, buffer) : NULL);
    printf("}");
}

static void show_parameters(const struct rex_image_symbol *kernel)
{
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN) {
        printf(", \"parameters\": null");
        return;
    }
    printf(", \"parameters\": [");
    for (size_t i = 0; i < kernel->parameters; i++) {
        const struct rex_image_parameter *parameter = &kernel->parameter[i];
        printf("%s{\"offset\": %u, \"bytes\": %u", i == 0 ? "" : ", ", parameter->offset,
               parameter->size);
        if (kernel->signature)
            printf(", \"kind\": \"%s\"", rex_kind_name(parameter->kind));
        printf("}");
    }
    printf("]");
}

static void show_in_image(const struct image *image, const struct row *row)
{
    const struct rex_image_symbol *symbol = image->view != NULL && row->name != NULL
                                                ? rex_image_view_find(image->view, row->name)
                                                : NULL;
    bool found = symbol != NULL && symbol->kernel == (row->kind == ROW_KERNEL),
         told = found && image->view->kind == REX_IMAGE_CUBIN,
         bounds = found && image->view->kind != REX_IMAGE_HOST;
    printf("{");
    member("image", image->path);
    printf(", \"found\": %s", image->view == NULL ? "null" : found ? "true" : "false");
    if (found && symbol->kernel) {
        show_parameters(symbol);
        printf(", \"environment\": %s", symbol->env ? "true" : "false");
        number("max_threads", bounds && symbol->max_threads != 0, symbol->max_threads);
        number("registers", told && symbol->registers != 0, symbol->registers);
        number("shared_memory", told, symbol->shared_memory);
        number("exec_mode", symbol->exec_mode != -1, (unsigned long long)symbol->exec_mode);
        if (symbol->environment_size != 0) {
            number("environment_size", true, symbol->environment_size);
            number("environment_mode", true, symbol->environment_mode);
        }
    } else if (found)
        number("bytes", true, symbol->size);
    printf("}");
}

static void show_row(const struct program *program, const struct images *images,
                     const struct row *row)
{
    printf("{");
    member("name", row->name);
    printf(", \"key\": {");
    member("symbol", row->key.symbol);
    number("address", row->key.kind == TARGET_PLACE && !elf_is_object(&program->file),
           row->key.place.offset);
    printf("}, \"entry\": {");
    member("symbol", row->symbol);
    printf(", \"section\": \"%s\", \"row\": %zu}", program->tables[row->table].name, row->index);
    if (row->kind == ROW_GLOBAL)
        number("bytes", true, row->size);
    printf(", \"images\": [");
    for (size_t i = 0; i < images->count; i++) {
        fputs(i == 0 ? "" : ", ", stdout);
        show_in_image(&images->list[i], row);
    }
    printf("]}");
}

static void show_rows(const struct program *program, const struct images *images, const char *name,
                      enum row_kind kind)
{
    bool first = true;
    printf("  \"%s\": [", name);
    for (size_t i = 0; i < program->row_count; i++) {
        if (program->rows[i].kind != kind)
            continue;
        fputs(first ? "\n    " : ",\n    ", stdout);
        show_row(program, images, &program->rows[i]);
        first = false;
    }
    printf("%s],\n", first ? "" : "\n  ");
}

void show_json(const struct program *program, const struct images *images,
               const struct report *report)
{
    printf("{\n  \"tool\": \"rex-check\",\n  \"version\": \"%s\",\n", rex_version());
    show_program(program);
    printf("  \"images\": [");
    for (size_t i = 0; i < images->count; i++) {
        fputs(i == 0 ? "" : ", ", stdout);
        show_image(&images->list[i]);
    }
    printf("],\n");
    show_rows(program, images, "kernels", ROW_KERNEL);
    show_rows(program, images, "globals", ROW_GLOBAL);
    report_print_json(report);
    printf("}\n");
}
