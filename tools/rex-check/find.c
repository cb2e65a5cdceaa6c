/*
 * find.c - finds the images that librex would load: images in the program, or files that the
 * program names. Searches for the files as rex_module_register() does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"

/*
 * Returns the folders that are searched for images, as a list with colons: $REX_CUBIN_PATH, the
 * program's folder, the current folder.
 */
static char *folders_of(const struct program *program)
{
    const char *variable = getenv("REX_CUBIN_PATH"), *slash = strrchr(program->path, '/');
    int length = slash == NULL ? 1 : slash == program->path ? 1 : (int)(slash - program->path);
    return tool_format("%s:%.*s:.", variable != NULL ? variable : "", length,
                       slash == NULL ? "." : program->path);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/*
 * Returns the path of the file NAME; the caller frees the path. Returns NULL if no folder has the
 * file.
 */
static char *locate(const char *folders, const char *name)
{
    if (strchr(name, '/') != NULL)
        return is_there(name) ? tool_format("%s", name) : NULL;
    for (size_t length; *folders != '\0'; folders += length + (folders[length] == ':')) {
        length = strcspn(folders, ":");
        if (length == 0)
            continue;
        bool here = length == 1 && *folders == '.';
        char *path =
            here ? tool_format("%s", name) : tool_format("%.*s/%s", (int)length, folders, name);
        if (is_there(path))
            return path;
        free(path);
    }
    return NULL;
}

static int add_embedded(struct images *images, const struct program *program, struct report *report,
                        char why[WHY_MAX])
{
    size_t count = program->module.embedded_count;
    int result = 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        char *path = count == 1 ? tool_format("%s (the image in it)", program->path)
                                : tool_format("%s (image %zu in it)", program->path, i + 1);
        result = images_add_embedded(images, program, path, &program->module.embedded[i],
                                     count == 1 ? 0 : i + 1, report, why);
        free(path);
    }
    if (result != 0)
        return result;
    if (count == 1)
        report_note(report, program->path,
                    "no image given: compared with the image in the program, which librex loads");
    else
        report_note(report, program->path,
                    "no image given: compared with the %zu images in the program, which librex "
                    "loads",
                    count);
    return 0;
}

/*
 * If a folder of FOLDERS has the file NAME, adds the file to IMAGES, with a note. NAME is one of
 * the names in NAMES. The note says that WHAT, such as "$REX_CUBIN", is NAMES.
 */
static int try_name(struct images *images, const struct program *program, const char *folders,
                    const char *name, const char *names, const char *what, struct report *report,
                    char why[WHY_MAX])
{
    char *path = locate(folders, name);
    if (path == NULL)
        return 0;
    report_note(report, program->path, "no image given: compared with %s (%s is %s)", path, what,
                names);
    int result = images_add(images, program, path, report, why);
    free(path);
    return result;
}

/* NAMES is one file name or, with colons, several alternatives. */
static int try_names(struct images *images, const struct program *program, const char *folders,
                     const char *names, const char *what, struct report *report, char why[WHY_MAX])
{
    char *copy = tool_format("%s", names), *rest = copy, *name;
    bool several = strchr(names, ':') != NULL;
    size_t before = images->count;
    int result = 0;
    while (result == 0 && (name = strsep(&rest, ":")) != NULL)
        if (*name != '\0')
            result = try_name(images, program, folders, name, names, what, report, why);
    for (size_t i = before; i < images->count; i++)
        images->list[i].one_of_several |= several;
    free(copy);
    return result;
}

static void say_nowhere(const struct program *program, struct report *report)
{
    const struct module_names *names = &program->module;
    const char *variable = getenv("REX_CUBIN");
    bool both = names->image != NULL && names->host_image != NULL;
    if (program_is_image(program))
        return; /* another note reports that the program is an image */
    if (variable != NULL && *variable != '\0')
        report_note(report, program->path,
                    "no image given: $REX_CUBIN names %s, which was not found. Kernel names are "
                    "not compared: correct or unset REX_CUBIN",
                    variable);
    else if (!names->found && program->table_count > 0 && program->tables[0].clangs)
        report_note(report, program->path,
                    "no image given: clang puts its images into the linked program, where "
                    "rex-check does not read them: kernel names are not compared");
    else if (!names->found)
        report_note(report, program->path,
                    "no image given, and the file does not name one (it has no struct rex_module): "
                    "kernel names are not compared");
    else if (names->image == NULL && names->host_image == NULL)
        report_note(
            report, program->path,
            "no image given, and the program's struct rex_module does not name one: kernel names "
            "are not compared");
    else
        report_note(
            report, program->path,
            "no image given: kernel names are not compared; the program needs %s%s%s; %s in "
            "$REX_CUBIN_PATH, the program's folder or the current one",
            names->image != NULL ? names->image : "", both ? " or " : "",
            names->host_image != NULL ? names->host_image : "", both ? "neither is" : "it is not");
}

int images_find(struct images *images, const struct program *program, struct report *report,
                char why[WHY_MAX])
{
    const char *variable = getenv("REX_CUBIN");
    bool has_embedded = program->module.embedded_count > 0;
    if (has_embedded && !program->module.embedded_on_host)
        return add_embedded(images, program, report, why);
    char *folders = folders_of(program);
    int result = 0;
    if (variable != NULL && *variable != '\0')
        result = try_names(images, program, folders, variable, "$REX_CUBIN", report, why);
    else {
        if (program->module.image != NULL)
            result = try_names(images, program, folders, program->module.image,
                               "the program's image", report, why);
        /* If the program contains a host image, librex uses that image, not the file. */
        if (result == 0 && program->module.host_image != NULL && !has_embedded)
            result = try_names(images, program, folders, program->module.host_image,
                               "the program's host image", report, why);
    }
    free(folders);
    if (result != 0 || images->count > 0)
        return result;
    if (has_embedded)
        return add_embedded(images, program, report, why);
    say_nowhere(program, report);
    return 0;
}
