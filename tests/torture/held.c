/*
 * held.c - the books of what librex holds, and what a run tells of itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- telling --------------------------------------------------------------------------------- */

struct report *torture_report;

void torture_tell_problem(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *end; (end = strchr(line, '\n')) != NULL;)
        *end = ' ';
    struct report *to = torture_report;
    pthread_mutex_lock(&lock);
    if (to != NULL && to->problems_length + strlen(line) + 2 < sizeof to->problems)
        to->problems_length += (size_t)sprintf(to->problems + to->problems_length, "%s\n", line);
    pthread_mutex_unlock(&lock);
}

/* COUNT more of it. */
static void tell(int count, const char *format, ...)
{
    struct held held = {.count = count}, *at = torture_report->held,
                *end = at + torture_report->held_count;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(held.what, sizeof held.what, format, arguments);
    va_end(arguments);
    while (at < end && strcmp(at->what, held.what) != 0)
        at++;
    if (at < end) {
        at->count += count;
        return;
    }
    if (torture_report->held_count++ == sizeof torture_report->held / sizeof *at)
        _exit(97);
    *at = held;
}

/* Where the program is loaded differs from run to run; a return address is behind its call. */
size_t torture_offset(const void *site)
{
    extern const char __executable_start[];
    return (uintptr_t)site - 1 - (uintptr_t)__executable_start;
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { MOST = 1 << 12 };
static struct {
    uintptr_t address; /* 0: free */
    int call;
    const void *site;
} held[MOST];

static size_t slot_of(uintptr_t address)
{
    return (address >> 4) * 2654435761u % MOST;
}

int torture_holds;

void *torture_hold(void *memory, int call, const void *site)
{
    if (memory == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    size_t slot = slot_of((uintptr_t)memory);
    while (held[slot].address > 1)
        slot = (slot + 1) % MOST;
    held[slot].address = (uintptr_t)memory;
    held[slot].call = call;
    held[slot].site = site;
    torture_holds++;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* 1 stands where something was, so that a search goes on behind it. */
void torture_let_go(void *memory)
{
    if (memory == NULL)
        return;
    pthread_mutex_lock(&lock);
    size_t slot = slot_of((uintptr_t)memory), steps = 0;
    while (held[slot].address != 0 && held[slot].address != (uintptr_t)memory && steps++ < MOST)
        slot = (slot + 1) % MOST;
    bool is_known = held[slot].address == (uintptr_t)memory;
    torture_holds -= is_known;
    if (is_known)
        held[slot].address = 1;
    pthread_mutex_unlock(&lock);
    if (!is_known)
        PROBLEM("memory is freed that librex did not allocate, or twice");
}

/* ---- the rest -------------------------------------------------------------------------------- */

static struct {
    const char *what;
    int count;
} balances[64];

void torture_balance(const char *what, int change)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof balances / sizeof *balances; i++)
        if (balances[i].what == NULL || strcmp(balances[i].what, what) == 0) {
            balances[i].what = what;
            balances[i].count += change;
            break;
        }
    pthread_mutex_unlock(&lock);
}

/*
 * The driver keeps one of the GPU for each piece of memory that it has pinned, also where it says
 * that it could not unpin it.
 */
static bool is_drivers(const char *target)
{
    return strncmp(target, "/dev/nvidia", strlen("/dev/nvidia")) == 0;
}

/* The name of a file in the folder of this process is the same in another one's. */
static const char *short_name(const char *target)
{
    const char *own = getenv("TORTURE_FOLDER");
    size_t length = own != NULL ? strlen(own) : 0;
    return length > 0 && strncmp(target, own, length) == 0 ? target + length : target;
}

static void tell_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char target[512] = "";
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(folder))
            continue;
        if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1) > 0 &&
            !is_drivers(target))
            tell(1, "descriptor:%s", short_name(target));
    }
    if (folder != NULL)
        closedir(folder);
}

void torture_tell_held(void)
{
    torture_report->registrations = torture_done("__tgt_register_lib");
    for (size_t i = 0; i < MOST; i++)
        if (held[i].address > 1)
            tell(1, "%s@%zx", torture_calls[held[i].call].name, torture_offset(held[i].site));
    /* A library is there once, however often it was opened. */
    for (size_t i = 0; i < sizeof balances / sizeof *balances && balances[i].what != NULL; i++)
        if (balances[i].count != 0)
            tell(strstr(balances[i].what, ".so") != NULL ? 1 : balances[i].count, "%s",
                 balances[i].what);
    tell_descriptors();
}
