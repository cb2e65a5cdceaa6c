/*
 * rex/parameters.h - lists of kernel parameters, as the preprocessor takes them apart.
 *
 * rex/kernel.h and rex/entry.h include it. Most programs need none of it by name.
 *
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
 *
 * A parameter is a type in parentheses and a name. A list has 1 to 64 of them, or is `void`.
 * Anything else is an error of the compiler.
 *
 * A macro `m` below is called as `m(context, type, name)`. Its type is still in parentheses. So
 * `__typeof__ type name` declares the parameter, also a pointer to an array or a function, and
 * `sizeof type` and `REX_KIND_OF_TYPE type` are of the type. Such a macro cannot walk another
 * list.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_PARAMETERS_H
#define REX_PARAMETERS_H

/** REX_JOIN(a, b): one token, after both are expanded. */
#define REX_JOIN(a, b) REX_JOIN_EXPANDED(a, b)
/** REX_JOIN_EXPANDED(a, b): one token, of a and b as they are. */
#define REX_JOIN_EXPANDED(a, b) a##b

/** REX_EACH_PARAMETER(m, context, parameters...): `m(context, type, name)` of each, in order. */
#define REX_EACH_PARAMETER(m, context, ...) REX_PARAMETERS(, (), (), m, context, __VA_ARGS__)
/**
 * REX_PARAMETER_LIST(none, m, context, parameters...): the same with commas between them; @none if
 * the list is `void`.
 */
#define REX_PARAMETER_LIST(none, m, context, ...) \
    REX_PARAMETERS(none, (), (, ), m, context, __VA_ARGS__)
/** REX_PARAMETER_TAIL(m, context, parameters...): the same with a comma in front of each. */
#define REX_PARAMETER_TAIL(m, context, ...) REX_PARAMETERS(, (, ), (, ), m, context, __VA_ARGS__)
/** REX_PARAMETER_COUNT(parameters...): how many there are, as a constant expression. */
#define REX_PARAMETER_COUNT(...) (0 REX_EACH_PARAMETER(REX_PARAMETER_ONE, , __VA_ARGS__))
/** REX_PARAMETER_ONE(context, type, name): counts one. */
#define REX_PARAMETER_ONE(context, type, name) +1
/** REX_PARAMETER_DECLARE(context, type, name): declares one with its own type. */
#define REX_PARAMETER_DECLARE(context, type, name) __typeof__ type name
/** REX_PARAMETER_ARGUMENT(context, type, name): declares one of REX_ARGUMENT_TYPE(). */
#define REX_PARAMETER_ARGUMENT(context, type, name) REX_ARGUMENT_TYPE type name
/** REX_PARAMETER_KIND(context, type, name): a comma and its kind: rex/kinds.h. */
#define REX_PARAMETER_KIND(context, type, name) , REX_KIND_OF_TYPE type
/** REX_PARAMETER_NAME(context, type, name): its name. */
#define REX_PARAMETER_NAME(context, type, name) name

/**
 * REX_IF_PARAMETERS(parameters...): (then, otherwise) behind it becomes @then if there is a list,
 * `void` included, and @otherwise if there is nothing.
 */
#define REX_IF_PARAMETERS(...) REX_IF_PARAMETERS_OF(__VA_ARGS__, )
/** REX_IF_PARAMETERS_OF(first, more...): the same, of the first parameter. */
#define REX_IF_PARAMETERS_OF(first, ...) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE first, REX_THEN, REX_IF_VOID, )(first)
/** REX_IF_VOID(first): the same, of a word. */
#define REX_IF_VOID(first) REX_PARAMETER_PICK(REX_IS_##first, REX_THEN, REX_OTHERWISE_OF, )(first)
/** REX_IS_void: what makes it a list. */
#define REX_IS_void ,
/** REX_THEN(first): picks the first of two. */
#define REX_THEN(first) REX_THEN_OF
/** REX_THEN_OF(then, otherwise): @then. */
#define REX_THEN_OF(then, otherwise) then
/** REX_OTHERWISE_OF(first): picks the second of two. */
#define REX_OTHERWISE_OF(first) REX_OTHERWISE
/** REX_OTHERWISE(then, otherwise): @otherwise. */
#define REX_OTHERWISE(then, otherwise) otherwise

/** REX_PARAMETER_TYPE: in front of a parameter it makes `(type), name` of `(type) name`. */
#define REX_PARAMETER_TYPE(...) (__VA_ARGS__),
/** REX_PARAMETER_PICK(): its third argument, once all are expanded. */
#define REX_PARAMETER_PICK(...) REX_PARAMETER_THIRD(__VA_ARGS__)
/** REX_PARAMETER_THIRD(): its third argument. */
#define REX_PARAMETER_THIRD(a, b, c, ...) c
/**
 * REX_PARAMETER(none, between, m, context, parameter): m() of one, behind what is in the
 * parentheses of @between; @none if there is none.
 */
#define REX_PARAMETER(none, between, m, context, parameter)                                    \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE parameter, REX_PARAMETER_SOME, REX_PARAMETER_NONE, ) \
    (none, between, m, context, parameter)
/** REX_PARAMETER_SOME(): the same, of one that there is. */
#define REX_PARAMETER_SOME(none, between, m, context, parameter) \
    REX_PARAMETER_BETWEEN between REX_PARAMETER_CALL(m, context, REX_PARAMETER_TYPE parameter)
/** REX_PARAMETER_NONE(): the same, of `void` and of what follows the last one. */
#define REX_PARAMETER_NONE(none, between, m, context, parameter) \
    none REX_WRITE_THE_TYPE_IN_PARENTHESES_##parameter
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_void: `void` may be without. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_void
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_: so may nothing. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_
/** REX_PARAMETER_BETWEEN(between): what was in parentheses. */
#define REX_PARAMETER_BETWEEN(...) __VA_ARGS__
/** REX_PARAMETER_CALL(m, context, type, name): m() of a parameter that has been taken apart. */
#define REX_PARAMETER_CALL(m, ...) m(__VA_ARGS__)

/** REX_PARAMETERS(): REX_PARAMETER() of each parameter. */
#define REX_PARAMETERS(none, first, between, m, context, ...) \
    REX_WALK(REX_PARAMETER, none, first, between, m, context, __VA_ARGS__)

/* clang-format off */
/**
 * REX_WALK(each, none, first, between, m, context, items...): `each(none, first, m, context, item)`
 * of the first item, and `each(, between, m, context, item)` of the other ones and of empty ones
 * behind them. There are at most 64; @each gets REX_HAS_MORE_THAN_64_PARAMETERS as @m for another.
 */
#define REX_WALK(each, none, first, between, m, context, ...)                                      \
    REX_WALK_64(each, none, first, between, m, context, __VA_ARGS__, , , , , , , , , , , , , , , , \
                , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , \
                , , , , , , , , )
/** REX_HAS_MORE_THAN_64_PARAMETERS(): an error of the compiler, which says so. */
#define REX_HAS_MORE_THAN_64_PARAMETERS(...) \
    _Pragma("GCC error \"a kernel has at most 64 parameters\"")
/** REX_WALK_64(): each of the first 64. */
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
/** REX_WALK_7(): each of seven. */
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
