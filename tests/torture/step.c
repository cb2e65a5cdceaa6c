/*
 * step.c - whether a step of a scenario may end as it does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "step.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rex.h"

static bool is_device(const char *name)
{
    const char *device = getenv("TORTURE_DEVICE");
    return device != NULL && strcmp(device, name) == 0;
}

bool torture_on_host(void)
{
    return is_device("host");
}

bool torture_on_fake(void)
{
    return is_device("fake");
}

bool torture_computes(void)
{
    return !torture_on_fake();
}

/* ---- which error fits --------------------------------------------------------------------------------------------------------------- */

#define BIT(error) (1u << -(error))
#define OF_IMAGES (BIT(REX_EREAD) | BIT(REX_ENOIMAGE) | BIT(REX_EIMAGE) | BIT(REX_EUNSAFE) | BIT(REX_ENODEVICE))
#define OF_LIBRARIES \
    (BIT(REX_ERUNTIME) | BIT(REX_ENORUNTIME) | BIT(REX_ENODEVICE) | BIT(REX_EUNSUPPORTED) | BIT(REX_ECUDA) | BIT(REX_EIMAGE))

/* What the caller may be told of a failure that is none of its own making. */
static unsigned fitting(enum kind kind, int code)
{
    if (kind != KIND_DRIVER && kind != KIND_RUNTIME && code == ENOMEM)
        return BIT(REX_ENOMEM);
    switch (kind) {
    case KIND_MEMORY:
    case KIND_THREADS: return BIT(REX_ENOMEM);
    case KIND_FILES: return OF_IMAGES | OF_LIBRARIES;
    case KIND_LOADER: return OF_LIBRARIES;
    case KIND_DRIVER: /* a queue of which the driver cannot tell may be at work */
        return BIT(REX_EBUSY) | BIT(REX_ECUDA) | BIT(REX_ENODEVICE) | BIT(REX_EIMAGE) | (code == 2 ? BIT(REX_ENOMEM) : 0);
    default: /* no device is like no module */
        return BIT(REX_EINVAL) | BIT(REX_ERUNTIME) | BIT(REX_ENODEVICE) | BIT(REX_EHOST) | BIT(REX_EDEVICE) | BIT(REX_ENOMEM) |
               BIT(REX_EABSENT);
    }
}

static bool fits(const struct plan *plan, int result)
{
    return result < 0 && result > -32 && fitting(torture_calls[plan->call].kind, plan->code) & BIT(result);
}

/* A device that was lost stays so. */
static bool is_lost(const struct plan *plan, int result)
{
    return plan->call >= 0 && torture_calls[plan->call].kind == KIND_DRIVER && plan->code == 700 && result == REX_ECUDA &&
           strstr(rex_last_error(), "lost") != NULL;
}

/* A library that is not there, or lacks a function, stays so. */
static bool is_of_library(const struct plan *plan)
{
    return plan->call >= 0 && torture_calls[plan->call].kind == KIND_LOADER && plan->code == ENOENT;
}

/* ---- a step ------------------------------------------------------------------------------------------------------------------------- */

#define NO_OPTION ((enum rex_option)999)

static void ignore(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
}

void step_begin(void)
{
    rex_set_log_callback(ignore, NULL);
    rex_configure(NO_OPTION, NULL);
    rex_set_log_callback(NULL, NULL);
}

int step_code(void)
{
    return rex_last_error_code() != 0 ? rex_last_error_code() : REX_EINVAL;
}

bool step_is_silent(void)
{
    return strstr(rex_last_error(), "option 999 does not exist") != NULL;
}

/* What is allocated in several parts is told as a whole, or by the image that it is of. */
#define PARTS "@(a copy of*|a graph|*in a graph|a library|the entries of*|the index of*|the symbols of*)"

/* A message of memory names what was asked for. */
static bool tells_size(const struct plan *plan)
{
    size_t size;
    char of[64];
    const char *text = strstr(rex_last_error(), "out of memory: ");
    return torture_calls[plan->call].kind != KIND_MEMORY || text == NULL ||
           sscanf(text, "out of memory: %zu bytes for %63[^\n]", &size, of) != 2 ||
           torture_lacked(size, fnmatch(PARTS, of, FNM_EXTMATCH) == 0);
}

/* Why the step may not end with RESULT; NULL: it may. */
static const char *wrong(int result)
{
    const struct plan *plan = torture_plan();
    if (!torture_fired())
        return "fails, and nothing else has failed before it";
    if (is_lost(plan, result))
        return NULL;
    if (!torture_armed() && !is_of_library(plan))
        return "still fails when nothing else does any more";
    if (step_is_silent() && result != REX_EHOST)
        return "fails, and sets no error";
    if (rex_last_error()[0] == '\0')
        return "fails, and its error is empty";
    if (result != REX_EHOST && rex_last_error_code() != result)
        return "fails with another error than the last one";
    if (!tells_size(plan))
        return "fails, and tells of a size that was not asked for";
    return fits(plan, result) ? NULL : "fails with an error that does not fit";
}

bool step_ended(const char *what, int result, int also)
{
    torture_report->has_failed |= result < 0 && result != also;
    if (result >= 0 || result == also)
        return true;
    const char *why = wrong(result);
    if (why != NULL)
        PROBLEM("%.60s %s: %s, %s", what, why, rex_error_name(result), rex_last_error());
    return false;
}
