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

#include "rex/configure.h"

/* Longest value of a setting, in bytes with its NUL. */
#define REX_SETTING_MAX 4096

/* ---- what holds ------------------------------------------------------------------------------ */

/* The meaning of OPTION: one of the values of its function below. */
int rex_setting_read(enum rex_option option);

/* The same, and its text in VALUE. */
int rex_setting_given(enum rex_option option, char value[REX_SETTING_MAX]);

/* How a thread waits for a GPU. */
enum rex_wait { REX_WAIT_AUTO, REX_WAIT_SPIN, REX_WAIT_YIELD, REX_WAIT_BLOCK, REX_WAIT_RUNTIME };
static inline enum rex_wait rex_setting_wait(void)
{
    return (enum rex_wait)rex_setting_read(REX_OPTION_WAIT);
}

/* Whether code of other compilers is adopted. */
static inline bool rex_setting_adopt(void)
{
    return rex_setting_read(REX_OPTION_ADOPT);
}

/*
 * Whether a registration compares all entries with the image; full: what a launch maps has
 * allocations of its own as well, so that tools see where each begins and ends.
 */
enum rex_check { REX_CHECK_OFF, REX_CHECK_ON, REX_CHECK_FULL };
static inline enum rex_check rex_setting_check(void)
{
    return (enum rex_check)rex_setting_read(REX_OPTION_CHECK);
}

/* The sender of a launch to a GPU that is waited for. */
enum rex_launch_by { REX_BY_AUTO, REX_BY_DRIVER, REX_BY_RUNTIME };
static inline enum rex_launch_by rex_setting_launch_by(void)
{
    return (enum rex_launch_by)rex_setting_read(REX_OPTION_LAUNCH_BY);
}

/* Whether the end of a region or module waits for unfinished commands, instead of failing. */
static inline bool rex_setting_wait_for_unfinished(void)
{
    return rex_setting_read(REX_OPTION_UNFINISHED);
}

/* The level of the log. The name of its file follows a colon in VALUE. */
static inline enum rex_log_level rex_setting_log(char value[REX_SETTING_MAX])
{
    return (enum rex_log_level)rex_setting_given(REX_OPTION_LOG, value);
}

/* Where a trace goes, and in FILE the name of its file if it goes to one. */
enum rex_trace_to { REX_TRACE_NOWHERE, REX_TRACE_TO_FILE, REX_TRACE_SUMMARY };
static inline enum rex_trace_to rex_setting_trace(char file[REX_SETTING_MAX])
{
    return (enum rex_trace_to)rex_setting_given(REX_OPTION_TRACE, file);
}

/* How many threads copy; -1: as many as the processors allow. */
static inline int rex_setting_copy_threads(void)
{
    return rex_setting_read(REX_OPTION_COPY_THREADS);
}

/* Whether the host device is an error where a GPU was to be used. */
static inline bool rex_setting_require_gpu(void)
{
    return rex_setting_read(REX_OPTION_REQUIRE_GPU);
}

/* The text of any other; of those above as it was given. false: nobody gave one. */
bool rex_setting_text(enum rex_option option, char value[REX_SETTING_MAX]);

/* ---- about settings -------------------------------------------------------------------------- */

/* How many there are: options are numbered from 0. */
int rex_setting_count(void);

/* The name of the environment variable of OPTION. */
const char *rex_setting_variable(enum rex_option option);

/* The value that holds where none was given, as text; "" for none. */
const char *rex_setting_default(enum rex_option option);

/* The value that the program itself gave, by rex_configure(); NULL for none. It stays. */
const char *rex_setting_by_program(enum rex_option option);

/*
 * Warn of what is wrong in the environment, of each variable once in the life of the process: a
 * value that it cannot have, and a name that is nearly one of librex's.
 */
void rex_settings_review(void);

#endif
