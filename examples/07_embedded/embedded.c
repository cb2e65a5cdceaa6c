/*
 * Lesson 7: a program that is one file. Its device images are inside it, so that nothing has to lie beside it and nothing can be mixed up.
 *
 * Look at the two lines of REX_EMBED. The assembler puts the file's bytes into read-only data, and
 * rex_kmp.h's module finds them. The image for the GPU is there only where nvcc was; the host's
 * serves machines without a GPU. rules.mk says where the assembler looks for them.
 *
 * Run it:  make && $(make -s print-O)/examples/07_embedded/07_embedded
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#ifdef WITH_CUBIN
REX_EMBED_IMAGE("axpy.cubin");
#endif
REX_EMBED_HOST_IMAGE("axpy_host.so");

REX_KERNEL(axpy);

enum { COUNT = 100000 };

int main(void)
{
    static double numbers[2][COUNT], *const x = numbers[0], *const y = numbers[1];
    const double a = 2.0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = 1.0;
    }
    if (REX_LAUNCH_FOR(axpy, COUNT, REX_VALUE(COUNT), REX_VALUE(a), REX_TO(x, COUNT), REX_TOFROM(y, COUNT)) != 0)
        return 1;

    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != a * x[i] + 1.0;
    printf("image: %s, for %s\n", rex_module_image_path(&rex_this_module), rex_on_host() ? "the CPU" : "the GPU");
    printf("axpy:  y[%d] = %g, %d of %d values wrong\n", COUNT - 1, y[COUNT - 1], wrong, COUNT);
    return wrong != 0;
}
