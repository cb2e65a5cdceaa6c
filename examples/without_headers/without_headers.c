/*
 * Offloads without a header of librex. generate.awk writes launch_axpy() from the structs,
 * constants and functions of `rex-info --abi --json`. Generators in other languages can do this,
 * too.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdint.h>
#include <stdio.h>

int launch_axpy(int64_t n, double a, const double *x, double *y);

#define N 100000

int main(void)
{
    static double x[N], y[N];
    int64_t n = N;
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1.0;
    }
    int result = launch_axpy(n, 2.0, x, y);
    if (result == -1) /* not an error, so librex prints nothing */
        fputs("without_headers: there is no device to launch on\n", stderr);
    for (int i = 0; i < N; i++)
        wrong += y[i] != 2.0 * i + 1.0;
    printf("axpy: y[%d] = %g, %d of %d values wrong\n", N - 1, y[N - 1], wrong, N);
    return result != 0 || wrong != 0;
}
