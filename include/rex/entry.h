/*
 * rex/entry.h - host keys and entries of kernels and globals, named from one stem.
 *
 *     #include <rex.h>
 *     REX_KERNEL(axpy);                                            // at file scope, in one file
 *     ... REX_LAUNCH(axpy, teams, threads, rows...);                            // rex/launch.h
 *     ... __tgt_target_kernel(-1, teams, threads, REX_KERNEL_ID(axpy), &args);  // rex_kmp.h
 *
 * The stem S = `axpy__` gives three names. `axpy__id__` is the key, whose address stands for the
 * kernel in a launch. `axpy__omp_offload_entry__` is the row of the entry table. "axpy__kernel__"
 * is the kernel's symbol in the device image, which REX_DEVICE_KERNEL(axpy, ...) of rex/kernel.h
 * defines. In other files of the binary, REX_KERNEL_DECLARE(axpy) declares the key for
 * REX_KERNEL_ID(axpy).
 *
 * Keys and entries are hidden: each program or shared object has its own. If two files of a binary
 * define a name, the linker reports an error. If the image lacks a kernel or global of an entry, or
 * if a global has another size in the image, the registration returns REX_ENOKERNEL.
 *
 * Linkers that collect garbage keep the entries of a file that includes this header. gcc before 11
 * and clang before 13 lack the attribute `retain` that this needs: link their objects with
 * -Wl,-z,nostart-stop-gc. Otherwise lld with --gc-sections, and GNU ld with --gc-sections and -z
 * start-stop-gc, drop sections that only the linker's own symbols reach.
 *
 * If a kernel's or global's name is a macro, these macros and the launch and kernel macros expand
 * it.
 *
 * Write these macros at file scope with a semicolon after them, except REX_KERNEL_ID() and
 * REX_KERNEL_STEM_ID(), which are expressions.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guides: rex-kernels(7) for programs, rex-codegen(7) for code generators.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_ENTRY_H
#define REX_ENTRY_H

#include <stdint.h>

#include "rex/abi.h"
#include "rex/arguments.h"
#include "rex/binary.h"
#include "rex/kinds.h"
#include "rex/parameters.h"

#ifdef __cplusplus
/* REX_LINKAGE: C linkage and hidden visibility for the object of a key or an entry. */
#define REX_LINKAGE extern "C" __attribute__((__visibility__("hidden")))
#else
#define REX_LINKAGE extern __attribute__((__visibility__("hidden")))
#endif

/**
 * REX_ENTRY(S, key_address, device_name, bytes, flag_bits): defines one row of the entry table from
 * its parts; the other macros use it. The row is not const: generated code has writable rows, and
 * gcc refuses const and writable objects in one section.
 * @S            the stem of the row's name.
 * @key_address  address of the host key, or of the global.
 * @device_name  the name in the device image, a string.
 * @bytes        size of the global in bytes; 0 for a kernel.
 * @flag_bits    0; 1 for declare target link.
 */
#define REX_ENTRY(S, key_address, device_name, bytes, flag_bits)                             \
    REX_LINKAGE struct __tgt_offload_entry S##omp_offload_entry__;                           \
    struct __tgt_offload_entry S##omp_offload_entry__                                        \
        __attribute__((__section__("omp_offloading_entries"), __used__, __aligned__(8))) = { \
            (void *)(key_address), (char *)(uintptr_t)(device_name), (bytes), (flag_bits), 0}

/**
 * REX_KERNEL_STEM(S), REX_KERNEL_STEM(S, parameters...): defines key and entry of the kernel with
 * stem S: `Sid__`, `Somp_offload_entry__`, "Skernel__". Write it at file scope, in one file of the
 * binary.
 * @parameters  the parameter list of REX_DEVICE_KERNEL_STEM() in the image; may be left out.
 *
 * With the list, the compiler compares the number and the types of the rows in each launch macro.
 * Any integer, bool or enum fits an integer; librex compares the widths at the launch. These rows
 * fit every pointer: REX_OBJECT(), REX_STRUCT(), REX_FIRSTPRIVATE(), REX_PRIVATE() and
 * REX_IS_DEVICE_PTR(). A row that neither a macro of rex/map.h nor REX_ROW() of rex/arguments.h
 * makes fits no parameter. Rows of members and rows of REX_NO_PARAM() are not parameters.
 *
 * The binary also contains the kinds of the parameters in the list. rex-check(1) compares them with
 * the kinds in the image, before the program runs.
 */
#define REX_KERNEL_STEM(...) REX_KERNEL_DEFINE(__VA_ARGS__, )
/* REX_KERNEL_DEFINE(S, parameters..., ): REX_KERNEL_STEM() with an empty last argument. */
#define REX_KERNEL_DEFINE(S, ...)                                \
    REX_LINKAGE char S##id__;                                    \
    char S##id__ __attribute__((__used__)) = 0;                  \
    REX_IF_PARAMETERS(__VA_ARGS__)                               \
    (REX_KERNEL_KINDS, REX_KERNEL_NO_PARAMETERS)(S, __VA_ARGS__) \
        REX_KERNEL_DECLARED(S, __VA_ARGS__) REX_ENTRY(S, &S##id__, #S "kernel__", 0, 0)
/*
 * REX_KERNEL_KINDS(S, parameters...): data for rex-check(1): the length of the array, the
 * REX_KIND_OF_TYPE() of each parameter, and the kernel's name.
 */
#define REX_KERNEL_KINDS(S, ...)                                                                \
    static const struct {                                                                       \
        uint16_t rex_kinds[1 + REX_PARAMETER_COUNT(__VA_ARGS__)];                               \
        char rex_name[sizeof(#S "kernel__")];                                                   \
    } S##kinds__ __attribute__((__section__("rex_kernel_kinds"), REX_TOLD, __aligned__(2))) = { \
        {1 + REX_PARAMETER_COUNT(__VA_ARGS__)                                                   \
                 REX_EACH_PARAMETER(REX_PARAMETER_KIND, , __VA_ARGS__)},                        \
        #S "kernel__"};
/* REX_KERNEL_NO_PARAMETERS(S, ): empty, for a kernel without a list. */
#define REX_KERNEL_NO_PARAMETERS(S, ...)

/**
 * REX_KERNEL_STEM_DECLARE(S), REX_KERNEL_STEM_DECLARE(S, parameters...): declares the key that
 * another file of this binary defines with REX_KERNEL_STEM(S), for REX_KERNEL_STEM_ID(S). With the
 * list the compiler also compares launches in this file. If a file uses both macros, write the list
 * in both or in neither.
 */
#define REX_KERNEL_STEM_DECLARE(...) \
    REX_KERNEL_DECLARED(__VA_ARGS__, ) REX_KERNEL_KEY(__VA_ARGS__, )
/* REX_KERNEL_KEY(S, parameters..., ): declares the key. */
#define REX_KERNEL_KEY(S, ...) REX_LINKAGE char S##id__
/*
 * REX_KERNEL_DECLARED(S, parameters..., ): declares the function that REX_LAUNCH() compares its
 * rows with; the function is never defined or called. Without a list the function takes any
 * arguments.
 */
#define REX_KERNEL_DECLARED(S, ...) \
    int S##arguments__(             \
        int REX_IF_PARAMETERS(__VA_ARGS__)(REX_KERNEL_TYPES, REX_KERNEL_ANY)(__VA_ARGS__));
/* REX_KERNEL_TYPES(parameters..., ): a comma, the type and the name of each parameter. */
#define REX_KERNEL_TYPES(...) REX_PARAMETER_TAIL(REX_PARAMETER_ARGUMENT, , __VA_ARGS__)
/* REX_KERNEL_ANY(): any number of parameters of any type. */
#define REX_KERNEL_ANY(...) , ...

/**
 * REX_KERNEL_STEM_ID(S): the host key of stem S as `void *`, for the host_ptr argument of a launch.
 */
#define REX_KERNEL_STEM_ID(S) ((void *)&REX_JOIN(S, id__))

/**
 * REX_KERNEL(name), REX_KERNEL(name, parameters...): defines key and entry of the kernel
 * REX_DEVICE_KERNEL(name, parameters...) in the image: REX_KERNEL_STEM() for the stem `name__`.
 */
#define REX_KERNEL(...) REX_KERNEL_NAMED(__VA_ARGS__, )
/* REX_KERNEL_NAMED(name, parameters..., ): REX_KERNEL() with an empty last argument. */
#define REX_KERNEL_NAMED(name, ...) REX_KERNEL_DEFINE(name##__, __VA_ARGS__)

/**
 * REX_KERNEL_DECLARE(name), REX_KERNEL_DECLARE(name, parameters...): declares the key of
 * REX_KERNEL(name) in another file of the binary: REX_KERNEL_STEM_DECLARE() for the stem `name__`.
 */
#define REX_KERNEL_DECLARE(...) REX_KERNEL_DECLARE_NAMED(__VA_ARGS__, )
/*
 * REX_KERNEL_DECLARE_NAMED(name, parameters..., ): REX_KERNEL_DECLARE() with an empty last
 * argument.
 */
#define REX_KERNEL_DECLARE_NAMED(name, ...) REX_KERNEL_STEM_DECLARE(name##__, __VA_ARGS__)

/**
 * REX_KERNEL_ID(name): the host key of REX_KERNEL(name) as `void *`, for the host_ptr argument of a
 * launch.
 */
#define REX_KERNEL_ID(name) REX_KERNEL_STEM_ID(REX_JOIN(name, __))

/**
 * REX_GLOBAL(variable): makes a global @variable the host side of the device's global with this
 * name and size. The macro defines an entry with the address, name and size of @variable, which is
 * defined before in this file. The global is mapped when the image is loaded, so only updates and
 * rows of REX_ALWAYS() copy it. The load does not copy the host's value: the image has the device's
 * initial value. The device side is REX_DEVICE_GLOBAL(type, variable) of rex/kernel.h.
 */
#define REX_GLOBAL(variable) REX_GLOBAL_NAMED(variable)
/* REX_GLOBAL_NAMED(variable): REX_GLOBAL() after @variable is expanded. */
#define REX_GLOBAL_NAMED(variable) \
    REX_ENTRY(variable##__global__, &(variable), #variable, sizeof(variable), 0)

/**
 * REX_GLOBAL_LINK(type, variable): makes a global @variable the host side of a global that is on
 * the device only while it is mapped, as with declare target link. The device has a pointer to the
 * global, `variable_decl_tgt_ref_ptr`, which registration does not check. @variable has @type, such
 * as `double[1000]`, and is defined before, in this file. The global's row in a map is REX_LINK()
 * of rex/map.h. The device side is REX_DEVICE_GLOBAL_LINK(type, variable) of rex/kernel.h.
 */
#define REX_GLOBAL_LINK(type, variable) REX_GLOBAL_LINK_NAMED(type, variable)
/* REX_GLOBAL_LINK_NAMED(type, variable): REX_GLOBAL_LINK() after @variable is expanded. */
#define REX_GLOBAL_LINK_NAMED(type, variable)                                                  \
    REX_LINKAGE __typeof__(type) *variable##_decl_tgt_ref_ptr;                                 \
    __typeof__(type) *variable##_decl_tgt_ref_ptr = &(variable);                               \
    REX_ENTRY(variable##__link__, &variable##_decl_tgt_ref_ptr, #variable "_decl_tgt_ref_ptr", \
              sizeof(void *), 1)

/*
 * REX_EMBED(once, host, file): puts the bytes of @file into read-only data, and a row for them into
 * the section `rex_images`. The linker option -u @once takes an image from an archive. The symbol
 * @once is weak, because several files may define it. With LTO an assembler may process several
 * images: `.ifndef` then defines @once only for the first.
 */
#define REX_EMBED(once, host, file)                                                          \
    __asm__(".pushsection .rodata.rex_images, \"a\"\n.balign 16\n.ifndef " #once "\n"        \
            ".weak " #once "\n.hidden " #once "\n" #once ":\n.endif\n7001:\n.incbin \"" file \
            "\"\n7002:\n.popsection\n"                                                       \
            ".pushsection rex_images, \"aw" REX_RETAINED "\", %progbits\n.balign 8\n"        \
            ".quad 7001b, 7002b, " #host "\n.popsection")

/**
 * REX_EMBED_IMAGE(file): puts the device image @file, a string literal, into this binary: a CUBIN,
 * PTX, or a fatbin for several GPUs. The binary then needs no image file. Write it at file scope.
 * The assembler finds @file as it does for .incbin: in the directory where it runs, and in the
 * directories of -Wa,-I. With clang's LTO @file is relative to the directory where the linker runs,
 * or absolute.
 *
 * A binary may have several images, for example from static libraries. Each entry belongs to the
 * image that has its kernel or global; if two images have a kernel or global of one name, the
 * registration fails. Messages name the images "memory 1" and so on, in link order.
 *
 * A linker takes a file from an archive only if a symbol that is not weak refers to it. All
 * references to an image are weak. rex.pc, rex-cc and the CMake package pass options -u, with which
 * a linker takes the first image in archives. Put each other image into a file with code that the
 * program calls, or link with --whole-archive.
 */
#define REX_EMBED_IMAGE(file) REX_EMBED(rex_embedded_image_once, 0, file)

/**
 * REX_EMBED_HOST_IMAGE(file): puts the host shared object @file, for machines without a GPU, into
 * this binary, as REX_EMBED_IMAGE() does.
 */
#define REX_EMBED_HOST_IMAGE(file) REX_EMBED(rex_embedded_host_image_once, 1, file)

#endif
