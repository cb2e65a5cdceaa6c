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
    /* path of the file; the GPU follows in parentheses if the file has several images */
    char *path;
    bool one_of_several;     /* one of several in a file or list; librex chooses one for the GPU */
    bool is_file;            /* a file, not a part of the program */
    size_t share;            /* number of this image, from 1, if the program has several; else 0 */
    struct timespec changed; /* time of the file */
    struct rex_image_view *view; /* NULL: the image is for another processor, and is not read */
};

struct mapped {
    const void *bytes;
    size_t size;
};

#define BUILD_MAX 32

struct images {
    struct image *list;
    size_t count;
    struct mapped *files; /* files of the images */
    size_t file_count;
    /*
     * build of the program. If that build is unknown: the build of the first image whose build is
     * known. If no build is known: "".
     */
    char build[BUILD_MAX];
    char *built; /* file that has this build */
};

/*
 * Opens the images in the file PATH, and adds them to IMAGES. Returns 0. On failure returns -1, and
 * writes the reason to WHY.
 */
int images_add(struct images *images, const struct program *program, const char *path,
               struct report *report, char why[WHY_MAX]);

/*
 * If the file PATH is a list of device images or PTX, returns the kind in words. If PATH is any
 * other file, returns NULL.
 */
const char *images_alone(const char *path);

/*
 * Opens the image EMBEDDED, a part of PROGRAM, and adds the image to IMAGES. PATH is the image's
 * name in messages. SHARE is the number of this image, from 1, or 0 if PROGRAM has only one image.
 */
int images_add_embedded(struct images *images, const struct program *program, const char *path,
                        const struct embedded *embedded, size_t share, struct report *report,
                        char why[WHY_MAX]);

void images_close(struct images *images);

/* Returns the target of IMAGE: "sm_90", "compute_90" for PTX, "the CPU" or "another processor". */
const char *image_target(const struct image *image, char buffer[32]);

#endif
