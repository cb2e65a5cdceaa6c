/*
 * program.c - find the program and look whether librex can be put in front of it.
 *
 * Only headers are read, each piece by a read of its own that is checked: the file may be of any
 * size, and hostile.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "die.h"

/* ---- pieces of an ELF file ------------------------------------------------------------------- */

#define MOST_DYNAMIC 0x100000 /* bytes of a dynamic section that are looked at */

struct file {
    const char *path;
    int descriptor;
    Elf64_Ehdr header;
    Elf64_Phdr *segments; /* header.e_phnum of them */
};

/* Reads SIZE bytes at OFFSET; false where they are not all there. */
static bool read_at(const struct file *file, void *bytes, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX &&
           pread(file->descriptor, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* A string that begins at OFFSET, cut off where BYTES are full or the file ends. */
static void read_string(const struct file *file, char *bytes, size_t size, uint64_t offset)
{
    ssize_t got =
        offset <= INT64_MAX ? pread(file->descriptor, bytes, size - 1, (off_t)offset) : -1;
    bytes[got > 0 ? got : 0] = '\0';
}

static void read_segments(struct file *file)
{
    size_t count = file->header.e_phnum;
    file->segments = calloc(count + 1, sizeof *file->segments);
    if (file->segments == NULL)
        die(NOT_RUN, "out of memory");
    if (file->header.e_phentsize != sizeof(Elf64_Phdr) ||
        !read_at(file, file->segments, count * sizeof *file->segments, file->header.e_phoff))
        die(REFUSED, "%s: its program headers are broken", file->path);
}

static const Elf64_Phdr *segment_of_type(const struct file *file, uint32_t type)
{
    for (size_t i = 0; i < file->header.e_phnum; i++)
        if (file->segments[i].p_type == type)
            return &file->segments[i];
    return NULL;
}

/* Where the bytes at ADDRESS are in the file; UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct file *file, uint64_t address)
{
    for (size_t i = 0; i < file->header.e_phnum; i++) {
        const Elf64_Phdr *segment = &file->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    }
    return UINT64_MAX;
}

/* The value of TAG in the dynamic section. */
static bool dynamic_value(const struct file *file, int64_t tag, uint64_t *value)
{
    const Elf64_Phdr *dynamic = segment_of_type(file, PT_DYNAMIC);
    Elf64_Dyn entry = {.d_tag = DT_NULL + 1};
    for (uint64_t at = 0; dynamic != NULL && entry.d_tag != DT_NULL && at < MOST_DYNAMIC;
         at += sizeof entry) {
        if (!read_at(file, &entry, sizeof entry, dynamic->p_offset + at))
            return false;
        if (entry.d_tag == tag) {
            *value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

/* ---- what stands in the way ------------------------------------------------------------------ */

static const char *machine_name(unsigned machine, char number[32])
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_X86_64, "x86-64"},  {EM_AARCH64, "AArch64"}, {EM_PPC64, "ppc64"}, {EM_386, "i386"},
        {EM_ARM, "32-bit ARM"}, {EM_RISCV, "RISC-V"},    {EM_S390, "S/390"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine)
            return names[i].name;
    snprintf(number, 32, "machine number %u", machine);
    return number;
}

static void open_elf(struct file *file, const char *path)
{
    *file =
        (struct file){.path = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->descriptor < 0)
        die(REFUSED, "%s cannot be read: %s", path, strerror(errno));
}

/* rex-run itself is a program that librex was loaded into. */
static void read_own(struct file *own, char interpreter[PATH_MAX])
{
    open_elf(own, "/proc/self/exe");
    if (!read_at(own, &own->header, sizeof own->header, 0))
        die(NOT_RUN, "/proc/self/exe cannot be read");
    read_segments(own);
    const Elf64_Phdr *segment = segment_of_type(own, PT_INTERP);
    read_string(own, interpreter, PATH_MAX, segment != NULL ? segment->p_offset : UINT64_MAX);
}

static void check_machine(const struct file *file, const struct file *own)
{
    char number[32], own_number[32];
    const Elf64_Ehdr *header = &file->header;
    if (header->e_machine != own->header.e_machine ||
        header->e_ident[EI_DATA] != own->header.e_ident[EI_DATA])
        die(REFUSED, "%s is for %s, and librex here for %s", file->path,
            machine_name(header->e_machine, number),
            machine_name(own->header.e_machine, own_number));
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        die(REFUSED, "%s is a 32-bit program; there is librex for 64 bits alone", file->path);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void check_interpreter(const struct file *file, const char *own)
{
    char interpreter[PATH_MAX];
    const Elf64_Phdr *segment = segment_of_type(file, PT_INTERP);
    if (segment == NULL)
        die(REFUSED,
            "%s is statically linked (or a shared object): no library can be put in front of "
            "another",
            file->path);
    read_string(file, interpreter, sizeof interpreter, segment->p_offset);
    if (strcmp(base_name(interpreter), base_name(own)) != 0)
        die(REFUSED, "%s starts with the loader %s; librex is made for %s", file->path, interpreter,
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

/* The string that the first TAG of the dynamic section names, "" if there is none. */
static void dynamic_string(const struct file *file, int64_t tag, char string[PATH_MAX])
{
    uint64_t strings, name;
    *string = '\0';
    if (dynamic_value(file, tag, &name) && dynamic_value(file, DT_STRTAB, &strings)) {
        uint64_t offset = offset_of(file, strings);
        read_string(file, string, PATH_MAX,
                    offset <= UINT64_MAX - name ? offset + name : UINT64_MAX);
    }
}

static void close_elf(struct file *file)
{
    free(file->segments);
    close(file->descriptor);
}

static void look_at(struct program *program)
{
    struct file file, own;
    char own_interpreter[PATH_MAX];
    uint64_t other;
    ssize_t got;
    open_elf(&file, program->path);
    got = pread(file.descriptor, &file.header, sizeof file.header, 0);
    program->script = got >= 2 && memcmp(&file.header, "#!", 2) == 0;
    if (!program->script) {
        if (got < SELFMAG || memcmp(file.header.e_ident, ELFMAG, SELFMAG) != 0)
            die(REFUSED, "%s is neither an ELF program nor a script that begins with #!",
                program->path);
        if (got < (ssize_t)sizeof file.header)
            die(REFUSED, "%s is cut off in its ELF header", program->path);
        read_own(&own, own_interpreter);
        check_machine(&file, &own);
        read_segments(&file);
        check_interpreter(&file, own_interpreter);
        /* The loader ignores DT_RPATH where there is DT_RUNPATH. */
        if (!dynamic_value(&file, DT_RUNPATH, &other))
            dynamic_string(&file, DT_RPATH, program->rpath);
        close_elf(&own);
    }
    close_elf(&file);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Whether FOLDER/NAME can be executed; the first that exists and cannot is what an error names. */
static bool try_folder(struct program *program, const char *folder, size_t length, const char *name,
                       bool *forbidden)
{
    char path[PATH_MAX];
    struct stat status;
    path_of(path, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "", name);
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return false;
    if (access(path, X_OK) != 0) {
        *forbidden = true;
        return false;
    }
    path_of(program->path, "%s", path);
    return true;
}

static bool search(struct program *program, const char *name, bool *forbidden)
{
    const char *path = getenv("PATH"), *folder = path != NULL ? path : "/bin:/usr/bin";
    if (strchr(name, '/') != NULL)
        return try_folder(program, "", 0, name, forbidden);
    while (!try_folder(program, folder, strcspn(folder, ":"), name, forbidden)) {
        folder += strcspn(folder, ":");
        if (*folder++ == '\0')
            return false;
    }
    return true;
}

void find_program(struct program *program, const char *name)
{
    struct stat status;
    bool forbidden = false;
    if (!search(program, name, &forbidden))
        die(forbidden ? REFUSED : NOT_FOUND,
            forbidden ? "%s may not be executed" : "%s: there is no such program", name);
    if (stat(program->path, &status) != 0)
        die(REFUSED, "%s: %s", program->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        die(REFUSED, "%s is not a regular file", program->path);
    check_rights(program->path, &status);
    look_at(program);
}
