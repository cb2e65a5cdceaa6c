/*
 * rex/arguments.h - how the compiler compares the rows of a launch with a kernel's parameters.
 *
 * rex/entry.h and rex/map.h include it. REX_KERNEL() may have the kernel's parameters:
 *
 *     REX_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y);
 *     REX_LAUNCH(axpy, 8, 128, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
 *
 * REX_KERNEL() declares the function axpy__arguments__(), which is never defined. REX_LAUNCH()
 * calls it inside a sizeof, which evaluates nothing.
 *
 * A program that has a macro of its own for rows needs one name of this header: REX_ROW().
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
 * ---- Types that the compiler compares ---------------------------------------------------------
 *
 * In this comparison all integer types and bool are one type: a value may widen to its parameter.
 * librex compares the widths before the kernel runs. Each pointer type and each struct type stays a
 * type of its own.
 */

/** struct rex_integer: stands for every integer, bool and enum type in the comparison. */
struct rex_integer {
    char unused; /**< 0. */
};
/** struct rex_float: stands for the type float in the comparison. */
struct rex_float {
    char unused; /**< 0. */
};
/** struct rex_double: stands for the type double in the comparison. */
struct rex_double {
    char unused; /**< 0. */
};
#ifdef __cplusplus
extern "C++" {
/**
 * struct rex_argument_type: rex_type is the type with which an argument of @type is compared. @kind
 * is the kind of @type.
 */
template <class type, unsigned kind> struct rex_argument_type {
    /** the type for an integer. */
    typedef struct rex_integer rex_type;
};
/** rex_argument_type of a pointer. */
template <class type> struct rex_argument_type<type, REX_KIND_POINTER> {
    /** @type itself. */
    typedef type rex_type;
};
/** rex_argument_type of a float. */
template <class type> struct rex_argument_type<type, REX_KIND_F32> {
    /** the type for a float. */
    typedef struct rex_float rex_type;
};
/** rex_argument_type of a double. */
template <class type> struct rex_argument_type<type, REX_KIND_F64> {
    /** the type for a double. */
    typedef struct rex_double rex_type;
};
/**
 * struct rex_argument_of: like rex_argument_type, but a struct of any size keeps its own type, as a
 * pointer does.
 */
template <class type, unsigned kind>
struct rex_argument_of
    : rex_argument_type<type, (kind & 15) == REX_KIND_VALUE ? (unsigned)REX_KIND_POINTER : kind> {
};
/** rex_argument(): returns the type with which a value of @type is compared; never defined. */
template <class type>
typename rex_argument_of<type, rex_type_kind<type>::rex_number>::rex_type rex_argument(type);
/** struct rex_any_pointer: an argument that fits every pointer parameter. */
struct rex_any_pointer {
    /** never defined. */
    template <class type> operator type *() const;
};
}
/** REX_ARGUMENT(expression): an expression of the type with which @expression is compared. */
#define REX_ARGUMENT(...) rex_argument(__VA_ARGS__)
/** REX_ARGUMENT_TYPE(type): the type that stands for a parameter of @type in the comparison. */
#define REX_ARGUMENT_TYPE(...) \
    rex_argument_of<__typeof__(__VA_ARGS__), REX_KIND_OF_TYPE(__VA_ARGS__)>::rex_type
/** REX_ARGUMENT_POINTER: an argument that fits every pointer. */
#define REX_ARGUMENT_POINTER rex_any_pointer()
#else
/* clang-format off */
/* REX_ARGUMENT(expression) in C. */
#define REX_ARGUMENT(...)                        \
    _Generic((__VA_ARGS__),                      \
        float: *(struct rex_float *)0,           \
        double: *(struct rex_double *)0,         \
        REX_EACH_INTEGER(REX_INTEGER_CASE)       \
        default: (__VA_ARGS__))
/** REX_INTEGER_CASE(type, kind): the case of REX_ARGUMENT() for one integer type. */
#define REX_INTEGER_CASE(type, kind) type: *(struct rex_integer *)0,
/* clang-format on */
/* REX_ARGUMENT_TYPE(type) in C. */
#define REX_ARGUMENT_TYPE(...) __typeof__(REX_ARGUMENT(*(__typeof__(__VA_ARGS__) *)0))
/* REX_ARGUMENT_POINTER in C. */
#define REX_ARGUMENT_POINTER (void *)0
#endif

/*
 * ---- Rows, and the arguments that they pass to a kernel ---------------------------------------
 */

/**
 * struct rex_at_most_64_rows: a type for the compiler's message if a launch has more than 64 rows.
 * Use REX_MAP() for so many rows.
 */
struct rex_at_most_64_rows {
    char unused; /**< 0. */
};
/**
 * REX_ROW(of, call): a row that a macro makes. @call returns the struct rex_row. @of is the
 * argument that the row passes to a kernel: REX_OF(), REX_OF_ANY_POINTER or REX_OF_NONE. A
 * program's own macro for a row has this form:
 *
 *     #define ON_DEVICE(address) REX_ROW(REX_OF(address), rex_row_address(address))
 *
 * The result is `(((void)of), call)`, in which REX_ROW_ARGUMENT() finds @of.
 */
#define REX_ROW(of, ...) (((void)of), __VA_ARGS__)
/** REX_OF(expression): an argument of the expression's type. */
#define REX_OF(...) sizeof(__typeof__(__VA_ARGS__))
/** REX_OF_NONE: no argument. */
#define REX_OF_NONE 0
/** REX_OF_ANY_POINTER: a pointer of any type. */
#define REX_OF_ANY_POINTER 1
/** REX_OF_UNKNOWN: an argument of unknown type, or no argument. */
#define REX_OF_UNKNOWN 2
/**
 * REX_OF_ROW(row): the argument @of of the REX_ROW() that made @row; REX_OF_UNKNOWN if REX_ROW()
 * did not make @row.
 */
#define REX_OF_ROW(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_OF_OPENED, REX_OF_OTHER, )(row)
/** REX_OF_OTHER(row): REX_OF_UNKNOWN. */
#define REX_OF_OTHER(row) REX_OF_UNKNOWN
/** REX_OF_OPENED(row): REX_OF_ROW() for a row that begins with a parenthesis. */
#define REX_OF_OPENED(row) \
    REX_PARAMETER_PICK(REX_OPENED row, REX_OF_OPENED_TWICE, REX_OF_OTHER, )(row)
/** REX_OF_OPENED_TWICE(row): REX_OF_ROW() for a row that begins with two parentheses. */
#define REX_OF_OPENED_TWICE(row) \
    REX_PARAMETER_PICK(REX_OPENED_TWICE row, REX_OF_MADE, REX_OF_OTHER, )(row)
/**
 * REX_OF_MADE(row): REX_OF_ROW() for a row of REX_ROW(), which begins with three parentheses. The
 * result is `of` without its `(void)`.
 */
#define REX_OF_MADE(row) REX_WITHOUT_VOID(REX_FIRST_IN row)
/**
 * REX_OPENED: is written before `(first, more)`. Expands to two arguments if @first begins with a
 * parenthesis, else to one.
 */
#define REX_OPENED(...) REX_OPENED_FIRST(__VA_ARGS__, )
/** REX_OPENED_FIRST(first, more...): REX_OPENED for @first. */
#define REX_OPENED_FIRST(first, ...) REX_PARAMETER_TYPE first
/**
 * REX_OPENED_TWICE: is written before `(first, more)`. Expands to two arguments if @first begins
 * with two parentheses, else to one.
 */
#define REX_OPENED_TWICE(...) REX_OPENED_TWICE_FIRST(__VA_ARGS__, )
/** REX_OPENED_TWICE_FIRST(first, more...): REX_OPENED_TWICE for @first. */
#define REX_OPENED_TWICE_FIRST(first, ...) REX_OPENED first
/** REX_FIRST_IN: is written before `((first), more)`. Expands to @first. */
#define REX_FIRST_IN(...) REX_FIRST_IN_OF(__VA_ARGS__, )
/** REX_FIRST_IN_OF(first, more...): @first without its parentheses. */
#define REX_FIRST_IN_OF(first, ...) REX_PARAMETER_BETWEEN first
/** REX_WITHOUT_VOID(tokens): the tokens without the parentheses that they begin with. */
#define REX_WITHOUT_VOID(...) REX_WITHOUT_VOID_OF(__VA_ARGS__)
/** REX_WITHOUT_VOID_OF(tokens): REX_WITHOUT_VOID() after the tokens are expanded. */
#define REX_WITHOUT_VOID_OF(...) REX_SKIP __VA_ARGS__
/** REX_SKIP(): removes its arguments. */
#define REX_SKIP(...)

/** REX_NO_ROW: the compiler's message for an argument that is not a row. */
#define REX_NO_ROW "not a row: write REX_VALUE(...) for a value, REX_TO(...) for memory"
#ifndef __cplusplus
/**
 * REX_ROW_ELEMENT(none, between, m, context, row): writes @row as an element of an array, and a
 * comma; REX_WALK() calls it. If REX_ROW() did not make @row, the compiler first checks the type of
 * @row. Without this check a wrong element would cause many messages.
 */
#define REX_ROW_ELEMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ELEMENT_OPENED, REX_ELEMENT_MAYBE, )(row)
/**
 * REX_ELEMENT_MAYBE(row): REX_ROW_ELEMENT() for an empty row, or a row that does not begin with a
 * parenthesis.
 */
#define REX_ELEMENT_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ELEMENT_2, )(row)
/** REX_ELEMENT_OPENED(row): REX_ROW_ELEMENT() for a row that begins with a parenthesis. */
#define REX_ELEMENT_OPENED(row) REX_ELEMENT_OF(REX_OF_ROW(row))(row)
/** REX_ELEMENT_OF(of): the macro for a row with this @of. */
#define REX_ELEMENT_OF(...) REX_ELEMENT_IS(__VA_ARGS__)
/** REX_ELEMENT_IS(of): REX_ELEMENT_OF() after @of is expanded. */
#define REX_ELEMENT_IS(...) REX_ELEMENT_##__VA_ARGS__
/** REX_ELEMENT_0(row): the element of a row that passes no argument. */
#define REX_ELEMENT_0(row) row,
/** REX_ELEMENT_1(row): the element of a row that passes a pointer. */
#define REX_ELEMENT_1(row) row,
/** REX_ELEMENT_sizeof(type): the macro for a row that passes a value, whose @of is its size. */
#define REX_ELEMENT_sizeof(...) REX_ELEMENT_1
/** REX_ELEMENT_2(row): the element of a row that no macro made. */
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
 * REX_ROW_ARGUMENT(none, between, m, context, row): writes a comma, and an argument of the type
 * that @row passes; REX_WALK() calls it. If REX_ROW() did not make @row, the argument is a struct
 * rex_row. A struct rex_row fits only a kernel that was declared without a parameter list.
 */
#define REX_ROW_ARGUMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ARGUMENT_OF_ROW, REX_ROW_MAYBE, )(row)
/**
 * REX_ROW_MAYBE(row): REX_ROW_ARGUMENT() for an empty row, or a row that does not begin with a
 * parenthesis.
 */
#define REX_ROW_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ARGUMENT_OF_ROW, )(row)
/** REX_ARGUMENT_OF_ROW(row): REX_ROW_ARGUMENT() for a row that is not empty. */
#define REX_ARGUMENT_OF_ROW(row) REX_ARGUMENT_OF(REX_OF_ROW(row))
/** REX_ARGUMENT_OF(of): a comma and an expression for a row with this @of, or nothing. */
#define REX_ARGUMENT_OF(...) REX_ARGUMENT_IS(__VA_ARGS__)
/** REX_ARGUMENT_IS(of): REX_ARGUMENT_OF() after @of is expanded. */
#define REX_ARGUMENT_IS(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT_0: no argument. */
#define REX_ARGUMENT_0
/** REX_ARGUMENT_1: a pointer of any type. */
#define REX_ARGUMENT_1 , REX_ARGUMENT_POINTER
/** REX_ARGUMENT_2: a struct rex_row. */
#define REX_ARGUMENT_2 , *(struct rex_row *)0
/** REX_ARGUMENT_sizeof(type): an argument of the type. */
#define REX_ARGUMENT_sizeof(...) REX_ARGUMENT_OF_TYPE(__VA_ARGS__)
/** REX_ARGUMENT_OF_TYPE(type): REX_ARGUMENT_sizeof() after the type is expanded. */
#define REX_ARGUMENT_OF_TYPE(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT___typeof__(expression): an argument of the expression's type. */
#define REX_ARGUMENT___typeof__(...) , REX_ARGUMENT(__VA_ARGS__)

#endif
