/*
 * rex/parameters.h - macros that take lists of kernel parameters apart.
 *
 * rex/kernel.h, rex/entry.h and rex/arguments.h include it. Most programs use no name of this
 * header.
 *
 *     REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
 *
 * A parameter is a type in parentheses and a name. A list has 1 to 64 parameters, or is `void`. The
 * compiler reports an error for more than 64 parameters, and for a type without parentheses. But
 * REX_KERNEL_DECLARE(axpy, void *x) compiles, as do other types that begin with `void`. Empty items
 * after the first parameter have no effect.
 *
 * The macros for lists take the name of a macro, @m, and call it for each parameter:
 * `m(context, type, name)`. The caller chooses @context, which may be empty. @type is in
 * parentheses, so that `__typeof__ type name` declares the parameter, even a pointer to an array or
 * a function. @m can use `sizeof type` and `REX_KIND_OF_TYPE type`. @m cannot call a macro for
 * lists.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_PARAMETERS_H
#define REX_PARAMETERS_H

/*
 * ---- How the macros work ----------------------------------------------------------------------
 *
 * A macro has no conditional and no loop. Three techniques replace them.
 *
 * - **A macro before parentheses.** REX_PARAMETER_TYPE is a macro with arguments, which expands to
 *   its arguments in parentheses and a comma. So `REX_PARAMETER_TYPE (int) n` becomes `(int), n`,
 *   which is two arguments of another macro. `REX_PARAMETER_TYPE void` does not change, because no
 *   parenthesis follows the name, so it remains one argument.
 * - **The third argument.** REX_PARAMETER_PICK() expands its arguments, and then selects the third.
 *   So the first argument decides between two names of macros, YES and NO in these lines:
 *
 *     REX_PARAMETER_PICK(REX_PARAMETER_TYPE (int) n, YES, NO, )   // (int), n, YES, NO: YES
 *     REX_PARAMETER_PICK(REX_PARAMETER_TYPE void, YES, NO, )      // ... void, YES, NO: NO
 *
 * - **64 calls.** A macro cannot call itself, so REX_WALK_64() has a call for each of 64 items.
 *   REX_WALK() adds empty items to a shorter list.
 *
 * Macros in pairs, such as REX_JOIN() and REX_JOIN_EXPANDED(), serve a rule of C. The preprocessor
 * does not expand an argument beside ## before it joins the tokens. The preprocessor counts the
 * arguments of a macro before it expands them. So the first macro of a pair only passes its
 * arguments on, and they are expanded before the second macro reads them.
 *
 * These are the main steps of an example; calls for empty items are left out:
 *
 *     REX_PARAMETER_COUNT((int) n, (double) a)
 *     (0 REX_EACH_PARAMETER(REX_PARAMETER_ONE, , (int) n, (double) a))
 *     (0 REX_WALK(REX_PARAMETER, , (), (), REX_PARAMETER_ONE, , (int) n, (double) a))
 *     (0 REX_PARAMETER(, (), REX_PARAMETER_ONE, , (int) n)
 *        REX_PARAMETER(, (), REX_PARAMETER_ONE, , (double) a))
 *     (0 REX_PARAMETER_ONE(, (int), n) REX_PARAMETER_ONE(, (double), a))
 *     (0 +1 +1)
 */

/** REX_JOIN(a, b): one token of @a and @b, which are expanded first: `REX_JOIN(x, __LINE__)`. */
#define REX_JOIN(a, b) REX_JOIN_EXPANDED(a, b)
/** REX_JOIN_EXPANDED(a, b): one token of @a and @b, which REX_JOIN() has expanded. */
#define REX_JOIN_EXPANDED(a, b) a##b

/**
 * REX_EACH_PARAMETER(m, context, parameters...): `m(context, type, name)` for each parameter, in
 * order; nothing for `void`.
 */
#define REX_EACH_PARAMETER(m, context, ...) REX_PARAMETERS(, (), (), m, context, __VA_ARGS__)
/**
 * REX_PARAMETER_LIST(none, m, context, parameters...): `m(context, type, name)` for each parameter,
 * with commas between them: `n, a` with REX_PARAMETER_NAME as @m. For `void` the result is @none.
 */
#define REX_PARAMETER_LIST(none, m, context, ...) \
    REX_PARAMETERS(none, (), (, ), m, context, __VA_ARGS__)
/**
 * REX_PARAMETER_TAIL(m, context, parameters...): a comma and `m(context, type, name)` for each
 * parameter: `, n, a` with REX_PARAMETER_NAME as @m.
 */
#define REX_PARAMETER_TAIL(m, context, ...) REX_PARAMETERS(, (, ), (, ), m, context, __VA_ARGS__)
/**
 * REX_PARAMETER_COUNT(parameters...): number of parameters, as a constant expression: `(0 +1 +1)`
 * for two.
 */
#define REX_PARAMETER_COUNT(...) (0 REX_EACH_PARAMETER(REX_PARAMETER_ONE, , __VA_ARGS__))
/** REX_PARAMETER_ONE(context, type, name): an @m that writes `+1`, for REX_PARAMETER_COUNT(). */
#define REX_PARAMETER_ONE(context, type, name) +1
/**
 * REX_PARAMETER_DECLARE(context, type, name): an @m that declares the parameter:
 * `__typeof__ (int) n` for `(int) n`.
 */
#define REX_PARAMETER_DECLARE(context, type, name) __typeof__ type name
/**
 * REX_PARAMETER_ARGUMENT(context, type, name): an @m that declares the parameter with the type
 * REX_ARGUMENT_TYPE() (rex/arguments.h): `REX_ARGUMENT_TYPE (int) n` for `(int) n`.
 */
#define REX_PARAMETER_ARGUMENT(context, type, name) REX_ARGUMENT_TYPE type name
/**
 * REX_PARAMETER_KIND(context, type, name): an @m that writes a comma and the kind of the type
 * (rex/kinds.h): `, REX_KIND_OF_TYPE (int)` for `(int) n`.
 */
#define REX_PARAMETER_KIND(context, type, name) , REX_KIND_OF_TYPE type
/** REX_PARAMETER_NAME(context, type, name): an @m that writes the name: `n` for `(int) n`. */
#define REX_PARAMETER_NAME(context, type, name) name

/**
 * REX_IF_PARAMETERS(parameters...): is written before `(then, otherwise)`. The whole expands to
 * @then if the parameters are a list or begin with `void`, and to @otherwise if they are empty. For
 * any other type without parentheses the compiler reports an error.
 */
#define REX_IF_PARAMETERS(...) REX_IF_PARAMETERS_OF(__VA_ARGS__, )
/**
 * REX_IF_PARAMETERS_OF(first, more...): the name of the macro that reads `(then, otherwise)`:
 * REX_THEN_OF if @first begins with a parenthesis, else the result of REX_IF_VOID().
 */
#define REX_IF_PARAMETERS_OF(first, ...) \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE first, REX_THEN, REX_IF_VOID, )(first)
/**
 * REX_IF_VOID(first): REX_IF_PARAMETERS_OF() uses this macro for a @first that does not begin with
 * a parenthesis. The macro expands to REX_THEN_OF if @first begins with `void`, and to
 * REX_OTHERWISE if @first is empty. Any other @first causes an error: see REX_OTHERWISE_OF().
 */
#define REX_IF_VOID(first) REX_PARAMETER_PICK(REX_IS_##first, REX_THEN, REX_OTHERWISE_OF, )(first)
/**
 * REX_IS_void: a comma. In REX_IF_VOID(), `REX_IS_##first` is therefore two arguments for `void`.
 * For `int` it is one argument: `REX_IS_int` is not a macro.
 */
#define REX_IS_void ,
/** REX_THEN(first): the name REX_THEN_OF. */
#define REX_THEN(first) REX_THEN_OF
/** REX_THEN_OF(then, otherwise): @then. */
#define REX_THEN_OF(then, otherwise) then
/**
 * REX_OTHERWISE_OF(first): the name REX_OTHERWISE. If @first is not empty, such as `int n`, the
 * macro first writes a name that does not exist, REX_WRITE_THE_TYPE_IN_PARENTHESES_int, and the
 * compiler reports an error.
 */
#define REX_OTHERWISE_OF(first) REX_WRITE_THE_TYPE_IN_PARENTHESES_##first REX_OTHERWISE
/** REX_OTHERWISE(then, otherwise): @otherwise. */
#define REX_OTHERWISE(then, otherwise) otherwise

/**
 * REX_PARAMETER_TYPE: is written before a parameter: `REX_PARAMETER_TYPE (int) n` becomes
 * `(int), n`, which is two arguments.
 */
#define REX_PARAMETER_TYPE(...) (__VA_ARGS__),
/** REX_PARAMETER_PICK(arguments...): the third of the arguments, which are expanded first. */
#define REX_PARAMETER_PICK(...) REX_PARAMETER_THIRD(__VA_ARGS__)
/** REX_PARAMETER_THIRD(a, b, c, more...): @c, for REX_PARAMETER_PICK(). */
#define REX_PARAMETER_THIRD(a, b, c, ...) c
/**
 * REX_PARAMETER(none, between, m, context, parameter): `m(context, type, name)` for one parameter.
 * The tokens inside the parentheses of @between come before this call of @m: a comma if @between is
 * `(, )`. If the parameter is `void` or empty, the result is only @none.
 */
#define REX_PARAMETER(none, between, m, context, parameter)                                    \
    REX_PARAMETER_PICK(REX_PARAMETER_TYPE parameter, REX_PARAMETER_SOME, REX_PARAMETER_NONE, ) \
    (none, between, m, context, parameter)
/**
 * REX_PARAMETER_SOME(): the result of REX_PARAMETER() for a parameter that begins with a
 * parenthesis.
 */
#define REX_PARAMETER_SOME(none, between, m, context, parameter) \
    REX_PARAMETER_BETWEEN between REX_PARAMETER_CALL(m, context, REX_PARAMETER_TYPE parameter)
/**
 * REX_PARAMETER_NONE(): the result of REX_PARAMETER() for a parameter that does not begin with a
 * parenthesis. The result is @none for `void` and for an empty parameter. For `int n` the macro
 * writes a name that does not exist, REX_WRITE_THE_TYPE_IN_PARENTHESES_int, and the compiler
 * reports an error.
 */
#define REX_PARAMETER_NONE(none, between, m, context, parameter) \
    none REX_WRITE_THE_TYPE_IN_PARENTHESES_##parameter
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_void: nothing, because `void` needs no parentheses. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_void
/** REX_WRITE_THE_TYPE_IN_PARENTHESES_: nothing, because an empty parameter is not an error. */
#define REX_WRITE_THE_TYPE_IN_PARENTHESES_
/**
 * REX_PARAMETER_BETWEEN: is written before tokens in parentheses, and removes the parentheses:
 * `REX_PARAMETER_BETWEEN (, )` becomes a comma.
 */
#define REX_PARAMETER_BETWEEN(...) __VA_ARGS__
/**
 * REX_PARAMETER_CALL(m, context, type, name): `m(context, type, name)`. The caller writes the last
 * two arguments as `REX_PARAMETER_TYPE parameter`, which expands to the two arguments `type, name`.
 */
#define REX_PARAMETER_CALL(m, ...) m(__VA_ARGS__)

/**
 * REX_PARAMETERS(none, first, between, m, context, parameters...): REX_PARAMETER() for each
 * parameter. Only the first call passes @none. The first call passes @first as the argument
 * @between.
 */
#define REX_PARAMETERS(none, first, between, m, context, ...) \
    REX_WALK(REX_PARAMETER, none, first, between, m, context, __VA_ARGS__)

/* clang-format off */
/**
 * REX_WALK(each, none, first, between, m, context, items...): calls the macro @each 65 times, once
 * for each item and then for empty items. The calls are:
 *
 *     each(none, first, m, context, ITEM)                               // item 1
 *     each(, between, m, context, ITEM)                                 // items 2 to 64
 *     each(, (), REX_HAS_MORE_THAN_64_PARAMETERS, context, ITEM)        // item 65
 *
 * Later items are ignored. If @each is REX_PARAMETER() and item 65 is a parameter, the compiler
 * reports an error.
 */
#define REX_WALK(each, none, first, between, m, context, ...)                                      \
    REX_WALK_64(each, none, first, between, m, context, __VA_ARGS__, , , , , , , , , , , , , , , , \
                , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , , \
                , , , , , , , , )
/**
 * REX_HAS_MORE_THAN_64_PARAMETERS(...): makes the compiler report that a kernel has at most 64
 * parameters.
 */
#define REX_HAS_MORE_THAN_64_PARAMETERS(...) \
    _Pragma("GCC error \"a kernel has at most 64 parameters\"")
/** REX_WALK_64(): the 65 calls of REX_WALK(); p1 to p64 and @more are the items. */
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
/** REX_WALK_7(): `each(, between, m, context, ITEM)` for seven items, p1 to p7. */
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
