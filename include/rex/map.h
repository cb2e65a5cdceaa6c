/*
 * rex/map.h - the map table: what a launch or data region brings to the device, written like the
 * clauses it stands for.
 *
 * A map has four columns: base address, begin address, size in bytes, type. A tour:
 *
 *     REX_MAP(args, REX_VALUE(n), REX_TO(x, n), REX_TOFROM(y, n));  // 1. a launch: a row a clause
 *     REX_DATA_MAP(region, REX_TO(x, n), REX_ALLOC(tmp, n));        // 2. a data region
 *     rex_launch(&launch, &args);                                   // 3. rex/launch.h
 *     __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));       // 4. or raw: rex_kmp.h
 *
 * REX_MAP() declares `args`, a `struct rex_map`, over plain local arrays args_base, args_begin,
 * args_sizes and args_types: no heap, and no loop is left after optimisation. Rows that are only
 * known at run time, and more than 64 of them, are built by rex_map_build(). Mappers, C functions
 * that map one element of a type, expand whole sections there.
 *
 * Every expression in a row is evaluated once, unless its macro says otherwise.
 *
 * Everything here is since 0.1 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_MAP_H
#define REX_MAP_H

#include "rex/detail_push.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rex/kinds.h"
#include "rex/offload.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Types ------------------------------------------------------------------------------------
 *
 * The bits of column 4, the same in LLVM 14 to 24 where a release has them:
 * openmp/libomptarget/include/omptarget.h (14 to 18), offload/include/omptarget.h (19 on). Older
 * releases ignore bits that they do not know.
 */

/** REX_TYPE_TO: copy to the device when the mapping begins. */
#define REX_TYPE_TO INT64_C(0x1)
/** REX_TYPE_FROM: copy from the device when it ends. */
#define REX_TYPE_FROM INT64_C(0x2)
/** REX_TYPE_ALWAYS: copy whatever the reference count. */
#define REX_TYPE_ALWAYS INT64_C(0x4)
/** REX_TYPE_DELETE: end the mapping whatever the reference count. */
#define REX_TYPE_DELETE INT64_C(0x8)
/**
 * REX_TYPE_POINTER: PTR_AND_OBJ: base is the address of a pointer, begin the object that it points
 * to.
 */
#define REX_TYPE_POINTER INT64_C(0x10)
/** REX_TYPE_PARAMETER: TARGET_PARAM: the row is a parameter of the kernel. */
#define REX_TYPE_PARAMETER INT64_C(0x20)
/** REX_TYPE_RETURN: RETURN_PARAM: the device address is written back to column 1. */
#define REX_TYPE_RETURN INT64_C(0x40)
/** REX_TYPE_PRIVATE: the kernel gets an instance of its own. */
#define REX_TYPE_PRIVATE INT64_C(0x80)
/** REX_TYPE_LITERAL: base is the value itself. */
#define REX_TYPE_LITERAL INT64_C(0x100)
/** REX_TYPE_IMPLICIT: no clause names it. */
#define REX_TYPE_IMPLICIT INT64_C(0x200)
/** REX_TYPE_CLOSE: near the device; only matters with unified shared memory. */
#define REX_TYPE_CLOSE INT64_C(0x400)
/** REX_TYPE_PRESENT: must be mapped already; libomptarget aborts where it is not. */
#define REX_TYPE_PRESENT INT64_C(0x1000)
/** REX_TYPE_HOLD: OMPX_HOLD: a count of its own, which DELETE leaves alone. */
#define REX_TYPE_HOLD INT64_C(0x2000)
/** REX_TYPE_MEMBER_OF(row): a member of the object in row @row, counted from 0. */
#define REX_TYPE_MEMBER_OF(row) ((int64_t)(((uint64_t)(row) + 1) << 48))
/**
 * REX_PARENT_MAX: the highest row that REX_TYPE_MEMBER_OF() can name; 16 bits, counted from 1, all
 * ones kept for compilers.
 */
#define REX_PARENT_MAX 65533
/** REX_TYPE_MEMBER_MASK: the bits of REX_TYPE_MEMBER_OF(). */
#define REX_TYPE_MEMBER_MASK ((int64_t)((uint64_t)0xffff << 48))
/**
 * REX_TYPE_KIND(kind): the `enum rex_kind` (rex/kinds.h) of a literal's type, which librex compares
 * with the kernel's signature. Bits that mean nothing to any release.
 */
#define REX_TYPE_KIND(kind) ((int64_t)(kind) << 32)
/** REX_TYPE_KIND_MASK: the bits of REX_TYPE_KIND(). */
#define REX_TYPE_KIND_MASK INT64_C(0xf00000000)
/** REX_TYPE_TOFROM: both ways. */
#define REX_TYPE_TOFROM (REX_TYPE_TO | REX_TYPE_FROM)
/** REX_TYPE_ALLOC: neither way. */
#define REX_TYPE_ALLOC INT64_C(0)

/*
 * ---- Rows and maps ----------------------------------------------------------------------------
 */

/** struct rex_row: one row of a map. */
struct rex_row {
    /** base address; the value of a literal; the address of the pointer for REX_TYPE_POINTER. */
    void *base;
    void *begin;  /**< first byte; the value of a literal. */
    int64_t size; /**< bytes. */
    int64_t type; /**< REX_TYPE_ bits. */
};

/**
 * struct rex_map: a table of rows, in columns. Whoever made the columns owns them: REX_MAP() or
 * rex_map_build().
 */
struct rex_map {
    int32_t count;  /**< rows. */
    void **base;    /**< column 1. */
    void **begin;   /**< column 2. */
    int64_t *sizes; /**< column 3, bytes. */
    int64_t *types; /**< column 4. */
    void **mappers; /**< mapper functions of the runtime's kind for each row, or NULL. */
    /**
     * the allocation behind the columns of rex_map_build(), or the text of the rows of REX_MAP(),
     * which messages quote; NULL for columns of your own.
     */
    void *storage;
};

/**
 * REX_MAP_ARGUMENTS(map): count and columns of a `struct rex_map`, as the arguments of a raw
 * `__tgt_*` call.
 */
#define REX_MAP_ARGUMENTS(map)                                                                   \
    rex_map_count(&(map)), rex_map_bases(&(map)), rex_map_begins(&(map)), rex_map_sizes(&(map)), \
        rex_map_types(&(map))

/** rex_row_of(): a row from its four columns; @size in bytes. */
static inline struct rex_row rex_row_of(const volatile void *base, const volatile void *begin,
                                        int64_t size, int64_t type)
{
    struct rex_row row;
    row.base = (void *)(uintptr_t)base;
    row.begin = (void *)(uintptr_t)begin;
    row.size = size;
    row.type = type;
    return row;
}

/**
 * rex_row_member(): @row as a member of the object in row @parent, counted from 0, in which it lies
 * if it is no pointee; no parameter.
 */
static inline struct rex_row rex_row_member(struct rex_row row, int32_t parent)
{
    row.type = (row.type & ~REX_TYPE_PARAMETER) | REX_TYPE_MEMBER_OF(parent);
    if (parent < 0 || parent > REX_PARENT_MAX)
        row.size = -1; /* what librex refuses: the number does not fit in its 16 bits */
    return row;
}

/*
 * ---- Clauses: memory --------------------------------------------------------------------------
 *
 * @pointer is an array or a typed pointer; counts and bounds are in its elements.
 */

/**
 * REX_SECTION(type, pointer, lower, length): pointer[lower : length] with @type; base is the
 * pointer, begin the first element mapped. The kernel gets the device address of the *base*, so
 * that it indexes as the host does.
 */
#define REX_SECTION(type_bits, pointer, lower, length)                         \
    (__extension__({                                                           \
        __typeof__(&(pointer)[0]) rex_section_base = (pointer);                \
        rex_row_of(rex_section_base, rex_section_base + (lower),               \
                   rex_row_bytes((int64_t)(length), sizeof *rex_section_base), \
                   (type_bits) | REX_TYPE_PARAMETER);                          \
    }))
/** REX_TO(pointer, length): map(to: pointer[0 : length]). */
#define REX_TO(pointer, length) REX_SECTION(REX_TYPE_TO, pointer, 0, length)
/** REX_FROM(pointer, length): map(from: pointer[0 : length]). */
#define REX_FROM(pointer, length) REX_SECTION(REX_TYPE_FROM, pointer, 0, length)
/** REX_TOFROM(pointer, length): map(tofrom: pointer[0 : length]). */
#define REX_TOFROM(pointer, length) REX_SECTION(REX_TYPE_TOFROM, pointer, 0, length)
/** REX_ALLOC(pointer, length): map(alloc: pointer[0 : length]). */
#define REX_ALLOC(pointer, length) REX_SECTION(REX_TYPE_ALLOC, pointer, 0, length)
/** REX_RELEASE(pointer, length): map(release: ...), for exit data. The same bits as REX_ALLOC. */
#define REX_RELEASE(pointer, length) REX_SECTION(REX_TYPE_ALLOC, pointer, 0, length)
/** REX_DELETE(pointer, length): map(delete: ...), for exit data. */
#define REX_DELETE(pointer, length) REX_SECTION(REX_TYPE_DELETE, pointer, 0, length)
/** REX_OBJECT(type, object): one variable, array or struct, whole, with @type (REX_TYPE_TO ...). */
#define REX_OBJECT(type_bits, object) \
    rex_row_object(&(object), sizeof(object), (type_bits) | REX_TYPE_PARAMETER)
/**
 * REX_POINTER(pointer): a pointer that a kernel uses and no clause maps: the device address of what
 * it points to, if that is mapped; the host address (LLVM 16 on) or NULL (14, 15) otherwise.
 */
#define REX_POINTER(pointer) \
    rex_row_with(REX_SECTION(REX_TYPE_ALLOC, pointer, 0, 0), REX_TYPE_IMPLICIT)

/** REX_ALWAYS(row): map(always, ...). */
#define REX_ALWAYS(row) rex_row_with(row, REX_TYPE_ALWAYS)
/** REX_CLOSE(row): map(close, ...). */
#define REX_CLOSE(row) rex_row_with(row, REX_TYPE_CLOSE)
/** REX_PRESENT(row): map(present, ...). */
#define REX_PRESENT(row) rex_row_with(row, REX_TYPE_PRESENT)
/** REX_HOLD(row): map(ompx_hold, ...). */
#define REX_HOLD(row) rex_row_with(row, REX_TYPE_HOLD)
/** REX_IMPLICIT(row): marks a row that no clause names, as compilers do for captured variables. */
#define REX_IMPLICIT(row) rex_row_with(row, REX_TYPE_IMPLICIT)

/*
 * ---- Clauses: values --------------------------------------------------------------------------
 */

/**
 * REX_VALUE(expression): a scalar by value, at most 8 bytes (checked at compile time): integers,
 * floating point, bool, small structs, pointers taken as they are. The kernel takes it as a
 * `rex_arg`, or as that of its type, `rex_arg_f64` for a double (rex/kernel.h): the row's type says
 * which one it is, REX_TYPE_KIND().
 */
#define REX_VALUE(expression)                                                    \
    (__extension__({                                                             \
        __typeof__(expression) rex_value_copy = (expression);                    \
        REX_STATIC_ASSERT(sizeof rex_value_copy <= 8,                            \
                          "a value of more than 8 bytes: use REX_FIRSTPRIVATE"); \
        rex_row_with(rex_row_value(&rex_value_copy, sizeof rex_value_copy),      \
                     REX_TYPE_KIND(REX_KIND_OF(rex_value_copy)));                \
    }))
/**
 * REX_DEVICE_POINTER(pointer): is_device_ptr, has_device_addr: a pointer that already is a device
 * address.
 */
#define REX_DEVICE_POINTER(pointer) REX_VALUE((const volatile void *)(pointer))
/**
 * REX_FIRSTPRIVATE(object): firstprivate: the kernel gets the address of a copy of its own, of any
 * size.
 */
#define REX_FIRSTPRIVATE(object) REX_OBJECT(REX_TYPE_PRIVATE | REX_TYPE_TO, object)
/**
 * REX_PRIVATE(object): private: the kernel gets the address of uninitialised memory of the object's
 * size.
 */
#define REX_PRIVATE(object) REX_OBJECT(REX_TYPE_PRIVATE, object)

/*
 * ---- Clauses: addresses that come back --------------------------------------------------------
 */

/**
 * REX_USE_DEVICE_POINTER(pointer): use_device_ptr: when the region has begun, column 1 of the row
 * holds the device address of what @pointer points to: rex_map_address().
 */
#define REX_USE_DEVICE_POINTER(pointer) rex_row_object((pointer), 0, REX_TYPE_RETURN)
/** REX_RETURN(row): maps as @row says and gives the device address back as well. */
#define REX_RETURN(row) rex_row_with(row, REX_TYPE_RETURN)
/**
 * rex_map_address(): what row @row of @map gave back: the device address of its base. The end of
 * the mapping puts the base back.
 */
static inline void *rex_map_address(const struct rex_map *map, int32_t row)
{
    return map->base[row];
}

/*
 * ---- Clauses: structs and pointers in them ----------------------------------------------------
 *
 * An object whose members are mapped one by one has a row of its own, the parent, which spans them;
 * the members name it by its number, counted from 0 in the map:
 *
 *     REX_MAP(args, REX_STRUCT(s, count, data), REX_MEMBER(0, REX_TYPE_TO, s, count),
 *             REX_MEMBER_POINTER(0, REX_TYPE_TOFROM, s, data, 0, n));
 */

/** REX_STRUCT(object, first, last): the parent: the bytes from member @first to member @last. */
#define REX_STRUCT(object, first, last)                                      \
    (__extension__({                                                         \
        __typeof__(&(object)) rex_struct_address = &(object);                \
        rex_row_of(rex_struct_address, &rex_struct_address->first,           \
                   (int64_t)((const char *)(&rex_struct_address->last + 1) - \
                             (const char *)&rex_struct_address->first),      \
                   REX_TYPE_PARAMETER);                                      \
    }))
/** REX_MEMBER(parent, type, object, member): @member of @object, whose row is @parent. */
#define REX_MEMBER(parent, type_bits, object, member)                                  \
    (__extension__({                                                                   \
        __typeof__(&(object)) rex_member_of = &(object);                               \
        rex_row_member(rex_row_of(rex_member_of, &rex_member_of->member,               \
                                  (int64_t)sizeof rex_member_of->member, (type_bits)), \
                       (parent));                                                      \
    }))
/**
 * REX_MEMBER_POINTER(parent, type, object, member, lower, length): what the pointer @member of
 * @object points to, and the pointer: on the device it points to the device's copy.
 */
#define REX_MEMBER_POINTER(parent, type_bits, object, member, lower, length) \
    rex_row_member(REX_POINTEE(type_bits, (object).member, lower, length), parent)
/**
 * REX_POINTEE(type, pointer, lower, length): PTR_AND_OBJ: pointer[lower : length], with the pointer
 * @pointer, an lvalue, in base. For the row that maps the pointer make it a member: with
 * rex_row_member(), or in a mapper, where that happens by itself. Alone it leaves the pointer
 * mapped for good (LLVM 14 to 22).
 */
#define REX_POINTEE(type_bits, pointer, lower, length)                             \
    (__extension__({                                                               \
        __typeof__(&(pointer)) rex_pointee_address = &(pointer);                   \
        rex_row_of(rex_pointee_address, *rex_pointee_address + (lower),            \
                   rex_row_bytes((int64_t)(length), sizeof **rex_pointee_address), \
                   (type_bits) | REX_TYPE_POINTER | REX_TYPE_PARAMETER);           \
    }))

/**
 * REX_LINK(type, variable): a global of REX_GLOBAL_LINK() (rex/entry.h), whole, and its pointer on
 * the device. No parameter: kernels know the pointer.
 */
#define REX_LINK(type_bits, variable)                                                \
    rex_row_of(&variable##_decl_tgt_ref_ptr, &(variable), (int64_t)sizeof(variable), \
               (type_bits) | REX_TYPE_POINTER)

/*
 * ---- The static form --------------------------------------------------------------------------
 */

/**
 * REX_MAP(name, rows...): declares a map of 1 to 64 rows for a launch; every row that is no member
 * is a parameter of the kernel, in order. In a function; lives as long as the block.
 */
#define REX_MAP(name, ...) \
    REX_EACH(REX_ROW_DECLARE, name, __VA_ARGS__) REX_MAP_COLUMNS(name, #__VA_ARGS__, __VA_ARGS__)
/** REX_DATA_MAP(name, rows...): the same for a data region, enter data, exit data or update. */
#define REX_DATA_MAP(name, ...) \
    REX_EACH(REX_ROW_DECLARE_DATA, name, __VA_ARGS__)                                             \
    REX_MAP_COLUMNS(name, #__VA_ARGS__, __VA_ARGS__)
/**
 * REX_MAP_OF(name, count, rows...): REX_MAP() that does not compile unless there are @count rows.
 */
#define REX_MAP_OF(name, count, ...)                                   \
    REX_STATIC_ASSERT(REX_ROW_COUNT(__VA_ARGS__) == (count),           \
                      "the map " #name " has another number of rows"); \
    REX_EACH(REX_ROW_DECLARE, name, __VA_ARGS__)                       \
    REX_MAP_COLUMNS(name, #__VA_ARGS__, __VA_ARGS__)

/*
 * ---- The dynamic form -------------------------------------------------------------------------
 */

/**
 * struct rex_cursor: where rows go while a map is built. A row function passes it on to rex_push()
 * and rex_map_elements(); the fields are librex's, here only so that rex_push() can be inline.
 */
struct rex_cursor {
    int64_t row;   /**< number of the next row. */
    int64_t plain; /**< rows below this number are stored, or only counted, as they are. */
    /** base, begin, sizes, types, one behind the other; NULL in the pass that counts. */
    void **columns;
    int64_t capacity; /**< rows of a column. */
    /** type of the sections around, which says what of an element is copied; valid if depth > 0. */
    int64_t section;
    /** row of the section around, of which an element's rows are members; valid if depth > 0. */
    int64_t parent;
    void *handle; /**< of a mapper function that the runtime called: rows go there, at once. */
    int depth;    /**< mappers inside mappers. */
};

/**
 * rex_rows: a function that pushes the rows of one map, in order. It is called twice with the same
 * @context, to count and to fill, and must push as many rows each time. Returns 0, or an error that
 * ends the build.
 */
typedef int rex_rows(struct rex_cursor *cursor, void *context);

/**
 * rex_push_row(): rex_push() out of line, for code generators and for the rows that need a closer
 * look. Returns likewise, and REX_EINVAL where @cursor is NULL.
 */
REX_API int rex_push_row(struct rex_cursor *cursor, struct rex_row row);

/**
 * rex_push(): adds @row. Returns 0, or REX_EINVAL when the table is full, the size negative, or a
 * member's parent not before it.
 */
static inline int rex_push(struct rex_cursor *cursor, struct rex_row row)
{
    void **at = cursor->columns;
    if (row.size < 0 || (row.type & REX_TYPE_MEMBER_MASK) != 0 || cursor->row >= cursor->plain)
        return rex_push_row(cursor, row);
    if (at != NULL) {
        at += cursor->row;
        at[0] = row.base;
        at[cursor->capacity] = row.begin;
        memcpy(&at[2 * cursor->capacity], &row.size, sizeof row.size);
        memcpy(&at[3 * cursor->capacity], &row.type, sizeof row.type);
    }
    cursor->row++;
    return 0;
}

/**
 * rex_cursor_row(): number of the row that rex_push() adds next, counted from 0: what its members
 * name as their parent. REX_EINVAL where @cursor is NULL.
 */
REX_API int32_t rex_cursor_row(const struct rex_cursor *cursor);

/**
 * rex_map_build(): builds a map of @prefix, the rows that @rows pushes, and @suffix: one pass
 * counts, one allocation, one pass fills.
 * @map      receives the map; unchanged on failure. Free it with rex_map_free().
 * @prefix, @suffix   rows before and after; NULL for none. Copied, mappers of the runtime included;
 *                    MEMBER_OF numbers in @suffix are moved
 * along.
 * @rows, @context    the row function and its argument; NULL for none.
 * Returns 0; REX_ENOMEM; REX_EINVAL where @map or a column of @prefix or @suffix is NULL, the two
 * passes disagree, there are more rows than an int32_t counts, or a parent's number exceeds
 * REX_PARENT_MAX; or what @rows returned.
 */
REX_API int rex_map_build(struct rex_map *map, const struct rex_map *prefix, rex_rows *rows,
                          void *context, const struct rex_map *suffix);

/**
 * rex_map_free(): frees what rex_map_build() allocated and empties @map. NULL and maps of REX_MAP()
 * are left alone.
 */
REX_API void rex_map_free(struct rex_map *map);

/**
 * rex_mapper: maps one element of a type: pushes the rows of the element at @element, its pointees
 * included, as if it were mapped tofrom. What the section does not copy is taken off each row's
 * type. None of these rows is a parameter; those that name no parent become members of the
 * section's row, so that a mapper needs no numbers:
 *
 *     static int map_list(struct rex_cursor *cursor, void *element)
 *     {
 *         struct list *list = element;
 *         int result = rex_push(cursor, REX_OBJECT(REX_TYPE_TOFROM, *list));
 *         struct rex_row values = REX_POINTEE(REX_TYPE_TOFROM, list->values, 0, list->count);
 *         return result == 0 ? rex_push(cursor, values) : result;
 *     }
 *
 * Returns 0 or an error, which ends the build.
 */
typedef int rex_mapper(struct rex_cursor *cursor, void *element);

/**
 * rex_map_elements(): a section through a mapper: pushes a row for the section as a whole, which
 * copies nothing, and then the rows of each of its elements. A mapper may call it for sections of
 * its element's members: REX_POINTEE() gives their row.
 * @mapper         maps one element.
 * @section        the section's row: REX_TOFROM(particles, n); its type says what is copied, and
 *                 whether it is a parameter.
 * @element_size   bytes of an element.
 * Returns 0; REX_EINVAL where the cursor, the mapper or the section's begin is NULL, the section is
 * no whole number of elements, its row comes after REX_PARENT_MAX, or mappers nest deeper than 64;
 * or an error of rex_push() or @mapper.
 */
REX_API int rex_map_elements(struct rex_cursor *cursor, rex_mapper *mapper, struct rex_row section,
                             int64_t element_size);

/**
 * REX_RUNTIME_MAPPER(name, mapper, element_type): defines `name`, a mapper function of the
 * runtime's kind, from @mapper.
 */
#define REX_RUNTIME_MAPPER(name, mapper, element_type)                                    \
    static void name(void *rex_handle, void *rex_base, void *rex_begin, int64_t rex_size, \
                     int64_t rex_type, void *rex_map_name)                                \
    {                                                                                     \
        (void)rex_map_name;                                                               \
        rex_map_for_runtime(mapper, (int64_t)sizeof(element_type), rex_handle, rex_base,  \
                            rex_begin, rex_size, rex_type);                               \
    }

#ifdef __cplusplus
}
#endif

#include "rex/detail_pop.h"

/* The functions and macros behind those above: they need its types. */
#include "rex/detail.h"

#endif
