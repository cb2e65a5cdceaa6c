/*
 * settings.c - what the program or the environment asked for.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cuda/context.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

static const struct {
    const char *variable, *otherwise;
} options[] = {
    [REX_OPTION_OMPTARGET] = {"REX_OMPTARGET", ""},
    [REX_OPTION_CUBIN] = {"REX_CUBIN", ""},
    [REX_OPTION_CUBIN_PATH] = {"REX_CUBIN_PATH", ""},
    [REX_OPTION_LOG] = {"REX_LOG", "warn"},
    [REX_OPTION_WAIT] = {"REX_WAIT", "auto"},
    [REX_OPTION_ADOPT] = {"REX_ADOPT", "off"},
    [REX_OPTION_UNFINISHED] = {"REX_UNFINISHED", "error"},
    [REX_OPTION_TRACE] = {"REX_TRACE", ""},
    [REX_OPTION_CHECK] = {"REX_CHECK", "on"},
    [REX_OPTION_CACHE] = {"REX_CACHE", ""},
};

#define OPTIONS (sizeof options / sizeof *options)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *chosen[OPTIONS];

const char *rex_config_variable(enum rex_option option)
{
    return options[option].variable;
}

const char *rex_config_default(enum rex_option option)
{
    return options[option].otherwise;
}

int rex_config_count(void)
{
    return (int)OPTIONS;
}

REX_FORK_TAKEN(92, NULL);

static int copy_value(const char *from, char *value)
{
    return from != NULL && *from != '\0' &&
           (size_t)snprintf(value, REX_CONFIG_MAX, "%s", from) < REX_CONFIG_MAX;
}

int rex_config(enum rex_option option, char value[REX_CONFIG_MAX])
{
    pthread_mutex_lock(&lock);
    int found = copy_value(chosen[option], value);
    pthread_mutex_unlock(&lock);
    /*
     * secure_getenv: a set-user-ID program must not load a library or an image that its caller
     * names.
     */
    return found || copy_value(secure_getenv(options[option].variable), value);
}

int rex_config_chosen(enum rex_option option)
{
    pthread_mutex_lock(&lock);
    int is_chosen = chosen[option] != NULL && *chosen[option] != '\0';
    pthread_mutex_unlock(&lock);
    return is_chosen;
}

int rex_configure(enum rex_option option, const char *value)
{
    char *copy = NULL;
    enum rex_log_level level;
    const char *file;
    if ((unsigned)option >= OPTIONS)
        return rex_fail(REX_EINVAL, "rex_configure: no option %d", (int)option);
    if (option == REX_OPTION_LOG && value != NULL && *value != '\0' &&
        rex_log_parse(value, &level, &file) != 0)
        return rex_fail(REX_EINVAL,
                        "rex_configure: no log level \"%s\"; there are off, error, warn, info and "
                        "debug, and :FILE may follow",
                        value);
    if (option == REX_OPTION_WAIT && value != NULL && rex_wait_policy(value) < 0)
        return rex_fail(
            REX_EINVAL,
            "rex_configure: no wait policy \"%s\"; there are auto, spin, yield, block and runtime",
            value);
    if ((option == REX_OPTION_ADOPT || option == REX_OPTION_CHECK) && value != NULL &&
        *value != '\0' && strcasecmp(value, "on") != 0 && strcasecmp(value, "off") != 0)
        return rex_fail(REX_EINVAL, "rex_configure: \"%s\" is neither on nor off", value);
    if (option == REX_OPTION_UNFINISHED && value != NULL && *value != '\0' &&
        strcasecmp(value, "error") != 0 && strcasecmp(value, "wait") != 0)
        return rex_fail(REX_EINVAL, "rex_configure: \"%s\" is neither error nor wait", value);
    if (value != NULL && strlen(value) >= REX_CONFIG_MAX)
        return rex_fail(REX_EINVAL, "rex_configure: the value of %s is longer than %d bytes",
                        options[option].variable, REX_CONFIG_MAX - 1);
    if (value != NULL && (copy = strdup(value)) == NULL)
        return rex_fail_memory(strlen(value) + 1, options[option].variable);
    pthread_mutex_lock(&lock);
    char *old = chosen[option];
    chosen[option] = copy;
    pthread_mutex_unlock(&lock);
    free(old);
    if (option == REX_OPTION_LOG)
        rex_log_changed();
    return REX_OK;
}
