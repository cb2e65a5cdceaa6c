/*
 * srad.h - declarations for the parts of srad.
 *
 *   srad.c      options, the check, the summary.
 *   offload.c   the device run: read this file to learn offloading.
 *   kernels.cu  the device side.
 *   serial.c    the reference for the check.
 *   picture.c   PGM files, and a picture to test with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SRAD_H
#define SRAD_H

#include <stdint.h>

enum {
    LARGEST_EDGE = 16384 /* in pixels; a field of this size takes 1 GiB */
};

/* A grey picture: @rows x @columns pixels, row by row, 0 black to @white. */
struct picture {
    int64_t rows;
    int64_t columns;
    int white;
    uint16_t *grey;
};

/* A diffusion of @values, the brightness of each pixel, which is never 0. */
struct diffusion {
    int64_t rows;
    int64_t columns;
    int64_t sample_rows; /* size of the sample, the upper left part, which has only speckle */
    int64_t sample_columns;
    int iterations;
    float rate;             /* of the flow, above 0 and at most 1 */
};

/* Minimum of the speckle, because the coefficient divides by it. */
#define LEAST_SPECKLE 1e-6

/* ---- picture.c ---- */

/* Reads a PGM file, P5 or P2. Returns 0, or -1 with a line on stderr. */
int read_picture(const char *path, struct picture *picture);

/* Writes a PGM file, P5. Returns 0, or -1 with a line on stderr. */
int write_picture(const char *path, const struct picture *picture);

/* Draws discs and bars with speckle; they depend only on @size. Returns 0, or -1: no memory. */
int draw_picture(struct picture *picture, int64_t size);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    int64_t launches; /* out */
    double seconds;   /* out: time of the region, with its copies */
};

/* Replaces @values by the result. Returns 0, or an error with a line on stderr. */
int diffuse_on_device(const struct diffusion *diffusion, float *values, struct device_run *run);

/* ---- serial.c ---- */

/* Replaces @values by the result on the host, in double precision. Returns 0, or -1: no memory. */
int diffuse_serially(const struct diffusion *diffusion, double *values);

#endif
