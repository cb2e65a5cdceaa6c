/*
 * recorder.c - preloaded, writes down the order of what an example program asks of librex, a letter for each call:
 *
 *     i init    t reads the clock    b data begin    e data end    u update    l launch
 *
 * The program and the recorder are bound to librex.so's names, so a call passes here first. The letters go to the file that RECORD names.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int nested;

static void note(char letter)
{
    static int file = -1;
    if (file < 0 && (file = open(getenv("RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0)
        abort();
    if (nested == 0 && write(file, &letter, 1) != 1)
        abort();
}

static void *next(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address == NULL)
        abort();
    return address;
}

/* More words than any of the calls has; all are integers or pointers. */
#define WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h
#define RECORDED(name, letter)                                                                                         \
    uintptr_t name(WORDS);                                                                                             \
    uintptr_t name(WORDS)                                                                                              \
    {                                                                                                                  \
        static uintptr_t (*real)(WORDS);                                                                               \
        void *address = real != NULL ? NULL : next(#name);                                                             \
        if (address != NULL)                                                                                           \
            memcpy(&real, &address, sizeof real);                                                                      \
        note(letter);                                                                                                  \
        nested++;                                                                                                      \
        uintptr_t result = real(a, b, c, d, e, f, g, h);                                                                     \
        nested--;                                                                                                      \
        return result;                                                                                                 \
    }

RECORDED(rex_module_init, 'i')
RECORDED(rex_module_launch_map, 'l')
RECORDED(rex_module_launch, 'l')
RECORDED(rex_module_target_kernel, 'l')
RECORDED(rex_module_data_enter, 'b')
RECORDED(rex_module_region_end, 'e')
RECORDED(rex_module_data_update, 'u')
RECORDED(rex_module_target_data, "beu"[b])

/* Of the program alone: others read the clock, too. */
static int from_program(const void *caller)
{
    Dl_info info;
    struct link_map *map;
    return dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map->l_name[0] == '\0';
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    void *address = real != NULL ? NULL : next("clock_gettime");
    if (address != NULL)
        memcpy(&real, &address, sizeof real);
    if (from_program(__builtin_return_address(0)))
        note('t');
    return real(clock, now);
}
