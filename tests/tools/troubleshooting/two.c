/* two.c - asks each of the OpenMP runtimes that it is given for its threads. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        void *address = library != NULL ? dlsym(library, "omp_get_max_threads") : NULL;
        int (*threads)(void);
        if (address == NULL)
            return 2;
        memcpy(&threads, &address, sizeof address);
        printf("%d threads\n", threads());
    }
    return 0;
}
