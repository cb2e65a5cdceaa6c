/*
 * cuda.c - a CUDA driver that reports FAKE_CUDA_DEVICES devices (1) of architecture FAKE_CUDA_SM (90; 90,80: one of each) and gives host
 * memory; what queues use is in stream.c and work.c, device memory in memory.c, what compiles PTX in link.c.
 *
 * FAKE_CUDA_FAILS makes cuInit return its value, FAKE_CUDA_NAME_FAILS cuDeviceGetName; FAKE_CUDA_BREAKS=NAME:RESULT:N makes the N-th call
 * of function NAME return RESULT, each call where N is 0. FAKE_CUDA_SLOW=NAME:PIPE:UNTIL makes function NAME write a byte into that pipe
 * and then read the other one until it has no writer any more. FAKE_CUDA_VERSION is the CUDA release (13000). FAKE_CUDA_PEERS=none: no
 * device reaches another's memory. A build with FAKE_WITHOUT_ATTRIBUTES lacks what came with CUDA 11.8; one with FAKE_OLD lacks what libomptarget's plugins of LLVM 18 and later ask for, one with
 * FAKE_ANCIENT also what librex does. As the real driver it does nothing in a child of the process that started it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

static pid_t started_in; /* atomic: the program, too, may call cuInit() */

static int is_forked(void)
{
    pid_t in = __atomic_load_n(&started_in, __ATOMIC_ACQUIRE);
    return in != 0 && in != getpid();
}

/* Tell whoever reads the pipe, and wait for whoever holds the other. */
static void be_slow(const char *name)
{
    char wanted[64];
    char byte;
    int pipe = -1, until = -1;
    const char *value = getenv("FAKE_CUDA_SLOW");
    if (value != NULL && sscanf(value, "%63[^:]:%d:%d", wanted, &pipe, &until) == 3 && strcmp(wanted, name) == 0 && write(pipe, "", 1) == 1)
        while (read(until, &byte, 1) > 0)
            ;
}

/* What the function is to return, if not 0; also for stream.c and link.c. */
int fake_cuda_result(const char *name)
{
    static int since;
    char wanted[64];
    int result = 0, number = 0;
    if (is_forked())
        return 3; /* CUDA_ERROR_NOT_INITIALIZED */
    be_slow(name);
    const char *value = getenv("FAKE_CUDA_BREAKS");
    if (value == NULL || sscanf(value, "%63[^:]:%d:%d", wanted, &result, &number) != 3 || strcmp(wanted, name) != 0)
        return 0;
    return number == 0 || __atomic_add_fetch(&since, 1, __ATOMIC_SEQ_CST) == number ? result : 0;
}

#define BREAK(name) FAIL_WITH(fake_cuda_result(name))

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    BREAK("cuInit");
    int result = setting("FAKE_CUDA_FAILS", 0);
    if (result == 0)
        __atomic_store_n(&started_in, getpid(), __ATOMIC_RELEASE);
    return result;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    BREAK("cuDeviceGetCount");
    *count = setting("FAKE_CUDA_DEVICES", 1);
    return 0;
}

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
    BREAK("cuDeviceGet");
    *device = ordinal;
    return ordinal < setting("FAKE_CUDA_DEVICES", 1) ? 0 : 101; /* CUDA_ERROR_INVALID_DEVICE */
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BREAK("cuDeviceGetAttribute");
    int sm = setting("FAKE_CUDA_SM", 90);
    const char *others = getenv("FAKE_CUDA_SM");
    for (int i = 0; i < device && others != NULL && (others = strchr(others, ',')) != NULL; i++)
        sm = atoi(++others);
    *value = attribute == 33   ? 0x3b + device
             : attribute >= 2 && attribute <= 4 ? 1024
             : attribute >= 5 && attribute <= 7 ? 65535
             : attribute == 8  ? 49152
             : attribute == 10 ? 32
             : attribute == 12 ? 65536
             : attribute == 34 ? 0
             : attribute == 50 ? 1
             : attribute == 75 ? sm / 10
             : attribute == 76 ? sm % 10
             : attribute == 16 ? 132
             : attribute == 39 ? 2048
             : attribute == 1  ? 1024
             : attribute == 97 ? 232448
             : attribute == 95 ? 1
             : attribute == 120 ? sm >= 90
                               : 0;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetName(char *name, int size, int device)
{
    BREAK("cuDeviceGetName");
    snprintf(name, (size_t)size, "Fake GPU %d%s", device, device == 3 ? " MIG 1g.12gb" : "");
    return setting("FAKE_CUDA_NAME_FAILS", 0);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    BREAK("cuDeviceTotalMem");
    *bytes = (size_t)80 << 30;
    return 0;
}

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = setting("FAKE_CUDA_VERSION", 13000);
    return 0;
}

int cuGetErrorName(int result, const char **name);
int cuGetErrorName(int result, const char **name)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {
        {2, "OUT_OF_MEMORY"},
        {3, "NOT_INITIALIZED"},
        {34, "STUB_LIBRARY"},
        {100, "NO_DEVICE"},
        {101, "INVALID_DEVICE"},
        {200, "INVALID_IMAGE"},
        {218, "INVALID_PTX"},
        {222, "UNSUPPORTED_PTX_VERSION"},
        {700, "ILLEGAL_ADDRESS"},
        {719, "LAUNCH_FAILED"},
        {800, "NOT_PERMITTED"},
        {802, "SYSTEM_NOT_READY"},
        {803, "SYSTEM_DRIVER_MISMATCH"},
        {804, "COMPAT_NOT_SUPPORTED_ON_DEVICE"},
        {805, "MPS_CONNECTION_FAILED"},
    };
    static __thread char whole[64];
    const char *found = "UNKNOWN";
    *name = NULL;
    if (result > 999) /* CUDA_ERROR_UNKNOWN is the last */
        return 1;     /* CUDA_ERROR_INVALID_VALUE */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result)
            found = names[i].name;
    snprintf(whole, sizeof whole, "CUDA_ERROR_%s", found);
    *name = whole;
    return 0;
}

/* ---- primary contexts: one for each device, and always to be had ----------------------------------------------------------------------
 */

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemHostAlloc(void **memory, size_t size, unsigned flags);
int cuMemFreeHost(void *memory);
int cuMemHostRegister_v2(void *address, size_t size, unsigned flags);
int cuMemHostUnregister(void *address);

enum { FAKE_STACK = 16 };
static unsigned context_flags[FAKE_GPUS];
static int context_users[FAKE_GPUS]; /* where they are is the context */
/* How often each device was started: its context was made. */
int fake_cuda_starts[FAKE_GPUS];

int fake_is_context(const void *context)
{
    const int *users = context;
    return users >= context_users && users < context_users + FAKE_GPUS;
}

static int check_device(int device)
{
    return device >= 0 && device < FAKE_GPUS ? 0 : 101; /* CUDA_ERROR_INVALID_DEVICE */
}

/* How many have retained the contexts. */
int fake_cuda_context_users(void);
int fake_cuda_context_users(void)
{
    int users = 0;
    for (int i = 0; i < FAKE_GPUS; i++)
        users += context_users[i];
    return users;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    BREAK("cuDevicePrimaryCtxGetState");
    FAIL_WITH(check_device(device));
    *flags = context_flags[device];
    *active = __atomic_load_n(&context_users[device], __ATOMIC_RELAXED) > 0;
    return 0;
}

#ifndef FAKE_ANCIENT
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    BREAK("cuDevicePrimaryCtxSetFlags");
    FAIL_WITH(check_device(device));
    context_flags[device] = flags;
    return 0;
}
#endif

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BREAK("cuDevicePrimaryCtxRetain");
    FAIL_WITH(check_device(device));
    if (__atomic_fetch_add(&context_users[device], 1, __ATOMIC_RELAXED) == 0)
        __atomic_fetch_add(&fake_cuda_starts[device], 1, __ATOMIC_RELAXED);
    *context = &context_users[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    BREAK("cuDevicePrimaryCtxRelease");
    FAIL_WITH(check_device(device));
    __atomic_fetch_sub(&context_users[device], 1, __ATOMIC_RELAXED);
    return 0;
}

__thread int fake_cuda_current; /* how many contexts the thread has pushed; also for link.c */
static __thread void *pushed[FAKE_STACK];

int cuCtxPushCurrent_v2(void *context)
{
    BREAK("cuCtxPushCurrent");
    if (!fake_is_context(context) || fake_cuda_current == FAKE_STACK)
        return 201; /* CUDA_ERROR_INVALID_CONTEXT */
    pushed[fake_cuda_current++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    BREAK("cuCtxPopCurrent");
    if (fake_cuda_current == 0)
        return 201;
    *context = pushed[--fake_cuda_current];
    return 0;
}

FUNCTION(cuCtxSetCurrent, void *context)
{
    BREAK("cuCtxSetCurrent");
    if (context != NULL && !fake_is_context(context))
        return 201;
    fake_cuda_current += context == NULL ? -(fake_cuda_current > 0) : fake_cuda_current == 0;
    if (context != NULL)
        pushed[fake_cuda_current - 1] = context;
    return 0;
}

int cuCtxGetCurrent(void **context);
int cuCtxGetCurrent(void **context)
{
    *context = fake_cuda_current > 0 ? pushed[fake_cuda_current - 1] : NULL;
    return 0;
}

/* What the thread does from now on is for DEVICE, whatever context is current; -1: for that of the context again. */
void fake_cuda_use_device(int device);
static __thread int used_device = -1;
void fake_cuda_use_device(int device)
{
    used_device = device;
}

int fake_device_of_context(const void *context)
{
    return (int)((const int *)context - context_users);
}

int fake_device(void)
{
    return used_device >= 0 ? used_device : fake_cuda_current > 0 ? fake_device_of_context(pushed[fake_cuda_current - 1]) : 0;
}

/* ---- from one device to another ------------------------------------------------------------------------------------------------------ */

/* Which device has access to which, asked for by cuCtxEnablePeerAccess(). FAKE_CUDA_PEERS=none: none can have; later: to later ones alone. */
static bool access_of[FAKE_GPUS][FAKE_GPUS];

static bool can_access(int device, int peer)
{
    const char *peers = getenv("FAKE_CUDA_PEERS");
    return device != peer && (peers == NULL || (strcmp(peers, "none") != 0 && (strcmp(peers, "later") != 0 || device < peer)));
}

FUNCTION(cuDeviceCanAccessPeer, int *can, int device, int peer)
{
    BREAK("cuDeviceCanAccessPeer");
    *can = can_access(device, peer);
    return 0;
}

/* Of the atomic kind within pairs alone. */
FUNCTION(cuDeviceGetP2PAttribute, int *value, int attribute, int device, int peer)
{
    BREAK("cuDeviceGetP2PAttribute");
    *value = can_access(device, peer) && (attribute == 2 || (attribute == 3 && device / 2 == peer / 2));
    return 0;
}

FUNCTION(cuDeviceGetUuid_v2, unsigned char *uuid, int device)
{
    BREAK("cuDeviceGetUuid");
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(16 * device + i);
    return 0;
}

FUNCTION(cuCtxEnablePeerAccess, void *context, unsigned flags)
{
    (void)flags;
    BREAK("cuCtxEnablePeerAccess");
    int peer = fake_device_of_context(context);
    if (!fake_is_context(context) || fake_cuda_current == 0)
        return 201;
    if (!can_access(fake_device(), peer))
        return 217; /* CUDA_ERROR_PEER_ACCESS_UNSUPPORTED */
    return __atomic_exchange_n(&access_of[fake_device()][peer], true, __ATOMIC_RELAXED) ? 704 : 0; /* ..._ALREADY_ENABLED */
}

/* ---- pinned memory --------------------------------------------------------------------------------------------------------------------
 */

/* What a failing cuMemHostAlloc leaves where the address was to go: nothing says that it leaves that alone. */
static char not_allocated[256];

int cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    *memory = not_allocated;
    BREAK("cuMemHostAlloc");
    *memory = malloc(size);
    int result = *memory != NULL ? fake_pin(*memory, size) : 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    if (result != 0) {
        free(*memory);
        *memory = not_allocated;
    }
    return result;
}

int cuMemFreeHost(void *memory)
{
    BREAK("cuMemFreeHost");
    if (fake_has_memory())
        fake_finish_all(false);
    fake_unpin(memory);
    free(memory);
    return 0;
}

int cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    (void)flags;
    BREAK("cuMemHostRegister");
    return fake_pin(address, size);
}

int cuMemHostUnregister(void *address)
{
    BREAK("cuMemHostUnregister");
    fake_unpin(address);
    return 0;
}
