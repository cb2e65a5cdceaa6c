/*
 * rex/binary.h - this binary's module, its start and its end.
 *
 * A program has kernels: entries in its section `omp_offloading_entries` (rex/entry.h writes them)
 * and a device image beside the executable or embedded in it. Together they are a *module*, a
 * `struct rex_module` (rex/module.h). This header defines one, `rex_this_module`, for each linked
 * binary, a program or a shared object, that includes it. Most programs never name it: the first
 * launch or rex_offload_init() registers it.
 *
 * The objects and functions are weak and hidden: a binary has one of each, however many of its
 * files include this header. rex_binary_module alone is weak and visible. A generator may have a
 * helper of its own that defines some of them: rex_kmp.h, REX_KMP_INTERNAL.
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

#ifndef REX_BUILDING_LIBRARY /* librex itself is no module */

#ifndef REX_CUBIN_NAME
/**
 * REX_CUBIN_NAME: file name of the device image, or several with ':' between; a program may define
 * it before the include, alike in all files of the binary.
 */
#define REX_CUBIN_NAME "rex_lib_nvidia.cubin"
#endif
#ifndef REX_HOST_IMAGE_NAME
/**
 * REX_HOST_IMAGE_NAME: file name of the host image for machines without a GPU; a program may define
 * it before the include, alike in all files of the binary.
 */
#define REX_HOST_IMAGE_NAME "rex_lib_host.so"
#endif

/** REX_PER_BINARY: marks the objects of which each linked binary has exactly one. */
#define REX_PER_BINARY __attribute__((__weak__, __visibility__("hidden")))

/**
 * rex_entries_begin: first entry of this binary's table; the linker's own symbol. NULL if there is
 * no entry.
 */
extern struct __tgt_offload_entry
    rex_entries_begin[] __asm__("__start_omp_offloading_entries") REX_PER_BINARY;
/** rex_entries_end: one past the last entry. */
extern struct __tgt_offload_entry
    rex_entries_end[] __asm__("__stop_omp_offloading_entries") REX_PER_BINARY;

#ifndef __CUDA_ARCH__ /* code for a GPU names neither */
/*
 * gcc forgets the attribute where a name for the linker is given. A shared object would then export
 * its table, and a program without kernels would take that table for its own.
 */
__asm__(
    ".hidden __start_omp_offloading_entries\n.hidden __stop_omp_offloading_entries\n"
    ".weak __start_rex_images, __stop_rex_images\n" /* ThinLTO forgets that of the declarations */
    ".hidden __start_rex_images\n.hidden __stop_rex_images");
#endif

/* REX_TOLD: attributes of what tools read in a program, and nothing refers to. */
#define REX_TOLD __used__
/* REX_RETAINED: the assembler's flag of a section that linkers keep. */
#define REX_RETAINED ""
#ifdef __has_attribute
#if __has_attribute(__retain__)
#undef REX_TOLD
#define REX_TOLD __used__, __retain__
#undef REX_RETAINED
#define REX_RETAINED "R"
#ifndef __CUDA_ARCH__
/*
 * A pointer to this file's section of entries, by its name, which no linker's garbage collection
 * drops: it keeps the section. It is weak since a file may have no entry. The entries themselves
 * cannot say `retain`: gcc refuses to mix entries with and without it, within a file and, under
 * -flto, within a program.
 */
__asm__(".pushsection rex_kept_entries, \"awR\", %progbits\n.balign 8\n"
        ".weak omp_offloading_entries\n.quad omp_offloading_entries\n.popsection");
#endif
#endif
#endif

/**
 * rex_images_begin: first row of the images that REX_EMBED_IMAGE() and REX_EMBED_HOST_IMAGE()
 * (rex/entry.h) have put into this binary; the linker's own symbol. NULL if there is none.
 */
extern const struct rex_image_row rex_images_begin[] __asm__("__start_rex_images") REX_PER_BINARY;
/** rex_images_end: one past the last row. */
extern const struct rex_image_row rex_images_end[] __asm__("__stop_rex_images") REX_PER_BINARY;

/* REX_HIDDEN marks a declaration that a definition of the program's own may follow. */
#define REX_HIDDEN __attribute__((__visibility__("hidden")))

/**
 * __cubin_desc: the descriptor of this binary's registered image, which belongs to librex; NULL
 * before registration and after rex_offload_fini(). If static libraries have brought several
 * images, each has a descriptor, and this is that of the first image with an entry. A compiler
 * quotes the line of the definition if a file has its own.
 */
extern REX_HIDDEN struct __tgt_bin_desc *__cubin_desc;
/** rex_target_kernel_ident: the source location that launches pass: unknown. */
extern REX_HIDDEN ident_t rex_target_kernel_ident;

/* REX_IS_HELPER: the file has declarations alone of what a helper may define. */
#if defined REX_KMP_INTERNAL && !defined REX_KMP_DEFINE
#define REX_IS_HELPER
#else
REX_PER_BINARY struct __tgt_bin_desc *__cubin_desc = NULL; /* REX's older output: rex_kmp(3) */
REX_PER_BINARY ident_t rex_target_kernel_ident = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
#endif

/*
 * Weak references to the two objects, in the module. The declarations above are not weak, because a
 * definition after a weak declaration would be weak, too.
 */
/* rex_found_desc: `__cubin_desc`, if a file of the binary defines it. */
static struct __tgt_bin_desc *rex_found_desc __attribute__((__weakref__("__cubin_desc")));
/* rex_found_ident: rex_target_kernel_ident, likewise. */
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
 * rex_binary_module: points to this binary's module. A shared object exports it: if the program has
 * no kernels, its data calls register the module that this points to.
 */
extern struct rex_module *rex_binary_module;
__attribute__((__weak__, __visibility__("default"))) struct rex_module *rex_binary_module =
    &rex_this_module;

/*
 * ---- The start and the end of this binary's module --------------------------------------------
 *
 * Neither call is required: the first launch or data call registers, and the end of the process
 * needs no call.
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
 * rex_module_init() and rex_module_fini() do the same for another module.
 */

#ifdef REX_IS_HELPER
/** rex_offload_init(): the helper's own function; its result, if any, is for the helper alone. */
REX_HIDDEN void rex_offload_init(void);
/** rex_offload_fini(): the helper's own function. */
REX_HIDDEN void rex_offload_fini(void);
#else

/*
 * The functions have a name of their own in C, and the known one for the linker. So a file may
 * declare `void rex_offload_init(void)`.
 */
/* rex_offload_init: its name in C. */
#define rex_offload_init rex_this_init
/* rex_offload_fini: its name in C. */
#define rex_offload_fini rex_this_fini

/**
 * rex_offload_init(): finds and binds libomptarget, finds, checks and registers this binary's
 * image, and loads it on the default device. Call it at the start of main, before anything is
 * timed. If the module is registered, it only loads. Any thread.
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
 * thread may be in a launch or data call of this binary. A module that is not registered is left
 * alone. The same image or another one may be registered afterwards; on LLVM 18 only the same one.
 * Any thread.
 *
 * Returns 0, or with nothing ended:
 *
 * REX_EINVAL  the program's function for the log has called it while this module is registered or
 *             ended.
 * REX_EBUSY   a queue, which the message names, has unfinished work (rex/queue.h). Or the call was
 *             made inside of a launch or data call, or beside those of other threads that have not
 *             ended in a minute.
 * REX_ECUDA   a launch or a queue, even one that is destroyed, has found a device lost since the
 *             process began.
 */
int rex_offload_fini(void) __asm__("rex_offload_fini");
REX_PER_BINARY int rex_offload_fini(void)
{
    return rex_module_fini(&rex_this_module);
}

/*
 * ---- The start and the end from inside --------------------------------------------------------
 *
 * A program uses none of these names.
 */

/* rex_this_init(): a call of rex_offload_init(), or with `void` its declaration. */
#define rex_this_init(...) rex_this_init_##__VA_ARGS__
/* rex_this_init_: the call. */
#define rex_this_init_ rex_this_init()
/* rex_this_init_void: the declaration, with a third name in C, since its result may differ. */
#define rex_this_init_void rex_declared_init(void) __asm__("rex_offload_init")
/* rex_this_fini(): a call of rex_offload_fini(), or with `void` its declaration. */
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
