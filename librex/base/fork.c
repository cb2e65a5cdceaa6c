/*
 * fork.c - what librex does around a fork.
 *
 * A child has the thread that forked, and no other. What the others were changing stays half done,
 * and a lock that they held stays locked for ever: fork.h has all that a child may take.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/fork.h"

#include <stddef.h>

typedef void step(enum rex_fork when);

#define STEP(name) rex_##name##_fork,
static step *const taken[] = {REX_FORK_TAKEN(STEP)}, *const renewed[] = {REX_FORK_RENEWED(STEP)};
#undef STEP

unsigned rex_fork_count;

static void before(void)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        taken[i](REX_FORK_BEGINS);
}

static void give_back(enum rex_fork when)
{
    for (size_t i = sizeof taken / sizeof *taken; i-- > 0;)
        taken[i](when);
}

static void in_parent(void)
{
    give_back(REX_FORK_IN_PARENT);
}

static void in_child(void)
{
    rex_fork_count++;
    for (size_t i = 0; i < sizeof renewed / sizeof *renewed; i++)
        renewed[i](REX_FORK_IN_CHILD);
    give_back(REX_FORK_IN_CHILD);
}

void rex_fork_watch(void)
{
    pthread_atfork(before, in_parent, in_child);
}
