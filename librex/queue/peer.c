/*
 * peer.c - copies in a queue between device memory of the same GPU or of two.
 *
 * The driver copies between two GPUs directly, over NVLink or PCI Express, if one of the two
 * contexts has access to the other. Otherwise the driver stages the bytes in host memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/peer.h"

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "launch/launchcontext.h"

int rex_peer_other(const struct rex_command *command, int number)
{
    return command->peer.to_device == number ? command->peer.from_device : command->peer.to_device;
}

static int failed(void)
{
    return rex_fail(REX_ECUDA, "a copy between devices: %s", rex_cuda_why());
}

/* Finds the GPU of device NUMBER and retains its context; the caller drops it. */
static int hold_other(int number, int *ordinal, void **context)
{
    int result = rex_launch_context_ordinal(number, ordinal);
    if (result == REX_OK && *ordinal < 0)
        result =
            rex_fail(REX_ENODEVICE, "a copy between devices: device %d is no NVIDIA GPU", number);
    if (result != REX_OK)
        return result;
    return rex_context_retain(*ordinal, context) == 0 ? REX_OK : failed();
}

/*
 * Requests peer access, once for each stream and GPU. A refusal only makes copies slower: a GPU can
 * access only a few others.
 */
static void ask_for_access(struct rex_stream_gpu *gpu, int ordinal, void *context)
{
    int own = 0, other = 0, can = 0;
    uint64_t bit = UINT64_C(1) << ordinal % 64;
    if (gpu->peers & bit)
        return;
    gpu->peers |= bit;
    int result = REX_CUDA(cuDeviceGet, &own, gpu->ordinal) != 0 ||
                         REX_CUDA(cuDeviceGet, &other, ordinal) != 0 ||
                         REX_CUDA(cuDeviceCanAccessPeer, &can, own, other) != 0
                     ? -1
                     : 0;
    if (result == 0 && can)
        result = rex_driver.cuCtxEnablePeerAccess(context, 0);
    if (result > 0 && result != REX_CUDA_PEER_ACCESS_ALREADY_ENABLED)
        rex_cuda_note(result, "cuCtxEnablePeerAccess");
    bool has_access = can && (result == 0 || result == REX_CUDA_PEER_ACCESS_ALREADY_ENABLED);
    bool has_failed = !has_access && result != 0;
    rex_log(REX_LOG_INFO, "copies between GPU %d and GPU %d go %s%s%s", gpu->ordinal, ordinal,
            has_access ? "directly" : "through the host", has_failed ? ": " : "",
            has_failed ? rex_cuda_why() : "");
}

static int copy_to_other(struct rex_stream_gpu *gpu, void *stream,
                         const struct rex_command *command, uint64_t to, uint64_t from)
{
    int ordinal = -1;
    void *other = NULL;
    int result = hold_other(rex_peer_other(command, gpu->number), &ordinal, &other);
    if (result != REX_OK)
        return result;
    ask_for_access(gpu, ordinal, other);
    bool is_sent = command->peer.from_device == gpu->number;
    if (REX_CUDA(cuMemcpyPeerAsync, to, is_sent ? other : gpu->context, from,
                 is_sent ? gpu->context : other, command->peer.size, stream) != 0)
        result = failed();
    rex_context_drop(ordinal);
    return result;
}

int rex_peer_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command)
{
    uint64_t to = (uint64_t)(uintptr_t)command->peer.to,
             from = (uint64_t)(uintptr_t)command->peer.from;
    rex_addresses_use_range(&gpu->addresses, to, command->peer.size);
    rex_addresses_use_range(&gpu->addresses, from, command->peer.size);
    if (rex_peer_other(command, gpu->number) != gpu->number)
        return copy_to_other(gpu, stream, command, to, from);
    return REX_CUDA(cuMemcpyDtoDAsync, to, from, command->peer.size, stream) == 0 ? REX_OK
                                                                                  : failed();
}
