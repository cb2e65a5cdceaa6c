/*
 * loader.c - whether shared objects can be opened, and which one an address lies in.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of the program's own file. */
struct seen {
    bool loader;    /* it names one */
    bool c_library; /* it has the C library's functions in it */
};

static bool holds(const struct dl_phdr_info *object, const ElfW(Phdr) * part, uintptr_t address)
{
    return part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz;
}

/* The program comes first. */
static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    struct seen *seen = context;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        seen->loader |= part->p_type == PT_INTERP;
        seen->c_library |= holds(object, part, (uintptr_t)&dl_iterate_phdr);
    }
    return 1;
}

bool rex_can_open_libraries(void)
{
    struct seen seen = {false, false};
    dl_iterate_phdr(look, &seen);
    return seen.loader || !seen.c_library;
}

bool rex_in_program(const void *address, char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *map = NULL;
    int found = dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP);
    snprintf(path, PATH_MAX, "%s", found != 0 ? map->l_name : "");
    return path[0] == '\0';
}

bool rex_keep_loaded(const void *address, char path[PATH_MAX])
{
    return rex_in_program(address, path) ||
           dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}
