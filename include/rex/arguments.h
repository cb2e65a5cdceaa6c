/*
 * rex/arguments.h - what the rows of a launch pass to a kernel, as the compiler compares it.
 *
 * rex/entry.h and rex/map.h include it. REX_KERNEL() may have the kernel's parameters:
 *
 *     REX_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y);
 *     REX_LAUNCH(axpy, 8, 128, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
 *
 * REX_KERNEL() declares the function axpy__arguments__(), which nothing defines, and REX_LAUNCH()
 * has a call of it in a sizeof, which evaluates nothing.
 *
 * A program needs a name of it for a macro of its own that makes a row: REX_ROW().
 *
 * Guide: rex-maps(7).
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_ARGUMENTS_H
#define REX_ARGUMENTS_H

#include "rex/kinds.h"
#include "rex/parameters.h"

/*
 * ---- Types: what the compiler compares --------------------------------------------------------
 *
 * All integers, bool included, are one type to the compiler, since a value widens; librex compares
 * their widths before the kernel runs. A pointer or a struct is of its own type.
 */

/** struct rex_integer: the type of every integer, bool and enum. */
struct rex_integer {
    char unused; /**< 0. */
};
/** struct rex_float: that of a float. */
struct rex_float {
    char unused; /**< 0. */
};
/** struct rex_double: that of a double. */
struct rex_double {
    char unused; /**< 0. */
};
#ifdef __cplusplus
extern "C++" {
/** struct rex_argument_type: its rex_type is REX_ARGUMENT_TYPE() of a type of kind @kind. */
template <class type, unsigned kind> struct rex_argument_type {
    /** of an integer. */
    typedef struct rex_integer rex_type;
};
/** Of a pointer. */
template <class type> struct rex_argument_type<type, REX_KIND_POINTER> {
    /** itself. */
    typedef type rex_type;
};
/** Of a float. */
template <class type> struct rex_argument_type<type, REX_KIND_F32> {
    /** rex_float. */
    typedef struct rex_float rex_type;
};
/** Of a double. */
template <class type> struct rex_argument_type<type, REX_KIND_F64> {
    /** rex_double. */
    typedef struct rex_double rex_type;
};
/** Of a struct: as a pointer's, whatever its size. */
template <class type, unsigned kind>
struct rex_argument_of
    : rex_argument_type<type, (kind & 15) == REX_KIND_VALUE ? (unsigned)REX_KIND_POINTER : kind> {
};
/** rex_argument(): REX_ARGUMENT() of a value; never defined. */
template <class type>
typename rex_argument_of<type, rex_type_kind<type>::rex_number>::rex_type rex_argument(type);
/** struct rex_any_pointer: fits every parameter that is a pointer. */
struct rex_any_pointer {
    /** never defined. */
    template <class type> operator type *() const;
};
}
/** REX_ARGUMENT(expression): an expression of the type that the compiler compares. */
#define REX_ARGUMENT(...) rex_argument(__VA_ARGS__)
/** REX_ARGUMENT_TYPE(type): that of a parameter. */
#define REX_ARGUMENT_TYPE(...) \
    rex_argument_of<__typeof__(__VA_ARGS__), REX_KIND_OF_TYPE(__VA_ARGS__)>::rex_type
/** REX_ARGUMENT_POINTER: an argument that fits every pointer. */
#define REX_ARGUMENT_POINTER rex_any_pointer()
#else
/* clang-format off */
/* REX_ARGUMENT(expression): the same in C. */
#define REX_ARGUMENT(...)                        \
    _Generic((__VA_ARGS__),                      \
        float: *(struct rex_float *)0,           \
        double: *(struct rex_double *)0,         \
        REX_EACH_INTEGER(REX_INTEGER_CASE)       \
        default: (__VA_ARGS__))
/** REX_INTEGER_CASE(type, kind): of one integer type. */
#define REX_INTEGER_CASE(type, kind) type: *(struct rex_integer *)0,
/* clang-format on */
/* REX_ARGUMENT_TYPE(type): the same in C. */
#define REX_ARGUMENT_TYPE(...) __typeof__(REX_ARGUMENT(*(__typeof__(__VA_ARGS__) *)0))
/* REX_ARGUMENT_POINTER: the same in C. */
#define REX_ARGUMENT_POINTER (void *)0
#endif

/*
 * ---- Rows: what they pass to a kernel ---------------------------------------------------------
 */

/** struct rex_at_most_64_rows: in the compiler's message about more of them: use REX_MAP(). */
struct rex_at_most_64_rows {
    char unused; /**< 0. */
};
/**
 * REX_ROW(of, call): a row that a macro makes, by @call, which returns a struct rex_row. @of says
 * what the row passes to a kernel, and is one of REX_OF(), REX_OF_ANY_POINTER and REX_OF_NONE. A
 * macro of a program's own that makes a row is of this form:
 *
 *     #define ON_DEVICE(address) REX_ROW(REX_OF(address), rex_row_address(address))
 *
 * It becomes `(((void)of), call)`, where REX_ROW_ARGUMENT() looks for @of.
 */
#define REX_ROW(of, ...) (((void)of), __VA_ARGS__)
/** REX_OF(expression): a value, or a pointer, of the expression's type. */
#define REX_OF(...) sizeof(__typeof__(__VA_ARGS__))
/** REX_OF_NONE: nothing. */
#define REX_OF_NONE 0
/** REX_OF_ANY_POINTER: a pointer of any type. */
#define REX_OF_ANY_POINTER 1
/** REX_OF_UNKNOWN: a parameter of unknown type, or nothing. */
#define REX_OF_UNKNOWN 2
/** REX_OF_ROW(row): what @row passes; REX_OF_UNKNOWN if no macro of rex/map.h made it. */
#define REX_OF_ROW(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_OF_OPENED, REX_OF_OTHER, )(row)
/** REX_OF_OTHER(row): REX_OF_UNKNOWN. */
#define REX_OF_OTHER(row) REX_OF_UNKNOWN
/** REX_OF_OPENED(row): the same, of a row that begins with a parenthesis. */
#define REX_OF_OPENED(row) \
    REX_PARAMETER_PICK(REX_OPENED row, REX_OF_OPENED_TWICE, REX_OF_OTHER, )(row)
/** REX_OF_OPENED_TWICE(row): the same, of one that begins with two. */
#define REX_OF_OPENED_TWICE(row) \
    REX_PARAMETER_PICK(REX_OPENED_TWICE row, REX_OF_MADE, REX_OF_OTHER, )(row)
/** REX_OF_MADE(row): the same, of one that begins with three: `of` without its `(void)`. */
#define REX_OF_MADE(row) REX_WITHOUT_VOID(REX_FIRST_IN row)
/** REX_OPENED: in front of `(first, more)` it makes two arguments if @first begins with one. */
#define REX_OPENED(...) REX_OPENED_FIRST(__VA_ARGS__, )
/** REX_OPENED_FIRST(first, more...): the same of @first. */
#define REX_OPENED_FIRST(first, ...) REX_PARAMETER_TYPE first
/** REX_OPENED_TWICE: the same, if @first begins with two. */
#define REX_OPENED_TWICE(...) REX_OPENED_TWICE_FIRST(__VA_ARGS__, )
/** REX_OPENED_TWICE_FIRST(first, more...): the same of @first. */
#define REX_OPENED_TWICE_FIRST(first, ...) REX_OPENED first
/** REX_FIRST_IN: in front of `((first), more)` it makes @first. */
#define REX_FIRST_IN(...) REX_FIRST_IN_OF(__VA_ARGS__, )
/** REX_FIRST_IN_OF(first, more...): the same of `(first)`. */
#define REX_FIRST_IN_OF(first, ...) REX_PARAMETER_BETWEEN first
/** REX_WITHOUT_VOID(tokens): without what is in parentheses at their begin. */
#define REX_WITHOUT_VOID(...) REX_WITHOUT_VOID_OF(__VA_ARGS__)
/** REX_WITHOUT_VOID_OF(tokens): the same, once all are expanded. */
#define REX_WITHOUT_VOID_OF(...) REX_SKIP __VA_ARGS__
/** REX_SKIP(): nothing. */
#define REX_SKIP(...)

/** REX_NO_ROW: what the compiler says of an argument that is no row. */
#define REX_NO_ROW "no row: write REX_VALUE(...) for a value, REX_TO(...) or its like for memory"
#ifndef __cplusplus
/**
 * REX_ROW_ELEMENT(none, between, m, context, row): for REX_WALK(): @row as an element of an array,
 * and a comma. If no macro of rex/map.h made it, the compiler checks its type first: many messages
 * of one wrong element would hide that.
 */
#define REX_ROW_ELEMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ELEMENT_OPENED, REX_ELEMENT_MAYBE, )(row)
/** REX_ELEMENT_MAYBE(row): the same, of a row without parentheses, or of nothing. */
#define REX_ELEMENT_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ELEMENT_2, )(row)
/** REX_ELEMENT_OPENED(row): the same, of a row in parentheses. */
#define REX_ELEMENT_OPENED(row) REX_ELEMENT_OF(REX_OF_ROW(row))(row)
/** REX_ELEMENT_OF(of): a macro for a row that passes @of. */
#define REX_ELEMENT_OF(...) REX_ELEMENT_IS(__VA_ARGS__)
/** REX_ELEMENT_IS(of): the same, once all is expanded. */
#define REX_ELEMENT_IS(...) REX_ELEMENT_##__VA_ARGS__
/** REX_ELEMENT_0(row): of a row that passes nothing. */
#define REX_ELEMENT_0(row) row,
/** REX_ELEMENT_1(row): of one that passes a pointer. */
#define REX_ELEMENT_1(row) row,
/** REX_ELEMENT_sizeof(type): a macro for a row that passes one of the type. */
#define REX_ELEMENT_sizeof(...) REX_ELEMENT_1
/** REX_ELEMENT_2(row): of one that no macro made. */
#define REX_ELEMENT_2(row)                                                                     \
    _Generic((row), struct rex_row                                                             \
             : (row), default                                                                  \
             : rex_row_of(NULL, NULL, 0, sizeof(struct {                                       \
                              _Static_assert(_Generic((row), struct rex_row : 1, default : 0), \
                                             REX_NO_ROW);                                      \
                              char rex_unused;                                                 \
                          }))),
#endif

/**
 * REX_ROW_ARGUMENT(none, between, m, context, row): for REX_WALK(): a comma and REX_ARGUMENT() of
 * what @row passes. A row that no macro of rex/map.h made is a struct rex_row, which fits no
 * parameter but those of a kernel without a list.
 */
#define REX_ROW_ARGUMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ARGUMENT_OF_ROW, REX_ROW_MAYBE, )(row)
/** REX_ROW_MAYBE(row): the same, of a row without parentheses, or of nothing. */
#define REX_ROW_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ARGUMENT_OF_ROW, )(row)
/** REX_ARGUMENT_OF_ROW(row): the same, of a row. */
#define REX_ARGUMENT_OF_ROW(row) REX_ARGUMENT_OF(REX_OF_ROW(row))
/** REX_ARGUMENT_OF(of): the same, of what a row passes. */
#define REX_ARGUMENT_OF(...) REX_ARGUMENT_IS(__VA_ARGS__)
/** REX_ARGUMENT_IS(of): the same, once all is expanded. */
#define REX_ARGUMENT_IS(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT_0: nothing. */
#define REX_ARGUMENT_0
/** REX_ARGUMENT_1: a pointer of any type. */
#define REX_ARGUMENT_1 , REX_ARGUMENT_POINTER
/** REX_ARGUMENT_2: a row. */
#define REX_ARGUMENT_2 , *(struct rex_row *)0
/** REX_ARGUMENT_sizeof(type): one of the type. */
#define REX_ARGUMENT_sizeof(...) REX_ARGUMENT_OF_TYPE(__VA_ARGS__)
/** REX_ARGUMENT_OF_TYPE(type): the same. */
#define REX_ARGUMENT_OF_TYPE(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT___typeof__(expression): of the expression's type. */
#define REX_ARGUMENT___typeof__(...) , REX_ARGUMENT(__VA_ARGS__)

#endif
