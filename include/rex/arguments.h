/*
 * rex/arguments.h - how the compiler compares the rows of a launch with a kernel's parameters.
 *
 * rex/entry.h and rex/detail.h include this header. REX_KERNEL() may have the kernel's parameters:
 *
 *     REX_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y);
 *     REX_LAUNCH(axpy, 8, 128, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n));
 *
 * REX_KERNEL() declares a function, axpy__arguments__(), which is never defined. REX_LAUNCH()
 * writes a call of this function inside a sizeof, which evaluates nothing. The call has an argument
 * for each row that passes an argument to the kernel. So the compiler reports most rows that do not
 * fit their parameters. In C the result is equivalent to these lines:
 *
 *     int axpy__arguments__(int, struct rex_integer n, struct rex_double a, const double *x,
 *                           double *y);
 *     sizeof(axpy__arguments__(0, *(struct rex_integer *)0, *(struct rex_double *)0, x, y))
 *
 * A program's own macro for a row uses REX_ROW(). The first argument of REX_ROW() is then REX_OF(),
 * REX_OF_ANY_POINTER, REX_OF_NONE or REX_OF_ROW(). Programs need no other name of this header.
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
 * C would convert a double to an integer parameter without an error. So the structs below stand for
 * float, double and the integer types in the call of axpy__arguments__(). All integer types are one
 * struct, because an int may be passed to an int64_t. If the CUDA driver launches, or the image has
 * the kernel's signature (rex/kernel.h), librex compares the widths at the launch, before the
 * kernel runs. Each other type, such as a pointer or a struct, stands for itself. A pointer to
 * double fits a pointer to const double, as in each call of a function.
 */

/**
 * struct rex_integer: stands for each type of REX_EACH_INTEGER() (rex/kinds.h) and for each enum.
 */
struct rex_integer {
    char unused; /**< 0. */
};
/** struct rex_float: stands for the type float. */
struct rex_float {
    char unused; /**< 0. */
};
/** struct rex_double: stands for the type double. */
struct rex_double {
    char unused; /**< 0. */
};
#ifdef __cplusplus
extern "C++" {
/**
 * struct rex_argument_type: its member rex_type is the type that stands for @type. @kind is the
 * kind of @type (REX_KIND_OF_TYPE()), or REX_KIND_POINTER if @type is a struct.
 */
template <class type, unsigned kind> struct rex_argument_type {
    /** struct rex_integer stands for an integer. */
    typedef struct rex_integer rex_type;
};
/** rex_argument_type of a pointer or a struct. */
template <class type> struct rex_argument_type<type, REX_KIND_POINTER> {
    /** a pointer or a struct stands for itself. */
    typedef type rex_type;
};
/** rex_argument_type of a float. */
template <class type> struct rex_argument_type<type, REX_KIND_F32> {
    /** struct rex_float stands for a float. */
    typedef struct rex_float rex_type;
};
/** rex_argument_type of a double. */
template <class type> struct rex_argument_type<type, REX_KIND_F64> {
    /** struct rex_double stands for a double. */
    typedef struct rex_double rex_type;
};
/**
 * struct rex_argument_of: is rex_argument_type for @type and its kind @kind. But the kind of a
 * struct contains the struct's size, so no specialization above could name that kind. For a struct,
 * REX_KIND_POINTER is the second argument.
 */
template <class type, unsigned kind>
struct rex_argument_of
    : rex_argument_type<type, (kind & 15) == REX_KIND_VALUE ? (unsigned)REX_KIND_POINTER : kind> {
};
/** rex_argument(): its result has the type that stands for @type. The function is never defined. */
template <class type>
typename rex_argument_of<type, rex_type_kind<type>::rex_number>::rex_type rex_argument(type);
/** struct rex_any_pointer: its objects convert to each pointer type. */
struct rex_any_pointer {
    /** the conversion; never defined. */
    template <class type> operator type *() const;
};
}
/**
 * REX_ARGUMENT(expression): an argument in the call of axpy__arguments__() (head of this file). Its
 * type stands for the type of @expression: `REX_ARGUMENT(1)` has the type struct rex_integer. The
 * call is never evaluated.
 */
#define REX_ARGUMENT(...) rex_argument(__VA_ARGS__)
/**
 * REX_ARGUMENT_TYPE(type): the type that stands for @type, such as struct rex_integer for
 * `int64_t`, and `double *` for `double *`.
 */
#define REX_ARGUMENT_TYPE(...) \
    rex_argument_of<__typeof__(__VA_ARGS__), REX_KIND_OF_TYPE(__VA_ARGS__)>::rex_type
/**
 * REX_ARGUMENT_POINTER: an argument in the call of axpy__arguments__() (head of this file). It fits
 * each pointer parameter.
 */
#define REX_ARGUMENT_POINTER rex_any_pointer()
#else
/* clang-format off */
/*
 * REX_ARGUMENT(expression) in C. For a float, a double or an integer the result is an object of the
 * type that stands for that type, as in `*(struct rex_integer *)0`. For another type, such as a
 * pointer, the result is @expression.
 */
#define REX_ARGUMENT(...)                        \
    _Generic((__VA_ARGS__),                      \
        float: *(struct rex_float *)0,           \
        double: *(struct rex_double *)0,         \
        REX_EACH_INTEGER(REX_INTEGER_CASE)       \
        default: (__VA_ARGS__))
/**
 * REX_INTEGER_CASE(type, kind): the case of one integer type in the _Generic of REX_ARGUMENT(),
 * such as `int: *(struct rex_integer *)0,` for `int`.
 */
#define REX_INTEGER_CASE(type, kind) type: *(struct rex_integer *)0,
/* clang-format on */
/* REX_ARGUMENT_TYPE(type) in C: the type of REX_ARGUMENT() for an expression of @type. */
#define REX_ARGUMENT_TYPE(...) __typeof__(REX_ARGUMENT(*(__typeof__(__VA_ARGS__) *)0))
/* REX_ARGUMENT_POINTER in C: a `void *`, which C converts to each pointer type. */
#define REX_ARGUMENT_POINTER (void *)0
#endif

/*
 * ---- Rows, and the arguments that they pass to a kernel ---------------------------------------
 *
 * Each row macro of rex/map.h expands to REX_ROW(of, call). @of describes the argument that the row
 * passes to a kernel, and @call makes the row:
 *
 *     REX_TO(x, n)        (((void)sizeof(__typeof__(x))), rex_row_section(...))
 *     REX_NO_PARAM(row)   (((void)0), rex_row_without(...))
 *
 * The comma operator ignores @of in a row. REX_OF_ROW() takes @of out of the tokens of a row, by
 * two techniques of rex/parameters.h: a macro before parentheses, and REX_PARAMETER_PICK(). These
 * are the steps for REX_TO(x, n). R is the whole row, and O is `sizeof(__typeof__(x))`:
 *
 *     REX_OF_ROW(R)               R begins with a parenthesis: next line
 *     REX_OF_OPENED(R)            in it, the first item ((void)O) begins with a parenthesis
 *     REX_OF_OPENED_TWICE(R)      in that item, the first item (void)O begins with a parenthesis
 *     REX_OF_MADE(R)              so REX_ROW() has made R
 *     REX_WITHOUT_VOID((void)O)
 *     O
 *
 * If a parenthesis is missing, REX_OF_OTHER(R) follows instead of the next line. REX_OF_OTHER(R) is
 * REX_OF_UNKNOWN, which is 2.
 *
 * REX_ROW_ARGUMENT() and REX_ROW_ELEMENT() join the beginning of a name and @of. The result is the
 * name of a macro below, or a call of a macro below:
 *
 *     REX_ARGUMENT_ and 0                       REX_ARGUMENT_0
 *     REX_ARGUMENT_ and sizeof(__typeof__(x))   REX_ARGUMENT_sizeof(__typeof__(x))
 *     REX_ELEMENT_ and sizeof(__typeof__(x))    REX_ELEMENT_sizeof(__typeof__(x))
 */

/**
 * struct rex_at_most_64_rows: its name is in the message of a C compiler if a launch or a region
 * has more than 64 rows. Use REX_MAP() for more rows.
 */
struct rex_at_most_64_rows {
    char unused; /**< 0. */
};
/**
 * REX_ROW(of, call): a row, `(((void)of), call)`. @call is an expression of type struct rex_row.
 * @of describes the argument that the row passes to a kernel: REX_OF(), REX_OF_ANY_POINTER or
 * REX_OF_NONE. A macro that changes a row passes REX_OF_ROW() of that row as @of. A program's own
 * macro for a row has this form:
 *
 *     #define ON_DEVICE(address) REX_ROW(REX_OF(address), rex_row_address(address))
 */
#define REX_ROW(of, ...) (((void)of), __VA_ARGS__)
/**
 * REX_OF(expression): the @of of a row that passes an argument with the type of @expression. If
 * @expression is an array, the type is a pointer to the elements. REX_OF() evaluates @expression
 * only if the type of @expression has a variable array length.
 */
#define REX_OF(...) sizeof(__typeof__(__VA_ARGS__))
/** REX_OF_NONE: the @of of a row that passes no argument. */
#define REX_OF_NONE 0
/** REX_OF_ANY_POINTER: the @of of a row that passes a pointer that fits each pointer parameter. */
#define REX_OF_ANY_POINTER 1
/** REX_OF_UNKNOWN: the result of REX_OF_ROW() for a row that REX_ROW() did not make. */
#define REX_OF_UNKNOWN 2
/**
 * REX_OF_ROW(row): the @of of the REX_ROW() that made @row, such as 0 for REX_NO_PARAM(...). If
 * @row does not begin with three parentheses, the result is REX_OF_UNKNOWN. If @row begins with
 * three parentheses, REX_ROW() must have made it. The steps of the macro are at the head of this
 * section.
 */
#define REX_OF_ROW(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_OF_OPENED, REX_OF_OTHER, )(row)
/** REX_OF_OTHER(row): REX_OF_UNKNOWN, for a row that does not begin with three parentheses. */
#define REX_OF_OTHER(row) REX_OF_UNKNOWN
/**
 * REX_OF_OPENED(row): the step of REX_OF_ROW() that tests if a second parenthesis follows the
 * first.
 */
#define REX_OF_OPENED(row) \
    REX_PARAMETER_PICK(REX_OPENED row, REX_OF_OPENED_TWICE, REX_OF_OTHER, )(row)
/**
 * REX_OF_OPENED_TWICE(row): the step of REX_OF_ROW() that tests if a third parenthesis follows the
 * first two.
 */
#define REX_OF_OPENED_TWICE(row) \
    REX_PARAMETER_PICK(REX_OPENED_TWICE row, REX_OF_MADE, REX_OF_OTHER, )(row)
/**
 * REX_OF_MADE(row): the last step of REX_OF_ROW(), for a row that begins with three parentheses.
 * `REX_OF_MADE((((void)0), call))` is 0.
 */
#define REX_OF_MADE(row) REX_WITHOUT_VOID(REX_FIRST_IN row)
/**
 * REX_OPENED: is written before a row, and tests if the first item in the row begins with a
 * parenthesis. `REX_OPENED ((a), b)` becomes `(a),`, which is two arguments. `REX_OPENED (a, b)`
 * becomes `REX_PARAMETER_TYPE a`, which is one argument.
 */
#define REX_OPENED(...) REX_OPENED_FIRST(__VA_ARGS__, )
/** REX_OPENED_FIRST(first, more...): `REX_PARAMETER_TYPE first`, which is then expanded. */
#define REX_OPENED_FIRST(first, ...) REX_PARAMETER_TYPE first
/**
 * REX_OPENED_TWICE: is written before a row, and tests if the first item begins with two
 * parentheses. `REX_OPENED_TWICE (((a) b), c)` becomes `(a), b`, which is two arguments.
 * `REX_OPENED_TWICE ((a), b)` becomes `REX_PARAMETER_TYPE a`, which is one argument.
 */
#define REX_OPENED_TWICE(...) REX_OPENED_TWICE_FIRST(__VA_ARGS__, )
/** REX_OPENED_TWICE_FIRST(first, more...): `REX_OPENED first`, which is then expanded. */
#define REX_OPENED_TWICE_FIRST(first, ...) REX_OPENED first
/**
 * REX_FIRST_IN: is written before a row. `REX_FIRST_IN (((void)0), call)` becomes `(void)0`, which
 * is the row's first item without the item's outer parentheses.
 */
#define REX_FIRST_IN(...) REX_FIRST_IN_OF(__VA_ARGS__, )
/** REX_FIRST_IN_OF(first, more...): the tokens inside the parentheses of @first. */
#define REX_FIRST_IN_OF(first, ...) REX_PARAMETER_BETWEEN first
/** REX_WITHOUT_VOID(tokens): `REX_WITHOUT_VOID((void)0)` is 0. */
#define REX_WITHOUT_VOID(...) REX_WITHOUT_VOID_OF(__VA_ARGS__)
/**
 * REX_WITHOUT_VOID_OF(tokens): the second step of REX_WITHOUT_VOID(). Before this step
 * `REX_FIRST_IN row` is expanded, so that REX_SKIP removes the `(void)` of the result.
 */
#define REX_WITHOUT_VOID_OF(...) REX_SKIP __VA_ARGS__
/** REX_SKIP(...): expands to nothing. */
#define REX_SKIP(...)

/** REX_NO_ROW: the usual message of the compiler if an argument of a launch or region is no row. */
#define REX_NO_ROW "not a row: write REX_VALUE(...) for a value, REX_TO(...) for memory"
#ifndef __cplusplus
/**
 * REX_ROW_ELEMENT(none, between, m, context, row): @row and a comma, for the initialiser of an
 * array of rows; nothing for an empty @row. REX_WALK() calls this macro for each row. Only @row has
 * an effect. If REX_OF_ROW(row) is REX_OF_UNKNOWN, the element checks the type of @row. Without
 * this check a wrong type would cause many messages.
 */
#define REX_ROW_ELEMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ELEMENT_OPENED, REX_ELEMENT_MAYBE, )(row)
/**
 * REX_ELEMENT_MAYBE(row): REX_ROW_ELEMENT() for a row that does not begin with a parenthesis. For
 * an empty row `REX_PARAMETER_TYPE row()` becomes `(),`, and REX_SKIP() removes the row.
 * REX_ELEMENT_2() writes a row that is not empty.
 */
#define REX_ELEMENT_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ELEMENT_2, )(row)
/** REX_ELEMENT_OPENED(row): REX_ROW_ELEMENT() for a row that begins with a parenthesis. */
#define REX_ELEMENT_OPENED(row) REX_ELEMENT_OF(REX_OF_ROW(row))(row)
/**
 * REX_ELEMENT_OF(of): the name of the macro that writes a row whose REX_OF_ROW() is @of. The name
 * is REX_ELEMENT_0 for 0, and REX_ELEMENT_1 for `sizeof(__typeof__(x))`.
 */
#define REX_ELEMENT_OF(...) REX_ELEMENT_IS(__VA_ARGS__)
/** REX_ELEMENT_IS(of): joins REX_ELEMENT_ and @of, which REX_ELEMENT_OF() has expanded. */
#define REX_ELEMENT_IS(...) REX_ELEMENT_##__VA_ARGS__
/** REX_ELEMENT_0(row): @row and a comma, for REX_OF_NONE, which is 0. */
#define REX_ELEMENT_0(row) row,
/** REX_ELEMENT_1(row): @row and a comma, for REX_OF_ANY_POINTER and REX_OF(). */
#define REX_ELEMENT_1(row) row,
/**
 * REX_ELEMENT_sizeof(type): the name REX_ELEMENT_1. REX_ELEMENT_IS() calls this macro for REX_OF().
 */
#define REX_ELEMENT_sizeof(...) REX_ELEMENT_1
/**
 * REX_ELEMENT_2(row): is for REX_OF_UNKNOWN. If @row is a struct rex_row, the result is @row and a
 * comma. If @row has another type, the compiler reports REX_NO_ROW.
 */
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
 * REX_ROW_ARGUMENT(none, between, m, context, row): a comma and an argument in the call of
 * axpy__arguments__() (head of this file), such as `, REX_ARGUMENT(x)` for REX_TO(x, n). The result
 * is empty for an empty row, and for a row that passes no argument. REX_WALK() calls this macro for
 * each row. Only @row has an effect. If REX_OF_ROW(row) is REX_OF_UNKNOWN, the argument is a struct
 * rex_row. Such an argument fits only a kernel that was declared without a parameter list.
 */
#define REX_ROW_ARGUMENT(none, between, m, context, row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row, REX_ARGUMENT_OF_ROW, REX_ROW_MAYBE, )(row)
/**
 * REX_ROW_MAYBE(row): REX_ROW_ARGUMENT() for a row that does not begin with a parenthesis.
 * REX_SKIP() removes an empty row, as in REX_ELEMENT_MAYBE().
 */
#define REX_ROW_MAYBE(row) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE row(), REX_SKIP, REX_ARGUMENT_OF_ROW, )(row)
/** REX_ARGUMENT_OF_ROW(row): REX_ROW_ARGUMENT() for a row that is not empty. */
#define REX_ARGUMENT_OF_ROW(row) REX_ARGUMENT_OF(REX_OF_ROW(row))
/**
 * REX_ARGUMENT_OF(of): a comma and an argument for a row whose REX_OF_ROW() is @of. The result is
 * `, REX_ARGUMENT(x)` for `sizeof(__typeof__(x))`, and empty for 0.
 */
#define REX_ARGUMENT_OF(...) REX_ARGUMENT_IS(__VA_ARGS__)
/** REX_ARGUMENT_IS(of): joins REX_ARGUMENT_ and @of, which REX_ARGUMENT_OF() has expanded. */
#define REX_ARGUMENT_IS(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT_0: empty. REX_ARGUMENT_OF() uses it for REX_OF_NONE, whose value is 0. */
#define REX_ARGUMENT_0
/**
 * REX_ARGUMENT_1: for REX_OF_ANY_POINTER, a comma and a pointer that fits each pointer parameter.
 */
#define REX_ARGUMENT_1 , REX_ARGUMENT_POINTER
/** REX_ARGUMENT_2: a comma and a struct rex_row, for REX_OF_UNKNOWN. */
#define REX_ARGUMENT_2 , *(struct rex_row *)0
/**
 * REX_ARGUMENT_sizeof(type): for REX_OF(x), which is `sizeof(__typeof__(x))`. In that case @type is
 * `__typeof__(x)`, and the result is that of REX_ARGUMENT___typeof__(x).
 */
#define REX_ARGUMENT_sizeof(...) REX_ARGUMENT_OF_TYPE(__VA_ARGS__)
/** REX_ARGUMENT_OF_TYPE(type): joins REX_ARGUMENT_ and @type, which is `__typeof__(x)`. */
#define REX_ARGUMENT_OF_TYPE(...) REX_ARGUMENT_##__VA_ARGS__
/** REX_ARGUMENT___typeof__(expression): a comma and REX_ARGUMENT(expression). */
#define REX_ARGUMENT___typeof__(...) , REX_ARGUMENT(__VA_ARGS__)

#endif
