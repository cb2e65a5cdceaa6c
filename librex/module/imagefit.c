/*
 * imagefit.c - an image's bytes made to suit a release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/imagefit.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "image/elf.h"
#include "image/list.h"

/* ---- CUDA 13's header ------------------------------------------------------------------------ */

/*
 * nvcc 13 writes OSABI 0x41, ABI version 8 and the SM number in bits 8 to 15 of e_flags; LLVM 18
 * to 21.1.1 know only the older form, which the driver still loads for up to sm_90a.
 */
int rex_image_fit_header(unsigned char *bytes, size_t size, const char *path,
                         const struct rex_release *release)
{
    Elf64_Ehdr header;
    if (release->newest_old_header == 0 || size < sizeof header)
        return REX_OK;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA ||
        header.e_ident[EI_OSABI] != 0x41 || header.e_ident[EI_ABIVERSION] != 8)
        return REX_OK;
    unsigned sm = header.e_flags >> 8 & 0xff;
    if (sm > (unsigned)release->newest_old_header)
        return release->new_header_refused ? rex_fail(REX_EUNSUPPORTED,
                                                      "device image %s: LLVM %d refuses CUDA 13's "
                                                      "CUBIN header, and sm_%u has no older "
                                                      "form; LLVM 21.1.2 or later takes it",
                                                      path, release->number, sm)
                                           : REX_OK;
    header.e_ident[EI_OSABI] = 0x33;
    header.e_ident[EI_ABIVERSION] = 7;
    header.e_flags = sm << 16 | 0x500 | sm;
    memcpy(bytes, &header, sizeof header);
    rex_log(REX_LOG_INFO,
            "device image %s: CUDA 13's header rewritten for LLVM %d, in a private copy", path,
            release->number);
    return REX_OK;
}

/* ---- modes of kernels ------------------------------------------------------------------------ */

/*
 * nvcc's images have none, and to look inside of them takes most of the time of a registration:
 * once is enough.
 */
static bool may_have_modes(const unsigned char *bytes, size_t size)
{
    struct rex_elf elf;
    Elf64_Shdr symbols, names;
    if (rex_elf_open(&elf, bytes, size) != 0 ||
        rex_elf_find_type(&elf, SHT_SYMTAB, &symbols) != 0 ||
        rex_elf_section(&elf, symbols.sh_link, &names) != 0 || names.sh_type != SHT_STRTAB)
        return true; /* who looks inside says what is wrong */
    return memmem(elf.bytes + names.sh_offset, names.sh_size, REX_EXEC_MODE_SUFFIX,
                  sizeof REX_EXEC_MODE_SUFFIX) != NULL;
}

/*
 * LLVM 14 to 17 take a byte NAME_exec_mode for how a kernel of clang's is to be launched: 1 adds
 * threads to the block, and 0, which REX writes, fails to load (16). Kernels here are launched as
 * they are, so the symbols get a name that nobody looks for.
 */
int rex_image_hide_modes(unsigned char *bytes, size_t size, size_t view_most, const char *path,
                         const struct rex_release *release)
{
    struct rex_view view;
    if (!release->exec_mode_obeyed || !may_have_modes(bytes, size))
        return REX_OK;
    int result = rex_view_open_within(&view, bytes, size, view_most, path);
    for (size_t i = 0; result == REX_OK && view.kind == REX_IMAGE_CUBIN && i < view.count; i++) {
        const char *name = view.symbols[i].name;
        if (view.symbols[i].kernel || rex_view_kernel_of(&view, name, REX_EXEC_MODE_SUFFIX) == NULL)
            continue;
        rex_log(REX_LOG_INFO, "device image %s: %s renamed for LLVM %d, in a private copy", path,
                name, release->number);
        bytes[(const unsigned char *)name - bytes +
              (ptrdiff_t)(strlen(name) - strlen(REX_EXEC_MODE_SUFFIX))] = '.';
    }
    if (result == REX_OK)
        rex_view_close(&view);
    return result;
}
