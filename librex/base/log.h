/*
 * log.h - the log, and the locks under which librex may log.
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

/*
 * Maximum size in bytes of a text that has a message, the name of the message's error, and the NUL.
 */
#define REX_PRINTED_MAX (REX_MESSAGE_MAX + 32)

/*
 * Formats a message as printf() does. If REX_LOG includes LEVEL, escapes the message and logs it as
 * one line, such as "librex: warning: message". Preserves errno.
 */
void rex_log(enum rex_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Logs MESSAGE unless the previous call of this function had an equal message. So a launch that
 * fails in a loop is logged once. The caller has escaped MESSAGE, which must be shorter than
 * REX_PRINTED_MAX.
 */
void rex_log_once(enum rex_log_level level, const char *message);

/*
 * Reads REX_LOG, opens the file that REX_LOG names, and returns the level. Also calls
 * rex_settings_review(). Preserves errno. The first call of rex_log_wanted() calls this function,
 * and so does each change of REX_LOG.
 */
int rex_log_decide(void);

#define REX_LOG_UNKNOWN (REX_LOG_DEBUG + 1) /* REX_LOG has not been read yet */
extern int rex_log_level_now;               /* a level, or REX_LOG_UNKNOWN; atomic */

/* Returns true if REX_LOG includes LEVEL. Call this before you prepare a costly log line. */
static inline bool rex_log_wanted(enum rex_log_level level)
{
    /*
     * Relaxed: no other data depend on the level. A thread that reads an old level only logs one
     * line too many or too few.
     */
    int now = __atomic_load_n(&rex_log_level_now, __ATOMIC_RELAXED);
    return (int)level <= now && (now != REX_LOG_UNKNOWN || (int)level <= rex_log_decide());
}

/* Returns true for the first call with TOLD in the process. The caller then logs a line. */
static inline bool rex_log_is_first(bool *told)
{
    /* Relaxed: the exchange alone selects one thread, and no other data depend on *TOLD. */
    return !__atomic_exchange_n(told, true, __ATOMIC_RELAXED);
}

/*
 * Code that holds a lock of librex runs between rex_log_hold() and rex_log_resume(), which nest.
 * The program's log function may call librex, and would wait for the lock for ever. So lines for
 * that function are kept until the outermost rex_log_resume(). A cancelled thread does not end
 * between the two calls.
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
 * Takes the lock of the log and the trace. A thread that holds the lock may take the lock again,
 * for example to log a line about the trace file.
 */
void rex_output_lock(void);
void rex_output_unlock(void);

/*
 * Takes the lock of the log and the trace at the end of the process. Returns false if the lock is
 * not free within a second. The lock never becomes free if a signal handler called exit() in a
 * thread that holds the lock.
 */
bool rex_output_lock_at_exit(void);

/* Takes MUTEX. A thread that holds MUTEX may log, because the lines are kept until rex_unlock(). */
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
