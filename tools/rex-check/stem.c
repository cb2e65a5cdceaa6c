/*
 * stem.c - the stem: the common part of the names of a kernel's host key, entry and symbol.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "stem.h"

#include <ctype.h>
#include <string.h>

/*
 * Removes the compilers' additions from NAME. gcc and clang append suffixes such as `.lto_priv.0`
 * and `.llvm.123`. For a static variable g++ puts `_ZL` and the length of the name before the name.
 */
static const char *plain_name(const char *name, size_t *length)
{
    const char *at = strncmp(name, "_ZL", 3) == 0 ? name + 3 : name;
    while (at != name && isdigit((unsigned char)*at))
        at++;
    *length = strcspn(at, ".");
    return at;
}

bool name_stem(const char *name, const char *suffix, const char **stem, size_t *length)
{
    size_t whole, ending = strlen(suffix);
    const char *plain = plain_name(name, &whole);
    if (whole < ending || memcmp(plain + whole - ending, suffix, ending) != 0)
        return false;
    *stem = plain;
    *length = whole - ending;
    return true;
}
