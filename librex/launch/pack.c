/*
 * pack.c - packs the arguments of a launch in the layout of the kernel's parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/argument.h"
#include "launch/check.h"
#include "memory/presence.h"
#include "module/register.h"
#include "omp/grid.h"

#define VALUE (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM)
/* Bits that change nothing for memory that is mapped already. */
#define MAPPED_BITS                                                                            \
    (REX_MAP_TOFROM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | REX_MAP_PRESENT | REX_MAP_OMPX_HOLD | \
     REX_MAP_MEMBER_OF_MASK)
/* The value that LLVM 18 and later pass without a launch environment. */
#define RUNTIME_PARAMETER UINTPTR_MAX

#define unlikely(condition) __builtin_expect(!!(condition), 0)

void rex_arguments_free(struct rex_arguments *arguments)
{
    free(arguments->address);
    free(arguments->values);
}

static int make_room(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel)
{
    if (arguments->room < kernel->parameters || arguments->address == NULL) {
        uint32_t room = kernel->parameters < 16 ? 16 : kernel->parameters;
        void **address = realloc(arguments->address, room * sizeof *address);
        if (address == NULL)
            return rex_fail_memory(room * sizeof *address, "a kernel's arguments");
        arguments->address = address;
        arguments->room = room;
    }
    if (arguments->bytes < kernel->bytes || arguments->values == NULL) {
        uint32_t bytes = kernel->bytes < 256 ? 256 : kernel->bytes;
        unsigned char *values = calloc(1, bytes); /* zeros, so that the padding is 0 */
        if (values == NULL)
            return rex_fail_memory(bytes, "a kernel's arguments");
        free(arguments->values);
        arguments->values = values;
        arguments->bytes = bytes;
    }
    return REX_OK;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int wrong_width(const struct rex_loaded_kernel *kernel, uint32_t parameter, int64_t size,
                       const char *what)
{
    return rex_fail(
        REX_EPARAMS,
        "kernel \"%s\": parameter %u is %u bytes wide, and the launch has %s of %lld bytes for it",
        kernel->name, parameter, kernel->parameter[parameter].size, what, (long long)size);
}

static int absent(const struct rex_stream_gpu *gpu, const char *name, const struct rex_map *map,
                  int32_t row)
{
    return rex_fail_absent(
        REX_FOR_QUEUE, name, map, row, map->begin[row], map->sizes[row],
        rex_memory_presence(map->begin[row], (size_t)map->sizes[row], gpu->number), gpu->number);
}

/* ---- one row --------------------------------------------------------------------------------- */

/* Also checks a kernel without a signature; its parameters are of unknown kinds. */
static int check_argument(const struct rex_loaded_kernel *kernel, uint32_t parameter,
                          const struct rex_map *map, int32_t row)
{
    const struct rex_argument argument = {(uint32_t)row, map->types[row], map->sizes[row],
                                          map->base[row]};
    if (rex_argument_fits(&kernel->parameter[parameter], &argument))
        return REX_OK;
    return rex_wrong_argument(&(struct rex_declared){kernel->name, kernel->parameter + kernel->env,
                                                     kernel->parameters - kernel->env, map},
                              parameter - kernel->env, &argument);
}

/* Whether a parameter is 8 bytes of KIND, in one comparison. */
static bool is_word_of(const struct rex_image_parameter *parameter, uint32_t kind)
{
    uint32_t both;
    memcpy(&both, &parameter->size, sizeof both);
    return both == (8 | kind << 16);
}
_Static_assert(offsetof(struct rex_image_parameter, kind) ==
                   offsetof(struct rex_image_parameter, size) + 2,
               "is_word_of() may take both at once");

static int check_value(const struct rex_loaded_kernel *kernel, uint32_t parameter,
                       const struct rex_map *map, int32_t row)
{
    size_t width = kernel->parameter[parameter].size, size = (size_t)map->sizes[row];
    int result = check_argument(kernel, parameter, map, row);
    if (result != REX_OK)
        return result;
    if (size > width || (size < width && width != sizeof(void *)))
        return wrong_width(kernel, parameter, map->sizes[row], "a value");
    return width <= sizeof(void *) || map->begin[row] != NULL
               ? REX_OK
               : rex_fail(REX_EINVAL, "kernel \"%s\": map row %d, a value of %zu bytes, is at NULL",
                          kernel->name, row, width);
}

static int pack_value(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                      uint32_t parameter, const struct rex_map *map, int32_t row)
{
    const struct rex_image_parameter *wanted = &kernel->parameter[parameter];
    unsigned char *to = arguments->values + wanted->offset;
    arguments->address[parameter] = to;
    const struct rex_argument argument = {.type = map->types[row]};
    unsigned kind = rex_argument_kind(&argument);
    if (unlikely(kind < REX_KIND_I8 || !is_word_of(wanted, kind))) {
        int result = check_value(kernel, parameter, map, row);
        if (result != REX_OK)
            return result;
        if (wanted->size > sizeof(void *)) {
            memcpy(to, map->begin[row], wanted->size);
            return REX_OK;
        }
    }
    /* little-endian: a shorter value is in the low bytes, the rest is 0 */
    memcpy(to, &map->base[row], wanted->size);
    return REX_OK;
}

/* The device address of the row's base, so that a kernel indexes as the host does. */
static uintptr_t device_base(const struct rex_map *map, int32_t row, uintptr_t device)
{
    uintptr_t base = map->types[row] & REX_MAP_PTR_AND_OBJ ? *(uintptr_t *)map->base[row]
                                                           : (uintptr_t)map->base[row];
    return device + base - (uintptr_t)map->begin[row];
}

static int pack_address(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                        uint32_t parameter, uintptr_t value)
{
    arguments->address[parameter] = arguments->values + kernel->parameter[parameter].offset;
    if (unlikely(kernel->parameter[parameter].size != sizeof value))
        return wrong_width(kernel, parameter, sizeof value, "an address");
    memcpy(arguments->address[parameter], &value, sizeof value);
    return REX_OK;
}

/* Packs the device address of ROW. */
static int pack_row_address(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                            uint32_t parameter, const struct rex_map *map, int32_t row,
                            uintptr_t value)
{
    int result = REX_OK;
    if (unlikely(!is_word_of(&kernel->parameter[parameter], REX_KIND_POINTER)))
        result = check_argument(kernel, parameter, map, row);
    return result == REX_OK ? pack_address(arguments, kernel, parameter, value) : result;
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* rex_check_rows() checks rows that are neither a value nor plain mapped memory. */
static bool is_usual(int64_t type)
{
    return type == VALUE || (type & ~MAPPED_BITS) == REX_MAP_TARGET_PARAM ||
           (type & ~REX_MAP_KIND_MASK) == VALUE;
}

static int check_rows(const struct rex_map *map, const char *name)
{
    int64_t unusual = 0;
    bool columns =
        map->base != NULL && map->begin != NULL && map->sizes != NULL && map->types != NULL;
    if (unlikely(map->count < 0 || (map->count > 0 && !columns)))
        return rex_check_rows(map, REX_FOR_QUEUE, name);
    for (int32_t i = 0; i < map->count; i++)
        unusual |= !is_usual(map->types[i]) | (map->sizes[i] < 0) |
                   ((map->types[i] & REX_MAP_MEMBER_OF_MASK) != 0);
    return unusual ? rex_check_rows(map, REX_FOR_QUEUE, name) : REX_OK;
}

static int pack_row(struct rex_stream_gpu *gpu, const struct rex_loaded_kernel *kernel,
                    const struct rex_map *map, int32_t row, uint64_t generation,
                    uint32_t *parameter)
{
    int64_t type = map->types[row];
    if (type & REX_MAP_LITERAL)
        return type & REX_MAP_TARGET_PARAM
                   ? pack_value(&gpu->arguments, kernel, (*parameter)++, map, row)
                   : REX_OK;
    uintptr_t device = rex_addresses_find(&gpu->addresses, map->begin[row], (size_t)map->sizes[row],
                                          gpu->number, generation);
    if (unlikely(device == 0)) {
        if (map->sizes[row] > 0 || (type & (REX_MAP_IMPLICIT | REX_MAP_PRESENT)))
            return absent(gpu, kernel->name, map, row);
        /* A section of size 0 needs no memory. */
        return type & REX_MAP_TARGET_PARAM
                   ? pack_row_address(&gpu->arguments, kernel, (*parameter)++, map, row, 0)
                   : REX_OK;
    }
    return type & REX_MAP_TARGET_PARAM ? pack_row_address(&gpu->arguments, kernel, (*parameter)++,
                                                          map, row, device_base(map, row, device))
                                       : REX_OK;
}

static int pack_rows(struct rex_stream_gpu *gpu, const struct rex_target *target,
                     const struct rex_loaded_kernel *kernel, const struct rex_map *map)
{
    uint64_t generation = rex_addresses_generation(gpu->remember);
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    uint32_t parameter = 0;
    int result = rex_check_form_of(target, map, &form);
    if (result == REX_OK && form == REX_FORM_ENV)
        result = pack_address(&gpu->arguments, kernel, parameter++, RUNTIME_PARAMETER);
    for (int32_t i = 0; i < map->count && result == REX_OK; i++)
        result = pack_row(gpu, kernel, map, i, generation, &parameter);
    return result;
}

int rex_pack_arguments(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                       enum rex_kernel_form form, const struct rex_map *map,
                       const uintptr_t *device)
{
    uint32_t parameter = 0;
    int result = make_room(arguments, kernel);
    if (result == REX_OK && form == REX_FORM_ENV)
        result = pack_address(arguments, kernel, parameter++, RUNTIME_PARAMETER);
    for (int32_t i = 0; i < map->count && result == REX_OK; i++) {
        if (!(map->types[i] & REX_MAP_TARGET_PARAM))
            continue;
        result = map->types[i] & REX_MAP_LITERAL
                     ? pack_value(arguments, kernel, parameter++, map, i)
                     : pack_row_address(arguments, kernel, parameter++, map, i,
                                        device_base(map, i, device[i]));
    }
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static int fit_grid(const struct rex_launch_config *launch, struct rex_packed *packed)
{
    if (unlikely(rex_check_strict(launch, packed->kernel->name) != REX_OK))
        return REX_EINVAL;
    memcpy(packed->grid, launch->teams, sizeof packed->grid);
    memcpy(packed->block, launch->threads, sizeof packed->block);
    rex_grid_complete(packed->grid, packed->block, launch->trip_count);
    packed->dynamic_memory = launch->dynamic_memory;
    return rex_loaded_kernel_allow(packed->kernel, launch->dynamic_memory);
}

static int load(const struct rex_stream_gpu *gpu, const struct rex_target *target,
                struct rex_loaded_kernel **kernel)
{
    *kernel = rex_loaded_kernel(target->registration, target->kernel, gpu->ordinal, gpu->context);
    if (unlikely(*kernel == NULL))
        return rex_last_error_code();
    if (unlikely((*kernel)->image->has_globals && !(gpu->flags & REX_QUEUE_OWN_GLOBALS)))
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": its module has device globals, and a queue would use a "
                        "second copy of them: make the queue with REX_QUEUE_OWN_GLOBALS, or pass "
                        "what they hold as arguments",
                        (*kernel)->name);
    return REX_OK;
}

int rex_pack_launch(struct rex_stream_gpu *gpu, struct rex_module *module,
                    const struct rex_launch_config *description, const struct rex_map *map,
                    struct rex_packed *packed)
{
    struct rex_target target;
    int result = rex_resolve(module, description->key, &target);
    if (result == REX_OK)
        result = load(gpu, &target, &packed->kernel);
    if (result == REX_OK)
        result = fit_grid(description, packed);
    if (result == REX_OK)
        result = check_rows(map, packed->kernel->name);
    if (result == REX_OK)
        result = make_room(&gpu->arguments, packed->kernel);
    return result == REX_OK ? pack_rows(gpu, &target, packed->kernel, map) : result;
}

/* ---- calls of the driver --------------------------------------------------------------------- */

int rex_packed_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *stream)
{
    const unsigned *grid = packed->grid, *block = packed->block;
    return REX_CUDA(cuLaunchKernel, packed->kernel->function, grid[0], grid[1], grid[2], block[0],
                    block[1], block[2], packed->dynamic_memory, stream, arguments->address, NULL);
}

int rex_packed_set(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *executable, void *node)
{
    const unsigned *grid = packed->grid, *block = packed->block;
    const struct rex_cuda_kernel_node changed = {
        packed->kernel->function, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]},
        packed->dynamic_memory,   arguments->address,          NULL};
    return REX_CUDA(cuGraphExecKernelNodeSetParams, executable, node, &changed);
}

int rex_packed_launch(const struct rex_packed *packed, const struct rex_arguments *arguments,
                      void *stream)
{
    const unsigned *grid = packed->grid, *block = packed->block;
    if (rex_packed_put(packed, arguments, stream) == 0)
        return REX_OK;
    return rex_fail(REX_ECUDA,
                    "kernel \"%s\", %u x %u x %u teams of %u x %u x %u threads, %u bytes of "
                    "dynamic shared memory: %s",
                    packed->kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                    packed->dynamic_memory, rex_cuda_why());
}
