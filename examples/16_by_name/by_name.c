/*
 * Lesson 16: kernels by name, for code generators that bring images and no entry tables.
 *
 * rex_library_load() loads an image, from a file or from bytes in memory, and rex_library_kernel()
 * finds a kernel in it by name. The program needs no key, no entry and no map for the kernel. It
 * puts launches into a queue. Their arguments are addresses of values, as the CUDA driver takes
 * them, and the program allocates the device memory itself.
 *
 * Run it:  make && $(make -s print-O)/examples/16_by_name/16_by_name
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/library.h>

#include <stdio.h>

enum { COUNT = 100000, BLOCKS = 64, THREADS = 128 };

/* Puts two copies, a launch and a copy back into a queue, which runs them in order; then waits. */
static int axpy(struct rex_library *library, double a, const double *x, double *y)
{
    size_t size = COUNT * sizeof *x;
    struct rex_queue *queue = NULL;
    double *there_x = rex_device_alloc(size, -1), *there_y = rex_device_alloc(size, -1);
    struct rex_launch_config launch =
        rex_launch_config_of(rex_library_kernel(library, "axpy__kernel__"), BLOCKS, THREADS);
    int64_t n = COUNT;
    void *arguments[] = {&n, &a, &there_x, &there_y}; /* rex_library_launch() reads the values */

    int error = there_x == NULL || there_y == NULL || launch.key == NULL;
    if (error == 0)
        error = rex_queue_create(&queue, -1, "by name", 0);
    launch.queue = queue;
    if (error == 0)
        error = rex_queue_copy_to(queue, there_x, x, size);
    if (error == 0)
        error = rex_queue_copy_to(queue, there_y, y, size);
    if (error == 0)
        error = rex_library_launch(library, &launch, arguments, 4);
    if (error == 0)
        error = rex_queue_copy_from(queue, y, there_y, size);
    if (error == 0)
        error = rex_queue_sync(queue);
    int ended = rex_queue_destroy(queue);
    rex_device_free(there_x, -1);
    rex_device_free(there_y, -1);
    return error == 0 ? ended : error;
}

int main(void)
{
    static double x[COUNT], y[COUNT];
    struct rex_library *library = NULL;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 1.0;
    }
    /* The list has two images, and librex loads the one for the device. */
    int error = rex_library_load(&library, -1, NULL, 0, "rex_lib_nvidia.cubin:rex_lib_host.so");
    if (error == 0)
        error = axpy(library, 2.0, x, y);
    int ended = rex_library_unload(library);
    if (error != 0 || ended != 0)
        return 1;

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != 2.0 * x[i] + 1.0;
    printf("y[%d] = %g, %d of %d values wrong\n", COUNT - 1, y[COUNT - 1], wrong, COUNT);
    return wrong != 0;
}
