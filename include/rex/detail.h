/*
 * rex/detail.h - what the macros and inline functions of the other headers are made of. rex/map.h
 * includes it.
 *
 * A program that is written by hand needs none of it by name. The functions that take a module are
 * for code that has several, or one of its own: rex_launch() and its like pass this binary's.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_DETAIL_H
#define REX_DETAIL_H

#include "rex/detail_push.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/map.h"
#include "rex/module.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rex_kernel_launch;
struct rex_queue;

/*
 * ---- Rows -------------------------------------------------------------------------------------
 */

/**
 * rex_literal_error(): notes, for rex_last_error(), why rex_pack_literal_arg_bytes() cannot pack
 * @size bytes at @src: REX_EINVAL. Returns NULL.
 */
REX_API void *rex_literal_error(const void *src, size_t size);

/**
 * rex_literal_bits(): the bytes of a scalar as rex_pack_literal_arg_bytes() packs them, which see.
 */
static inline void *rex_literal_bits(const void *src, size_t size)
{
    void *value = NULL;
    if (size > sizeof value || (src == NULL && size > 0))
        return rex_literal_error(src, size);
    if (size > 0)
        memcpy(&value, src, size);
    return value;
}

/**
 * rex_row_bytes(): the bytes of @length elements of @element bytes each; -1, which librex refuses
 * in a row, where an int64_t cannot hold them. A raw launch does not look.
 */
static inline int64_t rex_row_bytes(int64_t length, size_t element)
{
    int64_t bytes;
    return __builtin_mul_overflow(length, element, &bytes) ? -1 : bytes;
}

/** rex_row_object(): a row of the @size bytes at @address, its base. */
static inline struct rex_row rex_row_object(const volatile void *address, size_t size, int64_t type)
{
    return rex_row_of(address, address, (int64_t)size, type);
}

/**
 * rex_row_value(): a literal row of the @size bytes at @value; a parameter. More than 8 bytes: as
 * rex_pack_literal_arg_bytes().
 */
static inline struct rex_row rex_row_value(const void *value, size_t size)
{
    void *bits = rex_literal_bits(value, size);
    return rex_row_of(bits, bits, (int64_t)size, REX_TYPE_LITERAL | REX_TYPE_PARAMETER);
}

#ifdef __cplusplus
extern "C++" { /* nvcc refuses the same in front of a single specialization */
/** struct rex_kind_of_value: rex_kind_told is the `enum rex_kind` of a value of a type. */
template <class type> struct rex_kind_of_value {
    enum { rex_kind_told = REX_KIND_UNKNOWN };
};
template <class type> struct rex_kind_of_value<type *> {
    enum { rex_kind_told = REX_KIND_POINTER };
};
#define REX_KIND_IS(type, number)                \
    template <> struct rex_kind_of_value<type> { \
        enum { rex_kind_told = number };         \
    };
/** REX_KIND_IS: the types that have kinds of their own. */
REX_KIND_IS(signed char, REX_KIND_I8)
REX_KIND_IS(unsigned char, REX_KIND_U8)
REX_KIND_IS(short, REX_KIND_I16)
REX_KIND_IS(unsigned short, REX_KIND_U16)
REX_KIND_IS(int, REX_KIND_I32)
REX_KIND_IS(unsigned, REX_KIND_U32)
REX_KIND_IS(long, REX_KIND_I64)
REX_KIND_IS(unsigned long, REX_KIND_U64)
REX_KIND_IS(long long, REX_KIND_I64)
REX_KIND_IS(unsigned long long, REX_KIND_U64)
REX_KIND_IS(float, REX_KIND_F32)
REX_KIND_IS(double, REX_KIND_F64)
REX_KIND_IS(bool, REX_KIND_BOOL)
#undef REX_KIND_IS
} /* extern "C++" */
/** REX_KIND_OF(value): the `enum rex_kind` of a variable's type; of others, 0. */
#define REX_KIND_OF(value) rex_kind_of_value<__typeof__(value)>::rex_kind_told
#else
/** REX_KIND_OF(value): likewise. */
#define REX_KIND_OF(value)                \
    _Generic((value),                     \
        signed char: REX_KIND_I8,         \
        unsigned char: REX_KIND_U8,       \
        short: REX_KIND_I16,              \
        unsigned short: REX_KIND_U16,     \
        int: REX_KIND_I32,                \
        unsigned: REX_KIND_U32,           \
        long: REX_KIND_I64,               \
        unsigned long: REX_KIND_U64,      \
        long long: REX_KIND_I64,          \
        unsigned long long: REX_KIND_U64, \
        float: REX_KIND_F32,              \
        double: REX_KIND_F64,             \
        bool: REX_KIND_BOOL,              \
        default: __builtin_classify_type(value) == 5 ? REX_KIND_POINTER : REX_KIND_UNKNOWN)
#endif

/** rex_row_with(): @row with the bits @type added. */
static inline struct rex_row rex_row_with(struct rex_row row, int64_t type)
{
    row.type |= type;
    return row;
}
/** rex_row_in_region(): @row for a data region, which has no parameters. */
static inline struct rex_row rex_row_in_region(struct rex_row row)
{
    row.type &= ~REX_TYPE_PARAMETER;
    return row;
}

/**
 * rex_row_base(): column 1 of @row, for macros, which name no field: a program may have a macro of
 * its name.
 */
static inline void *rex_row_base(const struct rex_row *row)
{
    return row->base;
}

/** rex_row_begin(): column 2 of @row. */
static inline void *rex_row_begin(const struct rex_row *row)
{
    return row->begin;
}

/** rex_row_size(): column 3 of @row. */
static inline int64_t rex_row_size(const struct rex_row *row)
{
    return row->size;
}

/** rex_row_type(): column 4 of @row. */
static inline int64_t rex_row_type(const struct rex_row *row)
{
    return row->type;
}

/** rex_map_count(): the rows of @map. */
static inline int32_t rex_map_count(const struct rex_map *map)
{
    return map->count;
}

/** rex_map_bases(): column 1 of @map. */
static inline void **rex_map_bases(const struct rex_map *map)
{
    return map->base;
}

/** rex_map_begins(): column 2 of @map. */
static inline void **rex_map_begins(const struct rex_map *map)
{
    return map->begin;
}

/** rex_map_sizes(): column 3 of @map. */
static inline int64_t *rex_map_sizes(const struct rex_map *map)
{
    return map->sizes;
}

/** rex_map_types(): column 4 of @map. */
static inline int64_t *rex_map_types(const struct rex_map *map)
{
    return map->types;
}

/** REX_ROWS_MAX: most rows of one REX_MAP(); more are built with rex_map_build(). */
#define REX_ROWS_MAX 64

/** REX_ROW_COUNT(rows...): how many rows there are, 1 to 64. */
#define REX_ROW_COUNT(...)                                                                        \
    REX_ROW_PICK(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, \
                 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28,  \
                 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, \
                 6, 5, 4, 3, 2, 1, 0)
/** REX_ROW_PICK(): the argument behind 64 others. */
#define REX_ROW_PICK(r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, \
                     r18, r19, r20, r21, r22, r23, r24, r25, r26, r27, r28, r29, r30, r31, r32,  \
                     r33, r34, r35, r36, r37, r38, r39, r40, r41, r42, r43, r44, r45, r46, r47,  \
                     r48, r49, r50, r51, r52, r53, r54, r55, r56, r57, r58, r59, r60, r61, r62,  \
                     r63, r64, n, ...)                                                           \
    n

/** REX_JOIN(a, b): one token, after both are expanded. */
#define REX_JOIN(a, b) REX_JOIN_EXPANDED(a, b)
/** REX_JOIN_EXPANDED(a, b): one token, of a and b as they are. */
#define REX_JOIN_EXPANDED(a, b) a##b

/** REX_EACH(m, name, rows...): m(name, number, row) for each row; numbers run down to 1. */
#define REX_EACH(m, name, ...) REX_JOIN(REX_EACH_, REX_ROW_COUNT(__VA_ARGS__))(m, name, __VA_ARGS__)
/**
 * REX_EACH_1, REX_EACH_2, REX_EACH_3, REX_EACH_4, REX_EACH_5, REX_EACH_6, REX_EACH_7, REX_EACH_8,
 * REX_EACH_9, REX_EACH_10, REX_EACH_11, REX_EACH_12, REX_EACH_13, REX_EACH_14, REX_EACH_15,
 * REX_EACH_16, REX_EACH_17, REX_EACH_18, REX_EACH_19, REX_EACH_20, REX_EACH_21, REX_EACH_22,
 * REX_EACH_23, REX_EACH_24, REX_EACH_25, REX_EACH_26, REX_EACH_27, REX_EACH_28, REX_EACH_29,
 * REX_EACH_30, REX_EACH_31, REX_EACH_32, REX_EACH_33, REX_EACH_34, REX_EACH_35, REX_EACH_36,
 * REX_EACH_37, REX_EACH_38, REX_EACH_39, REX_EACH_40, REX_EACH_41, REX_EACH_42, REX_EACH_43,
 * REX_EACH_44, REX_EACH_45, REX_EACH_46, REX_EACH_47, REX_EACH_48, REX_EACH_49, REX_EACH_50,
 * REX_EACH_51, REX_EACH_52, REX_EACH_53, REX_EACH_54, REX_EACH_55, REX_EACH_56, REX_EACH_57,
 * REX_EACH_58, REX_EACH_59, REX_EACH_60, REX_EACH_61, REX_EACH_62, REX_EACH_63, REX_EACH_64: what
 * REX_EACH() becomes for so many rows.
 */
#define REX_EACH_1(m, name, row) m(name, 1, row)
#define REX_EACH_2(m, name, row, ...) m(name, 2, row) REX_EACH_1(m, name, __VA_ARGS__)
#define REX_EACH_3(m, name, row, ...) m(name, 3, row) REX_EACH_2(m, name, __VA_ARGS__)
#define REX_EACH_4(m, name, row, ...) m(name, 4, row) REX_EACH_3(m, name, __VA_ARGS__)
#define REX_EACH_5(m, name, row, ...) m(name, 5, row) REX_EACH_4(m, name, __VA_ARGS__)
#define REX_EACH_6(m, name, row, ...) m(name, 6, row) REX_EACH_5(m, name, __VA_ARGS__)
#define REX_EACH_7(m, name, row, ...) m(name, 7, row) REX_EACH_6(m, name, __VA_ARGS__)
#define REX_EACH_8(m, name, row, ...) m(name, 8, row) REX_EACH_7(m, name, __VA_ARGS__)
#define REX_EACH_9(m, name, row, ...) m(name, 9, row) REX_EACH_8(m, name, __VA_ARGS__)
#define REX_EACH_10(m, name, row, ...) m(name, 10, row) REX_EACH_9(m, name, __VA_ARGS__)
#define REX_EACH_11(m, name, row, ...) m(name, 11, row) REX_EACH_10(m, name, __VA_ARGS__)
#define REX_EACH_12(m, name, row, ...) m(name, 12, row) REX_EACH_11(m, name, __VA_ARGS__)
#define REX_EACH_13(m, name, row, ...) m(name, 13, row) REX_EACH_12(m, name, __VA_ARGS__)
#define REX_EACH_14(m, name, row, ...) m(name, 14, row) REX_EACH_13(m, name, __VA_ARGS__)
#define REX_EACH_15(m, name, row, ...) m(name, 15, row) REX_EACH_14(m, name, __VA_ARGS__)
#define REX_EACH_16(m, name, row, ...) m(name, 16, row) REX_EACH_15(m, name, __VA_ARGS__)
#define REX_EACH_17(m, name, row, ...) m(name, 17, row) REX_EACH_16(m, name, __VA_ARGS__)
#define REX_EACH_18(m, name, row, ...) m(name, 18, row) REX_EACH_17(m, name, __VA_ARGS__)
#define REX_EACH_19(m, name, row, ...) m(name, 19, row) REX_EACH_18(m, name, __VA_ARGS__)
#define REX_EACH_20(m, name, row, ...) m(name, 20, row) REX_EACH_19(m, name, __VA_ARGS__)
#define REX_EACH_21(m, name, row, ...) m(name, 21, row) REX_EACH_20(m, name, __VA_ARGS__)
#define REX_EACH_22(m, name, row, ...) m(name, 22, row) REX_EACH_21(m, name, __VA_ARGS__)
#define REX_EACH_23(m, name, row, ...) m(name, 23, row) REX_EACH_22(m, name, __VA_ARGS__)
#define REX_EACH_24(m, name, row, ...) m(name, 24, row) REX_EACH_23(m, name, __VA_ARGS__)
#define REX_EACH_25(m, name, row, ...) m(name, 25, row) REX_EACH_24(m, name, __VA_ARGS__)
#define REX_EACH_26(m, name, row, ...) m(name, 26, row) REX_EACH_25(m, name, __VA_ARGS__)
#define REX_EACH_27(m, name, row, ...) m(name, 27, row) REX_EACH_26(m, name, __VA_ARGS__)
#define REX_EACH_28(m, name, row, ...) m(name, 28, row) REX_EACH_27(m, name, __VA_ARGS__)
#define REX_EACH_29(m, name, row, ...) m(name, 29, row) REX_EACH_28(m, name, __VA_ARGS__)
#define REX_EACH_30(m, name, row, ...) m(name, 30, row) REX_EACH_29(m, name, __VA_ARGS__)
#define REX_EACH_31(m, name, row, ...) m(name, 31, row) REX_EACH_30(m, name, __VA_ARGS__)
#define REX_EACH_32(m, name, row, ...) m(name, 32, row) REX_EACH_31(m, name, __VA_ARGS__)
#define REX_EACH_33(m, name, row, ...) m(name, 33, row) REX_EACH_32(m, name, __VA_ARGS__)
#define REX_EACH_34(m, name, row, ...) m(name, 34, row) REX_EACH_33(m, name, __VA_ARGS__)
#define REX_EACH_35(m, name, row, ...) m(name, 35, row) REX_EACH_34(m, name, __VA_ARGS__)
#define REX_EACH_36(m, name, row, ...) m(name, 36, row) REX_EACH_35(m, name, __VA_ARGS__)
#define REX_EACH_37(m, name, row, ...) m(name, 37, row) REX_EACH_36(m, name, __VA_ARGS__)
#define REX_EACH_38(m, name, row, ...) m(name, 38, row) REX_EACH_37(m, name, __VA_ARGS__)
#define REX_EACH_39(m, name, row, ...) m(name, 39, row) REX_EACH_38(m, name, __VA_ARGS__)
#define REX_EACH_40(m, name, row, ...) m(name, 40, row) REX_EACH_39(m, name, __VA_ARGS__)
#define REX_EACH_41(m, name, row, ...) m(name, 41, row) REX_EACH_40(m, name, __VA_ARGS__)
#define REX_EACH_42(m, name, row, ...) m(name, 42, row) REX_EACH_41(m, name, __VA_ARGS__)
#define REX_EACH_43(m, name, row, ...) m(name, 43, row) REX_EACH_42(m, name, __VA_ARGS__)
#define REX_EACH_44(m, name, row, ...) m(name, 44, row) REX_EACH_43(m, name, __VA_ARGS__)
#define REX_EACH_45(m, name, row, ...) m(name, 45, row) REX_EACH_44(m, name, __VA_ARGS__)
#define REX_EACH_46(m, name, row, ...) m(name, 46, row) REX_EACH_45(m, name, __VA_ARGS__)
#define REX_EACH_47(m, name, row, ...) m(name, 47, row) REX_EACH_46(m, name, __VA_ARGS__)
#define REX_EACH_48(m, name, row, ...) m(name, 48, row) REX_EACH_47(m, name, __VA_ARGS__)
#define REX_EACH_49(m, name, row, ...) m(name, 49, row) REX_EACH_48(m, name, __VA_ARGS__)
#define REX_EACH_50(m, name, row, ...) m(name, 50, row) REX_EACH_49(m, name, __VA_ARGS__)
#define REX_EACH_51(m, name, row, ...) m(name, 51, row) REX_EACH_50(m, name, __VA_ARGS__)
#define REX_EACH_52(m, name, row, ...) m(name, 52, row) REX_EACH_51(m, name, __VA_ARGS__)
#define REX_EACH_53(m, name, row, ...) m(name, 53, row) REX_EACH_52(m, name, __VA_ARGS__)
#define REX_EACH_54(m, name, row, ...) m(name, 54, row) REX_EACH_53(m, name, __VA_ARGS__)
#define REX_EACH_55(m, name, row, ...) m(name, 55, row) REX_EACH_54(m, name, __VA_ARGS__)
#define REX_EACH_56(m, name, row, ...) m(name, 56, row) REX_EACH_55(m, name, __VA_ARGS__)
#define REX_EACH_57(m, name, row, ...) m(name, 57, row) REX_EACH_56(m, name, __VA_ARGS__)
#define REX_EACH_58(m, name, row, ...) m(name, 58, row) REX_EACH_57(m, name, __VA_ARGS__)
#define REX_EACH_59(m, name, row, ...) m(name, 59, row) REX_EACH_58(m, name, __VA_ARGS__)
#define REX_EACH_60(m, name, row, ...) m(name, 60, row) REX_EACH_59(m, name, __VA_ARGS__)
#define REX_EACH_61(m, name, row, ...) m(name, 61, row) REX_EACH_60(m, name, __VA_ARGS__)
#define REX_EACH_62(m, name, row, ...) m(name, 62, row) REX_EACH_61(m, name, __VA_ARGS__)
#define REX_EACH_63(m, name, row, ...) m(name, 63, row) REX_EACH_62(m, name, __VA_ARGS__)
#define REX_EACH_64(m, name, row, ...) m(name, 64, row) REX_EACH_63(m, name, __VA_ARGS__)

/** REX_ROW_DECLARE(name, number, row): declares one row of REX_MAP(). */
#define REX_ROW_DECLARE(name, number, row) const struct rex_row name##_row_##number = (row);
/** REX_ROW_DECLARE_DATA(name, number, row): declares one row of REX_DATA_MAP(). */
#define REX_ROW_DECLARE_DATA(name, number, row) \
    const struct rex_row name##_row_##number = rex_row_in_region(row);
/** REX_ROW_BASE(name, number, row): column 1 of a row. */
#define REX_ROW_BASE(name, number, row) rex_row_base(&name##_row_##number),
/** REX_ROW_BEGIN(name, number, row): column 2 of a row. */
#define REX_ROW_BEGIN(name, number, row) rex_row_begin(&name##_row_##number),
/** REX_ROW_SIZE(name, number, row): column 3 of a row. */
#define REX_ROW_SIZE(name, number, row) rex_row_size(&name##_row_##number),
/** REX_ROW_TYPE(name, number, row): column 4 of a row. */
#define REX_ROW_TYPE(name, number, row) rex_row_type(&name##_row_##number),

/**
 * REX_MAP_COLUMNS(name, text, rows...): the columns of REX_MAP() and the `struct rex_map` over
 * them; the program wrote @text for the rows. `storage` is an odd address of it, as no allocation
 * has: the two spaces leave room for that.
 */
#define REX_MAP_COLUMNS(name, text, ...)                                  \
    void *name##_base[] = {REX_EACH(REX_ROW_BASE, name, __VA_ARGS__)};    \
    void *name##_begin[] = {REX_EACH(REX_ROW_BEGIN, name, __VA_ARGS__)};  \
    int64_t name##_sizes[] = {REX_EACH(REX_ROW_SIZE, name, __VA_ARGS__)}; \
    int64_t name##_types[] = {REX_EACH(REX_ROW_TYPE, name, __VA_ARGS__)}; \
    struct rex_map name = {REX_ROW_COUNT(__VA_ARGS__),                    \
                           name##_base,                                   \
                           name##_begin,                                  \
                           name##_sizes,                                  \
                           name##_types,                                  \
                           NULL,                                          \
                           (void *)((uintptr_t)("  " text) | 1)}

/**
 * rex_map_for_runtime(): body of a mapper function of the runtime's kind, for the `mappers` column:
 * runs @mapper over the section and hands the rows to libomptarget (`__tgt_push_mapper_component`).
 * The other parameters are those of such a function: @size in bytes, and @base may be NULL. An
 * error (REX_EINVAL where @mapper or @handle is NULL) has no way back into libomptarget:
 * rex_last_error() has it and it is printed, and the elements before it are mapped.
 */
REX_API void rex_map_for_runtime(rex_mapper *mapper, int64_t element_size, void *handle, void *base,
                                 void *begin, int64_t size, int64_t type);

/*
 * ---- What the wrappers of rex_kmp.h call ------------------------------------------------------
 */

/**
 * rex_module_launch_registered(): rex_module_launch() for a module whose `packet_rules` have been
 * loaded and are not 0, and for @args that is not NULL. The wrappers in rex_kmp.h call it; it takes
 * the fewest instructions.
 */
REX_API int rex_module_launch_registered(uintptr_t packet_rules, int64_t device, int32_t num_teams,
                                         int32_t thread_limit, void *host_key,
                                         struct __tgt_kernel_arguments *args);

/**
 * rex_module_check_map(): checks the arguments of a data call before libomptarget sees them, and
 * registers a module first, as rex_module_data_begin() does. The wrappers in rex_kmp.h call it.
 * @device  device number, -1 for the default; @count: rows; @base, @begin, @sizes (bytes), @types:
 *          the four columns.
 * Returns 0; REX_EHOST where there is nothing to do: @module has no kernels, and offloading is
 * disabled; REX_EINVAL (@module is NULL, a column is NULL, a count or size is negative),
 * REX_EDEVICE, or an error of rex_module_register().
 */
REX_API int rex_module_check_map(struct rex_module *module, int64_t device, int32_t count,
                                 void **base, void **begin, const int64_t *sizes,
                                 const int64_t *types);

/*
 * ---- Launches, data and queues of a module that is named --------------------------------------
 *
 * Each registers @module first where that has not happened. Results and errors are those of the
 * function without `module`.
 */

/** rex_module_launch_map(): rex_launch() for @module; @map NULL: no arguments. */
REX_API int rex_module_launch_map(struct rex_module *module, const struct rex_kernel_launch *launch,
                                  const struct rex_map *map);
/** rex_module_data_begin(): rex_data_begin() for @module. */
REX_API int rex_module_data_begin(struct rex_module *module, int64_t device,
                                  const struct rex_map *map);
/** rex_module_data_end(): rex_data_end() for @module. */
REX_API int rex_module_data_end(struct rex_module *module, int64_t device,
                                const struct rex_map *map);
/** rex_module_data_exit(): rex_data_exit() for @module. */
REX_API int rex_module_data_exit(struct rex_module *module, int64_t device,
                                 const struct rex_map *map);
/** rex_module_data_update(): rex_data_update() for @module. */
REX_API int rex_module_data_update(struct rex_module *module, int64_t device,
                                   const struct rex_map *map);
/** rex_module_queue_create(): rex_queue_create() for @module. */
REX_API int rex_module_queue_create(struct rex_queue **queue, struct rex_module *module,
                                    int64_t device, const char *name, unsigned flags);
/** rex_module_queue_from_stream(): rex_queue_from_stream() for @module. */
REX_API int rex_module_queue_from_stream(struct rex_queue **queue, struct rex_module *module,
                                         int64_t device, void *stream, const char *name,
                                         unsigned flags);
/** rex_module_queue_launch(): rex_queue_launch() for @module. */
REX_API int rex_module_queue_launch(struct rex_module *module, struct rex_queue *queue,
                                    const struct rex_kernel_launch *launch,
                                    const struct rex_map *map);
/** rex_module_queue_global(): rex_queue_global() for @module. */
REX_API void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                                      const void *variable);

/*
 * ---- Data regions -----------------------------------------------------------------------------
 */

#ifndef REX_BUILDING_LIBRARY

/** struct rex_data_scope: an open region of REX_DATA_REGION(). */
struct rex_data_scope {
    struct rex_map *map; /**< the region's map. */
    int64_t device;      /**< its device. */
    int result;          /**< what its begin returned. */
    bool again;          /**< the block is still to be run. */
    bool owned;          /**< free the map after the end. */
    int *told;           /**< where the program reads its result; may be NULL. */
};

/**
 * rex_data_scope_begin(): begins the region of REX_DATA_REGION(). @told, which may be NULL, gets
 * the result, and an error of the end.
 */
static inline struct rex_data_scope rex_data_scope_begin(int64_t device, struct rex_map *map,
                                                         bool owned, int *told)
{
    struct rex_data_scope scope = {
        map, device, rex_module_data_begin(&rex_this_module, device, map), false, owned, told};
    scope.again = scope.result == 0;
    if (told != NULL)
        *told = scope.result;
    return scope;
}

/**
 * rex_data_scope_next(): whether the block of @scope is to be run: once, and not where the
 * beginning failed.
 */
static inline bool rex_data_scope_next(struct rex_data_scope *scope)
{
    bool again = scope->again;
    scope->again = false;
    return again;
}

/** rex_data_scope_end(): ends it; runs however the block is left. */
static inline void rex_data_scope_end(struct rex_data_scope *scope)
{
    int result =
        scope->result == 0 ? rex_module_data_end(&rex_this_module, scope->device, scope->map) : 0;
    if (result != 0 && scope->told != NULL)
        *scope->told = result;
    if (scope->owned)
        rex_map_free(scope->map);
}

/**
 * REX_DATA_SCOPE(scope, device, owned, map, told): head of the block of a data region; @scope is
 * its variable. What follows @told is passed over.
 */
#define REX_DATA_SCOPE(scope, device, owned, map, told, ...)                            \
    for (struct rex_data_scope scope __attribute__((__cleanup__(rex_data_scope_end))) = \
             rex_data_scope_begin((device), &(map), (owned), (told));                   \
         rex_data_scope_next(&scope);)

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#include "rex/detail_pop.h"

#endif
