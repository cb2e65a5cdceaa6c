/* log.h - lines on standard error. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_LOG_H
#define REX_INTERNAL_LOG_H

enum rex_log_level { REX_LOG_OFF, REX_LOG_ERROR, REX_LOG_WARN, REX_LOG_INFO, REX_LOG_DEBUG };

/* One line, "librex: MESSAGE", if REX_LOG lets LEVEL through. */
void rex_log(enum rex_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, unless the line before was equal: a launch that fails in a loop says so once. */
void rex_log_once(enum rex_log_level level, const char *message);

/* Is there a level of this name? */
int rex_log_level_exists(const char *name);

#endif
