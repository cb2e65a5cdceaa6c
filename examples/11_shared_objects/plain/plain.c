/*
 * Lesson 11: a program that does not use librex and opens a plug-in with kernels. The plug-in is
 * linked with librex, so dlopen() loads librex, too.
 *
 * Run it:  make && $(make -s print-O)/examples/11_shared_objects/plain
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../shift/shift.h"

enum { COUNT = 1000 };

int main(void)
{
    static double x[COUNT];
    void *plugin = dlopen("libshift.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = plugin == NULL ? NULL : dlsym(plugin, "shift");
    if (symbol == NULL) {
        fprintf(stderr, "plain: %s\n", dlerror());
        return 1;
    }
    shift_function *shift;
    memcpy(&shift, &symbol, sizeof shift);
    int error = shift(x, COUNT, 0.5), wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += x[i] != 0.5;
    printf("shift by a plug-in: %d of %d values wrong\n", wrong, COUNT);
    return error != 0 || wrong != 0;
}
