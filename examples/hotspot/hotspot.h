/*
 * hotspot.h - what the files of the hotspot program share. See hotspot.c.
 *
 *   model.c    what a chip is made of.
 *   input.c    temp_N and power_N: read, write, generate.
 *   offload.c  the device run: one data region, many launches of the kernels in kernels.cu.
 *   devices.c  the same on several devices.
 *   serial.c   the same simulation on the host, written on its own, to check against.
 *   heatmap.c  the picture, drawn with drawing.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef HOTSPOT_H
#define HOTSPOT_H

#include <stddef.h>
#include <stdint.h>

#include "../common/shares.h"
#include "../common/ways.h"

/* Temperature of the surroundings in degrees Celsius, as Rodinia has it. */
#define AMBIENT 80.0

/* A square chip of size x size cells: what one cell is like, and the length of a time step. */
struct chip {
    int64_t size;
    double capacity;   /* heat capacity of a cell, J/K */
    double resistance; /* to a neighbour in the chip's plane, in either direction, K/W */
    double to_ambient; /* through the package to the surroundings, K/W */
    double step;       /* time step, s */
    double cell_area;  /* m^2 */
};

/* Highest power density of the model: 300 W on a chip of 10 mm x 10 mm, W/m^2. */
#define MAX_POWER_DENSITY 3.0e6

/* The model of a chip of @size x @size cells: Rodinia's constants. */
struct chip chip_model(int64_t size);

/*
 * Tolerance of the check: this share of the highest temperature for each iteration. Kernel and
 * reference add the same terms in another order, and a GPU fuses products with sums: a few times
 * 2.2e-16 a step. This leaves room for 45 roundings a step.
 */
#define TOLERANCE_PER_ITERATION 1e-14

/* ---- input.c: files hold one number a line, size x size of them, row by row ---- */

/* Reads exactly @count values. 0, or -1 with a line on stderr that names file and line. */
int read_values(const char *path, double *values, size_t count);

/* Writes @count values, to be read as the same numbers. 0, or -1 with a line on stderr. */
int write_values(const char *path, const double *values, size_t count);

/* Makes up @temp (degrees) and @power (W per cell), the same for the same size. */
void generate(const struct chip *chip, double *temp, double *power);

/* A rectangle of a chip's cells. */
struct rectangle {
    int64_t top, left, rows, columns;
};

/* The same for a part of the chip, row by row. */
void generate_part(const struct chip *chip, const struct rectangle *part, double *temp,
                   double *power);

/* ---- offload.c ---- */

struct device_run {
    int device;          /* in: number, -1 for the default */
    struct ways ways;    /* in: how to launch */
    int iterations;      /* in */
    int64_t launches;    /* out: of both kernels */
    double kernel_time;  /* out: seconds in launches */
    double region_time;  /* out: the same with the copies to and from the device */
    double coldest;      /* out: of the last temperatures, as the device found it */
    double hottest;      /* out */
};

/* Simulates; @temp is replaced by the last temperatures. 0, or -1 with a line on stderr. */
int simulate_on_device(const struct chip *chip, const double *power, double *temp,
                       struct device_run *run);

/* ---- devices.c ---- */

/* As simulate_on_device(), with the rows divided among @shares; @run->ways is not looked at. */
int simulate_on_devices(const struct chip *chip, const double *power, double *temp,
                        struct device_run *run, const struct shares *shares);

/* ---- serial.c ---- */

/* As simulate_on_device(), on the host. 0, or -1: out of memory. */
int simulate_serially(const struct chip *chip, const double *power, double *temp, int iterations);

/* ---- heatmap.c ---- */

/* Where the picture goes unless --png says otherwise: a PNG, or a PPM in a build without libpng. */
extern const char *const heatmap_default_path;

/*
 * Under which name a picture for @path is written: without libpng one that ends in .png gets the
 * ending .ppm, in @changed, of @room bytes.
 */
const char *heatmap_path(const char *path, char *changed, size_t room);

/* The text above and below the picture, and the number of framed parts of the chip, 0 for none. */
struct caption {
    char title[64], facts[2][64];
    int parts_down, parts_across;
};

/* Where part @number of @parts begins among @size rows or columns; behind the last one, @size. */
int64_t part_begin(int64_t size, int number, int parts);

/* Draws @size x @size temperatures with a colour bar. 0, or -1 with a line on stderr. */
int write_heatmap(const char *path, const double *temp, int64_t size,
                  const struct caption *caption);

#endif
