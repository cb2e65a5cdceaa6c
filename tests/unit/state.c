/*
 * state.c - what a CUBIN keeps from one launch to the next, or asks of its runtime: which symbols say so.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <elf.h>

#include "image/cubin.h"

enum { CUDA_OBJECT = 13, NOWHERE = 99 };

/* A CUBIN with one symbol behind another that says nothing. */
struct symbol {
    const char *name;
    int type;
    const char *section; /* that it lies in; NULL: it is defined elsewhere */
    enum rex_state state;
};

enum { OBJECTS = 1, SYMBOLS, NAMES, SECTION_NAMES, SECTIONS };

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr section[SECTIONS];
    Elf64_Sym symbol[3];
    char names[256], section_names[64];
} image;

static void place_section(int number, unsigned type, const void *begin, size_t size)
{
    Elf64_Shdr *section = &image.section[number];
    section->sh_type = type;
    section->sh_offset = (Elf64_Off)((const char *)begin - (const char *)&image);
    section->sh_size = size;
}

static void build(const struct symbol *symbol, unsigned index)
{
    memset(&image, 0, sizeof image);
    image.header = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = 190, /* EM_CUDA */
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof image.header,
        .e_shoff = offsetof(__typeof__(image), section),
        .e_shentsize = sizeof image.section[0],
        .e_shnum = SECTIONS,
        .e_shstrndx = SECTION_NAMES};
    strcpy(image.names + 1, "kernel");
    strcpy(image.names + 16, symbol->name);
    if (symbol->section != NULL)
        strcpy(image.section_names + 1, symbol->section);
    place_section(OBJECTS, SHT_NOBITS, &image, 8);
    image.section[OBJECTS].sh_name = 1;
    place_section(SYMBOLS, SHT_SYMTAB, image.symbol, sizeof image.symbol);
    image.section[SYMBOLS].sh_link = NAMES;
    image.section[SYMBOLS].sh_entsize = sizeof image.symbol[0];
    place_section(NAMES, SHT_STRTAB, image.names, sizeof image.names);
    place_section(SECTION_NAMES, SHT_STRTAB, image.section_names, sizeof image.section_names);
    for (int i = 1; i < 3; i++)
        image.symbol[i] = (Elf64_Sym){.st_name = i == 1 ? 1 : 16,
                                      .st_info = ELF64_ST_INFO(
                                          STB_GLOBAL, i == 1 ? STT_FUNC : symbol->type),
                                      .st_shndx = (uint16_t)(i == 1 ? OBJECTS : index),
                                      .st_size = i == 1 ? 0 : 8};
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
