/*
 * Lesson 12: places for the images of a program, and builds with an installed librex.
 *
 *   beside  The images lie beside the program, as in the lessons before this one. They must be
 *           moved with it. REX_CUBIN_NAME and REX_HOST_IMAGE_NAME choose other names (lesson 11).
 *   inside  This program: the assembler puts the bytes of the images into it. The program needs no
 *           image file. With images for GPUs and the CPU inside it cannot load another program's
 *           image by mistake. `rex-cc --embed` builds such a program.
 *   fatbin  One image has kernels for several GPUs, and librex takes the right one. With nvcc
 *           rules.mk makes a fatbin, and `rex-cc --arch=sm_80,sm_90` makes one beside the program.
 *
 * `make install` puts librex, its headers, rex.pc and a CMake package below a prefix. The README of
 * the examples has the commands for pkg-config. cmake/CMakeLists.txt builds lesson 1 with CMake.
 *
 * Run it:  make && $(make -s print-O)/examples/12_packaging/12_packaging
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#ifdef WITH_FATBIN /* rules.mk defines it if make compiles kernels for GPUs */
REX_EMBED_IMAGE("axpy.fatbin");
#endif
REX_EMBED_HOST_IMAGE("axpy_host.so");

REX_KERNEL(axpy);

enum { COUNT = 100000 };

int main(void)
{
    static double x[COUNT], y[COUNT];
    const double a = 2.0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 1.0;
    }
    if (REX_LAUNCH_FOR(axpy, COUNT, REX_VALUE(COUNT), REX_VALUE(a), REX_TO(x, COUNT),
                       REX_TOFROM(y, COUNT)) != 0) {
        if (rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
            fprintf(stderr, "12_packaging: %s\n", rex_last_error());
        return 1;
    }

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != a * x[i] + 1.0;
    /* The path of an embedded image is "memory". */
    printf("image: %s, for %s\n", rex_module_image_path(&rex_this_module),
           rex_on_host() ? "the CPU" : "the GPU");
    printf("axpy:  y[%d] = %g, %d of %d values wrong\n", COUNT - 1, y[COUNT - 1], wrong, COUNT);
    return wrong != 0;
}
