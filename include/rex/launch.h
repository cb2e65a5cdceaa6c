/*
 * rex/launch.h - launches and data regions.
 *
 * A launch runs a kernel, and usually waits for it. After REX_EHOST the program runs its host
 * version:
 *
 *     int error = REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                                REX_TOFROM(y, n));
 *     if (error == REX_EHOST)
 *         axpy_on_the_host(n, a, x, y);
 *
 * A region keeps data on the device until the program leaves its block:
 *
 *     REX_DATA_REGION(&error, -1, REX_TO(x, n), REX_TOFROM(y, n)) {
 *         for (int step = 0; step < 100 && error == 0; step++)
 *             error = REX_LAUNCH_FOR(axpy, n, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
 *                                    REX_TOFROM(y, n));
 *     }
 *
 * A launch or data call with valid arguments registers this binary's module if it has entries and
 * is not registered. Any thread may call these functions. The program must not change a map while a
 * call uses the map. Device numbers begin at 0; -1 is the default device.
 *
 * libomptarget aborts on some errors and ignores others; librex checks for most of these errors
 * first. If a call fails a check, no kernel runs, and the mappings do not change.
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
 * REX_LAUNCH_FOR() and REX_LAUNCH() launch on the default device. REX_LAUNCH_WITH() takes all other
 * options, such as a device or a queue. rex_launch() takes the arguments as a map.
 *
 * Guide: rex-launches(7).
 */

/**
 * REX_LAUNCH_NOWAIT: flag: libomptarget launches, and may return before the kernel ends. It returns
 * early only in a task of an OpenMP parallel region that runs on libomp, with LLVM 16 or later.
 * Elsewhere the call waits for the kernel. On a GPU, launches in a queue ignore the flag.
 */
#define REX_LAUNCH_NOWAIT 0x1u
/**
 * REX_LAUNCH_STRICT: flag: a launch with 0 teams or 0 threads in x returns REX_EINVAL, even with
 * REX_LAUNCH_GRID_STRIDE. Without the flag librex chooses a number in place of 0. With or without
 * the flag, librex asks LLVM 23 and later not to change the grid.
 */
#define REX_LAUNCH_STRICT 0x2u
/**
 * REX_LAUNCH_GRID_STRIDE: flag: the kernel's loops are correct with any number of teams, as
 * REX_FOR() loops are. If teams are 0 in x, librex launches enough teams for @trip_count. But the
 * teams in x together have at most as many threads as the GPU can have resident at once. If the
 * GPUs differ, librex takes the largest of these maximums.
 */
#define REX_LAUNCH_GRID_STRIDE 0x4u
/**
 * REX_LAUNCH_COOPERATIVE: flag: all blocks of the grid are resident at once, so they can wait for
 * each other, for example by grid.sync() of CUDA's cooperative groups. rex_resident_blocks()
 * returns the maximum number of blocks. If the grid has more blocks, the launch returns REX_EINVAL,
 * and the message has the maximum. With REX_LAUNCH_GRID_STRIDE and 0 teams in x, librex chooses at
 * most this maximum. If the kernel declares clusters, set `cluster` of the config to their size:
 * otherwise the maximum may be too large, and the launch may return REX_ECUDA.
 */
#define REX_LAUNCH_COOPERATIVE 0x8u

/**
 * struct rex_launch_config: the kernel, device, queue and grid of a launch. rex_launch_config_of()
 * and rex_launch_config_for() return such a struct.
 *
 * REX_LAUNCH_COOPERATIVE and @cluster are *attributes* of the launch. librex passes them only to
 * the CUDA driver, from CUDA 11.8 on. If libomptarget has to launch, the launch returns
 * REX_EUNSUPPORTED, and the message has the reason. The attributes also apply to launches in queues
 * and graphs, and to launches that return early (REX_OPTION_LAUNCH_BLOCKING).
 */
struct rex_launch_config {
    /** host key: REX_KERNEL_ID(name). REX_LAUNCH_WITH() sets it. */
    const void *key;
    /** device number; -1: the queue's device, or the default device if there is no queue. */
    int64_t device;
    /** the queue (rex/queue.h) in which the kernel is launched; NULL: no queue. */
    struct rex_queue *queue;
    /**
     * blocks in x, y, z. If x is 0, librex chooses enough blocks for @trip_count. If x and
     * @trip_count are 0, librex chooses 128 blocks, or 1 block with REX_LAUNCH_GRID_STRIDE. librex
     * chooses whole clusters of @cluster. In y and z, 0 means 1. A GPU's grid has at most 65535
     * blocks in y and in z.
     */
    uint32_t teams[3];
    /**
     * threads of a block in x, y, z. In x, 0 means 128; in y and z, 0 means 1. A block of a GPU has
     * at most 1024 threads, and at most 64 in z. The kernel's __launch_bounds__ or registers can
     * lower the maximum.
     */
    uint32_t threads[3];
    uint64_t trip_count;     /**< iterations of the kernel's loop, 0 if unknown. */
    uint32_t dynamic_memory; /**< dynamic shared memory of a block in bytes. */
    uint32_t flags;          /**< REX_LAUNCH_ bits. */
    /**
     * blocks of a thread block cluster in x, y, z. All 0: no clusters, or the clusters that the
     * kernel declares. If only some numbers are 0, each 0 means 1. A cluster has at most 8 blocks.
     * In each dimension @teams must be a multiple of the cluster. Clusters need a GPU of compute
     * capability 9.0 or later. librex does not read the size of declared clusters: if @teams does
     * not fit them, the launch returns REX_ECUDA. So set @cluster to this size in three cases:
     * librex chooses the grid, the launch is cooperative, or the config is for
     * rex_resident_blocks().
     */
    uint32_t cluster[3];
    uint32_t reserved[3]; /**< must be 0, otherwise the launch returns REX_EINVAL. */
};

/**
 * rex_launch_config_of(): returns the config of a launch of @key on the default device, with @teams
 * blocks of @threads threads in x. Teams and threads are 1 in y and z; the other fields are 0. If
 * @teams or @threads is negative or above 2147483647, the launch returns REX_EINVAL.
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
 * rex_launch_config_for(): returns the config of a launch of @key on the default device, for a
 * kernel whose REX_FOR() loops have @iterations iterations. librex chooses the grid by
 * REX_LAUNCH_GRID_STRIDE.
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
 * rex_launch(): launches a kernel of this binary and waits for the kernel, or puts the launch in a
 * queue and returns. With REX_LAUNCH_NOWAIT, or if REX_OPTION_LAUNCH_BLOCKING is `off`, the call
 * may return before the kernel ends. The arguments are a map, which may be used again or built at
 * run time. REX_LAUNCH() takes rows.
 *
 * @launch  the kernel, device, queue and grid.
 * @map     the kernel's arguments, made by REX_MAP() or rex_map_build(); NULL: no arguments. The
 *          map belongs to the caller.
 *
 * After the call the program may change @launch, @map and the values in the map.
 *
 * If the memory of a row is not mapped, it is mapped for this launch only. If several such rows
 * have equal begin and size, librex makes each copy that at least one of them asks for. This rule
 * does not apply to parents, rows of REX_MEMBER() and rows with mappers.
 *
 * A launch in a queue copies nothing, and its rows of memory must be mapped whole. Rows of no
 * elements need no mapping, except rows of REX_POINTER(), REX_IMPLICIT() and REX_PRESENT(). A
 * launch in a queue returns REX_EINVAL if it has a row of REX_ALWAYS(), REX_PRIVATE() or
 * REX_FIRSTPRIVATE(). On a GPU the CUDA driver launches from a queue, so the grid can have three
 * dimensions with each LLVM release.
 *
 * If a row of no elements is neither mapped nor within another row of the launch, the kernel gets
 * the host's address. On LLVM 14 and 15 the kernel gets NULL in a queue on a GPU, and elsewhere
 * NULL minus the offset of the row from its base. REX_POINTER() describes an exception: memory
 * before a mapped section.
 *
 * Returns 0, an error of rex_module_register(), or one of the errors below. After an error other
 * than REX_ECUDA the kernel has not run.
 *
 * REX_EHOST         offloading is disabled, the device is the host, or libomptarget launched
 *                   nothing: run the host version.
 * REX_ENODEVICE     the device is the host, or offloading is disabled, and REX_REQUIRE_GPU is on.
 * REX_EINVAL        @launch is NULL or has unknown flags, or @reserved is not 0; the count or a
 *                   column of @map is invalid; a row is invalid with each LLVM release, and the
 *                   message has the number of the row; a strict launch has 0 teams or threads in x;
 *                   a number of teams or threads in x is above 2147483647; the grid or the block is
 *                   too large for the GPU or the kernel (in a queue: REX_ECUDA); a cooperative grid
 *                   or a cluster does not fit; a value has more than 8 bytes, and libomptarget has
 *                   to launch; the queue was destroyed; the process or the calling thread is
 *                   ending.
 * REX_EKEY          no entry of this binary has the key, or the key is that of a global.
 * REX_ENOKERNEL     the image does not describe the kernel's parameters: in a queue on a GPU, or
 *                   for some cooperative launches. Or the image lacks the kernel, and REX_CHECK is
 *                   `off`.
 * REX_EPARAMS       the rows do not fit the kernel's parameters. Or libomptarget has to launch on a
 *                   GPU, and a parameter has more than 8 bytes, or on LLVM 19 to 22 fewer than 8
 *                   bytes.
 * REX_EDEVICE       the device number is out of range, or is not that of the queue's device.
 * REX_EUNSUPPORTED  the LLVM release cannot do the launch ("Releases" in librex(7)). Or the launch
 *                   has attributes, and one of these is true: libomptarget has to launch, the
 *                   device is the CPU, or the GPU or driver is too old for the attributes. Or
 *                   REX_LAUNCH_BY is `driver`, and on a GPU libomptarget has to launch. Or a block
 *                   needs more shared memory than the GPU has for one block (in a queue:
 *                   REX_EINVAL). In a queue on a GPU: the module has entries for globals, and the
 *                   queue lacks REX_QUEUE_OWN_GLOBALS. In a queue on the host device: a value has
 *                   more than 8 bytes.
 * REX_EABSENT       a row of REX_PRESENT(), or in a queue a row that must be mapped, is not mapped,
 *                   or mapped only in part.
 * REX_EOVERLAP      a row is mapped in part. Or a row overlaps an earlier row that this call maps,
 *                   and does not lie within the earlier row. REX_IMPLICIT() describes exceptions.
 *                   Or a row is a part of an earlier row that this call maps, and asks for a copy
 *                   that the earlier row does not make. librex does not find this last error if the
 *                   part is REX_ALWAYS(), or if one of the two rows is REX_STRUCT() or REX_MEMBER()
 *                   or has a mapper. Or, on LLVM 14, a row of no elements lies within a later row
 *                   that this call maps.
 * REX_ENOMEM        the host or the device has too little memory, or a row is larger than 1 TiB. If
 *                   libomptarget maps the rows, and the device has too little memory, libomptarget
 *                   aborts the process.
 * REX_ECUDA         the driver, this kernel or an earlier kernel failed, or another call has found
 *                   the device lost.
 * REX_EFORK         the parent of this process used the GPU before the fork; or another thread was
 *                   inside libomptarget at the fork; or the parent made the GPU's queue.
 */
static inline int rex_launch(const struct rex_launch_config *launch, const struct rex_map *map)
{
    return rex_module_launch_map(&rex_this_module, launch, map);
}

/**
 * REX_LAUNCH(kernel, teams, threads, rows...): launches REX_KERNEL(kernel) on the default device,
 * with @teams blocks of @threads threads, and waits as rex_launch() does. @rows are the arguments,
 * in order: 0 to 64 rows of rex/map.h. Each expression is evaluated once, as rex/map.h describes.
 * If REX_KERNEL() has the kernel's parameters, the compiler compares their number and types with
 * the rows. In this case each row must be a macro of rex/map.h or REX_ROW() (rex/arguments.h). The
 * results are those of rex_launch().
 */
#define REX_LAUNCH(kernel, teams, ...) \
    REX_LAUNCH_GRID(REX_JOIN(kernel, __), teams, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_FOR(kernel, iterations, rows...): REX_LAUNCH() on a grid that librex chooses: enough
 * threads for @iterations of the kernel's REX_FOR, but not more than REX_LAUNCH_GRID_STRIDE allows.
 */
#define REX_LAUNCH_FOR(kernel, ...) \
    REX_LAUNCH_LOOP(REX_JOIN(kernel, __), ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_LAUNCH_WITH(kernel, config, rows...): REX_LAUNCH() with the options of @config, a struct
 * rex_launch_config: for example the device, a queue, or a grid of three dimensions. The macro
 * copies @config and sets the key of the copy.
 *
 *     struct rex_launch_config config = rex_launch_config_of(NULL, 16, 16);
 *     config.teams[1] = config.threads[1] = 16;
 *     error = REX_LAUNCH_WITH(transpose, config, REX_TO(a, n), REX_FROM(b, n));
 */
#define REX_LAUNCH_WITH(kernel, ...) \
    REX_LAUNCH_CONFIG(REX_JOIN(kernel, __), ",," #__VA_ARGS__, __VA_ARGS__, )

#ifndef REX_BUILDING_LIBRARY

/**
 * rex_resident_blocks(): returns the number of blocks of @launch's kernel that all multiprocessors
 * of the GPU together can have resident at once. The blocks have the threads, the dynamic shared
 * memory and the clusters of @launch; the teams and the queue of @launch do not matter. The result
 * is the maximum for the grid of a cooperative launch. If the kernel declares clusters, the result
 * may be too large unless `cluster` of @launch is their size. The function assumes that the GPU has
 * no other work. Any thread may call the function.
 *
 *     int64_t blocks = rex_resident_blocks(&launch);
 *     if (blocks > 0)
 *         launch.teams[0] = (uint32_t)blocks;
 *
 * Returns the number, or 0 if not even one block or cluster fits. An error is negative: an error of
 * rex_module_register(); REX_ENODEVICE (the device is not an NVIDIA GPU; not logged, unless it is
 * the host and REX_REQUIRE_GPU is on); REX_EINVAL (@launch is NULL, the block is too large for the
 * GPU or the kernel, or the process is ending); REX_ENOKERNEL (the image lacks the kernel, or does
 * not describe its parameters); REX_ECUDA (the reasons of rex_launch(), or a cluster of more than 8
 * blocks); or, as for rex_launch(), REX_EKEY, REX_EDEVICE, REX_EHOST, REX_EUNSUPPORTED, REX_ENOMEM
 * or REX_EFORK.
 */
static inline int64_t rex_resident_blocks(const struct rex_launch_config *launch)
{
    return rex_module_resident_blocks(&rex_this_module, launch);
}

#endif

/*
 * ---- The launch macros from inside ------------------------------------------------------------
 *
 * These names are for the launch macros only. REX_LAUNCH(axpy, 8, 128, REX_VALUE(n)) expands in
 * these steps:
 *
 *     REX_LAUNCH_GRID(axpy__, 8, ",,128, REX_VALUE(n)", 128, REX_VALUE(n), )
 *     REX_LAUNCH_ROWS(axpy__, rex_launch_config_of(NULL, 8, 128),
 *                     ",,128, REX_VALUE(n)", REX_VALUE(n), )
 *     ((void)sizeof(axpy__arguments__(0, n)),
 *      rex_launch_rows(&axpy__id__, rex_launch_config_of(NULL, 8, 128),
 *                      ",,128, REX_VALUE(n)", ARRAY, 1))
 *
 * The call of axpy__arguments__() stands in a sizeof and never runs. In this call the compiler
 * compares the type of n with the parameter of the kernel. ARRAY has the row and an empty row after
 * it.
 *
 * @stem is the kernel's name and two underscores. @text is the source text of the rows, for
 * messages: two commas, one argument that is not a row, and the rows. The argument list ends in a
 * comma, because a launch may have no rows, and `...` must not be empty in C.
 */

/**
 * REX_LAUNCH_GRID(stem, teams, text, threads, rows..., ): REX_LAUNCH_ROWS() with a config of @teams
 * blocks of @threads threads.
 */
#define REX_LAUNCH_GRID(stem, teams, text, threads, ...)                                          \
    REX_LAUNCH_ROWS(stem, rex_launch_config_of(NULL, (int64_t)(teams), (int64_t)(threads)), text, \
                    __VA_ARGS__)
/**
 * REX_LAUNCH_LOOP(stem, text, iterations, rows..., ): REX_LAUNCH_ROWS() with a config for a loop of
 * @iterations iterations.
 */
#define REX_LAUNCH_LOOP(stem, text, iterations, ...) \
    REX_LAUNCH_ROWS(stem, rex_launch_config_for(NULL, (int64_t)(iterations)), text, __VA_ARGS__)
/**
 * REX_LAUNCH_CONFIG(stem, text, config, rows..., ): REX_LAUNCH_ROWS() with @text and @config in the
 * other order.
 */
#define REX_LAUNCH_CONFIG(stem, text, config, ...) REX_LAUNCH_ROWS(stem, config, text, __VA_ARGS__)
/**
 * REX_LAUNCH_ROWS(stem, config, text, rows..., ): compares, in a sizeof, the rows with the kernel's
 * parameters. Calls rex_launch_rows() for the key of @stem.
 */
#define REX_LAUNCH_ROWS(stem, config, text, ...)                                               \
    ((void)sizeof(stem##arguments__(0 REX_WALK(REX_ROW_ARGUMENT, , (), (), , , __VA_ARGS__))), \
     rex_launch_rows(REX_KERNEL_STEM_ID(stem), config, text, REX_ROWS(__VA_ARGS__)))

/**
 * rex_launch_rows(): calls rex_launch() for @key with a map of the first @count rows. @text is the
 * source text of the rows.
 */
static inline int rex_launch_rows(const void *key, struct rex_launch_config launch,
                                  const char *text, const struct rex_row *rows, size_t count)
{
    struct rex_columns columns;
    launch.key = key;
    return rex_launch(&launch, rex_columns_fill(&columns, text, rows, count));
}
#ifdef __cplusplus
extern "C++" {
/** rex_launch_rows(): calls rex_launch() for @key with a map of the rows in @list. */
inline int rex_launch_rows(const void *key, const struct rex_launch_config &launch,
                           const char *text, const struct rex_row_list &list)
{
    return rex_launch_rows(key, launch, text, list.rows, list.count);
}
}
#endif

/*
 * ---- The CPU or a GPU -------------------------------------------------------------------------
 */

/**
 * rex_on_host(): returns true if this binary's registered image is a host image, whose kernels run
 * on the CPU. Returns false while the module is not registered, for example before
 * rex_offload_init() or the first launch. Any thread.
 */
static inline bool rex_on_host(void)
{
    return rex_module_on_host(&rex_this_module);
}

/*
 * ---- Data regions: memory that stays on the device --------------------------------------------
 *
 * A mapping lasts from rex_data_enter() to rex_data_exit(), or for the block of REX_DATA_REGION().
 * If calls or regions nest, it lasts to the last end, or to a REX_DELETE(). Launches in between use
 * the mapped memory, and copy it only for rows of REX_ALWAYS(); rex_data_update() copies. The
 * host's memory must stay allocated until the mapping ends.
 *
 * If offloading is disabled or the device is the host, data calls with valid rows register the
 * module, do nothing else and return 0. Launches then return REX_EHOST. With REX_REQUIRE_GPU=on
 * data calls and launches return REX_ENODEVICE instead. If a call fails with another error than
 * REX_ECUDA, it has mapped, ended and copied nothing. A call may wait for launches and data calls
 * of other threads on the same memory.
 *
 * The module of a program without entries (kernels or globals) is not registered. The data calls of
 * such a program use the devices of registered modules. If no module is registered, librex
 * registers a module that it knows, or the module of a loaded shared object (rex_binary_module). If
 * librex finds no module with entries, and offloading is not disabled, the data calls return
 * REX_EENTRIES.
 *
 * Guide: rex-launches(7).
 */

/**
 * rex_data_enter(): target enter data: maps the rows of @map. Rows of REX_TO() and REX_TOFROM() are
 * copied if they were not mapped before the call.
 * @device  a device number; -1: the default device.
 * @map     the rows, made by REX_MAP() or rex_map_build(). They belong to the caller. Rows of
 *          REX_USE_DEVICE_PTR() and REX_RETURN() receive an address: rex_map_address().
 *
 * Returns 0, an error of rex_module_register(), or:
 *
 * REX_EINVAL        @map is NULL; its count or a column is invalid; or a row is invalid, and the
 *                   message has the number of the row: for example a negative size, memory at NULL,
 *                   a value, or a REX_DELETE(). Or the process is ending.
 * REX_EDEVICE       the device number is out of range.
 * REX_EABSENT       a row of REX_PRESENT() is not mapped, or mapped only in part.
 * REX_EOVERLAP      a row is mapped in part. Or a row overlaps an earlier row that this call maps,
 *                   and does not lie within the earlier row. REX_IMPLICIT() describes exceptions.
 *                   Or a row is a part of an earlier row that this call maps, and asks for a copy
 *                   that the earlier row does not make. librex does not find this last error if the
 *                   part is REX_ALWAYS(), or if one of the two rows is REX_STRUCT() or REX_MEMBER()
 *                   or has a mapper.
 * REX_ENOMEM        the host has too little memory to compare many rows, or to save the bases that
 *                   addresses replace; or a row is larger than 1 TiB. If the device has too little
 *                   memory for the rows, libomptarget aborts the process.
 * REX_ECUDA         a queue, a launch or another call has found the device lost.
 * REX_EFORK         the process was forked while another thread was inside libomptarget.
 */
static inline int rex_data_enter(int64_t device, const struct rex_map *map)
{
    return rex_module_data_enter(&rex_this_module, device, map);
}

/**
 * rex_data_exit(): target exit data: drops a reference to each row of @map, or all references if
 * the row is REX_DELETE(). If no reference is left, a row of REX_FROM() or REX_TOFROM() is copied
 * back, and the mapping ends. @map is equal to the map of rex_data_enter(), or has rows of
 * REX_FROM(), REX_RELEASE() or REX_DELETE(). A row that is not mapped, or is mapped only in part,
 * is ignored. There are two exceptions: a row of REX_PRESENT(), and a row of REX_IMPLICIT() that is
 * mapped in part. Bases that rex_data_enter() has replaced by addresses are restored.
 *
 * The results are those of rex_data_enter(), with these differences. A row of REX_DELETE() and a
 * row of more than 1 TiB are no errors. Among rows that are mapped in part, only those of
 * REX_PRESENT() and some rows of REX_IMPLICIT() are errors.
 *
 * REX_EOVERLAP      only for a row of REX_IMPLICIT() that asks for a copy back, and is mapped in
 *                   part.
 * REX_EBUSY         a queue (rex/queue.h) has unfinished work with the memory; the message names
 *                   the queue. No mapping has ended. With REX_UNFINISHED=wait (rex_configure()) the
 *                   call waits instead.
 */
static inline int rex_data_exit(int64_t device, const struct rex_map *map)
{
    return rex_module_data_exit(&rex_this_module, device, map);
}

/**
 * rex_data_update(): copies each row of REX_TO() to the device, and each row of REX_FROM() from the
 * device. The reference counts do not matter. An attached pointer in a row keeps its value on both
 * sides. If a row with elements is not mapped whole, no row is copied; a REX_STRUCT() may be mapped
 * in part.
 *
 * Returns 0, an error of rex_module_register(), or:
 *
 * REX_EINVAL        @map is NULL; its count or a column is invalid; or a row is invalid, and the
 *                   message has the number of the row: for example a negative size, memory at NULL,
 *                   a value, or a row without members that is neither REX_TO() nor REX_FROM(). Or
 *                   the process is ending.
 * REX_EDEVICE       the device number is out of range.
 * REX_EABSENT       a row that is copied, or a row of REX_PRESENT(), is not mapped, or mapped only
 *                   in part.
 * REX_ENOMEM        the host has too little memory to compare many rows.
 * REX_ECUDA         a queue, a launch or another call has found the device lost.
 * REX_EFORK         as for rex_data_enter().
 */
static inline int rex_data_update(int64_t device, const struct rex_map *map)
{
    return rex_module_data_update(&rex_this_module, device, map);
}

/**
 * REX_DATA_REGION(error, device, rows...) { ... }: target data: begins a region, runs the block and
 * ends the region. The region ends even if return, goto, break, continue or a C++ exception leaves
 * the block. break and continue leave only the region, not a loop around it. exit() and longjmp()
 * do not end the region.
 * @error   address of an int, or NULL. The beginning stores 0 or its error in the int; after an
 *          error the block does not run. The end stores its result in the int only if the end
 *          fails. Declare the int before the block.
 * @device  a device number; -1: the default device.
 * @rows    row macros of rex/map.h, at most 64. Their table lives as long as the block.
 *
 * The beginning has the errors of rex_data_enter(), the end those of rex_data_exit(). Only the
 * beginning checks rows of REX_PRESENT(), as in OpenMP. If the region has such rows, its end copies
 * the types of the rows, and returns REX_ENOMEM if there is no memory for the copy. After REX_EBUSY
 * no mapping has ended. If a return statement leaves the block, the returned value is computed
 * before the end. rex_last_error() describes an error of the beginning or the end until another
 * call fails.
 */
#define REX_DATA_REGION(error, ...)                                                               \
    REX_DATA_ROWS(REX_JOIN(rex_detail_scope_, __LINE__), REX_JOIN(rex_detail_columns_, __LINE__), \
                  REX_JOIN(rex_detail_once_, __LINE__), error, ",," #__VA_ARGS__, __VA_ARGS__, )

/**
 * REX_DATA_REGION_MAP(error, device, map) { ... }: REX_DATA_REGION() with the rows of @map. @map is
 * a variable of type struct rex_map, not its address. The program frees a map of rex_map_build()
 * after the block.
 */
#define REX_DATA_REGION_MAP(error, device, map) \
    REX_DATA_SCOPE(REX_JOIN(rex_detail_scope_, __LINE__), error, device, &(map))

#endif /* REX_BUILDING_LIBRARY */

/*
 * ---- Rectangles: a part of an array with several dimensions -----------------------------------
 *
 * A function for rex_map_build() may end with these lines. They add rows 1 to 8, columns 4 to 7 of
 * a matrix:
 *
 *     struct rex_dimension part[] = {{ROWS, 1, 8, 1}, {COLUMNS, 4, 4, 1}};
 *     return rex_map_add_strided(builder, matrix, sizeof(double), part, 2, REX_MAP_FROM);
 *
 * With this map, rex_data_update() copies only this part.
 */

/** struct rex_dimension: one dimension of a rectangular part of an array, in elements. */
struct rex_dimension {
    int64_t extent; /**< number of elements of the array in this dimension. */
    int64_t lower;  /**< index of the first element of the part. */
    int64_t length; /**< number of elements in the part. */
    int64_t stride; /**< distance between elements of the part; 1 for neighbours. */
};

/**
 * rex_map_add_strided(): adds the rows of a rectangular part of a mapped array, for
 * rex_data_update(): one row for each run of neighbouring elements. The function does not use
 * libomptarget's own form for rectangles, with which LLVM 14 to 22 copy too little of many parts.
 * @builder       the builder that rex_map_build() has passed to the row function.
 * @base          first element of the whole array.
 * @element_size  bytes of an element.
 * @dimensions    the dimensions, outermost first.
 * @count         number of dimensions, 1 to 8.
 * @type          REX_MAP_TO or REX_MAP_FROM.
 *
 * If a length is 0, the call adds no rows. Any thread.
 *
 * Returns 0, or REX_EINVAL: a pointer is NULL; @count or @element_size is out of range; an extent
 * or a stride is not positive, or a length is negative; the part is not within the array; a size
 * overflows; or the map would have more rows than the first pass counted, or more than 2147483647
 * rows.
 */
REX_API int rex_map_add_strided(struct rex_map_builder *builder, void *base, int64_t element_size,
                                const struct rex_dimension *dimensions, int count, int64_t type);

/** struct rex_array_part: a rectangular part of an array in the memory of a device. */
struct rex_array_part {
    void *base; /**< first element of the whole array; librex does not write to a source. */
    const struct rex_dimension *dimensions; /**< the dimensions, outermost first. */
    /** device of the array; -1: the default device; the number of devices means the host. */
    int64_t device;
};

/**
 * rex_device_copy_part(): copies a rectangular part of an array to a part of another array, and
 * returns when the copy is done. The arrays may have different extents and positions, and may be on
 * the host, on one device or on two. With a map, librex copies only between a host array and the
 * mapping of that array.
 * @to            the destination, with as many elements in each dimension as @from.
 * @from          the source. The two parts must not overlap.
 * @element_size  bytes of an element.
 * @count         number of dimensions of each array, 1 to 8.
 *
 * If a length is 0, the call copies nothing. Any thread.
 *
 * Returns 0 or:
 *
 * REX_EINVAL    a pointer is NULL; the lengths differ; a part is invalid for rex_map_add_strided();
 *               no module is registered; offloading is disabled; or the process is ending.
 * REX_EDEVICE   a device number is out of range.
 * REX_ENOMEM    the host has too little memory.
 * REX_ECUDA     a device is lost.
 * REX_ERUNTIME  libomptarget could not copy.
 * REX_EFORK     the process was forked while another thread was inside libomptarget.
 */
REX_API int rex_device_copy_part(const struct rex_array_part *to, const struct rex_array_part *from,
                                 int64_t element_size, int count);

#ifdef __cplusplus
}
#endif

#endif
