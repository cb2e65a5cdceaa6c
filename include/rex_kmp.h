/*
 * rex_kmp.h - the contract between generated (or hand-written) host code and LLVM's libomptarget.
 *
 * Include it before the first offload entry and before the first use of a function `__tgt_X`; X is
 * target, target_teams, target_kernel, target_data_begin, target_data_end or target_data_update.
 * Code that is written by hand includes rex.h for maps, devices and settings. rex_kmp.h needs no
 * header of LLVM, and works as C11 and C++11 with gcc and clang. It has:
 *
 * - the structs of libomptarget and the bits of map types (rex/abi.h);
 * - `__rex_real___tgt_X`: libomptarget's own entry points, which check nothing;
 * - the wrappers `rex_direct___tgt_X`, and the functions `rex___tgt_X`, which call the wrappers;
 * - the rewrite: code that calls `__tgt_X` calls the wrapper;
 * - this binary's module, rex_offload_init() and rex_offload_fini() (rex/binary.h), and
 *   register_cubin();
 * - rex_pack_literal_arg_bytes(): a scalar as the value of a row;
 * - declarations of the `__kmpc_*` functions of libomp that outlined host code calls (rex/kmpc.h).
 *
 * A file may define these macros before the include. The names of images should be equal in all
 * files of a binary: the linker keeps only one definition of the module.
 *
 * REX_CUBIN_NAME       file name of the device image; default "rex_lib_nvidia.cubin".
 * REX_HOST_IMAGE_NAME  file name of the host image; default "rex_lib_host.so".
 * REX_PACKET_UNSIGNED  the packet's integers are unsigned: rex/abi.h.
 * REX_KMP_INTERNAL     for a helper: a generator's own file that replaces functions of this header.
 *                      In such a file calls of `__tgt_X` are not rewritten: they call
 *                      libomptarget's function or librex's forwarder. The header declares, but does
 *                      not define, rex_offload_init(), rex_offload_fini(), register_cubin(),
 *                      `__cubin_desc`, rex_target_kernel_ident and `rex___tgt_X`. Some files of a
 *                      binary may define the macro, and others not.
 * REX_KMP_DEFINE       with REX_KMP_INTERNAL: the header also defines these names. If all files of
 *                      a binary have REX_KMP_INTERNAL, and no file defines a name that is used, one
 *                      file needs this macro. `rex___tgt_X` does not need it: librex exports it.
 *
 * In files without REX_KMP_INTERNAL these names have weak definitions, and a helper's definition
 * replaces them in the whole binary. If a helper's rex_offload_init() returns nothing, other files
 * must not use its result.
 *
 * The program may have other macros, also of the names of this header's fields, parameters and
 * types; the macros are unchanged after the include (rex/names.h). Their names must not be keywords
 * or names of the C library, nor begin with rex_, REX_, kmp or an underscore.
 *
 * Older versions of REX emit a destructor, a constructor and a definition of `__cubin_desc`. The
 * compiler then reports a second definition of `__cubin_desc`, or too many arguments of
 * register_cubin(). The cure is in rex-compiler(7), "Older output".
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
 * ---- libomptarget's own entry points, without checks ------------------------------------------
 *
 * If the program links libomptarget before librex.so, these names are libomptarget's functions,
 * otherwise librex's forwarders. A forwarder finds libomptarget at run time. If no OMPT tool is in
 * use, the forwarder of a launch or data call also waits while another thread registers or ends a
 * module. Neither libomptarget's functions nor the forwarders check the rows: libomptarget aborts
 * the process on nearly every error. LLVM 19 and later crash if libomptarget is called before the
 * first registration. The rewrite of `__tgt_X` does not change these names. The signatures are
 * those of interface.cpp of LLVM 14 to 24, and of LegacyAPI.cpp of LLVM 15 to 24.
 */

/** __rex_real___tgt_register_lib: registers a descriptor. */
void __rex_real___tgt_register_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_register_lib");
/** __tgt_register_lib(): another name of __rex_real___tgt_register_lib(). */
extern __typeof__(__rex_real___tgt_register_lib) __tgt_register_lib;
/** __rex_real___tgt_unregister_lib: unregisters a descriptor. */
void __rex_real___tgt_unregister_lib(struct __tgt_bin_desc *desc) __asm__("__tgt_unregister_lib");
/** __tgt_unregister_lib(): another name of __rex_real___tgt_unregister_lib(). */
extern __typeof__(__rex_real___tgt_unregister_lib) __tgt_unregister_lib;
/**
 * __rex_real___tgt_target: launches one team. On a GPU the team has one thread on LLVM 14 and 15.
 * Later releases start more threads, or abort. Returns 0, or -1 if the caller has to run the host
 * version.
 */
int __rex_real___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                            void **args, int64_t *arg_sizes,
                            int64_t *arg_types) __asm__("__tgt_target");
/**
 * __rex_real___tgt_target_teams: launches @num_teams teams of @thread_limit threads. Returns 0, or
 * -1 if the caller has to run the host version.
 */
int __rex_real___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num,
                                  void **args_base, void **args, int64_t *arg_sizes,
                                  int64_t *arg_types, int32_t num_teams,
                                  int32_t thread_limit) __asm__("__tgt_target_teams");
/**
 * __rex_real___tgt_target_kernel: launches with a packet. LLVM 14 lacks this function: on LLVM 14 a
 * forwarder calls an older function. libomptarget may write to the packet.
 */
int __rex_real___tgt_target_kernel(
    ident_t *loc, int64_t device_id, int32_t num_teams, int32_t thread_limit, void *host_ptr,
    struct __tgt_kernel_arguments *args) __asm__("__tgt_target_kernel");
/** __rex_real___tgt_target_data_begin: maps @arg_num rows. */
void __rex_real___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base,
                                        void **args, int64_t *arg_sizes,
                                        int64_t *arg_types) __asm__("__tgt_target_data_begin");
/** __rex_real___tgt_target_data_end: unmaps @arg_num rows. */
void __rex_real___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base,
                                      void **args, int64_t *arg_sizes,
                                      int64_t *arg_types) __asm__("__tgt_target_data_end");
/** __rex_real___tgt_target_data_update: copies @arg_num rows between host and device. */
void __rex_real___tgt_target_data_update(int64_t device_id, int32_t arg_num, void **args_base,
                                         void **args, int64_t *arg_sizes,
                                         int64_t *arg_types) __asm__("__tgt_target_data_update");

/*
 * ---- Launches and data calls of a module, for wrappers of a generator's own -------------------
 */

/**
 * rex_module_launch(): registers @module if it is not registered, checks a launch, and makes the
 * launch. If libomptarget makes the launch, librex passes a copy of the packet, which fits the
 * bound LLVM release and the kernel. Any thread.
 * @module        the module that @host_key belongs to; not NULL.
 * @device        device number; -1: the default device; the number of devices: the host.
 * @num_teams     blocks in x, if the packet has 0 there.
 * @thread_limit  threads of a block in x, if the packet has 0 there.
 * @host_key      address of the kernel's key, the `addr` of its entry.
 * @args          the packet, which is not modified and may be used again.
 *
 * Returns 0; REX_EHOST (-1) only if the caller has to run its host version; or a number below -1,
 * which is an error. rex_last_error() describes the error. Errors are those of rex_launch(), those
 * of rex_module_register(), and:
 *
 * REX_EHOST         the device is the host, OMP_TARGET_OFFLOAD is disabled, or libomptarget
 *                   launched nothing.
 * REX_EINVAL        @module or @args is NULL; a column is NULL, and there are rows; the number of
 *                   rows is negative; the packet's Flags have a bit that librex refuses
 *                   (rex/abi.h); a row has the bit 0x40, or is an invalid member; the grid does not
 *                   fit in 31 bits, or on a GPU exceeds a limit of the GPU or of the kernel.
 * REX_EKEY          no entry of @module has @host_key, or @host_key is the key of a global.
 * REX_EPARAMS       the number of the kernel's parameters is not the number of the packet's
 *                   parameter rows, or a row does not fit its parameter. Or libomptarget launches
 *                   on a GPU, and a parameter has more than 8 bytes, or on LLVM 19 to 22 fewer than
 *                   8 bytes.
 * REX_EDEVICE       @device is below -1. Or @device is above the number of devices, and offloading
 *                   is not disabled.
 * REX_EUNSUPPORTED  the CUDA driver does not make this launch, and the bound libomptarget cannot.
 *                   Examples are a plain kernel (rex-launches(7)) on LLVM 18, more than 65536
 *                   blocks on LLVM 14, and on some releases y, z or dynamic shared memory. Or the
 *                   GPU has too little shared memory.
 * REX_ENOMEM        there is no memory for the rows.
 *
 * If libomptarget launches, librex checks the bit 0x40 and the parents of members only in some
 * launches: in the kernel's first launch, and if the last checked launch of the kernel had another
 * number of rows. If the image has no signature of the kernel (rex/kernel.h), librex compares
 * neither types nor widths. For an image for GPUs, librex then checks the number of parameter rows
 * only in the same launches. For a host image, librex does not check this number at all. If
 * libomptarget finds a further error after these checks, it may abort the process.
 */
REX_API int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                              int32_t thread_limit, void *host_key,
                              struct __tgt_kernel_arguments *args);

/**
 * rex_module_target_kernel(): rex_module_launch() for wrappers of `__tgt_target_kernel`, with the
 * parameters of rex_module_launch(). If another known module has the key, the call uses the other
 * module. Any thread.
 *
 * Also returns REX_EHOST (-1) if @module cannot be registered: for example, there is no runtime, no
 * image or no device, the image is refused, or the table of entries is empty. The error is logged,
 * and rex_last_error_code() is the cause. In three cases the result is the cause instead of -1:
 *
 * - REX_REQUIRE_GPU is on, or OMP_TARGET_OFFLOAD is mandatory;
 * - the cause is REX_EFORK, or the process is ending;
 * - @module is NULL, or its `struct_size` is too small.
 *
 * Otherwise returns what rex_module_launch() returns.
 */
REX_API int rex_module_target_kernel(struct rex_module *module, int64_t device, int32_t num_teams,
                                     int32_t thread_limit, void *host_key,
                                     struct __tgt_kernel_arguments *args);

/**
 * enum rex_data_call: the calls of rex_module_target_data(): map rows, end mappings and copy rows,
 * as `__tgt_target_data_begin`, `__tgt_target_data_end` and `__tgt_target_data_update` do.
 */
enum rex_data_call { REX_DATA_BEGIN, REX_DATA_END, REX_DATA_UPDATE };

/**
 * rex_module_target_data(): registers @module if it is not registered, checks the arguments of a
 * data call, and makes the call. Any thread. The call waits while another thread registers or ends
 * a module. REX_DATA_END also waits for queues that use the mappings that it may end.
 * REX_DATA_BEGIN and REX_DATA_END unite the directions of rows with equal begin and size, except
 * parents, members and attached pointers. Traces name the call "data begin", "data end" or "data
 * update".
 * @module  the module; not NULL.
 * @call    REX_DATA_BEGIN, REX_DATA_END or REX_DATA_UPDATE.
 * @device  device number; -1: the default device.
 * @count   number of rows.
 * @base    the column of base addresses. Each column belongs to the caller, and may be NULL if
 *          there is no row. If a row's map type has the bit 0x40, REX_DATA_BEGIN may write an
 *          address to the base of the row; nothing else in the columns changes.
 * @begin   the column of begin addresses.
 * @sizes   the column of sizes, in bytes.
 * @types   the column of map types.
 *
 * Returns 0, or one of these errors, without any effect:
 *
 * REX_EHOST    @module has no entries, offloading is disabled, and REX_REQUIRE_GPU is off. The last
 *              error does not change.
 * REX_EINVAL   @module or a column is NULL, @call is unknown, a count or size is negative, or a row
 *              is an invalid member.
 * REX_EDEVICE  @device is below -1. Or @device is above the number of devices, and offloading is
 *              not disabled.
 * REX_EOVERLAP REX_DATA_BEGIN: a row lies within an earlier row that the call maps, and asks for a
 *              copy that the earlier row does not make.
 * REX_ENOMEM   the host has too little memory to compare the rows, or a row of REX_DATA_BEGIN is
 *              larger than 1 TiB.
 * REX_ECUDA    the device is lost.
 *
 * Or returns an error of rex_module_register(). If libomptarget finds a further error, it may abort
 * the process.
 */
REX_API int rex_module_target_data(struct rex_module *module, enum rex_data_call call,
                                   int64_t device, int32_t count, void **base, void **begin,
                                   int64_t *sizes, int64_t *types);

#ifndef REX_BUILDING_LIBRARY /* librex itself is not a module */

/*
 * ---- Wrappers: launches and data calls with checks --------------------------------------------
 *
 * Code that calls `__tgt_X` calls the wrapper `rex_direct___tgt_X`. If this binary's module is not
 * registered, the wrapper registers the module. Only one thread does so, even if many threads call
 * wrappers at once. The wrapper checks the call. It passes a data call to libomptarget. It passes a
 * launch to the CUDA driver or to libomptarget (rex-launches(7)). libomptarget gets a copy of the
 * packet, which fits the bound LLVM release. Any thread may call the wrappers.
 *
 * Launches return the result of rex_module_target_kernel(): 0; -1 if the caller has to run the host
 * version, also if the module cannot be registered; or an error, which is below -1. Data calls
 * return nothing. If rex_module_target_data() fails, the data call has no effect. Unless its result
 * is REX_EHOST, rex_last_error_code() is the error, and rex_last_error() describes it. The columns
 * belong to the caller.
 */

/**
 * rex_packet(): returns a packet for a map and a grid. Any thread.
 * @count        number of rows.
 * @base         column of base addresses; REX_MAP_ARGUMENTS() of rex/map.h gives count and columns.
 * @begin        column of begin addresses.
 * @sizes        column of sizes, in bytes.
 * @types        column of map types.
 * @num_teams    blocks in x; 0: the launch's argument num_teams is used.
 * @thread_limit threads of a block in x; 0: the launch's argument thread_limit is used.
 *
 * The columns belong to the caller. The fields for names, mappers, trip count, flags and dynamic
 * memory are set to 0, and y and z of the grid to 1. Set the fields that the launch needs.
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
 * rex_direct___tgt_target_kernel(): calls rex_module_target_kernel() for this binary's module. The
 * call maps the rows of the packet @args on @device_id, launches the kernel of the key @host_ptr,
 * and unmaps the rows. The call waits for the kernel, unless the packet has nowait or
 * REX_LAUNCH_BLOCKING is off. The packet is not modified.
 */
static inline int rex_direct___tgt_target_kernel(int64_t device_id, int32_t num_teams,
                                                 int32_t thread_limit, void *host_ptr,
                                                 struct __tgt_kernel_arguments *args)
{
    return rex_module_target_kernel(&rex_this_module, device_id, num_teams, thread_limit, host_ptr,
                                    args);
}

/**
 * rex_direct___tgt_target_teams(): launches as older code does, with @arg_num rows in four columns
 * and @num_teams blocks of @thread_limit threads. The function makes a packet, so that the kernel
 * gets the same parameters on every LLVM release. Returns the result of rex_module_target_kernel().
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
 * rex_direct___tgt_target(): launches as the oldest code does, one block of one thread. The
 * function makes a packet, because libomptarget's own `__tgt_target` does not start one thread on
 * LLVM 16 and later: see __rex_real___tgt_target(). Returns the result of
 * rex_module_target_kernel().
 */
static inline int rex_direct___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num,
                                          void **args_base, void **args, int64_t *arg_sizes,
                                          int64_t *arg_types)
{
    return rex_direct___tgt_target_teams(device_id, host_ptr, arg_num, args_base, args, arg_sizes,
                                         arg_types, 1, 1);
}

/**
 * rex_direct___tgt_target_data_begin(): maps @arg_num rows on @device_id (-1: the default device).
 * The four columns are base addresses, begin addresses, sizes in bytes and map types; they may be
 * NULL if there is no row.
 */
static inline void rex_direct___tgt_target_data_begin(int64_t device_id, int32_t arg_num,
                                                      void **args_base, void **args,
                                                      int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_BEGIN, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/**
 * rex_direct___tgt_target_data_end(): unmaps @arg_num rows on @device_id (-1: the default device).
 */
static inline void rex_direct___tgt_target_data_end(int64_t device_id, int32_t arg_num,
                                                    void **args_base, void **args,
                                                    int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_END, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/**
 * rex_direct___tgt_target_data_update(): copies @arg_num mapped rows between the host and the
 * device @device_id: to the device if the map type has the bit 0x1, from the device if it has 0x2.
 */
static inline void rex_direct___tgt_target_data_update(int64_t device_id, int32_t arg_num,
                                                       void **args_base, void **args,
                                                       int64_t *arg_sizes, int64_t *arg_types)
{
    rex_module_target_data(&rex_this_module, REX_DATA_UPDATE, device_id, arg_num, args_base, args,
                           arg_sizes, arg_types);
}

/*
 * ---- Wrappers under other names ---------------------------------------------------------------
 *
 * `rex___tgt_X` calls `rex_direct___tgt_X`. A helper (a file that a generator writes) can define
 * `rex___tgt_X` for all files of the binary. If no file of a binary defines `rex___tgt_X`, the
 * binary calls the function of this name that librex exports. An exported launch function finds the
 * module by the host key. It returns REX_EKEY if librex does not know the module: see
 * rex_module_add(). The exported data calls have no key, and register every known module that has
 * entries and can be registered.
 */

/** rex___tgt_target_kernel(): calls rex_direct___tgt_target_kernel(). */
int rex___tgt_target_kernel(int64_t device_id, int32_t num_teams, int32_t thread_limit,
                            void *host_ptr, struct __tgt_kernel_arguments *args);
/** rex___tgt_target_teams(): calls rex_direct___tgt_target_teams(). */
int rex___tgt_target_teams(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                           void **args, int64_t *arg_sizes, int64_t *arg_types, int32_t num_teams,
                           int32_t thread_limit);
/** rex___tgt_target(): calls rex_direct___tgt_target(). */
int rex___tgt_target(int64_t device_id, void *host_ptr, int32_t arg_num, void **args_base,
                     void **args, int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_begin(): calls rex_direct___tgt_target_data_begin(). */
void rex___tgt_target_data_begin(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                                 int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_end(): calls rex_direct___tgt_target_data_end(). */
void rex___tgt_target_data_end(int64_t device_id, int32_t arg_num, void **args_base, void **args,
                               int64_t *arg_sizes, int64_t *arg_types);
/** rex___tgt_target_data_update(): calls rex_direct___tgt_target_data_update(). */
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
 * ---- The rewrite: code that calls __tgt_X calls the wrapper -----------------------------------
 *
 * A file with REX_KMP_INTERNAL calls libomptarget's functions.
 */

#ifdef REX_KMP_INTERNAL
/** __tgt_target(): another name of __rex_real___tgt_target(). */
extern __typeof__(__rex_real___tgt_target) __tgt_target;
/** __tgt_target_teams(): another name of __rex_real___tgt_target_teams(). */
extern __typeof__(__rex_real___tgt_target_teams) __tgt_target_teams;
/** __tgt_target_kernel(): another name of __rex_real___tgt_target_kernel(). */
extern __typeof__(__rex_real___tgt_target_kernel) __tgt_target_kernel;
/** __tgt_target_data_begin(): another name of __rex_real___tgt_target_data_begin(). */
extern __typeof__(__rex_real___tgt_target_data_begin) __tgt_target_data_begin;
/** __tgt_target_data_end(): another name of __rex_real___tgt_target_data_end(). */
extern __typeof__(__rex_real___tgt_target_data_end) __tgt_target_data_end;
/** __tgt_target_data_update(): another name of __rex_real___tgt_target_data_update(). */
extern __typeof__(__rex_real___tgt_target_data_update) __tgt_target_data_update;
#else
/** __tgt_target: a call becomes a call of rex_direct___tgt_target(). */
#define __tgt_target rex_direct___tgt_target
/** __tgt_target_teams: a call becomes a call of rex_direct___tgt_target_teams(). */
#define __tgt_target_teams rex_direct___tgt_target_teams
/**
 * __tgt_target_kernel: a call becomes a call of rex_direct___tgt_target_kernel(). The call has five
 * arguments: it omits loc, the first parameter of LLVM's function.
 */
#define __tgt_target_kernel rex_direct___tgt_target_kernel
/** __tgt_target_data_begin: a call becomes a call of rex_direct___tgt_target_data_begin(). */
#define __tgt_target_data_begin rex_direct___tgt_target_data_begin
/** __tgt_target_data_end: a call becomes a call of rex_direct___tgt_target_data_end(). */
#define __tgt_target_data_end rex_direct___tgt_target_data_end
/** __tgt_target_data_update: a call becomes a call of rex_direct___tgt_target_data_update(). */
#define __tgt_target_data_update rex_direct___tgt_target_data_update
#endif

/*
 * ---- Registration by the name of a file -------------------------------------------------------
 */

/**
 * register_cubin(): registers this binary's module with an image file, by rex_module_register().
 * rex_offload_init() also loads the image; register_cubin() loads the image only if a device was
 * used before. Any thread.
 * @name  the file name; rex_module_register() finds the file. If @name is NULL, REX_CUBIN_NAME, or
 *        "./" and REX_CUBIN_NAME, the call registers the image that rex_offload_init() registers.
 *        librex does not keep the pointer. If the module is registered already, @name has no
 *        effect.
 *
 * Each linked binary has one such function: a file without this header may declare and call it.
 * Returns the descriptor, which belongs to librex and is also in `__cubin_desc`, or NULL after an
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
 * A literal is a row with its value in the columns of bases and begins, and with the map type 0x120
 * (REX_VALUE() adds a kind).
 */

/**
 * rex_literal_error(): sets the last error to REX_EINVAL, with the reason why
 * rex_pack_literal_arg_bytes() cannot pack @size bytes at @src. Returns NULL. Programs need not
 * call rex_literal_error(). Any thread.
 */
REX_API void *rex_literal_error(const void *src, size_t size);

/**
 * rex_pack_literal_arg_bytes(): returns the bytes of a scalar as the base and begin of a literal
 * row; unused bytes are 0. Any thread.
 * @src   the scalar; may be NULL if @size is 0.
 * @size  size of the scalar in bytes, at most 8.
 *
 * The result for a scalar of zeros is NULL, so NULL alone is not a failure. The call fails in two
 * cases: @size is above 8, or @src is NULL and @size is not 0. The call then returns NULL and sets
 * rex_last_error_code() to REX_EINVAL until the next failing call on the thread.
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

/* REX_NAMES_RESTORE: rex/names.h restores the program's macros. */
#define REX_NAMES_RESTORE
#include "rex/names.h"

#endif
