/*
 * srad.h - what the parts of srad share.
 *
 *   srad.c      options, the check, the summary
 *   offload.c   the device run: the one to read for offloading
 *   kernels.cu  the device side
 *   serial.c    the reference for the check
 *   picture.c   PGM files, and a picture to test with
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SRAD_H
#define SRAD_H

#include <stdint.h>

enum {
    LARGEST_EDGE = 16384 /* pixels; a field of them then takes 1 GiB */
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
    int64_t sample_rows; /* the upper left part holds speckle and nothing else */
    int64_t sample_columns;
    int iterations;
    float rate;             /* of the flow, above 0 and at most 1 */
};

/* The least speckle that is reckoned with: a sample without any would be divided by. */
#define LEAST_SPECKLE 1e-6

/* ---- picture.c ---- */

/* Reads a PGM file, P5 or P2. 0, or -1 with a line on stderr. */
int read_picture(const char *path, struct picture *picture);

/* Writes P5. 0, or -1 with a line on stderr. */
int write_picture(const char *path, const struct picture *picture);

/* Discs and bars under speckle, the same for the same size, every time. 0, or -1: out of memory. */
int draw_picture(struct picture *picture, int64_t size);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    int64_t launches; /* out */
    double seconds;   /* out: the region, with its copies */
};

/* @values is replaced by the result. 0, or -1 with the reason on stderr. */
int diffuse_on_device(const struct diffusion *diffusion, float *values, struct device_run *run);

/* ---- serial.c ---- */

/* The same on the host, in double precision. 0, or -1: out of memory. */
int diffuse_serially(const struct diffusion *diffusion, double *values);

#endif
