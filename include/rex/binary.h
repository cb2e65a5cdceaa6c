/*
 * rex/binary.h - this binary's module, and its start and end.
 *
 * A program with kernels has entries in its section `omp_offloading_entries` (rex/entry.h writes
 * them) and a device image beside the executable or embedded in it. Entries and image form a
 * *module*, a `struct rex_module` (rex/module.h). This header defines the module `rex_this_module`
 * of each linked binary, a program or a shared object, that includes it. Most programs never name
 * it: the first launch or rex_offload_init() registers it.
 *
 * The objects and functions are weak and hidden: a binary has one of each, even if many of its
 * files include this header. Only rex_binary_module is visible to other binaries. A generator may
 * have a helper file that defines some of these names: REX_KMP_INTERNAL in rex_kmp.h.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_BINARY_H
#define REX_BINARY_H

#include <stddef.h>
#include <stdint.h>

#include "rex/abi.h"
#include "rex/module.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef REX_BUILDING_LIBRARY /* librex itself is not a module */

#ifndef REX_CUBIN_NAME
/**
 * REX_CUBIN_NAME: file name of the device image, or several names with ':' between them. A program
 * may define it before the include, with one value in all files of the binary.
 */
#define REX_CUBIN_NAME "rex_lib_nvidia.cubin"
#endif
#ifndef REX_HOST_IMAGE_NAME
/**
 * REX_HOST_IMAGE_NAME: file name of the host image for machines without a GPU. A program may define
 * it before the include, with one value in all files of the binary.
 */
#define REX_HOST_IMAGE_NAME "rex_lib_host.so"
#endif

/** REX_PER_BINARY: marks an object or function that each linked binary has once. */
#define REX_PER_BINARY __attribute__((__weak__, __visibility__("hidden")))

/**
 * rex_entries_begin: first entry of this binary's table, a symbol that the linker defines; NULL if
 * the table is empty.
 */
extern struct __tgt_offload_entry
    rex_entries_begin[] __asm__("__start_omp_offloading_entries") REX_PER_BINARY;
/** rex_entries_end: one past the last entry. */
extern struct __tgt_offload_entry
    rex_entries_end[] __asm__("__stop_omp_offloading_entries") REX_PER_BINARY;

#ifndef __CUDA_ARCH__ /* code for a GPU does not use these symbols */
/*
 * gcc ignores the visibility attribute of a declaration with an asm name. Without these directives
 * a shared object would export its table. A program without kernels would then use this table as
 * its own. If no code refers to a symbol, -flto loses the attribute `weak`.
 */
__asm__(".weak __start_omp_offloading_entries, __stop_omp_offloading_entries\n"
        ".weak __start_rex_images, __stop_rex_images\n"
        ".hidden __start_omp_offloading_entries\n.hidden __stop_omp_offloading_entries\n"
        ".hidden __start_rex_images\n.hidden __stop_rex_images");
#endif

/*
 * REX_TOLD: attributes of objects that no code refers to: only tools read them, in the program's
 * file.
 */
#define REX_TOLD __used__
/* REX_RETAINED: the assembler's flag for a section that linkers keep. */
#define REX_RETAINED ""
#ifdef __has_attribute
#if __has_attribute(__retain__)
#undef REX_TOLD
#define REX_TOLD __used__, __retain__
#undef REX_RETAINED
#define REX_RETAINED "R"
#ifndef __CUDA_ARCH__
/*
 * A section with a pointer to this file's section of entries. Linkers never collect the section as
 * garbage, and keep the entries that its pointer refers to. The reference is weak, because a file
 * may have no entry. The entries themselves cannot have the attribute `retain`: gcc warns if only
 * some objects of a section have it. gcc compares the objects of one file, or with -flto the
 * objects of the whole program.
 *
 * With -flto one assembler may read this text several times. After the first entry, `.weak` would
 * change the symbol of the section itself.
 */
__asm__(".ifndef .Lrex_keeps_entries\n.set .Lrex_keeps_entries, 1\n"
        ".pushsection rex_kept_entries, \"awR\", %progbits\n.balign 8\n"
        ".weak omp_offloading_entries\n.quad omp_offloading_entries\n.popsection\n.endif");
#endif
#endif
#endif

/**
 * rex_images_begin: first row of the images that REX_EMBED_IMAGE() and REX_EMBED_HOST_IMAGE()
 * (rex/entry.h) have put into this binary. The linker defines the symbol. It is NULL if there are
 * no images.
 */
extern const struct rex_image_row rex_images_begin[] __asm__("__start_rex_images") REX_PER_BINARY;
/** rex_images_end: one past the last row of images. */
extern const struct rex_image_row rex_images_end[] __asm__("__stop_rex_images") REX_PER_BINARY;

/*
 * REX_HIDDEN: marks a declaration as hidden; the program may define the name after the declaration.
 */
#define REX_HIDDEN __attribute__((__visibility__("hidden")))

/**
 * __cubin_desc: the descriptor of this binary's registered image, which belongs to librex; NULL
 * before registration and after rex_offload_fini(). If static libraries have several images, each
 * image has a descriptor. `__cubin_desc` is then the descriptor of the first image with an entry.
 */
extern REX_HIDDEN struct __tgt_bin_desc *__cubin_desc;
/** rex_target_kernel_ident: the source location that launches pass, "unknown". */
extern REX_HIDDEN ident_t rex_target_kernel_ident;

/* REX_IS_HELPER: the file only declares the names that a helper may define. */
#if defined REX_KMP_INTERNAL && !defined REX_KMP_DEFINE
#define REX_IS_HELPER
#else
REX_PER_BINARY struct __tgt_bin_desc *__cubin_desc = NULL; /* REX's older output: rex_kmp(3) */
REX_PER_BINARY ident_t rex_target_kernel_ident = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
#endif

/*
 * Weak references to `__cubin_desc` and rex_target_kernel_ident, for the module. The declarations
 * of the objects are not weak, because a definition after a weak declaration would be weak, too.
 */
/* rex_found_desc: `__cubin_desc`, if a file of the binary defines it. */
static struct __tgt_bin_desc *rex_found_desc __attribute__((__weakref__("__cubin_desc")));
/* rex_found_ident: rex_target_kernel_ident, if a file of the binary defines it. */
static ident_t rex_found_ident __attribute__((__weakref__("rex_target_kernel_ident")));

/** rex_this_module: this binary's module. */
extern struct rex_module rex_this_module;
REX_PER_BINARY struct rex_module rex_this_module = {(uint32_t)sizeof(struct rex_module),
                                                    0,
                                                    rex_entries_begin,
                                                    rex_entries_end,
                                                    REX_CUBIN_NAME,
                                                    REX_HOST_IMAGE_NAME,
                                                    NULL,
                                                    0,
                                                    &rex_found_desc,
                                                    0,
                                                    0,
                                                    NULL,
                                                    NULL,
                                                    &rex_found_ident,
                                                    NULL,
                                                    NULL,
                                                    NULL,
                                                    rex_images_begin,
                                                    rex_images_end};

/**
 * rex_binary_module: the address of this binary's module. A shared object exports it: data calls of
 * a program without kernels register the module at this address.
 */
extern struct rex_module *rex_binary_module;
__attribute__((__weak__, __visibility__("default"))) struct rex_module *rex_binary_module =
    &rex_this_module;

/*
 * ---- The start and the end of this binary's module --------------------------------------------
 *
 * Neither call is required: the first launch or data call registers the module, and the end of the
 * process needs no call.
 *
 *     if (rex_offload_init() != 0)
 *         return 1; // the reason is on standard error
 *     ... // launches and data calls
 *     return rex_offload_fini();
 *
 * A file of the binary that does not include this header may declare and call these functions. A
 * file may also declare them again, as functions that return int or void, before the include or
 * after it.
 *
 * rex_module_init() and rex_module_fini() start and end other modules.
 */

#ifdef REX_IS_HELPER
/**
 * rex_offload_init(): the helper's own function. Only the helper may use a result of this function.
 */
REX_HIDDEN void rex_offload_init(void);
/** rex_offload_fini(): the helper's own function. */
REX_HIDDEN void rex_offload_fini(void);
#else

/*
 * The linker's names of these functions are rex_offload_init and rex_offload_fini. Their names in C
 * differ, so that a file may also declare `void rex_offload_init(void)`.
 */
/* rex_offload_init: the function's name in C. */
#define rex_offload_init rex_this_init
/* rex_offload_fini: the function's name in C. */
#define rex_offload_fini rex_this_fini

/**
 * rex_offload_init(): finds and binds libomptarget; finds, checks and registers this binary's
 * image; and loads the image on the default device. Call it at the start of main, before anything
 * is timed. If the module is registered already, the call only loads the image. Any thread.
 *
 * Returns 0 or an error of rex_module_init().
 */
int rex_offload_init(void) __asm__("rex_offload_init");
REX_PER_BINARY int rex_offload_init(void)
{
    return rex_module_init(&rex_this_module);
}

/**
 * rex_offload_fini(): unregisters this binary's image. Each mapping must have ended, and no other
 * thread may be in a launch or data call of this binary. If the module is not registered, the call
 * does nothing. The module may be registered again, with any image; on LLVM 18 only with the image
 * that it had. Any thread.
 *
 * Returns 0, or one of these errors, without any effect:
 *
 * REX_EINVAL  the program's log function has called rex_offload_fini() while this binary's module
 *             is being registered or ended.
 * REX_EBUSY   a queue (rex/queue.h), which the message names, has unfinished work. Or the call was
 *             made inside a launch, a data call or the program's log function, or launches or data
 *             calls of other threads have not ended within a minute.
 * REX_ECUDA   a launch or a queue, even a destroyed one, has found a device lost since the process
 *             began.
 */
int rex_offload_fini(void) __asm__("rex_offload_fini");
REX_PER_BINARY int rex_offload_fini(void)
{
    return rex_module_fini(&rex_this_module);
}

/*
 * ---- Parts of rex_offload_init() and rex_offload_fini() ---------------------------------------
 *
 * These names are only for the macros rex_offload_init and rex_offload_fini.
 */

/*
 * rex_this_init(): a call of the function, whose name in C is rex_this_init, too.
 * rex_this_init(void): a declaration of the function.
 */
#define rex_this_init(...) rex_this_init_##__VA_ARGS__
/* rex_this_init_: the call. In it, rex_this_init is the function: no macro expands in itself. */
#define rex_this_init_ rex_this_init()
/*
 * rex_this_init_void: the declaration, with a third name in C. A file may declare the result as
 * void: under the name rex_this_init this would conflict with int.
 */
#define rex_this_init_void rex_declared_init(void) __asm__("rex_offload_init")
/* rex_this_fini(): calls rex_offload_fini(); rex_this_fini(void) declares it. */
#define rex_this_fini(...) rex_this_fini_##__VA_ARGS__
/* rex_this_fini_: the call. */
#define rex_this_fini_ rex_this_fini()
/* rex_this_fini_void: the declaration. */
#define rex_this_fini_void rex_declared_fini(void) __asm__("rex_offload_fini")

#endif /* REX_IS_HELPER */

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#endif
