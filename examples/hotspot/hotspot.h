/*
 * hotspot.h - declarations for the files of the hotspot program. See hotspot.c.
 *
 *   model.c    physical constants of a chip.
 *   input.c    temp_N and power_N: reads, writes, generates them.
 *   offload.c  the device run: one data region, many launches of the kernels in kernels.cu.
 *   devices.c  the run on several devices.
 *   serial.c   the simulation on the host, with separate code, for the check.
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

/* Rodinia's temperature of the surroundings, in degrees Celsius. */
#define AMBIENT 80.0

/* A square chip of size x size cells: constants of one cell, and the length of a time step. */
struct chip {
    int64_t size;
    double capacity;   /* heat capacity of a cell, J/K */
    double resistance; /* thermal resistance to each neighbour cell, K/W */
    double to_ambient; /* thermal resistance through the package to the surroundings, K/W */
    double step;       /* time step, s */
    double cell_area;  /* m^2 */
};

/* Highest power density of the model: 300 W on a chip of 10 mm x 10 mm, W/m^2. */
#define MAX_POWER_DENSITY 3.0e6

/* Returns the model of a chip of @size x @size cells, with Rodinia's constants. */
struct chip chip_model(int64_t size);

/*
 * Tolerance of the check, for each iteration, as a share of the highest temperature. Kernel and
 * reference add terms in different orders, and a GPU fuses products with sums. That makes a few
 * roundings of 2.2e-16 a step; the tolerance allows 45.
 */
#define TOLERANCE_PER_ITERATION 1e-14

/* ---- input.c: files have size x size lines, row by row, with one number in each ---- */

/* Reads exactly @count values. Returns 0, or -1 with file, line and cause on stderr. */
int read_values(const char *path, double *values, size_t count);

/* Writes @count values, exactly readable. Returns 0, or -1 with a line on stderr. */
int write_values(const char *path, const double *values, size_t count);

/* Generates @temp (degrees) and @power (W per cell), which depend only on the size. */
void generate(const struct chip *chip, double *temp, double *power);

/* A rectangle of a chip's cells. */
struct rectangle {
    int64_t top, left, rows, columns;
};

/* Generates the cells of a part of the chip, row by row. */
void generate_part(const struct chip *chip, const struct rectangle *part, double *temp,
                   double *power);

/* ---- offload.c ---- */

struct device_run {
    int device;          /* in: number, -1 for the default */
    struct ways ways;    /* in: way to launch */
    int iterations;      /* in */
    int64_t launches;    /* out: number of launches of both kernels */
    double kernel_time;  /* out: seconds of the launches */
    double region_time;  /* out: seconds of the launches and the copies */
    double coldest;      /* out: lowest of the last temperatures, found on the device */
    double hottest;      /* out: highest */
};

/* Replaces @temp by the last temperatures. Returns 0, or -1 with a line on stderr. */
int simulate_on_device(const struct chip *chip, const double *power, double *temp,
                       struct device_run *run);

/* ---- devices.c ---- */

/* Does the work of simulate_on_device() on the devices of @shares. Ignores @run->ways. */
int simulate_on_devices(const struct chip *chip, const double *power, double *temp,
                        struct device_run *run, const struct shares *shares);

/* ---- serial.c ---- */

/* Does the work of simulate_on_device() on the host. Returns 0, or -1: out of memory. */
int simulate_serially(const struct chip *chip, const double *power, double *temp, int iterations);

/* ---- heatmap.c ---- */

/* The picture's path without --png: a PNG, or a PPM in a build without libpng. */
extern const char *const heatmap_default_path;

/*
 * Returns the path of the picture file for @path. Without libpng the ending .png becomes .ppm, in
 * the buffer @changed of @room bytes.
 */
const char *heatmap_path(const char *path, char *changed, size_t room);

/* The texts above and below the picture, and the number of framed parts; 0: no frames. */
struct caption {
    char title[64], facts[2][64];
    int parts_down, parts_across;
};

/* Returns the first of @size rows or columns of part @number; @size if @number is @parts. */
int64_t part_begin(int64_t size, int number, int parts);

/* Draws @size x @size temperatures with a colour bar. Returns 0, or -1 with a line on stderr. */
int write_heatmap(const char *path, const double *temp, int64_t size,
                  const struct caption *caption);

#endif
