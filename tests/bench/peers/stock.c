/*
 * stock.c - libomptarget as it is installed, called as REX's own helper calls it: a descriptor registered once, a packet for each launch.
 *
 * REX_OMPTARGET names the library. LLVM 18 to 20 refuse images of CUDA 13.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "rex_kmp.h"

typedef void data_function(ident_t *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **, void **);

static void (*register_lib)(struct __tgt_bin_desc *);
static int (*target_kernel)(ident_t *, int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *);
static data_function *data_calls[3];
static ident_t place = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

const char *peer_name(void)
{
    return "stock libomptarget";
}

static int find(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    memcpy(slot, &address, sizeof address);
    return address != NULL ? 0 : peer_fail("no %s: %s", name, dlerror());
}

static int bind(void)
{
    const char *path = getenv("REX_OMPTARGET");
    dlopen("libomp.so.5", RTLD_NOW | RTLD_GLOBAL);
    void *library = dlopen(path != NULL ? path : "libomptarget.so", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        return peer_fail("%s", dlerror());
    return find(library, "__tgt_register_lib", &register_lib) || find(library, "__tgt_target_kernel", &target_kernel) ||
                   find(library, "__tgt_target_data_begin_mapper", &data_calls[PEER_BEGIN]) ||
                   find(library, "__tgt_target_data_end_mapper", &data_calls[PEER_END]) ||
                   find(library, "__tgt_target_data_update_mapper", &data_calls[PEER_UPDATE])
               ? -1
               : 0;
}

int peer_open(const struct rex_module *module)
{
    static struct __tgt_device_image device_image;
    static struct __tgt_bin_desc descriptor;
    size_t size;
    char *bytes = peer_image(module, &size);
    if (bytes == NULL || bind() != 0)
        return -1;
    device_image = (struct __tgt_device_image){bytes, bytes + size, module->entries_begin, module->entries_end};
    descriptor = (struct __tgt_bin_desc){1, &device_image, module->entries_begin, module->entries_end};
    register_lib(&descriptor);
    data_calls[PEER_BEGIN](&place, -1, 0, NULL, NULL, NULL, NULL, NULL, NULL);
    return 0;
}

int peer_launch(const void *key, const uint32_t *teams, const uint32_t *threads, uint32_t dynamic_memory, uint64_t trip_count,
                const struct peer_rows *rows)
{
    struct __tgt_kernel_arguments packet = {
        .Version = 2,
        .NumArgs = rows->count,
        .ArgsBase = rows->base,
        .Args = rows->begin,
        .ArgSizes = rows->sizes,
        .ArgTypes = rows->types,
        .ArgMappers = rows->mappers,
        .Tripcount = (int64_t)trip_count,
        .Teams = {(int32_t)teams[0], 1, 1},
        .Threads = {(int32_t)threads[0], 1, 1},
        .DynCGroupMem = (int32_t)dynamic_memory,
    };
    return target_kernel(&place, -1, (int32_t)teams[0], (int32_t)threads[0], (void *)(uintptr_t)key, &packet);
}

/* libomptarget has no pinned memory that its copies make use of. */
void *rex_host_alloc(size_t size)
{
    (void)size;
    return NULL;
}

int peer_data(enum peer_data what, const struct peer_rows *rows)
{
    data_calls[what](&place, -1, rows->count, rows->base, rows->begin, rows->sizes, rows->types, NULL, rows->mappers);
    return 0;
}
