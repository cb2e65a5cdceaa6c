/*
 * system.c - gaussian's systems of equations. A file in Rodinia's format is text: the number of
 * unknowns, the matrix row by row, and the right-hand side, separated by white space. Rodinia's
 * files end with the solution, which is not read.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gaussian.h"

void free_equations(struct equations *system)
{
    free(system->matrix);
    free(system->right);
    system->matrix = system->right = NULL;
}

static int allocate(struct equations *system, int64_t size)
{
    size_t count = (size_t)size;
    double *matrix = malloc(count * count * sizeof *matrix), *right = malloc(count * sizeof *right);
    *system = (struct equations){size, matrix, right};
    if (system->matrix != NULL && system->right != NULL)
        return 0;
    free_equations(system);
    fprintf(stderr, "gaussian: out of memory for %lld unknowns\n", (long long)size);
    return -1;
}

int copy_equations(const struct equations *system, struct equations *copy)
{
    size_t count = (size_t)system->size;
    if (allocate(copy, system->size) != 0)
        return -1;
    memcpy(copy->matrix, system->matrix, count * count * sizeof(double));
    memcpy(copy->right, system->right, count * sizeof(double));
    return 0;
}

/* Numbers decrease with the distance from the diagonal, so no rows need to be exchanged. */
int make_equations(struct equations *system, int64_t size)
{
    const double largest = 10.0, decay = 0.01;
    if (allocate(system, size) != 0)
        return -1;
    for (int64_t row = 0; row < size; row++) {
        system->right[row] = 1.0;
        for (int64_t column = 0; column < size; column++)
            system->matrix[row * size + column] =
                largest * exp(-decay * fabs((double)(row - column)));
    }
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

enum { LONGEST_NUMBER = 64 };

/* Reads the next number, number @which of @what. Returns 0, or -1 with a line on stderr. */
static int read_number(FILE *file, const char *path, const char *what, int64_t which,
                       double *number)
{
    char text[LONGEST_NUMBER + 1], *end = text;
    int found = fscanf(file, "%64s", text) == 1;
    if (found)
        *number = strtod(text, &end);
    if (found && end != text && *end == '\0' && isfinite(*number))
        return 0;
    if (ferror(file))
        fprintf(stderr, "gaussian: %s: %s\n", path, strerror(errno));
    else if (!found)
        fprintf(stderr, "gaussian: %s: ends before number %lld of the %s\n", path, (long long)which,
                what);
    else
        fprintf(stderr, "gaussian: %s: '%.30s' is not a number (number %lld of the %s)\n", path,
                text, (long long)which, what);
    return -1;
}

static int read_numbers(FILE *file, const char *path, const char *what, double *numbers,
                        int64_t count)
{
    int result = 0;
    for (int64_t i = 0; i < count && result == 0; i++)
        result = read_number(file, path, what, i + 1, &numbers[i]);
    return result;
}

static int read_size(FILE *file, const char *path, int64_t *size)
{
    double number;
    if (read_number(file, path, "size", 1, &number) != 0)
        return -1;
    if (!(number >= 1.0 && number <= (double)MOST_UNKNOWNS) || number != floor(number)) {
        fprintf(stderr,
                "gaussian: %s: begins with %g, not with a number of unknowns from 1 to %d\n", path,
                number, MOST_UNKNOWNS);
        return -1;
    }
    *size = (int64_t)number;
    return 0;
}

static int read_open(FILE *file, const char *path, struct equations *system)
{
    int64_t size;
    if (read_size(file, path, &size) != 0 || allocate(system, size) != 0)
        return -1;
    if (read_numbers(file, path, "matrix", system->matrix, size * size) == 0 &&
        read_numbers(file, path, "right-hand side", system->right, size) == 0)
        return 0;
    free_equations(system);
    return -1;
}

int read_equations(const char *path, struct equations *system)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "gaussian: %s: %s\n", path, strerror(errno));
        return -1;
    }
    int result = read_open(file, path, system);
    fclose(file);
    return result;
}

/* Writes numbers with 17 digits, which strtod() reads back exactly. */
static int write_numbers(FILE *file, const double *numbers, int64_t count)
{
    int good = 1;
    for (int64_t i = 0; i < count && good; i++)
        good = fprintf(file, "%.17g%c", numbers[i], i + 1 < count ? ' ' : '\n') > 0;
    return good;
}

int write_equations(const char *path, const struct equations *system)
{
    FILE *file = fopen(path, "w");
    int good = file != NULL && fprintf(file, "%lld\n\n", (long long)system->size) > 0;
    for (int64_t row = 0; row < system->size && good; row++)
        good = write_numbers(file, system->matrix + row * system->size, system->size);
    good = good && putc('\n', file) != EOF && write_numbers(file, system->right, system->size);
    if (file != NULL && fclose(file) != 0)
        good = 0;
    if (!good)
        fprintf(stderr, "gaussian: %s: %s\n", path, strerror(errno));
    return good ? 0 : -1;
}
