/*
 * configure.c - the program's own settings: rex_configure() of rex/offload.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"

int rex_configure(enum rex_option option, const char *value)
{
    char complaint[REX_COMPLAINT_MAX], *copy = NULL;
    if ((int)option < 0 || (int)option >= rex_setting_count())
        return rex_fail(REX_EINVAL, "rex_configure: no option %d", (int)option);
    if (value != NULL && *value != '\0') {
        if (!rex_setting_may_be(option, value, complaint))
            return rex_fail(REX_EINVAL, "rex_configure: %s", complaint);
        copy = strdup(value);
        if (copy == NULL)
            return rex_fail_memory(strlen(value) + 1, rex_setting_variable(option));
    }
    rex_setting_choose(option, copy);
    if (option == REX_OPTION_LOG)
        rex_log_changed();
    else if (copy == NULL)
        rex_log_review();
    return REX_OK;
}
