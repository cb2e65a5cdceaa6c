/*
 * plugin.c - functions of the fake CUDA driver that libomptarget's plugins ask for, and librex does not.
 *
 * A plugin takes no driver that lacks one. Those that no plugin calls while a program runs say that they are not supported.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "driver.h"

enum { NOT_SUPPORTED = 801 };

int cuDeviceGetUuid_v2(unsigned char *uuid, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuEventDestroy_v2(void *event);
int cuGetErrorName(int result, const char **name);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemHostAlloc(void **memory, size_t size, unsigned flags);
int cuModuleLoadData(void **module, const void *image);

FUNCTION(cuCtxGetDevice, int *device)
{
    *device = fake_device();
    return 0;
}
FUNCTION(cuCtxGetLimit, size_t *value, int limit)
{
    (void)limit;
    *value = 1024;
    return 0;
}
FUNCTION(cuCtxSetLimit, int limit, size_t value)
{
    (void)limit, (void)value;
    return 0;
}
FUNCTION(cuDeviceGetUuid, unsigned char *uuid, int device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}
FUNCTION(cuDeviceTotalMem, size_t *bytes, int device)
{
    return cuDeviceTotalMem_v2(bytes, device);
}
FUNCTION(cuEventDestroy, void *event)
{
    return cuEventDestroy_v2(event);
}
FUNCTION(cuGetErrorString, int result, const char **text)
{
    return cuGetErrorName(result, text);
}
FUNCTION(cuMemAllocHost_v2, void **memory, size_t size)
{
    return cuMemHostAlloc(memory, size, 0);
}
FUNCTION(cuMemAllocHost, void **memory, size_t size)
{
    return cuMemHostAlloc(memory, size, 0);
}
FUNCTION(cuMemAllocManaged, uint64_t *address, size_t size, unsigned flags)
{
    (void)flags;
    return cuMemAlloc_v2(address, size);
}
/* Options are for compilers of PTX. */
FUNCTION(cuModuleLoadDataEx, void **module, const void *image, unsigned options, int *option, void **values)
{
    (void)options, (void)option, (void)values;
    return cuModuleLoadData(module, image);
}
/* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK is 0. */
FUNCTION(cuFuncGetAttribute, int *value, int attribute, void *function)
{
    (void)function;
    *value = attribute == 0 ? 1024 : 0;
    return 0;
}
FUNCTION(cuOccupancyMaxPotentialBlockSize, int *blocks, int *threads)
{
    *blocks = 132;
    *threads = 1024;
    return 0;
}
FUNCTION(cuStreamAddCallback, void *stream, void (*function)(void *stream, int status, void *argument), void *argument, unsigned flags)
{
    (void)flags;
    fake_finish(stream);
    function(stream, 0, argument);
    return 0;
}

FUNCTION(cuMemHostGetFlags, unsigned *flags, void *address)
{
    *flags = 0;
    return fake_is_pinned(address) ? 0 : 1; /* CUDA_ERROR_INVALID_VALUE */
}
FUNCTION(cuMemGetAllocationGranularity, size_t *granularity, const void *properties, int option)
{
    (void)properties, (void)option;
    *granularity = (size_t)2 << 20;
    return 0;
}

#define UNSUPPORTED(name) \
    FUNCTION(name, void)  \
    {                     \
        return NOT_SUPPORTED; \
    }
UNSUPPORTED(cuMemAddressFree)
UNSUPPORTED(cuMemAddressReserve)
UNSUPPORTED(cuMemCreate)
UNSUPPORTED(cuMemHostGetDevicePointer_v2)
UNSUPPORTED(cuMemMap)
UNSUPPORTED(cuMemPrefetchAsync)
UNSUPPORTED(cuMemRelease)
UNSUPPORTED(cuMemSetAccess)
UNSUPPORTED(cuMemUnmap)
UNSUPPORTED(cuMemsetD2D16Async)
UNSUPPORTED(cuMemsetD2D32Async)
UNSUPPORTED(cuMemsetD2D8Async)
UNSUPPORTED(cuPointerGetAttributes)
