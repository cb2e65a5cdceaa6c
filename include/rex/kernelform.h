/*
 * rex/kernelform.h - parts of a kernel: the function in the image, its parameters of 8 bytes each,
 * their kinds in the image, and its entry in a host image. rex/kernel.h includes it, and has the
 * macros that a program writes.
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
 * REX_PARAMETER_FITS(context, type, name): makes the compiler refuse a parameter of more than 8
 * bytes.
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
 * REX_DEVICE_BODY(S, parameters...): head of the inline function with a kernel's body. The
 * parameter `rex_environment` is the runtime's in an env kernel. In a plain kernel it is NULL. It
 * is -1 in a call by REX_DEVICE_CALL().
 */
#define REX_DEVICE_BODY(S, ...)                                                 \
    REX_DEVICE void S##body__(__attribute__((__unused__)) void *rex_environment \
                                  REX_PARAMETER_TAIL(REX_PARAMETER_DECLARE, , __VA_ARGS__))

#if REX_ON_GPU
#define REX_DEVICE_ENTRY(symbol, address, bytes)

/**
 * struct rex_slot: a kernel's parameter of @type, in 8 bytes: rex_type is @type itself if it has 8
 * bytes, else a struct that converts to @type.
 */
template <class type, bool rex_is_whole = sizeof(type) == 8> struct rex_slot {
    /** a smaller value, padded to 8 bytes. */
    struct __attribute__((__aligned__(8))) rex_type {
        type rex_value; /**< the value. */
        /** the value. */
        __device__ __forceinline__ operator type() const
        {
            return rex_value;
        }
    };
};
/* A type of 8 bytes. */
template <class type> struct rex_slot<type, true> {
    typedef type rex_type; /**< the type itself: a pointer stays a pointer. */
};
/** REX_PARAMETER_SLOT(context, type, name): declares a kernel's parameter of 8 bytes. */
#define REX_PARAMETER_SLOT(context, type, name) rex_slot<__typeof__ type>::rex_type name

/**
 * struct rex_kinds: never defined. Its mangled name in the image contains a kernel's form, 2 for
 * plain and 3 for env, and then the REX_KIND_OF_TYPE() of each parameter.
 */
template <unsigned... numbers> struct rex_kinds;

/**
 * REX_SIGNATURE(kernel, form, parameters...): the signature of @kernel: its form, 2 for plain and 3
 * for env, and the REX_KIND_OF_TYPE() of each parameter. For a GPU the signature is the mangled
 * name of an empty kernel, `rex_signature_KERNEL`; compilers and linkers keep all kernels. In a
 * host image the signature is an array of numbers, also named `rex_signature_KERNEL`. If a
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
 * REX_DEVICE_FORM(S, form, environment, bounds, slots, parameters...): a kernel. @form is 2 for
 * plain, 3 for env. @environment is the value that the kernel passes to its body as
 * `rex_environment`. @slots is the kernel's parameter list in parentheses. If the kernel is env,
 * the list begins with the runtime's parameter. @bounds is CUDA's `__launch_bounds__(...)`, or
 * empty.
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
 * struct rex_device_entry: a row of a host image's own entry table; the layout of `struct
 * __tgt_offload_entry`.
 */
struct rex_device_entry {
    void *addr;       /**< address of the function or variable. */
    const char *name; /**< name of the function or variable. */
    size_t size;      /**< size of a global in bytes; 0 for a kernel. */
    int32_t flags;    /**< 0. */
    int32_t reserved; /**< 0. */
};

/**
 * REX_DEVICE_ENTRY(symbol, address, bytes): a row of a host image's entry table. LLVM 14 and 15
 * match the rows of the host program and the host image by position. librex therefore reads this
 * table and puts the program's rows in the order of this table.
 */
#define REX_DEVICE_ENTRY(symbol, address, bytes)                                             \
    static struct rex_device_entry rex_entry_of_##symbol                                     \
        __attribute__((__section__("omp_offloading_entries"), __used__, __aligned__(8))) = { \
            (void *)(uintptr_t)(address), #symbol, (bytes), 0, 0};

/* REX_PARAMETER_SLOT(context, type, name): declares a kernel's parameter of 8 bytes. */
#define REX_PARAMETER_SLOT(context, type, name) uint64_t name

#ifdef __cplusplus
extern "C++" {
/** rex_unpack(): returns the value in the first bytes of @word. */
template <class type> REX_DEVICE type rex_unpack(uint64_t word)
{
    union {
        uint64_t rex_word;
        type rex_value;
    } both = {word};
    return both.rex_value;
}
}
/** REX_PARAMETER_VALUE(context, type, name): a comma and the value in the word @name. */
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
 * REX_DEVICE_CALL(). From LLVM 23 on *@cells points into an array of pointers to arguments. On LLVM
 * 18 *@cells is -1, and the arguments are in @arguments.
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
 * REX_PARAMETER_FETCH(context, type, name): declares the parameter's word, from
 * rex_detail_next_word().
 */
#define REX_PARAMETER_FETCH(context, type, name) \
    uint64_t name = rex_detail_next_word(&rex_detail_cells, &rex_detail_arguments);

/**
 * REX_DEVICE_CALL(kernel, S, parameters...): defines the function `rex_call_KERNEL`. On LLVM 18, 23
 * and 24 librex makes the host device call this function instead of @kernel. The function reads an
 * argument for each parameter, and calls the function of REX_DEVICE_BODY(S, parameters...).
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
 * REX_SIGNATURE(kernel, form, parameters...): the signature of @kernel. In a host image it is an
 * array: @form, then the kind of each parameter.
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
