/*
 * forward.c - the exported `__tgt_*` functions, the forwarders. A slot is a pointer to the function
 * that a forwarder calls (struct rex_entry_points). Most forwarders are jumps to the function of
 * their slot. Forwarders that end mappings wait for queues first, and enter the present table and
 * the gate (calls/calls.c). adopt.c has the forwarders of registration. Three OpenMP functions for
 * mapped memory are forwarded, too.
 *
 * A program that links librex and no libomptarget calls the forwarders. libomptarget calls them,
 * too, because LLVM 14 to 23 are linked without -Bsymbolic. The jump itself checks and changes
 * nothing.
 *
 * The slots of functions that launch, map, register or use a device have functions of calls.c,
 * which call libomptarget. Other slots have libomptarget's functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "calls/forward.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "calls/calls.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/release.h"
#include "omp/runtime.h"
#include "present/lookup.h"
#include "present/presentcalls.h"
#include "present/unfinished.h"

static int bound_release;

/*
 * Before libomptarget is bound, each slot points to a first_ function, which binds libomptarget.
 * After that, the slot of a function that the LLVM release lacks points to a lacking_ function,
 * which fails.
 */
#define BEFORE_BINDING(type, name, parameters, arguments, missing) \
    static type lacking_##name parameters;                         \
    static type first_##name parameters                            \
    {                                                              \
        if (rex_runtime_bind() != 0)                               \
            return missing;                                        \
        return REX_REAL(name) arguments;                           \
    }
#define LACKING(type, name, parameters, arguments, missing)                           \
    static type lacking_##name parameters                                             \
    {                                                                                 \
        rex_fail(REX_EUNSUPPORTED, "%s: LLVM %d's libomptarget has no such function", \
                 "__tgt_" #name, bound_release);                                      \
        return missing;                                                               \
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* lacking_ functions use no parameter */
#pragma GCC diagnostic ignored "-Wpedantic" /* `return f();` in a function that returns void */
REX_ENTRY_POINTS(BEFORE_BINDING)
REX_ENTRY_POINTS(LACKING)

/*
 * The forwarders are jumps, so that libomptarget's return address is in the program. libomptarget
 * reports this address to OMPT tools as codeptr_ra. If there is a tool, the slots have
 * libomptarget's functions, unless librex traces or logs calls.
 *
 * The jumps are in assembly, because compilers make jumps only if they optimize. The assembly
 * computes the offset of each slot from the order of the table (REX_ENTRY_POINTS). On ppc64le a
 * forwarder is a call: a jump to another library's function would return to the program with that
 * library's TOC pointer.
 */
#if defined __x86_64__ && defined __LP64__
#if defined __CET__ && __CET__ & 1
#define LANDING "endbr64\n"
#else
#define LANDING ""
#endif
#define JUMP_TO_SLOT "jmp *rex_real+.Lslot(%rip)\n"
#elif defined __aarch64__ && defined __LP64__
#define LANDING "hint #34\n" /* bti c; older processors ignore it */
#define JUMP_TO_SLOT                        \
    "adrp x16, rex_real+.Lslot\n"           \
    "add x16, x16, :lo12:rex_real+.Lslot\n" \
    "ldar x16, [x16]\n"                     \
    "br x16\n"
#endif

#ifdef JUMP_TO_SLOT
#define NEXT_SLOT(type, name, parameters, arguments, missing) ".set .Lslot, .Lslot + 8\n"
#define FORWARD(type, name, parameters, arguments, missing)  \
    ".globl __tgt_" #name "\n"                               \
    ".type __tgt_" #name ", %function\n"                     \
    "__tgt_" #name ":\n"                                     \
    ".cfi_startproc\n" LANDING JUMP_TO_SLOT ".cfi_endproc\n" \
    ".size __tgt_" #name ", .-__tgt_" #name                  \
    "\n" NEXT_SLOT(type, name, parameters, arguments, missing)
__asm__(".pushsection .text\n"
        ".balign 16\n"
        ".set .Lslot, 0\n" /* the table's order: see REX_ENTRY_POINTS */
        REX_REGISTERING(NEXT_SLOT) REX_ENDING(NEXT_SLOT) REX_ENDING_LATER(NEXT_SLOT)
            REX_FORWARDED(FORWARD) ".popsection\n");
#else
#define FORWARD(type, name, parameters, arguments, missing)              \
    __attribute__((visibility("default"))) type __tgt_##name parameters; \
    type __tgt_##name parameters                                         \
    {                                                                    \
        return REX_REAL(name) arguments;                                 \
    }
REX_FORWARDED(FORWARD)
#endif

/*
 * Enters the present table, and then the gate (omp/gate.h). The thread may have to wait before it
 * enters the table. Writes the result of rex_ending_begin() to *ENDS, for leave_end(). Returns
 * false if the gate is closed to the call.
 */
static bool enter_end(const struct rex_map *map, int64_t device, bool *ends)
{
    if (rex_gate_is_closed())
        return rex_gate_enter_raw() == REX_OK; /* logs an error */
    int number = rex_openmp_number(device);
    if (rex_has_columns(map))
        rex_present_enter(REX_CALL_ENDS, map, number);
    if (rex_gate_enter_raw() == REX_OK) {
        *ends = rex_ending_begin(number);
        return true;
    }
    if (rex_has_columns(map))
        rex_present_leave(REX_CALL_ENDS, map, number, REX_LEFT_REFUSED);
    return false;
}

static void leave_end(const struct rex_map *map, int64_t device, bool ends, bool later)
{
    int number = rex_openmp_number(device);
    if (ends)
        rex_ending_end(number);
    if (rex_has_columns(map))
        rex_present_leave(REX_CALL_ENDS, map, number, later ? REX_LEFT_UNSURE : REX_LEFT_DONE);
    rex_gate_leave();
}

/*
 * A forwarder that ends mappings is a function, not a jump. The function waits for queues that
 * still use a mapping, and calls libomptarget. Then the function changes rex_mapping_generation
 * (present/present.h). A change before the call is not enough: another thread could look up an
 * address before the mapping ends, and use the address in the new generation. For these functions
 * codeptr_ra is an address in librex.
 */
#define FORWARD_ENDING(name, parameters, arguments, mappers)                    \
    __attribute__((visibility("default"))) void __tgt_##name parameters;        \
    void __tgt_##name parameters                                                \
    {                                                                           \
        struct rex_map map = {count, base, begin, sizes, types, mappers, NULL}; \
        rex_unfinished_wait(&map, device, "__tgt_" #name);                      \
        bool ends = false;                                                      \
        if (!enter_end(&map, device, &ends))                                    \
            return;                                                             \
        REX_REAL(name)                                                          \
        arguments;                                                              \
        leave_end(&map, device, ends, strstr(#name, "nowait") != NULL);         \
    }
#define FORWARD_ENDING_BARE(type, name, parameters, arguments, missing) \
    FORWARD_ENDING(name, parameters, arguments, NULL)
#define FORWARD_ENDING_MAPPER(type, name, parameters, arguments, missing) \
    FORWARD_ENDING(name, parameters, arguments, mappers)
#define FORWARD_ENDING_LATER(type, name, parameters, arguments, missing) \
    __attribute__((visibility("default"))) type __tgt_##name parameters; \
    type __tgt_##name parameters                                         \
    {                                                                    \
        REX_REAL(name)                                                   \
        arguments;                                                       \
        rex_mapping_ended_unseen();                                      \
    }
REX_DATA_BARE(FORWARD_ENDING_BARE, target_data_end)
REX_DATA_MAPPER(FORWARD_ENDING_MAPPER, target_data_end)
REX_ENDING_LATER(FORWARD_ENDING_LATER)
#pragma GCC diagnostic pop

/*
 * omp_target_associate_ptr() and omp_target_disassociate_ptr() make and end mappings without a data
 * call, so librex must see the calls. No other such functions of libomptarget are known.
 * omp_get_mapped_ptr() gives the program a device address.
 */
int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset,
                             int device);
int omp_target_disassociate_ptr(const void *host, int device);
void *omp_get_mapped_ptr(const void *host, int device);

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int omp_target_associate_ptr(const void *host, const void *on_device, size_t size,
                                      size_t offset, int device)
{
    if (rex_runtime_bind() != REX_OK || rex_runtime_omp()->associate == NULL)
        return -1;
    rex_mapped_unseen();
    rex_await_deferred(device);
    return rex_runtime_omp()->associate(host, on_device, size, offset, device);
}

EXPORTED int omp_target_disassociate_ptr(const void *host, int device)
{
    if (rex_runtime_bind() != REX_OK)
        return -1;
    rex_await_deferred(device);
    int result = rex_runtime_omp()->disassociate(host, device);
    rex_mapping_ended_unseen();
    return result;
}

/*
 * The program may read device memory at the address without a call to librex. So wait for the
 * deferred launches, now and after each later launch with this memory (rex_present_show()).
 */
EXPORTED void *omp_get_mapped_ptr(const void *host, int device)
{
    if (rex_runtime_bind() != REX_OK)
        return NULL;
    rex_present_show(host, device);
    rex_await_deferred(device);
    return rex_memory_address(host, device);
}

/*
 * An alias that always refers to librex's function. The loader may bind the exported name to
 * another library's function.
 */
extern __typeof__(__tgt_target_data_end_mapper) rex_own_data_end
    __attribute__((alias("__tgt_target_data_end_mapper"), visibility("hidden")));

bool rex_forward_first(void)
{
    enum { UNASKED, YES, NO };
    static int answer;
    /* Relaxed: the answer is equal in all threads, and no other data depends on it. */
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == UNASKED) {
        void *first = dlsym(RTLD_DEFAULT, "__tgt_target_data_end_mapper");
        known = first != NULL && first == (void *)(uintptr_t)rex_own_data_end ? YES : NO;
        /* Relaxed: a thread that does not see the answer yet computes it again. */
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

/* The attribute `used` keeps this object, because only assembly may refer to the object. */
__attribute__((used)) struct rex_entry_points rex_real = {
#define FIRST(type, name, parameters, arguments, missing) .name = first_##name,
    REX_ENTRY_POINTS(FIRST)
#undef FIRST
};

/*
 * LLVM 14 has no packet: grid and trip count are arguments. Without a number of teams, libomptarget
 * computes the number from the trip count.
 */
static void (*push_trip_count)(ident_t *loc, int64_t device, uint64_t count); /* may be NULL */

static int kernel_without_packet(KERNEL_P)
{
    if (args->Tripcount > 0 && teams <= 0 && push_trip_count != NULL)
        push_trip_count(loc, device, (uint64_t)args->Tripcount);
    return REX_REAL(target_teams_mapper)(loc, device, key, args->NumArgs, args->ArgsBase,
                                         args->Args, args->ArgSizes, args->ArgTypes, args->ArgNames,
                                         args->ArgMappers, teams, threads);
}

static int kernel_without_packet_nowait(KERNEL_P, DEP_P)
{
    /* LLVM 14 ignores the dependences of its own nowait calls and runs them synchronously. */
    (void)depend_count, (void)depend, (void)no_alias_count, (void)no_alias;
    return kernel_without_packet(KERNEL_A);
}

/*
 * Points each slot at libomptarget's function, or at a lacking_ function if the LLVM release lacks
 * the function. In LLVM 14, which has no packet, the slots of __tgt_target_kernel and
 * __tgt_target_kernel_nowait get the kernel_without_packet functions.
 */
static void point_slots(void *handle, const struct rex_release *release)
{
    struct rex_entry_points slots = {
#define LACKS(type, name, parameters, arguments, missing) .name = lacking_##name,
        REX_ENTRY_POINTS(LACKS)
#undef LACKS
    };
#define FIND(type, name, parameters, arguments, missing)   \
    {                                                      \
        void *address = dlsym(handle, "__tgt_" #name);     \
        if (address != NULL)                               \
            memcpy(&slots.name, &address, sizeof address); \
    }
    REX_ENTRY_POINTS(FIND)
#undef FIND
    bound_release = release->number;
    if (release->no_packet) {
        void *push = dlsym(handle, "__kmpc_push_target_tripcount_mapper");
        memcpy(&push_trip_count, &push, sizeof push);
        slots.target_kernel = kernel_without_packet;
        slots.target_kernel_nowait = kernel_without_packet_nowait;
    }
    rex_lookups_bind();
    rex_calls_bind(&slots, rex_forward_first());
#define POINT(type, name, parameters, arguments, missing) \
    __atomic_store_n(&rex_real.name, slots.name, __ATOMIC_RELEASE);
    REX_ENTRY_POINTS(POINT)
#undef POINT
}

int rex_runtime_bind(void)
{
    return rex_runtime_find(false, point_slots);
}

int rex_runtime_start(void)
{
    return rex_runtime_find(true, point_slots);
}
