/*
 * rex/launch.h - launches and data regions: what maps are for.
 *
 * A launch runs a kernel and waits for it. REX_EHOST asks for the host version:
 *
 *     int error = REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                                REX_TOFROM(y, n));
 *     if (error == REX_EHOST)
 *         axpy_on_the_host(n, a, x, y);
 *
 * A region keeps data on the device until its block is left:
 *
 *     REX_DATA_REGION(&error, -1, REX_TO(x, n), REX_TOFROM(y, n)) {
 *         for (int step = 0; step < 100 && error == 0; step++)
 *             error = REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                                    REX_TOFROM(y, n));
 *     }
 *
 * Each call registers this binary's module first if that has not happened. Any thread may call. A
 * map must not be changed while a call uses it. Device numbers begin at 0; -1 is the default
 * device.
 *
 * librex checks what libomptarget aborts on or ignores. A call that fails such a check changes
 * nothing on the device.
 *
 * Guide: rex-launches(7).
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_LAUNCH_H
#define REX_LAUNCH_H

#include "rex/binary.h"
#include "rex/device.h"
#include "rex/map.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Launches: run a kernel, and wait for it or not -------------------------------------------
 *
 * REX_LAUNCH_FOR() and REX_LAUNCH() are for a launch on the default device, REX_LAUNCH_WITH() is
 * for all others, and rex_launch() for arguments in a map.
 *
 * Guide: rex-launches(7).
 */

/**
 * REX_LAUNCH_NOWAIT: flag: a launch in a task of an OpenMP parallel region returns before the
 * kernel ends, if the region runs on libomp. LLVM 16 and later; 14 and 15 wait.
 */
#define REX_LAUNCH_NOWAIT 0x1u
/**
 * REX_LAUNCH_STRICT: flag: 0 teams or threads in x are REX_EINVAL instead of a default, also with
 * REX_LAUNCH_GRID_STRIDE. LLVM 23 and later are told in each launch, with the flag or without, not
 * to change the grid.
 */
#define REX_LAUNCH_STRICT 0x2u
/**
 * REX_LAUNCH_GRID_STRIDE: flag: the kernel's loops are right for any number of teams, as REX_FOR
 * is. If teams are 0 in x, there are enough for @trip_count, but no more than the GPU keeps
 * resident at once.
 */
#define REX_LAUNCH_GRID_STRIDE 0x4u
/**
 * REX_LAUNCH_COOPERATIVE: flag: all blocks of the grid are resident at once, and may wait for each
 * other: grid.sync() of CUDA's cooperative groups. A grid of which not all blocks fit is refused
 * (REX_EINVAL), and the message has the largest number that does. With REX_LAUNCH_GRID_STRIDE and
 * no teams in x librex chooses at most that many. rex_resident_blocks() tells the number.
 */
#define REX_LAUNCH_COOPERATIVE 0x8u

/**
 * struct rex_launch_config: which kernel, where, on which grid. rex_launch_config_of() and
 * rex_launch_config_for() make one.
 *
 * REX_LAUNCH_COOPERATIVE and @cluster are *attributes* of the launch. Only the CUDA driver knows
 * them, from CUDA 11.8 on. If libomptarget has to launch, or the device is no NVIDIA GPU, the
 * launch is REX_EUNSUPPORTED, and the message says why. No launch goes without its attributes:
 * deferred ones, those in queues and those of graphs have them, too.
 */
struct rex_launch_config {
    /** host key: REX_KERNEL_ID(name). REX_LAUNCH_WITH() sets it. */
    const void *key;
    int64_t device; /**< device number; -1: the default device, or the queue's. */
    /** NULL: the call waits for the kernel. Or the queue (rex/queue.h) that gets the launch. */
    struct rex_queue *queue;
    /**
     * blocks in x, y, z. 0 in x: enough for @trip_count, or 128 if that is 0; with
     * REX_LAUNCH_GRID_STRIDE 1 if that is 0. 0 in y or z: 1. A GPU has at most 65535 in y and in z.
     */
    uint32_t teams[3];
    /**
     * threads of a block in x, y, z. 0 in x: 128; 0 in y or z: 1. A block of a GPU has at most 1024
     * threads, at most 64 in z, and no more than the kernel's __launch_bounds__ or registers allow.
     */
    uint32_t threads[3];
    uint64_t trip_count;     /**< iterations of the kernel's loop, 0 if unknown. */
    uint32_t dynamic_memory; /**< dynamic shared memory of a block in bytes. */
    uint32_t flags;          /**< REX_LAUNCH_ bits. */
    /**
     * blocks of a thread block cluster in x, y, z; all 0: no clusters, or those that the kernel
     * itself declares. 0 beside others: 1. At most 8 blocks together, and teams are a multiple in
     * each dimension. For GPUs from compute capability 9.0 on.
     */
    uint32_t cluster[3];
    uint32_t reserved[3]; /**< zeros: others are REX_EINVAL. */
};

/**
 * rex_launch_config_of(): a launch of @key on the default device, with @teams blocks of @threads
 * threads in x. The grid has 1 in y and z; the other fields are 0. The launch refuses a number that
 * no grid has. Returns the struct.
 */
static inline struct rex_launch_config rex_launch_config_of(const void *key, int64_t teams,
                                                            int64_t threads)
{
    struct rex_launch_config launch = {key, -1, NULL, {0, 1, 1}, {0, 1, 1},
                                       0,   0,  0,    {0, 0, 0}, {0, 0, 0}};
    launch.teams[0] = teams >= 0 && teams <= UINT32_MAX ? (uint32_t)teams : UINT32_MAX;
    launch.threads[0] = threads >= 0 && threads <= UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
    return launch;
}

/**
 * rex_launch_config_for(): a launch of @key on the default device, whose loops are REX_FOR with
 * @iterations iterations. librex chooses the grid, by REX_LAUNCH_GRID_STRIDE. Returns the struct.
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
 * rex_launch(): launches a kernel of this binary and waits for it, or puts the launch in a queue
 * and returns. It takes a map, one that is used again or was built at run time. REX_LAUNCH() takes
 * rows.
 *
 * @launch  which kernel, where, and on which grid.
 * @map     the kernel's arguments, of REX_MAP() or rex_map_build(); NULL: none. It stays the
 *          caller's.
 *
 * The program may change @launch, @map and the values in the map after the call.
 *
 * Memory of a row that is not mapped is mapped for this launch alone. Rows that are equal in begin
 * and size are copied together, as all of them say.
 *
 * In a queue nothing is copied, and each row of memory must be mapped whole. REX_ALWAYS,
 * REX_PRIVATE and REX_FIRSTPRIVATE are REX_EINVAL. On a GPU the CUDA driver launches, on each
 * release with all three dimensions of the grid.
 *
 * For a section of no elements that is not mapped the kernel gets the host's address, or NULL on
 * LLVM 14 and 15.
 *
 * Returns 0, an error of rex_module_register(), or one of those below. On an error nothing was
 * launched, but for a kernel that failed (REX_ECUDA).
 *
 * REX_EHOST         offloading is disabled, the device is the host, or libomptarget launched
 *                   nothing: run the host version.
 * REX_EINVAL        @launch is NULL, or has unknown flags or @reserved that is not 0; a column of
 *                   @map is NULL; a row is one that no release accepts, and the message has its
 *                   number; a strict launch with a 0; a grid or a block that is too large for the
 *                   GPU or the kernel (in a queue: REX_ECUDA); a cooperative grid or a cluster that
 *                   does not fit; a value of more than 8 bytes, if libomptarget has to launch.
 * REX_EKEY          the key belongs to no registered module, or to a global.
 * REX_EPARAMS       the rows do not fit the kernel's parameters. If libomptarget has to launch:
 *                   also a parameter of more than 8 bytes, or of less on LLVM 19 to 22.
 * REX_EDEVICE       the device number is out of range, or not the queue's.
 * REX_EUNSUPPORTED  the release cannot do it ("Releases" in librex(7)). The launch has attributes,
 *                   and libomptarget, an old GPU or driver, or the CPU would launch it. A block of
 *                   the GPU has less
 *                   shared memory (in a queue: REX_EINVAL). In a queue: the module has device
 *                   globals, and the queue lacks REX_QUEUE_OWN_GLOBALS; or on the host device a
 *                   value has more than 8 bytes.
 * REX_EABSENT       a row of REX_PRESENT() is not mapped, or not whole; in a queue, any row.
 * REX_EOVERLAP      a row is mapped in part, or it overlaps an earlier row and does not lie in it.
 *                   Or it lies in a row that this call maps, and asks for a copy which that row
 *                   does not make.
 *                   On LLVM 14 also a row of no elements that lies in a later row.
 * REX_ENOMEM        no memory, of the host or of the device. If libomptarget maps the rows, and the
 *                   device has too little, it aborts the process.
 * REX_ECUDA         the driver or the kernel failed, or the device is lost since an earlier call.
 * REX_EFORK         the process is a child of one that used the GPU, or it was forked while another
 *                   thread was inside libomptarget.
 */
static inline int rex_launch(const struct rex_launch_config *launch, const struct rex_map *map)
{
    return rex_module_launch_map(&rex_this_module, launch, map);
}

/**
 * REX_LAUNCH(kernel, teams, threads, rows...): launches REX_KERNEL(kernel) on the default device
 * and waits, with @teams blocks of @threads threads. @rows are the arguments, in order: row macros
 * of rex/map.h, at most 64, or none. Each expression is evaluated once. If REX_KERNEL() has the
 * kernel's parameters, the compiler compares their number and types with the rows
 * (rex/arguments.h); each row must then be made by a macro of rex/map.h. Returns what rex_launch()
 * returns.
 */
#define REX_LAUNCH(kernel, teams, ...) \
    REX_LAUNCH_GRID(REX_JOIN(kernel, __), teams, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_FOR(kernel, iterations, rows...): REX_LAUNCH() on a grid that librex chooses: enough
 * threads for @iterations of the kernel's REX_FOR, but no more than the GPU keeps resident at once.
 */
#define REX_LAUNCH_FOR(kernel, ...) \
    REX_LAUNCH_LOOP(REX_JOIN(kernel, __), ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_WITH(kernel, config, rows...): REX_LAUNCH() as @config says, a struct
 * rex_launch_config: on a device or in a queue, with three dimensions, dynamic shared memory, a
 * trip count or flags. It is copied, and the macro sets the key of the copy.
 *
 *     struct rex_launch_config config = rex_launch_config_of(NULL, 16, 16);
 *     config.teams[1] = config.threads[1] = 16;
 *     error = REX_LAUNCH_WITH(transpose, config, REX_TO(a, n), REX_FROM(b, n));
 */
#define REX_LAUNCH_WITH(kernel, ...) \
    REX_LAUNCH_CONFIG(REX_JOIN(kernel, __), ",," #__VA_ARGS__, __VA_ARGS__, )

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_resident_blocks(): how many blocks of the kernel of @launch a GPU keeps resident at once:
 * those of all multiprocessors together. They have the threads, the dynamic shared memory and the
 * clusters of @launch; its grid does not count, and neither does its queue. A cooperative launch
 * has at most that many. Other work on the GPU does not count. Any thread.
 *
 *     int64_t blocks = rex_resident_blocks(&launch);
 *     if (blocks > 0)
 *         launch.teams[0] = (uint32_t)blocks;
 *
 * Returns the number, 0 if not even one block or cluster fits. Or, negative, an error of
 * rex_launch(): REX_EINVAL, REX_EKEY, REX_EDEVICE, REX_EHOST, REX_EUNSUPPORTED, REX_ECUDA or
 * REX_ENOMEM; or REX_ENODEVICE, which is not logged: the device is no NVIDIA GPU.
 */
static inline int64_t rex_resident_blocks(const struct rex_launch_config *launch)
{
    return rex_module_resident_blocks(&rex_this_module, launch);
}

#endif

/*
 * ---- The launch macros from inside ------------------------------------------------------------
 *
 * A program uses none of these names.
 */

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

/*
 * ---- Whether kernels run on the CPU -----------------------------------------------------------
 */

/**
 * rex_on_host(): whether this binary's kernels run on the CPU, by a host image. It is known after
 * the first launch, data call or rex_offload_init(); before, it is false. Any thread.
 */
static inline bool rex_on_host(void)
{
    return rex_module_on_host(&rex_this_module);
}

/*
 * ---- Data regions: memory that stays on the device --------------------------------------------
 *
 * A mapping lasts from rex_data_enter() to rex_data_exit(), or for the block of REX_DATA_REGION().
 * Launches find the memory there, and copy nothing. rex_data_update() copies in between. The memory
 * must stay allocated meanwhile.
 *
 * If offloading is disabled or the device is the host, these calls return 0 and do nothing, and
 * launches are REX_EHOST. If a call fails, nothing was mapped, ended or copied. A call may wait for
 * launches and data calls of other threads on the same memory.
 *
 * A program without kernels has no module to register. Its calls work on the devices of registered
 * modules. If there is none, librex registers one that it knows, or the module of a loaded shared
 * object (rex_binary_module). If it finds none, they are REX_EENTRIES.
 *
 * Guide: rex-launches(7).
 */

/**
 * rex_data_enter(): target enter data: maps the rows of @map, and copies those of REX_TO() and
 * REX_TOFROM() that were not mapped.
 * @device  a device number; -1: the default device.
 * @map     of REX_MAP() or rex_map_build(). It stays the caller's. Rows of REX_USE_DEVICE_PTR() and
 *          REX_RETURN() receive an address: rex_map_address().
 *
 * Returns 0, an error of rex_module_register(), or:
 *
 * REX_EINVAL        @map or a column is NULL; a row makes no sense here, and the message has its
 *                   number: a negative size, memory at NULL, a value, a REX_DELETE().
 * REX_EDEVICE       the device number is out of range.
 * REX_EABSENT       a row of REX_PRESENT() is not mapped, or not whole.
 * REX_EOVERLAP      a row is mapped in part, or it overlaps an earlier row and does not lie in it.
 *                   Or it lies in a row that this call maps, and asks for a copy which that row
 *                   does not make.
 * REX_ENOMEM        no host memory to compare many rows, or to keep addresses that are given
 *                   back. If the device has too little, libomptarget aborts the process.
 * REX_ECUDA         the device is lost: a queue, a launch or another call has found it so.
 * REX_EFORK         the process was forked while another thread was inside libomptarget.
 */
static inline int rex_data_enter(int64_t device, const struct rex_map *map)
{
    return rex_module_data_enter(&rex_this_module, device, map);
}

/**
 * rex_data_exit(): target exit data: drops a reference to each row of @map. If it is the last one,
 * rows of REX_FROM() and REX_TOFROM() are copied back and the mapping ends. The map is equal to
 * that of rex_data_enter(), or has rows of REX_FROM(), REX_RELEASE() or REX_DELETE(). Rows that are
 * not mapped, or only in part, are passed over, but for those of REX_PRESENT(), and of
 * REX_IMPLICIT() in part. Bases that rex_data_enter() has replaced by addresses are put back.
 *
 * Returns what rex_data_enter() returns, with these differences. A row of REX_DELETE() is no error,
 * and neither is one that is mapped in part.
 *
 * REX_EOVERLAP      a row of REX_IMPLICIT() that is copied back is larger than its mapping.
 * REX_EBUSY         a queue, which the message names, has unfinished work with the memory
 *                   (rex/queue.h). Nothing has ended.
 */
static inline int rex_data_exit(int64_t device, const struct rex_map *map)
{
    return rex_module_data_exit(&rex_this_module, device, map);
}

/**
 * rex_data_update(): copies each row of REX_TO() to the device, and each row of REX_FROM() from it,
 * whatever the reference count. The memory must be mapped whole, or no row is copied.
 *
 * Returns 0, an error of rex_module_register(), or:
 *
 * REX_EINVAL        @map or a column is NULL, or a row is wrong, as for rex_data_enter(), or is
 *                   neither to nor from.
 * REX_EDEVICE       the device number is out of range.
 * REX_EABSENT       a row is not mapped, or not whole.
 * REX_ENOMEM        no host memory to compare many rows.
 * REX_ECUDA         the device is lost.
 * REX_EFORK         as for rex_data_enter().
 */
static inline int rex_data_update(int64_t device, const struct rex_map *map)
{
    return rex_module_data_update(&rex_this_module, device, map);
}

/**
 * REX_DATA_REGION(error, device, rows...) { ... }: target data: begins a region, runs the block and
 * ends the region, also if the block is left by return, goto, break, continue or, in C++, an
 * exception. break and continue leave the region, and no loop around it. exit() and longjmp() do
 * not end the region.
 * @error   address of an int, or NULL. The int gets 0 or the error of the beginning, and then the
 *          block does not run. An error of the end replaces what the block has stored there. The
 *          end writes to the int: declare it before the block.
 * @device  a device number; -1: the default device.
 * @rows    row macros of rex/map.h, at most 64. Their table lives as long as the block.
 *
 * The beginning has the errors of rex_data_enter(), the end those of rex_data_exit(), but for rows
 * of REX_PRESENT(): only the beginning asks for them, as in OpenMP. The end is also REX_ENOMEM: no
 * memory for a copy of the types. After REX_EBUSY nothing has ended. A value that the block returns
 * is computed before the end. rex_last_error() describes an error of the beginning or the end until
 * another call fails.
 */
#define REX_DATA_REGION(error, ...)                                                               \
    REX_DATA_ROWS(REX_JOIN(rex_detail_scope_, __LINE__), REX_JOIN(rex_detail_columns_, __LINE__), \
                  REX_JOIN(rex_detail_once_, __LINE__), error, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_DATA_REGION_MAP(error, device, map) { ... }: REX_DATA_REGION() with @map, a variable of type
 * struct rex_map, not its address. The program frees a map of rex_map_build() after the block.
 */
#define REX_DATA_REGION_MAP(error, device, map) \
    REX_DATA_SCOPE(REX_JOIN(rex_detail_scope_, __LINE__), error, device, &(map))

#endif /* REX_BUILDING_LIBRARY */

/*
 * ---- Rectangles: a part of an array with several dimensions -----------------------------------
 *
 * This is the end of a function for rex_map_build(), which adds rows 1 to 8, columns 4 to 7 of a
 * matrix:
 *
 *     struct rex_dimension part[] = {{ROWS, 1, 8, 1}, {COLUMNS, 4, 4, 1}};
 *     return rex_map_add_strided(builder, matrix, sizeof(double), part, 2, REX_MAP_FROM);
 *
 * rex_data_update() then copies this part with the map.
 */

/** struct rex_dimension: one dimension of a rectangular part of an array, in elements. */
struct rex_dimension {
    int64_t extent; /**< elements that the array has in this dimension. */
    int64_t lower;  /**< first of the part. */
    int64_t length; /**< number of elements in the part. */
    int64_t stride; /**< distance between them; 1 for neighbours. */
};

/**
 * rex_map_add_strided(): adds the rows of a rectangular part of an array that is mapped, for
 * rex_data_update(): one row for each run of neighbouring elements. Releases copy too little if
 * they are given the rectangle as such.
 * @builder       where rows go.
 * @base          first element of the whole array.
 * @element_size  bytes of an element.
 * @dimensions    the dimensions, outermost first.
 * @count         how many there are, 1 to 8.
 * @type          REX_MAP_TO or REX_MAP_FROM.
 *
 * If a length is 0, there are no rows. Any thread.
 *
 * Returns 0, or REX_EINVAL: a pointer is NULL, @count or @element_size is out of range, or an
 * extent or a stride is not positive. So it does if the part leaves the array, a size is not
 * representable, or the map would have more rows than an int32_t counts.
 */
REX_API int rex_map_add_strided(struct rex_map_builder *builder, void *base, int64_t element_size,
                                const struct rex_dimension *dimensions, int count, int64_t type);

/** struct rex_array_part: a rectangular part of an array in the memory of a device. */
struct rex_array_part {
    void *base; /**< first element of the whole array; it is read if the part is a source. */
    const struct rex_dimension *dimensions; /**< the dimensions, outermost first. */
    int64_t device; /**< where the array is; -1: the default device; the number of the host. */
};

/**
 * rex_device_copy_part(): copies a rectangular part of an array to a part of another array, and
 * returns when that is done. The arrays may have other extents, and lie on the host, on a device
 * or on two: what a map cannot say, whose copy has the place of the original.
 * @to            where the elements go: as many in each dimension as @from has.
 * @from          where they come from. The two parts do not overlap.
 * @element_size  bytes of an element.
 * @count         dimensions of each array, 1 to 8.
 *
 * If a length is 0, nothing is copied. Any thread.
 *
 * Returns 0; REX_EINVAL (a pointer is NULL, the lengths differ, a part is wrong as for
 * rex_map_add_strided(), no module is registered, or offloading is disabled); REX_EDEVICE;
 * REX_ENOMEM; REX_ECUDA (a device is lost) or REX_ERUNTIME (libomptarget could not copy).
 */
REX_API int rex_device_copy_part(const struct rex_array_part *to, const struct rex_array_part *from,
                                 int64_t element_size, int count);

#ifdef __cplusplus
}
#endif

#endif
