/*
 * rex/parameters.h - macros that take lists of kernel parameters apart.
 *
 * rex/kernel.h and rex/entry.h include it. Most programs use no name of this header.
 *
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
 *
 * A parameter is a type in parentheses and a name. A list has 1 to 64 parameters, or is `void`. For
 * anything else the compiler reports an error.
 *
 * These macros call a macro `m` as `m(context, type, name)`; the type is still in parentheses.
 * `__typeof__ type name` then declares the parameter, also a pointer to an array or a function. `m`
 * can use `sizeof type` and `REX_KIND_OF_TYPE type`. A macro `m` cannot process another list.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_PARAMETERS_H
#define REX_PARAMETERS_H

/** REX_JOIN(a, b): one token of @a and @b, after both are expanded. */
#define REX_JOIN(a, b) REX_JOIN_EXPANDED(a, b)
/** REX_JOIN_EXPANDED(a, b): one token of @a and @b, which are not expanded. */
#define REX_JOIN_EXPANDED(a, b) a##b

/**
 * REX_EACH_PARAMETER(m, context, parameters...): `m(context, type, name)` for each parameter, in
 * order.
 */
#define REX_EACH_PARAMETER(m, context, ...) REX_PARAMETERS(, (), (), m, context, __VA_ARGS__)
/**
 * REX_PARAMETER_LIST(none, m, context, parameters...): REX_EACH_PARAMETER() with commas between the
 * results; @none if the list is `void`.
 */
#define REX_PARAMETER_LIST(none, m, context, ...) \
    REX_PARAMETERS(none, (), (, ), m, context, __VA_ARGS__)
/** REX_PARAMETER_TAIL(m, context, parameters...): REX_EACH_PARAMETER() with a comma before each. */
#define REX_PARAMETER_TAIL(m, context, ...) REX_PARAMETERS(, (, ), (, ), m, context, __VA_ARGS__)
/** REX_PARAMETER_COUNT(parameters...): number of parameters, as a constant expression. */
#define REX_PARAMETER_COUNT(...) (0 REX_EACH_PARAMETER(REX_PARAMETER_ONE, , __VA_ARGS__))
/** REX_PARAMETER_ONE(context, type, name): counts one parameter. */
#define REX_PARAMETER_ONE(context, type, name) +1
/** REX_PARAMETER_DECLARE(context, type, name): declares a parameter with its own type. */
#define REX_PARAMETER_DECLARE(context, type, name) __typeof__ type name
/** REX_PARAMETER_ARGUMENT(context, type, name): declares a parameter of REX_ARGUMENT_TYPE(). */
#define REX_PARAMETER_ARGUMENT(context, type, name) REX_ARGUMENT_TYPE type name
/** REX_PARAMETER_KIND(context, type, name): a comma and the parameter's kind: rex/kinds.h. */
#define REX_PARAMETER_KIND(context, type, name) , REX_KIND_OF_TYPE type
/** REX_PARAMETER_NAME(context, type, name): the parameter's name. */
#define REX_PARAMETER_NAME(context, type, name) name

/**
 * REX_IF_PARAMETERS(parameters...): is written before `(then, otherwise)`. Expands to @then if the
 * parameters are a list or `void`, and to @otherwise if they are empty.
 */
#define REX_IF_PARAMETERS(...) REX_IF_PARAMETERS_OF(__VA_ARGS__, )
/** REX_IF_PARAMETERS_OF(first, more...): REX_IF_PARAMETERS() for the first parameter. */
#define REX_IF_PARAMETERS_OF(first, ...) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE first, REX_THEN, REX_IF_VOID, )(first)
/** REX_IF_VOID(first): REX_IF_PARAMETERS() for a @first without parentheses. */
#define REX_IF_VOID(first) REX_PARAMETER_PICK(REX_IS_##first, REX_THEN, REX_OTHERWISE_OF, )(first)
/** REX_IS_void: a comma, with which REX_IF_VOID() treats `void` as a list. */
#define REX_IS_void ,
/** REX_THEN(first): the macro that selects the first of two arguments. */
#define REX_THEN(first) REX_THEN_OF
/** REX_THEN_OF(then, otherwise): @then. */
#define REX_THEN_OF(then, otherwise) then
/** REX_OTHERWISE_OF(first): the macro that selects the second of two arguments. */
#define REX_OTHERWISE_OF(first) REX_OTHERWISE
/** REX_OTHERWISE(then, otherwise): @otherwise. */
#define REX_OTHERWISE(then, otherwise) otherwise

/** REX_PARAMETER_TYPE: is written before `(type) name`. Expands to `(type), name`. */
#define REX_PARAMETER_TYPE(...) (__VA_ARGS__),
/** REX_PARAMETER_PICK(): the third argument, after all are expanded. */
#define REX_PARAMETER_PICK(...) REX_PARAMETER_THIRD(__VA_ARGS__)
/** REX_PARAMETER_THIRD(): the third argument. */
#define REX_PARAMETER_THIRD(a, b, c, ...) c
/**
 * REX_PARAMETER(none, between, m, context, parameter): the tokens inside the parentheses of
 * @between, and m() for the parameter; @none if the parameter is `void` or empty.
 */
#define REX_PARAMETER(none, between, m, context, parameter)                                    \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE parameter, REX_PARAMETER_SOME, REX_PARAMETER_NONE, ) \
    (none, between, m, context, parameter)
/** REX_PARAMETER_SOME(): REX_PARAMETER() for a parameter. */
#define REX_PARAMETER_SOME(none, between, m, context, parameter) \
    REX_PARAMETER_BETWEEN between REX_PARAMETER_CALL(m, context, REX_PARAMETER_TYPE parameter)
/**
 * REX_PARAMETER_NONE(): REX_PARAMETER() for `void`, and for an empty parameter after the last one.
 */
#define REX_PARAMETER_NONE(none, between, m, context, parameter) \
    none REX_WRITE_THE_TYPE_IN_PARENTHESES_##parameter
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_void: `void` needs no parentheses. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_void
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_: an empty parameter needs none. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_
/** REX_PARAMETER_BETWEEN(between): the tokens inside parentheses. */
#define REX_PARAMETER_BETWEEN(...) __VA_ARGS__
/**
 * REX_PARAMETER_CALL(m, context, type, name): m() with the type and the name as separate arguments.
 */
#define REX_PARAMETER_CALL(m, ...) m(__VA_ARGS__)

/** REX_PARAMETERS(): REX_PARAMETER() for each parameter. */
#define REX_PARAMETERS(none, first, between, m, context, ...) \
    REX_WALK(REX_PARAMETER, none, first, between, m, context, __VA_ARGS__)

/* clang-format off */
/**
 * REX_WALK(each, none, first, between, m, context, items...): `each(none, first, m, context, item)`
 * for the first item, and `each(, between, m, context, item)` for each other item. Empty items fill
 * the list up to 65 items. For the 65th, @each gets REX_HAS_MORE_THAN_64_PARAMETERS as @m; later
 * items are ignored.
 */
#define REX_WALK(each, none, first, between, m, context, ...)                                      \
    REX_WALK_64(each, none, first, between, m, context, __VA_ARGS__, , , , , , , , , , , , , , , , \
                , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , \
                , , , , , , , , )
/** REX_HAS_MORE_THAN_64_PARAMETERS(): an error of the compiler with this reason. */
#define REX_HAS_MORE_THAN_64_PARAMETERS(...) \
    _Pragma("GCC error \"a kernel has at most 64 parameters\"")
/** REX_WALK_64(): REX_WALK() for 64 items. */
#define REX_WALK_64(                                                                               \
    each, none, first, between, m, context, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12,     \
    p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, \
    p32, p33, p34, p35, p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47, p48, p49, p50, \
    p51, p52, p53, p54, p55, p56, p57, p58, p59, p60, p61, p62, p63, p64, more, ...)               \
    each(none, first, m, context, p1)                                                              \
    REX_WALK_7(each, between, m, context, p2, p3, p4, p5, p6, p7, p8)                              \
    REX_WALK_7(each, between, m, context, p9, p10, p11, p12, p13, p14, p15)                        \
    REX_WALK_7(each, between, m, context, p16, p17, p18, p19, p20, p21, p22)                       \
    REX_WALK_7(each, between, m, context, p23, p24, p25, p26, p27, p28, p29)                       \
    REX_WALK_7(each, between, m, context, p30, p31, p32, p33, p34, p35, p36)                       \
    REX_WALK_7(each, between, m, context, p37, p38, p39, p40, p41, p42, p43)                       \
    REX_WALK_7(each, between, m, context, p44, p45, p46, p47, p48, p49, p50)                       \
    REX_WALK_7(each, between, m, context, p51, p52, p53, p54, p55, p56, p57)                       \
    REX_WALK_7(each, between, m, context, p58, p59, p60, p61, p62, p63, p64)                       \
    each(, (), REX_HAS_MORE_THAN_64_PARAMETERS, context, more)
/** REX_WALK_7(): `each(, between, m, context, item)` for seven items. */
#define REX_WALK_7(each, between, m, context, p1, p2, p3, p4, p5, p6, p7) \
    each(, between, m, context, p1)                                       \
    each(, between, m, context, p2)                                       \
    each(, between, m, context, p3)                                       \
    each(, between, m, context, p4)                                       \
    each(, between, m, context, p5)                                       \
    each(, between, m, context, p6)                                       \
    each(, between, m, context, p7)
/* clang-format on */

#endif
