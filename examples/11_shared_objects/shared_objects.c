/*
 * Lesson 11: shared objects with kernels and device images of their own.
 *
 * libscale.so is linked in the usual way. libshift.so is a plug-in: the program opens it, closes it
 * and opens it again. Each shared object is a module. For every module librex keeps a table of
 * entries, the name of an image and a state. All modules use images for GPUs, or all use host
 * images. A module's first launch registers it. If no module is registered, a data call registers
 * at least one that is loaded. (On LLVM 18 librex refuses the plug-in: LLVM 18 loads no image that
 * is registered after a device's first use.)
 *
 * This program has no kernels. It maps the data, and the kernels of both modules use the mapping.
 * The program plain/plain.c does not use librex at all: there the plug-in maps the data.
 *
 * A library with kernels is linked with -lrex, which `rex-cc -shared` and `pkg-config --libs rex`
 * add.
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
    /* ISO C has no cast from void * to a function pointer. POSIX guarantees equal bytes. */
    shift_function *shift;
    memcpy(&shift, &symbol, sizeof shift);
    int error = shift(x, count, amount);
    /*
     * libomptarget keeps the addresses of a module's keys and names until the process ends. So
     * librex pins a shared object when it registers it: the object stays loaded after dlclose().
     */
    dlclose(plugin);
    return error;
}

static int run(double *x, int64_t count)
{
    int error;
    REX_DATA_REGION(&error, -1, REX_TOFROM(x, count)) {
        error = scale(x, count, 3.0);
        /* The second time the plug-in is opened again, and is still registered. */
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
