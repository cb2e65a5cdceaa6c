/*
 * Lesson 1: y = a * x + y on the device, by one launch.
 *
 * The kernel is in kernels.cu. This file has its name, its arguments, and the line that launches
 * it. The first launch finds LLVM's libomptarget and registers the image of the kernels with it.
 *
 * Run it:  make && $(make -s print-O)/examples/01_launch/01_launch
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

enum { COUNT = 100000 };

/* Identifies the kernel on the host. kernels.cu defines a kernel of this name for the device. */
REX_KERNEL(axpy);

/*
 * Launches the kernel for n iterations on the default device. librex chooses the grid, because the
 * kernel's REX_FOR is right on any grid. A row for each parameter of the kernel follows, in order:
 * a value, or memory and the direction of its copy. The call copies x and y to the device, waits
 * for the kernel, copies y back and returns.
 */
static int axpy(int64_t n, double a, const double *x, double *y)
{
    return REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
}

/* Computes it on the host, if there is no device. A program may omit this, and then fails there. */
static void axpy_on_the_host(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* All values are small whole numbers, so the results are exact, and != can compare them. */
static int count_wrong(double a, const double *x, const double *y)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != a * x[i] + 1.0;
    return wrong;
}

int main(void)
{
    static double x[COUNT], y[COUNT];
    const double a = 2.0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 1.0;
    }

    int error = axpy(COUNT, a, x, y);
    const char *where = rex_on_host() ? "on the CPU" : "on the GPU";
    if (error == REX_EHOST) { /* for example, offloading is disabled */
        axpy_on_the_host(COUNT, a, x, y);
        where = "on the host";
    } else if (error != 0)
        return 1; /* librex has printed the error */

    int wrong = count_wrong(a, x, y);
    printf("axpy %s: y[%d] = %g, %d of %d values wrong\n", where, COUNT - 1, y[COUNT - 1], wrong,
           COUNT);
    return wrong != 0;
}
