/*
 * stock.c - libomptarget as it is installed, called as REX's own helper calls it: a descriptor registered once, a packet for each launch.
 *
 * REX_OMPTARGET names the library. PEER_OLD_HEADER=1 gives the image the header that CUDA 12 wrote, without which LLVM 18 to 20 refuse it.
 * PEER_WAIT=auto activates the primary context first, as librex does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <elf.h>
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

static void write_old_header(void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    uint32_t sm = header.e_flags >> 8 & 0xff;
    if (header.e_ident[EI_OSABI] != 0x41)
        return;
    header.e_ident[EI_OSABI] = 0x33;
    header.e_ident[EI_ABIVERSION] = 7;
    header.e_flags = sm << 16 | 0x500 | sm;
    memcpy(image, &header, sizeof header);
}

static void activate_context(void)
{
    int (*init)(unsigned), (*set_flags)(int, unsigned), (*retain)(void **, int);
    void *context, *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver != NULL && find(driver, "cuInit", &init) == 0 && find(driver, "cuDevicePrimaryCtxSetFlags_v2", &set_flags) == 0 &&
        find(driver, "cuDevicePrimaryCtxRetain", &retain) == 0 && init(0) == 0 && set_flags(0, 0) == 0)
        retain(&context, 0);
}

int peer_open(const struct rex_module *module)
{
    static struct __tgt_device_image device_image;
    static struct __tgt_bin_desc descriptor;
    const char *wait = getenv("PEER_WAIT");
    size_t size;
    char *bytes = peer_image(module, &size);
    if (bytes == NULL || bind() != 0)
        return -1;
    if (getenv("PEER_OLD_HEADER") != NULL)
        write_old_header(bytes);
    if (wait != NULL && strcmp(wait, "auto") == 0)
        activate_context();
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
