/*
 * settings.c - what the program or the environment asked for: all settings, their values and
 * defaults.
 *
 * One rule for all: words are known in either case; on, yes, true and 1 are one word, and off, no,
 * false and 0 another; an empty value is as good as none.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/names.h"

/* ---- words ----------------------------------------------------------------------------------- */

struct word {
    const char *name; /* NULL: the end */
    int value;
};

static const struct word switches[] = {{"on", true},  {"off", false}, {"yes", true},
                                       {"no", false}, {"true", true}, {"false", false},
                                       {"1", true},   {"0", false},   {NULL, 0}};

enum { UNKNOWN = -1 };

/* The word of which TEXT has LENGTH bytes. */
static int find(const struct word *words, const char *text, size_t length)
{
    for (; words->name != NULL; words++)
        if (strlen(words->name) == length && strncasecmp(text, words->name, length) == 0)
            return words->value;
    return UNKNOWN;
}

static int read_switch(const char *value)
{
    return find(switches, value, strlen(value));
}

static int read_wait(const char *value)
{
    static const struct word words[] = {{"auto", REX_WAIT_AUTO},       {"spin", REX_WAIT_SPIN},
                                        {"yield", REX_WAIT_YIELD},     {"block", REX_WAIT_BLOCK},
                                        {"runtime", REX_WAIT_RUNTIME}, {NULL, 0}};
    return find(words, value, strlen(value));
}

static int read_unfinished(const char *value)
{
    static const struct word words[] = {{"error", false}, {"wait", true}, {NULL, 0}};
    return find(words, value, strlen(value));
}

/* "LEVEL", "LEVEL:FILE" or ":FILE" */
static int read_log(const char *value)
{
    static const struct word words[] = {{"error", REX_LOG_ERROR},
                                        {"warn", REX_LOG_WARN},
                                        {"warning", REX_LOG_WARN},
                                        {"", REX_LOG_WARN},
                                        {"info", REX_LOG_INFO},
                                        {"debug", REX_LOG_DEBUG},
                                        {NULL, 0}};
    size_t length = strcspn(value, ":");
    bool lacks_file = strcmp(value + length, ":") == 0;
    bool is_off = find(switches, value, length) == false;
    return lacks_file ? UNKNOWN : is_off ? REX_LOG_OFF : find(words, value, length);
}

/* A file called "on" or "1" was hardly meant. */
static int read_trace(const char *value)
{
    if (strcmp(value, "-") == 0)
        return REX_TRACE_SUMMARY;
    int found = read_switch(value);
    return found == UNKNOWN ? REX_TRACE_TO_FILE : found ? UNKNOWN : REX_TRACE_NOWHERE;
}

static int read_launch_by(const char *value)
{
    static const struct word words[] = {
        {"auto", REX_BY_AUTO}, {"driver", REX_BY_DRIVER}, {"runtime", REX_BY_RUNTIME}, {NULL, 0}};
    return find(words, value, strlen(value));
}

static int read_check(const char *value)
{
    return strcasecmp(value, "full") == 0 ? REX_CHECK_FULL : read_switch(value);
}

/* A number of one digit; "auto" is the number behind the last. */
enum { MOST_COPY_THREADS = 8, AUTO_COPY_THREADS };

static int read_copy_threads(const char *value)
{
    static const struct word words[] = {{"auto", AUTO_COPY_THREADS}, {NULL, 0}};
    bool is_number = *value >= '0' && *value <= '0' + MOST_COPY_THREADS && value[1] == '\0';
    return is_number ? *value - '0' : find(words, value, strlen(value));
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *variable, *otherwise;
    int (*read)(const char *value); /* NULL: any text is good */
    const char *values;             /* for messages */
} options[] = {
    [REX_OPTION_OMPTARGET] = {"REX_OMPTARGET", "", NULL, ""},
    [REX_OPTION_CUBIN] = {"REX_CUBIN", "", NULL, ""},
    [REX_OPTION_CUBIN_PATH] = {"REX_CUBIN_PATH", "", NULL, ""},
    [REX_OPTION_LOG] = {"REX_LOG", "warn", read_log,
                        "off, error, warn, info or debug, and :FILE behind it or alone"},
    [REX_OPTION_WAIT] = {"REX_WAIT", "auto", read_wait, "auto, spin, yield, block or runtime"},
    [REX_OPTION_ADOPT] = {"REX_ADOPT", "off", read_switch, "on or off"},
    [REX_OPTION_UNFINISHED] = {"REX_UNFINISHED", "error", read_unfinished, "error or wait"},
    [REX_OPTION_TRACE] = {"REX_TRACE", "off", read_trace, "the name of a file, - or off"},
    [REX_OPTION_CHECK] = {"REX_CHECK", "on", read_check, "on, off or full"},
    [REX_OPTION_LAUNCH_BY] = {"REX_LAUNCH_BY", "auto", read_launch_by, "auto, driver or runtime"},
    [REX_OPTION_COPY_THREADS] = {"REX_COPY_THREADS", "auto", read_copy_threads,
                                 "auto or a number from 0 to 8"},
    [REX_OPTION_REQUIRE_GPU] = {"REX_REQUIRE_GPU", "off", read_switch, "on or off"},
};

#define OPTIONS (sizeof options / sizeof *options)

int rex_setting_count(void)
{
    return (int)OPTIONS;
}

const char *rex_setting_variable(enum rex_option option)
{
    return options[option].variable;
}

const char *rex_setting_default(enum rex_option option)
{
    return options[option].otherwise;
}

bool rex_setting_may_be(enum rex_option option, const char *value,
                        char complaint[REX_COMPLAINT_MAX])
{
    const char *variable = options[option].variable;
    if (strlen(value) >= REX_SETTING_MAX)
        snprintf(complaint, REX_COMPLAINT_MAX, "%s cannot be longer than %d bytes", variable,
                 REX_SETTING_MAX - 1);
    else if (options[option].read != NULL && options[option].read(value) == UNKNOWN)
        snprintf(complaint, REX_COMPLAINT_MAX, "%s cannot be \"%.200s\", only %s", variable, value,
                 options[option].values);
    else
        return true;
    return false;
}

/* ---- what was given -------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *chosen[OPTIONS]; /* by the program; NULL: not */

REX_FORK_TAKEN(92, NULL);

void rex_setting_choose(enum rex_option option, char *value)
{
    pthread_mutex_lock(&lock);
    char *old = chosen[option];
    chosen[option] = value;
    pthread_mutex_unlock(&lock);
    free(old);
}

bool rex_setting_by_program(enum rex_option option)
{
    pthread_mutex_lock(&lock);
    bool is_chosen = chosen[option] != NULL;
    pthread_mutex_unlock(&lock);
    return is_chosen;
}

static bool copy_chosen(enum rex_option option, char value[REX_SETTING_MAX])
{
    pthread_mutex_lock(&lock);
    bool is_chosen = chosen[option] != NULL;
    if (is_chosen)
        snprintf(value, REX_SETTING_MAX, "%s", chosen[option]);
    pthread_mutex_unlock(&lock);
    return is_chosen;
}

/*
 * The value of VARIABLE, NULL for none or an empty one. A set-user-ID program must not load a
 * library or an image that its caller names, so that for it there is none.
 */
static const char *in_environment(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != NULL && *value != '\0' ? value : NULL;
}

bool rex_setting_text(enum rex_option option, char value[REX_SETTING_MAX])
{
    char complaint[REX_COMPLAINT_MAX];
    if (copy_chosen(option, value))
        return true;
    const char *found = in_environment(options[option].variable);
    if (found == NULL || !rex_setting_may_be(option, found, complaint))
        return false;
    snprintf(value, REX_SETTING_MAX, "%s", found);
    return true;
}

/* What OPTION is read as, and its text in VALUE. */
static int read_setting(enum rex_option option, char value[REX_SETTING_MAX])
{
    if (!rex_setting_text(option, value))
        snprintf(value, REX_SETTING_MAX, "%s", options[option].otherwise);
    return options[option].read(value);
}

enum rex_wait rex_setting_wait(void)
{
    char value[REX_SETTING_MAX];
    return (enum rex_wait)read_setting(REX_OPTION_WAIT, value);
}

bool rex_setting_adopt(void)
{
    char value[REX_SETTING_MAX];
    return read_setting(REX_OPTION_ADOPT, value);
}

enum rex_check rex_setting_check(void)
{
    char value[REX_SETTING_MAX];
    return (enum rex_check)read_setting(REX_OPTION_CHECK, value);
}

enum rex_launch_by rex_setting_launch_by(void)
{
    char value[REX_SETTING_MAX];
    return (enum rex_launch_by)read_setting(REX_OPTION_LAUNCH_BY, value);
}

bool rex_setting_wait_for_unfinished(void)
{
    char value[REX_SETTING_MAX];
    return read_setting(REX_OPTION_UNFINISHED, value);
}

enum rex_log_level rex_setting_log(char file[REX_SETTING_MAX])
{
    char value[REX_SETTING_MAX];
    int level = read_setting(REX_OPTION_LOG, value);
    const char *colon = strchr(value, ':');
    snprintf(file, REX_SETTING_MAX, "%s", colon != NULL ? colon + 1 : "");
    return (enum rex_log_level)level;
}

enum rex_trace_to rex_setting_trace(char file[REX_SETTING_MAX])
{
    return (enum rex_trace_to)read_setting(REX_OPTION_TRACE, file);
}

int rex_setting_copy_threads(void)
{
    char value[REX_SETTING_MAX];
    int count = read_setting(REX_OPTION_COPY_THREADS, value);
    return count == AUTO_COPY_THREADS ? -1 : count;
}

bool rex_setting_require_gpu(void)
{
    char value[REX_SETTING_MAX];
    return read_setting(REX_OPTION_REQUIRE_GPU, value);
}

/* ---- what is wrong in the environment -------------------------------------------------------- */

/* Whether nobody has said it before: BIT is that of an option, or the one behind them. */
static bool first_time(unsigned bit)
{
    static unsigned said;
    /* Relaxed: which thread says it is all one, as long as it is one. */
    return !(__atomic_fetch_or(&said, 1u << bit, __ATOMIC_RELAXED) & 1u << bit);
}

static void review_value(enum rex_option option, void (*say)(const char *complaint))
{
    const char *value = in_environment(options[option].variable);
    const char *otherwise = options[option].otherwise;
    char complaint[REX_COMPLAINT_MAX];
    if (value == NULL || rex_setting_by_program(option) ||
        rex_setting_may_be(option, value, complaint) || !first_time(option))
        return;
    size_t length = strlen(complaint);
    snprintf(complaint + length, sizeof complaint - length, "; %s is used",
             *otherwise != '\0' ? otherwise : "none");
    say(complaint);
}

#define PREFIX "REX_"

/* The variable that was probably meant by NAME, which is none: at most half of it is mistyped. */
static const char *meant_by(const char *name)
{
    struct rex_nearest nearest = {.wanted = name + strlen(PREFIX)};
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(options[i].variable, name) == 0)
            return NULL;
        rex_nearest_try(&nearest, options[i].variable + strlen(PREFIX));
    }
    bool is_near = nearest.name != NULL && 2 * nearest.edits <= strlen(nearest.wanted);
    return is_near ? nearest.name - strlen(PREFIX) : NULL;
}

static void review_name(const char *variable, void (*say)(const char *complaint))
{
    char name[64], complaint[REX_COMPLAINT_MAX];
    size_t length = strcspn(variable, "=");
    if (strncmp(variable, PREFIX, strlen(PREFIX)) != 0 || length >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, variable);
    const char *meant = in_environment(name) != NULL ? meant_by(name) : NULL;
    if (meant == NULL)
        return;
    snprintf(complaint, sizeof complaint, "%s is no setting of librex; the nearest is %s", name,
             meant);
    say(complaint);
}

void rex_settings_review(void (*say)(const char *complaint))
{
    for (size_t i = 0; i < OPTIONS; i++)
        review_value((enum rex_option)i, say);
    if (first_time(OPTIONS))
        for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
            review_name(*variable, say);
}
