/*
 * rex/launch.h - launches, data regions, updates, device memory: what consumes a map.
 *
 *     int error = REX_LAUNCH(axpy, 256, 128, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                            REX_TOFROM(y, n));
 *     if (error == REX_EHOST)
 *         axpy_on_the_host(n, a, x, y);
 *
 * Data that stays on the device until the block is left, whatever leaves it:
 *
 *     REX_DATA_REGION(&error, -1, REX_TO(x, n), REX_TOFROM(y, n)) {
 *         for (int step = 0; step < 100 && error == 0; step++)
 *             error = REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                                    REX_TOFROM(y, n));
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
/**
 * REX_LAUNCH_GRID_STRIDE: the kernel's loops are right on any grid, as REX_FOR is. Where teams are
 * 0 in x, there are enough for @trip_count, but no more than the device keeps resident at once.
 */
#define REX_LAUNCH_GRID_STRIDE 0x4u

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
 * threads. A number that no grid has is refused when the kernel is launched.
 */
static inline struct rex_launch_config rex_launch_config_of(const void *key, int64_t teams,
                                                            int64_t threads)
{
    struct rex_launch_config launch = {key, -1, NULL, {0, 1, 1}, {0, 1, 1}, 0, 0, 0};
    launch.teams[0] = teams >= 0 && teams <= UINT32_MAX ? (uint32_t)teams : UINT32_MAX;
    launch.threads[0] = threads >= 0 && threads <= UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
    return launch;
}

/**
 * rex_launch_config_for(): a launch of a kernel whose loops are REX_FOR, with @iterations of them,
 * on the default device; librex chooses the grid.
 */
static inline struct rex_launch_config rex_launch_config_for(const void *key, int64_t iterations)
{
    struct rex_launch_config launch = rex_launch_config_of(key, 0, 0);
    launch.trip_count = iterations > 0 ? (uint64_t)iterations : 0;
    launch.flags = REX_LAUNCH_GRID_STRIDE;
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
 * 0, a block larger than the GPU or the kernel allows); REX_EKEY, REX_EPARAMS, REX_EDEVICE,
 * REX_EUNSUPPORTED; REX_EABSENT (a present row is not mapped); REX_EOVERLAP (a row is mapped in
 * part, or overlaps an earlier one and does not lie in it); REX_ENOMEM (also of the device);
 * REX_ECUDA (the driver or the kernel failed, or the device is lost); REX_EFORK, or an error of
 * rex_module_register(). In a queue also REX_EABSENT where a row is not mapped; REX_EUNSUPPORTED
 * for device globals, or on the host device for a value of more than 8 bytes.
 */
static inline int rex_launch(const struct rex_launch_config *launch, const struct rex_map *map)
{
    return rex_module_launch_map(&rex_this_module, launch, map);
}

/**
 * REX_LAUNCH(kernel, teams, threads, rows...): rex_launch() of REX_KERNEL(kernel) on the default
 * device, with @teams blocks of @threads threads, and with at most 64 rows, or none. Every
 * expression is evaluated once. If REX_KERNEL() has the kernel's parameters, the compiler compares
 * the number and the types of what the rows pass: rex/arguments.h; a row that no macro of rex/map.h
 * makes is an error then.
 * Returns what rex_launch() returns.
 */
#define REX_LAUNCH(kernel, teams, ...) \
    REX_LAUNCH_GRID(kernel##__, teams, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_FOR(kernel, iterations, rows...): the same, and librex chooses the grid: enough
 * threads for @iterations of the kernel's REX_FOR, but no more than the device keeps busy.
 */
#define REX_LAUNCH_FOR(kernel, ...) REX_LAUNCH_LOOP(kernel##__, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_WITH(kernel, config, rows...): the same as @config says, a struct rex_launch_config:
 * on a device or a queue, with three dimensions, dynamic shared memory, a trip count or flags. Its
 * key is not looked at.
 *
 *     struct rex_launch_config config = rex_launch_config_of(NULL, 16, 16);
 *     config.teams[1] = config.threads[1] = 16;
 *     error = REX_LAUNCH_WITH(transpose, config, REX_TO(a, n), REX_FROM(b, n));
 */
#define REX_LAUNCH_WITH(kernel, ...) REX_LAUNCH_CONFIG(kernel##__, ",," #__VA_ARGS__, __VA_ARGS__, )

/** REX_LAUNCH_GRID(stem, teams, text, threads, rows..., ): REX_LAUNCH() of a stem. */
#define REX_LAUNCH_GRID(stem, teams, text, threads, ...)                                          \
    REX_LAUNCH_ROWS(stem, rex_launch_config_of(NULL, (int64_t)(teams), (int64_t)(threads)), text, \
                    __VA_ARGS__)
/** REX_LAUNCH_LOOP(stem, text, iterations, rows..., ): REX_LAUNCH_FOR() of a stem. */
#define REX_LAUNCH_LOOP(stem, text, iterations, ...) \
    REX_LAUNCH_ROWS(stem, rex_launch_config_for(NULL, (int64_t)(iterations)), text, __VA_ARGS__)
/** REX_LAUNCH_CONFIG(stem, text, config, rows..., ): REX_LAUNCH_WITH() of a stem. */
#define REX_LAUNCH_CONFIG(stem, text, config, ...) REX_LAUNCH_ROWS(stem, config, text, __VA_ARGS__)
/** REX_LAUNCH_ROWS(stem, config, text, rows..., ): any of them. */
#define REX_LAUNCH_ROWS(stem, config, text, ...)                                               \
    ((void)sizeof(stem##arguments__(0 REX_WALK(REX_ROW_ARGUMENT, , (), (), , , __VA_ARGS__))), \
     rex_launch_rows(REX_KERNEL_STEM_ID(stem), config, text, REX_ROWS(__VA_ARGS__)))

/** rex_launch_rows(): rex_launch() of @key with the first @count of @rows, which @text quotes. */
static inline int rex_launch_rows(const void *key, struct rex_launch_config launch,
                                  const char *text, const struct rex_row *rows, size_t count)
{
    struct rex_columns columns;
    launch.key = key;
    return rex_launch(&launch, rex_columns_fill(&columns, text, rows, count));
}
#ifdef __cplusplus
extern "C++" {
/** rex_launch_rows(): the same of @list. */
inline int rex_launch_rows(const void *key, const struct rex_launch_config &launch,
                           const char *text, const struct rex_row_list &list)
{
    return rex_launch_rows(key, launch, text, list.rows, list.count);
}
}
#endif

/**
 * rex_on_host(): whether this binary's kernels run on the CPU, by a host image. Known after the
 * first launch, data call or rex_offload_init(); false before. Any thread.
 */
static inline bool rex_on_host(void)
{
    return rex_module_on_host(&rex_this_module);
}

/*
 * ---- Data -------------------------------------------------------------------------------------
 */

/**
 * rex_data_enter(): target enter data: maps the rows of @map. Registers this binary's module first
 * where needed. A binary without kernels needs a module of another binary instead; REX_EENTRIES if
 * librex finds none.
 * Returns 0; REX_EINVAL, REX_EDEVICE, REX_EABSENT; REX_EOVERLAP (a row is mapped in part, or
 * overlaps an earlier one and does not lie in it); REX_ENOMEM; REX_ECUDA (the device is lost, as a
 * queue or a launch has found, also one that the call has waited for); or an error of
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
 * REX_DATA_REGION(error, device, rows...) { ... }: target data: begins, runs the block, ends; also
 * where the block is left by break, return or goto. @error is the address of an int, or NULL. The
 * int gets 0, or the error of the beginning, and then the block does not run. An error of the end
 * is stored there after the block, whatever leaves it: REX_EBUSY, say, and then nothing has ended,
 * or a copy back that failed. Else the end leaves it as the block has set it. The int must exist
 * until the block has been left, so it is none of the block's. rex_last_error() describes an error
 * of the beginning or of the end until another call fails. There are at most 64 rows, in a table
 * that lives as long as the block. The end looks for no present rows, as in OpenMP. @device is a
 * number, and no configuration as a launch has: a region is put in no queue and has no grid, so
 * that a configuration would say no more.
 */
#define REX_DATA_REGION(error, ...)                                                               \
    REX_DATA_ROWS(REX_JOIN(rex_detail_scope_, __LINE__), REX_JOIN(rex_detail_columns_, __LINE__), \
                  REX_JOIN(rex_detail_once_, __LINE__), error, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_DATA_REGION_MAP(error, device, map) { ... }: the same, of a struct rex_map, a variable: one
 * of REX_MAP(), or of rex_map_build(), which the program frees after the block.
 */
#define REX_DATA_REGION_MAP(error, device, map) \
    REX_DATA_SCOPE(REX_JOIN(rex_detail_scope_, __LINE__), error, device, &(map))

#endif /* REX_BUILDING_LIBRARY */

/** struct rex_dimension: one dimension of a rectangular part of an array, in elements. */
struct rex_dimension {
    int64_t extent; /**< elements that the array has in this dimension. */
    int64_t lower;  /**< first of the part. */
    int64_t length; /**< number of elements in the part. */
    int64_t stride; /**< distance between them; 1 for neighbours. */
};

/**
 * rex_map_add_strided(): adds the rows of a rectangular part of an array, for an update: one for
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
