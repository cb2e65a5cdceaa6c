/*
 * Lesson 11: shared objects with kernels and device images of their own.
 *
 * libscale.so is linked in the usual way. libshift.so is a plug-in, opened while the program runs,
 * closed, and opened again. Each of them is a module: librex keeps a table of entries, the name of
 * an image and a state for every linked binary, so that no module needs to know the others. Each is
 * registered by its own first launch, or by a data call. (LLVM 18 refuses the plug-in, because it
 * loads no image after a device's first use.)
 *
 * This program has no kernels. It maps the data, and the kernels of both use what it has mapped.
 * The program plain/plain.c does not even know of librex: the plug-in maps the data itself.
 *
 * A library with kernels is linked with -lrex. `rex-cc -shared` gives that, and so does
 * `pkg-config --libs rex`.
 *
 * Run it:  make && $(make -s print-O)/examples/11_shared_objects/11_shared_objects
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "scale/scale.h"
#include "shift/shift.h"

enum { COUNT = 10000 };

/* Opens the plug-in, adds @amount to every value on the device, and closes it. */
static int shift_by_plugin(double *x, int64_t count, double amount)
{
    void *plugin = dlopen("libshift.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin == NULL ? NULL : dlsym(plugin, "shift");
    if (symbol == NULL) {
        fprintf(stderr, "11_shared_objects: %s\n", dlerror());
        return 1; /* errors of librex are negative */
    }
    /* ISO C casts no void * to a function pointer; POSIX promises that the bytes are the same. */
    shift_function *shift;
    memcpy(&shift, &symbol, sizeof shift);
    int error = shift(x, count, amount);
    /*
     * libomptarget keeps the addresses of a module's keys and names for as long as it lives. So
     * librex has pinned the object when it registered it: after dlclose() the code stays.
     */
    dlclose(plugin);
    return error;
}

static int run(double *x, int64_t count)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_TOFROM(x, count)) {
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
    if (run(x, COUNT) != 0) {
        if (rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
            fprintf(stderr, "11_shared_objects: %s\n", rex_last_error());
        return 1;
    }

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 3.0 * i + 1.0;
    printf("scale: %s\n", scale_image());
    printf("3 * i + 0.5 + 0.5 by kernels of two modules: %d of %d values wrong\n", wrong, COUNT);
    return wrong != 0;
}
