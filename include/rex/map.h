/*
 * rex/map.h - maps: the arguments of launches and data regions, a row for each clause.
 *
 * A map has four columns: base address, begin address, size in bytes, type. A tour:
 *
 *     REX_LAUNCH(axpy, 8, 128, REX_VALUE(n), REX_TO(x, n), REX_TOFROM(y, n));  // a row a clause
 *     REX_MAP(args, REX_VALUE(n), REX_TO(x, n), REX_TOFROM(y, n));             // the same rows
 *     rex_launch(&launch, &args);                                              // rex/launch.h
 *     REX_MAP(region, REX_TO(x, n), REX_ALLOC(tmp, n));                        // a data region,
 *     __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));                  // raw: rex_kmp.h
 *
 * REX_MAP() declares `args`, a `struct rex_map`, with local arrays as columns, without an
 * allocation. rex_map_build() makes a map of rows that are known at run time only.
 *
 * A row is an expression of type `struct rex_row`. Each expression in a row is evaluated once. Only
 * an expression whose type has a variable array length may be evaluated twice. C does not define
 * the order in which rows are evaluated; C++ evaluates rows from left to right. A row has
 * addresses: the memory at these addresses must stay allocated while the memory is mapped.
 * REX_VALUE() reads the value when the row is made.
 *
 * A row macro reports no error at run time. If a row is invalid, the call that uses the map returns
 * an error, usually REX_EINVAL; but a raw call may pass the row to libomptarget. If a call does
 * nothing, because offloading is disabled or the device is the host, librex may leave the rows
 * unchecked. The message has the row's number, counted from 0. For a row in a launch, a region or a
 * REX_MAP() the message also has the row's source text, if the text begins with REX_. Raw calls do
 * not know the text.
 *
 * Any thread may use these macros and functions. The program must not change a map while a call
 * uses the map. Names that begin with rex_detail_ are librex's: macros of librex declare variables
 * of such names in the program's functions.
 *
 * Guide: rex-maps(7).
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_MAP_H
#define REX_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "rex/abi.h"
#include "rex/error.h"
#include "rex/kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- Rows and maps: tables of four columns ----------------------------------------------------
 *
 * Guide: rex-maps(7).
 */

/** struct rex_row: one row of a map. */
struct rex_row {
    /**
     * base address. In a row with REX_MAP_LITERAL: the value, or the address of a value of more
     * than 8 bytes. In a row with REX_MAP_PTR_AND_OBJ: the address of the pointer.
     */
    void *base;
    void *begin;  /**< first byte; for REX_MAP_LITERAL equal to @base. */
    int64_t size; /**< size in bytes. */
    int64_t type; /**< REX_MAP_ bits. */
};

/**
 * struct rex_map: a table of rows, in columns. REX_MAP() or rex_map_build() makes the columns. A
 * program may also fill in the struct with columns of its own.
 */
struct rex_map {
    int32_t count;  /**< number of rows. */
    void **base;    /**< column 1. */
    void **begin;   /**< column 2. */
    int64_t *sizes; /**< column 3, in bytes. */
    int64_t *types; /**< column 4. */
    /**
     * an array of mapper functions of libomptarget's kind (REX_RUNTIME_MAPPER()). Each row has an
     * element, which is NULL if the row has no mapper. @mappers may be NULL. In a map of
     * rex_map_build() the array is in the allocation of the map, otherwise it belongs to the
     * caller.
     */
    void **mappers;
    /**
     * in a map of rex_map_build(): the allocation that has the columns. In a map of REX_MAP(): the
     * source text of the rows, for messages. NULL if the program made the columns.
     */
    void *storage;
};

/**
 * REX_MAP_ARGUMENTS(map): five arguments of a raw `__tgt_*` call: the number of rows of @map, and
 * its four columns. @map is evaluated five times.
 */
#define REX_MAP_ARGUMENTS(map) (map).count, (map).base, (map).begin, (map).sizes, (map).types

/**
 * rex_row_of(): returns a row with these columns. @size is in bytes, and @type has REX_MAP_ bits.
 */
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
 * rex_row_member(): returns @row as a member of the object in row @parent. Rows are counted from 0,
 * and @parent is at most REX_PARENT_MAX. The parent's row must come before the member's row. The
 * parent must contain the member, unless the member is an attached pointer. A member is not a
 * parameter of the kernel.
 */
static inline struct rex_row rex_row_member(struct rex_row row, int32_t parent)
{
    row.type = (row.type & ~REX_MAP_TARGET_PARAM) | REX_MAP_MEMBER_OF(parent);
    if (parent < 0 || parent > REX_PARENT_MAX)
        row.size = -1; /* librex refuses the row: the number does not fit in 16 bits */
    return row;
}

/*
 * ---- Rows of memory ---------------------------------------------------------------------------
 *
 * @pointer is an array or a pointer to a complete type; @lower and @length count its elements. If
 * the memory is mapped already, a launch or the begin of a region copies only rows of REX_ALWAYS().
 * For other rows only the reference count changes. If @length is negative, the call returns
 * REX_EINVAL; but a raw launch may pass the row to libomptarget. If @length is 0, the call maps
 * nothing. If the memory is not mapped already, the kernel then gets the host address. On LLVM 14
 * and 15 the kernel gets another address: in a GPU's queue NULL, elsewhere NULL minus the size of
 * @lower elements. REX_POINTER() describes an exception: memory before a mapped section.
 *
 * Guide: rex-maps(7).
 */

/**
 * REX_SECTION(type, pointer, lower, length): map(...: pointer[lower : length]). The base of the row
 * is @pointer; column 2 of the row is the address of the first mapped element. The kernel gets the
 * device address of the *base*, so that an element has the same index on host and device. @type is
 * REX_MAP_TO, REX_MAP_FROM, REX_MAP_TOFROM or REX_MAP_ALLOC, with other bits of a map type if
 * needed.
 */
#define REX_SECTION(type_bits, pointer, lower, length)                               \
    REX_ROW(REX_OF(pointer),                                                         \
            rex_row_section((type_bits), (uintptr_t)(pointer), REX_ELEMENT(pointer), \
                            (int64_t)(lower), (int64_t)(length)))
/**
 * REX_TO(pointer, length): map(to: pointer[0 : length]): copied when a call with this row begins
 * the mapping.
 */
#define REX_TO(pointer, length) REX_SECTION(REX_MAP_TO, pointer, 0, length)
/**
 * REX_FROM(pointer, length): map(from: pointer[0 : length]): copied back when a call with this row
 * ends the mapping. Elements that nothing has written on the device are undefined after the copy.
 */
#define REX_FROM(pointer, length) REX_SECTION(REX_MAP_FROM, pointer, 0, length)
/** REX_TOFROM(pointer, length): map(tofrom: pointer[0 : length]): copied both ways. */
#define REX_TOFROM(pointer, length) REX_SECTION(REX_MAP_TOFROM, pointer, 0, length)
/**
 * REX_ALLOC(pointer, length): map(alloc: pointer[0 : length]): mapped but not copied. In a launch
 * outside of queues the row is scratch memory for this launch, if the memory is not mapped already.
 * REX_PRESENT(REX_ALLOC(p, n)) requires that the memory is mapped already.
 */
#define REX_ALLOC(pointer, length) REX_SECTION(REX_MAP_ALLOC, pointer, 0, length)
/**
 * REX_RELEASE(pointer, length): map(release: ...), for rex_data_exit(): drops one reference,
 * without a copy. The row equals the row of REX_ALLOC().
 */
#define REX_RELEASE(pointer, length) REX_SECTION(REX_MAP_ALLOC, pointer, 0, length)
/**
 * REX_DELETE(pointer, length): map(delete: ...), for rex_data_exit(): drops all references, except
 * those of REX_HOLD(), without a copy.
 */
#define REX_DELETE(pointer, length) REX_SECTION(REX_MAP_DELETE, pointer, 0, length)
/**
 * REX_OBJECT(type, object): one whole variable, array or struct; @type as for REX_SECTION(). The
 * kernel gets the address of the object on the device.
 */
#define REX_OBJECT(type_bits, object)                                                   \
    REX_ROW(REX_OF_ANY_POINTER,                                                         \
            rex_row_part((type_bits) | REX_MAP_TARGET_PARAM, (uintptr_t)(&(object)), 0, \
                         sizeof(__typeof__(object))))
/**
 * REX_POINTER(pointer): a pointer that a kernel uses and no clause maps. The kernel gets the device
 * address of the memory at @pointer. If the memory is not mapped, the kernel gets the host address,
 * or NULL on LLVM 14 and 15. But a launch in a queue returns REX_EABSENT.
 *
 * For a row of no elements, libomptarget of LLVM 15 and later treats memory between the base and
 * the begin of a mapped section as mapped. Example: a[10] to a[19] are mapped, with the base `a`.
 * If libomptarget launches, REX_POINTER(a) passes the device address of a[0].
 */
#define REX_POINTER(pointer) REX_SECTION(REX_MAP_IMPLICIT, pointer, 0, 0)

/*
 * ---- Modifiers of rows ------------------------------------------------------------------------
 *
 * A modifier makes a new row from @row. Modifiers nest: `REX_ALWAYS(REX_PRESENT(REX_TO(x, n)))`.
 */

/**
 * REX_ALWAYS(row): map(always, ...): copied, whatever the reference count is. A launch in a queue
 * refuses the row with REX_EINVAL.
 */
#define REX_ALWAYS(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_ALWAYS))
/**
 * REX_CLOSE(row): map(close, ...): asks for memory near the device; has an effect only with unified
 * shared memory.
 */
#define REX_CLOSE(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_CLOSE))
/**
 * REX_PRESENT(row): map(present, ...): if the memory is not mapped already, the call returns
 * REX_EABSENT. The end of a region does not check this; rex_queue_update() checks only rows that it
 * copies. On LLVM 14 to 22 memory that an earlier row of the same call maps counts as mapped.
 */
#define REX_PRESENT(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_PRESENT))
/**
 * REX_HOLD(row): map(ompx_hold, ...): the memory stays mapped, even after a REX_DELETE(), until
 * rows with REX_HOLD() have ended all mappings that rows with REX_HOLD() began.
 */
#define REX_HOLD(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_OMPX_HOLD))
/**
 * REX_NO_PARAM(row): makes a row like @row that is not a parameter of the kernel. Use such a row
 * for memory that the kernel reaches by another pointer, or for a global of REX_GLOBAL(). The load
 * of the image maps such a global, so a map copies the global only in an update call, or by
 * REX_ALWAYS().
 */
#define REX_NO_PARAM(row) REX_ROW(REX_OF_NONE, rex_row_without((row), REX_MAP_TARGET_PARAM))
/**
 * REX_IMPLICIT(row): marks a row without a clause, as compilers do for captured variables. An
 * implicit row without members can extend past the mapping in which the row begins, unless the call
 * copies the row. These calls refuse a row that extends past the mapping:
 *
 * - rex_data_exit() and the end of a region return REX_EOVERLAP for a row of REX_FROM() or
 *   REX_TOFROM(), even if another reference to the mapping is left.
 * - A launch in a queue and an update return REX_EABSENT.
 */
#define REX_IMPLICIT(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_IMPLICIT))

/*
 * ---- Rows of values, private copies and device addresses --------------------------------------
 *
 * These rows are for launches only. A data call of rex/launch.h refuses them with REX_EINVAL.
 */

/**
 * REX_VALUE(expression): passes a value: an integer, bool, char, enum, floating-point number, small
 * struct, or a pointer that is passed unchanged; not an array. The compiler checks that the value
 * has at most 8 bytes. An integer is sign- or zero-extended to 8 bytes; other values are padded
 * with zeros. In C++ wchar_t and charN_t are treated as structs. The row's size is the size of the
 * expression's type, and the row's kind (REX_MAP_KIND()) is the kind of that type. A value fits a
 * parameter of its own type, except a pointer whose value is from 1 to 4095. An integer or bool
 * also fits an integer parameter that is as wide or wider, if the kernel has a signature or the
 * parameter has 8 bytes.
 */
#define REX_VALUE(expression) REX_ROW(REX_OF(expression), rex_row_scalar(REX_SCALAR(expression)))
/**
 * REX_IS_DEVICE_PTR(pointer): is_device_ptr, has_device_addr: passes @pointer, which is a device
 * address already.
 */
#define REX_IS_DEVICE_PTR(pointer) \
    REX_ROW(REX_OF_ANY_POINTER, rex_row_address((const volatile void *)(pointer)))
/**
 * REX_FIRSTPRIVATE(object): firstprivate: the kernel gets the address of its own copy of @object.
 * @object may have any size above 0; changes are not copied back. A launch in a queue refuses the
 * row with REX_EINVAL.
 */
#define REX_FIRSTPRIVATE(object) REX_OBJECT(REX_MAP_PRIVATE | REX_MAP_TO, object)
/**
 * REX_PRIVATE(object): private: the kernel gets the address of uninitialised memory with the size
 * of @object. A launch in a queue refuses the row with REX_EINVAL.
 */
#define REX_PRIVATE(object) REX_OBJECT(REX_MAP_PRIVATE, object)

/*
 * ---- Rows that return a device address --------------------------------------------------------
 *
 * These rows are for the struct rex_map of rex_data_enter(), rex_data_exit() or
 * REX_DATA_REGION_MAP(). rex_launch() and the launch macros refuse these rows with REX_EINVAL.
 */

/**
 * REX_USE_DEVICE_PTR(pointer): use_device_ptr: after the region has begun, column 1 of the row has
 * the device address of the memory at @pointer; rex_map_address() reads it. An earlier row or call
 * should have mapped the memory. No later row of the map may map the memory. If the memory is not
 * mapped, there is no error: column 1 keeps @pointer, the host's address, as OpenMP requires. But
 * on LLVM 15 and later, memory between the base and the begin of a mapped section counts as mapped.
 * Example: a[10] to a[19] are mapped, with the base `a`. Column 1 of REX_USE_DEVICE_PTR(a) becomes
 * the device address of a[0].
 */
#define REX_USE_DEVICE_PTR(pointer) \
    REX_ROW(REX_OF_NONE, rex_row_object((pointer), 0, REX_MAP_RETURN_PARAM))
/**
 * REX_OR_NULL(row): use_device_ptr(fb_nullify): makes a row from @row, which REX_USE_DEVICE_PTR()
 * has made. If the memory is not mapped, column 1 of the new row becomes NULL. REX_USE_DEVICE_PTR()
 * describes what counts as mapped. If offloading is disabled or the device is the host, column 1
 * keeps the host's address.
 */
#define REX_OR_NULL(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_FB_NULLIFY))
/**
 * REX_RETURN(row): makes a row like @row. In addition, rex_data_enter() or the begin of the region
 * stores the device address of the row's base in column 1, even if the memory was mapped before.
 * rex_map_address() reads column 1. For REX_ATTACH() and REX_MEMBER_POINTER() the address is that
 * of element 0 of the memory that the pointer points to. If a row of no elements is not mapped (see
 * REX_USE_DEVICE_PTR()), column 1 gets the host address.
 */
#define REX_RETURN(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_RETURN_PARAM))
/**
 * rex_map_address(): returns column 1 of row @row of @map. Rows are counted from 0. After the
 * mapping has begun, column 1 has the address that REX_RETURN(), REX_USE_DEVICE_PTR() or
 * REX_OR_NULL() describes. A device address is valid until a call ends the mapping. rex_data_exit()
 * with @map, or the end of the region, restores the base in column 1. The arguments are not
 * checked.
 */
static inline void *rex_map_address(const struct rex_map *map, int32_t row)
{
    return map->base[row];
}

/*
 * ---- Rows of structs, and of pointers in them -------------------------------------------------
 *
 * If members of an object are mapped one by one, the object has a row of its own, the parent. The
 * parent spans the members. The row of a member names the parent by the number of the parent's row,
 * counted from 0 in the map:
 *
 *     REX_MAP(args, REX_STRUCT(s, count, data), REX_MEMBER(0, REX_MAP_TO, s, count),
 *             REX_MEMBER_POINTER(0, REX_MAP_TOFROM, s, data, 0, n));
 */

/**
 * REX_STRUCT(object, first, last): the parent's row: the bytes from member @first to member @last.
 * All mapped members must lie in these bytes. The parent's row copies nothing. The kernel gets the
 * address of @object on the device.
 */
#define REX_STRUCT(object, first, last)                                \
    REX_ROW(REX_OF_ANY_POINTER,                                        \
            rex_row_part(REX_MAP_TARGET_PARAM, (uintptr_t)(&(object)), \
                         offsetof(__typeof__(object), first), REX_END_OF(object, last)))
/**
 * REX_MEMBER(parent, type, object, member): maps @member of @object. @parent is the number of the
 * row of @object.
 */
#define REX_MEMBER(parent, type_bits, object, member)                                      \
    REX_ROW(REX_OF_NONE, rex_row_member(rex_row_part((type_bits), (uintptr_t)(&(object)),  \
                                                     offsetof(__typeof__(object), member), \
                                                     REX_END_OF(object, member)),          \
                                        (parent)))
/**
 * REX_MEMBER_POINTER(parent, type, object, member, lower, length): maps the pointer @member of
 * @object, and the memory to which the pointer points. On the device, the pointer has the device
 * address of element 0 of that memory. @lower and @length count elements of the memory.
 */
#define REX_MEMBER_POINTER(parent, type_bits, object, member, lower, length) \
    REX_ROW(REX_OF_NONE,                                                     \
            rex_row_member(REX_ATTACH(type_bits, (object).member, lower, length), (parent)))
/**
 * REX_ATTACH(type, pointer, lower, length): PTR_AND_OBJ: maps pointer[lower : length]. The row's
 * base is the address of the lvalue @pointer. Call rex_row_member() to make the row a member of the
 * row that maps the pointer. A mapper need not call rex_row_member(): rows of a mapper become
 * members. If the row is not a member, the end of the mapping leaves the pointer mapped, on every
 * LLVM release. Only a row for the pointer itself, such as REX_RELEASE(&pointer, 1) in
 * rex_data_exit(), then ends the mapping of the pointer.
 */
#define REX_ATTACH(type_bits, pointer, lower, length)                                      \
    REX_ROW(REX_OF(pointer), rex_row_attach((type_bits), &(pointer), REX_ELEMENT(pointer), \
                                            (int64_t)(lower), (int64_t)(length)))

/**
 * REX_LINK(type, variable): maps a whole global of REX_GLOBAL_LINK() (rex/entry.h), and sets the
 * image's pointer to the device address of the global. The row is not a parameter, because kernels
 * use this pointer.
 */
#define REX_LINK(type_bits, variable)                                                    \
    REX_ROW(REX_OF_NONE, rex_row_of(&REX_JOIN(variable, _decl_tgt_ref_ptr), &(variable), \
                                    (int64_t)sizeof(variable), (type_bits) | REX_MAP_PTR_AND_OBJ))

/*
 * ---- Static maps: rows that are known at compile time -----------------------------------------
 */

/**
 * REX_MAP(name, rows...): declares `name`, a struct rex_map of one or more rows, for a launch, a
 * data region, enter data, exit data or an update. Write the macro inside a function. The columns
 * of the map are local arrays, which live as long as the block.
 *
 * In a launch each row is a parameter of the kernel, in order, except members of structs,
 * REX_NO_PARAM() and REX_LINK().
 */
#define REX_MAP(name, ...)                                                                 \
    const struct rex_row rex_detail_##name##_rows[] = {__VA_ARGS__};                       \
    void *rex_detail_##name##_base[REX_MAP_ROWS(name)];                                    \
    void *rex_detail_##name##_begin[REX_MAP_ROWS(name)];                                   \
    int64_t rex_detail_##name##_sizes[REX_MAP_ROWS(name)];                                 \
    int64_t rex_detail_##name##_types[REX_MAP_ROWS(name)];                                 \
    struct rex_map name =                                                                  \
        rex_map_of(rex_detail_##name##_rows, REX_MAP_ROWS(name), rex_detail_##name##_base, \
                   rex_detail_##name##_begin, rex_detail_##name##_sizes,                   \
                   rex_detail_##name##_types, "  " #__VA_ARGS__)

/*
 * ---- Dynamic maps: rows that are known at run time --------------------------------------------
 *
 * This code maps the arrays of a list of structs, with the members data, count and next, and copies
 * the arrays to the device:
 *
 *     static int add_all(struct rex_map_builder *builder, void *context)
 *     {
 *         for (struct list *list = context; list != NULL; list = list->next) {
 *             int error = rex_map_add(builder, REX_TO(list->data, list->count));
 *             if (error != 0)
 *                 return error;
 *         }
 *         return 0;
 *     }
 *
 *     int enter_all(struct list *first)
 *     {
 *         struct rex_map map;
 *         int error = rex_map_build(&map, NULL, add_all, first, NULL);
 *         if (error != 0)
 *             return error;
 *         error = rex_data_enter(-1, &map);
 *         rex_map_free(&map);
 *         return error;
 *     }
 *
 * Guide: rex-maps(7).
 */

/**
 * struct rex_map_builder: a map that is being built. Only librex reads the builder. librex passes
 * the builder to a function of the program. Until this function returns, the thread that runs the
 * function may pass the builder to librex.
 */
struct rex_map_builder;

/**
 * rex_rows: a function of the program that adds the rows of one map, in order. librex calls the
 * function with @context to count the rows, and if this succeeds, once more to fill the map. The
 * function must add an equal number of rows each time. Returns 0, or an error, which
 * rex_map_build() then returns.
 */
typedef int rex_rows(struct rex_map_builder *builder, void *context);

/**
 * rex_map_add(): adds @row. Returns 0, or REX_EINVAL if:
 *
 * - @builder is NULL;
 * - there are more rows than the first pass counted, or more than 2147483647;
 * - the size of @row is negative;
 * - the parent of a member does not come before the member, or its number is above REX_PARENT_MAX;
 * - a mapper adds memory at NULL, or memory that is in the section but outside the mapper's
 *   element.
 */
REX_API int rex_map_add(struct rex_map_builder *builder, struct rex_row row);

/**
 * rex_map_next_row(): returns the number of the row that rex_map_add() adds next, counted from 0.
 * Members of that row pass this number as @parent. If @builder is NULL, returns REX_EINVAL.
 */
REX_API int32_t rex_map_next_row(const struct rex_map_builder *builder);

/**
 * rex_map_build(): builds a map of @prefix, the rows that @rows adds, and @suffix. A first pass
 * counts the rows; a second pass stores them in one allocation.
 *
 * @map      receives the map; unchanged on failure. Free the map with rex_map_free().
 * @prefix   rows before those of @rows; NULL: no rows. librex copies the rows and their `mappers`
 *           column; @prefix still belongs to the caller.
 * @rows     the row function; NULL: no rows.
 * @context  the second argument of @rows.
 * @suffix   rows after those of @rows, copied in the same way; NULL: no rows. In @suffix, the
 *           parent with number 0 is the first row of @suffix. librex adapts the numbers of parents
 *           in the copy.
 *
 * Returns 0, REX_ENOMEM, the error of @rows, or REX_EINVAL if:
 *
 * - @map, or a column of @prefix or @suffix, is NULL;
 * - @prefix or @suffix has a negative number of rows, or a row that rex_map_add() refuses;
 * - the passes add different numbers of rows;
 * - there are more than 2147483647 rows, or a parent's number is above REX_PARENT_MAX.
 */
REX_API int rex_map_build(struct rex_map *map, const struct rex_map *prefix, rex_rows *rows,
                          void *context, const struct rex_map *suffix);

/**
 * rex_map_free(): frees the columns of a map of rex_map_build() and empties @map. The call does
 * nothing if @map is NULL, was made by REX_MAP(), or has columns of the program (`storage` is
 * NULL).
 */
REX_API void rex_map_free(struct rex_map *map);

/*
 * ---- Mappers: functions that map one element of a type ----------------------------------------
 */

/**
 * rex_mapper: a function of the program that maps one element of a type. The function adds rows for
 * the element at @element, and for memory to which pointers in the element point. Write the rows
 * for an element that is mapped tofrom. librex removes from each row's type the directions that the
 * section does not have, and adds the section's modifiers: always, delete, close, present and hold.
 * These rows are not parameters. Rows without a parent become members of the section's row, so a
 * mapper needs no row numbers:
 *
 *     static int map_list(struct rex_map_builder *builder, void *element)
 *     {
 *         struct list *list = element;
 *         int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *list));
 *         struct rex_row values = REX_ATTACH(REX_MAP_TOFROM, list->values, 0, list->count);
 *         return result == 0 ? rex_map_add(builder, values) : result;
 *     }
 *
 * Each row maps memory of the element, or memory to which a pointer is attached. Returns 0, or an
 * error, which ends the build.
 */
typedef int rex_mapper(struct rex_map_builder *builder, void *element);

/**
 * rex_map_add_mapped(): adds a section with a mapper: a row for the whole section, which copies
 * nothing, and then the rows of each element. A mapper may itself call rex_map_add_mapped(), for
 * the memory that a pointer member of its element points to. In such a call, @section is a row of
 * REX_ATTACH().
 *
 * @mapper        the function that maps one element.
 * @section       the section's row: REX_TOFROM(particles, n). The row's type sets the directions of
 *                copies. The type may also make the section a parameter of the kernel.
 * @element_size  size of an element in bytes.
 *
 * If only some elements are mapped already, a call that maps the section fails: on the device the
 * unmapped elements would not be adjacent to the mapped elements. The error is REX_EABSENT if the
 * section has REX_PRESENT(), otherwise REX_EOVERLAP.
 *
 * Returns 0, an error of rex_map_add() or @mapper, or REX_EINVAL if:
 *
 * - @builder or @mapper is NULL;
 * - @section has elements, but column 2 of @section is NULL;
 * - the section is not a whole number of elements;
 * - a function other than a mapper makes the call, and the number of the section's row is above
 *   REX_PARENT_MAX;
 * - mappers nest deeper than 64.
 */
REX_API int rex_map_add_mapped(struct rex_map_builder *builder, rex_mapper *mapper,
                               struct rex_row section, int64_t element_size);

/**
 * REX_RUNTIME_MAPPER(name, mapper, element_type): defines `name`, a static mapper function of
 * libomptarget's kind, from @mapper, a rex_mapper of elements of @element_type. Write the macro at
 * file scope. Put the address of `name` into the `mappers` of a struct rex_map. libomptarget then
 * calls the function for the row in data calls and in launches, except in a GPU's queue:
 *
 *     REX_RUNTIME_MAPPER(list_mapper, map_list, struct list)
 *     ... // in a function:
 *     void *mappers[] = {(void *)list_mapper}; // one for each row
 *     REX_MAP(map, REX_TOFROM(lists, n));
 *     map.mappers = mappers;
 */
#define REX_RUNTIME_MAPPER(name, mapper, element_type)                                            \
    static void name(void *rex_detail_handle, void *rex_detail_base, void *rex_detail_begin,      \
                     int64_t rex_detail_size, int64_t rex_detail_type, void *rex_detail_name)     \
    {                                                                                             \
        (void)rex_detail_name;                                                                    \
        rex_map_for_runtime(mapper, (int64_t)sizeof(element_type), rex_detail_handle,             \
                            rex_detail_base, rex_detail_begin, rex_detail_size, rex_detail_type); \
    }

#ifdef __cplusplus
}
#endif

/* rex/detail.h has the parts of the macros above, and needs the types of this header. */
#include "rex/detail.h"

#endif
