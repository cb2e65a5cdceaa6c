/*
 * waits.c - calls that wait in the present table, in windows that double (struct rex_table_wait).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/waits.h"

#include "base/log.h"
#include "omp/gate.h"
#include "present/exclude.h"

#define FIRST_WINDOW 10 /* length of the first window (see find_window()), in milliseconds */
#define TOLD_AFTER 10   /* seconds before a wait is logged */

/*
 * While a begin call or an end call waits, launches and update calls wait for that call only in
 * windows. An open time of equal length, without such waits, follows each window (struct
 * rex_table_wait, present.h). Example: the first window is from 0 to 10 ms, its open time from 10
 * to 20 ms, and the next window from 20 to 40 ms.
 *
 * For a call that has waited WAITED milliseconds, returns the end of the current window or open
 * time, in milliseconds. Sets *IS_OPEN to true in an open time, and to false in a window. Example:
 * returns 40 for 25, and sets *IS_OPEN to false.
 */
static int64_t find_window(int64_t waited, bool *is_open)
{
    int64_t begin = 0, length = FIRST_WINDOW;
    while (waited >= begin + 2 * length) {
        begin += 2 * length;
        length *= 2;
    }
    *is_open = waited >= begin + length;
    return begin + (*is_open ? 2 * length : length);
}

/*
 * Logs a warning about WAIT. TABLE is unlocked meanwhile, because the program's log function may
 * launch.
 */
static void log_wait(struct rex_present_table *table, struct rex_table_wait *wait)
{
    static const char *const names[] = {"a launch", "a launch", "a data update", "a data begin",
                                        "a data end"};
    wait->is_told = true;
    pthread_mutex_unlock(&table->lock);
    rex_log(
        REX_LOG_WARN,
        "%s has waited %d seconds, because calls of other threads use the same memory: %zu bytes "
        "at %p on device %d",
        names[wait->call], TOLD_AFTER, wait->size, wait->begin, wait->number);
    pthread_mutex_lock(&table->lock);
}

void rex_wait_for_change(struct rex_present_table *table, struct rex_table_wait *wait)
{
    bool was_open = wait->is_open;
    int64_t nanoseconds = wait->since.tv_nsec + wait->until % 1000 * 1000000;
    struct timespec until = {wait->since.tv_sec + wait->until / 1000 + nanoseconds / 1000000000,
                             nanoseconds % 1000000000};
    uint32_t depth = rex_gate_pause();
    pthread_cond_timedwait(&table->changed, &table->lock, &until);
    if (depth > 0) {
        pthread_mutex_unlock(&table->lock);
        rex_gate_resume(depth);
        pthread_mutex_lock(&table->lock);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t waited = (int64_t)(now.tv_sec - wait->since.tv_sec) * 1000 +
                     (now.tv_nsec - wait->since.tv_nsec) / 1000000;
    wait->until = find_window(waited, &wait->is_open);
    if (wait->is_open && !was_open)
        rex_tell_change(table);
    if (waited >= TOLD_AFTER * 1000 && !wait->is_told)
        log_wait(table, wait);
}

void rex_present_wait(struct rex_table_wait *wait)
{
    struct rex_present_table *table = rex_present_table(wait->number);
    pthread_mutex_lock(&table->lock);
    if (table->changes == wait->changes)
        rex_wait_for_change(table, wait);
    pthread_mutex_unlock(&table->lock);
}

void rex_wait_begin(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_table_wait *wait = &ranges->wait;
    wait->changes = table->changes;
    if (ranges->is_waiting)
        return;
    ranges->is_waiting = true;
    if (ranges->call >= REX_CALL_BEGINS)
        rex_at_work_add(table, ranges);
    if (wait->size > 0)
        return; /* if a launch waits again, `since` does not change */
    clock_gettime(CLOCK_REALTIME, &wait->since);
    wait->until = FIRST_WINDOW;
    wait->begin = (const void *)ranges->range->begin;
    wait->size = ranges->range->end - ranges->range->begin;
    wait->number = ranges->number;
    wait->call = ranges->call;
}
