/*
 * main.c - hand.c as a program, which also says what it is linked to: usage: main OBJECT, where OBJECT is `librex`, `libomptarget` or
 * `main`, the object whose __tgt_target_data_begin the program calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REX_KMP_INTERNAL
#include <rex.h>
#include <rex_kmp.h>

#include "hand.h"

/* The object that defines FUNCTION, without folder and version. */
static const char *home(void (*function)(void), char name[64])
{
    Dl_info info;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &info) == 0)
        return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(name, 64, "%s", slash != NULL ? slash + 1 : info.dli_fname);
    name[strcspn(name, ".")] = '\0';
    return name;
}

static int count(struct dl_phdr_info *object, size_t size, void *context)
{
    int *counts = context;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
    (void)size;
    counts[0] += strncmp(name, "libomptarget.so", 15) == 0;
    counts[1] += strncmp(name, "libomp.so", 9) == 0 || strncmp(name, "libomp-", 7) == 0;
    counts[2] += strncmp(name, "librex.so", 9) == 0;
    return 0;
}

int main(int argc, char **argv)
{
    char data[64], kernel[64];
    int counts[3] = {0, 0, 0}, failed = hand(), expected = argc > 1 ? atoi(getenv("REX_TEST_RELEASE")) : 0;
    const char *data_home = home((void (*)(void))__rex_real___tgt_target_data_begin, data);
    const char *kernel_home = home((void (*)(void))__rex_real___tgt_target_kernel, kernel);
    dl_iterate_phdr(count, counts);
    printf("data %s kernel %s libomptarget %d libomp %d librex %d\n", data_home, kernel_home, counts[0], counts[1], counts[2]);
    if (expected != rex_runtime_release())
        return fprintf(stderr, "bound is LLVM %d, not %d\n", rex_runtime_release(), expected), 1;
    if (argc > 1 && strcmp(data_home, argv[1]) != 0)
        return fprintf(stderr, "__tgt_target_data_begin is in %s, not in %s\n", data_home, argv[1]), 1;
    return failed != 0;
}
