/*
 * settings.h - the settings that the program or the environment gives.
 *
 * librex ignores an invalid value in the environment, and rex_configure() refuses an invalid value.
 * So a value that the program gave is always valid.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SETTINGS_H
#define REX_INTERNAL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/configure.h"

/* Maximum length of a setting's value, in bytes with the NUL. */
#define REX_SETTING_MAX 4096

/* ---- the current values ---------------------------------------------------------------------- */

/* Returns the value of OPTION as a number: 0 or 1, or one of the enumerators below. */
int rex_setting_read(enum rex_option option);

/*
 * Returns the value of OPTION as a number, and writes the text of the value to VALUE. The text of
 * REX_OPTION_LOG may have the name of a file after a colon.
 */
int rex_setting_given(enum rex_option option, char value[REX_SETTING_MAX]);

/* REX_OPTION_WAIT: how a thread waits for a GPU. */
enum rex_wait { REX_WAIT_AUTO, REX_WAIT_SPIN, REX_WAIT_YIELD, REX_WAIT_BLOCK, REX_WAIT_RUNTIME };

/*
 * REX_OPTION_CHECK: when librex compares entries with the image.
 * - REX_CHECK_OFF: the first launch of a kernel compares the entry of the kernel.
 * - REX_CHECK_ON: a registration compares all entries.
 * - REX_CHECK_FULL: a registration compares all entries. Each row that a launch maps has its own
 *   allocation, so that tools see the begin and end of the row.
 */
enum rex_check { REX_CHECK_OFF, REX_CHECK_ON, REX_CHECK_FULL };

/*
 * REX_OPTION_LAUNCH_BY: whether the driver or libomptarget makes a launch on a GPU, if the launch
 * waits for its kernel.
 */
enum rex_launch_by { REX_BY_AUTO, REX_BY_DRIVER, REX_BY_RUNTIME };

/* REX_OPTION_TRACE: the destination of a trace. The text of the setting is the name of the file. */
enum rex_trace_to { REX_TRACE_NOWHERE, REX_TRACE_TO_FILE, REX_TRACE_SUMMARY };

/*
 * The values of the other options:
 * - REX_OPTION_LOG: an enum rex_log_level
 * - REX_OPTION_UNFINISHED: 1 if a call that ends a region or a module waits for unfinished
 *   commands, 0 if such a call fails
 * - REX_OPTION_COPY_THREADS: the number of threads that make a copy; -1 if librex chooses the
 *   number
 * - REX_OPTION_REQUIRE_GPU: 1 if each call that would use the host device instead of a GPU fails
 * - REX_OPTION_ADOPT: 1 if librex adopts modules of other compilers
 */

/*
 * REX_OPTION_LAUNCH_BLOCKING: 1 if each launch returns only after its kernel is done. The first
 * launch reads the option. rex_configure() reads the option after each change, and calls
 * rex_launches_became_blocking() if the option is 1. cuda/deferred.c sets that function.
 */
extern int8_t rex_launch_blocking;                 /* atomic; -1: not read yet */
extern void (*rex_launches_became_blocking)(void); /* NULL: no launch can be deferred */
bool rex_launch_blocking_read(void);
static inline bool rex_launches_block(void)
{
    int8_t known = __atomic_load_n(&rex_launch_blocking, __ATOMIC_ACQUIRE);
    return __builtin_expect(known < 0, 0) ? rex_launch_blocking_read() : known;
}

/*
 * Writes the text of OPTION to VALUE. Returns false if neither the program nor the environment gave
 * a valid text.
 */
bool rex_setting_text(enum rex_option option, char value[REX_SETTING_MAX]);

/*
 * Returns true if the LENGTH bytes of TEXT are WORD, which is in lower case. The case of TEXT does
 * not matter, in any locale. In a Turkish locale, strcasecmp() takes "I" and "i" for different
 * letters.
 */
bool rex_is_word(const char *text, size_t length, const char *word);

/* ---- about settings -------------------------------------------------------------------------- */

/* A setting; its index in rex_settings[] is its option. */
struct rex_setting {
    const char *variable;  /* the environment variable */
    const char *otherwise; /* the default value; "": no default */
    /* the valid words; NULL: settings.c has a rule for valid texts, or any text is valid */
    const struct rex_word *words;
    const char *values; /* the list of valid values, for messages */
};
#define REX_SETTINGS ((int)REX_OPTION_LAUNCH_BLOCKING + 1)
extern const struct rex_setting rex_settings[REX_SETTINGS];

/* Returns the value that rex_configure() set, or NULL. The value is never freed. */
const char *rex_setting_by_program(enum rex_option option);

/*
 * Logs a warning for each of these environment variables, once in the process:
 * - a variable of librex with an invalid value, unless the program has set the option;
 * - OMP_DEFAULT_DEVICE, if the value is not a device number;
 * - a variable whose name looks like a misspelt name of a variable of librex.
 */
void rex_settings_review(void);

#endif
