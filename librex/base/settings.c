/*
 * settings.c - the settings that the program or the environment gives, their values and defaults,
 * and rex_configure().
 *
 * Words may be in upper or lower case. "yes", "true" and "1" mean "on"; "no", "false" and "0" mean
 * "off". An empty value counts as unset.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

/* ---- words ----------------------------------------------------------------------------------- */

struct rex_word {
    const char *name; /* NULL: the end of the table */
    int value;
};

/* clang-format off */
#define SWITCHES                                              \
    {"on", true}, {"yes", true}, {"true", true}, {"1", true}, \
    {"off", false}, {"no", false}, {"false", false}, {"0", false}, {NULL, 0}
/* clang-format on */
static const struct rex_word switches[] = {SWITCHES};
static const struct rex_word checks[] = {{"full", REX_CHECK_FULL}, SWITCHES};
static const struct rex_word waits[] = {{"auto", REX_WAIT_AUTO},       {"spin", REX_WAIT_SPIN},
                                        {"yield", REX_WAIT_YIELD},     {"block", REX_WAIT_BLOCK},
                                        {"runtime", REX_WAIT_RUNTIME}, {NULL, 0}};
static const struct rex_word unfinished[] = {{"error", false}, {"wait", true}, {NULL, 0}};
static const struct rex_word senders[] = {
    {"auto", REX_BY_AUTO}, {"driver", REX_BY_DRIVER}, {"runtime", REX_BY_RUNTIME}, {NULL, 0}};
static const struct rex_word levels[] = {{"error", REX_LOG_ERROR},
                                         {"warn", REX_LOG_WARN},
                                         {"warning", REX_LOG_WARN},
                                         {"", REX_LOG_WARN},
                                         {"info", REX_LOG_INFO},
                                         {"debug", REX_LOG_DEBUG},
                                         {NULL, 0}};
static const struct rex_word counts[] = {{"auto", -1}, {"0", 0}, {"1", 1}, {"2", 2},
                                         {"3", 3},     {"4", 4}, {"5", 5}, {"6", 6},
                                         {"7", 7},     {"8", 8}, {NULL, 0}};

enum { UNKNOWN = INT_MIN };

bool rex_is_word(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool is_upper = text[i] >= 'A' && text[i] <= 'Z';
        if (text[i] + (is_upper ? 'a' - 'A' : 0) != word[i])
            return false;
    }
    return true;
}

/* Returns the value of the word in the first LENGTH bytes of TEXT, or UNKNOWN. */
static int find_word(const struct rex_word *words, const char *text, size_t length)
{
    for (; words->name != NULL; words++)
        if (rex_is_word(text, length, words->name))
            return words->value;
    return UNKNOWN;
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct rex_setting rex_settings[REX_SETTINGS] = {
    [REX_OPTION_OMPTARGET] = {"REX_OMPTARGET", "", NULL, ""},
    [REX_OPTION_CUBIN] = {"REX_CUBIN", "", NULL, ""},
    [REX_OPTION_CUBIN_PATH] = {"REX_CUBIN_PATH", "", NULL, ""},
    [REX_OPTION_LOG] =
        {"REX_LOG", "warn", NULL,
         "LEVEL, LEVEL:FILE or :FILE, where LEVEL is one of off, error, warn, info or debug"},
    [REX_OPTION_WAIT] = {"REX_WAIT", "auto", waits, "auto, spin, yield, block or runtime"},
    [REX_OPTION_ADOPT] = {"REX_ADOPT", "off", switches, "on or off"},
    [REX_OPTION_UNFINISHED] = {"REX_UNFINISHED", "error", unfinished, "error or wait"},
    [REX_OPTION_TRACE] =
        {"REX_TRACE", "off", NULL,
         "off, \"-\" (prints a summary), or a file name (on, yes, true and 1 are not file names)"},
    [REX_OPTION_CHECK] = {"REX_CHECK", "on", checks, "on, off or full"},
    [REX_OPTION_LAUNCH_BY] = {"REX_LAUNCH_BY", "auto", senders, "auto, driver or runtime"},
    [REX_OPTION_COPY_THREADS] = {"REX_COPY_THREADS", "auto", counts,
                                 "auto or a number from 0 to 8"},
    [REX_OPTION_REQUIRE_GPU] = {"REX_REQUIRE_GPU", "off", switches, "on or off"},
    [REX_OPTION_LAUNCH_BLOCKING] = {"REX_LAUNCH_BLOCKING", "on", switches, "on or off"},
};

/*
 * Returns the number that VALUE means for OPTION, or UNKNOWN if VALUE is invalid. Returns 0 if any
 * text is valid for OPTION.
 */
static int meaning_of_value(enum rex_option option, const char *value)
{
    size_t length = strlen(value);
    switch (option) {
    case REX_OPTION_LOG: /* "LEVEL", "LEVEL:FILE" or ":FILE" */
        length = strcspn(value, ":");
        if (strcmp(value + length, ":") == 0)
            return UNKNOWN;
        if (find_word(switches, value, length) == false)
            return REX_LOG_OFF;
        return find_word(levels, value, length);
    case REX_OPTION_TRACE:
        if (strcmp(value, "-") == 0)
            return REX_TRACE_SUMMARY;
        switch (find_word(switches, value, length)) {
        case UNKNOWN: return REX_TRACE_TO_FILE;
        case true: return UNKNOWN; /* refuse "on" and "1", which are hardly names of files */
        default: return REX_TRACE_NOWHERE;
        }
    default:
        if (rex_settings[option].words == NULL)
            return 0;
        return find_word(rex_settings[option].words, value, length);
    }
}

#define COMPLAINT_MAX 512 /* maximum length in bytes, with the NUL */

/*
 * Returns true if VALUE is valid for OPTION. VALUE must not be empty. If VALUE is invalid, writes
 * an error message to COMPLAINT: the variable, and its valid values or its maximum length.
 */
static bool may_have_value(enum rex_option option, const char *value, char complaint[COMPLAINT_MAX])
{
    const char *variable = rex_settings[option].variable;
    if (strlen(value) >= REX_SETTING_MAX) {
        snprintf(complaint, COMPLAINT_MAX, "%s cannot be longer than %d bytes", variable,
                 REX_SETTING_MAX - 1);
        return false;
    }
    if (meaning_of_value(option, value) != UNKNOWN)
        return true;
    snprintf(complaint, COMPLAINT_MAX, "%s cannot be \"%.200s\", only %s", variable, value,
             rex_settings[option].values);
    return false;
}

/* ---- the given values ------------------------------------------------------------------------ */

/*
 * A value that the program gave. The value is never freed, because another thread may be reading
 * it.
 */
struct value {
    struct value *next;
    char text[];
};

/* All members are atomic. */
static struct {
    /* list, newest first; if two threads add one text, the list may have the text twice */
    struct value *values;
    const char *chosen[REX_SETTINGS]; /* the program's values; NULL: not set */
    /*
     * bit N is set after a warning about option N, and bit REX_SETTINGS after the first check of
     * all other variables
     */
    unsigned said;
} given;

int8_t rex_launch_blocking = -1;
void (*rex_launches_became_blocking)(void);

bool rex_launch_blocking_read(void)
{
    int8_t is_blocking = (int8_t)rex_setting_read(REX_OPTION_LAUNCH_BLOCKING);
    __atomic_store_n(&rex_launch_blocking, is_blocking, __ATOMIC_RELEASE);
    return is_blocking;
}

int rex_configure(enum rex_option option, const char *value)
{
    char complaint[COMPLAINT_MAX];
    const char *kept = NULL;
    if ((int)option < 0 || (int)option >= REX_SETTINGS)
        return rex_fail(REX_EINVAL, "rex_configure: option %d does not exist", (int)option);
    if (value != NULL && *value != '\0') {
        if (!may_have_value(option, value, complaint))
            return rex_fail(REX_EINVAL, "rex_configure: %s", complaint);
        struct value *first = __atomic_load_n(&given.values, __ATOMIC_ACQUIRE), *known = first;
        while (known != NULL && strcmp(known->text, value) != 0)
            known = known->next;
        if (known == NULL) {
            known = malloc(sizeof *known + strlen(value) + 1);
            if (known == NULL)
                return rex_fail_memory(strlen(value) + 1, rex_settings[option].variable);
            strcpy(known->text, value);
            known->next = first;
            while (!__atomic_compare_exchange_n(&given.values, &known->next, known, 0,
                                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                ;
        }
        kept = known->text;
    }
    __atomic_store_n(&given.chosen[option], kept, __ATOMIC_RELEASE);
    if (option == REX_OPTION_LAUNCH_BLOCKING && rex_launch_blocking_read() &&
        rex_launches_became_blocking != NULL)
        rex_launches_became_blocking();
    if (option == REX_OPTION_LOG)
        rex_log_decide();
    else if (kept == NULL)
        rex_settings_review();
    return REX_OK;
}

const char *rex_setting_by_program(enum rex_option option)
{
    return __atomic_load_n(&given.chosen[option], __ATOMIC_ACQUIRE);
}

/*
 * Returns the value of VARIABLE, or NULL if it is unset or empty. Always returns NULL in a
 * set-user-ID program, because such a program must not load a library or an image that its user
 * names.
 */
static const char *environment_value(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != NULL && *value != '\0' ? value : NULL;
}

bool rex_setting_text(enum rex_option option, char value[REX_SETTING_MAX])
{
    char complaint[COMPLAINT_MAX];
    const char *found = rex_setting_by_program(option);
    if (found == NULL) {
        found = environment_value(rex_settings[option].variable);
        if (found == NULL || !may_have_value(option, found, complaint))
            return false;
    }
    snprintf(value, REX_SETTING_MAX, "%s", found);
    return true;
}

int rex_setting_given(enum rex_option option, char value[REX_SETTING_MAX])
{
    if (!rex_setting_text(option, value))
        snprintf(value, REX_SETTING_MAX, "%s", rex_settings[option].otherwise);
    return meaning_of_value(option, value);
}

int rex_setting_read(enum rex_option option)
{
    char value[REX_SETTING_MAX];
    return rex_setting_given(option, value);
}

/* ---- warnings about the environment ---------------------------------------------------------- */

/* Returns true for the first call with BIT in the process. */
static bool is_first_warning(unsigned bit)
{
    /* Relaxed: the fetch-or alone selects one thread, and no other data depends on the bits. */
    return !(__atomic_fetch_or(&given.said, 1u << bit, __ATOMIC_RELAXED) & 1u << bit);
}

#define PREFIX "REX_"

void rex_settings_review(void)
{
    char complaint[COMPLAINT_MAX];
    for (int i = 0; i < REX_SETTINGS; i++) {
        enum rex_option option = (enum rex_option)i;
        const char *value = environment_value(rex_settings[i].variable);
        const char *otherwise = rex_settings[i].otherwise;
        if (value != NULL && rex_setting_by_program(option) == NULL &&
            !may_have_value(option, value, complaint) && is_first_warning(option))
            rex_log(REX_LOG_WARN, "%s; %s is %s", complaint, *otherwise != '\0' ? otherwise : "it",
                    *otherwise != '\0' ? "used" : "ignored");
    }
    if (!is_first_warning(REX_SETTINGS))
        return;
    const char *device = environment_value("OMP_DEFAULT_DEVICE");
    if (device != NULL && rex_number_in_text(device) < 0)
        rex_log(REX_LOG_WARN,
                "rex_device_for_rank() ignores OMP_DEFAULT_DEVICE=%s: the value is not a device "
                "number of 0 or more",
                device);
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        char name[64];
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0 || length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *variable);
        if (environment_value(name) == NULL)
            continue;
        struct rex_nearest nearest = {.wanted = name + strlen(PREFIX)};
        int i = 0;
        while (i < REX_SETTINGS && strcmp(rex_settings[i].variable, name) != 0)
            rex_nearest_try(&nearest, rex_settings[i++].variable + strlen(PREFIX));
        /* The name is probably misspelt if at most half of its characters would change. */
        if (i == REX_SETTINGS && nearest.name != NULL &&
            2 * nearest.edits <= strlen(nearest.wanted))
            rex_log(REX_LOG_WARN, "%s is not a setting of librex; the nearest is %s", name,
                    nearest.name - strlen(PREFIX));
    }
}
