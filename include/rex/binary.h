/*
 * rex/binary.h - this binary's module, and its start and end.
 *
 * A program with kernels has entries in its section `omp_offloading_entries` (rex/entry.h writes
 * them) and a device image, usually beside the executable or embedded in it. Entries and image form
 * a *module*, a `struct rex_module` (rex/module.h). This header defines one module,
 * `rex_this_module`, for each linked binary (a program or a shared object) with a file that
 * includes this header. Most programs never name the module. Their first launch, data call or
 * queue, or rex_offload_init(), registers it.
 *
 * The definitions are weak: a binary has one of each, even if many of its files include this
 * header. They are hidden: each binary has its own. Only rex_binary_module is visible to other
 * binaries.
 *
 * A *helper* is a file that a code generator writes, with the macro REX_KMP_INTERNAL. A helper may
 * define some of the names of this header itself: see rex_kmp.h.
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
 * may define the macro before the include. All files of a binary must have one value.
 */
#define REX_CUBIN_NAME "rex_lib_nvidia.cubin"
#endif
#ifndef REX_HOST_IMAGE_NAME
/**
 * REX_HOST_IMAGE_NAME: file name of the host image, or several names with ':' between them.
 * rex_module_register() says when librex uses the file. A program may define the macro before the
 * include. All files of a binary must have one value.
 */
#define REX_HOST_IMAGE_NAME "rex_lib_host.so"
#endif

/**
 * REX_PER_BINARY: the attributes (weak and hidden) of an object or function of which each linked
 * binary has one copy.
 */
#define REX_PER_BINARY __attribute__((__weak__, __visibility__("hidden")))

/**
 * rex_entries_begin: first entry of this binary's table; NULL if the table is empty. The linker
 * defines the symbol.
 */
extern struct __tgt_offload_entry
    rex_entries_begin[] __asm__("__start_omp_offloading_entries") REX_PER_BINARY;
/** rex_entries_end: one past the last entry of this binary's table; NULL if the table is empty. */
extern struct __tgt_offload_entry
    rex_entries_end[] __asm__("__stop_omp_offloading_entries") REX_PER_BINARY;

#ifndef __CUDA_ARCH__ /* code for a GPU does not use these symbols */
/*
 * The declarations above have an asm name, so gcc ignores their attribute `visibility`. Without the
 * `.hidden` directives a shared object would export its table, and a program without kernels would
 * use the exported table. If no code refers to a symbol, -flto loses its attribute `weak`. Without
 * the `.weak` directives the linker would report an undefined symbol.
 */
__asm__(".weak __start_omp_offloading_entries, __stop_omp_offloading_entries\n"
        ".weak __start_rex_images, __stop_rex_images\n"
        ".hidden __start_omp_offloading_entries\n.hidden __stop_omp_offloading_entries\n"
        ".hidden __start_rex_images\n.hidden __stop_rex_images");
#endif

/*
 * REX_TOLD: the attributes of objects that no code refers to: only tools read them, in the
 * program's file. Without the attributes, compilers or linkers could remove the objects.
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
 * flag R makes linkers keep rex_kept_entries, and the pointer makes them keep the entries. The
 * pointer is a weak reference, because a file may have no entry.
 *
 * The entries themselves cannot have the attribute `retain`: gcc warns if only some objects of a
 * section have the attribute, and entries of generated code may lack it. For this warning gcc
 * compares the objects of one file, or with -flto of the whole program.
 *
 * With -flto one assembler may read this text several times, and `.ifndef` skips all copies but the
 * first. If an entry came before a later copy, `.weak` in that copy would change the symbol of the
 * section itself.
 */
__asm__(".ifndef .Lrex_keeps_entries\n.set .Lrex_keeps_entries, 1\n"
        ".pushsection rex_kept_entries, \"awR\", %progbits\n.balign 8\n"
        ".weak omp_offloading_entries\n.quad omp_offloading_entries\n.popsection\n.endif");
#endif
#endif
#endif

/**
 * rex_images_begin: first row of this binary's table of images; NULL if the table is empty.
 * REX_EMBED_IMAGE() and REX_EMBED_HOST_IMAGE() (rex/entry.h) add rows. The linker defines the
 * symbol.
 */
extern const struct rex_image_row rex_images_begin[] __asm__("__start_rex_images") REX_PER_BINARY;
/** rex_images_end: one past the last row of the table of images; NULL if the table is empty. */
extern const struct rex_image_row rex_images_end[] __asm__("__stop_rex_images") REX_PER_BINARY;

/*
 * REX_HIDDEN: the attribute of a hidden object or function. REX_HIDDEN does not make a declaration
 * weak. After the declaration a helper (a file that REX generates) may define the name, and a weak
 * declaration would make this definition weak.
 */
#define REX_HIDDEN __attribute__((__visibility__("hidden")))

/**
 * __cubin_desc: the descriptor of this binary's registered image; NULL before registration and
 * after rex_offload_fini() has ended the registration. librex owns the descriptor. If several
 * embedded images are registered, each has a descriptor, and `__cubin_desc` is the descriptor of
 * the first of them.
 */
extern REX_HIDDEN struct __tgt_bin_desc *__cubin_desc;
/**
 * rex_target_kernel_ident: the source location that launches pass to libomptarget. A helper (a file
 * that REX generates) may define the name with another value. The default is
 * ";unknown;unknown;0;0;;".
 */
extern REX_HIDDEN ident_t rex_target_kernel_ident;

/*
 * REX_IS_HELPER: defined in a helper (a file that REX generates) that does not define
 * REX_KMP_DEFINE. In such a file this header only declares the names that the helper may define.
 */
#if defined REX_KMP_INTERNAL && !defined REX_KMP_DEFINE
#define REX_IS_HELPER
#else
REX_PER_BINARY struct __tgt_bin_desc *__cubin_desc = NULL; /* REX's older output: rex_kmp(3) */
REX_PER_BINARY ident_t rex_target_kernel_ident = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
#endif

/*
 * The module refers to `__cubin_desc` and rex_target_kernel_ident by weak references, because no
 * file of a binary of helpers has to define these names. The declarations of the names above are
 * not weak, because a weak declaration makes a helper's later definition weak.
 */
/*
 * rex_found_desc: a weak reference to `__cubin_desc`. NULL if no file of the binary defines that
 * name.
 */
static struct __tgt_bin_desc *rex_found_desc __attribute__((__weakref__("__cubin_desc")));
/*
 * rex_found_ident: a weak reference to rex_target_kernel_ident. NULL if no file of the binary
 * defines that name.
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
 * rex_binary_module: a variable with the address of this binary's module, for librex. A shared
 * object exports this variable. If librex knows no module with entries, a data call looks for such
 * variables in the loaded shared objects. The data call then registers at least one of the modules
 * that have entries. Code of the binary uses &rex_this_module: in a shared object the name
 * rex_binary_module may mean the program's variable.
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
 * file that includes this header may declare the functions before or after the include, with the
 * result int or void. After the include, a declaration with the result void needs the parameter
 * list `(void)`: with `()` the compiler reports a conflict.
 *
 * rex_module_init() and rex_module_fini() start and end other modules.
 */

#ifdef REX_IS_HELPER
/**
 * rex_offload_init(): this file or another file of the binary defines it. A definition may return
 * int or void: see rex_kmp.h.
 */
REX_HIDDEN void rex_offload_init(void);
/** rex_offload_fini(): this file or another file of the binary defines it. */
REX_HIDDEN void rex_offload_fini(void);
#else

/*
 * For the linker the two functions below are rex_offload_init and rex_offload_fini. For the
 * compiler their names are rex_this_init and rex_this_fini. So a declaration
 * `void rex_offload_init(void)` before the include does not conflict with the result int.
 */
/* rex_offload_init: expands to rex_this_init, the compiler's name of the function. */
#define rex_offload_init rex_this_init
/* rex_offload_fini: expands to rex_this_fini, the compiler's name of the function. */
#define rex_offload_fini rex_this_fini

/**
 * rex_offload_init(): finds and binds libomptarget; finds, checks and registers this binary's
 * image; and loads the image on the default device. If offloading is disabled or the default device
 * is the host, the function does not load the image. If the module is registered already, the
 * function only loads an image that is not loaded yet. Call rex_offload_init() at the start of
 * main, before anything is timed. Any thread.
 *
 * Returns 0 or an error of rex_module_init().
 */
int rex_offload_init(void) __asm__("rex_offload_init");
REX_PER_BINARY int rex_offload_init(void)
{
    return rex_module_init(&rex_this_module);
}

/**
 * rex_offload_fini(): unregisters this binary's image. Before the call the program must end the
 * mappings that this binary made. The call waits until other threads have left launches and data
 * calls. After the call the module can be registered again. LLVM 18 then requires the same image,
 * and LLVM 14 to 17 an image for the same kind of device, GPU or CPU. Any thread.
 *
 * In these cases the call returns 0 and does nothing:
 * - The module is not registered, a thread is registering it, or another thread is ending it.
 * - The process is ending, and the call is in a function that was given to atexit() too early:
 *   before the first registration, or before libomptarget's first launch or data call.
 *
 * Returns 0 or one of these errors. After an error the module is still registered:
 *
 * REX_EINVAL  the call is in the program's log function, which an outer rex_offload_fini() of this
 *             thread has called. Or the thread runs its last destructors.
 * REX_EBUSY   a queue (rex/queue.h) has unfinished commands. In addition, the queue may have
 *             launched kernels of this binary since it was last idle, or no other module is
 *             registered. The message names the queue. If REX_OPTION_UNFINISHED is `wait`, the call
 *             waits for the queue instead. Or the call was made inside a launch, a data call or the
 *             program's log function. Or launches or data calls of other threads have not ended
 *             within a minute.
 * REX_ENOMEM  the host has too little memory for librex's data of this thread.
 * REX_ECUDA   librex has found a device lost, now or earlier in the process: for example in a
 *             launch, a wait or a queue.
 */
int rex_offload_fini(void) __asm__("rex_offload_fini");
REX_PER_BINARY int rex_offload_fini(void)
{
    return rex_module_fini(&rex_this_module);
}

/*
 * ---- Parts of rex_offload_init() and rex_offload_fini() ---------------------------------------
 *
 * These macros must stand after the definitions above. They distinguish a call from a declaration
 * by the parameter list, which the macro rex_this_init() joins to a name:
 *
 *     rex_offload_init();             rex_this_init_        the call rex_this_init();
 *     void rex_offload_init(void);    rex_this_init_void    a declaration of rex_declared_init()
 *
 * In the first line the macro does not expand again, because no macro expands inside itself. For
 * the compiler, rex_declared_init() is another function than rex_this_init(). So a program can
 * declare it with the result void, though rex_this_init() returns int. For the linker both are one
 * function.
 */

/*
 * rex_this_init(...): expands to rex_this_init_ in a call, to rex_this_init_void in a declaration.
 */
#define rex_this_init(...) rex_this_init_##__VA_ARGS__
/* rex_this_init_: expands to the call of the function. */
#define rex_this_init_ rex_this_init()
/* rex_this_init_void: expands to the declarator in the program's declaration of the function. */
#define rex_this_init_void rex_declared_init(void) __asm__("rex_offload_init")
/*
 * rex_this_fini(...): expands to rex_this_fini_ in a call, to rex_this_fini_void in a declaration.
 */
#define rex_this_fini(...) rex_this_fini_##__VA_ARGS__
/* rex_this_fini_: expands to the call of the function. */
#define rex_this_fini_ rex_this_fini()
/* rex_this_fini_void: expands to the declarator in the program's declaration of the function. */
#define rex_this_fini_void rex_declared_fini(void) __asm__("rex_offload_fini")

#endif /* REX_IS_HELPER */

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#endif
