/*
 * images.c - opens device images, and compares the builds that made them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mapping.h"
#include "common/memory.h"

static int map_file(const char *path, struct mapped *file, struct timespec *changed,
                    char why[WHY_MAX])
{
    struct stat status;
    char reason[MAPPING_WHY];
    int descriptor = mapping_open(path, &status, reason);
    file->bytes = descriptor >= 0 ? mapping_make(descriptor, &status, reason) : NULL;
    if (descriptor >= 0)
        close(descriptor);
    if (file->bytes == NULL) {
        snprintf(why, WHY_MAX, "%.*s: %s", PATH_MAX, path, reason);
        return -1;
    }
    file->size = (size_t)status.st_size;
    *changed = status.st_mtim;
    return 0;
}

/*
 * Returns e_machine of a host image if the image is for another processor than the program. Returns
 * 0 for any other image.
 */
static unsigned other_machine(const struct program *program, const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    bool other = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine != EM_CUDA &&
                 header.e_type == ET_DYN && header.e_machine != program->file.elf.header.e_machine;
    return other ? header.e_machine : 0;
}

static int refused(char why[WHY_MAX])
{
    snprintf(why, WHY_MAX, "%s", rex_last_error());
    return -1;
}

static void add(struct images *images, struct image image)
{
    images->list = tool_grow(images->list, images->count, sizeof *images->list);
    images->list[images->count++] = image;
}

/* Returns the name of an image, written like a member of an archive: "images.fatbin(sm_90a)". */
static char *member_path(const char *path, const struct rex_image_item *item)
{
    if (item->kind == REX_IMAGE_HOST)
        return tool_format("%s(host)", path);
    return tool_format("%s(%s_%u%.1s)", path, item->kind == REX_IMAGE_PTX ? "compute" : "sm",
                       item->architecture, &item->suffix);
}

/* Adds image INDEX of LIST. FILE has the members that are equal for all images of one file. */
static int add_item(struct images *images, const struct rex_image_list *list, size_t index,
                    const struct image *file, char why[WHY_MAX])
{
    struct image image = *file;
    image.path = file->one_of_several ? member_path(file->path, &list->items[index])
                                      : tool_format("%s", file->path);
    int result =
        rex_image_view_open(&image.view, list, index, image.path) == REX_OK ? 0 : refused(why);
    add(images, image);
    return result;
}

static int add_items(struct images *images, const struct rex_image_list *list,
                     const struct image *file, struct report *report, char why[WHY_MAX])
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < list->count; i++)
        if (list->items[i].kind != REX_IMAGE_OTHER)
            result = add_item(images, list, i, file, why);
        else
            report_note(
                report, file->path,
                "image %zu of this file is not read: it is not a CUBIN, PTX or a host image, but "
                "perhaps intermediate code of -dlto, or code for another maker's GPU",
                i + 1);
    return result;
}

/* ---- builds ---------------------------------------------------------------------------------- */

/*
 * rex-cc appends a line with this mark to its images. After the mark the line has the build, which
 * is a checksum, and the program's name.
 */
static const char mark[] = "\n// rex-cc: build ";

/*
 * maximum number of bytes at the end of an image that are searched for the mark. Not all bytes are
 * searched, because a sparse file may be very large.
 */
#define MARK_MAX 8192

/*
 * Searches the end of the SIZE bytes at BYTES for the mark, and writes the build after the mark to
 * BUILD. Writes "" if there is no mark. BYTES may be NULL.
 */
static void read_build(const unsigned char *bytes, size_t size, char build[BUILD_MAX])
{
    size_t length = 0, last = size < MARK_MAX ? size : MARK_MAX;
    const unsigned char *at =
        bytes != NULL ? memmem(bytes + size - last, last, mark, strlen(mark)) : NULL;
    if (at != NULL) {
        at += strlen(mark);
        size -= (size_t)(at - bytes);
        while (length < size && length < BUILD_MAX - 1 && at[length] != ' ')
            length++;
        memcpy(build, at, length);
    }
    build[length] = '\0';
}

/*
 * Reads the build from section .rex_program of a program or a host image. strip does not remove
 * this section.
 */
static void read_section_build(const struct rex_elf *elf, char build[BUILD_MAX])
{
    Elf64_Shdr section;
    build[0] = '\0';
    for (size_t i = 0; build[0] == '\0' && rex_elf_section(elf, i, &section); i++)
        if (strcmp(rex_elf_section_name(elf, &section), ".rex_program") == 0)
            read_build(rex_elf_section_bytes(elf, &section), section.sh_size, build);
}

/*
 * Adds a note if the image PATH is from another build than the program. If the build of the program
 * is unknown, compares with the first image whose build is known.
 */
static void check_build(struct images *images, const struct program *program, const char *path,
                        const void *bytes, size_t size, struct report *report)
{
    char build[BUILD_MAX];
    struct rex_elf elf;
    if (images->built == NULL) {
        read_section_build(&program->file.elf, images->build);
        images->built = tool_format("%s", program->path);
    }
    read_build(bytes, size, build);
    if (build[0] == '\0' && rex_elf_open(&elf, bytes, size) == 0)
        read_section_build(&elf, build);
    if (build[0] == '\0' || strcmp(build, images->build) == 0)
        return;
    if (images->build[0] != '\0') {
        report_note(report, path, "it and %s were made by different runs of rex-cc", images->built);
        return;
    }
    memcpy(images->build, build, sizeof build);
    free(images->built);
    images->built = tool_format("%s", path);
}

static int add_all(struct images *images, const struct program *program, struct image file,
                   const void *bytes, size_t size, struct report *report, char why[WHY_MAX])
{
    struct rex_image_list *list;
    char number[ELF_MACHINE_MAX], own[ELF_MACHINE_MAX];
    unsigned other = other_machine(program, bytes, size);
    if (other != 0) {
        report_finding(report, FINDING_MIXED_ARCHITECTURES, file.path, NULL,
                       "the image is for %s, but %s is for %s", elf_machine_name(other, number),
                       program->path, elf_machine_name(program->file.elf.header.e_machine, own));
        file.path = tool_format("%s", file.path);
        add(images, file);
        return 0;
    }
    if (rex_image_list_open(&list, bytes, size, file.path) != REX_OK)
        return refused(why);
    /*
     * If the program has several images, each is from a static library with its own build. So do
     * not compare these builds.
     */
    if (file.share == 0)
        check_build(images, program, file.path, bytes, size, report);
    file.one_of_several = list->items[0].stored != size;
    int result = add_items(images, list, &file, report, why);
    rex_image_list_close(list);
    return result;
}

int images_add(struct images *images, const struct program *program, const char *path,
               struct report *report, char why[WHY_MAX])
{
    struct image image = {.path = (char *)(uintptr_t)path, .is_file = true};
    struct mapped file;
    if (map_file(path, &file, &image.changed, why) != 0)
        return -1;
    images->files = tool_grow(images->files, images->file_count, sizeof *images->files);
    images->files[images->file_count++] = file;
    return add_all(images, program, image, file.bytes, file.size, report, why);
}

const char *images_alone(const char *path)
{
    struct mapped file;
    struct timespec changed;
    struct rex_image_list *list;
    const char *alone = NULL;
    char why[WHY_MAX];
    if (map_file(path, &file, &changed, why) != 0)
        return NULL;
    if (rex_image_list_open(&list, file.bytes, file.size, path) == REX_OK) {
        alone = list->items[0].stored != file.size     ? "a list of device images"
                : list->items[0].kind == REX_IMAGE_PTX ? "PTX"
                                                       : NULL;
        rex_image_list_close(list);
    }
    mapping_end(file.bytes, file.size);
    return alone;
}

int images_add_embedded(struct images *images, const struct program *program, const char *path,
                        const struct embedded *embedded, size_t share, struct report *report,
                        char why[WHY_MAX])
{
    struct image image = {.path = (char *)(uintptr_t)path, .share = share};
    return add_all(images, program, image, embedded->bytes, embedded->size, report, why);
}

void images_close(struct images *images)
{
    for (size_t i = 0; i < images->count; i++) {
        rex_image_view_close(images->list[i].view);
        free(images->list[i].path);
    }
    for (size_t i = 0; i < images->file_count; i++)
        mapping_end(images->files[i].bytes, images->files[i].size);
    free(images->files);
    free(images->built);
    free(images->list);
}

const char *image_target(const struct image *image, char buffer[32])
{
    if (image->view == NULL)
        return "another processor";
    if (image->view->kind == REX_IMAGE_HOST)
        return "the CPU";
    snprintf(buffer, 32, image->view->kind == REX_IMAGE_PTX ? "compute_%u" : "sm_%u",
             image->view->architecture);
    return buffer;
}
