/*
 * state.c - what a CUBIN keeps from one launch to the next, or asks of its runtime: which symbols say so.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <elf.h>

#include "image/state.h"

enum { CUDA_OBJECT = 13, NOWHERE = 99 };

/* A CUBIN with one symbol behind another that says nothing. */
struct symbol {
    const char *name;
    int type;
    const char *section; /* that it lies in; NULL: it is defined elsewhere */
    enum rex_state state;
};

enum { OBJECTS = 1, SYMBOLS, NAMES, SECTION_NAMES, SECTIONS };

struct cubin {
    Elf64_Ehdr header;
    Elf64_Shdr section[SECTIONS];
    Elf64_Sym symbol[3];
    char names[256], section_names[64];
};
#define PART(number, kind, member, ...) \
    [number] = {.sh_type = kind, .sh_offset = offsetof(struct cubin, member), .sh_size = sizeof image.member, __VA_ARGS__}

static struct cubin image;

static void build(const struct symbol *symbol, unsigned index)
{
    image = (struct cubin){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = 190, /* EM_CUDA */
                   .e_version = EV_CURRENT,
                   .e_ehsize = sizeof image.header,
                   .e_shoff = offsetof(struct cubin, section),
                   .e_shentsize = sizeof image.section[0],
                   .e_shnum = SECTIONS,
                   .e_shstrndx = SECTION_NAMES},
        .section = {[OBJECTS] = {.sh_type = SHT_NOBITS, .sh_name = 1, .sh_size = 8},
                    PART(SYMBOLS, SHT_SYMTAB, symbol, .sh_link = NAMES, .sh_entsize = sizeof image.symbol[0]),
                    PART(NAMES, SHT_STRTAB, names, .sh_link = 0), PART(SECTION_NAMES, SHT_STRTAB, section_names, .sh_link = 0)},
        .symbol = {[1] = {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = OBJECTS},
                   [2] = {.st_name = 16,
                          .st_info = ELF64_ST_INFO(STB_GLOBAL, symbol->type),
                          .st_shndx = (uint16_t)index,
                          .st_size = 8}},
        .names = "\0kernel"};
    strcpy(image.names + 16, symbol->name);
    if (symbol->section != NULL)
        strcpy(image.section_names + 1, symbol->section);
}

static enum rex_state ask(const struct symbol *symbol, unsigned index, char name[REX_STATE_NAME])
{
    struct rex_elf elf;
    build(symbol, index);
    assert_int_equal(rex_elf_open(&elf, &image, sizeof image), 0);
    return rex_cubin_state(&elf, name);
}

TEST(test_symbols)
{
    static const struct symbol all[] = {
        /* memory that stays */
        {"sum", STT_OBJECT, ".nv.global", REX_STATE_GLOBAL},
        {"sum", CUDA_OBJECT, ".nv.global", REX_STATE_GLOBAL},
        {"sum", STT_OBJECT, ".nv.global.init", REX_STATE_GLOBAL},
        {"sum", STT_OBJECT, ".nv.constant3", REX_STATE_GLOBAL},
        {"sum", STT_OBJECT, ".bss", REX_STATE_GLOBAL},
        {"sum", STT_OBJECT, ".data", REX_STATE_GLOBAL},
        {"sum", STT_OBJECT, ".nv.shared.kernel", REX_STATE_NONE},
        {"sum", STT_OBJECT, ".text.kernel", REX_STATE_NONE},
        {"sum", STT_FUNC, ".nv.global", REX_STATE_NONE},
        {"sum", STT_OBJECT, NULL, REX_STATE_NONE},
        /* but for what nobody on the device looks at */
        {"rex_signature", STT_OBJECT, ".nv.global", REX_STATE_NONE},
        {"__omp_rtl_debug_kind", STT_OBJECT, ".nv.global", REX_STATE_NONE},
        {"omptarget_device_environment", STT_OBJECT, ".nv.global", REX_STATE_NONE},
        {"kernel_exec_mode", STT_OBJECT, ".nv.global", REX_STATE_NONE},
        {"__unnamed_1", STT_OBJECT, ".nv.global.init", REX_STATE_NONE},
        {"$str$1", STT_OBJECT, ".nv.global.init", REX_STATE_NONE},
        {"unnamed_1", STT_OBJECT, ".nv.global.init", REX_STATE_GLOBAL},
        {"a_rex_signature", STT_OBJECT, ".nv.global", REX_STATE_GLOBAL},
        {"exec_mode", STT_OBJECT, ".nv.global", REX_STATE_GLOBAL},
        {"kernel_exec_modes", STT_OBJECT, ".nv.global", REX_STATE_GLOBAL},
        /* LLVM's runtime on the device, and the CUDA library's */
        {"__kmpc_target_init", STT_FUNC, ".text.kernel", REX_STATE_RUNTIME},
        {"__kmpc_target_init", STT_FUNC, NULL, REX_STATE_RUNTIME},
        {"__kmpc_target_init", STT_OBJECT, ".text.kernel", REX_STATE_NONE},
        {"vprintf", STT_FUNC, NULL, REX_STATE_LIBRARY},
        {"malloc", STT_FUNC, NULL, REX_STATE_LIBRARY},
        {"free", STT_FUNC, NULL, REX_STATE_LIBRARY},
        {"free", STT_FUNC, ".text.free", REX_STATE_NONE},
        {"free", STT_OBJECT, NULL, REX_STATE_NONE},
        {"calloc", STT_FUNC, NULL, REX_STATE_NONE},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        char name[REX_STATE_NAME] = "";
        if (ask(&all[i], all[i].section != NULL ? OBJECTS : SHN_UNDEF, name) != all[i].state)
            fail_msg("%s in %s", all[i].name, all[i].section != NULL ? all[i].section : "no section");
        assert_string_equal(name, all[i].state != REX_STATE_NONE ? all[i].name : "");
    }
}

/* What lies in no section that there is, and an image without symbols. */
TEST(test_damaged)
{
    static const struct symbol global = {"sum", STT_OBJECT, ".nv.global", REX_STATE_NONE};
    char name[REX_STATE_NAME] = "";
    struct rex_elf elf;
    assert_int_equal(ask(&global, NOWHERE, name), REX_STATE_NONE);
    image.section[SYMBOLS].sh_type = SHT_NOTE;
    assert_int_equal(rex_elf_open(&elf, &image, sizeof image), 0);
    assert_int_equal(rex_cubin_state(&elf, name), REX_STATE_NONE);
}
