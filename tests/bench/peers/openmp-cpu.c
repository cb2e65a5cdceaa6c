/*
 * openmp-cpu.c - no offloading: the programs' kernels are functions of an image, PEER_IMAGE, whose loops are plain `omp parallel for`
 * (plain.h), and are called with the host's own memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "rex_kmp.h"

enum { MOST_KERNELS = 16, MOST_PARAMETERS = 8 };

typedef void kernel_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static kernel_function *kernels[MOST_KERNELS];
static const struct __tgt_offload_entry *entries;

const char *peer_name(void)
{
    return "OpenMP's threads";
}

int peer_open(const struct rex_module *module)
{
    void *image = dlopen(getenv("PEER_IMAGE"), RTLD_NOW);
    if (image == NULL || module->entries_end - module->entries_begin > MOST_KERNELS)
        return peer_fail("%s", image == NULL ? dlerror() : "too many kernels");
    entries = module->entries_begin;
    for (int i = 0; i < module->entries_end - entries; i++) {
        void *address = dlsym(image, entries[i].name);
        memcpy(&kernels[i], &address, sizeof address);
    }
    return 0;
}

int peer_launch(const void *key, const uint32_t *teams, const uint32_t *threads, uint32_t dynamic_memory, uint64_t trip_count,
                const struct peer_rows *rows)
{
    uint64_t a[MOST_PARAMETERS] = {0};
    int count = 0, kernel = 0;
    (void)teams, (void)threads, (void)dynamic_memory, (void)trip_count;
    for (int i = 0; i < rows->count && count < MOST_PARAMETERS; i++)
        if (rows->types[i] & REX_MAP_TARGET_PARAM)
            a[count++] = (uint64_t)(uintptr_t)(rows->types[i] & REX_MAP_LITERAL ? rows->base[i] : rows->begin[i]);
    while (entries[kernel].addr != key)
        kernel++;
    kernels[kernel](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    return 0;
}

int peer_data(enum peer_data what, const struct peer_rows *rows)
{
    (void)what, (void)rows;
    return 0;
}
