/*
 * rex/entry.h - one kernel, one identity: the host key and the entry of a kernel or global, from
 * one stem.
 *
 *     #include <rex.h>
 *     REX_KERNEL(axpy);                                            // at file scope, in one file
 *     ... REX_LAUNCH(axpy, teams, threads, rows...);                            // rex/launch.h
 *     ... __tgt_target_kernel(-1, teams, threads, REX_KERNEL_ID(axpy), &args);  // rex_kmp.h
 *
 * From the stem S = `axpy__` come the names `axpy__id__` (the key: its address names the kernel in
 * a launch), `axpy__omp_offload_entry__` (the row of the table) and "axpy__kernel__" (the kernel's
 * symbol in the device image, which REX_DEVICE_KERNEL(axpy, ...) of rex/kernel.h defines). In other
 * files of the same binary, REX_KERNEL_DECLARE(axpy) makes REX_KERNEL_ID(axpy) usable.
 *
 * Keys and entries are hidden: each program or shared object has its own. A name that is defined in
 * two files of a binary is an error of the linker. A kernel or global that is missing in the image,
 * or a global of another size, is found at registration: REX_ENOKERNEL.
 *
 * Linkers that collect garbage keep the entries of a file that includes this header. Compilers
 * without the attribute `retain`, gcc before 11 and clang before 13, cannot say that: link their
 * objects with -Wl,-z,nostart-stop-gc. Without it lld under --gc-sections, and GNU ld under
 * -z start-stop-gc as well, drop sections that only the linker's own symbols reach.
 *
 * A name that is a macro is expanded, here and in the launch and kernel macros.
 *
 * All macros here stand at file scope with a semicolon behind them, but for REX_KERNEL_ID() and
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
/* REX_LINKAGE: C linkage and hidden visibility for an object of the four names. */
#define REX_LINKAGE extern "C" __attribute__((__visibility__("hidden")))
#else
#define REX_LINKAGE extern __attribute__((__visibility__("hidden")))
#endif

/**
 * REX_ENTRY(S, key_address, device_name, bytes, flag_bits): one row of the entry table, from its
 * parts; the other macros use it. It is not const: a const row beside a writable one of generated
 * code would be a section type conflict.
 * @S            the stem of its name.
 * @key_address  address of the host key, or of the global.
 * @device_name  the name in the device image, a string.
 * @bytes        size of the global; 0 for a kernel.
 * @flag_bits    0; 1 for declare target link.
 */
#define REX_ENTRY(S, key_address, device_name, bytes, flag_bits)                             \
    REX_LINKAGE struct __tgt_offload_entry S##omp_offload_entry__;                           \
    struct __tgt_offload_entry S##omp_offload_entry__                                        \
        __attribute__((__section__("omp_offloading_entries"), __used__, __aligned__(8))) = { \
            (void *)(key_address), (char *)(uintptr_t)(device_name), (bytes), (flag_bits), 0}

/**
 * REX_KERNEL_STEM(S), REX_KERNEL_STEM(S, parameters...): defines key and entry of the kernel whose
 * names begin with S, taken as it is: `Sid__`, `Somp_offload_entry__`, "Skernel__". At file scope,
 * in one file of the binary.
 * @parameters  may be left out: the list that REX_DEVICE_KERNEL_STEM() has in the image.
 *
 * With the list, the compiler compares the number and the types of the rows of each REX_LAUNCH()
 * and its like. It takes any integer, bool or enum for an integer; librex compares the widths at
 * the launch. A row that stands for a pointer of any type fits every pointer:
 * REX_OBJECT(), REX_STRUCT(), REX_FIRSTPRIVATE(), REX_PRIVATE() and REX_IS_DEVICE_PTR(). A row that
 * no macro of rex/map.h makes fits no parameter. Members and REX_NO_PARAM() are no parameters.
 *
 * The binary keeps the kinds of the list, too. rex-check(1) compares them with the image's, before
 * the program runs.
 */
#define REX_KERNEL_STEM(...) REX_KERNEL_DEFINE(__VA_ARGS__, )
/* REX_KERNEL_DEFINE(S, parameters..., ): the same. */
#define REX_KERNEL_DEFINE(S, ...)                                \
    REX_LINKAGE char S##id__;                                    \
    char S##id__ __attribute__((__used__)) = 0;                  \
    REX_IF_PARAMETERS(__VA_ARGS__)                               \
    (REX_KERNEL_KINDS, REX_KERNEL_NO_PARAMETERS)(S, __VA_ARGS__) \
        REX_KERNEL_DECLARED(S, __VA_ARGS__) REX_ENTRY(S, &S##id__, #S "kernel__", 0, 0)
/*
 * REX_KERNEL_KINDS(S, parameters...): how many numbers there are, the REX_KIND_OF_TYPE() of each
 * parameter, and the kernel's name.
 */
#define REX_KERNEL_KINDS(S, ...)                                                                \
    static const struct {                                                                       \
        uint16_t rex_kinds[1 + REX_PARAMETER_COUNT(__VA_ARGS__)];                               \
        char rex_name[sizeof(#S "kernel__")];                                                   \
    } S##kinds__ __attribute__((__section__("rex_kernel_kinds"), REX_TOLD, __aligned__(2))) = { \
        {1 + REX_PARAMETER_COUNT(__VA_ARGS__)                                                   \
                 REX_EACH_PARAMETER(REX_PARAMETER_KIND, , __VA_ARGS__)},                        \
        #S "kernel__"};
/* REX_KERNEL_NO_PARAMETERS(S, ): nothing, where there is no list. */
#define REX_KERNEL_NO_PARAMETERS(S, ...)

/**
 * REX_KERNEL_STEM_DECLARE(S), REX_KERNEL_STEM_DECLARE(S, parameters...): declares the key that
 * another file of this binary defines with REX_KERNEL_STEM(S), so that REX_KERNEL_STEM_ID(S) is
 * known. With the list the compiler compares launches in this file, too. A file that has both
 * macros has the list in both, or in none.
 */
#define REX_KERNEL_STEM_DECLARE(...) \
    REX_KERNEL_DECLARED(__VA_ARGS__, ) REX_KERNEL_KEY(__VA_ARGS__, )
/* REX_KERNEL_KEY(S, parameters..., ): declares the key. */
#define REX_KERNEL_KEY(S, ...) REX_LINKAGE char S##id__
/*
 * REX_KERNEL_DECLARED(S, parameters..., ): what REX_LAUNCH() compares its rows with: a function
 * that is never defined or called. Without a list it takes anything.
 */
#define REX_KERNEL_DECLARED(S, ...) \
    int S##arguments__(             \
        int REX_IF_PARAMETERS(__VA_ARGS__)(REX_KERNEL_TYPES, REX_KERNEL_ANY)(__VA_ARGS__));
/* REX_KERNEL_TYPES(parameters..., ): a comma, the type and the name of each. */
#define REX_KERNEL_TYPES(...) REX_PARAMETER_TAIL(REX_PARAMETER_ARGUMENT, , __VA_ARGS__)
/* REX_KERNEL_ANY(): any number of any type. */
#define REX_KERNEL_ANY(...) , ...

/**
 * REX_KERNEL_STEM_ID(S): the host key of stem S as `void *`, for the host_ptr argument of a launch.
 */
#define REX_KERNEL_STEM_ID(S) ((void *)&REX_JOIN(S, id__))

/**
 * REX_KERNEL(name), REX_KERNEL(name, parameters...): defines key and entry of the kernel that
 * REX_DEVICE_KERNEL(name, parameters...) is in the image: REX_KERNEL_STEM() of the stem `name__`.
 */
#define REX_KERNEL(...) REX_KERNEL_NAMED(__VA_ARGS__, )
/* REX_KERNEL_NAMED(name, parameters..., ): the same. */
#define REX_KERNEL_NAMED(name, ...) REX_KERNEL_DEFINE(name##__, __VA_ARGS__)

/**
 * REX_KERNEL_DECLARE(name), REX_KERNEL_DECLARE(name, parameters...): makes the key of
 * REX_KERNEL(name) known in another file of the binary: REX_KERNEL_STEM_DECLARE() of the stem
 * `name__`.
 */
#define REX_KERNEL_DECLARE(...) REX_KERNEL_DECLARE_NAMED(__VA_ARGS__, )
/* REX_KERNEL_DECLARE_NAMED(name, parameters..., ): the same. */
#define REX_KERNEL_DECLARE_NAMED(name, ...) REX_KERNEL_STEM_DECLARE(name##__, __VA_ARGS__)

/** REX_KERNEL_ID(name): the host key of REX_KERNEL(name) as `void *`, likewise. */
#define REX_KERNEL_ID(name) REX_KERNEL_STEM_ID(REX_JOIN(name, __))

/**
 * REX_GLOBAL(variable): makes a global @variable, defined before in this file, the host side of the
 * device's global of the same name and size: an entry of its address, name and size. It is mapped
 * from the load of the image on, so that only rex_data_update() and rows of REX_ALWAYS() copy it.
 * Its value is not copied at the start: the image has the device's own. The device side is
 * REX_DEVICE_GLOBAL(type, variable) of rex/kernel.h.
 */
#define REX_GLOBAL(variable) REX_GLOBAL_NAMED(variable)
/* REX_GLOBAL_NAMED(variable): the same, once a macro of that name is expanded. */
#define REX_GLOBAL_NAMED(variable) \
    REX_ENTRY(variable##__global__, &(variable), #variable, sizeof(variable), 0)

/**
 * REX_GLOBAL_LINK(type, variable): does so for a global that is on the device only while it is
 * mapped, as declare target link says. The device has a pointer to it,
 * `variable_decl_tgt_ref_ptr`, which registration does not look for. @variable has @type, such as
 * `double[1000]`, and is defined before, in this file. REX_LINK() of rex/map.h is its row in a map,
 * and REX_DEVICE_GLOBAL_LINK(type, variable) of rex/kernel.h the device side.
 */
#define REX_GLOBAL_LINK(type, variable) REX_GLOBAL_LINK_NAMED(type, variable)
/* REX_GLOBAL_LINK_NAMED(type, variable): the same, once a macro of that name is expanded. */
#define REX_GLOBAL_LINK_NAMED(type, variable)                                                  \
    REX_LINKAGE __typeof__(type) *variable##_decl_tgt_ref_ptr;                                 \
    __typeof__(type) *variable##_decl_tgt_ref_ptr = &(variable);                               \
    REX_ENTRY(variable##__link__, &variable##_decl_tgt_ref_ptr, #variable "_decl_tgt_ref_ptr", \
              sizeof(void *), 1)

/*
 * REX_EMBED(once, host, file): the bytes of @file in read-only data, and their row in the section
 * `rex_images`. The symbol @once is weak: linkers take an image out of an archive for it. With LTO
 * one assembler may see several.
 */
#define REX_EMBED(once, host, file)                                                          \
    __asm__(".pushsection .rodata.rex_images, \"a\"\n.balign 16\n.ifndef " #once "\n"        \
            ".weak " #once "\n.hidden " #once "\n" #once ":\n.endif\n7001:\n.incbin \"" file \
            "\"\n7002:\n.popsection\n"                                                       \
            ".pushsection rex_images, \"aw" REX_RETAINED "\", %progbits\n.balign 8\n"        \
            ".quad 7001b, 7002b, " #host "\n.popsection")

/**
 * REX_EMBED_IMAGE(file): puts the device image @file, a string literal, into this binary, which
 * then needs no image file: a CUBIN, PTX, or a fatbin for several GPUs. At file scope. The
 * assembler looks for @file as it does for .incbin: in the directory it is run in, and in those of
 * -Wa,-I. With clang's LTO that is where the linker is run, or an absolute path.
 *
 * A binary may have several, as static libraries bring them. Each entry belongs to the image that
 * has its kernel or global; a name in two of them is an error at registration. Messages call them
 * "memory 1" and so on, in the order in which they were linked.
 *
 * Weak symbols alone refer to an image. rex.pc, rex-cc and CMake's package have options -u, with
 * which a linker takes the first one out of archives, too. Put an image into a file that also has
 * code which the program calls, or link with --whole-archive: then each is taken.
 */
#define REX_EMBED_IMAGE(file) REX_EMBED(rex_embedded_image_once, 0, file)

/**
 * REX_EMBED_HOST_IMAGE(file): the same for a host shared object that is used if there is no GPU.
 */
#define REX_EMBED_HOST_IMAGE(file) REX_EMBED(rex_embedded_host_image_once, 1, file)

#endif
