/*
 * tracetrack.c - the lines of a timeline: their numbers and names.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

/* Linux gives threads numbers up to 2^22 (PID_MAX_LIMIT): a track above that is no thread's. */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)
#define DEVICES 64
#define LANES 32 /* of a device, on which as many threads may call at once */

static struct rex_track lanes[DEVICES][LANES];
static uint32_t busy[DEVICES]; /* a bit for each lane */

uint32_t rex_track_queue(void)
{
    static uint32_t queues;
    return QUEUE_TRACKS + __atomic_fetch_add(&queues, 1, __ATOMIC_RELAXED);
}

struct rex_track *rex_track_take(int64_t number)
{
    if (number < 0 || number >= DEVICES)
        return NULL;
    uint32_t taken = __atomic_load_n(&busy[number], __ATOMIC_RELAXED);
    while (taken != UINT32_MAX) {
        uint32_t lane = (uint32_t)__builtin_ctz(~taken);
        if (__atomic_compare_exchange_n(&busy[number], &taken, taken | UINT32_C(1) << lane, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            lanes[number][lane].id = DEVICE_TRACKS + (uint32_t)number * LANES + lane;
            return &lanes[number][lane];
        }
    }
    return NULL;
}

void rex_track_give(struct rex_track *track)
{
    if (track == NULL)
        return;
    uint32_t at = track->id - DEVICE_TRACKS;
    __atomic_fetch_and(&busy[at / LANES], ~(UINT32_C(1) << at % LANES), __ATOMIC_RELEASE);
}

void rex_track_forget(void)
{
    memset(busy, 0, sizeof busy);
}

void rex_track_label(const struct rex_track *track, char *name, size_t size)
{
    uint32_t at = track->id - DEVICE_TRACKS;
    if (track->name != NULL)
        snprintf(name, size, "%s", track->name);
    else if (track->id < DEVICE_TRACKS && (track->id == (uint32_t)getpid() || pthread_getname_np(pthread_self(), name, size) != 0))
        snprintf(name, size, "main thread");
    else if (track->id >= DEVICE_TRACKS)
        snprintf(name, size, at % LANES == 0 ? "device %u" : "device %u (%u)", (unsigned)(at / LANES), (unsigned)(at % LANES + 1));
}
