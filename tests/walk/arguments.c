/*
 * arguments.c - the kinds of arguments, the values of each, and how steps are written and read.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

#define LIST(...)         \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* The usual values come first; `variables`: so many are variables, and the rest is NULL. */
static const struct kind {
    char letter;
    int usual, variables;
    const char *const *values;
} kinds[] = {
    {'m', 1, 4, LIST("&module", "&other", "&broken", "&globals", "NULL")},
    {'q', 2, 3, LIST("queue0", "queue1", "queue2", "NULL")},
    {'Q', 2, 3, LIST("&queue0", "&queue1", "&queue2", "NULL")},
    {'e', 2, 3, LIST("event0", "event1", "event2", "NULL")},
    {'E', 2, 3, LIST("&event0", "&event1", "&event2", "NULL")},
    {'g', 1, 2, LIST("graph0", "graph1", "NULL")},
    {'G', 1, 2, LIST("&graph0", "&graph1", "NULL")},
    {'v', 2, 2, LIST("view0", "view1", "NULL")},
    {'V', 2, 2, LIST("&view0", "&view1", "NULL")},
    {'l', 2, 2, LIST("list0", "list1", "NULL")},
    {'L', 2, 2, LIST("&list0", "&list1", "NULL")},
    {'M', 3, 4, LIST("map0", "map1", "map2", "map3", "NULL")},
    {'h', 3, 6, LIST("host0", "host1", "host2", "host3", "large", "huge", "NULL")},
    {'y', 2, 3, LIST("memory0", "memory1", "memory2", "NULL")},
    {'p', 2, 2, LIST("pinned0", "pinned1", "NULL")},
    {'K', 2, 2, LIST("library0", "library1", "NULL")},
    {'J', 2, 2, LIST("&library0", "&library1", "NULL")},
    {'k', 6, 9, LIST("fitting", "add", "set", "nothing", "sum", "object", "bump", "global", "unknown", "NULL")},
    {'X', 2, 2, LIST("record0", "record1", "both")},
    {'j', 2, 3, LIST("packet0", "packet1", "packet2", "NULL")},
    {'B', 3, 6, LIST("image", "cubin", "fatbin", "text", "half", "empty", "NULL")},
    {'N', 2, 4, LIST("\"walk\"", "\"walk_add__kernel__\"", "\"\"", "LONG", "NULL")},
    {'u', 2, 6, LIST("\"off\"", "\"on\"", "\"error\"", "\"debug\"", "\"\"", "LONG", "NULL")},
    {'R', 1, 2, LIST("rows", "too_many_rows", "NULL")},
    {'c', 4, 16,
     LIST("TO", "FROM", "TOFROM", "ALLOC", "ALWAYS_TO", "ALWAYS_FROM", "ALWAYS_TOFROM", "PRESENT_TO", "PRESENT_FROM", "PRESENT_ALLOC",
          "DELETE", "HOLD_TO", "HOLD_TOFROM", "CLOSE_TOFROM")},
    {'b', 8, 16,
     LIST("NEGATIVE_COUNT", "NO_BASE", "NO_BEGIN", "NO_SIZES", "NO_TYPES", "NEGATIVE_SIZE", "UNKNOWN_TYPE", "NULL_BEGIN", "OWN_PARENT",
          "LITERAL_AND_PRIVATE")},
    {'U', 1, 1, LIST("&builder", "NULL")},
    {'A', 1, 2, LIST("function", "another", "NULL")},
    {'F', 1, 1, LIST("a_log", "NULL")},
    {'S', 1, 1, LIST("&result", "NULL")},
    {'O', 1, 1, LIST("NULL", "&default_stream")},
    {'H', 1, 4, LIST("BOUND", "\"/nowhere\"", "\"/\"", "\"\"", "LONG", "NULL")},
    {'D', 2, 5, LIST("whole", "every_second", "lines", "overflowing", "endless", "negative", "NULL")},
    {'d', 3, 0, LIST("0", "-1", "1", "4", "5", "-2", "2147483648", "4294967296", "9223372036854775807", "-9223372036854775808")},
    {'s', 4, 0, LIST("512", "8", "256", "0", "163840", "4194816")},
    {'z', 2, 0,
     LIST("512", "8", "4194816", "163840", "0", "1", "4095", "2147483648", "4611686018427387904", "9223372036854775807", "-9223372036854775808", "-8", "-1")},
    {'w', 3, 0, LIST("64", "32", "-32", "0", "16 inside")}, /* cells: the first ones, the last, or those from 24 on */
    {'n', 4, 0, LIST("32", "64", "1", "0", "20480")},
    {'i', 4, 0, LIST("3", "1", "0", "-7", "1000003", "9223372036854775807")},
    {'t', 2, 0, LIST("1", "7", "0", "65535", "65536", "2147483647", "4294967295")},
    {'T', 2, 0, LIST("1", "7", "0", "-1", "2147483647", "-2147483648")},
    {'x', 2, 0, LIST("0", "2", "1", "4", "2147483648")},
    {'f', 2, 0, LIST("4", "6", "0", "1", "8", "4294967295")},
    {'o', 9, 0, LIST("12", "3", "4", "5", "6", "7", "8", "9", "0", "1", "2", "10", "-1", "2147483647")},
    {'I', 2, 0, LIST("0", "1", "2", "2147483647", "4294967296", "-1")},
    {'r', 2, 0, LIST("19", "22", "14", "0", "23", "13", "24", "-2147483648", "2147483647")},
    {'a', 1, 0, LIST("8", "1", "3", "0", "-8", "9223372036854775807", "-9223372036854775808")},
    {'C', 4, 0, LIST("1", "2", "3", "8", "9", "0", "-1", "2147483647", "-2147483648")},
    {'Y', 2, 3, LIST("\"walk_add__kernel__\"", "\"walk_nothing__kernel__\"", "\"walk\"", "NULL")},
    {'7', 1, 2, LIST("256", "40")},
    {'8', 1, 2, LIST("default", "full")},
    {'9', 1, 2, LIST("off", "debug")},
    {'6', 1, 3, LIST("default", "walk.json", "-")},
    {'1', 1, 2, LIST("early", "late")},
    {'2', 1, 2, LIST("1", "2")},
    {'3', 1, 3, LIST("default", "runtime", "driver")},
    {'4', 1, 3, LIST("default", "3", "off")},
    {'5', 1, 2, LIST("default", "wait")},
    {'P', 3, 0, LIST("1", "2", "4", "0", "3", "8", "-1")},
};

static const struct kind *kind_of(char letter)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].letter == letter)
            return &kinds[i];
    fprintf(stderr, "walk: there is no kind of argument '%c'\n", letter);
    exit(2);
}

int walk_values(char letter)
{
    const struct kind *kind = kind_of(letter);
    int count = 0;
    while (kind->values[count] != NULL)
        count++;
    return count;
}

int walk_usual(char letter)
{
    return kind_of(letter)->usual;
}

const char *walk_value_text(char letter, int number)
{
    return kind_of(letter)->values[number % walk_values(letter)];
}

int64_t walk_integer(const struct call *call, int argument)
{
    return (int64_t)strtoll(walk_value_text(call->rule->kinds[argument], call->step->argument[argument]), NULL, 10);
}

int walk_variable(const struct call *call, int argument)
{
    char letter = call->rule->kinds[argument];
    int number = call->step->argument[argument] % walk_values(letter);
    const char *text = walk_value_text(letter, number);
    return strcmp(text, "NULL") != 0 && strcmp(text, "both") != 0 ? number : -1;
}

/* ---- as text ------------------------------------------------------------------------------------------------------------------------ */

void walk_step_text(const struct step *step, char text[TEXT])
{
    const struct rule *rule = walk_rules[step->function];
    int used = step->thread > 0 ? snprintf(text, TEXT, "%d: ", step->thread) : 0;
    used += snprintf(text + used, (size_t)(TEXT - used), "%s(", rule->name);
    for (int i = 0; rule->kinds[i] != '\0'; i++)
        used += snprintf(text + used, (size_t)(TEXT - used), "%s%s", i > 0 ? ", " : "", walk_value_text(rule->kinds[i], step->argument[i]));
    snprintf(text + used, (size_t)(TEXT - used), ");");
}

static bool read_value(char letter, const char *word, size_t length, uint16_t *number)
{
    for (int i = 0; i < walk_values(letter); i++)
        if (strlen(walk_value_text(letter, i)) == length && strncmp(walk_value_text(letter, i), word, length) == 0) {
            *number = (uint16_t)i;
            return true;
        }
    return false;
}

bool walk_step_read(const char *text, struct step *step)
{
    const char *open = strchr(text, '(');
    text += strspn(text, " \t");
    if (open == NULL)
        return false;
    memset(step, 0, sizeof *step);
    if (*text > '0' && *text < '0' + THREADS && text[1] == ':') {
        step->thread = (uint16_t)(*text - '0');
        text += 2 + strspn(text + 2, " ");
    }
    int function = 0;
    while (function < WALK_RULE_COUNT && (strlen(walk_rules[function]->name) != (size_t)(open - text) ||
                                          strncmp(walk_rules[function]->name, text, (size_t)(open - text)) != 0))
        function++;
    if (function == WALK_RULE_COUNT)
        return false;
    step->function = (uint16_t)function;
    const char *kinds_of = walk_rules[function]->kinds, *at = open + 1;
    for (int i = 0; kinds_of[i] != '\0'; i++) {
        size_t length = strcspn(at, ",)");
        if (!read_value(kinds_of[i], at, length, &step->argument[i]))
            return false;
        at += length;
        at += strspn(at, ", ");
    }
    return *at == ')';
}
