/*
 * program.c - finds the program, and checks that librex can be preloaded into it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "program.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/elffile.h"
#include "die.h"

/* ---- data of an ELF file for the loader ------------------------------------------------------ */

#define MOST_DYNAMIC 0x10000 /* maximum number of rows that are read from a dynamic section */

/* Returns the path of the loader that the file names; NULL if the file names no loader. */
static const char *interpreter_of(const struct rex_elf *elf)
{
    Elf64_Phdr segment;
    if (!rex_elf_find_segment(elf, PT_INTERP, &segment))
        return NULL;
    const unsigned char *bytes = rex_elf_bytes(elf, segment.p_offset, segment.p_filesz);
    const char *interpreter = rex_elf_string_within(bytes, segment.p_filesz);
    return interpreter != NULL ? interpreter : "";
}

/* Writes the value of TAG in the dynamic section to *VALUE. Returns false if TAG is missing. */
static bool dynamic_value(const struct rex_elf *elf, int64_t tag, uint64_t *value)
{
    Elf64_Phdr dynamic;
    Elf64_Dyn entry = {.d_tag = DT_NULL + 1};
    const unsigned char *bytes = rex_elf_find_segment(elf, PT_DYNAMIC, &dynamic)
                                     ? rex_elf_bytes(elf, dynamic.p_offset, dynamic.p_filesz)
                                     : NULL;
    for (size_t i = 0; bytes != NULL && entry.d_tag != DT_NULL && i < MOST_DYNAMIC &&
                       i < dynamic.p_filesz / sizeof entry;
         i++) {
        memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
        *value = entry.d_un.d_val;
        if (entry.d_tag == tag)
            return true;
    }
    return false;
}

/* Returns the string of the first TAG in the dynamic section; "" if there is none. */
static const char *dynamic_string(const struct rex_elf *elf, int64_t tag)
{
    Elf64_Phdr segment;
    uint64_t strings, name;
    const char *string = NULL;
    if (!dynamic_value(elf, tag, &name) || !dynamic_value(elf, DT_STRTAB, &strings))
        return "";
    for (size_t i = 0; string == NULL && rex_elf_segment(elf, i, &segment); i++) {
        /* INTO is a huge number if the address is before the segment. */
        uint64_t into = strings + name - segment.p_vaddr;
        const unsigned char *bytes = rex_elf_bytes(elf, segment.p_offset, segment.p_filesz);
        if (segment.p_type == PT_LOAD && into < segment.p_filesz && bytes != NULL)
            string = rex_elf_string_within(bytes + into, segment.p_filesz - into);
    }
    return string != NULL ? string : "";
}

/* ---- obstacles ------------------------------------------------------------------------------- */

static void open_elf(struct rex_elf *elf, const char *path)
{
    struct stat status;
    char why[MAPPING_WHY];
    int descriptor = mapping_open(path, &status, why);
    const void *bytes = descriptor >= 0 ? mapping_make(descriptor, &status, why) : NULL;
    if (bytes == NULL)
        die(REFUSED, "%s cannot be read: %s", path, why);
    close(descriptor);
    rex_elf_identify(elf, bytes, (size_t)status.st_size);
}

static void check_machine(const char *path, const Elf64_Ehdr *header, const Elf64_Ehdr *own)
{
    char number[ELF_MACHINE_MAX], own_number[ELF_MACHINE_MAX];
    if (header->e_machine != own->e_machine || header->e_ident[EI_DATA] != own->e_ident[EI_DATA])
        die(REFUSED, "%s is for %s, but this librex is for %s", path,
            elf_machine_name(header->e_machine, number),
            elf_machine_name(own->e_machine, own_number));
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        die(REFUSED, "%s is a 32-bit program, but librex exists only for 64 bits", path);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void check_interpreter(const char *path, const struct rex_elf *elf, const char *own)
{
    const Elf64_Ehdr *header = &elf->header;
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        rex_elf_bytes(elf, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)) == NULL)
        die(REFUSED, "%s: its program headers are broken", path);
    const char *interpreter = interpreter_of(elf);
    if (interpreter == NULL)
        die(REFUSED,
            "%s is statically linked (or a shared object): librex cannot be preloaded into it",
            path);
    if (strcmp(base_name(interpreter), base_name(own)) != 0)
        die(REFUSED, "%s starts with the loader %s, but librex is for %s", path, interpreter,
            base_name(own));
}

static void check_rights(const char *path, const struct stat *status)
{
    if (status->st_mode & (S_ISUID | S_ISGID))
        die(REFUSED, "%s is set-%s-ID: the loader preloads nothing into it", path,
            status->st_mode & S_ISUID ? "user" : "group");
    if (getxattr(path, "security.capability", NULL, 0) > 0)
        die(REFUSED, "%s has capabilities of its own: the loader preloads nothing into it", path);
}

static void look_at(struct program *program)
{
    struct rex_elf elf, own;
    uint64_t other;
    open_elf(&elf, program->path);
    program->script = elf.size >= 2 && memcmp(elf.bytes, "#!", 2) == 0;
    if (!program->script) {
        if (elf.size < SELFMAG || memcmp(elf.bytes, ELFMAG, SELFMAG) != 0)
            die(REFUSED, "%s is neither an ELF program nor a script that begins with #!",
                program->path);
        if (elf.size < sizeof elf.header)
            die(REFUSED, "%s is truncated inside the ELF header", program->path);
        /*
         * librex was loaded into rex-run itself. So librex also fits a program with the machine and
         * the loader of rex-run.
         */
        open_elf(&own, "/proc/self/exe");
        const char *own_interpreter = interpreter_of(&own);
        check_machine(program->path, &elf.header, &own.header);
        check_interpreter(program->path, &elf, own_interpreter != NULL ? own_interpreter : "");
        /* The loader ignores DT_RPATH if there is a DT_RUNPATH. */
        if (!dynamic_value(&elf, DT_RUNPATH, &other))
            path_of(program->rpath, "%s", dynamic_string(&elf, DT_RPATH));
        mapping_end(own.bytes, own.size);
    }
    mapping_end(elf.bytes, elf.size);
}

/* ---- the search ------------------------------------------------------------------------------ */

/*
 * Returns true if FOLDER/NAME can be executed. If the file exists but cannot be executed, and
 * *ERROR is 0, sets *ERROR to the error number. So *ERROR keeps the first error of the search. A
 * folder of PATH that cannot be searched is treated as a folder without the file.
 */
static bool try_folder(struct program *program, const char *folder, size_t length, const char *name,
                       int *error)
{
    char path[PATH_MAX];
    struct stat status;
    path_of(path, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "", name);
    bool is_there = stat(path, &status) == 0;
    int why = !is_there                 ? errno
              : S_ISDIR(status.st_mode) ? EISDIR
              : access(path, X_OK) != 0 ? errno
                                        : 0;
    if (why == 0)
        path_of(program->path, "%s", path);
    else if (*error == 0 && why != ENOENT && why != ENOTDIR && (is_there || length == 0))
        *error = why;
    return why == 0;
}

static bool search(struct program *program, const char *name, int *error)
{
    const char *path = getenv("PATH"), *folder = path != NULL ? path : "/bin:/usr/bin";
    if (strchr(name, '/') != NULL)
        return try_folder(program, "", 0, name, error);
    while (!try_folder(program, folder, strcspn(folder, ":"), name, error)) {
        folder += strcspn(folder, ":");
        if (*folder++ == '\0')
            return false;
    }
    return true;
}

void find_program(struct program *program, const char *name)
{
    struct stat status;
    int error = 0;
    if (!search(program, name, &error)) {
        if (error != 0)
            die(REFUSED, "%s may not be executed: %s", name, strerror(error));
        die(NOT_FOUND, "%s: there is no such program", name);
    }
    if (stat(program->path, &status) != 0)
        die(REFUSED, "%s: %s", program->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        die(REFUSED, "%s is not a regular file", program->path);
    check_rights(program->path, &status);
    look_at(program);
}
