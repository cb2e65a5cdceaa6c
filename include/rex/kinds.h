/*
 * rex/kinds.h - the kinds of a kernel's parameters, as a kernel declares them and a program's
 * values have them. rex/kernel.h writes them into device images, rex/inspect.h reads them.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_KINDS_H
#define REX_KINDS_H

#include "rex/detail_push.h"

/**
 * enum rex_kind: what a kernel's parameter is. From REX_KIND_I8 on it is a scalar of that type, in
 * the low bytes of a parameter of 8: a `rex_arg_i8` and its kin (rex/kernel.h). The numbers are in
 * device images, and stay.
 */
enum rex_kind {
    REX_KIND_UNKNOWN = 0,  /**< nobody says: no signature, or a type that librex does not know. */
    REX_KIND_POINTER = 1,  /**< an address. */
    REX_KIND_WORD = 2,     /**< a `rex_arg`: any scalar of at most 8 bytes. */
    REX_KIND_VALUE = 3,    /**< by value, as wide as its type: an integer or a struct. */
    REX_KIND_FLOATING = 4, /**< a float or double by value: in a register of another sort. */
    REX_KIND_I8 = 5,       /**< int8_t. */
    REX_KIND_U8 = 6,       /**< uint8_t. */
    REX_KIND_I16 = 7,      /**< int16_t. */
    REX_KIND_U16 = 8,      /**< uint16_t. */
    REX_KIND_I32 = 9,      /**< int32_t. */
    REX_KIND_U32 = 10,     /**< uint32_t. */
    REX_KIND_I64 = 11,     /**< int64_t. */
    REX_KIND_U64 = 12,     /**< uint64_t. */
    REX_KIND_F32 = 13,     /**< float. */
    REX_KIND_F64 = 14,     /**< double. */
    REX_KIND_BOOL = 15     /**< bool. */
};

#include "rex/detail_pop.h"

#endif
