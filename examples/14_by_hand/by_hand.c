/*
 * Lesson 14: registration by hand, with libomptarget's own names, and a second image.
 *
 * rex_offload_init() or the first launch or data call registers most programs. A program needs
 * this lesson if it has wrappers of its own, or registers an image that it has just compiled.
 *
 * After rex_module_fini() the module is registered again, with another image. Key and name of the
 * kernel do not change, but the kernel's code does. On LLVM 18, which cannot end a registration,
 * librex refuses the second image.
 *
 * Run it:  make && $(make -s print-O)/examples/14_by_hand/14_by_hand
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

/* With REX_KMP_INTERNAL no macro replaces __tgt_X. __rex_real___tgt_X are libomptarget's. */
#define REX_KMP_INTERNAL
#include <rex_kmp.h>
#include <rex/map.h>

#include <stdio.h>

enum { COUNT = 1000, TEAMS = 4, THREADS = 64 };

/* Key and entry, as in lesson 13. */
char scale__id__ = 0;
struct __tgt_offload_entry scale__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &scale__id__, (char *)"scale__kernel__", 0, 0, 0};

/*
 * The linker defines these two symbols for every section whose name is a C identifier: the begin
 * and the end of this program's table of entries. Each shared object has its own two, so they are
 * hidden. (gcc drops `hidden` from a declaration with an __asm__ name; rex_kmp.h repeats it for the
 * assembler.)
 */
#define HIDDEN __attribute__((visibility("hidden")))
extern struct __tgt_offload_entry first_entry __asm__("__start_omp_offloading_entries") HIDDEN;
extern struct __tgt_offload_entry behind_entries __asm__("__stop_omp_offloading_entries") HIDDEN;

/* The module; rex_kmp.h calls its own rex_this_module. It must live as long as the process. */
static struct rex_module module;

static int register_images(const char *cubin, const char *host_image)
{
    module.struct_size = sizeof module;
    module.entries_begin = &first_entry;
    module.entries_end = &behind_entries;
    module.image_name = cubin;
    module.host_image_name = host_image;
    /* Finds libomptarget, checks the image, and registers a descriptor with libomptarget. */
    return rex_module_register(&module, NULL);
}

/* A hand-written wrapper. librex checks the packet, and launches. */
static int launch(int64_t n, double *y)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *base[] = {packed_n, y};
    void *begin[] = {packed_n, y};
    int64_t sizes[] = {sizeof n, (int64_t)sizeof(double) * n};
    int64_t types[] = {REX_MAP_TARGET_PARAM | REX_MAP_LITERAL, REX_MAP_TARGET_PARAM};
    struct __tgt_kernel_arguments args = {3, 2, base, begin, sizes, types, 0, 0, n, 0,
                                          {TEAMS, 1, 1}, {THREADS, 1, 1}, 0};
    return rex_module_launch(&module, -1, TEAMS, THREADS, &scale__id__, &args);
}

/*
 * Calls libomptarget's functions for a region. librex does not check these calls, and they need a
 * registered image.
 */
static int scale_on_device(int64_t n, double *y)
{
    void *base[] = {y};
    int64_t sizes[] = {(int64_t)sizeof(double) * n};
    int64_t types[] = {REX_MAP_TOFROM};
    __rex_real___tgt_target_data_begin(-1, 1, base, base, sizes, types);
    int error = launch(n, y);
    __rex_real___tgt_target_data_end(-1, 1, base, base, sizes, types);
    return error;
}

static int use(const char *cubin, const char *host_image, double *y)
{
    int error = register_images(cubin, host_image);
    if (error == 0)
        error = scale_on_device(COUNT, y);
    if (error != 0) {
        fprintf(stderr, "14_by_hand: %s\n", rex_error_name(error));
        return 1;
    }
    printf("%s: y[0] = %g\n", rex_module_on_host(&module) ? host_image : cubin, y[0]);
    /* Ends the registration. The module can be registered again, with other images. */
    return rex_module_fini(&module);
}

int main(void)
{
    static double y[COUNT];
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        y[i] = 1.0;
    /* The two images define one kernel name with different code. */
    if (use("twice.cubin", "twice.so", y) != 0 || use("thrice.cubin", "thrice.so", y) != 0)
        return 1;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != 6.0;
    printf("twice and thrice: %d of %d values wrong\n", wrong, COUNT);
    return wrong != 0;
}
