/*
 * forms.h - launches and data regions in one line, in C11 and in C++11: FORMS names what it defines.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include "form.h"
#include "kernels.h"

REX_KERNEL_DECLARE(nothing, void);
REX_KERNEL_DECLARE(one, (int32_t *) x);
REX_KERNEL_DECLARE(add, ADD);
REX_KERNEL_DECLARE(many, MANY);
REX_KERNEL_DECLARE(cube); /* no list: librex alone compares */

enum { LENGTH = 3000 };
static int32_t x[LENGTH], y[LENGTH];

#define EXPECT(condition)      \
    do {                       \
        if (!(condition))      \
            return #condition; \
    } while (0)

static void fill(int32_t value)
{
    for (int32_t i = 0; i < LENGTH; i++)
        x[i] = value;
}

/* Whether the first N of x are VALUE, and the others OTHER. */
static bool are(int64_t n, int32_t value, int32_t other)
{
    bool yes = true;
    for (int64_t i = 0; i < LENGTH; i++)
        yes = yes && x[i] == (i < n ? value : other);
    return yes;
}

/* ---- launches ---------------------------------------------------------------------------------------------------------------- */

/* None, one, and as many as there can be, of variables that have the names of what the macros and functions use. */
static const char *numbers_of_rows(void)
{
    const int64_t rows = 1, row = 2, columns = 3, scope = 4, once = 5, map = 6, launch = 7, text = 8, error = 9, key = 10, count = 11, config = 12,
                  list = 13, stem = 14, kernel = 15, teams = 16, threads = 17, device = 18, iterations = 19, result = 20, all = 21, base = 22,
                  begin = 23, sizes = 24, types = 25, rex_launch = 26, rex_columns = 27, rex_scope = 28, rex_once = 29, rex_error = 30,
                  rex_row = 31, rex_map = 32, rex_config = 33;
    int64_t out[63] = {0};
    int fails = 0;
    x[0] = 0;
    EXPECT(REX_LAUNCH(nothing, 1, 1) == 0);
    EXPECT(REX_LAUNCH(one, 1, 1, REX_FROM(x, 1)) == 0 && x[0] == 7);
    REX_DATA_REGION(&fails, -1, REX_FROM(out, columns + scope + once + map + 45))
        fails = REX_LAUNCH(
            many, rows, row, REX_ALLOC(out, launch + 56), REX_VALUE(rows), REX_VALUE(row), REX_VALUE(columns), REX_VALUE(scope), REX_VALUE(once),
            REX_VALUE(map), REX_VALUE(launch), REX_VALUE(text), REX_VALUE(error), REX_VALUE(key), REX_VALUE(count), REX_VALUE(config),
            REX_VALUE(list), REX_VALUE(stem), REX_VALUE(kernel), REX_VALUE(teams), REX_VALUE(threads), REX_VALUE(device), REX_VALUE(iterations),
            REX_VALUE(result), REX_VALUE(all), REX_VALUE(base), REX_VALUE(begin), REX_VALUE(sizes), REX_VALUE(types), REX_VALUE(rex_launch),
            REX_VALUE(rex_columns), REX_VALUE(rex_scope), REX_VALUE(rex_once), REX_VALUE(rex_error), REX_VALUE(rex_row), REX_VALUE(rex_map),
            REX_VALUE(rex_config), REX_VALUE(34), REX_VALUE(35u), REX_VALUE((int8_t)36), REX_VALUE((short)37), REX_VALUE(38L), REX_VALUE(39),
            REX_VALUE(40), REX_VALUE(41), REX_VALUE(42), REX_VALUE(43), REX_VALUE(44), REX_VALUE(45), REX_VALUE(46), REX_VALUE(47), REX_VALUE(48),
            REX_VALUE(49), REX_VALUE(50), REX_VALUE(51), REX_VALUE(52), REX_VALUE(53), REX_VALUE(54), REX_VALUE(55), REX_VALUE(56), REX_VALUE(57),
            REX_VALUE(58), REX_VALUE(59), REX_VALUE(60), REX_VALUE(61), REX_VALUE(62), REX_VALUE(63));
    EXPECT(fails == 0);
    for (int64_t i = 0; i < 63; i++)
        EXPECT(out[i] == i + 1);
    return NULL;
}

static const char *iterations(void)
{
    static const int64_t numbers[] = {0, 1, -1, INT64_MIN, LENGTH - 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int64_t n = numbers[i];
        fill(0);
        EXPECT(REX_LAUNCH_FOR(add, n, REX_VALUE(n), REX_TOFROM(x, LENGTH)) == 0);
        EXPECT(are(n, 1, 0));
    }
    EXPECT(REX_LAUNCH_FOR(nothing, 4) == 0);
    return NULL;
}

static const char *in_a_queue(void)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, LENGTH);
    int error = 0;
    fill(0);
    EXPECT(rex_queue_create(&config.queue, -1, "oneline", 0) == 0);
    REX_DATA_REGION(&error, -1, REX_TOFROM(x, LENGTH)) {
        error = REX_LAUNCH_WITH(add, config, REX_VALUE(LENGTH), REX_ALLOC(x, LENGTH));
        if (error == 0)
            error = rex_queue_sync(config.queue);
    }
    EXPECT(error == 0 && are(LENGTH, 1, 0));
    EXPECT(rex_queue_destroy(config.queue) == 0);
    return NULL;
}

static const char *configurations(void)
{
    const int ni = 5, nj = 7, nk = 11;
    struct rex_launch_config config = rex_launch_config_of(NULL, 2, 4);
    config.teams[1] = config.threads[1] = config.teams[2] = config.threads[2] = 2;
    config.key = x; /* which is not looked at */
    fill(0);
    EXPECT(REX_LAUNCH_WITH(cube, config, REX_VALUE(ni), REX_VALUE(nj), REX_VALUE(nk), REX_TOFROM(x, LENGTH)) == 0);
    EXPECT(are(ni * nj * nk, 1, 0));
    EXPECT(config.key == x && config.teams[0] == 2);

    config = rex_launch_config_of(NULL, 0, 64);
    config.trip_count = LENGTH;
    EXPECT(REX_LAUNCH_WITH(add, config, REX_VALUE(LENGTH), REX_TOFROM(x, LENGTH)) == 0);
    EXPECT(are(ni * nj * nk, 2, 1));
    return in_a_queue();
}

static int evaluated;
static struct rex_launch_config counted(void)
{
    evaluated++;
    return rex_launch_config_of(NULL, 1, 1);
}

static const char *evaluation(void)
{
    int64_t teams = 1, threads = 1, n = 10, length = 1000, device = -2;
    int32_t *at = x;
    int errors[2] = {0, 0}, *error = errors;
    fill(0);
    evaluated = 0;
    EXPECT(REX_LAUNCH(add, teams++, threads++, REX_VALUE(n++), REX_ALWAYS(REX_TOFROM(at++, length++))) == 0);
    EXPECT(teams == 2 && threads == 2 && n == 11 && length == 1001 && at == x + 1 && are(10, 1, 0));
    EXPECT(REX_LAUNCH_FOR(add, n++, REX_VALUE(10), REX_IMPLICIT(REX_TOFROM(at++, length++))) == 0);
    EXPECT(n == 12 && length == 1002 && at == x + 2);
    EXPECT(REX_LAUNCH_WITH(cube, counted(), REX_VALUE(teams++), REX_VALUE(n++), REX_VALUE(1), REX_TOFROM(at++, length++),
                           REX_NO_PARAM(REX_TO(error, threads++))) == 0);
    EXPECT(evaluated == 1 && teams == 3 && n == 13 && length == 1003 && at == x + 3 && threads == 3);
    REX_DATA_REGION(error++, ++device, REX_TO(at++, length++)) {
        EXPECT(device == -1 && at == x + 4 && length == 1004);
    }
    EXPECT(device == -1 && at == x + 4 && length == 1004 && error == errors + 1);
    return NULL;
}

/* ---- regions ----------------------------------------------------------------------------------------------------------------- */

static int add_one(void)
{
    return REX_LAUNCH_FOR(add, LENGTH, REX_VALUE(LENGTH), REX_ALLOC(x, LENGTH));
}

static bool is_mapped(void)
{
    return rex_target_is_present(x, 1, -1);
}

enum way { TO_THE_END, BREAK, CONTINUE, GOTO, RETURN, WAYS };

/* Leaves a region of x by WAY. */
static int leave(int way, int *error)
{
    int ran = 0;
    REX_DATA_REGION(error, -1, REX_TOFROM(x, LENGTH)) {
        ran += add_one() == 0 && (error == NULL || *error == 0);
        if (way == BREAK)
            break;
        if (way == CONTINUE)
            continue;
        if (way == GOTO)
            goto out;
        if (way == RETURN)
            return ran + 16;
    }
out:
    return ran;
}

static const char *ways_out_of_a_region(void)
{
    for (int way = TO_THE_END; way < WAYS; way++) {
        int error = 1;
        fill(5);
        EXPECT(leave(way, &error) == (way == RETURN ? 17 : 1) && error == 0);
        EXPECT(are(LENGTH, 6, 0) && !is_mapped());
        EXPECT(leave(way, NULL) == (way == RETURN ? 17 : 1));
        EXPECT(are(LENGTH, 7, 0) && !is_mapped());
    }
    return NULL;
}

static const char *failing_regions(void)
{
    int error = 1, ran = 0;
    REX_DATA_REGION(&error, -1, REX_TO(y, LENGTH), REX_PRESENT(REX_TOFROM(x, LENGTH)))
        ran++;
    EXPECT(ran == 0 && error == REX_EABSENT && rex_last_error_code() == REX_EABSENT);
    REX_DATA_REGION(NULL, 1 << 20, REX_TOFROM(x, LENGTH))
        ran++;
    EXPECT(ran == 0 && rex_last_error_code() == REX_EDEVICE && !is_mapped());
    /* What the block itself has set stays. */
    REX_DATA_REGION(&error, -1, REX_TO(x, LENGTH))
        error = 42;
    EXPECT(error == 42);
    return NULL;
}

static const char *regions_together(void)
{
    int outer = 1, inner = 1;
    fill(5);
    REX_DATA_REGION(&outer, -1, REX_TOFROM(x, LENGTH)) {
        REX_DATA_REGION(&inner, -1, REX_TOFROM(x, LENGTH), REX_TO(y, 1))
            outer = add_one();
        EXPECT(outer == 0 && inner == 0 && are(LENGTH, 5, 0) && is_mapped());
    }
    EXPECT(are(LENGTH, 6, 0) && !is_mapped());
    REX_DATA_REGION(&outer, -1, REX_TOFROM(x, LENGTH)) { outer = add_one(); } REX_DATA_REGION(&inner, -1, REX_TOFROM(x, LENGTH)) { inner = add_one(); }
    EXPECT(outer == 0 && inner == 0 && are(LENGTH, 8, 0) && !is_mapped());
    return NULL;
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */

static struct rex_launch_config config_of(int64_t teams, int64_t threads)
{
    return rex_launch_config_of(NULL, teams, threads);
}

static int64_t second(int64_t first, int64_t other)
{
    return (void)first, other;
}

/* The last error is ERROR, and quotes ROW. */
static bool said(int error, const char *row)
{
    return rex_last_error_code() == error && strstr(rex_last_error(), row) != NULL;
}

static const char *messages(void)
{
    const int64_t n = 10;
    int error = 0;
    EXPECT(REX_LAUNCH(cube, 1, 1, REX_VALUE(n), REX_TO(x, n), REX_VALUE(n), REX_TOFROM(y, n)) == REX_EPARAMS);
    EXPECT(said(REX_EPARAMS, "; row 1 is REX_TO(x, n);"));
    EXPECT(REX_LAUNCH_FOR(cube, second(n, n), REX_VALUE(n), REX_TO(x, 2), REX_VALUE(n), REX_TOFROM(y, n)) == REX_EPARAMS);
    EXPECT(said(REX_EPARAMS, "; row 1 is REX_TO(x, 2);"));
    EXPECT(REX_LAUNCH_WITH(cube, config_of(1, 1), REX_VALUE(n), REX_TO(x, 3), REX_VALUE(n), REX_TOFROM(y, n)) == REX_EPARAMS);
    EXPECT(said(REX_EPARAMS, "; row 1 is REX_TO(x, 3);"));
    REX_DATA_REGION(&error, second(0, -1), REX_ALLOC(x, n), REX_PRESENT(REX_TO(y, n))) {
    }
    EXPECT(error == REX_EABSENT && said(REX_EABSENT, "; row 1 is REX_PRESENT(REX_TO(y, n))"));
    return NULL;
}

extern const struct forms FORMS;
const struct forms FORMS = {numbers_of_rows,      iterations,      configurations,   evaluation,
                            ways_out_of_a_region, failing_regions, regions_together, messages};
