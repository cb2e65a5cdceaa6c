/*
 * Lesson 1: y = a * x + y on the device: a map and a launch.
 *
 * The kernel is in kernels.cu. Here are its name, what it works on, and the call that runs it; the
 * first such call finds LLVM's libomptarget and registers the image of the kernels with it.
 *
 * Run it:  make && $(make -s print-O)/examples/01_launch/01_launch
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

enum { COUNT = 100000 };

/* The kernel's identity on the host. kernels.cu defines the same name for the device. */
REX_KERNEL(axpy);

static int axpy(int64_t n, double a, const double *x, double *y)
{
    /* One row for each parameter of the kernel, in order: a value, or memory and where it goes. */
    REX_MAP(arguments, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
    /* On the default device, by 64 blocks of 128 threads. */
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(axpy), 64, 128);
    /* Copies x and y there, runs the kernel, and copies y back. */
    return rex_launch(&launch, &arguments);
}

/* The same on the host, for where there is no device: every kernel has such a version, or fails. */
static void axpy_on_the_host(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* All values are small whole numbers: results are exact, and can be compared with ==. */
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

    int result = axpy(COUNT, a, x, y);
    const char *where = rex_module_on_host(&rex_this_module) ? "on the CPU" : "on the GPU";
    if (result == REX_EHOST) { /* offloading is disabled, or the default device is the host */
        axpy_on_the_host(COUNT, a, x, y);
        where = "on the host";
    } else if (result != 0)
        return 1; /* the reason is on standard error already */

    int wrong = count_wrong(a, x, y);
    printf("axpy %s: y[%d] = %g, %d of %d values wrong\n", where, COUNT - 1, y[COUNT - 1], wrong,
           COUNT);
    return wrong != 0;
}
