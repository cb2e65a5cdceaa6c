/*
 * loadmemory.c - how much device memory the first load of an image takes, or, with a number of MiB, what rex_offload_init() does with so
 * much memory left: status 0, or 3 for REX_ENOMEM. libomptarget may end the process.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

REX_KERNEL(small);

static struct {
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*info)(size_t *left, size_t *all);
    int (*alloc)(uint64_t *address, size_t size);
} driver;

static size_t left_now(void)
{
    size_t left = 0, all;
    if (driver.info(&left, &all) != 0)
        exit(4);
    return left;
}

/* Pieces of 16 GiB at first, of 64 KiB last. */
static void leave(size_t bytes)
{
    uint64_t address;
    for (size_t piece = (size_t)16 << 30; piece >= (size_t)64 << 10; piece /= 2)
        while (left_now() >= bytes + piece && driver.alloc(&address, piece) == 0)
            ;
}

int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    if (library == NULL || rex_module_register(&rex_this_module, NULL) != REX_OK || rex_module_on_host(&rex_this_module))
        return 77;
    *(void **)&driver.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&driver.push = dlsym(library, "cuCtxPushCurrent_v2");
    *(void **)&driver.info = dlsym(library, "cuMemGetInfo_v2");
    *(void **)&driver.alloc = dlsym(library, "cuMemAlloc_v2");
    if (driver.retain(&context, 0) != 0 || driver.push(context) != 0)
        return 4;
    if (argc > 1)
        leave((size_t)strtoul(argv[1], NULL, 10) << 20);
    size_t before = left_now();
    int result = rex_offload_init();
    if (result == REX_ENOMEM)
        return 3;
    size_t after = left_now();
    printf("%zu\n", before > after ? before - after : 0);
    return result == REX_OK ? 0 : 1;
}
