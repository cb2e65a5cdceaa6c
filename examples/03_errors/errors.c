/*
 * Lesson 3: errors, and the host's version of a kernel.
 *
 * Most calls of librex return 0 or a negative error. For an error librex by default prints the
 * reason to standard error, and rex_last_error() returns it. A refused call has launched and copied
 * nothing.
 *
 * REX_EHOST is not a failure. It asks the program to run the kernel's host version, because
 * offloading is disabled, the device is the host, or libomptarget refused the launch. librex does
 * not print it. Every other error of a launch means that something is wrong. Most lessons have no
 * host version: they print a message and exit with 1.
 *
 * rex_offload_init() registers the program's image. Without it the first launch or data call
 * registers the image. If many threads launch at once, one registers, and the others wait for its
 * result. A program calls rex_offload_init() at its start to learn of errors early. A program that
 * measures time calls it before the measurement.
 *
 * Run it:  make && $(make -s print-O)/examples/03_errors/03_errors
 * On the host:  OMP_TARGET_OFFLOAD=disabled $(make -s print-O)/examples/03_errors/03_errors
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

enum { COUNT = 1000, NO_SUCH_DEVICE = 1000 };

REX_KERNEL(scale);

static double x[COUNT];

/* Multiplies x by @factor on @device; -1 is the default device. */
static int scale(int64_t device, double factor)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, COUNT);
    config.device = device;
    return REX_LAUNCH_WITH(scale, config, REX_VALUE(COUNT), REX_VALUE(factor),
                           REX_TOFROM(x, COUNT));
}

static void scale_on_the_host(double factor)
{
    for (int i = 0; i < COUNT; i++)
        x[i] *= factor;
}

/* Multiplies x on the default device or, without one, on the host. Returns 0 or an error. */
static int scale_somewhere(double factor)
{
    int error = scale(-1, factor);
    if (error == REX_EHOST) {
        scale_on_the_host(factor);
        puts("scaled on the host");
        return 0;
    }
    if (error == 0)
        printf("scaled on the %s\n", rex_on_host() ? "CPU" : "GPU");
    return error;
}

/* The kernel has three parameters. librex compares them with the rows, and refuses two rows. */
static int leave_out_a_row(void)
{
    return REX_LAUNCH_FOR(scale, COUNT, REX_VALUE(COUNT), REX_TOFROM(x, COUNT));
}

/* An update copies only mapped memory. Outside of a region x is not mapped. */
static int update_without_a_region(void)
{
    REX_MAP(update, REX_FROM(x, COUNT));
    return rex_data_update(-1, &update);
}

/* Prints @error, and returns 1 if it is @expected. */
static int refused(int error, int expected)
{
    if (error == expected)
        printf("%s: %s\n", rex_error_name(error), rex_last_error());
    else
        printf("%s, and not %s\n", rex_error_name(error), rex_error_name(expected));
    return error == expected;
}

int main(void)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    if (rex_offload_init() != 0) /* no libomptarget, no image for this machine, a wrong name, ... */
        return 1;
    if (scale_somewhere(2.0) != 0)
        return 1;

    /* A launch that changes no value finds out if there is a default device. */
    int error = scale(-1, 1.0);
    if (error != 0 && error != REX_EHOST)
        return 1;
    if (error == 0 && !(refused(scale(NO_SUCH_DEVICE, 3.0), REX_EDEVICE) &&
                        refused(leave_out_a_row(), REX_EPARAMS) &&
                        refused(update_without_a_region(), REX_EABSENT)))
        return 1;

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 2.0 * i;
    printf("%d of %d values wrong\n", wrong, COUNT);
    return wrong != 0;
}
