/*
 * rex/kinds.h - the kinds of kernel parameters and of a program's values.
 *
 * rex/kernel.h writes the kinds into device images. REX_VALUE() writes the kind of a value into its
 * row. rex/inspect.h reads the kinds of an image. Most programs use no name of this header.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KINDS_H
#define REX_KINDS_H

#include <stdbool.h>

/**
 * enum rex_kind: the kind of a kernel's parameter. REX_KIND_OF_TYPE() is the kind of a type. The
 * numbers never change, because device images contain them.
 */
enum rex_kind {
    REX_KIND_UNKNOWN = 0, /**< no signature, or a kind that librex does not know. */
    REX_KIND_POINTER = 1, /**< an address. */
    REX_KIND_VALUE = 3,   /**< another type, such as a struct or a `__half`, with its size. */
    REX_KIND_I8 = 5,      /**< int8_t. */
    REX_KIND_U8 = 6,      /**< uint8_t. */
    REX_KIND_I16 = 7,     /**< int16_t. */
    REX_KIND_U16 = 8,     /**< uint16_t. */
    REX_KIND_I32 = 9,     /**< int32_t. */
    REX_KIND_U32 = 10,    /**< uint32_t. */
    REX_KIND_I64 = 11,    /**< int64_t. */
    REX_KIND_U64 = 12,    /**< uint64_t. */
    REX_KIND_F32 = 13,    /**< float. */
    REX_KIND_F64 = 14,    /**< double. */
    REX_KIND_BOOL = 15    /**< bool. */
};

/* clang-format off */
/**
 * REX_EACH_KIND(is): `is(type, kind)` for float, double and the types of REX_EACH_INTEGER().
 * Example: `is(float, REX_KIND_F32)`.
 */
#define REX_EACH_KIND(is)    \
    REX_EACH_INTEGER(is)     \
    is(float, REX_KIND_F32)  \
    is(double, REX_KIND_F64)
/**
 * REX_EACH_INTEGER(is): `is(type, kind)` for char to unsigned long long and bool. Example: `is(int,
 * REX_KIND_I32)`. In C++ wchar_t, char8_t, char16_t, char32_t and volatile types except enums have
 * the kind of a struct.
 */
#define REX_EACH_INTEGER(is)                           \
    is(char, (char)-1 < 1 ? REX_KIND_I8 : REX_KIND_U8) \
    is(signed char, REX_KIND_I8)                       \
    is(unsigned char, REX_KIND_U8)                     \
    is(short, REX_KIND_I16)                            \
    is(unsigned short, REX_KIND_U16)                   \
    is(int, REX_KIND_I32)                              \
    is(unsigned, REX_KIND_U32)                         \
    is(long, REX_KIND_I64)                             \
    is(unsigned long, REX_KIND_U64)                    \
    is(long long, REX_KIND_I64)                        \
    is(unsigned long long, REX_KIND_U64)               \
    is(bool, REX_KIND_BOOL)
/* clang-format on */

#ifdef __cplusplus
extern "C++" {
/* struct rex_type_kind: its rex_number is REX_KIND_OF_TYPE() of @type. */
template <class type, bool rex_is_enum = __is_enum(type)> struct rex_type_kind {
    /* The kind of a struct, a union, or any other type without a template below. */
    static const unsigned rex_number = REX_KIND_VALUE | (unsigned)sizeof(type) << 8;
};
/* The kind of an enum is the kind of its integer type. */
template <class type> struct rex_type_kind<type, true> : rex_type_kind<__underlying_type(type)> {
};
/* A const type has the kind of the type without const. */
template <class type> struct rex_type_kind<const type, false> : rex_type_kind<type> {
};
/* The kind of a pointer. */
template <class type> struct rex_type_kind<type *, false> {
    static const unsigned rex_number = REX_KIND_POINTER;
};
/* The kind of a restrict pointer. */
template <class type> struct rex_type_kind<type *__restrict__, false> : rex_type_kind<type *> {
};
#define REX_KIND_IS(type, kind)                     \
    template <> struct rex_type_kind<type, false> { \
        static const unsigned rex_number = (kind);  \
    };
/* Defines the kind of each type of REX_EACH_KIND(). */
REX_EACH_KIND(REX_KIND_IS)
#undef REX_KIND_IS
}
/**
 * REX_KIND_OF_TYPE(type): the `enum rex_kind` of a type, an unsigned constant. An enum has the kind
 * of its integer type. If the kind is REX_KIND_VALUE, the bits from bit 8 on are the size in bytes:
 * for a struct of 4 bytes the result is `REX_KIND_VALUE | 4 << 8`.
 */
#define REX_KIND_OF_TYPE(...) (rex_type_kind<__typeof__(__VA_ARGS__)>::rex_number)
#else
/* REX_KIND_OF_TYPE(type) in C. */
#define REX_KIND_OF_TYPE(...) REX_EXPRESSION_KIND(*(__typeof__(__VA_ARGS__) *)0)
/**
 * REX_EXPRESSION_KIND(expression): the kind of the expression's type, in C; the expression is not
 * evaluated.
 */
#define REX_EXPRESSION_KIND(expression)                                    \
    ((unsigned)_Generic((expression), REX_EACH_KIND(REX_KIND_CASE) default \
                        : __builtin_classify_type(expression) == 5         \
                              ? REX_KIND_POINTER                           \
                              : REX_KIND_VALUE | sizeof(expression) << 8))
/* clang-format off */
/** REX_KIND_CASE(type, kind): an association of _Generic, such as `int:REX_KIND_I32,`. */
#define REX_KIND_CASE(type, kind) type:kind,
/* clang-format on */
#endif

#endif
