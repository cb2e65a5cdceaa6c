/*
 * fill.c - fills device memory with a pattern (rex/device.h). The driver fills the memory of a GPU.
 * For other devices libomptarget copies the pattern, because some LLVM releases lack
 * omp_target_memset().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/launchcontext.h"
#include "memory/devicememory.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "rex/device.h"

/* Maximum bytes of a copy: a multiple of 1, 2 and 4, which are the sizes of a pattern. */
#define FILL_BYTES 65536

int rex_fill_of(struct rex_fill *fill, const char *caller, void *to, const void *pattern,
                size_t pattern_size, size_t size)
{
    if (to == NULL || pattern == NULL)
        return rex_fail(REX_EINVAL, "%s: %s is NULL", caller,
                        to == NULL ? "the memory" : "the pattern");
    if (pattern_size != 1 && pattern_size != 2 && pattern_size != 4)
        return rex_fail(REX_EINVAL, "%s: the pattern has %zu bytes; valid sizes are 1, 2 and 4",
                        caller, pattern_size);
    if (size % pattern_size != 0)
        return rex_fail(REX_EINVAL,
                        "%s: the size, %zu bytes, is not a multiple of the pattern's %zu", caller,
                        size, pattern_size);
    if ((uintptr_t)to % pattern_size != 0)
        return rex_fail(REX_EINVAL,
                        "%s: the address, %p, is not aligned to the pattern's %zu bytes", caller,
                        to, pattern_size);
    *fill = (struct rex_fill){.to = to, .width = pattern_size, .size = size};
    memcpy(&fill->value, pattern, pattern_size);
    return REX_OK;
}

int rex_fill_put(const struct rex_fill *fill, void *stream)
{
    uint64_t to = (uint64_t)(uintptr_t)fill->to;
    size_t count = fill->size / fill->width;
    if (count == 0)
        return 0;
    switch (fill->width) {
    case 1: return REX_CUDA(cuMemsetD8Async, to, (unsigned char)fill->value, count, stream);
    case 2: return REX_CUDA(cuMemsetD16Async, to, (unsigned short)fill->value, count, stream);
    default: return REX_CUDA(cuMemsetD32Async, to, fill->value, count, stream);
    }
}

static int fill_by_driver(const struct rex_fill *fill, int ordinal, const char *caller)
{
    struct rex_launch_context *own;
    int entered = -1, result = rex_launch_context_take(ordinal, caller, &own, &entered);
    if (result != REX_OK)
        return result;
    int found = rex_fill_put(fill, own->stream);
    if (found == 0) {
        found = REX_CUDA(cuStreamSynchronize, own->stream);
        own->is_broken = found != 0;
    }
    if (found != 0)
        result = rex_fail(REX_ECUDA, "%s: %zu bytes at %p could not be filled: %s", caller,
                          fill->size, fill->to, rex_cuda_why());
    rex_launch_context_give(own, entered);
    return result;
}

static int fill_by_copies(const struct rex_fill *fill, int number, const char *caller)
{
    int host = rex_device_count(), result = REX_OK;
    size_t most = fill->size < FILL_BYTES ? fill->size : FILL_BYTES;
    unsigned char *pattern = malloc(most);
    if (pattern == NULL)
        return rex_fail_memory(most, "a fill");
    for (size_t at = 0; at < most; at += fill->width)
        memcpy(pattern + at, &fill->value, fill->width);
    for (size_t done = 0, part; done < fill->size && result == REX_OK; done += part) {
        part = fill->size - done < most ? fill->size - done : most;
        if (rex_runtime_omp()->copy((char *)fill->to + done, pattern, part, 0, 0, number, host) !=
            0)
            result = rex_fail(REX_ERUNTIME,
                              "%s: libomptarget could not fill %zu bytes at %p on device %d",
                              caller, part, (void *)((char *)fill->to + done), number);
    }
    free(pattern);
    return result;
}

int rex_fill_now(const struct rex_fill *fill, int64_t device, const char *caller)
{
    int number = 0, ordinal = -1;
    if (rex_device_count() == 0)
        return rex_none_registered(caller);
    int result = rex_device_resolve(device, &number);
    if (result == REX_OK)
        result = rex_await_device(number, caller);
    if (result != REX_OK || fill->size == 0)
        return result;
    /*
     * The driver fills the memory of a GPU. But if the driver is too old, or libomptarget may have
     * to report copies (REX_REASON_REPORTS), libomptarget copies the pattern.
     */
    if ((rex_process_reasons() &
         (REX_REASON_REPORTS | REX_REASON_NO_GPU | REX_REASON_OLD_DRIVER)) == 0 &&
        number != rex_device_count())
        result = rex_device_known_ordinal(number, &ordinal);
    if (result != REX_OK)
        return result;
    if (ordinal >= 0)
        return fill_by_driver(fill, ordinal, caller);
    return fill_by_copies(fill, number, caller);
}

int rex_device_fill(void *to, const void *pattern, size_t pattern_size, size_t size, int64_t device)
{
    struct rex_fill fill;
    int result = rex_fill_of(&fill, "rex_device_fill", to, pattern, pattern_size, size);
    if (result != REX_OK)
        return result;
    return rex_fill_now(&fill, device, "rex_device_fill");
}
