/*
 * lookup.c - finds out whether memory is present on a device, and at which device address. librex
 * asks the present table first, and then libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/lookup.h"

#include "base/process.h"
#include "cuda/lost.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "present/mappings.h"
#include "trace/trace.h"

/* Returns the device address of memory that omp_target_is_present() has found. */
static void *address_of_present(const void *address, int number)
{
    if (number == rex_devices_known()) /* for the host device LLVM 16 would print an error */
        return (void *)(uintptr_t)address;
    return rex_runtime_omp()->mapped_pointer(address, number);
}

void *rex_memory_address(const void *address, int number)
{
    return rex_runtime_omp()->is_present(address, number) ? address_of_present(address, number)
                                                          : NULL;
}

static enum rex_presence ask_once(const void *address, size_t size, int number, void **device)
{
    const struct rex_omp *omp = rex_runtime_omp();
    /* Add integers, not pointers: a row may reach past the end of the address space. */
    uintptr_t distance = size > 0 ? size - 1 : 0;
    const void *last = (const void *)((uintptr_t)address + distance);
    int has_first = omp->is_present(address, number) != 0,
        has_last = distance == 0 ? has_first : omp->is_present(last, number) != 0;
    if (!has_first && !has_last)
        return REX_ABSENT;
    if (!has_first || !has_last)
        return REX_PRESENT_IN_PART;
    /*
     * Two mappings look like one if they are adjacent on the host and on the device. Only the table
     * knows the border between them.
     */
    void *on_device = address_of_present(address, number);
    if (on_device == NULL)
        return REX_ABSENT; /* another thread has ended the mapping after is_present() */
    struct rex_entry entry;
    uintptr_t at = (uintptr_t)address, end = rex_end_of(address, size);
    if (distance > 0 &&
        ((uintptr_t)address_of_present(last, number) - (uintptr_t)on_device != distance ||
         (rex_entry_find(at, end, number, &entry) && rex_entry_is_settled(&entry) &&
          !rex_entry_has(&entry, at, end))))
        return REX_PRESENT_IN_PART;
    *device = on_device;
    return REX_PRESENT_WHOLE;
}

/*
 * Maximum number of look-ups. Another thread may begin or end the mapping between two calls to
 * libomptarget. The memory then seems to be mapped in part, so librex looks up the memory again.
 */
#define TRIES 8

static enum rex_presence ask_until_sure(const void *address, size_t size, int number, void **device)
{
    enum rex_presence presence = REX_PRESENT_IN_PART;
    for (int i = 0; i < TRIES && presence == REX_PRESENT_IN_PART; i++)
        presence = ask_once(address, size, number, device);
    return presence;
}

enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device)
{
    struct rex_mapping known;
    if (rex_mapping_find(address, size, number, &known) &&
        (*device = address_of_present(address, number)) != NULL)
        return REX_PRESENT_WHOLE;
    return ask_until_sure(address, size, number, device);
}

enum rex_presence rex_memory_presence(const void *address, size_t size, int number)
{
    void *device;
    struct rex_entry entry;
    uintptr_t at = (uintptr_t)address, end = rex_end_of(address, size);
    bool is_known = rex_entry_find(at, end, number, &entry);
    while (is_known && !rex_entry_is_settled(&entry))
        is_known = entry.end < end && rex_entry_find(entry.end, end, number, &entry);
    if (is_known && rex_entry_has(&entry, at, end))
        return REX_PRESENT_WHOLE;
    enum rex_presence presence = ask_until_sure(address, size, number, &device);
    if (presence != REX_ABSENT)
        return presence;
    /*
     * A loose entry (loose: see present.h) between the first and the last byte may still be mapped,
     * so ask libomptarget. Ignore a loose entry that has the first or the last byte: libomptarget
     * has just reported these two bytes as absent.
     */
    bool is_found = !is_known && rex_entry_find(at, end, number, &entry);
    while (is_found && !(entry.is_loose && at < entry.begin && entry.end < end &&
                         rex_runtime_omp()->is_present((const void *)entry.begin, number)))
        is_found = entry.end < end && rex_entry_find(entry.end, end, number, &entry);
    return is_known || is_found ? REX_PRESENT_INSIDE : REX_ABSENT;
}

/* ---- look-ups that take references ----------------------------------------------------------- */

static bool look_ups_take_references; /* atomic */

bool rex_found_may_be_deleted(void)
{
    return __atomic_load_n(&look_ups_take_references, __ATOMIC_ACQUIRE);
}

/* Locks the table of device NUMBER, or the table of device 0 if the device has no table. */
static struct rex_present_table *lock_table(int number)
{
    struct rex_present_table *table = rex_present_table(number);
    table = table != NULL ? table : rex_present_table(0);
    pthread_mutex_lock(&table->lock);
    return table;
}

static void wake(struct rex_present_table *table)
{
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
}

void rex_lookup_begin(int number)
{
    struct rex_present_table *table = lock_table(number);
    while (table->ends > 0 || table->is_looking)
        pthread_cond_wait(&table->changed, &table->lock);
    table->is_looking = true;
    pthread_mutex_unlock(&table->lock);
}

void rex_lookup_end(int number)
{
    struct rex_present_table *table = lock_table(number);
    table->is_looking = false;
    wake(table);
}

bool rex_ending_begin(int number)
{
    if (!rex_found_may_be_deleted())
        return false;
    struct rex_present_table *table = lock_table(number);
    while (table->is_looking)
        pthread_cond_wait(&table->changed, &table->lock);
    table->ends++;
    pthread_mutex_unlock(&table->lock);
    return true;
}

void rex_ending_end(int number)
{
    struct rex_present_table *table = lock_table(number);
    table->ends--;
    wake(table);
}

/*
 * LLVM 14 and 15 have no omp_get_mapped_ptr(). But a data begin call writes the device address to
 * the base of a row with REX_MAP_RETURN_PARAM, and adds a reference, which the data end call drops.
 * If a mapping ended during these two calls, LLVM 15 could crash, so rex_lookup_begin() prevents
 * the end of mappings.
 *
 * For absent memory the function returns NULL without a data call. If the function made the two
 * calls, another thread could map the memory between them, and the data end call would end the new
 * mapping.
 *
 * On a lost device the data calls would abort, so the function asks only the present table.
 */
static void *pointer_by_row(const void *address, int device)
{
    const struct rex_omp *omp = rex_runtime_omp();
    void *begin = (void *)(uintptr_t)address, *base = begin, *result = NULL;
    int64_t size = 0, type = REX_MAP_RETURN_PARAM;
    struct rex_mapping known;
    if (rex_device_is_lost(device)) {
        if (!rex_mapping_find(address, 1, device, &known) || known.device == 0)
            return NULL;
        return (void *)(known.device + ((uintptr_t)address - known.begin));
    }
    if (rex_devices_enter() != REX_OK)
        return NULL;
    rex_lookup_begin(device);
    rex_trace_depth++;
    if (omp->is_present(address, device)) {
        omp->data_begin(NULL, device, 1, &base, &begin, &size, &type, NULL, NULL);
        result = base;
        base = begin;
        omp->data_end(NULL, device, 1, &base, &begin, &size, &type, NULL, NULL);
    }
    rex_trace_depth--;
    rex_lookup_end(device);
    rex_gate_leave();
    return result;
}

void rex_lookups_bind(void)
{
    if (rex_runtime_omp()->mapped_pointer != NULL)
        return;
    rex_mapped_pointer_bind(pointer_by_row);
    __atomic_store_n(&look_ups_take_references, true, __ATOMIC_RELEASE);
}
