/*
 * rex/entry.h - host keys and entries of kernels and globals, named from one stem.
 *
 *     #include <rex.h>
 *     REX_KERNEL(axpy);                                            // at file scope, in one file
 *     ... REX_LAUNCH(axpy, teams, threads, rows...);                            // rex/launch.h
 *     ... __tgt_target_kernel(-1, teams, threads, REX_KERNEL_ID(axpy), &args);  // rex_kmp.h
 *
 * The *stem* of the kernel axpy is `axpy__`: the start of three names. `axpy__id__` is the *host
 * key*, a variable whose address stands for the kernel in a launch. `axpy__omp_offload_entry__` is
 * the *entry*, a row of the binary's entry table. "axpy__kernel__" is the kernel's symbol in the
 * device image, which REX_DEVICE_KERNEL(axpy, ...) of rex/kernel.h defines. In other files of the
 * binary, REX_KERNEL_DECLARE(axpy) declares the key for REX_KERNEL_ID(axpy).
 *
 * Keys and entries are hidden: each program or shared object has its own. If two files of a binary
 * define the same name, the linker reports an error.
 *
 * The registration returns REX_ENOKERNEL if the image lacks the kernel or global of an entry, or if
 * a global has another size in the image. The registration does not compare entries of
 * REX_GLOBAL_LINK(), and with REX_CHECK=off no entry. Two checks are always made, for all entries:
 * - If several images are embedded, each entry must be in one of them.
 * - On LLVM 14 and 15 a host image must have all entries.
 *
 * Linkers that collect garbage keep the entries of a file that includes this header. For this the
 * compiler must know the attribute `retain`. gcc before 11 and clang before 13 do not know
 * `retain`. If such a compiler made the objects, link them with -Wl,-z,nostart-stop-gc. Without
 * this option lld with --gc-sections, and GNU ld with --gc-sections and -z start-stop-gc, drop
 * sections that only the linker's own symbols reach.
 *
 * If the name of a kernel or global is itself a macro, these macros and the launch and kernel
 * macros expand the name.
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
 * REX_ENTRY(S, key_address, device_name, bytes, flag_bits): defines one entry, a row of the entry
 * table. The macros below that define entries use it. The row is not const: generated code has
 * writable rows, and gcc refuses const and writable objects in one section.
 * @S            the start of the entry's name, `Somp_offload_entry__`.
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
 * stem S. The key is `Sid__`, the entry is `Somp_offload_entry__`, and the kernel's symbol in the
 * image is "Skernel__". Write the macro in one file of the binary.
 * @parameters  the parameter list of REX_DEVICE_KERNEL_STEM() in the image; may be left out.
 *
 * With the list, the compiler compares the number and the types of the rows in each later launch
 * macro of the file. Any integer, bool or enum fits an integer; librex compares the widths at the
 * launch. These rows fit every pointer: REX_OBJECT(), REX_STRUCT(), REX_FIRSTPRIVATE(),
 * REX_PRIVATE() and REX_IS_DEVICE_PTR(). A row fits a parameter only if a macro of librex for rows,
 * or REX_ROW() of rex/arguments.h, makes the row. Rows of members, of REX_NO_PARAM() and of
 * REX_LINK() are not parameters.
 *
 * The binary also contains the kinds of the parameters in the list, such as "int64_t". rex-check(1)
 * compares them with the kinds in the image, before the program runs.
 */
#define REX_KERNEL_STEM(...) REX_KERNEL_DEFINE(__VA_ARGS__, )

/*
 * Many macros below have an empty last argument: `REX_KERNEL_NAMED(name, parameters..., )`. Without
 * the empty argument, a kernel without a list would leave the `...` of the macro empty, which C
 * does not allow. For example, REX_KERNEL(axpy, (int64_t) n) expands in these steps:
 *
 *     REX_KERNEL_NAMED(axpy, (int64_t) n, )
 *     REX_KERNEL_DEFINE(axpy__, (int64_t) n, )
 *     char axpy__id__ = 0;                                // the key
 *     static const struct { ... } axpy__kinds__ =         // REX_KERNEL_KINDS(), for rex-check(1)
 *         {{2, REX_KIND_I64}, "axpy__kernel__"};
 *     int axpy__arguments__(int, struct rex_integer n);   // REX_KERNEL_DECLARED(), for launches
 *     struct __tgt_offload_entry axpy__omp_offload_entry__ =  // REX_ENTRY()
 *         {&axpy__id__, "axpy__kernel__", 0, 0, 0};
 */

/*
 * REX_KERNEL_DEFINE(S, parameters..., ): defines the key, the kinds, the function for launches, and
 * the entry of stem S.
 */
#define REX_KERNEL_DEFINE(S, ...)                                \
    REX_LINKAGE char S##id__;                                    \
    char S##id__ __attribute__((__used__)) = 0;                  \
    REX_IF_PARAMETERS(__VA_ARGS__)                               \
    (REX_KERNEL_KINDS, REX_KERNEL_NO_PARAMETERS)(S, __VA_ARGS__) \
        REX_KERNEL_DECLARED(S, __VA_ARGS__) REX_ENTRY(S, &S##id__, #S "kernel__", 0, 0)
/*
 * REX_KERNEL_KINDS(S, parameters..., ): defines the object that rex-check(1) reads in the program's
 * file: an array, and then the kernel's name. The array has its own length, and then the
 * REX_KIND_OF_TYPE() of each parameter.
 */
#define REX_KERNEL_KINDS(S, ...)                                                                \
    static const struct {                                                                       \
        uint16_t rex_kinds[1 + REX_PARAMETER_COUNT(__VA_ARGS__)];                               \
        char rex_name[sizeof(#S "kernel__")];                                                   \
    } S##kinds__ __attribute__((__section__("rex_kernel_kinds"), REX_TOLD, __aligned__(2))) = { \
        {1 + REX_PARAMETER_COUNT(__VA_ARGS__)                                                   \
                 REX_EACH_PARAMETER(REX_PARAMETER_KIND, , __VA_ARGS__)},                        \
        #S "kernel__"};
/* REX_KERNEL_NO_PARAMETERS(S, ): expands to nothing: without a list there are no kinds. */
#define REX_KERNEL_NO_PARAMETERS(S, ...)

/**
 * REX_KERNEL_STEM_DECLARE(S), REX_KERNEL_STEM_DECLARE(S, parameters...): declares the key that
 * another file of this binary defines with REX_KERNEL_STEM(S). REX_KERNEL_STEM_ID(S) and the launch
 * macros need the declaration. With the list of parameters the compiler also compares the rows of
 * launches in this file. If a file uses both REX_KERNEL_STEM(S) and REX_KERNEL_STEM_DECLARE(S),
 * write the list in both or in neither.
 */
#define REX_KERNEL_STEM_DECLARE(...) \
    REX_KERNEL_DECLARED(__VA_ARGS__, ) REX_KERNEL_KEY(__VA_ARGS__, )
/* REX_KERNEL_KEY(S, parameters..., ): declares the key `Sid__`, without the final semicolon. */
#define REX_KERNEL_KEY(S, ...) REX_LINKAGE char S##id__
/*
 * REX_KERNEL_DECLARED(S, parameters..., ): declares the function `Sarguments__`, which is never
 * defined or called. The compiler compares the function's parameters with the rows of REX_LAUNCH():
 *
 *     int Sarguments__(int, struct rex_integer n, double *x);  // for (int64_t) n, (double *) x
 *     int Sarguments__(int, ...);                              // without a list
 */
#define REX_KERNEL_DECLARED(S, ...) \
    int S##arguments__(             \
        int REX_IF_PARAMETERS(__VA_ARGS__)(REX_KERNEL_TYPES, REX_KERNEL_ANY)(__VA_ARGS__));
/*
 * REX_KERNEL_TYPES(parameters..., ): for each parameter a comma, its type in the comparison, and
 * its name: `, struct rex_integer n` for `(int64_t) n`.
 */
#define REX_KERNEL_TYPES(...) REX_PARAMETER_TAIL(REX_PARAMETER_ARGUMENT, , __VA_ARGS__)
/* REX_KERNEL_ANY(): expands to `, ...`: the function takes any arguments. */
#define REX_KERNEL_ANY(...) , ...

/**
 * REX_KERNEL_STEM_ID(S): the address of `Sid__`, the host key, as `void *`, for the host_ptr
 * argument of a launch.
 */
#define REX_KERNEL_STEM_ID(S) ((void *)&REX_JOIN(S, id__))

/**
 * REX_KERNEL(name), REX_KERNEL(name, parameters...): defines key and entry of the kernel
 * REX_DEVICE_KERNEL(name, parameters...) in the image, as REX_KERNEL_STEM() does for the stem
 * `name__`.
 */
#define REX_KERNEL(...) REX_KERNEL_NAMED(__VA_ARGS__, )
/*
 * REX_KERNEL_NAMED(name, parameters..., ): adds two underscores to @name, which is expanded
 * already, and calls REX_KERNEL_DEFINE().
 */
#define REX_KERNEL_NAMED(name, ...) REX_KERNEL_DEFINE(name##__, __VA_ARGS__)

/**
 * REX_KERNEL_DECLARE(name), REX_KERNEL_DECLARE(name, parameters...): declares the key that another
 * file of the binary defines with REX_KERNEL(name), as REX_KERNEL_STEM_DECLARE() does for the stem
 * `name__`.
 */
#define REX_KERNEL_DECLARE(...) REX_KERNEL_DECLARE_NAMED(__VA_ARGS__, )
/*
 * REX_KERNEL_DECLARE_NAMED(name, parameters..., ): adds two underscores to @name, which is expanded
 * already, and calls REX_KERNEL_STEM_DECLARE().
 */
#define REX_KERNEL_DECLARE_NAMED(name, ...) REX_KERNEL_STEM_DECLARE(name##__, __VA_ARGS__)

/**
 * REX_KERNEL_ID(name): the address of `name__id__`, the host key of REX_KERNEL(name), as `void *`,
 * for the host_ptr argument of a launch.
 */
#define REX_KERNEL_ID(name) REX_KERNEL_STEM_ID(REX_JOIN(name, __))

/**
 * REX_GLOBAL(variable): makes a global @variable the host side of the device's global with this
 * name and size. The macro defines an entry with the address, name and size of @variable, which
 * must be declared earlier in this file. The load of the image maps the global, so a map copies it
 * only in an update call, or by REX_ALWAYS(). The load does not copy the host's value: the image
 * has the device's initial value. The device side is REX_DEVICE_GLOBAL(type, variable) of
 * rex/kernel.h.
 */
#define REX_GLOBAL(variable) REX_GLOBAL_NAMED(variable)
/*
 * REX_GLOBAL_NAMED(variable): defines the entry `variable__global__omp_offload_entry__`. The
 * preprocessor does not expand an operand of ## or #. So if @variable is a macro, REX_GLOBAL()
 * expands @variable, and this macro makes the names.
 */
#define REX_GLOBAL_NAMED(variable) \
    REX_ENTRY(variable##__global__, &(variable), #variable, sizeof(variable), 0)

/**
 * REX_GLOBAL_LINK(type, variable): makes a global @variable the host side of a global that is on
 * the device only while it is mapped (declare target link). The device has a pointer to the global,
 * `variable_decl_tgt_ref_ptr`. In most cases a registration does not check that the image has this
 * pointer. There are two exceptions: several images are embedded, or the image is a host image on
 * LLVM 14 or 15.
 * @variable has @type, such as `double[1000]`, and must be declared earlier in this file. The
 * global's row in a map is REX_LINK() of rex/map.h. The device side is REX_DEVICE_GLOBAL_LINK(type,
 * variable) of rex/kernel.h.
 */
#define REX_GLOBAL_LINK(type, variable) REX_GLOBAL_LINK_NAMED(type, variable)
/*
 * REX_GLOBAL_LINK_NAMED(type, variable): defines the pointer `variable_decl_tgt_ref_ptr`, and the
 * entry `variable__link__omp_offload_entry__` for the pointer. REX_GLOBAL_LINK() has expanded
 * @variable.
 */
#define REX_GLOBAL_LINK_NAMED(type, variable)                                                  \
    REX_LINKAGE __typeof__(type) *variable##_decl_tgt_ref_ptr;                                 \
    __typeof__(type) *variable##_decl_tgt_ref_ptr = &(variable);                               \
    REX_ENTRY(variable##__link__, &variable##_decl_tgt_ref_ptr, #variable "_decl_tgt_ref_ptr", \
              sizeof(void *), 1)

/*
 * REX_EMBED(once, host, file): puts the bytes of @file into read-only data, and a struct
 * rex_image_row for the bytes into the section `rex_images`. @host is 1 for a host shared object,
 * otherwise 0. @once is the name of a symbol at the bytes: with the option -u @once, a linker takes
 * the image from an archive. The symbol is weak, because several files may define it. With LTO an
 * assembler may process several images: `.ifndef` then defines @once only for the first.
 */
#define REX_EMBED(once, host, file)                                                          \
    __asm__(".pushsection .rodata.rex_images, \"a\"\n.balign 16\n.ifndef " #once "\n"        \
            ".weak " #once "\n.hidden " #once "\n" #once ":\n.endif\n7001:\n.incbin \"" file \
            "\"\n7002:\n.popsection\n"                                                       \
            ".pushsection rex_images, \"aw" REX_RETAINED "\", %progbits\n.balign 8\n"        \
            ".quad 7001b, 7002b, " #host "\n.popsection")

/**
 * REX_EMBED_IMAGE(file): puts a device image into this binary, which then needs no image file.
 * @file is a string literal, the name of a CUBIN, a PTX file, or a fatbin for several GPUs. The
 * assembler looks for @file in the directory where the assembler runs, and in the directories of
 * -Wa,-I. With clang's LTO @file is relative to the directory where the linker runs, or absolute.
 *
 * A binary may have several images of one kind (for GPUs, or for the CPU), for example from static
 * libraries. Each entry belongs to the image that has its kernel or global. If two images of the
 * kind have the kernel or global of one entry, the registration returns REX_EKEY. Messages call
 * several images of one kind "memory 1" and so on, in link order.
 *
 * A linker takes a file from an archive only if a symbol that is not weak refers to the file. All
 * references to an image are weak. rex.pc, rex-cc and the CMake package pass options -u. With these
 * options, a linker that has no image of a kind yet takes the first such image from an archive. Put
 * each other image into a file with code that the program calls, or link with --whole-archive.
 */
#define REX_EMBED_IMAGE(file) REX_EMBED(rex_embedded_image_once, 0, file)

/**
 * REX_EMBED_HOST_IMAGE(file): puts the host shared object @file, for machines without a GPU, into
 * this binary, as REX_EMBED_IMAGE() puts a device image.
 */
#define REX_EMBED_HOST_IMAGE(file) REX_EMBED(rex_embedded_host_image_once, 1, file)

#endif
