/*
 * source.c - the bytes of images: files, which folders they are looked for in and when to trust
 * them, and memory; made to suit the GPU and the release of LLVM.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/source.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "image/elf.h"
#include "module/moduleimage.h"
#include "trace/trace.h"

/* ---- where a file is ------------------------------------------------------------------------- */

#define PROGRAM "/proc/self/exe"

/* Between paths that were tried. */
static const char *separator(const struct rex_report *tried)
{
    return tried->length > 0 ? ", " : "";
}

/* The file at the source's path; results as those of rex_source_read(). */
static int read_source(struct rex_source *source, struct rex_report *tried)
{
    char why[256];
    if (rex_file_read(source->path, &source->file, why, sizeof why) == 0)
        return REX_OK;
    if (errno == ENOENT || errno == ENOTDIR) {
        rex_report_add(tried, "%s%s", separator(tried), source->path);
        return REX_ENOIMAGE;
    }
    if (errno == ENOMEM)
        return rex_fail(REX_ENOMEM, "device image %s: %s", source->path, why);
    return rex_fail(strcmp(why, "it is empty") == 0 ? REX_EIMAGE : REX_EREAD,
                    "device image %.3900s cannot be read: %s", source->path, why);
}

static int read_in_folder(struct rex_source *source, const char *folder, size_t length,
                          const char *name, struct rex_report *tried)
{
    int whole = snprintf(source->path, PATH_MAX, "%.*s/%s", (int)length, folder, name);
    if ((size_t)whole < PATH_MAX)
        return read_source(source, tried);
    rex_report_add(tried, "%s%.60s..., which is too long for a path", separator(tried),
                   source->path);
    return REX_ENOIMAGE;
}

static __attribute__((noinline)) int read_beside_binary(struct rex_source *source,
                                                        const char *binary, const char *name,
                                                        struct rex_report *tried)
{
    char folder[PATH_MAX];
    rex_folder_of(binary, folder);
    return read_in_folder(source, folder, strlen(folder), name, tried);
}

int rex_source_read(struct rex_source *source, const struct rex_module *module, const char *name,
                    struct rex_report *tried)
{
    char places[PATH_MAX]; /* folders, and then a binary that the file may lie beside */
    size_t length = strlen(name);
    int result = REX_ENOIMAGE;
    source->searched = strchr(name, '/') == NULL;
    size_t most = source->searched ? NAME_MAX : PATH_MAX - 1;
    if (length > most) /* the whole name would leave no room for the reason */
        return rex_fail(REX_EREAD,
                        "device image %.60s...: its name is %zu bytes long, and one of a file can "
                        "have %zu",
                        name, length, most);
    if (!source->searched) {
        snprintf(source->path, PATH_MAX, "%s", name);
        return read_source(source, tried);
    }
    _Static_assert(REX_SETTING_MAX <= sizeof places, "the folders' names fit, too");
    const char *folder = rex_setting_text(REX_OPTION_CUBIN_PATH, places) ? places : "";
    for (; result == REX_ENOIMAGE && *folder != '\0'; folder += length + (folder[length] == ':'))
        if ((length = strcspn(folder, ":")) > 0)
            result = read_in_folder(source, folder, length, name, tried);
    if (result == REX_ENOIMAGE && !rex_in_program(module, places))
        result = read_beside_binary(source, places, name, tried);
    if (result == REX_ENOIMAGE) {
        ssize_t got = readlink(PROGRAM, places, sizeof places - 1);
        places[got > 0 ? got : 0] = '\0';
        result = read_beside_binary(source, places, name, tried);
    }
    return result == REX_ENOIMAGE ? read_in_folder(source, ".", 1, name, tried) : result;
}

static bool is_owner_trusted(uid_t owner)
{
    struct stat program;
    return owner == 0 || owner == geteuid() ||
           (stat(PROGRAM, &program) == 0 && owner == program.st_uid);
}

int rex_source_check_owner(const struct rex_source *source)
{
    char folder[PATH_MAX];
    struct stat folder_status;
    const char *path = source->path;
    const struct stat *status = &source->file.status;
    rex_folder_of(path, folder);
    if (stat(folder, &folder_status) != 0)
        return rex_fail(REX_EUNSAFE, "host image %s: its folder cannot be examined: %s", path,
                        strerror(errno));
    if (status->st_mode & S_IWOTH)
        return rex_fail(REX_EUNSAFE,
                        "host image %s can be written by every user; it is code: chmod o-w, or "
                        "name it with a slash",
                        path);
    if (folder_status.st_mode & S_IWOTH)
        return rex_fail(REX_EUNSAFE,
                        "host image %s lies in a folder that every user can write; it is code: "
                        "move it, or name it with a slash",
                        path);
    if (!is_owner_trusted(status->st_uid) || !is_owner_trusted(folder_status.st_uid))
        return rex_fail(REX_EUNSAFE,
                        "host image %s or its folder belongs to another user (%u, %u); it is code: "
                        "name it with a slash",
                        path, (unsigned)status->st_uid, (unsigned)folder_status.st_uid);
    return REX_OK;
}

/* ---- the images of a module ------------------------------------------------------------------ */

/* Room for one source more, which does not count yet; NULL with an error. */
static struct rex_source *room_for_source(struct rex_sources *sources)
{
    size_t count = sources->count + 1;
    struct rex_source *grown = reallocarray(sources->list, count, sizeof *grown);
    if (grown == NULL) {
        rex_fail_memory(count * sizeof *grown, "a list of images");
        return NULL;
    }
    sources->list = grown;
    memset(&grown[count - 1], 0, sizeof *grown);
    return &grown[count - 1];
}

/* List the images in the bytes of SOURCE, which counts then. */
static int list_source(struct rex_sources *sources, struct rex_source *source, const void *bytes,
                       size_t size)
{
    int result = rex_list_open(&source->list, bytes, size, source->path);
    if (result == REX_OK)
        sources->count++;
    else
        free(source->file.bytes);
    return result;
}

static int add_named_file(struct rex_sources *sources, const struct rex_module *module,
                          const char *name)
{
    struct rex_report *missing = &sources->missing;
    size_t before = missing->length;
    struct rex_source *source = room_for_source(sources);
    if (source == NULL)
        return REX_ENOMEM;
    int result = rex_source_read(source, module, name, missing);
    if (result != REX_OK)
        return result;
    missing->length = before; /* where else it was looked for matters no more */
    missing->text[before] = '\0';
    return list_source(sources, source, source->file.bytes, source->file.size);
}

int rex_sources_add_files(struct rex_sources *sources, const struct rex_module *module,
                          const char *names)
{
    char *copy = strdup(names), *rest = copy, *name;
    int result = REX_OK;
    sources->names = strdup(names);
    if (copy == NULL || sources->names == NULL)
        result = rex_fail_memory(strlen(names) + 1, "the names of images");
    while (result == REX_OK && (name = strsep(&rest, ":")) != NULL) {
        if (*name == '\0')
            continue;
        result = add_named_file(sources, module, name);
        if (result == REX_ENOIMAGE) {
            rex_log(REX_LOG_DEBUG, "there is no %s", name);
            result = REX_OK;
        }
    }
    free(copy);
    return result == REX_OK && sources->count == 0 ? REX_ENOIMAGE : result;
}

int rex_sources_add_memory(struct rex_sources *sources, const void *bytes, size_t size,
                           const char *name)
{
    struct rex_source *source = room_for_source(sources);
    if (source == NULL)
        return REX_ENOMEM;
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image in memory is empty");
    snprintf(source->path, PATH_MAX, "%s", name);
    return list_source(sources, source, bytes, size);
}

void rex_sources_close(struct rex_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        rex_list_close(&sources->list[i].list);
        free(sources->list[i].file.bytes);
    }
    free(sources->list);
    free(sources->names);
    *sources = (struct rex_sources){0};
}

/* ---- PTX becomes a CUBIN --------------------------------------------------------------------- */

/* From cuda.h. */
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

/* RESULT of the linker, which has written LOG. */
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
    /* One line out of many. */
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
 * Lines of the source are kept where the PTX tells them, as that of clang -g does. For other PTX
 * the compiler would number the lines of the PTX.
 */
static int link_ptx(struct rex_module_image *image)
{
    static const char directive[] = "\t.loc\t";
    bool has_lines = memmem(image->bytes, image->size, directive, strlen(directive)) != NULL;
    char log[2048] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE, JIT_GENERATE_LINE_INFO};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)(uintptr_t)has_lines};
    void *state = NULL, *made = NULL;
    size_t size;
    int result = REX_CUDA(cuLinkCreate, 3, options, values, &state);
    if (result != 0)
        return fail_not_linked(result, log, image->path);
    /* The size counts the NUL. */
    result = REX_CUDA(cuLinkAddData, state, JIT_INPUT_PTX, image->bytes, image->size + 1,
                      image->path, 0, NULL, NULL);
    if (result == 0)
        result = REX_CUDA(cuLinkComplete, state, &made, &size);
    /* The linker's CUBIN lasts as long as the linker. */
    unsigned char *copy = result == 0 ? malloc(size) : NULL;
    if (result != 0) {
        result = fail_not_linked(result, log, image->path);
        goto destroy;
    }
    if (copy == NULL) {
        result = rex_fail_memory(size, "a compiled device image");
        goto destroy;
    }
    free(image->bytes);
    image->bytes = memcpy(copy, made, size);
    image->size = size;
    image->view_most = SIZE_MAX; /* the driver's own */
destroy:
    rex_driver.cuLinkDestroy(state);
    return result;
}

/*
 * libomptarget takes CUBINs alone. On an H100 compiling takes 57 to 122 ms, and what comes out has
 * CUDA 13's header. The driver keeps it in its own cache, of which the linker makes use too: 12 MB
 * of PTX took 14 s in one process, and 47 ms in the next.
 */
int rex_image_compile(struct rex_module_image *image, int gpu)
{
    void *context;
    if (rex_cuda_need(REX_CUDA_LINKER) != 0)
        return rex_fail(REX_ECUDA, "device image %s is PTX: %s", image->path, rex_cuda_why());
    uint64_t begin = rex_trace_clock();
    rex_context_activate_one(gpu);
    image->holds_context = true;
    bool is_kept = rex_context_retain(gpu, &context) == 0;
    int entered = is_kept ? rex_context_enter(context) : -1;
    int result = entered >= 0
                     ? link_ptx(image)
                     : rex_fail(REX_ECUDA, "device image %s: GPU %d, for compiling the PTX: %s",
                                image->path, gpu, rex_cuda_why());
    rex_context_leave(entered);
    if (is_kept)
        rex_context_drop(gpu);
    if (result == REX_OK)
        rex_log(REX_LOG_INFO, "device image %s: PTX compiled for sm_%u in %.0f ms", image->path,
                rex_cuda_architecture(gpu), (double)(rex_trace_clock() - begin) * 1e-6);
    return result;
}

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
    if (sm > (unsigned)release->newest_old_header && !release->new_header_refused)
        return REX_OK;
    if (sm > (unsigned)release->newest_old_header)
        return rex_fail(REX_EUNSUPPORTED,
                        "device image %s: LLVM %d refuses CUDA 13's CUBIN header, and sm_%u has no "
                        "older form; LLVM 21.1.2 or later takes it",
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
 * LLVM 14 to 17 take a byte NAME_exec_mode for how a kernel of clang's is to be launched: 1 adds
 * threads to the block, and 0, which REX writes, fails to load (16). Kernels here are launched as
 * they are, so the symbols get a name that nobody looks for.
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
     * nvcc's images have none. To look inside of them takes most of the time of a registration:
     * once is enough. The reader says what is wrong with an image.
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
        if (view.symbols[i].kernel || rex_view_kernel_of(&view, name, REX_EXEC_MODE_SUFFIX) == NULL)
            continue;
        rex_log(REX_LOG_INFO, "device image %s: %s renamed for LLVM %d, in a private copy",
                image->path, name, release->number);
        bytes[(const unsigned char *)name - bytes +
              (ptrdiff_t)(strlen(name) - strlen(REX_EXEC_MODE_SUFFIX))] = '.';
    }
    rex_view_close(&view);
    return REX_OK;
}
