/*
 * matmul - a product of two matrices, its rows divided among the devices of this process.
 *
 * The shortest of the programs with --devices. matmul.h lists the files.
 *
 * Run it:  make && $(make -s print-O)/examples/matmul/matmul --devices all
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "matmul.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LARGEST_NUMBER = 8, /* whole numbers, so that products and sums are exact in any order */
    CHECKED_ROWS = 16, /* number of rows to check of a product of more than ALL_CHECKED rows */
    ALL_CHECKED = 1024
};

static double next_number(uint64_t *random)
{
    return (double)((int64_t)(next_random(random) % (2 * LARGEST_NUMBER + 1)) - LARGEST_NUMBER);
}

static int make_product(struct product *product, int64_t size)
{
    size_t cells = (size_t)(size * size);
    uint64_t random = 2026;
    *product = (struct product){.size = size};
    product->a = malloc(cells * sizeof(double));
    product->b = malloc(cells * sizeof(double));
    product->c = malloc(cells * sizeof(double));
    if (product->a == NULL || product->b == NULL || product->c == NULL) {
        fprintf(stderr, "matmul: out of memory for %lld x %lld numbers\n", (long long)size,
                (long long)size);
        return -1;
    }
    for (size_t i = 0; i < cells; i++) {
        product->a[i] = next_number(&random);
        product->b[i] = next_number(&random);
    }
    return 0;
}

static void free_product(struct product *product)
{
    free(product->a);
    free(product->b);
    free(product->c);
}

/* Returns the number of wrong numbers in row @row. @expected has room for one row. */
static int64_t wrong_in_row(const struct product *product, int64_t row, double *expected)
{
    int64_t size = product->size, wrong = 0;
    for (int64_t column = 0; column < size; column++)
        expected[column] = 0.0;
    for (int64_t k = 0; k < size; k++)
        for (int64_t column = 0; column < size; column++)
            expected[column] += product->a[row * size + k] * product->b[k * size + column];
    for (int64_t column = 0; column < size; column++)
        wrong += expected[column] != product->c[row * size + column];
    return wrong;
}

static int check(const struct settings *settings, const struct product *product)
{
    int64_t size = product->size, rows = size <= ALL_CHECKED ? size : CHECKED_ROWS, wrong = 0;
    double began = seconds_now(), *expected = malloc((size_t)size * sizeof *expected);
    if (expected == NULL) {
        fputs("matmul: out of memory for the serial run\n", stderr);
        return 1;
    }
    /* The first and the last row are among the checked rows. */
    for (int64_t i = 0; i < rows && settings->verify; i++)
        wrong += wrong_in_row(product, rows > 1 ? i * (size - 1) / (rows - 1) : 0, expected);
    free(expected);
    return print_check(settings, wrong == 0, seconds_now() - began,
                       "%lld numbers wrong in %lld of %lld rows", (long long)wrong, (long long)rows,
                       (long long)size);
}

static int run_product(const struct settings *settings, const struct product *product)
{
    struct shares shares;
    struct device_run run = {.launches = 0};
    int result = open_shares(&shares, settings, product->size);
    if (result == 0)
        result = multiply(product, &shares, &run);
    if (result == 0) {
        double operations =
            2.0 * (double)product->size * (double)product->size * (double)product->size;
        print_line("matmul", "%lld x %lld numbers", (long long)product->size,
                   (long long)product->size);
        print_run(settings, run.launches, run.seconds);
        print_shares(&shares, "rows");
        print_line("computation", "%.6f s without copies, %.1f GFLOP/s", run.computing,
                   1e-9 * operations / run.computing);
        print_digest(product->c, (size_t)(product->size * product->size) * sizeof *product->c);
        result = check(settings, product);
    }
    close_shares(&shares);
    return result;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "matmul",
        .purpose = "Multiplies two matrices on a device of libomptarget. With --devices, each\n"
                   "device computes some of the rows. A serial run checks all rows of small\n"
                   "matrices, and a few rows of large ones.",
        .unit = "rows and columns",
        .size = 512,
        .smallest = 1,
        .largest = 65536,
        .has_devices = 1,
    };
    struct product product;
    read_options(&settings, argc, argv);
    int result = make_product(&product, settings.size);
    if (result == 0)
        result = start_offload(&settings);
    if (result == 0)
        result = run_product(&settings, &product);
    free_product(&product);
    return result == 0 ? 0 : 1;
}
