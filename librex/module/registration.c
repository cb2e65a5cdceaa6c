/*
 * registration.c - the state of all modules: their list, image bytes that are never freed, and the
 * one lock of this room.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/registration.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/log.h"
#include "omp/flight.h"

struct rex_module *rex_first_module;

/* ---- the lock -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Ends registrations in a child of fork. The child has neither CUDA nor libomptarget's threads, so
 * a launch would hang. It would also hang in data that another thread was changing inside
 * libomptarget. A thread that was registering a module is not in the child, either: no thread may
 * wait for it.
 */
static void end_in_child(void)
{
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next) {
        struct rex_registration *registration = module->registration;
        bool registered = module->packet_rules != 0;
        bool usable = rex_registration_on_host(registration) && !rex_flight_is_torn();
        if ((!registered || usable) && module->state != REX_MODULE_BUSY)
            continue;
        if (registered)
            rex_devices_registered(-1);
        registration->forked = true;
        registration->loaded_images = NULL; /* the driver's handles are invalid here */
        registration->unload = NULL;
        module->packet_rules = 0;
        if (registration->worker != &rex_thread)
            registration->worker = NULL;
        module->state = REX_MODULE_UNREGISTERED;
    }
}

REX_FORK_TAKEN(56, end_in_child);

void rex_registry_lock(void)
{
    rex_lock(&lock);
}

void rex_registry_unlock(void)
{
    rex_unlock(&lock);
}

/* ---- image bytes that are never freed -------------------------------------------------------- */

struct retained {
    struct retained *next;
    unsigned char *bytes;
    size_t size;
};

static struct retained *all_retained;

/*
 * Compares all images, because that costs less than to hash a megabyte: they are few, and rarely of
 * the same size.
 */
unsigned char *rex_retained(const unsigned char *bytes, size_t size)
{
    rex_registry_lock();
    const struct retained *retained = all_retained;
    while (retained != NULL &&
           (retained->size != size || memcmp(retained->bytes, bytes, size) != 0))
        retained = retained->next;
    rex_registry_unlock();
    return retained != NULL ? retained->bytes : NULL;
}

int rex_retain(unsigned char *bytes, size_t size)
{
    struct retained *retained = malloc(sizeof *retained);
    if (retained == NULL)
        return rex_fail_memory(sizeof *retained, "an image");
    *retained = (struct retained){NULL, bytes, size};
    rex_registry_lock();
    retained->next = all_retained;
    all_retained = retained;
    rex_registry_unlock();
    return REX_OK;
}
