/*
 * marks.c - events between the numbered launches of a stream, to wait for one launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/marks.h"

#include <string.h>
#include <time.h>

#include "cuda/driver.h"

#define FIRST_NAP 20000 /* nanoseconds; each further nap is twice as long */
#define LONGEST_NAP 10000000

struct rex_mark *rex_mark_make(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest)
{
    struct rex_mark *oldest = NULL;
    for (size_t i = 0; i < REX_MARKS; i++) {
        if (mark[i].launch == newest && newest > 0)
            return &mark[i];
        if (mark[i].users == 0 && (oldest == NULL || mark[i].launch < oldest->launch))
            oldest = &mark[i];
    }
    if (oldest == NULL)
        return NULL;
    if (oldest->event == NULL) {
        int result = REX_CUDA(cuEventCreate, &oldest->event, REX_CUDA_EVENT_UNTIMED);
        if (!rex_cuda_has_made(result, &oldest->event))
            return NULL;
    }
    oldest->launch = 0;
    if (REX_CUDA(cuEventRecord, oldest->event, stream) != 0)
        return NULL;
    oldest->launch = newest;
    return oldest;
}

struct rex_mark *rex_mark_find(struct rex_mark mark[REX_MARKS], void *stream, uint64_t newest,
                               uint64_t launch)
{
    struct rex_mark *first = NULL;
    for (size_t i = 0; i < REX_MARKS; i++)
        if (mark[i].launch >= launch && (first == NULL || mark[i].launch < first->launch))
            first = &mark[i];
    return first != NULL ? first : rex_mark_make(mark, stream, newest);
}

int rex_mark_poll(const struct rex_mark *mark, int milliseconds)
{
    struct timespec nap = {0, FIRST_NAP};
    int64_t left = milliseconds * INT64_C(1000000);
    int found = rex_driver.cuEventQuery(mark->event);
    while (found == REX_CUDA_NOT_READY && left > 0) {
        nanosleep(&nap, NULL);
        left -= nap.tv_nsec;
        if (nap.tv_nsec < LONGEST_NAP)
            nap.tv_nsec *= 2;
        found = rex_driver.cuEventQuery(mark->event);
    }
    if (found != 0 && found != REX_CUDA_NOT_READY)
        rex_cuda_note(found, "cuEventQuery");
    return found;
}

bool rex_marks_end(struct rex_mark mark[REX_MARKS])
{
    for (size_t i = 0; i < REX_MARKS; i++)
        if (mark[i].users > 0)
            return false;
    for (size_t i = 0; i < REX_MARKS; i++)
        if (mark[i].event != NULL)
            REX_CUDA(cuEventDestroy, mark[i].event);
    memset(mark, 0, REX_MARKS * sizeof *mark);
    return true;
}
