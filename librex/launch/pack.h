/*
 * pack.h - compares the arguments of a launch with the parameters of the kernel. Packs the
 * arguments for the driver, in the layout of the parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PACK_H
#define REX_INTERNAL_PACK_H

#include "cuda/launchcontext.h"
#include "image/view.h"
#include "memory/addresses.h"
#include "memory/rowcheck.h"
#include "module/loadedimage.h"
#include "omp/grid.h"
#include "rex/queue.h"

/* ---- an argument and its parameter ----------------------------------------------------------- */

/*
 * TYPE is the map type of a literal. Returns the kind that TYPE contains (REX_KIND_), or
 * REX_KIND_UNKNOWN if the program has not set a kind.
 */
static inline unsigned rex_type_kind(int64_t type)
{
    return (unsigned)((uint64_t)type >> 32) & 15;
}

static inline bool rex_kind_is_integer(unsigned kind)
{
    return kind >= REX_KIND_I8 && kind <= REX_KIND_U64;
}

/*
 * Returns true if ROW of MAP passes a number from 1 to 4095 to a pointer parameter. No memory has
 * such an address, because the operating system never maps the first page.
 */
static inline bool rex_is_in_first_page(const struct rex_image_parameter *parameter,
                                        const struct rex_map *map, int32_t row)
{
    return parameter->kind == REX_KIND_POINTER && (map->types[row] & REX_MAP_LITERAL) &&
           rex_type_kind(map->types[row]) <= REX_KIND_POINTER &&
           (uintptr_t)map->base[row] - 1 < 4095;
}

/*
 * Returns true if ROW of MAP fits PARAMETER. A type that is unknown fits every type. Integers may
 * be widened, as in C.
 */
static inline bool rex_argument_fits(const struct rex_image_parameter *parameter,
                                     const struct rex_map *map, int32_t row)
{
    int64_t type = map->types[row], size = map->sizes[row];
    unsigned kind = rex_type_kind(type);
    if (!(type & REX_MAP_LITERAL))
        return parameter->kind <= REX_KIND_POINTER;
    if (kind == REX_KIND_UNKNOWN)
        return (parameter->width == size || parameter->width == 0) &&
               !rex_is_in_first_page(parameter, map, row);
    if (rex_kind_is_integer(parameter->kind) &&
        (rex_kind_is_integer(kind) || kind == REX_KIND_BOOL))
        return size <= parameter->width;
    if (parameter->width != 0 && parameter->width != size)
        return false;
    if (rex_is_in_first_page(parameter, map, row))
        return false;
    return parameter->kind == REX_KIND_UNKNOWN || parameter->kind == kind;
}

/*
 * Writes to TEXT why ROW of MAP does not fit parameter INDEX of LAYOUT. If the row is missing, ROW
 * is the number of rows. If the parameter is missing, INDEX is the number of parameters.
 */
#define REX_MISFIT_MAX (REX_ROW_TEXT + REX_PARAMETER_MAX + 200)
void rex_misfit_print(const struct rex_layout *layout, uint32_t index, const struct rex_map *map,
                      int32_t row, char text[REX_MISFIT_MAX]);

/*
 * Fails with REX_EPARAMS. The message names the kernel NAME, and has the text of
 * rex_misfit_print().
 */
int rex_wrong_argument(const char *name, const struct rex_layout *layout, uint32_t index,
                       const struct rex_map *map, int32_t row);

/* ---- packing --------------------------------------------------------------------------------- */

/* The state of one stream or graph for launches on its GPU. A new state is a struct of zeros. */
struct rex_stream_gpu {
    const char *queue; /* name of the queue; NULL: a graph */
    int number;        /* libomptarget's number of the device */
    int ordinal;       /* the driver's number of the GPU */
    void *context;
    unsigned flags; /* REX_QUEUE_ flags */
    bool remember;  /* cache device addresses */
    /*
     * A command that waits for the stream calls this function before the wait with BEGINS true, and
     * after the wait with BEGINS false. NULL in a graph, because its commands do not wait.
     */
    void (*waits)(struct rex_stream_gpu *gpu, bool begins);
    uint64_t peers; /* bit N: peer access was requested to a GPU whose ordinal modulo 64 is N */
    struct rex_addresses addresses;
    struct rex_arguments arguments;
};

/* A checked launch. The arguments are in a separate struct rex_arguments. */
struct rex_packed {
    struct rex_loaded_kernel *kernel;
    struct rex_grid grid;
};

/*
 * Checks the launch that DESCRIPTION and MAP describe. MODULE contains the kernel. Stores the
 * launch in *PACKED, and the packed arguments in `arguments` of GPU. Call this only while the
 * context of GPU is current. Returns 0 or an error.
 */
int rex_pack_launch(struct rex_stream_gpu *gpu, struct rex_module *module,
                    const struct rex_launch_config *description, const struct rex_map *map,
                    struct rex_packed *packed);

/*
 * Packs the rows of MAP in ARGUMENTS for KERNEL. FORM says if the runtime passes the first
 * parameter of KERNEL (omp/release.h). DEVICE[i] is the device address of row i. Check the number
 * of rows before this call. Returns 0 or an error.
 */
int rex_pack_arguments(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                       enum rex_kernel_form form, const struct rex_map *map,
                       const uintptr_t *device);

/*
 * rex_packed_put() puts the launch PACKED with ARGUMENTS in STREAM. rex_packed_set() replaces the
 * launch in NODE of EXECUTABLE, a graph of the driver, by PACKED with ARGUMENTS. Both return 0, or
 * an error of the driver, which rex_cuda_why() describes.
 */
int rex_packed_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *stream);
int rex_packed_set(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *executable, void *node);

/*
 * Fails with REX_ECUDA after rex_packed_put() has failed. The message names the kernel and its
 * grid.
 */
int rex_packed_failed(const struct rex_packed *packed);

/*
 * CU_STREAM_CAPTURE_MODE_RELAXED: calls to the driver by other threads, such as allocations by
 * libomptarget, do not invalidate a capture.
 */
#define REX_CAPTURE_RELAXED 2

/*
 * Call this only during a capture of STREAM. Returns the graph node of the last captured command.
 * After a failure, returns NULL, and rex_cuda_why() gives the reason.
 */
void *rex_capture_last_node(void *stream);

#endif
