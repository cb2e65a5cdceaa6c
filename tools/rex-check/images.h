/*
 * images.h - the device images that a program is compared with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_IMAGES_H
#define CHECK_IMAGES_H

#include <rex/inspect.h>
#include <time.h>

#include "program.h"
#include "report.h"

struct image {
    char *path;          /* with the GPU in parentheses, where it is one of several in a file */
    bool one_of_several; /* librex takes the one for the GPU */
    bool is_file;        /* and not in the program */
    size_t share;        /* its number among those in the program that share the entries; or 0 */
    struct timespec changed;     /* the file */
    struct rex_image_view *view; /* NULL: it is for another processor, and could not be read */
};

struct mapped {
    const void *bytes;
    size_t size;
};

#define BUILD_MAX 32

struct images {
    struct image *list;
    size_t count;
    struct mapped *files; /* that the images are in */
    size_t file_count;
    char build[BUILD_MAX]; /* of rex-cc: the program's, or else the first image's; "": none known */
    char *built;           /* the file that it is of */
};

/* Open the images in the file PATH for PROGRAM. 0, or -1 with the reason in WHY. */
int images_add(struct images *images, const struct program *program, const char *path,
               struct report *report, char why[WHY_MAX]);

/*
 * The kind of images in the file PATH, which is no ELF file, in words; NULL: none that librex
 * knows.
 */
const char *images_alone(const char *path);

/* The same of the image in PROGRAM, called PATH, which is number SHARE of several, or 0. */
int images_add_embedded(struct images *images, const struct program *program, const char *path,
                        const struct embedded *embedded, size_t share, struct report *report,
                        char why[WHY_MAX]);

void images_close(struct images *images);

/* The target of IMAGE: "sm_90", "compute_90" for PTX, or "the CPU". */
const char *image_target(const struct image *image, char buffer[32]);

#endif
