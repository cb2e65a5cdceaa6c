/*
 * json.h - reads JSON in memory in place, one value after another.
 *
 * The bytes may be hostile; they end with a zero byte, and nothing after it is read. A reader that
 * meets an unexpected byte sets ->wrong. From then on every reader fails.
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

/*
 * If CHARACTER comes next, skips it and returns true. If another character comes next, returns
 * false.
 */
bool json_take(struct json *json, char character);

/* Reads a string, and decodes it in place. If the next value is not a string, returns "". */
char *json_string(struct json *json);

/*
 * Reads a number, and returns it in thousandths. Cuts off further digits. For a number out of
 * range, returns the nearest number in range.
 */
int64_t json_thousandths(struct json *json);

/* Reads a number, and cuts off the digits after the decimal point. */
int64_t json_number(struct json *json);

/* Skips any value. */
void json_skip(struct json *json);

/*
 * Returns the key of the object's next member, or NULL after the last member. Read the value of the
 * member before the next call. *FIRST must be true at the first call.
 */
char *json_member(struct json *json, bool *first);

/*
 * Returns true if the array has another element. Read the element before the next call. *FIRST must
 * be true at the first call.
 */
bool json_element(struct json *json, bool *first);

#endif
