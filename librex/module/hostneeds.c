/*
 * hostneeds.c - what a host image needs of the process before libomptarget opens it: the libraries
 * that it names, and how many threads its loops may have.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/hostneeds.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "image/hostimage.h"
#include "image/view.h"

/* ---- the libraries that an image names ------------------------------------------------------- */

/* The dynamic section of a host image, and where its reader is. */
struct needs {
    struct rex_elf elf;
    Elf64_Shdr dynamic, strings;
    size_t next;
    bool has_path; /* of its own, on which the loader looks: known behind the last library */
};

static bool open_needs(struct needs *needs, const unsigned char *bytes, size_t size)
{
    needs->next = 0;
    needs->has_path = false;
    /* Identified first: nothing of a CUBIN is read but its header. */
    return rex_elf_identify(&needs->elf, bytes, size) == 0 &&
           needs->elf.header.e_machine == REX_HOST_MACHINE &&
           rex_elf_open(&needs->elf, bytes, size) == 0 &&
           rex_elf_find_type(&needs->elf, SHT_DYNAMIC, &needs->dynamic) &&
           rex_elf_section(&needs->elf, needs->dynamic.sh_link, &needs->strings);
}

/* NULL behind the last one. */
static const char *next_library(struct needs *needs)
{
    Elf64_Dyn entry;
    const char *name = NULL;
    while (name == NULL && rex_elf_dynamic(&needs->elf, &needs->dynamic, needs->next++, &entry) &&
           entry.d_tag != DT_NULL) {
        needs->has_path |= entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
        if (entry.d_tag == DT_NEEDED)
            name = rex_elf_string(&needs->elf, &needs->strings, entry.d_un.d_val);
    }
    return name;
}

static bool is_openmp(const char *library)
{
    return rex_name_after(library, "libgomp.so") != NULL ||
           rex_name_after(library, "libomp.so") != NULL ||
           rex_name_after(library, "libiomp5.so") != NULL;
}

int rex_host_open_libraries(const unsigned char *bytes, size_t size, const char *path)
{
    struct needs needs;
    const char *library, *missing = NULL;
    char why[256] = "";
    if (!open_needs(&needs, bytes, size))
        return REX_OK;
    while ((library = next_library(&needs)) != NULL)
        if (missing == NULL && dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) == NULL) {
            const char *error = dlerror();
            missing = library;
            snprintf(why, sizeof why, "%s", error != NULL ? error : "the loader gives no reason");
        }
    if (missing == NULL || needs.has_path)
        return REX_OK;
    bool is_gomp = rex_name_after(missing, "libgomp.so") != NULL;
    return rex_fail(REX_EIMAGE, "device image %s needs %s, which cannot be loaded: %s%s", path,
                    missing, why,
                    is_gomp ? "; install libgomp1 (Debian) or libgomp, or compile the kernels "
                              "with rex-cc -fno-openmp"
                            : "");
}

/* ---- threads of its loops -------------------------------------------------------------------- */

/* Where the image has the number; NULL where it has none, or not as rex/openmp.h defines it. */
static const unsigned char *find_number(const struct rex_elf *elf)
{
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    if (!rex_elf_find_type(elf, SHT_DYNSYM, &symbols))
        return NULL;
    for (size_t i = 1; rex_elf_symbol(elf, &symbols, i, &symbol, &name); i++) {
        if (strcmp(name, REX_PROCESSORS_SYMBOL) != 0 || symbol.st_size != sizeof(int) ||
            !rex_elf_section(elf, symbol.st_shndx, &section) ||
            (section.sh_flags & (SHF_ALLOC | SHF_WRITE)) != (SHF_ALLOC | SHF_WRITE))
            continue;
        uint64_t into = symbol.st_value - section.sh_addr; /* beyond all sizes in front of it */
        const unsigned char *bytes = rex_elf_section_bytes(elf, &section);
        if (bytes != NULL && into < section.sh_size && section.sh_size - into >= sizeof(int))
            return bytes + into;
    }
    return NULL;
}

/* libomp warns of each loop that asks for more threads than OMP_THREAD_LIMIT. */
static int most_threads_allowed(void)
{
    const char *text = getenv("OMP_THREAD_LIMIT");
    long limit = text != NULL ? strtol(text, NULL, 10) : 0;
    int most = rex_processors_known();
    return limit > 0 && limit < most ? (int)limit : most;
}

void rex_host_limit_threads(unsigned char *bytes, size_t size)
{
    struct needs needs;
    const char *library, *wanted = getenv("OMP_NUM_THREADS");
    if ((wanted != NULL && *wanted != '\0') || !open_needs(&needs, bytes, size))
        return;
    while ((library = next_library(&needs)) != NULL && !is_openmp(library))
        continue;
    const unsigned char *number = library != NULL ? find_number(&needs.elf) : NULL;
    /* The same each time: an image that is registered again has the same bytes. */
    int most = number != NULL ? most_threads_allowed() : 0;
    if (number != NULL)
        memcpy(bytes + (number - bytes), &most, sizeof most);
}
