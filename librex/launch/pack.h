/*
 * pack.h - compares the arguments of a launch with the kernel's parameters, and packs them in the
 * parameters' layout for the driver.
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

/* The kind of a literal of TYPE, if the program tells it. */
static inline unsigned rex_type_kind(int64_t type)
{
    return (unsigned)((uint64_t)type >> 32) & 15;
}

static inline bool rex_kind_is_integer(unsigned kind)
{
    return kind >= REX_KIND_I8 && kind <= REX_KIND_U64;
}

/* Whether ROW of MAP is a small number for a pointer: no program has memory in its first page. */
static inline bool rex_is_in_first_page(const struct rex_image_parameter *parameter,
                                        const struct rex_map *map, int32_t row)
{
    return parameter->kind == REX_KIND_POINTER && (map->types[row] & REX_MAP_LITERAL) &&
           rex_type_kind(map->types[row]) <= REX_KIND_POINTER &&
           (uintptr_t)map->base[row] - 1 < 4095;
}

/* Whether ROW of MAP fits PARAMETER, as far as both tell their types. Integers widen as in C. */
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
 * That ROW of MAP does not fit parameter INDEX of LAYOUT, in words. ROW may be behind the last row,
 * or INDEX behind the last parameter.
 */
#define REX_MISFIT_MAX (REX_ROW_TEXT + REX_PARAMETER_MAX + 200)
void rex_misfit_print(const struct rex_layout *layout, uint32_t index, const struct rex_map *map,
                      int32_t row, char text[REX_MISFIT_MAX]);

/* Fails with REX_EPARAMS, and says that of kernel NAME. */
int rex_wrong_argument(const char *name, const struct rex_layout *layout, uint32_t index,
                       const struct rex_map *map, int32_t row);

/* ---- packing --------------------------------------------------------------------------------- */

/*
 * The state of one stream or graph for launches on its GPU: numbers, addresses of mapped memory,
 * and room for arguments. All zeros at first.
 */
struct rex_stream_gpu {
    const char *queue; /* its name; NULL: a graph */
    int number;        /* libomptarget's */
    int ordinal;       /* the driver's */
    void *context;
    unsigned flags; /* REX_QUEUE_ */
    bool remember;  /* cache device addresses */
    /*
     * Before and after a command that is being put in waits for the stream. NULL: a graph, whose
     * copies are made later.
     */
    void (*waits)(struct rex_stream_gpu *gpu, bool begins);
    uint64_t peers; /* a bit for each GPU, modulo 64, to which access was requested */
    struct rex_addresses addresses;
    struct rex_arguments arguments;
};

/* A launch that is ready; its arguments are in a struct rex_arguments. */
struct rex_packed {
    struct rex_loaded_kernel *kernel;
    struct rex_grid grid;
};

/*
 * Check a launch of MODULE's kernel, described by DESCRIPTION, with the arguments MAP, and pack it.
 * The context is current. Returns 0 or an error.
 */
int rex_pack_launch(struct rex_stream_gpu *gpu, struct rex_module *module,
                    const struct rex_launch_config *description, const struct rex_map *map,
                    struct rex_packed *packed);

/*
 * Pack the arguments MAP for KERNEL, of FORM, into ARGUMENTS; DEVICE[i] is the device address of
 * row i. The numbers of parameters and rows have been compared. Returns 0 or an error.
 */
int rex_pack_arguments(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                       enum rex_kernel_form form, const struct rex_map *map,
                       const uintptr_t *device);

/*
 * Put PACKED with its ARGUMENTS in STREAM, or set NODE of the driver's EXECUTABLE graph to it.
 * Returns 0, or the driver's result with rex_cuda_why().
 */
int rex_packed_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *stream);
int rex_packed_set(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *executable, void *node);

/* REX_ECUDA, after rex_packed_put() has failed. */
int rex_packed_failed(const struct rex_packed *packed);

/*
 * CU_STREAM_CAPTURE_MODE_RELAXED: calls by other threads, as libomptarget's allocations, do not end
 * a capture.
 */
#define REX_CAPTURE_RELAXED 2

/*
 * The node of the command put last in STREAM, which is in capture; the stream's next one would
 * depend on it. NULL: a failure, and rex_cuda_why() says why.
 */
void *rex_capture_last_node(void *stream);

#endif
