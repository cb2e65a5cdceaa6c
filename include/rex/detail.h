/*
 * rex/detail.h - parts of the macros and inline functions of the other headers.
 *
 * rex/map.h includes this header. A program that is written by hand uses few of these names. The
 * functions for rows are for a program that makes rows by functions, or that has its own macros for
 * rows: REX_ROW() of rex/arguments.h. The functions that take a module are for code that has
 * several modules, or a module of its own. Functions such as rex_launch() pass this binary's module
 * to them. Names that begin with rex_detail_ are reserved: librex's macros declare variables of
 * such names, which would hide the program's variables.
 *
 * The inline functions do not check the pointers through which they read or write. Only the
 * `error` of a data scope may be NULL. Any thread may call the inline functions.
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
 * ---- Rows from addresses, sizes and values ----------------------------------------------------
 *
 * Sizes are in bytes. A row has addresses; the memory belongs to the program. @type has the
 * REX_MAP_ bits of rex/abi.h.
 */

/**
 * rex_row_bytes(): returns the size of @length elements of @element bytes each; -1 if the size
 * overflows an int64_t. librex refuses a row with a negative size, but a raw launch (rex_kmp.h) may
 * pass the size to libomptarget.
 */
static inline int64_t rex_row_bytes(int64_t length, size_t element)
{
    int64_t bytes;
    return __builtin_mul_overflow(length, element, &bytes) ? -1 : bytes;
}

/**
 * REX_ELEMENT(pointer): size of the element that @pointer points to, in bytes: 8 for `double *`.
 */
#define REX_ELEMENT(pointer) sizeof(__typeof__(*(pointer)))
/** REX_END_OF(object, member): number of bytes from the start of @object to the end of @member. */
#define REX_END_OF(object, member) \
    (offsetof(__typeof__(object), member) + sizeof(((__typeof__(&(object)))0)->member))

/**
 * rex_row_section(): returns the row of REX_SECTION(). @base is the address of element 0, and
 * @element the size of an element in bytes. The row has @length elements from element @lower on.
 * @base is an integer: gcc assumes that a function reads the memory of a pointer to const, and
 * warns if that memory is uninitialised.
 */
static inline struct rex_row rex_row_section(int64_t type, uintptr_t base, size_t element,
                                             int64_t lower, int64_t length)
{
    uintptr_t begin = base + (uintptr_t)lower * element;
    return rex_row_of((const void *)base, (const void *)begin, rex_row_bytes(length, element),
                      type | REX_MAP_TARGET_PARAM);
}

/**
 * rex_row_attach(): returns the row of REX_ATTACH(). @pointer is the address of the pointer
 * variable; the function reads this variable. @element, @lower and @length are those of
 * rex_row_section().
 */
static inline struct rex_row rex_row_attach(int64_t type, const volatile void *pointer,
                                            size_t element, int64_t lower, int64_t length)
{
    uintptr_t begin;
    memcpy(&begin, (const void *)(uintptr_t)pointer, sizeof begin);
    struct rex_row row = rex_row_section(type | REX_MAP_PTR_AND_OBJ, begin, element, lower, length);
    row.base = (void *)(uintptr_t)pointer;
    return row;
}

/**
 * rex_row_part(): returns a row of bytes @begin to @end - 1 of the object at @base, which is the
 * row's base.
 */
static inline struct rex_row rex_row_part(int64_t type, uintptr_t base, size_t begin, size_t end)
{
    return rex_row_of((const void *)base, (const void *)(base + begin),
                      (int64_t)end - (int64_t)begin, type);
}

/** rex_row_object(): returns a row of the @size bytes at @address, which is also the row's base. */
static inline struct rex_row rex_row_object(const volatile void *address, size_t size, int64_t type)
{
    return rex_row_of(address, address, (int64_t)size, type);
}

/**
 * rex_row_value(): returns a row that passes a value to a kernel: the @size bytes at @value, at
 * most 8. The row has a copy of these bytes.
 */
static inline struct rex_row rex_row_value(const void *value, size_t size)
{
    void *bits = NULL;
    memcpy(&bits, value, size <= sizeof bits ? size : 0);
    return rex_row_of(bits, bits, (int64_t)size, REX_MAP_LITERAL | REX_MAP_TARGET_PARAM);
}

/** rex_row_address(): returns a row that passes @address itself to a kernel and maps nothing. */
static inline struct rex_row rex_row_address(const volatile void *address)
{
    return rex_row_of(address, address, (int64_t)sizeof address,
                      REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_KIND(REX_KIND_POINTER));
}

/**
 * rex_row_scalar(): returns the row of REX_VALUE() for the value of @size bytes at @value. @kind is
 * REX_KIND_OF_TYPE() of the value's type: a signed integer is extended to 8 bytes by its sign.
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
/* rex_row_scalar(): returns the row of REX_VALUE() for @value. The template is for C++. */
template <class type> inline struct rex_row rex_row_scalar(type value)
{
    static_assert(sizeof value <= 8, "a value of more than 8 bytes: use REX_FIRSTPRIVATE");
    return rex_row_scalar(&value, sizeof value, REX_KIND_OF_TYPE(type));
}
/* rex_row_scalar(): the overload for an array. The compiler refuses it: an array is not a value. */
template <class type, size_t count> inline struct rex_row rex_row_scalar(type (&)[count])
{
    static_assert(count == 0, "an array is not a value: write REX_TO(array, length)");
    return rex_row_of(NULL, NULL, 0, 0);
}
}
/**
 * REX_SCALAR(expression): the arguments of rex_row_scalar() for the value of @expression. In C++
 * there is one argument, the value, for the template.
 */
#define REX_SCALAR(expression) (expression)
#else
/*
 * REX_SCALAR(expression): in C there are three arguments: the address of a copy of the value, the
 * value's size, and its kind. The struct adds 0 to the size: it serves only for its two assertions
 * about the type.
 */
#define REX_SCALAR(expression)                                                                     \
    (REX_DECAYED(expression)[1]){(expression)},                                                    \
        sizeof(REX_DECAYED(expression)) +                                                          \
            0 * sizeof(struct {                                                                    \
                _Static_assert(                                                                    \
                    __builtin_types_compatible_p(__typeof__(expression), REX_DECAYED(expression)), \
                    "an array is not a value: write REX_TO(array, length)");                       \
                _Static_assert(sizeof(REX_DECAYED(expression)) <= 8,                               \
                               "a value of more than 8 bytes: use REX_FIRSTPRIVATE");              \
                char rex_unused;                                                                   \
            }),                                                                                    \
        REX_KIND_OF_TYPE(expression)
/* REX_DECAYED(expression): the type of the value of @expression: `int *` for `int x[2]`. */
#define REX_DECAYED(expression) __typeof__(((void)0, (expression)))
#endif

/** rex_row_with(): returns @row with the bits @type added. */
static inline struct rex_row rex_row_with(struct rex_row row, int64_t type)
{
    row.type |= type;
    return row;
}

/** rex_row_without(): returns @row without the bits @type. */
static inline struct rex_row rex_row_without(struct rex_row row, int64_t type)
{
    row.type &= ~type;
    return row;
}

/*
 * ---- Columns of REX_MAP() and of launches in one line -----------------------------------------
 */

/** REX_MAP_ROWS(name): number of rows of the map of REX_MAP(name, ...), a constant expression. */
#define REX_MAP_ROWS(name) (sizeof rex_detail_##name##_rows / sizeof *rex_detail_##name##_rows)

/**
 * rex_map_of(): copies @count rows to the columns @base, @begin, @sizes and @types, which have
 * @count elements each. Returns the map with these columns. @text is two characters and then the
 * source text of the rows, which messages quote. The map's `storage` is the address of one of the
 * two characters, the one at an odd address. An odd `storage` means a text, because no allocation
 * has an odd address.
 */
static inline struct rex_map rex_map_of(const struct rex_row *rows, size_t count, void **base,
                                        void **begin, int64_t *sizes, int64_t *types,
                                        const char *text)
{
    struct rex_map map = {
        (int32_t)count, base, begin, sizes, types, NULL, (void *)((uintptr_t)text | 1)};
#if !defined __clang__ && !defined __CUDACC__ /* clang unrolls without the pragma */
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

/** REX_MOST_ROWS: maximum number of rows in one launch macro or region macro. */
#define REX_MOST_ROWS 64

/** struct rex_columns: a map of at most REX_MOST_ROWS rows, with its columns. */
struct rex_columns {
    struct rex_map map;           /**< the map. */
    void *base[REX_MOST_ROWS];    /**< column 1. */
    void *begin[REX_MOST_ROWS];   /**< column 2. */
    int64_t sizes[REX_MOST_ROWS]; /**< column 3. */
    int64_t types[REX_MOST_ROWS]; /**< column 4. */
};

/**
 * rex_columns_fill(): makes a map of the first @count rows, at most REX_MOST_ROWS, in @columns.
 * Returns the map's address. @text is two commas, then the source text of one argument that is not
 * a row, a comma, and the text of the rows: ",,128, REX_TO(x, n)". Messages quote the rows.
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
/** rex_row_made(): returns @row; for any other type the compiler reports REX_NO_ROW. */
inline struct rex_row rex_row_made(const struct rex_row &row)
{
    return row;
}
/* rex_row_made(): the overload for any other type. The compiler refuses its use. */
template <class type> inline struct rex_row rex_row_made(const type &)
{
    static_assert(sizeof(type) == 0, REX_NO_ROW);
    return rex_row_of(NULL, NULL, 0, 0);
}
/**
 * struct rex_row_list: the rows in one launch macro or region macro, evaluated from left to right.
 */
struct rex_row_list {
    struct rex_row rows[REX_MOST_ROWS]; /**< the rows. */
    size_t count;                       /**< number of rows. */
    /** rex_row_list(): makes a list of the rows @row. */
    template <class... row_types> rex_row_list(row_types... row) : count(sizeof...(row))
    {
        static_assert(sizeof...(row) <= REX_MOST_ROWS, "more than 64 rows: use REX_MAP()");
        const struct rex_row all[sizeof...(row) + 1] = {rex_row_made(row)...};
        memcpy(rows, all, sizeof...(row) * sizeof *rows);
    }
};
/* rex_columns_fill(): makes a map of the rows of @list, in C++. */
inline struct rex_map *rex_columns_fill(struct rex_columns *columns, const char *text,
                                        const struct rex_row_list &list)
{
    return rex_columns_fill(columns, text, list.rows, list.count);
}
}
/* clang-format off */
/**
 * REX_ROWS(rows..., ): the arguments after @text of rex_columns_fill(). An empty item follows the
 * rows. In C++ REX_ROWS() is one argument, a struct rex_row_list.
 */
#define REX_ROWS(...) rex_row_list{__VA_ARGS__}
/* clang-format on */
#else
/*
 * REX_ROWS(rows..., ): in C, expands to two arguments: the array of REX_ROW_ARRAY(), and the number
 * of the program's rows in that array.
 */
#define REX_ROWS(...) REX_ROW_ARRAY(__VA_ARGS__), REX_ROW_COUNT(sizeof(REX_ROW_ARRAY(__VA_ARGS__)))
/**
 * REX_ROW_ARRAY(rows..., ): an array of the rows and a last row of zeros, so that the array of no
 * rows is not empty: `(const struct rex_row[]){row, row, rex_row_of(NULL, NULL, 0, 0)}`.
 */
#define REX_ROW_ARRAY(...)                                   \
    (const struct rex_row[])                                 \
    {                                                        \
        REX_WALK(REX_ROW_ELEMENT, , (), (), , , __VA_ARGS__) \
        rex_row_of(NULL, NULL, 0, 0)                         \
    }
/**
 * REX_ROW_COUNT(bytes): number of the program's rows in a REX_ROW_ARRAY() of @bytes bytes. The row
 * that REX_ROW_ARRAY() adds at the end does not count. For more than 64 rows, the macro is a struct
 * rex_at_most_64_rows, which the compiler refuses as an argument.
 */
#define REX_ROW_COUNT(bytes)                                                       \
    __builtin_choose_expr((bytes) <= (REX_MOST_ROWS + 1) * sizeof(struct rex_row), \
                          (bytes) / sizeof(struct rex_row) - 1, *(struct rex_at_most_64_rows *)0)
#endif

/*
 * ---- Mappers of libomptarget's kind -----------------------------------------------------------
 */

/**
 * rex_map_for_runtime(): the body of a mapper function of libomptarget's kind, for the `mappers`
 * column of a map. REX_RUNTIME_MAPPER() defines such a mapper function. rex_map_for_runtime() calls
 * @mapper for each element of the section. The rows that @mapper adds are passed to libomptarget
 * (`__tgt_push_mapper_component`).
 *
 * @mapper        the function that maps one element.
 * @element_size  size of an element in bytes.
 * @handle        and the parameters after it are those that libomptarget passes to a mapper
 *                function. @size is in bytes. @base may be NULL.
 *
 * A mapper function returns nothing, so libomptarget cannot receive an error. librex logs the
 * error, and rex_last_error() describes it. If @mapper or @handle is NULL, the error is REX_EINVAL,
 * and libomptarget receives no rows. Any other error comes from @mapper or rex_map_add_mapped(),
 * and libomptarget maps the rows that were added before the error.
 */
REX_API void rex_map_for_runtime(rex_mapper *mapper, int64_t element_size, void *handle, void *base,
                                 void *begin, int64_t size, int64_t type);

/*
 * ---- Launches, data calls and queues of a named module ----------------------------------------
 *
 * "like f()" means: the function does for @module what f() does for the module of this binary, and
 * has the results and errors of f(). The function checks its pointers. If the module that it uses
 * has entries and is not registered, the function registers that module.
 */

/**
 * rex_module_launch_map(): like rex_launch(), for @module. If @map is NULL, there are no arguments.
 */
REX_API int rex_module_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                                  const struct rex_map *map);
/**
 * rex_module_resident_blocks(): like rex_resident_blocks(), for @module. If another known module
 * has the launch's key, the function uses that module.
 */
REX_API int64_t rex_module_resident_blocks(struct rex_module *module,
                                           const struct rex_launch_config *launch);
/** rex_module_data_enter(): like rex_data_enter(), for @module. */
REX_API int rex_module_data_enter(struct rex_module *module, int64_t device,
                                  const struct rex_map *map);
/**
 * rex_module_region_end(): ends a data region, as the end of the block of REX_DATA_REGION() does,
 * for @module. The function is like rex_data_exit(), but does not check if rows of REX_PRESENT()
 * are mapped. If the map has such rows, and there is no memory for a copy of the types, the
 * function returns REX_ENOMEM.
 */
REX_API int rex_module_region_end(struct rex_module *module, int64_t device,
                                  const struct rex_map *map);
/** rex_module_data_exit(): like rex_data_exit(), for @module. */
REX_API int rex_module_data_exit(struct rex_module *module, int64_t device,
                                 const struct rex_map *map);
/** rex_module_data_update(): like rex_data_update(), for @module. */
REX_API int rex_module_data_update(struct rex_module *module, int64_t device,
                                   const struct rex_map *map);
/**
 * rex_module_queue_create(): like rex_queue_create(), for @module. If @stream is not NULL, the
 * function is like rex_queue_from_stream() for the stream *@stream.
 */
REX_API int rex_module_queue_create(struct rex_queue **queue, struct rex_module *module,
                                    int64_t device, const char *name, unsigned flags,
                                    void *const *stream);
/** rex_module_queue_global(): like rex_queue_global(), for @module. */
REX_API void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                                      const void *variable);

/*
 * ---- Blocks of data regions -------------------------------------------------------------------
 */

#ifndef REX_BUILDING_LIBRARY

/** struct rex_data_scope: a data region of REX_DATA_REGION() or REX_DATA_REGION_MAP(). */
struct rex_data_scope {
    struct rex_map *map; /**< the region's map. */
    int64_t device;      /**< device number; -1: the default device. */
    bool is_open;        /**< true if the region has begun. */
    bool again;          /**< true if the region has begun and the block has not run yet. */
    int *error;          /**< the program's int for the result; may be NULL. */
};

/**
 * rex_data_scope_begin(): begins a data region and returns its scope. Writes the result of
 * rex_module_data_enter() to *@error, if @error is not NULL.
 */
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
 * rex_data_scope_next(): the condition of the `for` loop that runs the block. Returns true in the
 * first call if the region of @scope has begun, and false in any other call.
 */
static inline bool rex_data_scope_next(struct rex_data_scope *scope)
{
    bool again = scope->again;
    scope->again = false;
    return again;
}

/**
 * rex_data_scope_end(): ends the data region of @scope, if the region has begun. If the end fails,
 * writes the error to the program's int. The compiler calls the function when the program leaves
 * the block; exit() and longjmp() do not call it.
 */
static inline void rex_data_scope_end(struct rex_data_scope *scope)
{
    int result =
        scope->is_open ? rex_module_region_end(&rex_this_module, scope->device, scope->map) : 0;
    if (result != 0 && scope->error != NULL)
        *scope->error = result;
}

/**
 * REX_DATA_SCOPE(scope, error, device, map): the head of the block of a data region: a `for` loop
 * that runs the block at most once. @scope is the name of the loop's variable. @map is the address
 * of a map.
 */
#define REX_DATA_SCOPE(scope, error, device, map)                                       \
    for (struct rex_data_scope scope __attribute__((__cleanup__(rex_data_scope_end))) = \
             rex_data_scope_begin((error), (device), (map));                            \
         rex_data_scope_next(&scope);)

/**
 * REX_DATA_ROWS(scope, columns, once, error, text, device, rows..., ): REX_DATA_SCOPE() with a map
 * of the rows. The outer loop runs once. It declares two variables: @once, and @columns, which
 * contains the map until the block ends.
 */
#define REX_DATA_ROWS(scope, columns, once, error, text, device, ...)             \
    for (struct rex_columns columns, *once = &columns; once != NULL; once = NULL) \
    REX_DATA_SCOPE(scope, error, device, rex_columns_fill(&columns, text, REX_ROWS(__VA_ARGS__)))

#endif /* REX_BUILDING_LIBRARY */

#ifdef __cplusplus
}
#endif

#endif
