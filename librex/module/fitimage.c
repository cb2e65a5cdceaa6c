/*
 * fitimage.c - adapts images: compiles PTX for the GPU, and fits a CUBIN to an LLVM release.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/fitimage.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "image/elf.h"
#include "trace/trace.h"

/* ---- PTX becomes a CUBIN --------------------------------------------------------------------- */

/* Values of cuda.h. */
#define JIT_ERROR_LOG_BUFFER 5
#define JIT_ERROR_LOG_BUFFER_SIZE 6
#define JIT_GENERATE_LINE_INFO 13
#define JIT_INPUT_PTX 1
enum {
    INVALID_IMAGE = 200,
    INVALID_PTX = 218,
    JIT_COMPILER_NOT_FOUND = 221,
    UNSUPPORTED_PTX_VERSION = 222
};

/* Reports RESULT of the driver's linker, which has written LOG. Returns the error. */
static int fail_not_linked(int result, char *log, const char *path)
{
    bool is_newer = result == UNSUPPORTED_PTX_VERSION;
    bool is_wrong = is_newer || result == INVALID_IMAGE || result == INVALID_PTX ||
                    result == REX_CUDA_NO_BINARY_FOR_GPU;
    if (result == JIT_COMPILER_NOT_FOUND)
        return rex_fail(REX_ECUDA,
                        "device image %s is PTX, and the CUDA driver's compiler, "
                        "libnvidia-ptxjitcompiler.so.1, is not installed",
                        path);
    /* Join the lines of the log. */
    char *to = log;
    for (const char *from = log; *from != '\0'; from++)
        if (*from != '\n')
            *to++ = *from;
        else if (to > log && from[1] != '\0' && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
    return rex_fail(is_wrong ? REX_EIMAGE : REX_ECUDA,
                    "device image %s: the CUDA driver cannot compile the PTX: %s%s%s%s", path,
                    rex_cuda_why(), *log != '\0' ? ": " : "", log,
                    is_newer ? "; the PTX is newer than the driver: compile it with an older "
                               "nvcc, or make a CUBIN"
                             : "");
}

/*
 * libomptarget accepts only CUBINs, so the driver compiles the PTX. The CUBIN of a CUDA 13 driver
 * has the new header, which rex_image_fit_header() may have to change. On an H100 compiling PTX
 * takes 57 to 122 ms. The driver caches the CUBIN: 12 MB of PTX took 14 s in one process, and 47 ms
 * in the next.
 */
int rex_image_compile(struct rex_module_image *image, int gpu)
{
    /*
     * Keep source line numbers if the PTX has them; clang -g writes them. For other PTX the
     * compiler would number the lines of the PTX itself.
     */
    static const char directive[] = "\t.loc\t";
    bool has_lines = memmem(image->bytes, image->size, directive, strlen(directive)) != NULL;
    char log[2048] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE, JIT_GENERATE_LINE_INFO};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)(uintptr_t)has_lines};
    void *context, *state = NULL, *made = NULL;
    unsigned char *copy;
    size_t size;
    int entered = -1;
    if (rex_cuda_need(REX_CUDA_LINKER) != 0)
        return rex_fail(REX_ECUDA, "device image %s is PTX, and cannot be compiled for the GPU: %s",
                        image->path, rex_cuda_why());
    uint64_t begin = rex_trace_clock();
    rex_context_activate_one(gpu);
    image->holds_context = true;
    bool is_kept = rex_context_retain(gpu, &context) == 0;
    if (is_kept)
        entered = rex_context_enter(context);
    int result = REX_ECUDA;
    if (entered < 0) {
        rex_fail(REX_ECUDA,
                 "device image %s: the context of GPU %d cannot be used to compile the PTX: %s",
                 image->path, gpu, rex_cuda_why());
        goto leave;
    }
    result = REX_CUDA(cuLinkCreate, 3, options, values, &state);
    if (result == 0) /* the size includes the NUL */
        result = REX_CUDA(cuLinkAddData, state, JIT_INPUT_PTX, image->bytes, image->size + 1,
                          image->path, 0, NULL, NULL);
    if (result == 0)
        result = REX_CUDA(cuLinkComplete, state, &made, &size);
    if (result != 0) {
        result = fail_not_linked(result, log, image->path);
        goto destroy;
    }
    /* cuLinkDestroy() frees the linker's CUBIN, so copy the CUBIN. */
    copy = malloc(size);
    if (copy == NULL) {
        result = rex_fail_memory(size, "a compiled device image");
        goto destroy;
    }
    free(image->bytes);
    image->bytes = memcpy(copy, made, size);
    image->size = size;
    image->view_most = SIZE_MAX; /* the driver made the CUBIN, so its size is trusted */
    rex_log(REX_LOG_INFO, "device image %s: PTX compiled for sm_%u in %.0f ms", image->path,
            rex_cuda_architecture(gpu), (double)(rex_trace_clock() - begin) * 1e-6);
destroy:
    if (state != NULL)
        rex_driver.cuLinkDestroy(state);
leave:
    rex_context_leave(entered);
    if (is_kept)
        rex_context_drop(gpu);
    return result;
}

/* ---- CUDA 13's header ------------------------------------------------------------------------ */

/*
 * nvcc 13 writes OSABI 0x41, ABI version 8 and the SM number in bits 8 to 15 of e_flags. LLVM 18 to
 * 21.1.1 read only the older form, which the driver still loads for GPUs up to sm_90a.
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
    if (sm > (unsigned)release->newest_old_header && !release->new_header_refused)
        return REX_OK;
    if (sm > (unsigned)release->newest_old_header)
        return rex_fail(REX_EUNSUPPORTED,
                        "device image %s: LLVM %d refuses CUDA 13's CUBIN header, and there is no "
                        "older header for sm_%u: use LLVM 21.1.2 or later",
                        path, release->number, sm);
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
 * In LLVM 14 to 17 the byte NAME_exec_mode determines how a clang kernel is launched. If the byte
 * is 1, libomptarget adds threads to the block. If the byte is 0, which REX writes, LLVM 16 does
 * not load the kernel. To prevent both effects, librex changes the symbol to NAME.exec_mode, which
 * no LLVM release looks up.
 */
int rex_image_hide_modes(struct rex_module_image *image, const struct rex_release *release)
{
    unsigned char *bytes = image->bytes;
    struct rex_elf elf;
    Elf64_Shdr symbols, names;
    struct rex_view view;
    if (!release->exec_mode_obeyed)
        return REX_OK;
    /*
     * Parsing takes most of a registration's time. Skip it for images without exec modes, such as
     * nvcc's CUBINs. If the image is damaged, open_chosen() reports the damage later.
     */
    if (rex_elf_open(&elf, bytes, image->size) != 0 ||
        !rex_elf_find_type(&elf, SHT_SYMTAB, &symbols) ||
        !rex_elf_section(&elf, symbols.sh_link, &names) || names.sh_type != SHT_STRTAB ||
        memmem(elf.bytes + names.sh_offset, names.sh_size, REX_EXEC_MODE_SUFFIX,
               sizeof REX_EXEC_MODE_SUFFIX) == NULL)
        return REX_OK;
    int result = rex_view_open_within(&view, bytes, image->size, image->view_most, image->path);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; view.kind == REX_IMAGE_CUBIN && i < view.count; i++) {
        const char *name = view.symbols[i].name;
        if (view.symbols[i].kernel ||
            rex_view_kernel_of(&view, name, "", REX_EXEC_MODE_SUFFIX) == NULL)
            continue;
        rex_log(REX_LOG_INFO, "device image %s: %s renamed for LLVM %d, in a private copy",
                image->path, name, release->number);
        bytes[(const unsigned char *)name - bytes +
              (ptrdiff_t)(strlen(name) - strlen(REX_EXEC_MODE_SUFFIX))] = '.';
    }
    rex_view_close(&view);
    return REX_OK;
}
