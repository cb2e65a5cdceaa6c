/*
 * planted.c - what librex must not do, and the runner has to find.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "planted.h"

#include <stddef.h>
#include <unistd.h>

#include "base/error.h"
#include "step.h"

/* As librex's objects call them: libc.c. */
void *torture_malloc(size_t size);
void torture_free(void *memory);

static int two_blocks(void)
{
    void *one = torture_malloc(16), *other = one != NULL ? torture_malloc(16) : NULL;
    if (other == NULL)
        return rex_fail_memory(16, "a plant");
    torture_free(one);
    torture_free(other);
    return REX_OK;
}

void planted_leak(void)
{
    TRY(two_blocks());
}

void planted_crash(void)
{
    volatile char *memory = torture_malloc(16);
    *memory = 1;
    torture_free((void *)(uintptr_t)memory);
}

void planted_hang(void)
{
    void *memory = torture_malloc(16);
    while (memory == NULL)
        pause();
    torture_free(memory);
}

static int silent(int error)
{
    void *memory = torture_malloc(16);
    torture_free(memory);
    return memory != NULL ? REX_OK : error;
}

void planted_silence(void)
{
    TRY(silent(REX_ENOMEM));
}

static int wrong(void)
{
    return silent(REX_EINVAL) == REX_OK ? REX_OK : rex_fail(REX_EINVAL, "a plant: the argument is wrong");
}

void planted_wrong_error(void)
{
    TRY(wrong());
}

void planted_success(void)
{
    static char made;
    made = 0;
    if (silent(REX_ENOMEM) == REX_OK)
        made = 1;
    if (TRY(REX_OK) && made == 0)
        PROBLEM("a plant succeeds, and has made nothing");
}

static int resentful(void)
{
    static int failed;
    if (failed == 0 && silent(REX_ENOMEM) != REX_OK)
        failed = 1;
    return failed == 0 ? REX_OK : rex_fail_memory(16, "a plant");
}

void planted_grudge(void)
{
    TRY(resentful());
}
