/*
 * Lesson 5: a program and two shared objects, each with kernels and a device image of its own.
 *
 * libscale.so is linked in the usual way. libshift.so is a plug-in, opened while the program runs,
 * closed, and opened again. Each of the three is a *module*: librex keeps a table, an image name and
 * a state for every linked binary, so nobody needs to know the others. All modules share the
 * device: the kernels of one can use memory that another has mapped.
 *
 * Run it:  make && $(make -s print-O)/examples/05_shared_objects/05_shared_objects
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "scale/scale.h"
#include "shift/shift.h"

enum { COUNT = 10000 };

/*
 * The program's own kernel, in the image of the default name, rex_lib_nvidia.cubin or
 * rex_lib_host.so.
 */
REX_KERNEL(square);

static int square(double *x, int64_t count)
{
    return REX_LAUNCH_FOR(square, count, REX_VALUE(count), REX_ALLOC(x, count));
}

/* Opens the plug-in, adds AMOUNT to every value on the device, and closes it. */
static int shift_by_plugin(double *x, int64_t count, double amount)
{
    void *plugin = dlopen("libshift.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin == NULL ? NULL : dlsym(plugin, "shift");
    if (symbol == NULL) {
        fprintf(stderr, "05_shared_objects: %s\n", dlerror());
        return -1;
    }
    /* ISO C has no cast from void * to a function pointer; POSIX promises that the bytes are the same. */
    shift_function *shift;
    memcpy(&shift, &symbol, sizeof shift);
    int result = shift(x, count, amount);
    /*
     * libomptarget keeps the addresses of a module's keys and names for as long as it lives, so
     * librex has pinned the object when it registered it: dlclose takes back our handle, and the
     * code stays.
     */
    dlclose(plugin);
    return result;
}

static int run(double *x, int64_t count)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_TOFROM(x, count)) {
        error = square(x, count);
        if (error == 0)
            error = scale(x, count, 3.0);
        /* Twice: the second time the object is opened again, and is still registered. */
        for (int i = 0; i < 2 && error == 0; i++)
            error = shift_by_plugin(x, count, 0.5);
    }
    return error;
}

int main(void)
{
    static double x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = i;

    /* Each module is registered by its own first launch, or by a data call. */
    if (run(x, COUNT) != 0)
        return 1;

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 3.0 * i * i + 1.0;
    printf("program: %s\n", rex_module_image_path(&rex_this_module));
    printf("scale:   %s\n", scale_image());
    printf("3 * i * i + 0.5 + 0.5 by kernels of three modules: %d of %d values wrong\n", wrong,
           COUNT);
    return wrong != 0;
}
