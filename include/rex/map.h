/*
 * rex/map.h - maps: what a launch or data region brings to the device, a row for each clause.
 *
 * A map has four columns: base address, begin address, size in bytes, type. A tour:
 *
 *     REX_LAUNCH(axpy, 8, 128, REX_VALUE(n), REX_TO(x, n), REX_TOFROM(y, n));  // a row a clause
 *     REX_MAP(args, REX_VALUE(n), REX_TO(x, n), REX_TOFROM(y, n));             // the same rows
 *     rex_launch(&launch, &args);                                              // rex/launch.h
 *     REX_MAP(region, REX_TO(x, n), REX_ALLOC(tmp, n));                        // a data region,
 *     __tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(region));                  // raw: rex_kmp.h
 *
 * REX_MAP() declares `args`, a `struct rex_map`, over plain local arrays: no heap. Rows that are
 * only known at run time are built by rex_map_build().
 *
 * A row is an expression of type `struct rex_row`. Every expression in it is evaluated once, a
 * pointer to variable length arrays twice. C says nothing of the order of rows; C++ goes from left
 * to right. A row holds addresses: the memory behind them must stay allocated while it is mapped. A
 * value is taken when the row is made.
 *
 * Making a row reports no error. A row that no release of LLVM accepts is REX_EINVAL of the call
 * that gets the map. The message has the row's number, from 0. It also has the text of a row that a
 * launch, a region or REX_MAP() was given, if the text begins with REX_.
 *
 * All of this may be used in any thread. A map must not be changed while a call uses it. Names that
 * begin with rex_detail_ are librex's: its macros declare variables of such names beside a
 * program's own.
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
     * base address; of REX_MAP_LITERAL the value, or where it is if it has more than 8 bytes; of
     * REX_MAP_PTR_AND_OBJ where the pointer is.
     */
    void *base;
    void *begin;  /**< first byte; of REX_MAP_LITERAL as @base. */
    int64_t size; /**< bytes. */
    int64_t type; /**< REX_MAP_ bits. */
};

/**
 * struct rex_map: a table of rows, in columns. The columns belong to what made them: REX_MAP() or
 * rex_map_build(). A program may also fill one in over columns of its own.
 */
struct rex_map {
    int32_t count;  /**< rows. */
    void **base;    /**< column 1. */
    void **begin;   /**< column 2. */
    int64_t *sizes; /**< column 3, bytes. */
    int64_t *types; /**< column 4. */
    /**
     * a mapper function of the runtime's kind for each row, REX_RUNTIME_MAPPER(), NULL for a row
     * that has none; or NULL. The caller's array.
     */
    void **mappers;
    /**
     * the allocation behind the columns of rex_map_build(), or the text of the rows of REX_MAP(),
     * which messages quote; NULL for columns of your own.
     */
    void *storage;
};

/**
 * REX_MAP_ARGUMENTS(map): count and columns of @map, a variable, as five arguments of a raw
 * `__tgt_*` call. @map is evaluated five times.
 */
#define REX_MAP_ARGUMENTS(map) (map).count, (map).base, (map).begin, (map).sizes, (map).types

/** rex_row_of(): a row from its four columns; @size in bytes, @type of REX_MAP_ bits. */
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
 * rex_row_member(): @row as a member of the object in row @parent, counted from 0, at most
 * REX_PARENT_MAX. The parent comes before it, and contains it unless it is an attached pointer. A
 * member is no parameter of a kernel.
 */
static inline struct rex_row rex_row_member(struct rex_row row, int32_t parent)
{
    row.type = (row.type & ~REX_MAP_TARGET_PARAM) | REX_MAP_MEMBER_OF(parent);
    if (parent < 0 || parent > REX_PARENT_MAX)
        row.size = -1; /* what librex refuses: the number does not fit in its 16 bits */
    return row;
}

/*
 * ---- Rows of memory: what is mapped and copied ------------------------------------------------
 *
 * @pointer is an array or a pointer to a complete type; @lower and @length count its elements.
 * Memory that is mapped already is not copied: only its reference count changes. If @length is 0,
 * nothing is mapped, and the kernel gets what REX_POINTER() tells; in a queue on a GPU it gets NULL
 * for memory that is not mapped. A negative length is REX_EINVAL of the call.
 *
 * Guide: rex-maps(7).
 */

/**
 * REX_SECTION(type, pointer, lower, length): map(...: pointer[lower : length]); base is the
 * pointer, begin the first element mapped. The kernel gets the device address of the *base*, so
 * that it indexes as the host does. @type is REX_MAP_TO, REX_MAP_FROM, REX_MAP_TOFROM or
 * REX_MAP_ALLOC, with other bits of a map type where needed.
 */
#define REX_SECTION(type_bits, pointer, lower, length)                               \
    REX_ROW(REX_OF(pointer),                                                         \
            rex_row_section((type_bits), (uintptr_t)(pointer), REX_ELEMENT(pointer), \
                            (int64_t)(lower), (int64_t)(length)))
/** REX_TO(pointer, length): map(to: pointer[0 : length]): copied when the mapping begins. */
#define REX_TO(pointer, length) REX_SECTION(REX_MAP_TO, pointer, 0, length)
/**
 * REX_FROM(pointer, length): map(from: pointer[0 : length]): copied back when the mapping ends.
 * Elements that no kernel has written are undefined then.
 */
#define REX_FROM(pointer, length) REX_SECTION(REX_MAP_FROM, pointer, 0, length)
/** REX_TOFROM(pointer, length): map(tofrom: pointer[0 : length]): copied both ways. */
#define REX_TOFROM(pointer, length) REX_SECTION(REX_MAP_TOFROM, pointer, 0, length)
/**
 * REX_ALLOC(pointer, length): map(alloc: pointer[0 : length]): mapped, and not copied. In a launch
 * it is scratch memory, unless a region has mapped it: REX_PRESENT(REX_ALLOC(pointer, length)).
 */
#define REX_ALLOC(pointer, length) REX_SECTION(REX_MAP_ALLOC, pointer, 0, length)
/**
 * REX_RELEASE(pointer, length): map(release: ...), for rex_data_exit(): one reference less, no
 * copy. The same bits as REX_ALLOC().
 */
#define REX_RELEASE(pointer, length) REX_SECTION(REX_MAP_ALLOC, pointer, 0, length)
/**
 * REX_DELETE(pointer, length): map(delete: ...), for rex_data_exit(): no reference left, no copy.
 */
#define REX_DELETE(pointer, length) REX_SECTION(REX_MAP_DELETE, pointer, 0, length)
/**
 * REX_OBJECT(type, object): one variable, array or struct, whole; @type as in REX_SECTION(). The
 * kernel gets its address.
 */
#define REX_OBJECT(type_bits, object)                                                   \
    REX_ROW(REX_OF_ANY_POINTER,                                                         \
            rex_row_part((type_bits) | REX_MAP_TARGET_PARAM, (uintptr_t)(&(object)), 0, \
                         sizeof(__typeof__(object))))
/**
 * REX_POINTER(pointer): a pointer that a kernel uses and no clause maps: the device address of what
 * it points to, if that is mapped; the host address (LLVM 16 on) or NULL (14, 15) otherwise. In a
 * queue it must be mapped.
 */
#define REX_POINTER(pointer) REX_SECTION(REX_MAP_IMPLICIT, pointer, 0, 0)

/*
 * ---- Modifiers of rows ------------------------------------------------------------------------
 *
 * Each makes a row of @row, and they nest: `REX_ALWAYS(REX_PRESENT(REX_TO(x, n)))`.
 */

/** REX_ALWAYS(row): map(always, ...): copies whatever the reference count. */
#define REX_ALWAYS(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_ALWAYS))
/**
 * REX_CLOSE(row): map(close, ...): asks for memory near the device; only matters with unified
 * shared memory.
 */
#define REX_CLOSE(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_CLOSE))
/** REX_PRESENT(row): map(present, ...): must be mapped already: REX_EABSENT if it is not. */
#define REX_PRESENT(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_PRESENT))
/**
 * REX_HOLD(row): map(ompx_hold, ...): stays mapped until a call ends a row with REX_HOLD(),
 * whatever REX_DELETE() asks.
 */
#define REX_HOLD(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_OMPX_HOLD))
/**
 * REX_NO_PARAM(row): maps as @row says, and is no parameter of the kernel: memory that the kernel
 * reaches by another pointer, or a global of REX_GLOBAL(), which is mapped with its image: only
 * REX_ALWAYS() and updates copy it.
 */
#define REX_NO_PARAM(row) REX_ROW(REX_OF_NONE, rex_row_without((row), REX_MAP_TARGET_PARAM))
/**
 * REX_IMPLICIT(row): marks a row that no clause names, as compilers do for captured variables. It
 * may reach past memory that is mapped, unless it is copied then.
 */
#define REX_IMPLICIT(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_IMPLICIT))

/*
 * ---- Rows of values, private copies and device addresses --------------------------------------
 *
 * For launches alone: REX_EINVAL in a data call.
 */

/**
 * REX_VALUE(expression): a value of at most 8 bytes, which the compiler checks: integers, bool,
 * char, enums, floating point, small structs, pointers taken as they are; no arrays. An integer is
 * sign- or zero-extended to 8 bytes, anything else filled up with zeros. The row has the size of
 * the expression's type, and its kind: REX_MAP_KIND(). An integer fits an integer parameter that is
 * at least as wide; any other value, a parameter of its own type.
 */
#define REX_VALUE(expression) REX_ROW(REX_OF(expression), rex_row_scalar(REX_SCALAR(expression)))
/**
 * REX_IS_DEVICE_PTR(pointer): is_device_ptr, has_device_addr: a pointer that already is a device
 * address.
 */
#define REX_IS_DEVICE_PTR(pointer) \
    REX_ROW(REX_OF_ANY_POINTER, rex_row_address((const volatile void *)(pointer)))
/**
 * REX_FIRSTPRIVATE(object): firstprivate: the kernel gets the address of a copy of its own, of any
 * size; changes do not come back. Not in a queue.
 */
#define REX_FIRSTPRIVATE(object) REX_OBJECT(REX_MAP_PRIVATE | REX_MAP_TO, object)
/**
 * REX_PRIVATE(object): private: the kernel gets the address of uninitialised memory of the object's
 * size. Not in a queue.
 */
#define REX_PRIVATE(object) REX_OBJECT(REX_MAP_PRIVATE, object)

/*
 * ---- Rows that give a device address back -----------------------------------------------------
 *
 * For data calls with a map that the program keeps: REX_EINVAL in a launch.
 */

/**
 * REX_USE_DEVICE_PTR(pointer): use_device_ptr: when the region has begun, column 1 of the row
 * holds the device address of what @pointer points to: rex_map_address(). That must be mapped, by
 * an earlier row or before. If it is not, that is no error: on each release column 1 keeps
 * @pointer, the host's address, as OpenMP says.
 */
#define REX_USE_DEVICE_PTR(pointer) \
    REX_ROW(REX_OF_NONE, rex_row_object((pointer), 0, REX_MAP_RETURN_PARAM))
/**
 * REX_OR_NULL(row): use_device_ptr(fb_nullify): as @row, a REX_USE_DEVICE_PTR(), says, but the
 * address is NULL for memory that is not mapped. On the host all memory counts as mapped.
 */
#define REX_OR_NULL(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_FB_NULLIFY))
/** REX_RETURN(row): maps as @row says and gives the device address back as well. */
#define REX_RETURN(row) REX_ROW(REX_OF_ROW(row), rex_row_with((row), REX_MAP_RETURN_PARAM))
/**
 * rex_map_address(): what row @row of @map, counted from 0, gave back: the device address of its
 * base. It is valid until a call ends the mapping. rex_data_exit() with @map, or the end of its
 * region, puts the base back. Neither argument is checked.
 */
static inline void *rex_map_address(const struct rex_map *map, int32_t row)
{
    return map->base[row];
}

/*
 * ---- Rows of structs, and of pointers in them -------------------------------------------------
 *
 * An object whose members are mapped one by one has a row of its own, the parent, which spans them;
 * the members name it by its number, counted from 0 in the map:
 *
 *     REX_MAP(args, REX_STRUCT(s, count, data), REX_MEMBER(0, REX_MAP_TO, s, count),
 *             REX_MEMBER_POINTER(0, REX_MAP_TOFROM, s, data, 0, n));
 */

/**
 * REX_STRUCT(object, first, last): the parent: the bytes from member @first to member @last, which
 * contain all members that are mapped. It copies nothing. The kernel gets the address of @object.
 */
#define REX_STRUCT(object, first, last)                                \
    REX_ROW(REX_OF_ANY_POINTER,                                        \
            rex_row_part(REX_MAP_TARGET_PARAM, (uintptr_t)(&(object)), \
                         offsetof(__typeof__(object), first), REX_END_OF(object, last)))
/** REX_MEMBER(parent, type, object, member): @member of @object, whose row has number @parent. */
#define REX_MEMBER(parent, type_bits, object, member)                                      \
    REX_ROW(REX_OF_NONE, rex_row_member(rex_row_part((type_bits), (uintptr_t)(&(object)),  \
                                                     offsetof(__typeof__(object), member), \
                                                     REX_END_OF(object, member)),          \
                                        (parent)))
/**
 * REX_MEMBER_POINTER(parent, type, object, member, lower, length): what the pointer @member of
 * @object points to, and the pointer: on the device it points to the device's copy. @lower and
 * @length count elements of what it points to.
 */
#define REX_MEMBER_POINTER(parent, type_bits, object, member, lower, length) \
    REX_ROW(REX_OF_NONE,                                                     \
            rex_row_member(REX_ATTACH(type_bits, (object).member, lower, length), (parent)))
/**
 * REX_ATTACH(type, pointer, lower, length): PTR_AND_OBJ: pointer[lower : length], with the pointer
 * @pointer, an lvalue, in base. Make it a member of the row that maps the pointer: with
 * rex_row_member(), or in a mapper, where that happens by itself. Alone it leaves the pointer
 * mapped for good, on every release.
 */
#define REX_ATTACH(type_bits, pointer, lower, length)                                      \
    REX_ROW(REX_OF(pointer), rex_row_attach((type_bits), &(pointer), REX_ELEMENT(pointer), \
                                            (int64_t)(lower), (int64_t)(length)))

/**
 * REX_LINK(type, variable): a global of REX_GLOBAL_LINK() (rex/entry.h), whole, and its pointer on
 * the device. No parameter: kernels know the pointer.
 */
#define REX_LINK(type_bits, variable)                                                    \
    REX_ROW(REX_OF_NONE, rex_row_of(&REX_JOIN(variable, _decl_tgt_ref_ptr), &(variable), \
                                    (int64_t)sizeof(variable), (type_bits) | REX_MAP_PTR_AND_OBJ))

/*
 * ---- Static maps: rows that stand in the program ----------------------------------------------
 */

/**
 * REX_MAP(name, rows...): declares `name`, a struct rex_map of one row or more, for a launch, a
 * data region, enter data, exit data or an update. It stands in a function. Its columns are local
 * arrays: it lives as long as the block.
 *
 * In a launch each row is a parameter of the kernel, in order, but for members of structs,
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
 * This maps the arrays of a list of structs, with the members data, count and next, and copies
 * them to the device:
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
 * struct rex_map_builder: where rows go while a map is built. Its content is librex's. It is valid
 * during the call that it is passed to, in the thread of that call.
 */
struct rex_map_builder;

/**
 * rex_rows: a function that adds the rows of one map, in order. It is called twice with the same
 * @context, to count and to fill, and must add as many rows each time. Returns 0, or an error that
 * ends the build.
 */
typedef int rex_rows(struct rex_map_builder *builder, void *context);

/**
 * rex_map_add(): adds @row. Returns 0, or REX_EINVAL: @builder is NULL, there are more rows than
 * were counted or than an int32_t counts, the size is negative, a member's parent is not before it,
 * or a mapper adds memory at NULL, or memory of the section that reaches out of its element.
 */
REX_API int rex_map_add(struct rex_map_builder *builder, struct rex_row row);

/**
 * rex_map_next_row(): number of the row that rex_map_add() adds next, counted from 0: its
 * members name that as their parent. REX_EINVAL where @builder is NULL.
 */
REX_API int32_t rex_map_next_row(const struct rex_map_builder *builder);

/**
 * rex_map_build(): builds a map of @prefix, the rows that @rows adds, and @suffix: one pass
 * counts, one allocation, one pass fills.
 *
 * @map      receives the map; unchanged on failure. Free it with rex_map_free().
 * @prefix   rows before those of @rows; NULL for none. They are copied, their `mappers` column
 *           included, and stay the caller's.
 * @rows     the row function; NULL for no rows.
 * @context  the second argument of @rows.
 * @suffix   rows after those of @rows, as @prefix. Members count their parents from the suffix's
 *           first row; librex adapts the numbers.
 *
 * Returns 0; REX_ENOMEM; REX_EINVAL where @map or a column of @prefix or @suffix is NULL or their
 * number of rows negative, rex_map_add() refuses a row of them, the two passes disagree, there are
 * more rows than an int32_t counts, or a parent's number exceeds REX_PARENT_MAX; or what @rows
 * returned.
 */
REX_API int rex_map_build(struct rex_map *map, const struct rex_map *prefix, rex_rows *rows,
                          void *context, const struct rex_map *suffix);

/**
 * rex_map_free(): frees what rex_map_build() allocated and empties @map. NULL and maps of REX_MAP()
 * are left alone.
 */
REX_API void rex_map_free(struct rex_map *map);

/*
 * ---- Mappers: functions that map one element of a type ----------------------------------------
 */

/**
 * rex_mapper: maps one element of a type: adds the rows of the element at @element, and of what its
 * pointers point to, as if it were mapped tofrom. Copies that the section does not have are taken
 * off each row's type; always, delete, close, present and hold of the section are added. None of
 * these rows is a parameter; those that name no parent become members of the section's row, so that
 * a mapper needs no numbers:
 *
 *     static int map_list(struct rex_map_builder *builder, void *element)
 *     {
 *         struct list *list = element;
 *         int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *list));
 *         struct rex_row values = REX_ATTACH(REX_MAP_TOFROM, list->values, 0, list->count);
 *         return result == 0 ? rex_map_add(builder, values) : result;
 *     }
 *
 * A row lies in the element, or is an attached pointer. Returns 0 or an error, which ends the
 * build.
 */
typedef int rex_mapper(struct rex_map_builder *builder, void *element);

/**
 * rex_map_add_mapped(): a section through a mapper: adds a row for the section as a whole, which
 * copies nothing, and then the rows of each of its elements. A mapper may call it for sections of
 * its element's members: REX_ATTACH() gives their row.
 *
 * @mapper        maps one element.
 * @section       the section's row: REX_TOFROM(particles, n); its type says what is copied, and
 *                whether it is a parameter.
 * @element_size  bytes of an element.
 *
 * A call that maps the section is REX_EOVERLAP where only some elements are mapped already: the
 * other ones would not lie beside them on the device.
 *
 * Returns 0; REX_EINVAL where the builder, the mapper or the begin of a section with elements is
 * NULL; REX_EINVAL where the section is no whole number of elements, its row comes after
 * REX_PARENT_MAX, or mappers nest deeper than 64; or an error of rex_map_add() or @mapper.
 */
REX_API int rex_map_add_mapped(struct rex_map_builder *builder, rex_mapper *mapper,
                               struct rex_row section, int64_t element_size);

/**
 * REX_RUNTIME_MAPPER(name, mapper, element_type): defines `name`, a static mapper function of the
 * runtime's kind, from @mapper, a rex_mapper of elements of @element_type. At file scope. Its
 * address goes into the `mappers` of a struct rex_map; libomptarget then calls it for the row:
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

/* The functions and macros behind those above: they need its types. */
#include "rex/detail.h"

#endif
