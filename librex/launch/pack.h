/*
 * pack.h - the arguments of a launch as the kernel's parameters lie in its image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PACK_H
#define REX_INTERNAL_PACK_H

#include "launch/loadedimage.h"
#include "memory/addresses.h"
#include "rex/queue.h"

/* Arguments as a kernel takes them. All zeros to begin with. */
struct rex_arguments {
    void **address;        /* of each parameter's value */
    unsigned char *values; /* as the kernel has them */
    uint32_t room, bytes;
};
void rex_arguments_free(struct rex_arguments *arguments);

/*
 * A GPU as the launches of one stream or graph see it: its numbers, where mapped memory is on it,
 * and room to pack arguments. All zeros to begin with.
 */
struct rex_stream_gpu {
    int number;  /* libomptarget's */
    int ordinal; /* the driver's */
    void *context;
    unsigned flags; /* REX_QUEUE_ */
    bool remember;  /* device addresses */
    bool is_queue;  /* not a graph, whose copies are done later */
    uint64_t peers; /* a bit for each GPU, modulo 64, to which access was asked for */
    struct rex_addresses addresses;
    struct rex_arguments arguments;
};

/* A launch that is ready: its arguments are in some room for them. */
struct rex_packed {
    struct rex_loaded_kernel *kernel;
    unsigned grid[3], block[3], dynamic_memory;
};

/*
 * Check a launch of MODULE's kernel as in DESCRIPTION, with the arguments MAP, and pack them. The
 * context is current. 0 or an error.
 */
int rex_pack_launch(struct rex_stream_gpu *gpu, struct rex_module *module,
                    const struct rex_launch_config *description, const struct rex_map *map,
                    struct rex_packed *packed);

/*
 * Pack the arguments MAP for KERNEL, which TARGET names, into ARGUMENTS: memory of row i lies at
 * DEVICE[i]. Counts of parameters and rows were compared, FORM is the kernel's. 0 or an error.
 */
int rex_pack_arguments(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                       enum rex_kernel_form form, const struct rex_map *map,
                       const uintptr_t *device);

/*
 * Put PACKED with its ARGUMENTS in STREAM, or change NODE of the driver's EXECUTABLE graph to it.
 * 0, or the driver's result with rex_cuda_why().
 */
int rex_packed_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *stream);
int rex_packed_set(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *executable, void *node);

/* As rex_packed_put(): 0 or REX_ECUDA. */
int rex_packed_launch(const struct rex_packed *packed, const struct rex_arguments *arguments,
                      void *stream);

#endif
