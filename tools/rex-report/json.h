/*
 * json.h - JSON in memory, read in place, value after value.
 *
 * The bytes may be hostile: they end with a zero byte, and nothing behind that is read. A reader
 * that meets something else than it wants sets ->wrong, and from then on every reader fails.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_REPORT_JSON_H
#define REX_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct json {
    char *at;
    bool wrong;
};

/* Whether CHARACTER comes next, which is then passed. */
bool json_take(struct json *json, char character);

/* A string, decoded in place; "" where there is none. */
char *json_string(struct json *json);

/* A number in thousandths, cut off there; what does not fit is the largest or smallest that does.
 */
int64_t json_thousandths(struct json *json);

/* A number without its part behind the point. */
int64_t json_number(struct json *json);

/* Any value. */
void json_skip(struct json *json);

/*
 * The members of an object, one after another: the next one's key, with its value next; NULL behind
 * the last. FIRST is true at first.
 */
char *json_member(struct json *json, bool *first);

/* The elements of an array, likewise: whether there is one more. */
bool json_element(struct json *json, bool *first);

#endif
