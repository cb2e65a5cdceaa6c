/*
 * compile.c FILE TIMES - loads PTX on the fake GPU, and says each time whether its driver compiled it, or the cache had it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <rex.h>
#include <rex/library.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    static char bytes[1 << 20];
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    const int *links = driver != NULL ? dlsym(driver, "fake_cuda_links") : NULL;
    if (file == NULL || links == NULL)
        return 2;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    for (int times = atoi(arguments[2]); times > 0; times--) {
        int before = *links;
        struct rex_library *library;
        if (rex_library_load(&library, -1, bytes, size, "x.ptx") != 0 || rex_library_kernel(library, "plain__kernel__") == NULL)
            return 1;
        rex_library_unload(library);
        puts(*links > before ? "compiled" : "taken");
    }
    return 0;
}
