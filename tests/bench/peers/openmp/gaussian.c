/*
 * gaussian.c - gaussian's device run in the words of OpenMP; see examples/gaussian/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "../../../../examples/common/common.h"
#include "../../../../examples/gaussian/gaussian.h"

static void fan1(int64_t size, int64_t step, const double *matrix, double *multiplier)
{
#pragma omp target teams distribute parallel for thread_limit(128) map(to : matrix[0 : size * size]) map(tofrom : multiplier[0 : size])
    for (int64_t row = step + 1; row < size; row++)
        multiplier[row] = matrix[row * size + step] / matrix[step * size + step];
}

static void fan2(int64_t size, int64_t step, const double *multiplier, double *matrix, double *right)
{
    int64_t teams = size - 1 - step;
#pragma omp target teams distribute num_teams(teams) thread_limit(128) map(to : multiplier[0 : size]) \
    map(tofrom : matrix[0 : size * size], right[0 : size])
    for (int64_t row = step + 1; row < size; row++) {
        double times = multiplier[row];
#pragma omp parallel for
        for (int64_t column = step; column <= size; column++)
            if (column < size)
                matrix[row * size + column] -= times * matrix[step * size + column];
            else
                right[row] -= times * right[step];
    }
}

static void back(int64_t size, int64_t step, const double *matrix, double *right, double *solution)
{
#pragma omp target teams distribute parallel for thread_limit(128) map(to : matrix[0 : size * size]) \
    map(tofrom : right[0 : size], solution[0 : size])
    for (int64_t row = 0; row <= step; row++) {
        double value = right[step] / matrix[step * size + step];
        if (row < step)
            right[row] -= matrix[row * size + step] * value;
        else
            solution[row] = value;
    }
}

int solve_on_device(const struct equations *system, double *solution, struct device_run *run)
{
    int64_t size = system->size;
    double *matrix = system->matrix, *right = system->right, *multiplier = malloc((size_t)size * sizeof *multiplier);
    if (multiplier == NULL)
        return -1;
    run->launches = 3 * size - 2;
    double began = seconds_now();
#pragma omp target data map(to : matrix[0 : size * size], right[0 : size]) map(alloc : multiplier[0 : size]) map(from : solution[0 : size])
    {
        for (int64_t step = 0; step < size - 1; step++) {
            fan1(size, step, matrix, multiplier);
            fan2(size, step, multiplier, matrix, right);
        }
        for (int64_t step = size - 1; step >= 0; step--)
            back(size, step, matrix, right, solution);
    }
    run->seconds = seconds_now() - began;
    free(multiplier);
    return 0;
}
