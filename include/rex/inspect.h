/*
 * rex/inspect.h - for tools and code generators: what a device image contains, what librex would do
 * on this machine, facts of releases.
 *
 * A program that only runs kernels needs none of it, and rex.h does not include it. rex-info(1) and
 * rex-check(1) are made of what is here.
 *
 * A file in memory is opened as a list of images, and each image as a view of its kernels and
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
 * Images are read as bytes that may be hostile. Nothing is executed, nothing outside the buffer is
 * read, and what is malformed is refused with the reason in rex_last_error(). The bytes must
 * outlive lists and views. librex never changes a list or a view after it was opened: any number of
 * threads may read it.
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
 * enum rex_image_kind: what sort of image it is.
 *
 * REX_IMAGE_CUBIN  code for one NVIDIA architecture.
 * REX_IMAGE_HOST   a shared object for libomptarget's host device.
 * REX_IMAGE_PTX    NVIDIA's portable assembly, which the driver compiles for its GPU.
 * REX_IMAGE_OTHER  of no use to librex: code for another maker's GPU, or a compiler's intermediate
 *                  code. It occurs in files with several images.
 */
enum rex_image_kind { REX_IMAGE_CUBIN, REX_IMAGE_HOST, REX_IMAGE_PTX, REX_IMAGE_OTHER };

/** struct rex_image_item: one image of a list. It belongs to the list. */
struct rex_image_item {
    enum rex_image_kind kind; /**< what sort of image it is. */
    unsigned architecture;    /**< 90 for sm_90; of PTX, for compute_90; 0 for a host image. */
    /**
     * 'a': for that GPU and no other (sm_90a); 'f': for its family, those of one major number
     * (sm_100f); else '\0'. A fatbin or PTX says it.
     */
    char suffix;
    bool compressed; /**< its bytes have to be unpacked. */
    size_t offset;   /**< of its bytes in the file. */
    size_t stored;   /**< how many bytes lie there. */
    size_t size;     /**< and how many they unpack to. */
};

/** struct rex_image_list: the images inside a file. */
struct rex_image_list {
    const struct rex_image_item *items; /**< in the file's order. */
    size_t count;                       /**< how many, at least one. */
};

/**
 * rex_image_list_open(): lists the images in @bytes. nvcc's fatbin and LLVM's OffloadBinary hold
 * any number, and several OffloadBinaries may lie one behind the other; every other file is one
 * image. Nothing is unpacked yet.
 *
 * @list   where the new list is stored; close it with rex_image_list_close().
 * @bytes  the file, @size bytes; must outlive the list.
 * @name   what messages call the file; copied nowhere, not NULL.
 *
 * Any thread.
 *
 * Returns 0, REX_EINVAL (an argument is NULL), REX_ENOMEM or REX_EIMAGE (empty, or a fatbin or an
 * OffloadBinary that is damaged). After an error nothing has changed.
 */
REX_API int rex_image_list_open(struct rex_image_list **list, const void *bytes, size_t size,
                                const char *name);

/**
 * rex_image_list_close(): frees @list; NULL is left alone. Views that were opened from it stay.
 */
REX_API void rex_image_list_close(struct rex_image_list *list);

/*
 * ---- The kernels and globals of an image ------------------------------------------------------
 */

struct rex_image_view;

/**
 * rex_image_view_open(): opens a view of image @index of @list. A compressed image is unpacked
 * first, with libzstd.so.1 or liblz4.so.1, which are opened then.
 *
 * @view   where the new view is stored; close it with rex_image_view_close(). It may outlive @list,
 *         and the file's bytes must outlive it.
 * @list   from rex_image_list_open().
 * @index  below the list's count.
 * @name   what messages call the image; not NULL.
 *
 * Any thread.
 *
 * Returns 0, REX_EINVAL (an argument is NULL, or there is no such image), REX_ENOMEM,
 * REX_EUNSUPPORTED (the library that unpacks it is missing; the message names it) or REX_EIMAGE.
 * That stands for bytes that are no usable image, and for a compressed one that would unpack,
 * together with those before it, to more than 16 MiB and ten times the size of the file. After an
 * error nothing has changed.
 */
REX_API int rex_image_view_open(struct rex_image_view **view, const struct rex_image_list *list,
                                size_t index, const char *name);

/**
 * struct rex_image_parameter: where a kernel expects a parameter, in bytes from the first one, its
 * size in bytes, and what the kernel's signature tells of it.
 */
struct rex_image_parameter {
    uint16_t offset; /**< bytes from the start of the parameters. */
    uint16_t size;   /**< bytes; 8 for what libomptarget can pass on every release. */
    uint16_t kind;   /**< enum rex_kind; REX_KIND_UNKNOWN without a signature. */
    /** bytes of the value in it; 0: any number up to @size, or the signature does not tell. */
    uint16_t width;
};

/**
 * struct rex_image_symbol: a kernel or a global. Everything belongs to the view; @name points into
 * the image's bytes, or into the view.
 *
 * PTX tells parameters and launch bounds, and no more: @size, @registers and @shared_memory are 0
 * until the driver compiles it. A host image tells the facts of its signatures, and its parameters
 * are words of 8 bytes. @env, @plain and @signature come from the signature, or from the marks that
 * images of older headers have instead. Signatures themselves are not listed.
 */
struct rex_image_symbol {
    const char *name;    /**< as an offload entry names it. */
    uint64_t size;       /**< bytes of a global; of a kernel, of its code. */
    uint32_t first;      /**< librex's. */
    uint16_t parameters; /**< number of a kernel's parameters, or REX_PARAMETERS_UNKNOWN. */
    /** index of its first parameter that is not 8 bytes wide, where @odd_size is not 0. */
    uint16_t odd_index;
    uint32_t odd_size; /**< width of that parameter in bytes; 0: all are 8 bytes wide. */
    /** most threads of a block, from __launch_bounds__; 0: the image sets no limit. */
    uint32_t max_threads;
    uint32_t registers; /**< registers a thread uses; 0: not said. */
    /** bytes of static shared memory of a block, with what the compiler reserves. */
    uint32_t shared_memory;
    /** value of the symbol NAME_exec_mode, which LLVM 14 to 17 obey; -1: there is none. */
    int16_t exec_mode;
    /**
     * mode in the symbol NAME_kernel_environment, which LLVM 18 and later obey: 1 generic, 2 SPMD,
     * 3 both.
     */
    uint8_t environment_mode;
    /** bytes of that symbol; 0: there is none, and the kernel is launched as it is. */
    uint32_t environment_size;
    bool kernel; /**< a kernel, not a global. */
    /** the image says that the first parameter is the runtime's. */
    bool env;
    /** the image says that no parameter is the runtime's. */
    bool plain;
    /** it has a signature of rex/kernel.h, which tells the kinds of its parameters. */
    bool signature;
    /**
     * name of the function rex_call_NAME of a host image, by which LLVM 18, 23 and 24 call the
     * kernel; NULL: there is none. It is no symbol of the view itself.
     */
    const char *call;
    /** a kernel's parameters; NULL where @parameters is 0 or REX_PARAMETERS_UNKNOWN. */
    const struct rex_image_parameter *parameter;
};

/** struct rex_image_view: an opened image. Everything belongs to it. */
struct rex_image_view {
    enum rex_image_kind kind; /**< what sort of image it is. */
    /** 90 for a CUBIN of sm_90; of PTX, the least that it can be compiled for; else 0. */
    unsigned architecture;
    const struct rex_image_symbol *symbols; /**< kernels and globals, in the image's order. */
    size_t symbol_count;                    /**< how many. */
    /**
     * names in the rows of the offload entry table that a host image carries, by which LLVM 14 and
     * 15 match entries.
     */
    const char *const *entries;
    size_t entry_count; /**< how many; 0 for images of other kinds. */
};

/** rex_image_view_close(): frees @view; NULL is left alone. */
REX_API void rex_image_view_close(struct rex_image_view *view);

/**
 * rex_image_view_find(): the kernel or global of @view called @name, NULL if there is none; NULL
 * with REX_EINVAL as the last error if @view or @name is NULL. Any thread.
 */
REX_API const struct rex_image_symbol *rex_image_view_find(const struct rex_image_view *view,
                                                           const char *name);

/**
 * rex_kind_name(): what a parameter of @kind is called in messages: "double", "pointer"; "?"
 * for REX_KIND_UNKNOWN and what is no kind. Any thread.
 */
REX_API const char *rex_kind_name(unsigned kind);

/**
 * rex_nearest_name(): the one of @count @names that is spelt most like @name, for a message; NULL
 * if none is near. The ending that two names have in common does not count, since names of kernels
 * all end alike. A name is near if of the other letters at most a third, and one more, differ. Two
 * million steps suffice for a few thousand names; no more are compared. The result is one of
 * @names; one that is NULL is near nothing. The function returns NULL, with REX_EINVAL as the last
 * error, if @name is NULL, or if @names is NULL and @count is not 0. Any thread.
 */
REX_API const char *rex_nearest_name(const char *name, const char *const *names, size_t count);

/**
 * REX_PARAMETERS_UNKNOWN: the image does not say how many parameters a kernel has: host images do
 * only by a signature of rex/kernel.h.
 */
#define REX_PARAMETERS_UNKNOWN UINT16_MAX

/*
 * ---- This machine, and the releases of LLVM ---------------------------------------------------
 *
 * Nothing here registers anything: it works before any registration, without a GPU, a driver or a
 * libomptarget.
 *
 *     static void print(const char *group, const char *name, const char *value, void *file)
 *     {
 *         fprintf(file, "%s %s: %s\n", group, name, value);
 *     }
 *
 *     rex_info(0, print, stdout);
 */

/**
 * rex_info_row: receives one fact from rex_info(). @group, @name and @value are strings that last
 * until it returns, never NULL; @context is the caller's. It may call any librex function but
 * rex_info() with a @release of 0.
 */
typedef void rex_info_row(const char *group, const char *name, const char *value, void *context);

/**
 * rex_info(): calls @row with what librex does on this machine, one fact at a time, groups
 * together. Later versions may have more groups and names; those of a group come in the order in
 * which librex looks at them. With @release 0 the groups are:
 *
 * - **librex**: version, file, compiler, architecture.
 * - **libomptarget**: path, release, chosen by, told by; `trouble`, if its plugins are missing or
 *   librex does not know its release; or `error`: why there is none.
 * - **adapted**: what librex does for that release: the subject, and what is done and why.
 * - **searched**: each place where a libomptarget is looked for: a pattern of folders.
 * - **found**: each libomptarget there, and its release or why it is none, the best first.
 * - **plugin**: the plugins of the bound libomptarget that are files (LLVM 14 to 18); `all`, in one
 *   row, for releases that have them inside.
 * - **driver**: kernel module, file (the driver's library), CUDA version; or `error`: why no GPU
 *   can be used; and `trouble`: why libomptarget might not use the GPUs that there are. The driver
 *   is too old for the release, say, or the link libcuda.so is missing.
 * - **launch**: `by`: who sends launches that are waited for to a GPU, as far as the whole process
 *   decides it: the CUDA driver; or libomptarget, and why; or `nobody`, where REX_LAUNCH_BY=driver
 *   forbids that. It is missing without a libomptarget. rex-launches(7) has the reasons of modules
 *   and launches.
 * - **setting**: each option of rex_configure() under the name of its environment variable: the
 *   value, and where it is from.
 *
 * libomptarget is bound where it can be, and stays so, as after rex_runtime_bind(). The CUDA driver
 * is started, so that a child that is forked afterwards has no GPU. Call it from one thread at a
 * time.
 *
 * With the number of an LLVM release in @release, 14 to 24, it says of that release, whether it is
 * here or not, from any thread:
 *
 * - **adapted**: what librex does for it, and why.
 * - **programs**: a row for each release of clang, `clang 19`: does the release's libomptarget pass
 *   the kernels of a program that this clang built the parameters that they have? The value is
 *   `yes`, `no`, or `on GPUs alone`, where its host device does not. That is for programs that call
 *   libomptarget directly, as rex-run(1) starts them; what librex launches is adapted.
 *
 * @release  0, or the number of an LLVM release.
 * @row      called for each fact.
 * @context  the caller's, or NULL; handed to @row.
 *
 * Returns 0, also where there is no libomptarget. REX_EINVAL if @row is NULL, or librex does not
 * know that release; the latter is not logged, so that a loop from 14 on finds those it knows.
 */
REX_API int rex_info(int release, rex_info_row *row, void *context);

/**
 * rex_runtime_tell(): the LLVM release of the libomptarget @path, 14 to 24, told from what it
 * exports. Nothing is loaded or run. A newer one gives the release that librex treats it as.
 * Returns that number; REX_EINVAL if @path is NULL; REX_ENORUNTIME if that is no libomptarget for
 * this machine, or cannot be read, or every user may write it or its folder. Any thread.
 */
REX_API int rex_runtime_tell(const char *path);

#ifdef __cplusplus
}
#endif

#endif
