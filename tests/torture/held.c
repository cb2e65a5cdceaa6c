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

/* ---- telling ------------------------------------------------------------------------------------------------------------------------ */

/* One write, whatever comes next. Nothing is told where nobody has asked: TORTURE_TELL is a descriptor. */
void torture_tell(const char *format, ...)
{
    static int fd;
    char line[1024];
    va_list arguments;
    if (fd == 0)
        fd = getenv("TORTURE_TELL") != NULL ? atoi(getenv("TORTURE_TELL")) : STDOUT_FILENO;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line - 1)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[length++] = '\n';
    if (write(fd, line, (size_t)length) != length)
        _exit(97);
}

/* Where the program is loaded differs from run to run; a return address is behind its call. */
size_t torture_offset(const void *site)
{
    extern const char __executable_start[];
    return (uintptr_t)site - 1 - (uintptr_t)__executable_start;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------- */

enum { MOST = 1 << 16 };
static struct {
    uintptr_t address; /* 0: free */
    int call;
    const void *site;
} held[MOST];

static size_t slot_of(uintptr_t address)
{
    return (address >> 4) * 2654435761u % MOST;
}

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
    if (is_known)
        held[slot].address = 1;
    pthread_mutex_unlock(&lock);
    if (!is_known)
        PROBLEM("memory is freed that librex did not allocate, or twice");
}

/* ---- the rest ----------------------------------------------------------------------------------------------------------------------- */

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

/* The driver keeps one of the GPU for each piece of memory that it has pinned, also where it says that it could not unpin it. */
static bool is_drivers(const char *target)
{
    return strncmp(target, "/dev/nvidia", strlen("/dev/nvidia")) == 0;
}

static void tell_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char target[512] = "";
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(folder))
            continue;
        if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1) > 0 && !is_drivers(target))
            torture_tell("held descriptor:%s 1", target);
    }
    if (folder != NULL)
        closedir(folder);
}

void torture_tell_held(void)
{
    for (size_t i = 0; i < MOST; i++)
        if (held[i].address > 1)
            torture_tell("held %s@%zx 1", torture_calls[held[i].call].name, torture_offset(held[i].site));
    /* A library is there once, however often it was opened. */
    for (size_t i = 0; i < sizeof balances / sizeof *balances && balances[i].what != NULL; i++)
        if (balances[i].count != 0)
            torture_tell("held %s: %d", balances[i].what, strstr(balances[i].what, ".so") != NULL ? 1 : balances[i].count);
    tell_descriptors();
}
