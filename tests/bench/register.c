/*
 * register.c - one registration of COUNT entries, under callgrind or alone. The entries have keys of their own and share the names of four
 * kernels, so that the image stays small. Another module is registered first: finding and binding libomptarget is no entry's cost.
 *
 * Prints the microseconds that the call took and, in the program that counts it, what librex holds on the heap because of it.
 *
 * usage: register COUNT
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <valgrind/callgrind.h>

/* Of the file that counts, where it is linked. */
__attribute__((weak)) int heap_is_counted(void);
__attribute__((weak)) size_t heap_of_librex(void);

static char names[4][24] = {"bench_0__kernel__", "bench_1__kernel__", "bench_2__kernel__", "bench_3__kernel__"};

static char first_key;
static struct __tgt_offload_entry first_entry = {&first_key, names[0], 0, 0, 0};
static struct rex_module first = {.struct_size = sizeof first,
                                  .entries_begin = &first_entry,
                                  .entries_end = &first_entry + 1,
                                  .image_name = REX_CUBIN_NAME,
                                  .host_image_name = REX_HOST_IMAGE_NAME};
static struct rex_module measured = {
    .struct_size = sizeof measured, .image_name = REX_CUBIN_NAME, .host_image_name = REX_HOST_IMAGE_NAME};

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static size_t heap(void)
{
    return heap_of_librex != NULL ? heap_of_librex() : 0;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
    char *keys = calloc(count, 1);
    struct __tgt_offload_entry *entries = calloc(count, sizeof *entries);
    if (keys == NULL || entries == NULL)
        return 1;
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i % 4], 0, 0, 0};
    measured.entries_begin = entries;
    measured.entries_end = entries + count;
    if (heap_is_counted != NULL && !heap_is_counted())
        return 1;
    if (rex_module_register(&first, NULL) != 0)
        return 1;

    size_t held = heap();
    double began = microseconds();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    int result = rex_module_register(&measured, NULL);
    CALLGRIND_DUMP_STATS_AT("register");
    CALLGRIND_STOP_INSTRUMENTATION;
    double ended = microseconds();
    printf("%.0f %zu\n", ended - began, heap() - held);
    /* libomptarget looks at its tables when the process ends. */
    return result;
}
