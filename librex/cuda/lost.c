/*
 * lost.c - what each lost device was lost for, and the queue that found out.
 *
 * Queues come and go, a GPU's context stays lost for the process. An entry is written once, before
 * it is counted: reading takes no lock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/lost.h"

#include <stdio.h>

#include "cuda/driver.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

static struct loss {
    int number;
    char name[64], why[256];
} losses[REX_CUDA_DEVICES_MAX];
unsigned rex_devices_lost;
/* of those who write; nothing is locked under it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

REX_FORK_TAKEN(70, NULL);

static const struct loss *find(int number)
{
    unsigned known = __atomic_load_n(&rex_devices_lost, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < known; i++)
        if (losses[i].number == number)
            return &losses[i];
    return NULL;
}

void rex_device_lose(int number, const char *name, const char *why)
{
    rex_lock(&lock);
    if (find(number) == NULL && rex_devices_lost < REX_CUDA_DEVICES_MAX) {
        struct loss *loss = &losses[rex_devices_lost];
        loss->number = number;
        snprintf(loss->name, sizeof loss->name, "%s", name);
        snprintf(loss->why, sizeof loss->why, "%s", why);
        __atomic_store_n(&rex_devices_lost, rex_devices_lost + 1, __ATOMIC_RELEASE);
    }
    rex_unlock(&lock);
}

static int refuse(const struct loss *loss, const char *what)
{
    return rex_fail(REX_ECUDA, "%s: device %d is lost, since queue \"%s\" met with %s", what,
                    loss->number, loss->name, loss->why);
}

int rex_device_lost(int number, const char *what)
{
    const struct loss *loss = find(number);
    return loss != NULL ? refuse(loss, what) : REX_OK;
}

int rex_any_device_lost(const char *what)
{
    return rex_any_device_is_lost() ? refuse(&losses[0], what) : REX_OK;
}
