/*
 * Lesson 18: makes one registration out of the bytes of an image and the program's entries.
 *
 * REX's register_cubin() does this. A struct __tgt_device_image has the addresses of an image's
 * bytes and of the program's entries. A struct __tgt_bin_desc lists images, and libomptarget takes
 * it. Several threads may launch first: one registers, by a compare-and-swap, and the others wait.
 *
 * The kernel is plain: its parameters are the packet's rows. libomptarget alone runs it on GPUs in
 * LLVM 14 to 17 and 19 to 24, and on the CPU in 14 to 17 and 19 to 22. CUBINs of CUDA 13 need 14 to
 * 17, or 21.1.2 or later. With other releases this program prints the reason, and exits with 77,
 * the status of a skipped test; it takes 21.1.0 and 21.1.1 for 21.1.2.
 *
 * rex_offload_init() does more: it chooses the image for the GPU, compares it with the entries, and
 * adapts header, symbols and calls to the LLVM release. It returns errors in cases in which
 * libomptarget aborts, and can register again after rex_offload_fini().
 *
 * Run it:  make && $(make -s print-O)/examples/18_registration/18_registration
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define REX_KMP_INTERNAL /* __tgt_X stay unchanged; __rex_real___tgt_X are libomptarget's */
#include <rex_kmp.h>
#include <rex/configure.h>
#include <rex/device.h>

#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { COUNT = 100000, PARTS = 4, TEAMS = 64, THREADS = 128, SKIPPED = 77 };

/* Key and entry, as in lesson 13; the linker's symbols around all entries, as in lesson 14. */
char shift__id__ = 0;
struct __tgt_offload_entry shift__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &shift__id__, (char *)"shift__kernel__", 0, 0, 0};
#define HIDDEN __attribute__((visibility("hidden")))
extern struct __tgt_offload_entry first_entry __asm__("__start_omp_offloading_entries") HIDDEN;
extern struct __tgt_offload_entry behind_entries __asm__("__stop_omp_offloading_entries") HIDDEN;

/* Static, because libomptarget keeps pointers to it; LLVM 15 to 21 read the bytes again later. */
static _Alignas(16) char bytes[1 << 20];
static size_t size;
static struct __tgt_device_image image;
static struct __tgt_bin_desc descriptor;

static void ensure_registered(void)
{
    enum { UNREGISTERED, BUSY, REGISTERED };
    static atomic_int state = UNREGISTERED;
    int seen = UNREGISTERED;
    for (; !atomic_compare_exchange_strong(&state, &seen, BUSY); seen = UNREGISTERED) {
        if (seen == REGISTERED)
            return;
        sched_yield(); /* another thread registers */
    }
    image = (struct __tgt_device_image){bytes, bytes + size, &first_entry, &behind_entries};
    descriptor = (struct __tgt_bin_desc){1, &image, &first_entry, &behind_entries};
    __rex_real___tgt_register_lib(&descriptor); /* void: only the first launch shows an error */
    printf("LLVM %d: one thread registered %zu bytes for %d threads\n", rex_runtime_release(), size,
           PARTS);
    atomic_store(&state, REGISTERED);
}

static double y[COUNT], a = 2.0;

/* A thread: adds a to a part of y. For a packet of version 2 only LLVM 18 adds a parameter. */
static void *launch(void *part)
{
    static ident_t location = {0, 2, 0, 0, ";registration.c;launch;0;0;;"};
    int64_t n = COUNT / PARTS, from = (intptr_t)part * n, sizes[] = {8, 8, 8 * n};
    int64_t types[] = {0x120, 0x120, 0x23}; /* two values, and y, copied both ways */
    void *rows[] = {rex_pack_literal_arg_bytes(&n, 8), rex_pack_literal_arg_bytes(&a, 8), y + from};
    struct __tgt_kernel_arguments args = {2, 3, rows, rows, sizes, types, NULL, NULL, n, 0,
                                          {TEAMS, 1, 1}, {THREADS, 1, 1}, 0};
    ensure_registered();
    if (__rex_real___tgt_target_kernel(&location, -1, TEAMS, THREADS, &shift__id__, &args) != 0)
        fprintf(stderr, "18_registration: part %d did not run\n", (int)(intptr_t)part);
    return NULL;
}

/* Returns the reason if libomptarget alone cannot run the image; NULL if it can. */
static const char *why_not(int release, bool gpu)
{
    if (release == 18)
        return "LLVM 18 passes an extra parameter to a plain kernel";
    if (!gpu)
        return release > 22 ? "LLVM 23 and later pass one array to kernels on the CPU" : NULL;
    if (bytes[0] != 0x7f)
        return "libomptarget loads no PTX";
    return release < 19 || release > 20 || bytes[8] != 8 ? NULL : "LLVM loads no CUBIN of CUDA 13";
}

int main(int argc, char **argv)
{
    char path[4096];
    bool gpu = rex_gpu_count() > 0;
    const char *name = gpu ? "rex_lib_nvidia.cubin" : "rex_lib_host.so";
    snprintf(path, sizeof path, "%s/%s", argc > 0 ? dirname(argv[0]) : ".", name);
    FILE *file = fopen(path, "rb");
    size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file == NULL || fclose(file) != 0)
        return perror(path), 1;
    if (rex_runtime_bind() != 0)
        return 1; /* librex has printed the error */
    const char *why = why_not(rex_runtime_release(), gpu);
    if (why != NULL)
        return printf("skip: %s; rex_offload_init() and the wrappers can\n", why), SKIPPED;
    pthread_t threads[PARTS];
    int wrong = 0;
    for (intptr_t i = 0; i < PARTS; i++)
        if (pthread_create(&threads[i], NULL, launch, (void *)i) != 0)
            return 1;
    for (int i = 0; i < PARTS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != a;
    printf("y[%d] = %g, %d of %d values wrong\n", COUNT - 1, y[COUNT - 1], wrong, COUNT);
    return wrong != 0;
}
