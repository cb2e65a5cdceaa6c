/*
 * tables.c - functions that stand before the driver's and libomptarget's: each counts, fails where the plan says so, and keeps books of
 * what the driver and libomptarget have made for librex.
 *
 * All take integers and addresses alone, which are passed on as words, whatever there are of them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <string.h>

#include "cuda/driver.h"
#include "torture.h"

#define WORDS                                                                                                                         \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, \
        uintptr_t k, uintptr_t l
#define PASS a, b, c, d, e, f, g, h, i, j, k, l

typedef uintptr_t function(WORDS);

/* As in torture_calls, in which those of the C library come first. */
enum {
#define LIBC(name, ...) CALL_##name,
    TORTURE_LIBC(LIBC) FIRST,
    BEFORE_FIRST = FIRST - 1,
#define DRIVER(group, name, ...) CALL_##name,
    REX_CUDA_FUNCTIONS(DRIVER)
#define RUNTIME(name) CALL_##name,
        TORTURE_RUNTIME(RUNTIME, RUNTIME) ALL
};

static function *real[ALL];
static int done[ALL];

int torture_done(const char *name)
{
    int call = torture_find(name);
    return call >= 0 ? __atomic_load_n(&done[call], __ATOMIC_RELAXED) : 0;
}

const void *torture_registered;

void torture_tell_done(void)
{
    memcpy(torture_report->done, done, sizeof done);
}

/* ---- what is made and ended --------------------------------------------------------------------------------------------------------- */

static const struct {
    int call, change;
    const char *what;
} books[] = {
    {CALL_cuDevicePrimaryCtxRetain, 1, "context"},
    {CALL_cuDevicePrimaryCtxRelease, -1, "context"},
    {CALL_cuCtxPushCurrent, 1, "pushed context"},
    {CALL_cuCtxPopCurrent, -1, "pushed context"},
    {CALL_cuMemAlloc, 1, "memory of a GPU"},
    {CALL_cuMemFree, -1, "memory of a GPU"},
    {CALL_cuMemHostAlloc, 1, "pinned memory"},
    {CALL_cuMemFreeHost, -1, "pinned memory"},
    {CALL_cuMemHostRegister, 1, "pinned range"},
    {CALL_cuMemHostUnregister, -1, "pinned range"},
    {CALL_cuModuleLoadData, 1, "module"},
    {CALL_cuModuleUnload, -1, "module"},
    {CALL_cuStreamCreate, 1, "stream"},
    {CALL_cuStreamCreateWithPriority, 1, "stream"},
    {CALL_cuStreamDestroy, -1, "stream"},
    {CALL_cuEventCreate, 1, "event"},
    {CALL_cuEventDestroy, -1, "event"},
    {CALL_cuStreamBeginCapture, 1, "capture"},
    {CALL_cuStreamEndCapture, -1, "capture"},
    {CALL_cuStreamEndCapture, 1, "graph"},
    {CALL_cuGraphDestroy, -1, "graph"},
    {CALL_cuGraphInstantiate, 1, "executable graph"},
    {CALL_cuGraphExecDestroy, -1, "executable graph"},
    {CALL_cuLinkCreate, 1, "linker"},
    {CALL_cuLinkDestroy, -1, "linker"},
    {CALL_omp_target_alloc, 1, "device memory"},
    {CALL_omp_target_free, -1, "device memory"},
    {CALL___tgt_register_lib, 1, "descriptor"},
    {CALL___tgt_unregister_lib, -1, "descriptor"},
};

static void book(int call)
{
    for (size_t n = 0; n < sizeof books / sizeof *books; n++)
        if (books[n].call == call)
            torture_balance(books[n].what, books[n].change);
}

/* Whether CALL ends something: it is gone where that fails, too, as nobody could end it then. */
static bool is_end(int call)
{
    for (size_t n = 0; n < sizeof books / sizeof *books; n++)
        if (books[n].call == call && books[n].change < 0)
            return true;
    return false;
}

/* Memory that stays pinned can be freed by another call. */
static bool can_be_tried_again(int call)
{
    return call == CALL_cuMemFreeHost || call == CALL_cuMemHostUnregister;
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------------- */

static uintptr_t failed(int call, int code)
{
    if (torture_calls[call].kind == KIND_DRIVER)
        return (uintptr_t)code;
    bool is_zero = call == CALL_omp_get_num_devices || call == CALL_omp_target_is_present || call == CALL_omp_get_mapped_ptr ||
                   call == CALL_omp_target_alloc;
    return is_zero ? 0 : (uintptr_t)-1;
}

static bool went_well(int call, uintptr_t result)
{
    return torture_calls[call].kind == KIND_DRIVER || call == CALL___tgt_target_kernel || call == CALL___tgt_target_teams_mapper
               ? (int)result == 0
           : call == CALL_omp_target_alloc    ? result != 0
           : call == CALL_omp_get_num_devices ? (int)result > 0
                                              : true;
}

static uintptr_t make(int call, WORDS)
{
    torture_inside++;
    uintptr_t result = real[call](PASS);
    torture_inside--;
    return result;
}

/* A capture that cannot be ended leaves no graph. */
static void end_capture(WORDS)
{
    if (make(CALL_cuStreamEndCapture, PASS) == 0)
        make(CALL_cuGraphDestroy, *(uintptr_t *)b, b, c, d, e, f, g, h, i, j, k, l);
    *(uintptr_t *)b = 0;
    torture_balance("capture", -1);
}

static uintptr_t fail(int call, int code, WORDS)
{
    if (call == CALL_cuStreamEndCapture)
        end_capture(PASS);
    else if (is_end(call) && !can_be_tried_again(call)) {
        make(call, PASS);
        book(call);
    }
    return failed(call, code);
}

/* Devices that libomptarget has told of do not go. */
static bool can_fail(int call)
{
    return call != CALL_omp_get_num_devices || __atomic_load_n(&done[call], __ATOMIC_RELAXED) == 0;
}

static uintptr_t pass_on(int call, const void *site, WORDS)
{
    bool is_own = torture_inside == 0;
    int code = can_fail(call) ? torture_next(call, site) : 0;
    if (code != 0)
        return fail(call, code, PASS);
    uintptr_t result = make(call, PASS);
    if (is_own && went_well(call, result)) {
        __atomic_fetch_add(&done[call], 1, __ATOMIC_RELAXED);
        book(call);
        if (call == CALL___tgt_register_lib)
            torture_registered = (const void *)a;
    } else if (is_own && call == CALL_cuStreamEndCapture)
        torture_balance("capture", -1); /* one whose streams are not joined ends, too */
    return result;
}

#define BEFORE(name)                                                    \
    static uintptr_t before_##name(WORDS)                               \
    {                                                                   \
        return pass_on(CALL_##name, __builtin_return_address(0), PASS); \
    }
#define BEFORE_DRIVER(group, name, ...) BEFORE(name)
REX_CUDA_FUNCTIONS(BEFORE_DRIVER)
TORTURE_RUNTIME(BEFORE, BEFORE)

static function *const before[ALL] = {
#define ENTRY(name) [CALL_##name] = before_##name,
#define ENTRY_DRIVER(group, name, ...) ENTRY(name)
    REX_CUDA_FUNCTIONS(ENTRY_DRIVER) TORTURE_RUNTIME(ENTRY, ENTRY)};

/* The driver exports some functions under other names. */
static int find(const char *name)
{
#define EXPORTED(group, function, suffix, ...)   \
    if (strcmp(name, #function suffix) == 0)     \
        return CALL_##function;
    REX_CUDA_FUNCTIONS(EXPORTED)
    int call = torture_find(name);
    return call >= FIRST && torture_calls[call].kind == KIND_RUNTIME ? call : -1;
}

void *torture_before(const char *name, void *address)
{
    int call = find(name);
    if (call < 0 || address == NULL)
        return address;
    void *instead;
    memcpy(&real[call], &address, sizeof address);
    memcpy(&instead, &before[call], sizeof instead);
    return instead;
}

const void *torture_behind(const void *address)
{
    const void *one;
    for (int call = FIRST; call < ALL; call++) {
        memcpy(&one, &before[call], sizeof one);
        if (one != address)
            continue;
        memcpy(&one, &real[call], sizeof one);
        return one;
    }
    return address;
}
