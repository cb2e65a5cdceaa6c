/*
 * srad - removes the speckle of a picture.
 *
 * Speckle-reducing anisotropic diffusion, of the Rodinia suite, on librex. Ultrasound and radar
 * pictures have speckle, a grain. The program removes it: brightness flows between pixels, but not
 * over the edges in the picture. srad.h lists the files.
 *
 * Run it:  make && $(make -s print-O)/examples/srad/srad --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "srad.h"

/*
 * Tolerance of the check, as a share of the largest value. The device computes in single precision,
 * with 6e-8 a rounding. The coefficient of a pixel divides by the speckle, so errors grow if the
 * speckle is small.
 */
#define TOLERANCE 1e-4

enum {
    /* The picture's size in samples. A sample is wide and low, because each row is a copy. */
    WIDTHS_OF_SAMPLE = 4,
    HEIGHTS_OF_SAMPLE = 16
};

struct inputs {
    const char *input;  /* NULL: generate a picture */
    const char *output; /* NULL: write no result */
    const char *drawn;  /* file for the generated picture; NULL: do not write it */
    int64_t iterations;
    int64_t rate;       /* in percent */
};

static void parse(struct settings *settings, struct inputs *inputs, int argc, char **argv)
{
    const struct extra_option extra[] = {
        {"input", "FILE", "read a PGM picture, P5 or P2; default: generate one", &inputs->input,
         NULL, 0, 0},
        {"output", "FILE", "write the result as a PGM picture, P5", &inputs->output, NULL, 0, 0},
        {"generate", "FILE", "write the generated picture", &inputs->drawn, NULL, 0, 0},
        {"iterations", "I", "time steps (100)", NULL, &inputs->iterations, 1, 1000000},
        {"rate", "R", "speed of the flow of brightness, in percent (50)", NULL, &inputs->rate, 1,
         100},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    settings->extra = extra;
    read_options(settings, argc, argv);
    settings->extra = NULL;
    if (inputs->input != NULL && settings->sized)
        wrong_usage(settings, "--size does not apply to --input, which has its own size");
    if (inputs->input != NULL && inputs->drawn != NULL)
        wrong_usage(settings, "--input and --generate exclude each other: give one or the other");
}

static int load(const struct settings *settings, const struct inputs *inputs,
                struct picture *picture)
{
    if (inputs->input != NULL)
        return read_picture(inputs->input, picture);
    if (draw_picture(picture, settings->size) != 0)
        return -1;
    return inputs->drawn != NULL ? write_picture(inputs->drawn, picture) : 0;
}

static struct diffusion diffusion_of(const struct picture *picture, const struct inputs *inputs)
{
    return (struct diffusion){
        .rows = picture->rows,
        .columns = picture->columns,
        .sample_rows =
            picture->rows / HEIGHTS_OF_SAMPLE > 0 ? picture->rows / HEIGHTS_OF_SAMPLE : 1,
        .sample_columns =
            picture->columns / WIDTHS_OF_SAMPLE > 0 ? picture->columns / WIDTHS_OF_SAMPLE : 1,
        .iterations = (int)inputs->iterations,
        .rate = (float)inputs->rate / 100.0f,
    };
}

/* Converts a picture to brightness, its exponential: black to white is 1 to e. */
static void brightness_of(const struct picture *picture, float *values, double *expected)
{
    for (int64_t i = 0; i < picture->rows * picture->columns; i++) {
        values[i] = expf((float)picture->grey[i] / (float)picture->white);
        expected[i] = (double)values[i];
    }
}

static void picture_of(const float *values, struct picture *picture)
{
    for (int64_t i = 0; i < picture->rows * picture->columns; i++) {
        double grey = log((double)values[i]) * picture->white;
        picture->grey[i] = (uint16_t)lround(fmin(fmax(grey, 0.0), picture->white));
    }
}

struct check {
    double difference; /* largest difference, as a share of the largest value */
    double seconds;
    int passed;
};

static int check_result(const struct diffusion *diffusion, const float *values, double *expected,
                        struct check *check)
{
    double largest = 0.0;
    int64_t wrong = 0, pixels = diffusion->rows * diffusion->columns;
    double began = seconds_now();
    if (diffuse_serially(diffusion, expected) != 0) {
        fputs("srad: out of memory for the serial run\n", stderr);
        return -1;
    }
    check->seconds = seconds_now() - began;
    for (int64_t i = 0; i < pixels; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int64_t i = 0; i < pixels; i++) {
        double difference = fabs((double)values[i] - expected[i]) / largest;
        check->difference = fmax(check->difference, difference);
        /* Not `difference > TOLERANCE`, which is false for NaN. */
        wrong += !(difference <= TOLERANCE);
    }
    check->passed = wrong == 0 && isfinite(largest);
    return 0;
}

/* Runs, checks, writes the result and prints the summary. @values receives the result. */
static int compute(const struct settings *settings, const struct inputs *inputs,
                   struct picture *picture, float *values, double *expected)
{
    struct diffusion diffusion = diffusion_of(picture, inputs);
    struct device_run run = {.device = settings->device};
    struct check check = {0};
    brightness_of(picture, values, expected);
    if (diffuse_on_device(&diffusion, values, &run) != 0 ||
        (settings->verify && check_result(&diffusion, values, expected, &check) != 0))
        return 1;
    picture_of(values, picture);
    if (inputs->output != NULL && write_picture(inputs->output, picture) != 0)
        return 1;
    print_line("srad", "%lld x %lld pixels, %d iterations, picture %s", (long long)picture->columns,
               (long long)picture->rows, diffusion.iterations,
               inputs->input != NULL ? inputs->input : "generated");
    print_run(settings, run.launches, run.seconds);
    return print_check(settings, check.passed, check.seconds,
                       "largest difference %.1e of the largest value, %.0e allowed",
                       check.difference, TOLERANCE);
}

static int run_all(const struct settings *settings, const struct inputs *inputs)
{
    struct picture picture = {0};
    int status = 1;
    if (load(settings, inputs, &picture) == 0) {
        size_t pixels = (size_t)(picture.rows * picture.columns);
        float *values = malloc(pixels * sizeof *values);
        double *expected = malloc(pixels * sizeof *expected);
        if (values != NULL && expected != NULL)
            status = compute(settings, inputs, &picture, values, expected);
        else
            fputs("srad: out of memory\n", stderr);
        free(values);
        free(expected);
    }
    free(picture.grey);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "srad",
        .purpose = "Removes the speckle of a picture on a device of libomptarget, and checks the\n"
                   "result against a serial run.",
        .unit = "edge of the generated picture in pixels",
        .size = 512,
        .smallest = 1,
        .largest = LARGEST_EDGE,
    };
    struct inputs inputs = {.iterations = 100, .rate = 50};
    parse(&settings, &inputs, argc, argv);
    return start_offload(&settings) != 0 ? 1 : run_all(&settings, &inputs);
}
