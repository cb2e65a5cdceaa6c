/*
 * rex/launch.h - launches, data regions, updates, device memory: what consumes a map.
 *
 *     REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
 *     struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(axpy), 256, 128);
 *     int result = rex_launch(&launch, &args);
 *     if (result == REX_EHOST)
 *         axpy_on_the_host(n, a, x, y);
 *
 * Mappings that last, with the end that cannot be forgotten, whatever leaves the block:
 *
 *     REX_MAP(region, REX_TO(x, n), REX_TOFROM(y, n));
 *     REX_DATA_REGION(-1, region, &result) {
 *         for (int step = 0; step < 100 && result == 0; step++)
 *             result = rex_launch(&launch, &args);
 *     }
 *
 * These functions check what libomptarget aborts on or passes over in silence, and return. All may
 * be called from any thread; a map must not be changed while a call uses it. Device numbers run
 * from 0; -1 is the default device.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_LAUNCH_H
#define REX_LAUNCH_H

#include "rex/device.h"
#include "rex/map.h"
#include "rex/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Launches ---------------------------------------------------------------------------------
 */

/**
 * REX_LAUNCH_NOWAIT: inside a task of a libomp team, return before the kernel ends (LLVM 16 on;
 * blocking elsewhere).
 */
#define REX_LAUNCH_NOWAIT 0x1u
/**
 * REX_LAUNCH_STRICT: the grid must be given whole: REX_EINVAL where teams or threads are 0; LLVM 23
 * is told not to change it.
 */
#define REX_LAUNCH_STRICT 0x2u

/** struct rex_launch_config: which kernel, where, on which grid. */
struct rex_launch_config {
    const void *key; /**< host key: REX_KERNEL_ID(name). */
    int64_t device;  /**< device number, -1 for the default device, or the queue's. */
    /** NULL: wait for the kernel; or the queue (rex/queue.h) that the launch is put in. */
    struct rex_queue *queue;
    /** blocks in x, y, z; 0 in x: enough for @trip_count, 0 in y and z: 1. */
    uint32_t teams[3];
    uint32_t threads[3];     /**< threads of a block in x, y, z; 0 in x: 128, 0 in y and z: 1. */
    uint64_t trip_count;     /**< iterations of the loop, 0 if unknown. */
    uint32_t dynamic_memory; /**< dynamic shared memory in bytes. */
    uint32_t flags;          /**< REX_LAUNCH_ bits. */
};

/**
 * rex_launch_config_of(): a launch of @key on the default device, @teams blocks of @threads
 * threads.
 */
static inline struct rex_launch_config rex_launch_config_of(const void *key, uint32_t teams,
                                                         uint32_t threads)
{
    struct rex_launch_config launch = {key, -1, NULL, {teams, 1, 1}, {threads, 1, 1}, 0, 0, 0};
    return launch;
}

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_launch(): launches a kernel of this binary, registering its module first where needed, and
 * waits for it, or puts the launch in a queue and returns.
 * @launch   what and where; @map: its arguments, NULL for none. Both may be changed afterwards:
 *           values are taken at the call.
 *
 * In a queue y and z of the grid reach the GPU on every LLVM release. A section of no elements that
 * is not mapped is NULL for the kernel. Rows copy nothing, and REX_ALWAYS, REX_PRIVATE and
 * REX_FIRSTPRIVATE are errors.
 * Returns 0; REX_EHOST where nothing was launched because offloading is disabled or the device is
 * the host: run the host version; REX_EINVAL (a row that no release accepts, a strict grid with a
 * 0, a block larger than the GPU or the kernel allows), REX_EKEY, REX_EPARAMS, REX_EDEVICE,
 * REX_EUNSUPPORTED, REX_EABSENT (a present row is not mapped), REX_EOVERLAP (a row is mapped in
 * part, or overlaps an earlier one and does not lie in it), REX_ENOMEM (also of the device),
 * REX_ECUDA (the driver or the kernel failed, or the device is lost), REX_EFORK, or an error of
 * rex_module_register(). In a queue also REX_EABSENT where a row is not mapped; REX_EUNSUPPORTED
 * for device globals, or on the host device for a value of more than 8 bytes.
 */
static inline int rex_launch(const struct rex_launch_config *launch, const struct rex_map *map)
{
    return rex_module_launch_map(&rex_this_module, launch, map);
}

/*
 * ---- Data -------------------------------------------------------------------------------------
 */

/**
 * rex_data_enter(): target enter data: maps the rows of @map. Registers this binary's module first
 * where needed. A binary without kernels needs a module of another binary instead; REX_EENTRIES if
 * librex finds none.
 * Returns 0, or REX_EINVAL, REX_EDEVICE, REX_EABSENT, REX_EOVERLAP (a row is mapped in part, or
 * overlaps an earlier one and does not lie in it), REX_ENOMEM, REX_ECUDA (the device is lost, as a
 * queue or a launch has found, also one that the call has waited for), or an error of
 * rex_module_register(). Where offloading is disabled, 0: nothing is mapped and launches say
 * REX_EHOST.
 */
static inline int rex_data_enter(int64_t device, const struct rex_map *map)
{
    return rex_module_data_enter(&rex_this_module, device, map);
}

/**
 * rex_data_exit(): target exit data, with rows of REX_FROM(), REX_RELEASE() or REX_DELETE(), or
 * with a map equal to that of rex_data_enter(). Returns likewise, or REX_ENOMEM; or, with nothing
 * ended, REX_EBUSY: a queue (rex/queue.h) still works with the memory, or REX_ECUDA, as above.
 */
static inline int rex_data_exit(int64_t device, const struct rex_map *map)
{
    return rex_module_data_exit(&rex_this_module, device, map);
}

/**
 * rex_data_update(): copies each row, to the device for REX_TO() and from it for REX_FROM(). Memory
 * that is not mapped whole is an error, and then no row is copied; libomptarget would pass it over
 * in silence. Returns 0, REX_EINVAL, REX_EDEVICE, REX_EABSENT, REX_ECUDA (a queue has found the
 * device lost), or an error of rex_module_register().
 */
static inline int rex_data_update(int64_t device, const struct rex_map *map)
{
    return rex_module_data_update(&rex_this_module, device, map);
}

/**
 * REX_DATA_REGION(device, map, result) { ... }: target data: begins, runs the block, ends; also
 * where the block is left by break, return or goto. @result is the address of an int, and may be
 * left out. It gets 0, or the error of the beginning, and then the block does not run. An error of
 * the end is stored there after the block, whatever leaves it: REX_EBUSY, say, and then nothing has
 * ended, or a copy back that failed. Else the end leaves it as the block has set it. The int must
 * exist until the block has been left, so it is none of the block's. rex_last_error() describes an
 * error of the beginning or of the end until another call fails.
 */
#define REX_DATA_REGION(device, ...) \
    REX_DATA_SCOPE(REX_JOIN(rex_scope_, __LINE__), device, false, __VA_ARGS__, NULL, 0)

/**
 * REX_DATA_REGION_OWNING(device, map, result) { ... }: the same, and frees a map of rex_map_build()
 * after the end.
 */
#define REX_DATA_REGION_OWNING(device, ...) \
    REX_DATA_SCOPE(REX_JOIN(rex_scope_, __LINE__), device, true, __VA_ARGS__, NULL, 0)

#endif /* REX_BUILDING_LIBRARY */

/** struct rex_dimension: one dimension of a rectangular part of an array, in elements. */
struct rex_dimension {
    int64_t extent; /**< elements that the array has in this dimension. */
    int64_t lower;  /**< first of the part. */
    int64_t length; /**< number of elements in the part. */
    int64_t stride; /**< distance between them; 1 for neighbours. */
};

/**
 * rex_map_add_strided(): pushes the rows of a rectangular part of an array, for an update: one for
 * each run of neighbouring elements. Releases differ, and copy too little, where they are given the
 * rectangle as such.
 * @base        first element of the whole array; @element_size: bytes of one.
 * @dimensions  outermost first; @count: how many, 1 to 8.
 * @type        REX_MAP_TO or REX_MAP_FROM.
 * Returns 0, or REX_EINVAL: a pointer is NULL, the part leaves the array, or a size is not
 * representable.
 */
REX_API int rex_map_add_strided(struct rex_map_builder *builder, void *base, int64_t element_size,
                                const struct rex_dimension *dimensions, int count, int64_t type);

#ifdef __cplusplus
}
#endif

#endif
