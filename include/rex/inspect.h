/*
 * rex/inspect.h - the contents of device images, and facts about this machine and LLVM's releases,
 * for tools and code generators.
 *
 * A program that only runs kernels does not need this header, and rex.h does not include it.
 * rex-info(1) and rex-check(1) use these functions.
 *
 * A program opens a file in memory as a list of images, and each image as a view of its kernels and
 * globals:
 *
 *     struct rex_image_list *list;
 *     struct rex_image_view *view;
 *     if (rex_image_list_open(&list, bytes, size, "axpy.cubin") == REX_OK) {
 *         if (rex_image_view_open(&view, list, 0, "axpy.cubin") == REX_OK) {
 *             for (size_t i = 0; i < view->symbol_count; i++)
 *                 printf("%s %s\n", view->symbols[i].kernel ? "kernel" : "global",
 *                        view->symbols[i].name);
 *             rex_image_view_close(view);
 *         }
 *         rex_image_list_close(list);
 *     }
 *
 * The bytes of an image may be hostile. These functions execute no code of an image, and read
 * nothing outside the buffer. They refuse an image that they cannot read, with the reason in
 * rex_last_error(). They skip PTX of an unknown form, which the CUDA driver may refuse later. The
 * bytes must outlive lists and views. librex does not change a list or a view after opening it, so
 * any number of threads may read it.
 *
 * Everything here is since 0.2 unless it says otherwise. Guide: librex(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INSPECT_H
#define REX_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/error.h"
#include "rex/kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- The images in a file ---------------------------------------------------------------------
 *
 * The kinds and architectures of all images:
 *
 *     struct rex_image_list *list;
 *     if (rex_image_list_open(&list, bytes, size, "axpy.fatbin") == REX_OK) {
 *         for (size_t i = 0; i < list->count; i++)
 *             if (list->items[i].kind == REX_IMAGE_CUBIN)
 *                 printf("sm_%u%.1s\n", list->items[i].architecture, &list->items[i].suffix);
 *         rex_image_list_close(list);
 *     }
 */

/**
 * enum rex_image_kind: the kinds of images.
 *
 * REX_IMAGE_CUBIN  code for one NVIDIA architecture.
 * REX_IMAGE_HOST   a shared object for libomptarget's host device.
 * REX_IMAGE_PTX    NVIDIA's portable assembly, which the driver compiles for a GPU.
 * REX_IMAGE_OTHER  an image that librex cannot use, such as code for another maker's GPU, or a
 *                  compiler's intermediate code. It occurs only in a fatbin or an OffloadBinary.
 */
enum rex_image_kind { REX_IMAGE_CUBIN, REX_IMAGE_HOST, REX_IMAGE_PTX, REX_IMAGE_OTHER };

/** struct rex_image_item: one image of a list. The list owns it. */
struct rex_image_item {
    enum rex_image_kind kind; /**< kind of the image. */
    unsigned architecture;    /**< 90 for sm_90, or for PTX of compute_90; 0 for a host image. */
    /**
     * 'a' if only GPUs of this architecture run the code (sm_90a). 'f' if only GPUs of this major
     * number run it (sm_100f). In other cases '\0'. librex knows the suffix only of PTX and of
     * images in a fatbin.
     */
    char suffix;
    bool compressed; /**< true if the image is compressed. */
    size_t offset;   /**< offset of the image in the file, in bytes. */
    size_t stored;   /**< size of the image in the file, in bytes. */
    size_t size;     /**< size of the decompressed image, in bytes. */
};

/** struct rex_image_list: the images of a file. */
struct rex_image_list {
    const struct rex_image_item *items; /**< the images, in the file's order. */
    size_t count;                       /**< number of images, at least 1. */
};

/**
 * rex_image_list_open(): lists the images in @bytes. A fatbin of nvcc or an OffloadBinary of LLVM
 * may have several images, and a file may have several OffloadBinaries. A file of any other kind is
 * one image. The call decompresses nothing.
 *
 * @list   receives the new list; close the list with rex_image_list_close().
 * @bytes  the file, @size bytes; must outlive the list.
 * @name   name of the file in messages; not copied, not NULL.
 *
 * Any thread.
 *
 * Returns 0, REX_EINVAL (a pointer is NULL), REX_ENOMEM or REX_EIMAGE. REX_EIMAGE is the error for
 * an empty file, a file that does not begin like an image, and a file of code for another
 * processor. REX_EIMAGE is also the error for a fatbin or OffloadBinary that librex cannot read.
 * The call lists a program or an object file for this processor as REX_IMAGE_HOST. The call may
 * also accept a truncated CUBIN or shared object. rex_image_view_open() refuses all of these. After
 * an error nothing has changed.
 */
REX_API int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size,
                                const char *name);

/**
 * rex_image_list_close(): frees @list; NULL is ignored. Views that were opened from @list remain
 * valid.
 */
REX_API void rex_image_list_close(struct rex_image_list *list);

/*
 * ---- The kernels and globals of an image ------------------------------------------------------
 */

struct rex_image_view;

/**
 * rex_image_view_open(): opens a view of image @index of @list. If the image is compressed, the
 * call loads libzstd.so.1 or liblz4.so.1 and decompresses the image.
 *
 * @view   receives the new view; close the view with rex_image_view_close(). The view may outlive
 *         @list; the file's bytes must outlive the view.
 * @list   from rex_image_list_open().
 * @index  number of the image in @list, from 0.
 * @name   name of the image in messages; not NULL.
 *
 * Any thread.
 *
 * Returns 0, REX_EINVAL (a pointer is NULL, or image @index does not exist), REX_ENOMEM,
 * REX_EUNSUPPORTED (the library that decompresses the image cannot be used; the message names the
 * library) or REX_EIMAGE (the bytes are not a usable image). Compressed images have a limit. If
 * image @index is compressed, the call adds up the decompressed sizes of this image and of all
 * compressed images before it in @list, with 512 bytes more for each of these images. If the sum is
 * above 16 MiB plus ten times the size of the file, the call returns REX_EIMAGE. After an error
 * nothing has changed.
 */
REX_API int rex_image_view_open(struct rex_image_view **view, const struct rex_image_list *list,
                                size_t index, const char *name);

/**
 * struct rex_image_parameter: a parameter of a kernel. rex/kernel.h writes the *signature* of a
 * kernel, which is the kinds and widths of its parameters, into the image.
 */
struct rex_image_parameter {
    uint16_t offset; /**< offset from the start of the parameters, in bytes. */
    uint16_t size;   /**< size in bytes. Every LLVM release can pass a parameter of 8 bytes. */
    uint16_t kind;   /**< enum rex_kind; REX_KIND_UNKNOWN without a signature. */
    /** size of the parameter's type in bytes, at most @size; 0: unknown. */
    uint16_t width;
};

/**
 * struct rex_image_symbol: a kernel or a global. In a host image each exported function counts as a
 * kernel. The symbol's memory belongs to the view; @name points into the image's bytes, or into the
 * view.
 *
 * If the image is PTX, @registers, @shared_memory and a kernel's @size are 0, because the driver
 * has not compiled the code yet. For a host image only @name, @kernel, @size, @call and the facts
 * of signatures are known. Each parameter in a host image has 8 bytes. In images of all kinds @env,
 * @plain and @signature come from the kernel's signature. The view does not list signatures as
 * symbols.
 */
struct rex_image_symbol {
    const char *name;    /**< name, as in an offload entry. */
    uint64_t size;       /**< size of a global, or of a kernel's code, in bytes. */
    uint32_t first;      /**< librex's own. */
    uint16_t parameters; /**< number of a kernel's parameters, or REX_PARAMETERS_UNKNOWN. */
    /** index of the first parameter whose @size is not 8, if @odd_size is not 0. */
    uint16_t odd_index;
    /** size of the parameter @odd_index in bytes; 0: all known parameters have 8 bytes. */
    uint32_t odd_size;
    /** maximum number of threads of a block by __launch_bounds__; 0: the image sets no maximum. */
    uint32_t max_threads;
    uint32_t registers; /**< number of registers of a thread; 0: unknown. */
    /**
     * static shared memory of a block in bytes; 0 if the kernel has none. If the number is not 0,
     * it includes the memory that the compiler reserves (1 KiB on sm_90).
     */
    uint32_t shared_memory;
    /**
     * value of the symbol NAME_exec_mode, by which LLVM 14 to 17 decide how to launch; -1: no such
     * symbol.
     */
    int16_t exec_mode;
    /**
     * mode in a CUBIN's symbol NAME_kernel_environment, by which LLVM 18 and later decide how to
     * launch: 1 is generic, 2 is SPMD, 3 is both, 6 is SPMD without a loop (LLVM 22 and later).
     * 0 if @environment_size is 0.
     */
    uint8_t environment_mode;
    /** size of a CUBIN's symbol NAME_kernel_environment in bytes; 0: no such symbol. */
    uint32_t environment_size;
    bool kernel; /**< true for a kernel, false for a global. */
    /** true if, by the signature, the first parameter is the runtime's. */
    bool env;
    /** true if, by the signature, the kernel lacks the runtime's parameter. */
    bool plain;
    /** true if the kernel has a signature of rex/kernel.h, with the kinds of its parameters. */
    bool signature;
    /**
     * name of the function rex_call_NAME of a host image, which LLVM 18, 23 and 24 call instead of
     * the kernel; NULL: no such function. The view does not list the function as a symbol.
     */
    const char *call;
    /** a kernel's parameters; NULL if @parameters is 0 or REX_PARAMETERS_UNKNOWN. */
    const struct rex_image_parameter *parameter;
};

/**
 * struct rex_image_view: an opened image. The view owns the memory that its fields point to. Only
 * the characters of names may lie in the image's bytes.
 */
struct rex_image_view {
    enum rex_image_kind kind; /**< kind of the image. */
    /** 90 for a CUBIN of sm_90; for PTX the lowest architecture that can run the code; else 0. */
    unsigned architecture;
    const struct rex_image_symbol *symbols; /**< kernels and globals, in the image's order. */
    size_t symbol_count;                    /**< number of @symbols. */
    /**
     * names in the offload entry table inside a host image. LLVM 14 and 15 match entries by the
     * order of this table.
     */
    const char *const *entries;
    size_t entry_count; /**< number of @entries; 0 for images of other kinds. */
};

/** rex_image_view_close(): frees @view; NULL is ignored. */
REX_API void rex_image_view_close(struct rex_image_view *view);

/**
 * rex_image_view_find(): returns the kernel or global called @name in @view, or NULL if there is
 * none. If @view or @name is NULL, returns NULL and sets the last error to REX_EINVAL. Any thread.
 */
REX_API const struct rex_image_symbol *rex_image_view_find(const struct rex_image_view *view,
                                                           const char *name);

/**
 * rex_kind_name(): returns the name of @kind in messages, such as "double" or "pointer"; "?" for
 * REX_KIND_UNKNOWN and for a number that is not a kind. Any thread.
 */
REX_API const char *rex_kind_name(unsigned kind);

/**
 * rex_nearest_name(): returns, for a message, the name among the @count @names that is spelt most
 * like @name; NULL if no name is near. Two names are compared without their common ending, because
 * the symbols of REX_DEVICE_KERNEL() all end in __kernel__. If N letters of @name are left, a name
 * is near if it differs by at most N / 3 + 1 edits. If more than 255 letters of a name are left,
 * the name is not near. After about two million steps, enough for a few thousand names, no more
 * names are compared. A name that is NULL is ignored. If @name is NULL, or @names is NULL and
 * @count is not 0, returns NULL and sets the last error to REX_EINVAL. Any thread.
 */
REX_API const char *rex_nearest_name(const char *name, const char *const *names, size_t count);

/**
 * REX_PARAMETERS_UNKNOWN: the number of parameters of a kernel whose image does not have the
 * number. Host images have the number only in a signature of rex/kernel.h.
 */
#define REX_PARAMETERS_UNKNOWN UINT16_MAX

/*
 * ---- This machine, and the releases of LLVM ---------------------------------------------------
 *
 * These functions register nothing. They work before any registration, and without a GPU, a driver
 * or a libomptarget.
 *
 *     static void print(const char *group, const char *name, const char *value, void *file)
 *     {
 *         fprintf(file, "%s %s: %s\n", group, name, value);
 *     }
 *
 *     rex_info(0, print, stdout);
 */

/**
 * rex_info_row: a function that receives one fact from rex_info(). @group, @name and @value are
 * strings, never NULL, that are valid until the function returns or calls librex. @context is the
 * @context of rex_info(). The function may call any librex function except rex_info() with a
 * @release of 0.
 */
typedef void rex_info_row(const char *group, const char *name, const char *value, void *context);

/**
 * rex_info(): calls @row for each fact about librex on this machine, group by group. Later versions
 * may have more groups and names. With @release 0 the groups are:
 *
 * - **librex**: version, file, compiler, architecture.
 * - **libomptarget**: `path`, `release`, `chosen by`, `recognized by`. There is a row `trouble` if
 *   the plugins of the libomptarget are missing, or if librex does not know its release. If no
 *   libomptarget can be used, the only row of the group is `error`, with the reason.
 * - **adapted**: a row for each adaptation of librex to the release. The name is the subject. The
 *   value is the adaptation, usually with its reason.
 * - **searched**: each pattern of folders in which librex looks for a libomptarget. If a libomp is
 *   loaded, librex also looks in the folder of that libomp.
 * - **found**: each candidate in these folders with its release, the best candidate first. Then
 *   each refused candidate with the reason.
 * - **plugin**: the plugins of the bound libomptarget that are files (LLVM 14 to 18). For LLVM
 *   releases with built-in plugins there is one row, `all`.
 * - **driver**: `kernel module`, `file` (the driver's library), `CUDA version`. If no GPU can be
 *   used, there is a row `error` with the reason instead of `CUDA version`. A row `trouble` has a
 *   reason why libomptarget may not use the GPUs: for example, the driver is too old for the
 *   release, or the link libcuda.so is missing.
 * - **launch**: the row `by` has the library that makes a GPU launch if the call waits for the
 *   kernel: the CUDA driver, or libomptarget with the reason. If REX_LAUNCH_BY=driver forbids
 *   libomptarget, the value begins with `nothing` instead. The row has only reasons of the whole
 *   process. rex-launches(7) has the reasons of modules and launches. Without a libomptarget the
 *   group is missing.
 * - **setting**: each option of rex_configure(), by the name of its environment variable: the value
 *   and its source.
 *
 * With @release 0 the call binds libomptarget, as rex_runtime_bind() does. The call also starts the
 * CUDA driver, so a child that is forked later cannot use a GPU. Only one thread may make the call
 * at a time.
 *
 * If @release is the number of an LLVM release, 14 to 24, the facts are about that release, which
 * need not be installed. Any thread may make the call. The groups are:
 *
 * - **adapted**: librex's adaptations to the release, usually with reasons.
 * - **programs**: a row for each release of clang, such as `clang 19`. The value is `yes` if the
 *   release's libomptarget passes the right parameters to the kernels of a program that this clang
 *   built. The value is `on GPUs alone` if only the host device passes wrong parameters. In other
 *   cases the value is `no`. The program calls libomptarget directly, as under rex-run(1); librex
 *   adapts its own launches.
 *
 * @release  0, or the number of an LLVM release.
 * @row      the function that is called for each fact.
 * @context  an argument for @row; may be NULL.
 *
 * Returns 0, even without a libomptarget. Returns REX_EINVAL if @row is NULL or librex does not
 * know @release. The error of an unknown release is not logged, so that a loop from 14 on can find
 * the known releases.
 */
REX_API int rex_info(int release, rex_info_row *row, void *context);

/**
 * rex_runtime_tell(): returns the LLVM release of the libomptarget @path, 14 to 24. The call
 * detects the release from the exported symbols. If several releases export equal symbols, the call
 * detects the release from the names of libraries in the file. The call loads and runs nothing. For
 * a release that librex does not know, returns the known release whose rules librex applies.
 * Returns REX_EINVAL if @path is NULL. Returns REX_ENORUNTIME if the file is not a libomptarget for
 * this machine or cannot be read. Also returns REX_ENORUNTIME if every user can write to the file
 * or to the file's folder. Any thread.
 */
REX_API int rex_runtime_tell(const char *path);

#ifdef __cplusplus
}
#endif

#endif
