/*
 * cubin.c - makes a CUBIN for the fake GPU of a host image: its kernels with their parameters and signatures, its globals, and the host
 * image itself in the section .fake.host.
 *
 * usage: cubin HOST-IMAGE OUTPUT
 *
 * The header is that of sm_90 before CUDA 13, which every release takes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex/configure.h>
#include <rex/inspect.h>

enum { PARAMETER = 0x17, PARAMETER_SIZE_SHIFT = 18, STO_CUDA_ENTRY = 0x10, FLAGS_SM_90 = 0x5a055a };
enum { STRINGS = 1, NAMES, SYMBOLS, GLOBALS, HOST, FIRST_KERNEL, MOST_SECTIONS = 4096 };

struct bytes {
    unsigned char *at;
    size_t size;
};
static struct bytes file, strings, names, symbols;
static Elf64_Shdr sections[MOST_SECTIONS];
static size_t section_count = FIRST_KERNEL;

static size_t add(struct bytes *to, const void *bytes, size_t size)
{
    size_t at = to->size;
    unsigned char *grown = realloc(to->at, at + size + 1);
    if (grown == NULL)
        exit((perror("cubin"), 1));
    to->at = grown;
    if (size > 0)
        memcpy(to->at + at, bytes, size);
    to->size += size;
    return at;
}

static uint32_t add_text(struct bytes *to, const char *text)
{
    return (uint32_t)add(to, text, strlen(text) + 1);
}

static void align(void)
{
    static const char zero[16];
    add(&file, zero, -file.size & 15);
}

/* The section NUMBER, whose name is at NAME, and its bytes at the end of the file. */
static void set_named(size_t number, uint32_t name, uint32_t type, const void *bytes, size_t size)
{
    align();
    sections[number] = (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_size = size, .sh_addralign = 16};
    sections[number].sh_offset = type == SHT_NOBITS ? file.size : add(&file, bytes, size);
}

static void set_section(size_t number, const char *name, uint32_t type, const void *bytes, size_t size)
{
    set_named(number, add_text(&strings, name), type, bytes, size);
}

static size_t add_section(const char *prefix, const char *kernel, const void *bytes, size_t size)
{
    char name[512];
    if (section_count == MOST_SECTIONS)
        exit((fprintf(stderr, "cubin: too many kernels\n"), 1));
    snprintf(name, sizeof name, "%s%s", prefix, kernel);
    set_section(section_count, name, SHT_PROGBITS, bytes, size);
    return section_count++;
}

static void add_symbol(const char *name, unsigned type, unsigned char other, size_t section, uint64_t value, uint64_t size)
{
    Elf64_Sym symbol = {add_text(&names, name), (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type), other, (uint16_t)section, value, size};
    add(&symbols, &symbol, sizeof symbol);
}

/* A kernel that is empty: its mangled name tells the kinds. */
static void add_signature(const struct rex_image_symbol *kernel)
{
    char name[8192];
    int length = snprintf(name, sizeof name, "_Z%zurex_signature_%sP9rex_kindsIJLj%dE", strlen("rex_signature_") + strlen(kernel->name),
                          kernel->name, kernel->env ? 3 : 2);
    for (size_t i = kernel->env; i < kernel->parameters && (size_t)length < sizeof name; i++)
        length += snprintf(name + length, sizeof name - (size_t)length, "Lj%uE",
                           kernel->parameter[i].kind | (unsigned)kernel->parameter[i].width << 8);
    snprintf(name + length, sizeof name - (size_t)length, "EE");
    add_symbol(name, STT_FUNC, STO_CUDA_ENTRY, add_section(".text.", name, "", 1), 0, 1);
}

static void add_kernel(const struct rex_image_symbol *kernel)
{
    struct bytes info = {NULL, 0};
    size_t count = kernel->parameters == REX_PARAMETERS_UNKNOWN ? 0 : kernel->parameters;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[] = {4 | PARAMETER << 8 | 12 << 16, 0, i | 8 * i << 16, 8 << PARAMETER_SIZE_SHIFT};
        add(&info, words, sizeof words);
    }
    add_symbol(kernel->name, STT_FUNC, STO_CUDA_ENTRY, add_section(".text.", kernel->name, "", 1), 0, 1);
    if (kernel->parameters != REX_PARAMETERS_UNKNOWN)
        add_section(".nv.info.", kernel->name, info.at, info.size);
    if (kernel->signature)
        add_signature(kernel);
    free(info.at);
}

static void add_all(const struct rex_image_view *view)
{
    static const Elf64_Sym none;
    uint64_t globals = 0;
    add(&symbols, &none, sizeof none);
    add_text(&strings, "");
    add_text(&names, "");
    for (size_t i = 0; i < view->symbol_count; i++) {
        const struct rex_image_symbol *symbol = &view->symbols[i];
        if (symbol->kernel)
            add_kernel(symbol);
        else if (symbol->size > 0)
            add_symbol(symbol->name, STT_OBJECT, 0, GLOBALS, globals, symbol->size);
        globals += symbol->kernel ? 0 : (symbol->size + 15) / 16 * 16;
    }
    set_section(GLOBALS, ".nv.global", SHT_NOBITS, NULL, globals);
}

static void finish(void)
{
    set_section(SYMBOLS, ".symtab", SHT_SYMTAB, symbols.at, symbols.size);
    sections[SYMBOLS].sh_link = NAMES;
    sections[SYMBOLS].sh_info = 1;
    sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
    set_section(NAMES, ".strtab", SHT_STRTAB, names.at, names.size);
    uint32_t name = add_text(&strings, ".shstrtab");
    set_named(STRINGS, name, SHT_STRTAB, strings.at, strings.size);
    align();
    size_t at = add(&file, sections, section_count * sizeof *sections);
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x33, 7},
                         .e_type = ET_EXEC,
                         .e_machine = EM_CUDA,
                         .e_version = EV_CURRENT,
                         .e_shoff = at,
                         .e_flags = FLAGS_SM_90,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof *sections,
                         .e_shnum = (uint16_t)section_count,
                         .e_shstrndx = STRINGS};
    memcpy(file.at, &header, sizeof header);
}

static struct bytes read_file(const char *path)
{
    struct bytes read = {NULL, 0};
    char block[65536];
    FILE *from = fopen(path, "rb");
    if (from == NULL)
        exit((perror(path), 1));
    for (size_t count; (count = fread(block, 1, sizeof block, from)) > 0;)
        add(&read, block, count);
    fclose(from);
    return read;
}

int main(int argc, char **argv)
{
    static const Elf64_Ehdr none;
    struct rex_image_list *list;
    struct rex_image_view *view;
    if (argc != 3)
        return fprintf(stderr, "usage: cubin HOST-IMAGE OUTPUT\n"), 2;
    struct bytes host = read_file(argv[1]);
    if (rex_image_list_open(&list, host.at, host.size, argv[1]) != 0 || rex_image_view_open(&view, list, 0, argv[1]) != 0)
        return fprintf(stderr, "cubin: %s\n", rex_last_error()), 1;
    add(&file, &none, sizeof none);
    add_all(view);
    set_section(HOST, ".fake.host", SHT_PROGBITS, host.at, host.size);
    finish();
    FILE *to = fopen(argv[2], "wb");
    if (to == NULL || fwrite(file.at, 1, file.size, to) != file.size || fclose(to) != 0)
        return perror(argv[2]), 1;
    rex_image_view_close(view);
    rex_image_list_close(list);
    free(host.at);
    return 0;
}
