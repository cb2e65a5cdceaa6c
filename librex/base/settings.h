/*
 * settings.h - what the program or the environment asked for.
 *
 * A value of the environment that its variable cannot have counts as none. rex_configure() refuses
 * such a value, so that the program's are always good.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SETTINGS_H
#define REX_INTERNAL_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "rex/configure.h"

/* Longest value of a setting, in bytes with its NUL. */
#define REX_SETTING_MAX 4096

/* ---- what holds ------------------------------------------------------------------------------ */

/* The meaning of OPTION: 0 or 1, or as below. */
int rex_setting_read(enum rex_option option);

/* The same, and its text in VALUE: behind a colon that of REX_OPTION_LOG has the name of a file. */
int rex_setting_given(enum rex_option option, char value[REX_SETTING_MAX]);

/* REX_OPTION_WAIT: how a thread waits for a GPU. */
enum rex_wait { REX_WAIT_AUTO, REX_WAIT_SPIN, REX_WAIT_YIELD, REX_WAIT_BLOCK, REX_WAIT_RUNTIME };

/*
 * REX_OPTION_CHECK: whether a registration compares all entries with the image; full: what a launch
 * maps has allocations of its own as well, so that tools see where each begins and ends.
 */
enum rex_check { REX_CHECK_OFF, REX_CHECK_ON, REX_CHECK_FULL };

/* REX_OPTION_LAUNCH_BY: the sender of a launch to a GPU that is waited for. */
enum rex_launch_by { REX_BY_AUTO, REX_BY_DRIVER, REX_BY_RUNTIME };

/* REX_OPTION_TRACE: where a trace goes. The name of a file is the setting's text. */
enum rex_trace_to { REX_TRACE_NOWHERE, REX_TRACE_TO_FILE, REX_TRACE_SUMMARY };

/*
 * REX_OPTION_LOG is an enum rex_log_level. REX_OPTION_UNFINISHED: whether the end of a region or
 * module waits for unfinished commands, instead of failing. REX_OPTION_COPY_THREADS: how many
 * threads copy; -1: as many as the processors allow. REX_OPTION_REQUIRE_GPU: whether the host
 * device is an error where a GPU was to be used. REX_OPTION_ADOPT: whether code of other compilers
 * is adopted.
 */

/*
 * REX_OPTION_LAUNCH_BLOCKING, for each launch: whether it is waited for. It is read when it is
 * first asked for, and by rex_configure(). Then that calls cuda/deferred.c, by a hook.
 */
extern int8_t rex_launch_blocking;                 /* atomic; -1: not read yet */
extern void (*rex_launches_became_blocking)(void); /* NULL: no launch can be deferred */
bool rex_launch_blocking_read(void);
static inline bool rex_launches_block(void)
{
    int8_t known = __atomic_load_n(&rex_launch_blocking, __ATOMIC_ACQUIRE);
    return __builtin_expect(known < 0, 0) ? rex_launch_blocking_read() : known;
}

/* The text of OPTION as it was given. false: nobody gave one. */
bool rex_setting_text(enum rex_option option, char value[REX_SETTING_MAX]);

/* ---- about settings -------------------------------------------------------------------------- */

/* By option: options are numbered from 0. */
struct rex_setting {
    const char *variable;         /* of the environment */
    const char *otherwise;        /* the value that holds where none was given; "": none */
    const struct rex_word *words; /* NULL: any text is good, but for the log and traces */
    const char *values;           /* what it may be, for messages */
};
#define REX_SETTINGS ((int)REX_OPTION_LAUNCH_BLOCKING + 1)
extern const struct rex_setting rex_settings[REX_SETTINGS];

/* The value that the program itself gave, by rex_configure(); NULL for none. It stays. */
const char *rex_setting_by_program(enum rex_option option);

/*
 * Warn of what is wrong in the environment, of each variable once in the life of the process: a
 * value that it cannot have, and a name that is nearly one of librex's.
 */
void rex_settings_review(void);

#endif
