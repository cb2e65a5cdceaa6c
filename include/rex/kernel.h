/*
 * rex/kernel.h - the kernel side: one source for the GPU and for the host device.
 *
 *     #include <rex/kernel.h>
 *     REX_DEVICE_KERNEL(axpy, rex_arg n, rex_arg a, const double *x, double *y)
 *     {
 *         REX_FOR(i, rex_arg_int(n))
 *             y[i] += rex_arg_double(a) * x[i];
 *     }
 *
 *     nvcc -cubin -arch=sm_90 -o rex_lib_nvidia.cubin axpy.cu      for a GPU
 *     rex-cc --images --device-compiler=clang axpy.cu              for a GPU by clang alone: PTX
 *     cc -x c -shared -fPIC -o rex_lib_host.so axpy.cu             for libomptarget's host device
 *     cc -x c -shared -fPIC -fopenmp -o rex_lib_host.so axpy.cu    the same on all cores
 *
 * **Every parameter is 8 bytes wide**: a pointer, or a scalar carried in a `rex_arg`. LLVM 19 to 22
 * pack arguments into 8-byte slots and tell the driver nothing about their size, so that two
 * neighbouring `int` parameters share a slot there: the kernel gets wrong values without a word
 * (22) or the launch aborts (19). librex refuses such a launch. The CUDA driver passes any width:
 * in rex_queue_launch(), and in launches that it sends instead of libomptarget. On the host device
 * a `double` parameter would be looked for in a floating-point register, where libomptarget puts
 * nothing.
 *
 * **Plain and env**: a *plain* kernel has exactly the parameters that the packet has rows for
 * (REX_DEVICE_KERNEL). An *env* kernel has one more in front, which LLVM's runtime fills with the
 * address of its launch environment or -1 (REX_DEVICE_KERNEL_ENV; what clang emits from 18 on, and
 * what the REX compiler emits). librex tells them apart and sends what the release needs; on a GPU
 * libomptarget of LLVM 18 always passes the extra parameter, so there plain kernels need the CUDA
 * driver.
 *
 * **Signatures**: these macros also write the kernel's form and parameters into the image: how many
 * there are, how wide, and whether each is a pointer, a value of a type that its name tells
 * (`rex_arg_f64`), or any (`rex_arg`). librex compares them with a launch's rows before anything
 * runs, and rex-check shows them. A kernel without a signature is told by the number of its
 * parameters, and one row too few for a plain one looks like an env one.
 *
 * **The host device runs a kernel function once**, whatever grid was asked for: rex_num_teams() and
 * rex_num_threads() are 1 there. A kernel whose loops are REX_FOR is right on both; one that
 * derives a single index from its thread number is not. LLVM 18, 23 and 24 call kernels of the host
 * device in ways of their own: REX_DEVICE_CALL() makes them right, in an image that was compiled
 * with this header.
 *
 * The source may be CUDA C++ or C11. clang needs no CUDA toolkit for the former: rex/clang.h has
 * what it then lacks.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KERNEL_H
#define REX_KERNEL_H

#include "rex/detail_push.h"

#if defined(__CUDA__) && !defined(__CUDACC__)
#include "rex/clang.h"
#endif

#ifndef __CUDACC__
#include <stdarg.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/kinds.h"

#ifdef __CUDACC__
/** REX_ON_GPU: 1 for an image for GPUs, 0 for a host image. */
#define REX_ON_GPU 1
/** REX_DEVICE: in front of a function that kernels call. */
#define REX_DEVICE static __device__ __forceinline__
#else
#define REX_ON_GPU 0
#define REX_DEVICE static inline __attribute__((__unused__))
#endif

/*
 * ---- Arguments --------------------------------------------------------------------------------
 */

/**
 * rex_arg: a kernel parameter that carries a scalar of at most 8 bytes by value. Read it with the
 * accessors below.
 */
typedef uint64_t rex_arg;

#ifdef __CUDACC__
/** struct rex_kind_of: what stands for a parameter's type in a signature: see rex_kinds. */
template <class type> struct rex_kind_of {
    static constexpr unsigned value = REX_KIND_VALUE | (unsigned)sizeof(type) << 8;
};
template <class type> struct rex_kind_of<type *> {
    static constexpr unsigned value = REX_KIND_POINTER;
};
template <class type> struct rex_kind_of<type *__restrict__> {
    static constexpr unsigned value = REX_KIND_POINTER;
};
#define REX_KIND_IS(type, number)                 \
    template <> struct rex_kind_of<type> {        \
        static constexpr unsigned value = number; \
    }
/** float by value, 4 bytes. */
REX_KIND_IS(float, REX_KIND_FLOATING | 4 << 8);
/** double by value, 8 bytes. */
REX_KIND_IS(double, REX_KIND_FLOATING | 8 << 8);
/** rex_arg. */
REX_KIND_IS(rex_arg, REX_KIND_WORD);
#define REX_ARG_TYPE(name, kind)                            \
    struct name {                                           \
        rex_arg packed;                                     \
        __device__ __forceinline__ operator rex_arg() const \
        {                                                   \
            return packed;                                  \
        }                                                   \
    };                                                      \
    REX_KIND_IS(name, kind)
#else
#define REX_ARG_TYPE(name, kind) typedef rex_arg name
#endif

/*
 * A `rex_arg` whose value has one type, which is in the kernel's signature: librex refuses a launch
 * whose value is of another width, or of another type where the program says which (REX_VALUE()).
 * For CUDA C++ each is a type of its own, and becomes a rex_arg where one is wanted.
 */
/** rex_arg_i8: carries an int8_t; read it with rex_arg_int8(). */
REX_ARG_TYPE(rex_arg_i8, REX_KIND_I8);
/** rex_arg_u8: carries a uint8_t; rex_arg_uint8(). */
REX_ARG_TYPE(rex_arg_u8, REX_KIND_U8);
/** rex_arg_i16: carries an int16_t; rex_arg_int16(). */
REX_ARG_TYPE(rex_arg_i16, REX_KIND_I16);
/** rex_arg_u16: carries a uint16_t; rex_arg_uint16(). */
REX_ARG_TYPE(rex_arg_u16, REX_KIND_U16);
/** rex_arg_i32: carries an int32_t; rex_arg_int32(). */
REX_ARG_TYPE(rex_arg_i32, REX_KIND_I32);
/** rex_arg_u32: carries a uint32_t; rex_arg_uint32(). */
REX_ARG_TYPE(rex_arg_u32, REX_KIND_U32);
/** rex_arg_i64: carries an int64_t; rex_arg_int(). */
REX_ARG_TYPE(rex_arg_i64, REX_KIND_I64);
/** rex_arg_u64: carries a uint64_t; rex_arg_uint(). */
REX_ARG_TYPE(rex_arg_u64, REX_KIND_U64);
/** rex_arg_f32: carries a float; rex_arg_float(). */
REX_ARG_TYPE(rex_arg_f32, REX_KIND_F32);
/** rex_arg_f64: carries a double; rex_arg_double(). */
REX_ARG_TYPE(rex_arg_f64, REX_KIND_F64);
/** rex_arg_b: carries a bool; rex_arg_bool(). */
REX_ARG_TYPE(rex_arg_b, REX_KIND_BOOL);
#undef REX_ARG_TYPE
#undef REX_KIND_IS

/** rex_arg_int(): the parameter as a signed integer packed as 8 bytes. */
REX_DEVICE int64_t rex_arg_int(rex_arg arg)
{
    return (int64_t)arg;
}

/** rex_arg_int32(): the parameter as an `int32_t` packed as 4 bytes. */
REX_DEVICE int32_t rex_arg_int32(rex_arg arg)
{
    return (int32_t)(uint32_t)arg;
}

/** rex_arg_int16(): the parameter as an `int16_t` packed as 2 bytes. */
REX_DEVICE int16_t rex_arg_int16(rex_arg arg)
{
    return (int16_t)(uint16_t)arg;
}

/** rex_arg_int8(): the parameter as an `int8_t`, a `signed char`, packed as 1 byte. */
REX_DEVICE int8_t rex_arg_int8(rex_arg arg)
{
    return (int8_t)(uint8_t)arg;
}

/** rex_arg_char(): the parameter as a `char`. */
REX_DEVICE char rex_arg_char(rex_arg arg)
{
    return (char)(unsigned char)arg;
}

/** rex_arg_uint(): the parameter as an unsigned integer packed as 8 bytes. */
REX_DEVICE uint64_t rex_arg_uint(rex_arg arg)
{
    return arg;
}

/** rex_arg_uint32(): the parameter as a `uint32_t` packed as 4 bytes. */
REX_DEVICE uint32_t rex_arg_uint32(rex_arg arg)
{
    return (uint32_t)arg;
}

/** rex_arg_uint16(): the parameter as a `uint16_t` packed as 2 bytes. */
REX_DEVICE uint16_t rex_arg_uint16(rex_arg arg)
{
    return (uint16_t)arg;
}

/** rex_arg_uint8(): the parameter as a `uint8_t` packed as 1 byte. */
REX_DEVICE uint8_t rex_arg_uint8(rex_arg arg)
{
    return (uint8_t)arg;
}

/** rex_arg_bool(): the parameter as a `bool` packed as 1 byte. */
REX_DEVICE bool rex_arg_bool(rex_arg arg)
{
    return (uint8_t)arg != 0;
}

/** rex_arg_float(): the parameter as a `float` packed as 4 bytes. */
REX_DEVICE float rex_arg_float(rex_arg arg)
{
    uint32_t bits = (uint32_t)arg;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** rex_arg_double(): the parameter as a `double`. */
REX_DEVICE double rex_arg_double(rex_arg arg)
{
    double value;
    memcpy(&value, &arg, sizeof value);
    return value;
}

/**
 * REX_ARG_COPY(destination, arg): copies @arg, a `rex_arg` variable, into a variable of any type of
 * at most 8 bytes (a small struct).
 */
#define REX_ARG_COPY(destination, arg) memcpy(&(destination), &(arg), sizeof(destination))

/*
 * ---- Grid -------------------------------------------------------------------------------------
 */

#if REX_ON_GPU
#define REX_OF_DIMENSION(v, dimension) ((dimension) == 0 ? (v).x : (dimension) == 1 ? (v).y : (v).z)
#else
/* Component of a CUDA dim3; on the host device 0, since one thread runs everything. */
#define REX_OF_DIMENSION(v, dimension) ((void)(dimension), 0u)
#endif

/** rex_team(): index of this team (block) in @dimension 0 (x), 1 (y) or 2 (z). */
REX_DEVICE int64_t rex_team(int dimension)
{
    return (int64_t)REX_OF_DIMENSION(blockIdx, dimension);
}

/** rex_thread(): index of this thread in its team. */
REX_DEVICE int64_t rex_thread(int dimension)
{
    return (int64_t)REX_OF_DIMENSION(threadIdx, dimension);
}

/** rex_num_teams(): number of teams in @dimension; 1 on the host device. */
REX_DEVICE int64_t rex_num_teams(int dimension)
{
    return REX_ON_GPU ? (int64_t)REX_OF_DIMENSION(gridDim, dimension) : 1;
}

/** rex_num_threads(): number of threads of a team in @dimension; 1 on the host device. */
REX_DEVICE int64_t rex_num_threads(int dimension)
{
    return REX_ON_GPU ? (int64_t)REX_OF_DIMENSION(blockDim, dimension) : 1;
}

#undef REX_OF_DIMENSION

/*
 * ---- Loops ------------------------------------------------------------------------------------
 *
 * The statement or block that follows runs once for every index, whatever grid was launched.
 * Variables that the body writes belong inside it: a host image compiled with -fopenmp runs the
 * indices on several threads. Bounds are evaluated more than once. The body must not leave the loop
 * with break, goto or return. On a grid of one dimension every thread runs the outer loops whole.
 */

/**
 * REX_GRID_STRIDE(i, n, d): a loop over 0 <= i < n that strides by the whole grid in dimension d.
 */
#define REX_GRID_STRIDE(i, n, d)                                                         \
    for (int64_t i = rex_team(d) * rex_num_threads(d) + rex_thread(d); i < (int64_t)(n); \
         i += rex_num_teams(d) * rex_num_threads(d))

/**
 * rex_not_inside_REX_FOR(): nothing: what all threads of a team have to come to calls it. In the
 * loops below a variable has its name, so that a compiler refuses a barrier there.
 */
REX_DEVICE void rex_not_inside_REX_FOR(void)
{
}

/** REX_WITHOUT_BARRIER: in front of a statement that may not have one. */
#define REX_WITHOUT_BARRIER \
    for (int rex_not_inside_REX_FOR = 0; rex_not_inside_REX_FOR == 0; rex_not_inside_REX_FOR = 1)

#if REX_ON_GPU || !defined(_OPENMP)
/** REX_FOR(i, n): for every i in [0, n), over x. */
#define REX_FOR(i, n) REX_GRID_STRIDE(i, n, 0) REX_WITHOUT_BARRIER
/** REX_FOR_2D(i, ni, j, nj): for every pair; j, the faster index, over x and i over y. */
#define REX_FOR_2D(i, ni, j, nj) \
    REX_GRID_STRIDE(i, ni, 1) REX_GRID_STRIDE(j, nj, 0) REX_WITHOUT_BARRIER
/** REX_FOR_3D(i, ni, j, nj, k, nk): for every triple; k over x, j over y, i over z. */
#define REX_FOR_3D(i, ni, j, nj, k, nk) \
    REX_GRID_STRIDE(i, ni, 2)           \
    REX_GRID_STRIDE(j, nj, 1) REX_GRID_STRIDE(k, nk, 0) REX_WITHOUT_BARRIER
#else
/**
 * REX_COUNT(i, n): a plain loop over 0 <= i < n, in the form that OpenMP's loop constructs ask for.
 */
#define REX_COUNT(i, n) for (int64_t i = 0; i < (int64_t)(n); i++)
#define REX_FOR(i, n) _Pragma("omp parallel for") REX_COUNT(i, n) REX_WITHOUT_BARRIER
#define REX_FOR_2D(i, ni, j, nj) \
    _Pragma("omp parallel for collapse(2)") REX_COUNT(i, ni) REX_COUNT(j, nj) REX_WITHOUT_BARRIER
#define REX_FOR_3D(i, ni, j, nj, k, nk)                                                        \
    _Pragma("omp parallel for collapse(3)") REX_COUNT(i, ni) REX_COUNT(j, nj) REX_COUNT(k, nk) \
        REX_WITHOUT_BARRIER
#endif

#include "rex/reduce.h"

/*
 * ---- Kernels and globals ----------------------------------------------------------------------
 */

#ifdef __cplusplus
/**
 * REX_DEVICE_LINKAGE: C linkage, visible outside the image; protected, so that a symbol of the same
 * name in the host program does not take its place.
 */
#define REX_DEVICE_LINKAGE extern "C" __attribute__((__visibility__("protected")))
#else
#define REX_DEVICE_LINKAGE extern __attribute__((__visibility__("protected")))
#endif

#if REX_ON_GPU
#define REX_DEVICE_ENTRY(symbol, address, bytes)

/**
 * struct rex_kinds: never defined: its name in the image tells a kernel's form, 0 for plain and 1
 * for env, and then of each parameter its `enum rex_kind`, with the bytes of one by value above
 * bit 8.
 */
template <unsigned... numbers> struct rex_kinds;

/** struct rex_signature: of a kernel's form and type, the pointer to its rex_kinds. */
template <unsigned form, class kernel> struct rex_signature;
/** void: what a kernel returns. */
template <unsigned form, class... parameters> struct rex_signature<form, void(parameters...)> {
    typedef rex_kinds<form, rex_kind_of<parameters>::value...> *rex_pointer;
};

/**
 * REX_SIGNATURE(kernel, form, parameters...): an empty kernel whose mangled name is the signature
 * of @kernel: it takes no memory of a device, and stays with the other kernels whatever compiles
 * and links them.
 */
#define REX_SIGNATURE(kernel, form, ...)                     \
    extern "C++" __global__ void rex_signature_##kernel(     \
        rex_signature<form, void(__VA_ARGS__)>::rex_pointer) \
    {                                                        \
    }
#define REX_DEVICE_KERNEL_STEM(S, ...)         \
    REX_SIGNATURE(S##kernel__, 0, __VA_ARGS__) \
    extern "C" __global__ void S##kernel__(__VA_ARGS__)
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...)     \
    REX_SIGNATURE(S##kernel__, 1, __VA_ARGS__) \
    extern "C" __global__ void S##kernel__([[maybe_unused]] void *rex_environment, ##__VA_ARGS__)
/* A variable at file scope is not mangled; extern "C" in front makes nvcc warn. */
#define REX_DEVICE_GLOBAL(type, name) __device__ type name
#else

/**
 * struct rex_device_entry: a row of a host image's own entry table; the layout of `struct
 * __tgt_offload_entry`.
 */
struct rex_device_entry {
    void *addr;       /**< function or variable. */
    const char *name; /**< its name. */
    size_t size;      /**< 0 for a kernel, bytes of a global. */
    int32_t flags;    /**< 0. */
    int32_t reserved; /**< 0. */
};

/**
 * REX_DEVICE_ENTRY(symbol, address, bytes): a row of a host image's entry table. LLVM 14 and 15
 * match the rows of host program and host image by position; librex reads this table and orders the
 * program's rows after it.
 */
#define REX_DEVICE_ENTRY(symbol, address, bytes)                                             \
    static struct rex_device_entry rex_entry_of_##symbol                                     \
        __attribute__((__section__("omp_offloading_entries"), __used__, __aligned__(8))) = { \
            (void *)(uintptr_t)(address), #symbol, (bytes), 0, 0};

/** REX_WORDS_4(w): four words of an array, as arguments. */
#define REX_WORDS_4(w) (w)[0], (w)[1], (w)[2], (w)[3]
/** REX_WORDS_16(w): sixteen. */
#define REX_WORDS_16(w) \
    REX_WORDS_4(w), REX_WORDS_4((w) + 4), REX_WORDS_4((w) + 8), REX_WORDS_4((w) + 12)
/** REX_WORDS_64(w): sixty-four. */
#define REX_WORDS_64(w) \
    REX_WORDS_16(w), REX_WORDS_16((w) + 16), REX_WORDS_16((w) + 32), REX_WORDS_16((w) + 48)
/** REX_WORDS_256(w): two hundred and fifty-six. */
#define REX_WORDS_256(w) \
    REX_WORDS_64(w), REX_WORDS_64((w) + 64), REX_WORDS_64((w) + 128), REX_WORDS_64((w) + 192)
/** REX_TIMES_4(type): four parameters of one type. */
#define REX_TIMES_4(type) type, type, type, type
/** REX_TIMES_16(type): sixteen. */
#define REX_TIMES_16(type) \
    REX_TIMES_4(type), REX_TIMES_4(type), REX_TIMES_4(type), REX_TIMES_4(type)
/** REX_TIMES_64(type): sixty-four. */
#define REX_TIMES_64(type) \
    REX_TIMES_16(type), REX_TIMES_16(type), REX_TIMES_16(type), REX_TIMES_16(type)
/** REX_TIMES_256(type): two hundred and fifty-six. */
#define REX_TIMES_256(type) \
    REX_TIMES_64(type), REX_TIMES_64(type), REX_TIMES_64(type), REX_TIMES_64(type)

/** REX_MOST_PARAMETERS: of a kernel that LLVM 18, 23 or 24 runs on the host device. */
#define REX_MOST_PARAMETERS 256

/**
 * rex_device_parameters(): how many parameters there are in @text, the declarations between a
 * kernel's parentheses.
 */
REX_DEVICE unsigned rex_device_parameters(const char *text)
{
    unsigned commas = 0;
    int depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        depth += strchr("([{<", *at) != NULL;
        depth -= strchr(")]}>", *at) != NULL;
        commas += *at == ',' && depth == 0;
    }
    return *text == '\0' || strcmp(text, "void") == 0 ? 0 : commas + 1;
}

/**
 * rex_device_call_words(): calls @kernel with the first @count of @words, and words of no meaning
 * behind them, which the kernel does not look at.
 */
__attribute__((__unused__, __noinline__, __no_sanitize__("undefined"))) static void
rex_device_call_words(void (*kernel)(void), const uint64_t *words, unsigned count)
{
    /* No compiler should see which function gets more than it has parameters for. */
    void (*volatile code)(void) = kernel;
    if (count <= 4)
        ((void (*)(REX_TIMES_4(uint64_t)))code)(REX_WORDS_4(words));
    else if (count <= 16)
        ((void (*)(REX_TIMES_16(uint64_t)))code)(REX_WORDS_16(words));
    else if (count <= 64)
        ((void (*)(REX_TIMES_64(uint64_t)))code)(REX_WORDS_64(words));
    else
        ((void (*)(REX_TIMES_256(uint64_t), REX_TIMES_4(uint64_t)))code)(REX_WORDS_256(words),
                                                                         REX_WORDS_4(words + 256));
}

/**
 * rex_device_call(): calls @kernel with what libomptarget gave the function that stands for it:
 * from LLVM 23 on @cells, an array of pointers to arguments; in 18 -1 for @cells, and then the
 * arguments. @env is 1 where the kernel's first parameter is the runtime's.
 */
REX_DEVICE void rex_device_call(void (*kernel)(void), unsigned env, const char *parameters,
                                void **cells, va_list arguments)
{
    uint64_t words[REX_MOST_PARAMETERS + 4] = {0};
    unsigned count = rex_device_parameters(parameters);
    count = count < REX_MOST_PARAMETERS ? count : REX_MOST_PARAMETERS;
    words[0] = ~(uint64_t)0;
    for (unsigned i = 0; i < count; i++)
        if ((uintptr_t)cells == ~(uintptr_t)0)
            words[env + i] = va_arg(arguments, uint64_t);
        else
            memcpy(&words[env + i], cells[i], sizeof words[0]);
    rex_device_call_words(kernel, words, env + count);
}

/**
 * REX_DEVICE_CALL(name, env, parameters...): the function `rex_call_NAME`, which librex has the
 * host device of LLVM 18, 23 and 24 call in the place of kernel @name. Its first parameter tells
 * how those call: rex_device_call().
 */
#define REX_DEVICE_CALL(name, env, ...)                                                       \
    REX_DEVICE_LINKAGE void rex_call_##name(void **rex_cells, ...);                           \
    void rex_call_##name(void **rex_cells, ...)                                               \
    {                                                                                         \
        __builtin_va_list rex_arguments;                                                      \
        __builtin_va_start(rex_arguments, rex_cells);                                         \
        rex_device_call((void (*)(void))name, (env), #__VA_ARGS__, rex_cells, rex_arguments); \
        __builtin_va_end(rex_arguments);                                                      \
    }

/**
 * REX_SIGNATURE(kernel, form, parameters...): the form and the parameters of @kernel as text, which
 * librex reads.
 */
#define REX_SIGNATURE(kernel, form, ...)                    \
    REX_DEVICE_LINKAGE const char rex_signature_##kernel[]; \
    const char rex_signature_##kernel[] = #form "(" #__VA_ARGS__ ")";

/**
 * REX_DEVICE_KERNEL_STEM(S, parameters...): head of the plain kernel `S##kernel__`; its body
 * follows. At least one parameter; a kernel without any says `void`.
 */
#define REX_DEVICE_KERNEL_STEM(S, ...)                \
    REX_SIGNATURE(S##kernel__, 0, __VA_ARGS__)        \
    REX_DEVICE_LINKAGE void S##kernel__(__VA_ARGS__); \
    REX_DEVICE_ENTRY(S##kernel__, &S##kernel__, 0)    \
    REX_DEVICE_CALL(S##kernel__, 0, __VA_ARGS__)      \
    void S##kernel__(__VA_ARGS__)

/**
 * REX_DEVICE_KERNEL_ENV_STEM(S, parameters...): head of the env kernel `S##kernel__`: the runtime's
 * parameter, `rex_environment`, is put in front of those given.
 */
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...)                                     \
    REX_SIGNATURE(S##kernel__, 1, __VA_ARGS__)                                 \
    REX_DEVICE_LINKAGE void S##kernel__(void *rex_environment, ##__VA_ARGS__); \
    REX_DEVICE_ENTRY(S##kernel__, &S##kernel__, 0)                             \
    REX_DEVICE_CALL(S##kernel__, 1, ##__VA_ARGS__)                             \
    void S##kernel__(__attribute__((__unused__)) void *rex_environment, ##__VA_ARGS__)

/**
 * REX_DEVICE_GLOBAL(type, name): defines a device global; an initialiser may follow. The host side
 * is REX_GLOBAL(name).
 */
#define REX_DEVICE_GLOBAL(type, name)           \
    REX_DEVICE_LINKAGE type name;               \
    REX_DEVICE_ENTRY(name, &name, sizeof(type)) \
    type name
#endif

/** REX_POINTER_TO(type): the type of a pointer to @type, arrays included. */
#define REX_POINTER_TO(type) __typeof__(type) *
/**
 * REX_DEVICE_GLOBAL_LINK(type, name): defines the device's pointer to a global of
 * REX_GLOBAL_LINK(type, name). Kernels reach the global through REX_DEVICE_LINKED(name).
 */
#define REX_DEVICE_GLOBAL_LINK(type, name) \
    REX_DEVICE_GLOBAL(REX_POINTER_TO(type), name##_decl_tgt_ref_ptr)
/** REX_DEVICE_LINKED(name): a global of REX_DEVICE_GLOBAL_LINK(), while it is mapped. */
#define REX_DEVICE_LINKED(name) (*name##_decl_tgt_ref_ptr)

/**
 * REX_DEVICE_KERNEL(name, parameters...): head of the plain kernel of REX_KERNEL(name),
 * "name__kernel__".
 */
#define REX_DEVICE_KERNEL(name, ...) REX_DEVICE_KERNEL_STEM(name##__, __VA_ARGS__)

/** REX_DEVICE_KERNEL_ENV(name, parameters...): head of the env kernel of REX_KERNEL(name). */
#define REX_DEVICE_KERNEL_ENV(name, ...) REX_DEVICE_KERNEL_ENV_STEM(name##__, ##__VA_ARGS__)

#include "rex/detail_pop.h"

#endif
