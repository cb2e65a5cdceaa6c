/*
 * rex/binary.h - this binary's module, and its start and end.
 *
 * A program with kernels has entries in its section `omp_offloading_entries` (rex/entry.h writes
 * them) and a device image beside the executable or embedded in it. Entries and image form a
 * *module*, a `struct rex_module` (rex/module.h). This header defines one module,
 * `rex_this_module`, for each linked binary (a program or a shared object) with a file that
 * includes this header. Most programs never name the module. Their first launch, data call or
 * queue, or rex_offload_init(), registers it.
 *
 * The definitions are weak: a binary has one of each, even if many of its files include this
 * header. They are hidden: each binary has its own. Only rex_binary_module is visible to other
 * binaries.
 *
 * A *helper* is a file of a code generator, with the macro REX_KMP_INTERNAL, that may define some
 * of these names itself: rex_kmp.h.
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
 * may define the macro before the include, with one value in all files of the binary.
 */
#define REX_CUBIN_NAME "rex_lib_nvidia.cubin"
#endif
#ifndef REX_HOST_IMAGE_NAME
/**
 * REX_HOST_IMAGE_NAME: file name of the host image for machines without a GPU. A program may define
 * the macro before the include, with one value in all files of the binary.
 */
#define REX_HOST_IMAGE_NAME "rex_lib_host.so"
#endif

/**
 * REX_PER_BINARY: the attributes of an object or function that each linked binary has once: weak
 * and hidden.
 */
#define REX_PER_BINARY __attribute__((__weak__, __visibility__("hidden")))

/**
 * rex_entries_begin: first entry of this binary's table, a symbol that the linker defines; NULL if
 * the table is empty.
 */
extern struct __tgt_offload_entry
    rex_entries_begin[] __asm__("__start_omp_offloading_entries") REX_PER_BINARY;
/** rex_entries_end: one past the last entry of this binary's table; NULL if the table is empty. */
extern struct __tgt_offload_entry
    rex_entries_end[] __asm__("__stop_omp_offloading_entries") REX_PER_BINARY;

#ifndef __CUDA_ARCH__ /* code for a GPU does not use these symbols */
/*
 * gcc ignores the attribute `visibility` in the declarations with an asm name above. Without the
 * `.hidden` directives a shared object would export its table. A program without kernels would then
 * use this table as its own. If no code refers to a symbol, -flto loses the attribute `weak`, and
 * the linker reports an undefined symbol.
 */
__asm__(".weak __start_omp_offloading_entries, __stop_omp_offloading_entries\n"
        ".weak __start_rex_images, __stop_rex_images\n"
        ".hidden __start_omp_offloading_entries\n.hidden __stop_omp_offloading_entries\n"
        ".hidden __start_rex_images\n.hidden __stop_rex_images");
#endif

/*
 * REX_TOLD: the attributes of objects that only tools read, in the file of the program. No code
 * refers to them, so compilers and linkers would remove them without the attributes.
 */
#define REX_TOLD __used__
/*
 * REX_RETAINED: the assembler's flag for a section that linkers do not remove; empty if the
 * compiler does not know the attribute `retain`.
 */
#define REX_RETAINED ""
#ifdef __has_attribute
#if __has_attribute(__retain__)
#undef REX_TOLD
#define REX_TOLD __used__, __retain__
#undef REX_RETAINED
#define REX_RETAINED "R"
#ifndef __CUDA_ARCH__
/*
 * This text makes a section, rex_kept_entries, with a pointer to the file's section of entries. The
 * flag R makes linkers keep rex_kept_entries, and so also the entries. The reference is weak,
 * because a file may have no entry.
 *
 * The entries themselves cannot have the attribute `retain`: gcc warns if only some objects of a
 * section have it, and entries of generated code may lack it. gcc compares the objects of one file,
 * or with -flto the objects of the whole program.
 *
 * With -flto one assembler may read this text several times, and `.ifndef` skips all but the first.
 * After an entry, `.weak` would change the symbol of the section itself.
 */
__asm__(".ifndef .Lrex_keeps_entries\n.set .Lrex_keeps_entries, 1\n"
        ".pushsection rex_kept_entries, \"awR\", %progbits\n.balign 8\n"
        ".weak omp_offloading_entries\n.quad omp_offloading_entries\n.popsection\n.endif");
#endif
#endif
#endif

/**
 * rex_images_begin: first row of the table of images that REX_EMBED_IMAGE() and
 * REX_EMBED_HOST_IMAGE() (rex/entry.h) have put into this binary, a symbol that the linker defines;
 * NULL if there are no images.
 */
extern const struct rex_image_row rex_images_begin[] __asm__("__start_rex_images") REX_PER_BINARY;
/** rex_images_end: one past the last row of images; NULL if there are no images. */
extern const struct rex_image_row rex_images_end[] __asm__("__stop_rex_images") REX_PER_BINARY;

/*
 * REX_HIDDEN: the attribute of a hidden object or function that is not weak: a helper may define
 * the name after the declaration.
 */
#define REX_HIDDEN __attribute__((__visibility__("hidden")))

/**
 * __cubin_desc: the descriptor of this binary's registered image, which belongs to librex; NULL
 * before registration and after rex_offload_fini() has returned 0. If a binary has several images,
 * each image with an entry has a descriptor. `__cubin_desc` is then the descriptor of the first of
 * these images.
 */
extern REX_HIDDEN struct __tgt_bin_desc *__cubin_desc;
/**
 * rex_target_kernel_ident: the source location that launches pass to libomptarget. A helper may
 * define it with another value; by default it is ";unknown;unknown;0;0;;".
 */
extern REX_HIDDEN ident_t rex_target_kernel_ident;

/*
 * REX_IS_HELPER: defined in a helper without REX_KMP_DEFINE: this header then only declares the
 * names that the helper may define.
 */
#if defined REX_KMP_INTERNAL && !defined REX_KMP_DEFINE
#define REX_IS_HELPER
#else
REX_PER_BINARY struct __tgt_bin_desc *__cubin_desc = NULL; /* REX's older output: rex_kmp(3) */
REX_PER_BINARY ident_t rex_target_kernel_ident = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
#endif

/*
 * The module refers to `__cubin_desc` and rex_target_kernel_ident by weak references, because in a
 * binary of helpers no file has to define them. Their declarations above are not weak: a helper's
 * definition after a weak declaration would also be weak.
 */
/* rex_found_desc: `__cubin_desc`. Its address is NULL if no file of the binary defines it. */
static struct __tgt_bin_desc *rex_found_desc __attribute__((__weakref__("__cubin_desc")));
/*
 * rex_found_ident: rex_target_kernel_ident. Its address is NULL if no file of the binary defines
 * it.
 */
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
 * rex_binary_module: the address of this binary's module. A shared object exports this variable: a
 * data call of a program without kernels finds it, and registers the module if it has entries.
 */
extern struct rex_module *rex_binary_module;
__attribute__((__weak__, __visibility__("default"))) struct rex_module *rex_binary_module =
    &rex_this_module;

/*
 * ---- The start and the end of this binary's module --------------------------------------------
 *
 * A program need not call these functions: the first launch, data call or queue registers the
 * module, and the end of the process needs no call.
 *
 *     if (rex_offload_init() != 0)
 *         return 1; // the reason is on standard error
 *     ... // launches and data calls
 *     return rex_offload_fini();
 *
 * A file of the binary that does not include this header may declare and call these functions. A
 * file that includes this header may also declare them, before the include or after it, with the
 * result int or void. After the include, a declaration with the result void needs the parameter
 * list `(void)`: with `()` the compiler reports a conflict.
 *
 * rex_module_init() and rex_module_fini() start and end other modules.
 */

#ifdef REX_IS_HELPER
/** rex_offload_init(): the helper's own function; rex_kmp.h describes its result. */
REX_HIDDEN void rex_offload_init(void);
/** rex_offload_fini(): the helper's own function. */
REX_HIDDEN void rex_offload_fini(void);
#else

/*
 * For the linker the names of these functions are rex_offload_init and rex_offload_fini. For the
 * compiler they are rex_this_init and rex_this_fini. So a declaration `void rex_offload_init(void)`
 * before the include does not conflict with the result int.
 */
/* rex_offload_init: rex_this_init, the compiler's name of the function. */
#define rex_offload_init rex_this_init
/* rex_offload_fini: rex_this_fini, the compiler's name of the function. */
#define rex_offload_fini rex_this_fini

/**
 * rex_offload_init(): finds and binds libomptarget; finds, checks and registers this binary's
 * image; and loads the image on the default device. Call it at the start of main, before anything
 * is timed. If the module is registered already, the call only loads the image, if it is not
 * loaded. Any thread.
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
 * thread may be in a launch or data call of this binary. The module may be registered again, with
 * any image; on LLVM 18 only with the image that it had. If the module is not registered, is being
 * registered, or is being ended by another thread, the call returns 0 and does nothing. The call
 * also does nothing at the end of the process, in functions given to atexit() before the
 * registration. Any thread.
 *
 * Returns 0, or one of these errors; the module then stays registered:
 *
 * REX_EINVAL  the call is in the program's log function, which rex_offload_fini() has called in
 *             this thread while it ends the module. Or the thread runs its last destructors.
 * REX_EBUSY   a queue (rex/queue.h) has unfinished commands that use the module, or any unfinished
 *             commands if no other module is registered. The message names the queue. With
 *             REX_OPTION_UNFINISHED `wait` the call waits instead. Or the call was made inside a
 *             launch, a data call or the program's log function. Or launches or data calls of other
 *             threads have not ended within a minute.
 * REX_ENOMEM  the host has too little memory for librex's data of this thread.
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
 * These macros follow the definitions above. They tell a call from a declaration by the parameter
 * list, which the macro rex_this_init() joins to a name:
 *
 *     rex_offload_init();             rex_this_init_        the call rex_this_init();
 *     void rex_offload_init(void);    rex_this_init_void    a declaration of rex_declared_init()
 *
 * In the first line the macro does not expand again, because no macro expands inside itself.
 * rex_declared_init is a second name of the function for the compiler: its result may be void,
 * though the result of rex_this_init() is int.
 */

/* rex_this_init(...): rex_this_init_ for a call, and rex_this_init_void for a declaration. */
#define rex_this_init(...) rex_this_init_##__VA_ARGS__
/* rex_this_init_: the call of the function. */
#define rex_this_init_ rex_this_init()
/* rex_this_init_void: the declarator of rex_declared_init(), for a declaration by the program. */
#define rex_this_init_void rex_declared_init(void) __asm__("rex_offload_init")
/* rex_this_fini(...): rex_this_fini_ for a call, and rex_this_fini_void for a declaration. */
#define rex_this_fini(...) rex_this_fini_##__VA_ARGS__
/* rex_this_fini_: the call of the function. */
#define rex_this_fini_ rex_this_fini()
/* rex_this_fini_void: the declarator of rex_declared_fini(), for a declaration by the program. */
#define rex_this_fini_void rex_declared_fini(void) __asm__("rex_offload_fini")

#endif /* REX_IS_HELPER */

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#endif
