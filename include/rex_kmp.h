/*
 * rex_kmp.h - the contract between generated (or hand-written) host code and LLVM's libomptarget.
 *
 * Include it before the first offload entry and before the first use of a function `__tgt_X`, where
 * X is target, target_teams, target_kernel, target_data_begin, target_data_end or
 * target_data_update. It has no maps, devices or settings, which code that is written by hand gets
 * from rex.h. It needs no header of LLVM, and works as C11 and C++11 with gcc and clang. It gives:
 *
 * - the structs of libomptarget and the bits of map types (rex/abi.h);
 * - `__rex_real___tgt_X`: libomptarget's own entry points, which check nothing;
 * - the wrappers `rex_direct___tgt_X`, and `rex___tgt_X`, which calls them;
 * - the rewrite: code that calls `__tgt_X` gets the wrapper;
 * - this binary's module, rex_offload_init() and rex_offload_fini() (rex/binary.h), and
 *   register_cubin();
 * - rex_pack_literal_arg_bytes(): a scalar as the value of a row;
 * - declarations of the `__kmpc_*` functions of libomp that outlined host code calls (rex/kmpc.h).
 *
 * Macros that a file may define before the include. In all files of a binary the names of images
 * should be the same: of two definitions of the module the linker keeps one.
 *
 * REX_CUBIN_NAME       file name of the device image, otherwise "rex_lib_nvidia.cubin".
 * REX_HOST_IMAGE_NAME  file name of the host image, otherwise "rex_lib_host.so".
 * REX_PACKET_UNSIGNED  the packet's integers are unsigned: rex/abi.h.
 * REX_KMP_INTERNAL     for a helper, a file of the generator's own that replaces functions of this
 *                      header: no rewrite, `__tgt_X` is libomptarget's function. The header
 *                      declares rex_offload_init(), rex_offload_fini(), register_cubin(),
 *                      `__cubin_desc`, rex_target_kernel_ident and `rex___tgt_X`, and defines none
 *                      of them. Files of a binary need not agree.
 * REX_KMP_DEFINE       with REX_KMP_INTERNAL: the header defines them all the same. One file needs
 *                      it if all files of a binary have REX_KMP_INTERNAL and one uses a name that
 *                      none of them defines.
 *
 * In files without REX_KMP_INTERNAL these names are weak definitions, and a helper's definition
 * replaces them in the whole binary. If a helper's rex_offload_init() returns nothing, the other
 * files have no result to test.
 *
 * Other macros of the program do no harm, whatever their names: fields, parameters and types of
 * this header are safe from them, and keep their value after it (rex/names.h). They must not be
 * keywords or names of the C library, nor begin with rex_, REX_, kmp or an underscore.
 *
 * Older versions of REX emit a destructor, a constructor and a definition of `__cubin_desc`. The
 * compiler then reports a second definition of that, or too many arguments of register_cubin():
 * rex-codegen(7), "Older output of REX", says what to change.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guide: rex-codegen(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KMP_H
#define REX_KMP_H

#include "rex/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h> /* generated code calls malloc() and free() */
#include <string.h>

#include "rex/abi.h"
#include "rex/binary.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- libomptarget: its own entry points, which check nothing ----------------------------------
 *
 * The linker resolves them to libomptarget where the program links it, else to librex's forwarders,
 * which find libomptarget at run time and wait while another thread registers or ends a module.
 * They check nothing: libomptarget aborts the process on nearly every mistake, and 19 and later
 * crash when called before any registration. The rewrite of `__tgt_X` does not touch these names.
 * Signatures: LLVM 14 to 23, interface.cpp.
 */

/** __rex_real___tgt_register_lib: registers a descriptor. */
void __rex_real___tgt_register_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_register_lib");
/** __tgt_register_lib(): __rex_real___tgt_register_lib(). */
extern __typeof__(__rex_real___tgt_register_lib) __tgt_register_lib;
/** __rex_real___tgt_unregister_lib: takes it back. */
void __rex_real___tgt_unregister_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_unregister_lib");
/** __tgt_unregister_lib(): __rex_real___tgt_unregister_lib(). */
extern __typeof__(__rex_real___tgt_unregister_lib) __tgt_unregister_lib;
/**
 * __rex_real___tgt_target: launches one team of one thread; LLVM 18 and later abort on it. 0, or
 * -1: run the host version.
 */
int __rex_real___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                            void **args, int64_t *arg_sizes,
                            int64_t *arg_types) __asm__("__tgt_target");
/**
 * __rex_real___tgt_target_teams: launches @num_teams x @thread_limit. 0, or -1: run the host
 * version.
 */
int __rex_real___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                  void **args_base, void **args, int64_t *arg_sizes,
                                  int64_t *arg_types, int32_t num_teams,
                                  int32_t thread_limit) __asm__("__tgt_target_teams");
/**
 * __rex_real___tgt_target_kernel: launches with a packet (LLVM 15 on; on 14 librex translates).
 * Writes to the packet.
 */
int __rex_real___tgt_target_kernel(
    ident_t *loc, int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr,
    struct __tgt_kernel_arguments *args) __asm__("__tgt_target_kernel");
/** __rex_real___tgt_target_data_begin: maps @arg_num rows. */
void __rex_real___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base,
                                        void **args, int64_t *arg_sizes,
                                        int64_t *arg_types) __asm__("__tgt_target_data_begin");
/** __rex_real___tgt_target_data_end: unmaps them. */
void __rex_real___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base,
                                      void **args, int64_t *arg_sizes,
                                      int64_t *arg_types) __asm__("__tgt_target_data_end");
/** __rex_real___tgt_target_data_update: copies between host and device. */
void __rex_real___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base,
                                         void **args, int64_t *arg_sizes,
                                         int64_t *arg_types) __asm__("__tgt_target_data_update");

/*
 * ---- Launches and data calls of a module, for wrappers of a generator's own -------------------
 */

/**
 * rex_module_launch(): registers @module if it is not, checks a launch, fits a copy of its packet
 * to the bound release and the kernel's form, and passes that on. Any thread.
 * @module        the module that @host_key belongs to; not NULL.
 * @device        device number, -1 for the default device; the number of devices is the host.
 * @num_teams     blocks in x where the packet has 0 there.
 * @thread_limit  threads of a block in x, likewise.
 * @host_key      address of the kernel's key, the `addr` of its entry.
 * @args          the packet; it is not modified and may be used again.
 *
 * Returns 0; REX_EHOST (-1) only where the caller has to run its host version; or less than -1, an
 * error that rex_last_error() describes: an error of rex_launch(), an error of
 * rex_module_register(), or:
 *
 * REX_EHOST         the device is the host, or OMP_TARGET_OFFLOAD is disabled.
 * REX_EINVAL        @module or @args is NULL, or a column while there are rows; the number of rows
 *                   is negative; the release does not know a bit of the packet's Flags; a row has
 *                   the bit 0x40, or is a wrong member; the grid does not fit in 31 bits, or is
 *                   larger than a GPU's limits.
 * REX_EKEY          @host_key is in no entry of @module, or is that of a global.
 * REX_EPARAMS       the kernel has another number of parameters than the packet has rows for; or,
 *                   where libomptarget launches it, one that is wider than 8 bytes or, on LLVM 19
 *                   to 22, narrower.
 * REX_EDEVICE       @device is below -1 or above the number of devices.
 * REX_EUNSUPPORTED  the CUDA driver does not launch it, and libomptarget of the release cannot: a
 *                   plain kernel on LLVM 18, a grid with y or z, dynamic shared memory, or on LLVM
 *                   14 more than 65536 blocks; or the GPU has less shared memory.
 * REX_ENOMEM        there is no memory for the rows.
 *
 * libomptarget aborts the process on an error that it finds after that.
 */
REX_API int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                              int32_t thread_limit, void *host_key,
                              struct __tgt_kernel_arguments *args);

/**
 * rex_module_target_kernel(): rex_module_launch() for wrappers of `__tgt_target_kernel`, with its
 * parameters. If another known module has the key, that module is used. Any thread.
 *
 * Returns REX_EHOST (-1) also if @module cannot be registered: there is no runtime, no image or no
 * device, or the image is refused or cannot be read. The error is logged, and rex_last_error_code()
 * is the cause. The result is the cause itself with REX_REQUIRE_GPU, with
 * OMP_TARGET_OFFLOAD=mandatory, in a child of fork (REX_EFORK), at the end of the process, and if
 * @module is NULL or malformed. Otherwise returns what rex_module_launch() returns.
 */
REX_API int rex_module_target_kernel(struct rex_module *module, int64_t device, int32_t num_teams,
                                     int32_t thread_limit, void *host_key,
                                     struct __tgt_kernel_arguments *args);

/**
 * enum rex_data_call: the data calls of rex_module_target_data(). They map rows, end their mappings
 * and copy rows, as `__tgt_target_data_begin`, `__tgt_target_data_end` and
 * `__tgt_target_data_update`.
 */
enum rex_data_call { REX_DATA_BEGIN, REX_DATA_END, REX_DATA_UPDATE };

/**
 * rex_module_target_data(): registers @module if it is not, checks the arguments of a data call,
 * and makes the call. Any thread. It waits for the registration of another module, and the end of a
 * mapping waits for queues that use it. Rows that are equal in begin and size are copied together,
 * as all of them say; the columns stay as they are. In the log and in a trace the call is "data
 * begin", "data end" or "data update".
 * @module  the module; not NULL.
 * @call    REX_DATA_BEGIN, REX_DATA_END or REX_DATA_UPDATE.
 * @device  device number, -1 for the default.
 * @count   number of rows.
 * @base    the column of base addresses; NULL if there is no row, as the others. The columns belong
 *          to the caller. A begin writes device addresses to bases of rows with the bit 0x40.
 * @begin   the column of begin addresses.
 * @sizes   the column of sizes, in bytes.
 * @types   the column of map types.
 *
 * Returns 0, or on an error, without any effect:
 *
 * REX_EHOST    there is nothing to do, because @module has no kernels and offloading is disabled.
 * REX_EINVAL   @module or a column is NULL, @call is no data call, a count or size is negative, or
 *              a member does not lie in its parent.
 * REX_EDEVICE  @device is below -1 or above the number of devices.
 * REX_EOVERLAP a part of a row that the call maps asks for a copy which the row does not make.
 * REX_ENOMEM   no memory to compare the rows.
 * REX_ECUDA    the device is lost.
 *
 * Or an error of rex_module_register(). libomptarget aborts the process on an error that it finds
 * itself.
 */
REX_API int rex_module_target_data(struct rex_module *module, enum rex_data_call call,
                                   int64_t device, int32_t count, void **base, void **begin,
                                   int64_t *sizes, int64_t *types);

#ifndef REX_BUILDING_LIBRARY /* librex itself is no module */

/*
 * ---- Wrappers: launches and data calls that check first ---------------------------------------
 *
 * Code that calls `__tgt_X` gets `rex_direct___tgt_X`. It registers this binary's module where that
 * has not happened, whichever and however many threads arrive at once. It checks the call. A data
 * call then goes to libomptarget. A launch goes to the CUDA driver, or as a copy of the packet that
 * fits the bound release to libomptarget: rex-launches(7). All may be called from any thread.
 *
 * Launches return as rex_module_target_kernel(): 0; -1 for "run the host version", also if the
 * module cannot be registered; or less than -1, an error. Data calls return nothing, and have no
 * effect on an error, which is rex_last_error_code() then: as of rex_module_target_data().
 * rex_last_error() describes it. The columns belong to the caller.
 */

/**
 * rex_packet(): a packet of a map and a grid, by the names of its fields. Any thread.
 * @count        number of rows.
 * @base         column of base addresses; REX_MAP_ARGUMENTS() of rex/map.h gives count and columns.
 * @begin        column of begin addresses.
 * @sizes        column of sizes, in bytes.
 * @types        column of map types.
 * @num_teams    blocks in x, 0 if the argument of the launch counts.
 * @thread_limit threads of a block in x, likewise.
 *
 * Returns the packet; the columns are the caller's. Names, mappers, trip count, flags and dynamic
 * memory are 0, and y and z of the grid 1: set the fields that the launch needs.
 */
static inline struct __tgt_kernel_arguments rex_packet(int32_t count, void **base, void **begin,
                                                       int64_t *sizes, int64_t *types,
                                                       int32_t num_teams, int32_t thread_limit)
{
    struct __tgt_kernel_arguments packet;
    memset(&packet, 0, sizeof packet);
    packet.Version = 3;
    packet.NumArgs = (REX_PACKET_INT(32))count;
    packet.ArgsBase = base;
    packet.Args = begin;
    packet.ArgSizes = sizes;
    packet.ArgTypes = types;
    packet.Teams[0] = (REX_PACKET_INT(32))num_teams;
    packet.Threads[0] = (REX_PACKET_INT(32))thread_limit;
    packet.Teams[1] = packet.Teams[2] = packet.Threads[1] = packet.Threads[2] = 1;
    return packet;
}

/**
 * rex_direct___tgt_target_kernel(): rex_module_target_kernel() for this binary's module: maps the
 * rows of the packet @args on @device_id, launches the kernel of the key @host_ptr, waits for it
 * (but for nowait) and unmaps the rows. The packet is not modified.
 */
static inline int rex_direct___tgt_target_kernel(int64_t device_id, int32_t num_teams,
                                                 int32_t thread_limit, void *host_ptr,
                                                 struct __tgt_kernel_arguments *args)
{
    return rex_module_target_kernel(&rex_this_module, device_id, num_teams, thread_limit, host_ptr,
                                    args);
}

/**
 * rex_direct___tgt_target_teams(): the older launch: @arg_num rows in four columns, @num_teams
 * blocks of @thread_limit threads. Goes out as a packet, so that every release gives the kernel the
 * same parameters. Returns as rex_module_target_kernel().
 */
static inline int rex_direct___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                                void **args_base, void **args, int64_t *arg_sizes,
                                                int64_t *arg_types, int32_t num_teams,
                                                int32_t thread_limit)
{
    struct __tgt_kernel_arguments packet =
        rex_packet(arg_num, args_base, args, arg_sizes, arg_types, num_teams > 0 ? num_teams : 0,
                   thread_limit > 0 ? thread_limit : 0);
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, &packet);
}

/**
 * rex_direct___tgt_target(): the oldest launch: one block of one thread. Goes out as a packet,
 * because libomptarget's own `__tgt_target` asks for 2^32 - 1 threads on LLVM 18 and later and
 * aborts. Returns as rex_module_target_kernel().
 */
static inline int rex_direct___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num,
                                          void **args_base, void **args, int64_t *arg_sizes,
                                          int64_t *arg_types)
{
    return rex_direct___tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                         arg_types, 1, 1);
}

/**
 * rex_direct___tgt_target_data_begin(): maps @arg_num rows on @device_id (-1: default). The four
 * columns are base addresses, begin addresses, sizes in bytes and map types; they may be NULL if
 * there is no row.
 */
static inline void rex_direct___tgt_target_data_begin(int64_t device_id, int32_t arg_num,
                                                      void **args_base, void **args,
                                                      int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_BEGIN, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/** rex_direct___tgt_target_data_end(): unmaps @arg_num rows on @device_id (-1: default). */
static inline void rex_direct___tgt_target_data_end(int64_t device_id, int32_t arg_num,
                                                    void **args_base, void **args,
                                                    int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_END, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/**
 * rex_direct___tgt_target_data_update(): copies @arg_num rows, which are mapped, to the device
 * @device_id (map type bit 0x1) or from it (0x2).
 */
static inline void rex_direct___tgt_target_data_update(int64_t device_id, int32_t arg_num,
                                                       void **args_base, void **args,
                                                       int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_UPDATE, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/*
 * ---- Wrappers by their other names ------------------------------------------------------------
 *
 * `rex___tgt_X` calls `rex_direct___tgt_X`. A helper of a generator's own may define it for all
 * files of the binary. librex exports functions of these names for a binary that defines none. They
 * do the same. The exported launches find the module by the host key, which rex_module_add() or
 * rex_module_register() must have made known, else they return REX_EKEY. The exported data calls,
 * which have no key, register every known module.
 */

/** rex___tgt_target_kernel(): rex_direct___tgt_target_kernel(). */
int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit,
                            void *host_ptr, struct __tgt_kernel_arguments *args);
/** rex___tgt_target_teams(): rex_direct___tgt_target_teams(). */
int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                           void **args, int64_t *arg_sizes, int64_t *arg_types, int32_t num_teams,
                           int32_t thread_limit);
/** rex___tgt_target(): rex_direct___tgt_target(). */
int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                     void **args, int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_begin(): rex_direct___tgt_target_data_begin(). */
void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                 int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_end(): rex_direct___tgt_target_data_end(). */
void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                               int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_update(): rex_direct___tgt_target_data_update(). */
void rex___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                  int64_t *arg_sizes, int64_t *arg_types);

#ifndef REX_IS_HELPER
REX_PER_BINARY int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams,
                                           int32_t thread_limit, void *host_ptr,
                                           struct __tgt_kernel_arguments *args)
{
    return rex_direct___tgt_target_kernel(device_id, num_teams, thread_limit, host_ptr, args);
}

REX_PER_BINARY int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                          void **args_base, void **args, int64_t *arg_sizes,
                                          int64_t *arg_types, int32_t num_teams,
                                          int32_t thread_limit)
{
    return rex_direct___tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                         arg_types, num_teams, thread_limit);
}

REX_PER_BINARY int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num,
                                    void **args_base, void **args, int64_t *arg_sizes,
                                    int64_t *arg_types)
{
    return rex_direct___tgt_target(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                   arg_types);
}

REX_PER_BINARY void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num,
                                                void **args_base, void **args, int64_t *arg_sizes,
                                                int64_t *arg_types)
{
    rex_direct___tgt_target_data_begin(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

REX_PER_BINARY void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base,
                                              void **args, int64_t *arg_sizes, int64_t *arg_types)
{
    rex_direct___tgt_target_data_end(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}

REX_PER_BINARY void rex___tgt_target_data_update(int64_t device_id, int32_t arg_num,
                                                 void **args_base, void **args, int64_t *arg_sizes,
                                                 int64_t *arg_types)
{
    rex_direct___tgt_target_data_update(device_id, arg_num, args_base, args, arg_sizes, arg_types);
}
#endif

/*
 * ---- The rewrite: code that calls __tgt_X gets the wrapper ------------------------------------
 *
 * A file with REX_KMP_INTERNAL gets libomptarget's functions.
 */

#ifdef REX_KMP_INTERNAL
/** __tgt_target(): __rex_real___tgt_target(). */
extern __typeof__(__rex_real___tgt_target) __tgt_target;
/** __tgt_target_teams(): __rex_real___tgt_target_teams(). */
extern __typeof__(__rex_real___tgt_target_teams) __tgt_target_teams;
/** __tgt_target_kernel(): __rex_real___tgt_target_kernel(). */
extern __typeof__(__rex_real___tgt_target_kernel) __tgt_target_kernel;
/** __tgt_target_data_begin(): __rex_real___tgt_target_data_begin(). */
extern __typeof__(__rex_real___tgt_target_data_begin) __tgt_target_data_begin;
/** __tgt_target_data_end(): __rex_real___tgt_target_data_end(). */
extern __typeof__(__rex_real___tgt_target_data_end) __tgt_target_data_end;
/** __tgt_target_data_update(): __rex_real___tgt_target_data_update(). */
extern __typeof__(__rex_real___tgt_target_data_update) __tgt_target_data_update;
#else
/** __tgt_target: code that calls it gets the wrapper. */
#define __tgt_target rex_direct___tgt_target
/** __tgt_target_teams: code that calls it gets the wrapper. */
#define __tgt_target_teams rex_direct___tgt_target_teams
/** __tgt_target_kernel: code that calls it, with five arguments, gets the wrapper. */
#define __tgt_target_kernel rex_direct___tgt_target_kernel
/** __tgt_target_data_begin: code that calls it gets the wrapper. */
#define __tgt_target_data_begin rex_direct___tgt_target_data_begin
/** __tgt_target_data_end: code that calls it gets the wrapper. */
#define __tgt_target_data_end rex_direct___tgt_target_data_end
/** __tgt_target_data_update: code that calls it gets the wrapper. */
#define __tgt_target_data_update rex_direct___tgt_target_data_update
#endif

/*
 * ---- Registration by the name of a file -------------------------------------------------------
 */

/**
 * register_cubin(): rex_module_register() of this binary's module with an image file. It does not
 * load the image, as rex_offload_init() does. Any thread.
 * @name  the file, which is looked for as rex_module_register() does. NULL, or REX_CUBIN_NAME
 *        however it is spelt: the image that rex_offload_init() registers. It is not kept. While
 *        the module is registered, the name makes no difference.
 *
 * One function for each linked binary: a file of it that includes nothing may declare and call it.
 * Returns the descriptor, which belongs to librex and is also in `__cubin_desc`, or NULL on an
 * error of rex_module_register().
 */
REX_HIDDEN struct __tgt_bin_desc *register_cubin(const char *name);

#ifndef REX_IS_HELPER
REX_PER_BINARY struct __tgt_bin_desc *register_cubin(const char *name) /* older: rex_kmp(3) */
{
    return rex_module_register(&rex_this_module, name) == 0 ? __cubin_desc : NULL;
}
#endif

#endif /* REX_BUILDING_LIBRARY */

/*
 * ---- Literals: a scalar as the 8 bytes of a row -----------------------------------------------
 *
 * A literal is a row whose value travels in the columns of bases and begins themselves, with the
 * map type 0x120.
 */

/**
 * rex_literal_error(): sets why rex_pack_literal_arg_bytes() cannot pack @size bytes at @src:
 * REX_EINVAL. Programs need not call it. Any thread. Returns NULL.
 */
REX_API void *rex_literal_error(const void *src, size_t size);

/**
 * rex_pack_literal_arg_bytes(): the bytes of a scalar as the value that a literal row carries in
 * base and begin; unused bytes are 0. Any thread.
 * @src   the scalar, which is read during the call only; NULL if @size is 0.
 * @size  its size in bytes, at most 8.
 *
 * Returns the value. For a scalar of zeros that is NULL, so NULL alone is no failure. A larger
 * @size, or @src that is NULL with a @size above 0, returns NULL and sets rex_last_error_code() to
 * REX_EINVAL, which stays until the next failing call on the thread.
 */
static inline void *rex_pack_literal_arg_bytes(const void *src, size_t size)
{
    void *value = NULL;
    if (size > sizeof value || (src == NULL && size > 0))
        return rex_literal_error(src, size);
    if (size > 0)
        memcpy(&value, src, size);
    return value;
}

#ifdef __cplusplus
}
#endif

#include "rex/kmpc.h"

/* REX_NAMES_RESTORE: rex/names.h gives the program's macros back. */
#define REX_NAMES_RESTORE
#include "rex/names.h"

#endif
