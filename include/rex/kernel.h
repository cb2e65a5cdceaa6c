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
 *     cc -x c -shared -fPIC -o rex_lib_host.so axpy.cu             for libomptarget's host device
 *     cc -x c -shared -fPIC -fopenmp -o rex_lib_host.so axpy.cu    the same on all cores
 *
 * **Every parameter is 8 bytes wide**: a pointer, or a scalar carried in a `rex_arg`. LLVM 19 to 22
 * pack arguments into 8-byte slots and tell the driver nothing about their size, so that two
 * neighbouring `int` parameters share a slot there: the kernel gets wrong values without a word
 * (22) or the launch aborts (19). librex refuses such a launch; rex_queue_launch() passes any width
 * to a GPU. On the host device a `double` parameter would be looked for in a floating-point
 * register, where libomptarget puts nothing.
 *
 * **Plain and env**: a *plain* kernel has exactly the parameters that the packet has rows for
 * (REX_DEVICE_KERNEL). An *env* kernel has one more in front, which LLVM's runtime fills with the
 * address of its launch environment or -1 (REX_DEVICE_KERNEL_ENV; what clang emits from 18 on, and
 * what the REX compiler emits). librex tells them apart and sends what the release needs; LLVM 18
 * always passes the extra parameter, so there only env kernels run. These macros mark which one a
 * kernel is, with one byte of device memory, so that a launch with one row too few is an error; a
 * kernel without a mark is told by the number of its parameters, and one row too few for a plain
 * one looks like an env one.
 *
 * **The host device runs a kernel function once**, whatever grid was asked for: rex_num_teams() and
 * rex_num_threads() are 1 there. A kernel whose loops are REX_FOR is right on both; one that
 * derives a single index from its thread number is not.
 *
 * The source may be CUDA C++ (nvcc) or C11.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KERNEL_H
#define REX_KERNEL_H

#include "rex/detail_push.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
/** REX_ON_GPU: 1 when nvcc compiles, 0 for a host image. */
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

#if REX_ON_GPU || !defined(_OPENMP)
/** REX_FOR(i, n): for every i in [0, n), over x. */
#define REX_FOR(i, n) REX_GRID_STRIDE(i, n, 0)
/** REX_FOR_2D(i, ni, j, nj): for every pair; j, the faster index, over x and i over y. */
#define REX_FOR_2D(i, ni, j, nj) REX_GRID_STRIDE(i, ni, 1) REX_GRID_STRIDE(j, nj, 0)
/** REX_FOR_3D(i, ni, j, nj, k, nk): for every triple; k over x, j over y, i over z. */
#define REX_FOR_3D(i, ni, j, nj, k, nk) \
    REX_GRID_STRIDE(i, ni, 2) REX_GRID_STRIDE(j, nj, 1) REX_GRID_STRIDE(k, nk, 0)
#else
/**
 * REX_COUNT(i, n): a plain loop over 0 <= i < n, in the form that OpenMP's loop constructs ask for.
 */
#define REX_COUNT(i, n) for (int64_t i = 0; i < (int64_t)(n); i++)
#define REX_FOR(i, n) _Pragma("omp parallel for") REX_COUNT(i, n)
#define REX_FOR_2D(i, ni, j, nj) \
    _Pragma("omp parallel for collapse(2)") REX_COUNT(i, ni) REX_COUNT(j, nj)
#define REX_FOR_3D(i, ni, j, nj, k, nk) \
    _Pragma("omp parallel for collapse(3)") REX_COUNT(i, ni) REX_COUNT(j, nj) REX_COUNT(k, nk)
#endif

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
/*
 * The byte in front, rex_plain_NAME or rex_env_NAME, says in the CUBIN which of the two the kernel
 * is. In a namespace its name is mangled, and the kernel is as one of another origin.
 */
#define REX_DEVICE_KERNEL_STEM(S, ...)                \
    __device__ unsigned char rex_plain_##S##kernel__; \
    extern "C" __global__ void S##kernel__(__VA_ARGS__)
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...)          \
    __device__ unsigned char rex_env_##S##kernel__; \
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

/**
 * REX_DEVICE_KERNEL_STEM(S, parameters...): head of the plain kernel `S##kernel__`; its body
 * follows. At least one parameter; a kernel without any says `void`. The symbol
 * `rex_plain_S##kernel__` says so in a CUBIN; a kernel of a host image without a symbol is plain.
 */
#define REX_DEVICE_KERNEL_STEM(S, ...)                \
    REX_DEVICE_LINKAGE void S##kernel__(__VA_ARGS__); \
    REX_DEVICE_ENTRY(S##kernel__, &S##kernel__, 0)    \
    void S##kernel__(__VA_ARGS__)

/**
 * REX_DEVICE_KERNEL_ENV_STEM(S, parameters...): head of the env kernel `S##kernel__`: the runtime's
 * parameter, `rex_environment`, is put in front of those given. The symbol `rex_env_S##kernel__`
 * says so in the image.
 */
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...)                                     \
    REX_DEVICE_LINKAGE const char rex_env_##S##kernel__;                       \
    const char rex_env_##S##kernel__ = 1;                                      \
    REX_DEVICE_LINKAGE void S##kernel__(void *rex_environment, ##__VA_ARGS__); \
    REX_DEVICE_ENTRY(S##kernel__, &S##kernel__, 0)                             \
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
