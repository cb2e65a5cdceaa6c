/*
 * settings.h - what the program or the environment asked for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SETTINGS_H
#define REX_INTERNAL_SETTINGS_H

#include "rex/offload.h"

/* Longest value of an option, in bytes with its NUL. */
#define REX_CONFIG_MAX 4096

/* Copy the value of OPTION to VALUE; 0 if there is none, 1 otherwise. */
int rex_config(enum rex_option option, char value[REX_CONFIG_MAX]);

/* The name of the environment variable of OPTION, for messages. */
const char *rex_config_variable(enum rex_option option);

/* Whether the program itself chose it, by rex_configure(). */
int rex_config_chosen(enum rex_option option);

/* What holds where nobody chose, "" for nothing; and how many options there are. */
const char *rex_config_default(enum rex_option option);
int rex_config_count(void);

#endif
