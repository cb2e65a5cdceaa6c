/*
 * rex/clangmath.h - functions of <math.h> for a clang that compiles kernels without the CUDA
 * toolkit. rex/clang.h includes this header.
 *
 * As in C++, each name is overloaded for double and float. A name with an f after it, such as
 * sqrtf(), is for float only. Arguments of other types, or of two types, are computed in double.
 * But all arguments of fma(), abs(), min(), max(), lrint(), llrint(), lround() and llround() must
 * have one type: double or float. min() and max() also take an integer type, abs() a signed integer
 * type.
 *
 * Everything here is since 0.2.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_CLANGMATH_H
#define REX_CLANGMATH_H

#ifndef REX_CLANG_H
#error "rex/clangmath.h is a part of rex/kernel.h: include that"
#endif

/* rex_in_double<types>::type is double for any types. Arguments of the types become doubles. */
template <class...> struct rex_in_double {
    typedef double type;
};

#define REX_MATH_1(name, as, in_double, in_float)           \
    REX_CUDA double name(double x)                          \
    {                                                       \
        return in_double;                                   \
    }                                                       \
    REX_CUDA float name(float x)                            \
    {                                                       \
        return in_float;                                    \
    }                                                       \
    REX_CUDA float as(float x)                              \
    {                                                       \
        return in_float;                                    \
    }                                                       \
    template <class type> REX_CUDA double name(type x)      \
    {                                                       \
        return name((typename rex_in_double<type>::type)x); \
    }
#define REX_MATH_2(name, as, in_double, in_float)                          \
    REX_CUDA double name(double x, double y)                               \
    {                                                                      \
        return in_double;                                                  \
    }                                                                      \
    REX_CUDA float name(float x, float y)                                  \
    {                                                                      \
        return in_float;                                                   \
    }                                                                      \
    REX_CUDA float as(float x, float y)                                    \
    {                                                                      \
        return in_float;                                                   \
    }                                                                      \
    template <class type, class last> REX_CUDA double name(type x, last y) \
    {                                                                      \
        typedef typename rex_in_double<type, last>::type rex_type;         \
        return name((rex_type)x, (rex_type)y);                             \
    }

/* Functions that need no libdevice: clang computes each by a few instructions. */
#define REX_MATH_BUILTIN_1(name) \
    REX_MATH_1(name, name##f, __builtin_##name(x), __builtin_##name##f(x))
#define REX_MATH_BUILTIN_2(name) \
    REX_MATH_2(name, name##f, __builtin_##name(x, y), __builtin_##name##f(x, y))
/**
 * ceil(), copysign(), fabs(), fdim(), floor(), fmax(), fmin(), nearbyint(), rint(), round(),
 * sqrt(), trunc(): as in C.
 */
REX_MATH_BUILTIN_1(ceil)
REX_MATH_BUILTIN_1(fabs)
REX_MATH_BUILTIN_1(floor)
REX_MATH_BUILTIN_1(nearbyint)
REX_MATH_BUILTIN_1(rint)
REX_MATH_BUILTIN_1(round)
REX_MATH_BUILTIN_1(sqrt)
REX_MATH_BUILTIN_1(trunc)
REX_MATH_BUILTIN_2(copysign)
REX_MATH_BUILTIN_2(fmax)
REX_MATH_BUILTIN_2(fmin)
REX_MATH_2(fdim, fdimf, x <= y ? 0 : x - y, x <= y ? 0 : x - y)
#undef REX_MATH_BUILTIN_1
#undef REX_MATH_BUILTIN_2

/** fma(): for double. */
REX_CUDA double fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}

/** fma(): for float. */
REX_CUDA float fma(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

/** fmaf(): for float. */
REX_CUDA float fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

#define REX_TO_INTEGER(name, type, number, rounded) \
    REX_CUDA type name(number x)                    \
    {                                               \
        return (type)rounded(x);                    \
    }
#define REX_TO_INTEGERS(name, type, rounded)    \
    REX_TO_INTEGER(name, type, double, rounded) \
    REX_TO_INTEGER(name, type, float, rounded)  \
    REX_TO_INTEGER(name##f, type, float, rounded)
/** lrint(), llrint(), lround(), llround(): as in C. */
REX_TO_INTEGERS(lrint, long, rint)
REX_TO_INTEGERS(llrint, long long, rint)
REX_TO_INTEGERS(lround, long, round)
REX_TO_INTEGERS(llround, long long, round)
#undef REX_TO_INTEGERS
#undef REX_TO_INTEGER

/* Functions for floating-point numbers. rex/clang.h has functions of these names for integers. */
#define REX_MATH_LIKE_INTEGERS(type)  \
    REX_CUDA type abs(type x)         \
    {                                 \
        return fabs(x);               \
    }                                 \
    REX_CUDA type min(type x, type y) \
    {                                 \
        return fmin(x, y);            \
    }                                 \
    REX_CUDA type max(type x, type y) \
    {                                 \
        return fmax(x, y);            \
    }
REX_MATH_LIKE_INTEGERS(double)
REX_MATH_LIKE_INTEGERS(float)
#undef REX_MATH_LIKE_INTEGERS

#ifdef REX_LIBDEVICE
#define REX_LIBDEVICE_1(name)                          \
    extern "C" __device__ double __nv_##name(double);  \
    extern "C" __device__ float __nv_##name##f(float); \
    REX_MATH_1(name, name##f, __nv_##name(x), __nv_##name##f(x))
#define REX_LIBDEVICE_2(name)                                 \
    extern "C" __device__ double __nv_##name(double, double); \
    extern "C" __device__ float __nv_##name##f(float, float); \
    REX_MATH_2(name, name##f, __nv_##name(x, y), __nv_##name##f(x, y))
#else
#define REX_NO_LIBDEVICE(name) \
    REX_REFUSED(name "() is not an instruction of a GPU: use nvcc, or the CUDA toolkit's libdevice")
#define REX_LIBDEVICE_1(name)                                    \
    __device__ REX_NO_LIBDEVICE(#name) double name(double);      \
    __device__ REX_NO_LIBDEVICE(#name) float name(float);        \
    __device__ REX_NO_LIBDEVICE(#name "f") float name##f(float); \
    template <class type> __device__ REX_NO_LIBDEVICE(#name) double name(type);
#define REX_LIBDEVICE_2(name)                                           \
    __device__ REX_NO_LIBDEVICE(#name) double name(double, double);     \
    __device__ REX_NO_LIBDEVICE(#name) float name(float, float);        \
    __device__ REX_NO_LIBDEVICE(#name "f") float name##f(float, float); \
    template <class type, class last> __device__ REX_NO_LIBDEVICE(#name) double name(type, last);
#endif
REX_LIBDEVICE_1(acos)
REX_LIBDEVICE_1(acosh)
REX_LIBDEVICE_1(asin)
REX_LIBDEVICE_1(asinh)
REX_LIBDEVICE_1(atan)
REX_LIBDEVICE_1(atanh)
REX_LIBDEVICE_1(cbrt)
REX_LIBDEVICE_1(cos)
REX_LIBDEVICE_1(cosh)
REX_LIBDEVICE_1(erf)
REX_LIBDEVICE_1(erfc)
REX_LIBDEVICE_1(exp)
REX_LIBDEVICE_1(exp2)
REX_LIBDEVICE_1(expm1)
REX_LIBDEVICE_1(lgamma)
REX_LIBDEVICE_1(log)
REX_LIBDEVICE_1(log10)
REX_LIBDEVICE_1(log1p)
REX_LIBDEVICE_1(log2)
REX_LIBDEVICE_1(rsqrt)
REX_LIBDEVICE_1(sin)
REX_LIBDEVICE_1(sinh)
REX_LIBDEVICE_1(tan)
REX_LIBDEVICE_1(tanh)
REX_LIBDEVICE_1(tgamma)
REX_LIBDEVICE_2(atan2)
REX_LIBDEVICE_2(fmod)
REX_LIBDEVICE_2(pow)
REX_LIBDEVICE_2(remainder)
#ifdef REX_LIBDEVICE
/*
 * __nv_hypotf() uses an approximate square root if the compiler is not nvcc. So hypotf() is
 * computed in double.
 */
extern "C" __device__ double __nv_hypot(double, double);
/** hypot(): as in C. */
REX_MATH_2(hypot, hypotf, __nv_hypot(x, y), (float)__nv_hypot(x, y))
#else
REX_LIBDEVICE_2(hypot)
#endif

#undef REX_LIBDEVICE_2
#undef REX_LIBDEVICE_1
#undef REX_NO_LIBDEVICE
#undef REX_MATH_2
#undef REX_MATH_1

#endif
