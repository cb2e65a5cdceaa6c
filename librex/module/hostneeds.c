/*
 * hostneeds.c - checks what a host image needs of the process before libomptarget opens it: its
 * libraries and symbols, and the number of threads of its loops.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/hostneeds.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "image/hostimage.h"
#include "image/view.h"

/* ---- the libraries that an image names ------------------------------------------------------- */

/* The dynamic section of a host image. `next` is the index of the row that is read next. */
struct needs {
    struct rex_elf elf;
    Elf64_Shdr dynamic, strings;
    size_t next;
    /*
     * next_library() sets the two flags below. The flags are valid only after next_library() has
     * read the last row.
     */
    bool has_path; /* the image has its own run path, which the loader searches */
    /* the loader resolves functions when it opens the image, not at their first calls */
    bool binds_now;
};

static bool open_host_needs(struct needs *needs, const unsigned char *bytes, size_t size)
{
    needs->next = 0;
    needs->has_path = needs->binds_now = false;
    /* rex_elf_identify() reads only the header. If the file is a CUBIN, nothing else is read. */
    return rex_elf_identify(&needs->elf, bytes, size) == 0 &&
           needs->elf.header.e_machine == REX_HOST_MACHINE &&
           rex_elf_open(&needs->elf, bytes, size) == 0 &&
           rex_elf_find_type(&needs->elf, SHT_DYNAMIC, &needs->dynamic) &&
           rex_elf_section(&needs->elf, needs->dynamic.sh_link, &needs->strings);
}

/* Returns the name of the next library, or NULL after the last library. */
static const char *next_library(struct needs *needs)
{
    Elf64_Dyn entry;
    const char *name = NULL;
    while (name == NULL &&
           rex_elf_row(&needs->elf, &needs->dynamic, SHT_DYNAMIC, needs->next++, &entry,
                       sizeof entry) &&
           entry.d_tag != DT_NULL) {
        needs->has_path |= entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
        needs->binds_now |= entry.d_tag == DT_BIND_NOW ||
                            (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW)) ||
                            (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW));
        if (entry.d_tag == DT_NEEDED)
            name = rex_elf_string(&needs->elf, &needs->strings, entry.d_un.d_val);
    }
    return name;
}

int rex_host_open_libraries(const unsigned char *bytes, size_t size, const char *path)
{
    struct needs needs;
    const char *library, *missing = NULL;
    char why[256] = "";
    if (!open_host_needs(&needs, bytes, size))
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

/* ---- versions and symbols of the libraries --------------------------------------------------- */

/*
 * Returns the handle of LIBRARY without a reference, or NULL if LIBRARY is not open. Call this only
 * for a library that stays open.
 */
static void *library_handle(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return handle;
}

/*
 * Returns true if LIBRARY has VERSION, or is not open, or has no versions at all. If a library has
 * no versions, the loader only warns.
 */
static bool has_version(const char *library, const char *version)
{
    struct link_map *map;
    const char *at = NULL, *strings = "";
    const ElfW(Verdef) *definition = NULL;
    void *handle = library_handle(library);
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_VERDEF)
            at = (const char *)(map->l_addr + entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr; /* the loader has added the base address */
    }
    for (bool is_last = at == NULL; !is_last; is_last = definition->vd_next == 0) {
        definition = (const void *)at;
        const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);
        if (strcmp(strings + name->vda_name, version) == 0)
            return true;
        at += definition->vd_next;
    }
    return definition == NULL;
}

/*
 * Copies the row of SIZE bytes at OFFSET of TABLE to ROW. Returns false if the row is not inside
 * TABLE.
 */
static bool copy_table_row(const struct rex_elf *elf, const Elf64_Shdr *table, uint64_t offset,
                           void *row, size_t size)
{
    const unsigned char *bytes = rex_elf_section_bytes(elf, table);
    bool is_inside = bytes != NULL && offset < table->sh_size && table->sh_size - offset >= size;
    if (is_inside)
        memcpy(row, bytes + offset, size);
    return is_inside;
}

/*
 * Returns 0, or REX_EIMAGE if a library lacks a symbol version that the image needs, such as
 * GLIBC_2.34. The rows of a hostile table may overlap. So the loops read at most as many rows as
 * fit into the table.
 */
static int check_versions(const struct rex_elf *elf, const char *path)
{
    Elf64_Shdr table, strings;
    Elf64_Verneed library;
    Elf64_Vernaux version;
    if (!rex_elf_find_type(elf, SHT_GNU_verneed, &table) ||
        !rex_elf_section(elf, table.sh_link, &strings))
        return REX_OK;
    int64_t left = (int64_t)(table.sh_size / sizeof version);
    for (uint64_t begin = 0;
         left > 0 && copy_table_row(elf, &table, begin, &library, sizeof library);
         begin += library.vn_next, left--) {
        const char *file = rex_elf_string(elf, &strings, library.vn_file);
        for (uint64_t at = begin + library.vn_aux;
             left > 0 && copy_table_row(elf, &table, at, &version, sizeof version);
             at += version.vna_next, left--) {
            const char *name = rex_elf_string(elf, &strings, version.vna_name);
            if (file != NULL && name != NULL && !(version.vna_flags & VER_FLG_WEAK) &&
                !has_version(file, name))
                return rex_fail(REX_EIMAGE,
                                "device image %s needs %s of %s, which is older on this machine: "
                                "compile the kernels here",
                                path, name, file);
            if (version.vna_next == 0)
                break;
        }
        if (library.vn_next == 0)
            break;
    }
    return REX_OK;
}

#if defined __x86_64__
#define CALLED R_X86_64_JUMP_SLOT
#elif defined __aarch64__
#define CALLED R_AARCH64_JUMP_SLOT
#else
#define CALLED R_PPC64_JMP_SLOT
#endif

/*
 * Returns true if nothing defines symbol INDEX: neither the image, nor the process, nor a library
 * of the image. Returns false for a weak or versioned symbol, and if a library is not open. *NAME
 * becomes the symbol's name.
 */
static bool lacks_host_symbol(struct needs *needs, const Elf64_Shdr *symbols, size_t index,
                              const char **name)
{
    Elf64_Sym symbol;
    Elf64_Shdr versions;
    Elf64_Half version = VER_NDX_GLOBAL;
    if (index == 0 || !rex_elf_symbol(&needs->elf, symbols, index, &symbol, name) ||
        **name == '\0' || symbol.st_shndx != SHN_UNDEF ||
        ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL)
        return false;
    /* dlsym() does not find an older version of a symbol, so skip versioned symbols. */
    bool is_versioned =
        rex_elf_find_type(&needs->elf, SHT_GNU_versym, &versions) &&
        copy_table_row(&needs->elf, &versions, index * sizeof version, &version, sizeof version) &&
        version > VER_NDX_GLOBAL;
    if (is_versioned || dlsym(RTLD_DEFAULT, *name) != NULL)
        return false;
    const char *library;
    needs->next = 0;
    while ((library = next_library(needs)) != NULL) {
        void *handle = library_handle(library);
        if (handle == NULL || dlsym(handle, *name) != NULL)
            return false;
    }
    return true;
}

int rex_host_check_symbols(const unsigned char *bytes, size_t size, const char *path)
{
    struct needs needs;
    Elf64_Shdr section, symbols;
    Elf64_Rela rela;
    const char *name;
    uint64_t total = 0;
    if (!open_host_needs(&needs, bytes, size))
        return REX_OK;
    while (next_library(&needs) != NULL)
        continue;
    if (needs.has_path)
        return REX_OK;
    /* a copy: lacks_host_symbol() reads the dynamic section again, and sets `binds_now` again */
    bool binds_now = needs.binds_now;
    int result = check_versions(&needs.elf, path);
    for (size_t i = 0; result == REX_OK && rex_elf_section(&needs.elf, i, &section); i++) {
        if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
            continue;
        /*
         * If the sections of relocations together are larger than the file, they overlap. No linker
         * writes such a file. Skip the section.
         */
        total += section.sh_size;
        if (total > size || !rex_elf_section(&needs.elf, section.sh_link, &symbols))
            continue;
        for (size_t j = 0; rex_elf_row(&needs.elf, &section, SHT_RELA, j, &rela, sizeof rela); j++)
            if ((binds_now || ELF64_R_TYPE(rela.r_info) != CALLED) &&
                lacks_host_symbol(&needs, &symbols, ELF64_R_SYM(rela.r_info), &name))
                return rex_fail(REX_EIMAGE,
                                "device image %s needs the symbol %s, which no library has", path,
                                name);
    }
    return result;
}

/* ---- threads of an image's loops ------------------------------------------------------------- */

void rex_host_limit_threads(unsigned char *bytes, size_t size)
{
    struct needs needs;
    const char *library, *wanted = getenv("OMP_NUM_THREADS"), *text = getenv("OMP_THREAD_LIMIT");
    if ((wanted != NULL && *wanted != '\0') || !open_host_needs(&needs, bytes, size))
        return;
    do {
        library = next_library(&needs);
        if (library == NULL)
            return;
    } while (rex_name_after(library, "libgomp.so") == NULL &&
             rex_name_after(library, "libomp.so") == NULL &&
             rex_name_after(library, "libiomp5.so") == NULL);
    /* Find the int REX_PROCESSORS_SYMBOL in the image. rex/openmp.h defines this int. */
    const unsigned char *number = NULL;
    const struct rex_elf *elf = &needs.elf;
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    if (!rex_elf_find_type(elf, SHT_DYNSYM, &symbols))
        return;
    for (size_t i = 1; number == NULL && rex_elf_symbol(elf, &symbols, i, &symbol, &name); i++) {
        if (strcmp(name, REX_PROCESSORS_SYMBOL) != 0 || symbol.st_size != sizeof(int) ||
            !rex_elf_section(elf, symbol.st_shndx, &section) ||
            (section.sh_flags & (SHF_ALLOC | SHF_WRITE)) != (SHF_ALLOC | SHF_WRITE))
            continue;
        /* `into` is a huge number if the address is before the section. */
        uint64_t into = symbol.st_value - section.sh_addr;
        const unsigned char *start = rex_elf_section_bytes(elf, &section);
        if (start != NULL && into < section.sh_size && section.sh_size - into >= sizeof(int))
            number = start + into;
    }
    if (number == NULL)
        return;
    /* libomp warns of each loop that requests more threads than OMP_THREAD_LIMIT. */
    long limit = text != NULL ? strtol(text, NULL, 10) : 0;
    /*
     * Write a number that does not change in this process. If the image is registered again, its
     * bytes are equal, and librex uses the retained bytes (module/registry.h).
     */
    int most = rex_processors_known();
    if (limit > 0 && limit < most)
        most = (int)limit;
    memcpy(bytes + (number - bytes), &most, sizeof most);
}
