/*
 * rex/kernelform.h - the functions and objects that REX_DEVICE_KERNEL() writes into an image.
 *
 * rex/kernel.h includes this header, and has the macros that a program writes. This kernel is an
 * example:
 *
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (float) a) { BODY }
 *
 * In a host image it becomes these definitions:
 *
 *     const uint16_t rex_signature_axpy__kernel__[] = {2, 11, 13};     // plain, int64_t, float
 *     struct rex_device_entry rex_entry_of_axpy__kernel__ = {...};     // a row of the entry table
 *     void rex_call_axpy__kernel__(void **cells, ...) {...}            // for LLVM 18, 23 and 24
 *     void axpy__kernel__(uint64_t n, uint64_t a)                      // for other releases
 *     {
 *         axpy__body__(NULL, INT64_IN(n), FLOAT_IN(a));
 *     }
 *     static inline void axpy__body__(void *rex_environment, int64_t n, float a) { BODY }
 *
 * In an image for a GPU it becomes:
 *
 *     __global__ void rex_signature_axpy__kernel__(rex_kinds<2, 11, 13> *) {}
 *     extern "C" __global__ void axpy__kernel__(int64_t n, rex_slot<float>::rex_type a)
 *     {
 *         axpy__body__(NULL, n, a);
 *     }
 *     static __device__ void axpy__body__(void *rex_environment, int64_t n, float a) { BODY }
 *
 * In the macros, S is the stem, `axpy__`. A *plain* kernel has the parameters of the list. An *env*
 * kernel has the runtime's parameter before the parameters of the list.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guide: rex-kernels(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KERNELFORM_H
#define REX_KERNELFORM_H

#ifndef REX_KERNEL_H
#error "rex/kernelform.h is a part of rex/kernel.h: include that"
#endif

#ifdef __cplusplus
/**
 * REX_PARAMETER_FITS(context, type, name): an assertion, with which the compiler refuses a
 * parameter of more than 8 bytes.
 */
#define REX_PARAMETER_FITS(context, type, name)                                               \
    static_assert(sizeof type <= 8,                                                           \
                  "the parameter " #name " has more than 8 bytes: take its address, and use " \
                  "REX_FIRSTPRIVATE() in the launch");
#else
#define REX_PARAMETER_FITS(context, type, name)                                                \
    _Static_assert(sizeof type <= 8,                                                           \
                   "the parameter " #name " has more than 8 bytes: take its address, and use " \
                   "REX_FIRSTPRIVATE() in the launch");
#endif

/**
 * REX_DEVICE_BODY(S, parameters...): head of `Sbody__()`, the inline function with a kernel's body.
 * The value of `rex_environment` depends on the caller. An env kernel passes the runtime's
 * parameter, a plain kernel passes NULL, and the function of REX_DEVICE_CALL() passes -1.
 */
#define REX_DEVICE_BODY(S, ...)                                                 \
    REX_DEVICE void S##body__(__attribute__((__unused__)) void *rex_environment \
                                  REX_PARAMETER_TAIL(REX_PARAMETER_DECLARE, , __VA_ARGS__))

#if REX_ON_GPU
#define REX_DEVICE_ENTRY(symbol, address, bytes)

/**
 * struct rex_slot: its member rex_type is a type of 8 bytes for a kernel's parameter of @type. If
 * @type has 8 bytes, rex_type is @type. If @type has fewer bytes, rex_type is a struct that
 * converts to @type.
 */
template <class type, bool rex_is_whole = sizeof(type) == 8> struct rex_slot {
    /** a value of fewer than 8 bytes, padded to 8 bytes. */
    struct __attribute__((__aligned__(8))) rex_type {
        type rex_value; /**< the value. */
        /** converts to @type, which the body's function takes. */
        __device__ __forceinline__ operator type() const
        {
            return rex_value;
        }
    };
};
/* rex_slot for a @type of 8 bytes. */
template <class type> struct rex_slot<type, true> {
    typedef type rex_type; /**< @type itself, so that a pointer parameter is a pointer. */
};
/** REX_PARAMETER_SLOT(context, type, name): declares the kernel's parameter @name, of 8 bytes. */
#define REX_PARAMETER_SLOT(context, type, name) rex_slot<__typeof__ type>::rex_type name

/**
 * struct rex_kinds: the parameter type of `rex_signature_KERNEL()`; never defined. @numbers are the
 * kernel's form, 2 for plain and 3 for env, and the REX_KIND_OF_TYPE() of each parameter. The
 * mangled name of the function has these numbers.
 */
template <unsigned... numbers> struct rex_kinds;

/**
 * REX_SIGNATURE(kernel, form, parameters...): defines the signature of @kernel. The signature is
 * the kernel's form, 2 for plain and 3 for env, and the REX_KIND_OF_TYPE() of each parameter.
 * librex reads the signature in the image.
 *
 * In an image for a GPU the signature is the mangled name of an empty kernel,
 * `rex_signature_KERNEL`. The signature is a kernel, because compilers and linkers keep all
 * kernels. In a host image the signature is an array of numbers, `rex_signature_KERNEL`. If a
 * parameter is wider in the signature than in the image, librex logs a warning and does not use the
 * signature.
 */
#define REX_SIGNATURE(kernel, form, ...)                                         \
    REX_EACH_PARAMETER(REX_PARAMETER_FITS, , __VA_ARGS__)                        \
    extern "C++" __global__ void rex_signature_##kernel(                         \
        rex_kinds<form REX_EACH_PARAMETER(REX_PARAMETER_KIND, , __VA_ARGS__)> *) \
    {                                                                            \
    }
/**
 * REX_DEVICE_FORM(S, form, environment, bounds, slots, parameters...): defines a kernel's
 * signature, `Skernel__()`, and the head of `Sbody__()`; the body follows.
 * @form         2 for plain, 3 for env.
 * @environment  the argument that the kernel passes to its body as `rex_environment`.
 * @bounds       CUDA's `__launch_bounds__(...)`, or empty.
 * @slots        the kernel's parameter list in parentheses, with parameters of 8 bytes. The list of
 *               an env kernel begins with the runtime's parameter.
 * @parameters   the parameter list of the body.
 */
#define REX_DEVICE_FORM(S, form, environment, bounds, slots, ...)                     \
    REX_SIGNATURE(S##kernel__, form, __VA_ARGS__)                                     \
    REX_DEVICE_BODY(S, __VA_ARGS__);                                                  \
    extern "C" __global__ void bounds S##kernel__ slots                               \
    {                                                                                 \
        S##body__(environment REX_PARAMETER_TAIL(REX_PARAMETER_NAME, , __VA_ARGS__)); \
    }                                                                                 \
    REX_DEVICE_BODY(S, __VA_ARGS__)
#else

/**
 * struct rex_device_entry: a row of a host image's own entry table. It has the layout of
 * `struct __tgt_offload_entry` (rex/abi.h).
 */
struct rex_device_entry {
    void *addr;       /**< address of the function or variable. */
    const char *name; /**< name of the function or variable. */
    size_t size;      /**< size of a global in bytes; 0 for a kernel. */
    int32_t flags;    /**< 0. */
    int32_t reserved; /**< 0. */
};

/**
 * REX_DEVICE_ENTRY(symbol, address, bytes): defines a row of a host image's entry table. LLVM 14
 * and 15 match the rows of the program and of the host image by position, not by name. For these
 * releases librex copies the program's rows, and sorts the copy into the order of the image's rows.
 */
#define REX_DEVICE_ENTRY(symbol, address, bytes)                                             \
    static struct rex_device_entry rex_entry_of_##symbol                                     \
        __attribute__((__section__("omp_offloading_entries"), __used__, __aligned__(8))) = { \
            (void *)(uintptr_t)(address), #symbol, (bytes), 0, 0};

/*
 * REX_PARAMETER_SLOT(context, type, name): declares the kernel's parameter @name, a word of 8 bytes
 * that contains the value.
 */
#define REX_PARAMETER_SLOT(context, type, name) uint64_t name

#ifdef __cplusplus
extern "C++" {
/** rex_unpack(): returns the value of @type in the first bytes of @word. */
template <class type> REX_DEVICE type rex_unpack(uint64_t word)
{
    union {
        uint64_t rex_word;
        type rex_value;
    } both = {word};
    return both.rex_value;
}
}
/**
 * REX_PARAMETER_VALUE(context, type, name): a comma and the value of @type in the word @name, as
 * the next argument of `Sbody__()`.
 */
#define REX_PARAMETER_VALUE(context, type, name) , rex_unpack<__typeof__ type>(name)
#else
#define REX_PARAMETER_VALUE(context, type, name) \
    , ((union {                                  \
          uint64_t rex_word;                     \
          __typeof__ type rex_value;             \
      }){name})                                  \
          .rex_value
#endif

/*
 * rex_detail_next_word(): returns the next argument that libomptarget passed to the function of
 * REX_DEVICE_CALL(). LLVM 23 and later pass an array of pointers to the arguments. *@cells points
 * to the next pointer, and each call increments *@cells. LLVM 18 passes -1 as the first argument,
 * so *@cells is -1. In that case each call returns the next argument of @arguments.
 */
REX_DEVICE uint64_t rex_detail_next_word(void ***cells, __builtin_va_list *arguments)
{
    uint64_t word;
    if ((uintptr_t)*cells == ~(uintptr_t)0)
        return __builtin_va_arg(*arguments, uint64_t);
    memcpy(&word, *(*cells)++, sizeof word);
    return word;
}
/**
 * REX_PARAMETER_FETCH(context, type, name): declares the word @name, with the next argument as its
 * value.
 */
#define REX_PARAMETER_FETCH(context, type, name) \
    uint64_t name = rex_detail_next_word(&rex_detail_cells, &rex_detail_arguments);

/**
 * REX_DEVICE_CALL(kernel, S, parameters...): defines the function `rex_call_KERNEL()`, which reads
 * an argument for each parameter and calls `Sbody__()`. On LLVM 18, 23 and 24 the host device calls
 * this function instead of @kernel: librex registers the kernel's entry with the name of this
 * function. LLVM 18 passes one more argument before the kernel's own, and LLVM 23 and 24 pass an
 * array.
 */
#define REX_DEVICE_CALL(kernel, S, ...)                                                          \
    REX_DEVICE_LINKAGE void rex_call_##kernel(void **rex_detail_cells, ...);                     \
    void rex_call_##kernel(void **rex_detail_cells, ...)                                         \
    {                                                                                            \
        __builtin_va_list rex_detail_arguments;                                                  \
        __builtin_va_start(rex_detail_arguments, rex_detail_cells);                              \
        REX_EACH_PARAMETER(REX_PARAMETER_FETCH, , __VA_ARGS__)                                   \
        S##body__((void *)~(uintptr_t)0 REX_EACH_PARAMETER(REX_PARAMETER_VALUE, , __VA_ARGS__)); \
        __builtin_va_end(rex_detail_arguments);                                                  \
    }

/*
 * REX_SIGNATURE(kernel, form, parameters...): defines the signature of @kernel in a host image, an
 * array of @form and the kind of each parameter.
 */
#define REX_SIGNATURE(kernel, form, ...)                        \
    REX_EACH_PARAMETER(REX_PARAMETER_FITS, , __VA_ARGS__)       \
    REX_DEVICE_LINKAGE const uint16_t rex_signature_##kernel[]; \
    const uint16_t rex_signature_##kernel[] = {                 \
        form REX_EACH_PARAMETER(REX_PARAMETER_KIND, , __VA_ARGS__)};

#define REX_DEVICE_FORM(S, form, environment, bounds, slots, ...)                      \
    REX_SIGNATURE(S##kernel__, form, __VA_ARGS__)                                      \
    REX_DEVICE_BODY(S, __VA_ARGS__);                                                   \
    REX_DEVICE_LINKAGE void S##kernel__ slots;                                         \
    REX_DEVICE_ENTRY(S##kernel__, &S##kernel__, 0)                                     \
    REX_DEVICE_CALL(S##kernel__, S, __VA_ARGS__)                                       \
    void S##kernel__ slots                                                             \
    {                                                                                  \
        S##body__(environment REX_EACH_PARAMETER(REX_PARAMETER_VALUE, , __VA_ARGS__)); \
    }                                                                                  \
    REX_DEVICE_BODY(S, __VA_ARGS__)
#endif

#endif
