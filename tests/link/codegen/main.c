/* main.c - launches the program of rex-codegen(7) under two stems, and the file with the header.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdint.h>
#include <stdio.h>
int scale(double *x, int64_t n), scale_again(double *x, int64_t n);
int with_header(double *x, int64_t n);
int rex_offload_init(void), rex_offload_fini(void); /* of the file that includes the header */
int main(void)
{
    double x[100];
    if (rex_offload_init() != 0)
        return puts("not initialised");
    for (int i = 0; i < 100; i++)
        x[i] = i;
    if (scale(x, 100) != 0 || scale_again(x, 100) != 0 || with_header(x, 100) != 0)
        return puts("not launched");
    for (int i = 0; i < 100; i++)
        if (x[i] != 8.0 * i)
            return puts("wrong");
    return rex_offload_fini();
}
