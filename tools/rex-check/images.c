/*
 * images.c - open device images, and find those that a program names.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"

static int fail(char why[256], const char *path, const char *reason)
{
    snprintf(why, 256, "%s: %s", path, reason);
    return -1;
}

static int map(struct image *image, int descriptor, char why[256])
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return fail(why, image->path, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return fail(why, image->path, S_ISREG(status.st_mode) ? "it is empty" : "it is no regular file");
    image->size = (size_t)status.st_size;
    image->changed = status.st_mtim;
    image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (image->bytes != MAP_FAILED)
        return 0;
    image->bytes = NULL;
    return fail(why, image->path, strerror(errno));
}

static int map_file(struct image *image, char why[256])
{
    int descriptor = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fail(why, image->path, strerror(errno));
    int result = map(image, descriptor, why);
    close(descriptor);
    return result;
}

/* The processor of an image that is code for one; 0 where the program's own will do. */
static unsigned other_machine(const struct program *program, const void *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    bool other = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine != EM_CUDA && header.e_type == ET_DYN &&
                 header.e_machine != program->file.header.e_machine;
    return other ? header.e_machine : 0;
}

static int open_view(struct image *image, const struct program *program, const void *bytes, size_t size, struct report *report,
                     char why[256])
{
    unsigned other = other_machine(program, bytes, size);
    if (other != 0) {
        report_finding(report, FINDING_MIXED_ARCHITECTURES, image->path, NULL, "the image is for %s, %s is for %s", elf_machine_name(other),
                       program->path, elf_machine_name(program->file.header.e_machine));
        return 0;
    }
    if (rex_image_view_open(&image->view, bytes, size, image->path) == REX_OK)
        return 0;
    snprintf(why, 256, "%s", rex_last_error());
    return -1;
}

static void add(struct images *images, struct image image)
{
    images->list = tool_grow(images->list, images->count, sizeof *images->list);
    images->list[images->count++] = image;
}

int images_add(struct images *images, const struct program *program, const char *path, struct report *report, char why[256])
{
    struct image image = {.path = tool_format("%s", path)};
    int result = map_file(&image, why);
    if (result == 0)
        result = open_view(&image, program, image.bytes, image.size, report, why);
    add(images, image);
    return result;
}

void images_close(struct images *images)
{
    for (size_t i = 0; i < images->count; i++) {
        rex_image_view_close(images->list[i].view);
        if (images->list[i].bytes != NULL)
            munmap(images->list[i].bytes, images->list[i].size);
        free(images->list[i].path);
    }
    free(images->list);
}

const char *image_target(const struct image *image, char buffer[32])
{
    if (image->view == NULL)
        return "another processor";
    if (rex_image_view_kind(image->view) == REX_IMAGE_HOST)
        return "the CPU";
    snprintf(buffer, 32, "sm_%u", rex_image_view_architecture(image->view));
    return buffer;
}
