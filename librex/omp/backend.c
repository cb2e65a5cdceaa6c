/*
 * backend.c - the backend of a launch on a GPU: the fallback reasons of a process, and their text.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "cuda/driver.h"

/*
 * libomptarget obeys each of these variables. Each variable changes launches, or makes libomptarget
 * report launches.
 */
static const char *const obeyed[] = {"LIBOMPTARGET_INFO",   "LIBOMPTARGET_PROFILE",
                                     "LIBOMPTARGET_RECORD", "LIBOMPTARGET_SHARED_MEMORY_SIZE",
                                     "OMP_TEAM_LIMIT",      "OMP_TEAMS_THREAD_LIMIT",
                                     "OMP_NUM_TEAMS"};

static const char *first_obeyed(void)
{
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        const char *value = getenv(obeyed[i]);
        if (value != NULL && *value != '\0')
            return obeyed[i];
    }
    return NULL;
}

/* Before libomptarget is bound, the program may call libomptarget without librex. */
unsigned rex_backend_state = REX_REASON_UNSEEN_CALLS;

void rex_backend_bind(bool sees_all, bool disabled)
{
    int by = rex_setting_read(REX_OPTION_LAUNCH_BY);
    unsigned seen = disabled ? REX_REASON_DISABLED : 0u;
    seen |= by == REX_BY_DRIVER ? REX_DRIVER_IS_DEMANDED : 0u;
    seen |= by == REX_BY_RUNTIME ? REX_REASON_ASKED : 0u;
    if (rex_cuda_devices() == 0)
        seen |= REX_REASON_NO_DRIVER;
    else if (rex_cuda_need(REX_CUDA_QUEUES) != 0)
        seen |= REX_REASON_OLD_DRIVER;
    seen |= first_obeyed() != NULL ? REX_REASON_ENVIRONMENT : 0u;
    /*
     * Find out whether libomp loads an OMPT tool. As libomp does, look in OMP_TOOL and
     * OMP_TOOL_LIBRARIES, and for the symbol ompt_start_tool. Ignore the ompt_start_tool() of
     * libomp itself, because that function does nothing. Ignore archer, a tool that comes with
     * libomp: archer does nothing without ThreadSanitizer, and ignores devices.
     */
    const char *wanted = getenv("OMP_TOOL"), *libraries = getenv("OMP_TOOL_LIBRARIES");
    bool is_wanted = wanted == NULL || !rex_is_word(wanted, strlen(wanted), "disabled");
    bool is_foreign = false;
    void *start = is_wanted ? dlsym(RTLD_DEFAULT, "ompt_start_tool") : NULL;
    Dl_info info;
    if (start != NULL && dladdr(start, &info) != 0) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *name = slash != NULL ? slash + 1 : info.dli_fname;
        is_foreign = strncmp(name, "libomp", 6) != 0 && strncmp(name, "libiomp", 7) != 0 &&
                     strncmp(name, "libarcher", 9) != 0;
    }
    if (is_foreign || (is_wanted && libraries != NULL && *libraries != '\0'))
        seen |= REX_REASON_TOOL;
    __atomic_fetch_or(&rex_backend_state, seen, __ATOMIC_ACQ_REL);
    /*
     * Log only reasons that apply to the whole process. Each kernel logs its own reason at its
     * first launch.
     */
    if ((seen & REX_REASON_REPORTS) != 0 &&
        (seen & (REX_REASON_NO_GPU | REX_DRIVER_IS_DEMANDED)) == 0) {
        char why[REX_REASON_MAX];
        rex_reason_text((struct rex_reason){.mask = seen & REX_REASON_REPORTS}, why);
        rex_log(REX_LOG_INFO,
                "libomptarget makes all launches and copies except those in queues: %s", why);
    }
    if (sees_all)
        __atomic_fetch_and(&rex_backend_state, ~(unsigned)REX_REASON_UNSEEN_CALLS,
                           __ATOMIC_ACQ_REL);
}

void rex_reason_text(struct rex_reason reason, char text[REX_REASON_MAX])
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        REX_REASON_LIST(TEXT)
#undef TEXT
    };
    const char *about = reason.about;
    if (reason.mask & REX_REASON_ASKED)
        about = rex_settings[REX_OPTION_LAUNCH_BY].variable;
    else if (reason.mask & REX_REASON_ENVIRONMENT)
        about = first_obeyed();
    unsigned first = 0;
    while (first < REX_REASON_COUNT - 1 && !(reason.mask & 1u << first))
        first++;
    const char *hole = strstr(texts[first], "%s");
    if (hole == NULL)
        snprintf(text, REX_REASON_MAX, "%s", texts[first]);
    else
        snprintf(text, REX_REASON_MAX, "%.*s%s%s", (int)(hole - texts[first]), texts[first],
                 about != NULL ? about : "", hole + 2);
}
