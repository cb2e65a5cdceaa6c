/*
 * cuda.c - a CUDA driver that reports FAKE_CUDA_DEVICES devices (1) of architecture FAKE_CUDA_SM (90) and can do no
 * more.
 *
 * FAKE_CUDA_FAILS makes cuInit return its value.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    return setting("FAKE_CUDA_FAILS", 0);
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    *count = setting("FAKE_CUDA_DEVICES", 1);
    return 0;
}

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int sm = setting("FAKE_CUDA_SM", 90);
    (void)device;
    *value = attribute == 75 ? sm / 10 : attribute == 76 ? sm % 10 : 0;
    return 0;
}

int cuGetErrorName(int result, const char **name);
int cuGetErrorName(int result, const char **name)
{
    *name = result == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
