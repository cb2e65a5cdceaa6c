/*
 * log.h - what librex says while it works.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOG_H
#define REX_INTERNAL_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/error.h"
#include "base/process.h"
#include "rex/configure.h"

/* Longest message with the name of its error behind it, in bytes with its NUL. */
#define REX_PRINTED_MAX (REX_MESSAGE_MAX + 32)

/*
 * One line, "librex: warning: MESSAGE" at level WARN, if REX_LOG lets LEVEL through, with what
 * could command a terminal escaped. errno stays.
 */
void rex_log(enum rex_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * MESSAGE, escaped and shorter than REX_PRINTED_MAX, unless the line before was equal: a launch
 * that fails in a loop says so once.
 */
void rex_log_once(enum rex_log_level level, const char *message);

/*
 * The level, as REX_LOG says it now, whose file is opened. Warns of what is wrong in the
 * environment, once of each variable. errno stays. The first thing that librex says or would say
 * gets here, and so does each change of REX_LOG.
 */
int rex_log_decide(void);

/* Whether REX_LOG lets LEVEL through: for those who would have to prepare what they say. */
#define REX_LOG_UNKNOWN (REX_LOG_DEBUG + 1) /* nobody has asked yet */
extern int rex_log_level_now;
static inline bool rex_log_wanted(enum rex_log_level level)
{
    /* Relaxed: the level stands for itself; a thread may see a change a line late. */
    int now = __atomic_load_n(&rex_log_level_now, __ATOMIC_RELAXED);
    return (int)level <= now && (now != REX_LOG_UNKNOWN || (int)level <= rex_log_decide());
}

/* For a line that comes once in a process: whether this is the first call with TOLD. */
static inline bool rex_log_is_first(bool *told)
{
    /* Relaxed: any thread may log it, as long as only one does. */
    return !__atomic_exchange_n(told, true, __ATOMIC_RELAXED);
}

/*
 * Lines of a thread between these two reach the program's own function after the second. So the
 * function may call librex: these stand around all that such a call would wait for. Nor does a
 * cancelled thread end between them. The two nest.
 */
void rex_log_say_held(void);
static inline void rex_log_hold(void)
{
    rex_thread.holds++;
    rex_shelter_begin();
}
static inline void rex_log_resume(void)
{
    rex_shelter_end();
    REX_ASSERT(rex_thread.holds > 0);
    if (--rex_thread.holds == 0 && rex_thread.has_held_lines)
        rex_log_say_held();
}

/*
 * The lock of all that librex writes, the log and a trace. A thread may take it again, as for a
 * line about the file of a trace.
 */
void rex_output_lock(void);
void rex_output_unlock(void);

/*
 * The same at the end of the process, if the lock is free within a second and not this thread's
 * already: exit() may come from a signal's handler, in the midst of what holds it.
 */
bool rex_output_lock_at_exit(void);

/* A lock under which something may be said. */
static inline void rex_lock(pthread_mutex_t *mutex)
{
    rex_log_hold();
    pthread_mutex_lock(mutex);
}

static inline void rex_unlock(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    rex_log_resume();
}

#endif
