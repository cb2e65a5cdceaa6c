/*
 * rex/detail.h - what the macros and inline functions of the other headers are made of.
 *
 * rex/map.h includes it, and a program that is written by hand needs little of it by name. The
 * functions for rows serve a program that makes rows by hand, or has macros of its own for them:
 * REX_ROW() of rex/arguments.h. The functions that take a module are for code that has several, or
 * one of its own: rex_launch() and its like pass this binary's. Names that begin with rex_detail_
 * are reserved: a program's variable of such a name would be taken for a macro's.
 *
 * The inline functions check no pointer for NULL, and may be called in any thread.
 *
 * Guide: rex-maps(7).
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_DETAIL_H
#define REX_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/arguments.h"
#include "rex/binary.h"
#include "rex/map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rex_launch_config;
struct rex_queue;

/*
 * ---- Rows by hand: from addresses, sizes and values -------------------------------------------
 *
 * Sizes are in bytes. A row holds addresses; the memory stays the program's.
 */

/**
 * rex_row_bytes(): the bytes of @length elements of @element bytes each; -1, which librex refuses
 * in a row, where an int64_t cannot hold them. A raw launch does not look.
 */
static inline int64_t rex_row_bytes(int64_t length, size_t element)
{
    int64_t bytes;
    return __builtin_mul_overflow(length, element, &bytes) ? -1 : bytes;
}

/** REX_ELEMENT(pointer): bytes of an element of what @pointer points to. */
#define REX_ELEMENT(pointer) sizeof(__typeof__(*(pointer)))
/** REX_END_OF(object, member): bytes from the begin of @object to the end of @member. */
#define REX_END_OF(object, member) \
    (offsetof(__typeof__(object), member) + sizeof(((__typeof__(&(object)))0)->member))

/**
 * rex_row_section(): the row of REX_SECTION(); @element in bytes, @lower and @length in elements.
 * @base is an address, since gcc takes a pointer to const memory for a sign that it is read.
 */
static inline struct rex_row rex_row_section(int64_t type, uintptr_t base, size_t element,
                                             int64_t lower, int64_t length)
{
    uintptr_t begin = base + (uintptr_t)lower * element;
    return rex_row_of((const void *)base, (const void *)begin, rex_row_bytes(length, element),
                      type | REX_MAP_TARGET_PARAM);
}

/** rex_row_attach(): the row of REX_ATTACH(), for the pointer at @pointer. */
static inline struct rex_row rex_row_attach(int64_t type, const volatile void *pointer,
                                            size_t element, int64_t lower, int64_t length)
{
    uintptr_t begin;
    memcpy(&begin, (const void *)(uintptr_t)pointer, sizeof begin);
    struct rex_row row = rex_row_section(type | REX_MAP_PTR_AND_OBJ, begin, element, lower, length);
    row.base = (void *)(uintptr_t)pointer;
    return row;
}

/** rex_row_part(): a row of the bytes from @begin to @end of the object at @base. */
static inline struct rex_row rex_row_part(int64_t type, uintptr_t base, size_t begin, size_t end)
{
    return rex_row_of((const void *)base, (const void *)(base + begin),
                      (int64_t)end - (int64_t)begin, type);
}

/** rex_row_object(): a row of the @size bytes at @address, its base. */
static inline struct rex_row rex_row_object(const volatile void *address, size_t size, int64_t type)
{
    return rex_row_of(address, address, (int64_t)size, type);
}

/** rex_row_value(): a literal row of the @size bytes at @value, at most 8; a parameter. */
static inline struct rex_row rex_row_value(const void *value, size_t size)
{
    void *bits = NULL;
    memcpy(&bits, value, size <= sizeof bits ? size : 0);
    return rex_row_of(bits, bits, (int64_t)size, REX_MAP_LITERAL | REX_MAP_TARGET_PARAM);
}

/** rex_row_address(): a literal row of an address as it is; a parameter. */
static inline struct rex_row rex_row_address(const volatile void *address)
{
    return rex_row_of(address, address, (int64_t)sizeof address,
                      REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_KIND(REX_KIND_POINTER));
}

/**
 * rex_row_scalar(): the row of REX_VALUE(), of the @size bytes at @value, whose type is of @kind,
 * as REX_KIND_OF_TYPE() tells it.
 */
static inline struct rex_row rex_row_scalar(const volatile void *value, size_t size, unsigned kind)
{
    struct rex_row row = rex_row_value((const void *)(uintptr_t)value, size);
    if (kind == REX_KIND_I8 || kind == REX_KIND_I16 || kind == REX_KIND_I32) {
        int unused = 64 - 8 * (int)size;
        row.base = (void *)((intptr_t)((uintptr_t)row.base << unused) >> unused);
        row.begin = row.base;
    }
    row.type |= REX_MAP_KIND(kind & 15);
    return row;
}
#ifdef __cplusplus
extern "C++" {
/* rex_row_scalar(): the same of a value, in C++. */
template <class type> inline struct rex_row rex_row_scalar(type value)
{
    static_assert(sizeof value <= 8, "a value of more than 8 bytes: use REX_FIRSTPRIVATE");
    return rex_row_scalar(&value, sizeof value, REX_KIND_OF_TYPE(type));
}
/* rex_row_scalar(): of an array, which is no value. */
template <class type, size_t count> inline struct rex_row rex_row_scalar(type (&)[count])
{
    static_assert(count == 0, "an array is no value: write REX_TO(array, length), or its like");
    return rex_row_of(NULL, NULL, 0, 0);
}
}
/** REX_SCALAR(expression): what rex_row_scalar() takes for it, as REX_VALUE() writes it. */
#define REX_SCALAR(expression) (expression)
#else
/* REX_SCALAR(expression): the same in C: its address, size and kind. */
#define REX_SCALAR(expression)                                                                     \
    (REX_DECAYED(expression)[1]){(expression)},                                                    \
        sizeof(REX_DECAYED(expression)) +                                                          \
            0 * sizeof(struct {                                                                    \
                _Static_assert(                                                                    \
                    __builtin_types_compatible_p(__typeof__(expression), REX_DECAYED(expression)), \
                    "an array is no value: write REX_TO(array, length), or its like");             \
                _Static_assert(sizeof(REX_DECAYED(expression)) <= 8,                               \
                               "a value of more than 8 bytes: use REX_FIRSTPRIVATE");              \
                char rex_unused;                                                                   \
            }),                                                                                    \
        REX_KIND_OF_TYPE(expression)
/* REX_DECAYED(expression): the type of its value: of an array it is a pointer. */
#define REX_DECAYED(expression) __typeof__(((void)0, (expression)))
#endif

/** rex_row_with(): @row with the bits @type added. */
static inline struct rex_row rex_row_with(struct rex_row row, int64_t type)
{
    row.type |= type;
    return row;
}

/** rex_row_without(): @row without the bits @type. */
static inline struct rex_row rex_row_without(struct rex_row row, int64_t type)
{
    row.type &= ~type;
    return row;
}

/*
 * ---- Columns: what REX_MAP() and launches in one line are made of -----------------------------
 */

/** REX_MAP_ROWS(name): the rows of REX_MAP(name, ...), as a constant expression. */
#define REX_MAP_ROWS(name) (sizeof rex_detail_##name##_rows / sizeof *rex_detail_##name##_rows)

/**
 * rex_map_of(): the map of REX_MAP(), of @count rows, in columns with room for so many; the program
 * wrote @text for the rows. `storage` is an odd address of it, as no allocation has: the two spaces
 * in front of it leave room for that.
 */
static inline struct rex_map rex_map_of(const struct rex_row *rows, size_t count, void **base,
                                        void **begin, int64_t *sizes, int64_t *types,
                                        const char *text)
{
    struct rex_map map = {
        (int32_t)count, base, begin, sizes, types, NULL, (void *)((uintptr_t)text | 1)};
#if !defined __clang__ && !defined __CUDACC__ /* clang does so by itself; then no rows are left */
#pragma GCC unroll 64
#endif
    for (size_t i = 0; i < count; i++) {
        base[i] = rows[i].base;
        begin[i] = rows[i].begin;
        sizes[i] = rows[i].size;
        types[i] = rows[i].type;
    }
    return map;
}

/** REX_MOST_ROWS: the most rows of a launch or a region in one line. */
#define REX_MOST_ROWS 64

/** struct rex_columns: a map of at most REX_MOST_ROWS rows, and its columns. */
struct rex_columns {
    struct rex_map map;           /**< the map. */
    void *base[REX_MOST_ROWS];    /**< column 1. */
    void *begin[REX_MOST_ROWS];   /**< column 2. */
    int64_t sizes[REX_MOST_ROWS]; /**< column 3. */
    int64_t types[REX_MOST_ROWS]; /**< column 4. */
};

/**
 * rex_columns_fill(): the map of the first @count of @rows, at most REX_MOST_ROWS, in @columns,
 * where it stays. Messages quote @text: it begins with two commas and an argument that is no row.
 */
static inline struct rex_map *rex_columns_fill(struct rex_columns *columns, const char *text,
                                               const struct rex_row *rows, size_t count)
{
    columns->map = rex_map_of(rows, count, columns->base, columns->begin, columns->sizes,
                              columns->types, text);
    return &columns->map;
}
#ifdef __cplusplus
extern "C++" {
/** rex_row_made(): @row. */
inline struct rex_row rex_row_made(const struct rex_row &row)
{
    return row;
}
/** rex_row_made(): of anything else: an error of the compiler. */
template <class type> inline struct rex_row rex_row_made(const type &)
{
    static_assert(sizeof(type) == 0, REX_NO_ROW);
    return rex_row_of(NULL, NULL, 0, 0);
}
/** struct rex_row_list: the rows of a launch or a region in one line, made from left to right. */
struct rex_row_list {
    struct rex_row rows[REX_MOST_ROWS]; /**< the rows. */
    size_t count;                       /**< how many there are. */
    /** rex_row_list(): of @row. */
    template <class... row_types> rex_row_list(row_types... row) : count(sizeof...(row))
    {
        static_assert(sizeof...(row) <= REX_MOST_ROWS, "more than 64 rows: use REX_MAP()");
        const struct rex_row all[sizeof...(row) + 1] = {rex_row_made(row)...};
        memcpy(rows, all, sizeof...(row) * sizeof *rows);
    }
};
/* rex_columns_fill(): the same of @list, in C++. */
inline struct rex_map *rex_columns_fill(struct rex_columns *columns, const char *text,
                                        const struct rex_row_list &list)
{
    return rex_columns_fill(columns, text, list.rows, list.count);
}
}
/* clang-format off */
/** REX_ROWS(rows..., ): what rex_columns_fill() takes for them. */
#define REX_ROWS(...) rex_row_list{__VA_ARGS__}
/* clang-format on */
#else
/* REX_ROWS(rows..., ): the same in C: an array, and its rows but one. */
#define REX_ROWS(...) REX_ROW_ARRAY(__VA_ARGS__), REX_ROW_COUNT(sizeof(REX_ROW_ARRAY(__VA_ARGS__)))
/** REX_ROW_ARRAY(rows..., ): an array of the rows, and of one more that is empty. */
#define REX_ROW_ARRAY(...)                                   \
    (const struct rex_row[])                                 \
    {                                                        \
        REX_WALK(REX_ROW_ELEMENT, , (), (), , , __VA_ARGS__) \
        rex_row_of(NULL, NULL, 0, 0)                         \
    }
/** REX_ROW_COUNT(bytes): the rows but one of an array of so many bytes; an error above 64. */
#define REX_ROW_COUNT(bytes)                                                       \
    __builtin_choose_expr((bytes) <= (REX_MOST_ROWS + 1) * sizeof(struct rex_row), \
                          (bytes) / sizeof(struct rex_row) - 1, *(struct rex_at_most_64_rows *)0)
#endif

/*
 * ---- Mappers of the runtime's kind ------------------------------------------------------------
 */

/**
 * rex_map_for_runtime(): body of a mapper function of the runtime's kind, for the `mappers` column:
 * runs @mapper over the section and hands the rows to libomptarget (`__tgt_push_mapper_component`).
 * REX_RUNTIME_MAPPER() defines such a function.
 *
 * @mapper        maps one element.
 * @element_size  bytes of an element.
 * @handle        and what follows: the parameters of such a function, as libomptarget passes them;
 *                @size in bytes, and @base may be NULL.
 *
 * An error has no way back into libomptarget: rex_last_error() has it and it is printed, and the
 * elements before it are mapped. It is REX_EINVAL where @mapper or @handle is NULL, and then
 * nothing is mapped; else that of @mapper or rex_map_add_mapped().
 */
REX_API void rex_map_for_runtime(rex_mapper *mapper, int64_t element_size, void *handle, void *base,
                                 void *begin, int64_t size, int64_t type);

/*
 * ---- Launches, data and queues of a named module ----------------------------------------------
 *
 * Each registers @module first where that has not happened. Results and errors are those of the
 * function without `module`.
 */

/** rex_module_launch_map(): rex_launch() for @module; @map NULL: no arguments. */
REX_API int rex_module_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                                  const struct rex_map *map);
/**
 * rex_module_resident_blocks(): rex_resident_blocks() for @module, or for the registered module
 * that has the launch's key.
 */
REX_API int64_t rex_module_resident_blocks(struct rex_module *module,
                                           const struct rex_launch_config *launch);
/** rex_module_data_enter(): rex_data_enter() for @module. */
REX_API int rex_module_data_enter(struct rex_module *module, int64_t device,
                                  const struct rex_map *map);
/**
 * rex_module_region_end(): ends a data region of @module: rex_module_data_exit(), but
 * REX_PRESENT() does not ask.
 */
REX_API int rex_module_region_end(struct rex_module *module, int64_t device,
                                  const struct rex_map *map);
/** rex_module_data_exit(): rex_data_exit() for @module. */
REX_API int rex_module_data_exit(struct rex_module *module, int64_t device,
                                 const struct rex_map *map);
/** rex_module_data_update(): rex_data_update() for @module. */
REX_API int rex_module_data_update(struct rex_module *module, int64_t device,
                                   const struct rex_map *map);
/**
 * rex_module_queue_create(): rex_queue_create() for @module. Where @stream is not NULL,
 * rex_queue_from_stream() for @module and the stream in *@stream.
 */
REX_API int rex_module_queue_create(struct rex_queue **queue, struct rex_module *module,
                                    int64_t device, const char *name, unsigned flags,
                                    void *const *stream);
/** rex_module_queue_global(): rex_queue_global() for @module. */
REX_API void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                                      const void *variable);

/*
 * ---- Blocks of data regions -------------------------------------------------------------------
 */

#ifndef REX_BUILDING_LIBRARY

/** struct rex_data_scope: a region of REX_DATA_REGION() or REX_DATA_REGION_MAP(). */
struct rex_data_scope {
    struct rex_map *map; /**< the region's map. */
    int64_t device;      /**< its device. */
    bool is_open;        /**< it has begun. */
    bool again;          /**< the block is still to be run. */
    int *error;          /**< where the program reads what became of it; may be NULL. */
};

/** rex_data_scope_begin(): begins a region; @error, which may be NULL, gets the result. */
static inline struct rex_data_scope rex_data_scope_begin(int *error, int64_t device,
                                                         struct rex_map *map)
{
    int result = rex_module_data_enter(&rex_this_module, device, map);
    struct rex_data_scope scope = {map, device, result == 0, result == 0, error};
    if (error != NULL)
        *error = result;
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
        scope->is_open ? rex_module_region_end(&rex_this_module, scope->device, scope->map) : 0;
    if (result != 0 && scope->error != NULL)
        *scope->error = result;
}

/** REX_DATA_SCOPE(scope, error, device, map): the head of a region's block; @scope: a variable. */
#define REX_DATA_SCOPE(scope, error, device, map)                                       \
    for (struct rex_data_scope scope __attribute__((__cleanup__(rex_data_scope_end))) = \
             rex_data_scope_begin((error), (device), (map));                            \
         rex_data_scope_next(&scope);)

/**
 * REX_DATA_ROWS(scope, columns, once, error, text, device, rows..., ): the same, of a map in the
 * variable @columns, which lives as long as the block.
 */
#define REX_DATA_ROWS(scope, columns, once, error, text, device, ...)             \
    for (struct rex_columns columns, *once = &columns; once != NULL; once = NULL) \
    REX_DATA_SCOPE(scope, error, device, rex_columns_fill(&columns, text, REX_ROWS(__VA_ARGS__)))

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#endif
