/*
 * release.c - one row of facts for each LLVM release.
 *
 * The facts are from the sources of LLVM 14.0.6, 15.0.6, 16.0.6, 17.0.6, 18.1.8, 19.1.7, 20.1.8,
 * 21.1.8, 22.1.8 and 23.1.1. The tests run all releases except 20 on their host device. The facts
 * of 24 are only from the tests.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/release.h"

#include <stddef.h>
#include <string.h>

#include "omp/grid.h"

/*
 * Rules for plain kernels. For a packet of version 2, LLVM 16, 17 and 19 to 23 add no parameter.
 * LLVM 15 ignores the version. LLVM 18 adds a parameter for every version. Up to LLVM 19 the CUDA
 * plugin launches grids of one dimension only. LLVM 23 reads y, z and dynamic memory only from
 * packets of version 3 and later.
 */
#define PLAIN(dims, memory) .version = 2, .dimensions = (dims), .dynamic_memory = (memory)
/*
 * Rules for env kernels, whose first parameter comes from the runtime. LLVM 18 always adds this
 * parameter. LLVM 19 to 23 add it for packets of version 3. On LLVM 14 to 17 the parameter is
 * passed by a row that librex adds to the packet.
 */
#define ENV_BY_ROW(memory) \
    .version = 2, .leading_row = true, .dimensions = 1, .dynamic_memory = (memory)
#define ENV(dims) .version = 3, .dimensions = (dims), .dynamic_memory = true
/*
 * Rule for kernels on the host device of LLVM 23 and 24. The host device accepts only packets of
 * version 5, and ignores the grid. libomptarget overwrites the last row, so librex adds a row at
 * the end.
 */
#define HOST_ARRAY .version = 5, .trailing_row = true

#define FLAGS_OF_23 (REX_FLAGS_USUAL | REX_FLAGS_FALLBACK | REX_FLAG_COOPERATIVE)

/* Members that are equal in several releases. */
#define OF_14_TO_17                                                                \
    .packet_flags = REX_FLAGS_USUAL, .newest_packet = 2, .old_entries_only = true, \
    .exec_mode_obeyed = true, .devices_at_first_use = true, .plugins_apart = true, \
    .openmp_first = true
#define OF_19_TO_21                                                                                \
    .packet_flags = REX_FLAGS_USUAL, .driver_function = "cuMemAllocAsync", .driver_since = "11.2", \
    .newest_packet = 3, .newest_old_header = 90, .image_read_later = true, .runtime_object = true, \
    .packed_slots = true, .environment_size = 48, .shared_memory_fixed = true
#define OF_23_AND_24                                                                               \
    .packet_flags = FLAGS_OF_23, .driver_function = "cuLaunchKernelEx", .driver_since = "11.8",    \
    .newest_packet = 5, .plain = {PLAIN(1, false)}, .env = {ENV(3)}, .host = {HOST_ARRAY},         \
    .excess_copied = true, .presence_at_entry = true, .entries_copied = true, .attach_rows = true, \
    .runtime_object = true, .host_argument_array = true, .strict_flags = REX_FLAGS_STRICT,         \
    .environment_size = 40, .shared_memory_fixed = true, .obeys_tmpdir = true,                     \
    .any_call_loads = true

/*
 * LLVM 20 changed the form of entries (pull request 124018 of LLVM). __tgt_register_lib() of LLVM
 * 15 to 20 opens OffloadBinaries. LLVM 14 and 21 to 23 need the image itself.
 */
static const struct rex_release rows[] = {
    {.number = 14,
     OF_14_TO_17,
     .marker = "__tgt_target_teams_mapper",
     .plain = {PLAIN(1, false)},
     .env = {ENV_BY_ROW(false)},
     .no_packet = true,
     .entries_by_position = true,
     .most_teams = 65536,
     .empty_is_null = true,
     .parents_rounded = true,
     .one_end_a_call = true},
    {.number = 15,
     OF_14_TO_17,
     .marker = "__tgt_target_kernel",
     .plain = {PLAIN(1, false)},
     .env = {ENV_BY_ROW(false)},
     .no_flags = true,
     .newest_container = 1,
     .entries_by_position = true,
     .empty_is_null = true,
     .parents_rounded = true,
     .one_delete_a_call = true,
     .image_read_later = true},
    {.number = 16,
     OF_14_TO_17,
     .marker = "__tgt_target_nowait_query",
     .plain = {PLAIN(1, true)},
     .env = {ENV_BY_ROW(true)},
     .newest_container = 1,
     .parents_rounded = true,
     .image_read_later = true,
     .shared_memory_fixed = true},
    {.number = 17,
     OF_14_TO_17,
     .marker = "omp_target_memcpy_async",
     .plain = {PLAIN(1, true)},
     .env = {ENV_BY_ROW(true)},
     .newest_container = 1,
     .image_read_later = true,
     .shared_memory_fixed = true},
    {.number = 18,
     .packet_flags = REX_FLAGS_USUAL,
     .marker = "__tgt_activate_record_replay",
     .driver_function = "cuMemAllocAsync",
     .driver_since = "11.2",
     .newest_packet = 2,
     .plain = {.refused = true},
     .env = {ENV(1)},
     .host = {.version = 2},
     .old_entries_only = true,
     .newest_container = 1,
     .newest_old_header = 90,
     .new_header_refused = true,
     .late_image_ignored = true,
     .image_read_later = true,
     .names_in_tor_crash = true,
     .plugins_apart = true,
     .openmp_first = true,
     .environment_size = 48,
     .shared_memory_fixed = true},
    {.number = 19,
     OF_19_TO_21,
     .marker = "__tgt_rtl_init",
     .plain = {PLAIN(1, true)},
     .env = {ENV(1)},
     .old_entries_only = true,
     .newest_container = 1,
     .new_header_refused = true},
    {.number = 20,
     OF_19_TO_21,
     .any_call_loads = true,
     .marker = "llvmLaunchKernel",
     .plain = {PLAIN(3, true)},
     .env = {ENV(3)},
     .newest_container = 1,
     .new_header_refused = true,
     .entries_copied = true},
    /* newest_old_header: 21.1.0 and 21.1.1 need the old header, 21.1.2 accepts both. */
    {.number = 21,
     OF_19_TO_21,
     .any_call_loads = true,
     .marker = "llvmLaunchKernel",
     .plain = {PLAIN(3, true)},
     .env = {ENV(3)},
     .entries_copied = true,
     .most_dynamic_memory = 49151},
    {.number = 22,
     .packet_flags = REX_FLAGS_USUAL,
     .marker = "__tgt_interop_get",
     .driver_function = "cuFuncGetParamInfo",
     .driver_since = "12.4",
     .newest_packet = 3,
     .plain = {PLAIN(3, true)},
     .env = {ENV(3)},
     .entries_copied = true,
     .any_call_loads = true,
     .attach_rows = true,
     .runtime_object = true,
     .packed_slots = true,
     .environment_size = 48,
     .static_memory_uncounted = true},
    {.number = 23, OF_23_AND_24, .marker = "__tgt_register_rpc_callback"},
    {.number = 24, OF_23_AND_24, .marker = "__tgt_get_mapped_ptr"},
};

#define ROWS (sizeof rows / sizeof *rows)

const struct rex_release *rex_release_after(int number)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].number > number)
            return &rows[i];
    return NULL;
}

const struct rex_release *rex_release_row(int number)
{
    const struct rex_release *row = number > 0 ? rex_release_after(number - 1) : NULL;
    return row != NULL && row->number == number ? row : NULL;
}

const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named)
{
    size_t i = ROWS;
    while (i > 0 && !exports(rows[i - 1].marker, context))
        i--;
    if (i == 0)
        return NULL;
    const struct rex_release *told = &rows[i - 1];
    /*
     * If several rows have the marker, select the row with number NAMED. If no such row exists,
     * select the oldest row with the marker, which assumes the fewest features.
     */
    while (told > rows && strcmp(told[-1].marker, told->marker) == 0 && told->number != named)
        told--;
    return told;
}
