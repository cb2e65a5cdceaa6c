/*
 * rows.h - every row macro, in C11 and in C++11, where a program has used all ordinary words, and names that begin with rex_, for itself.
 *
 * ROWS names the function that it defines. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include "rows/given.h"

enum plain_enum { FIRST_ENUM, SECOND_ENUM };
enum signed_enum { NEGATIVE_ENUM = -2, POSITIVE_ENUM = 2 };

#define size ] nonsense [
#define base ] nonsense [
#define begin ] nonsense [
#define end ] nonsense [
#define type ] nonsense [
#define kind ] nonsense [
#define value ] nonsense [
#define row ] nonsense [
#define map ] nonsense [
#define count ] nonsense [
#define sizes ] nonsense [
#define types ] nonsense [
#define element ] nonsense [
#define lower ] nonsense [
#define length ] nonsense [
#define pointer ] nonsense [
#define object ] nonsense [
#define member ] nonsense [
#define parent ] nonsense [
#define text ] nonsense [

/* A mapper with a name that REX_RUNTIME_MAPPER()'s function once had for a parameter. */
static int rex_size(struct rex_map_builder *builder, void *it)
{
    return rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *(struct given *)it));
}
REX_RUNTIME_MAPPER(map_given, rex_size, struct given)

int32_t ROWS(struct rex_row *to, struct given *given)
{
    (void)map_given;
    double *rex_value_copy = given->array, *rex_section_base = given->array;
    struct given *rex_struct_address = given, *rex_member_of = given, *rex_pointee_address = given;
    volatile int16_t rex_unused = -3;
    const struct pair rex_row = {1.0f, 2.0f};
    const struct rex_three {
        char of[3];
    } rex_three = {{1, 2, 3}};
    const char rex_letter = 'c';
    enum plain_enum plain = SECOND_ENUM;
    enum signed_enum negative = NEGATIVE_ENUM;
    int64_t n = 4;
    size_t m = 5;
    double matrix[3][4], *const unwritten = matrix[0];
    double *walked = given->array;
    int counted = 7, evaluated = 7;
    const struct rex_row all[] = {REX_TO(rex_value_copy, n),
                                  REX_FROM(rex_section_base, m),
                                  REX_TOFROM(given->array, 3),
                                  REX_ALLOC(matrix, 3),
                                  REX_RELEASE(unwritten, counted),
                                  REX_DELETE(rex_value_copy + 1, (char)2),
                                  REX_SECTION(REX_MAP_TO, walked++, n - 2, 1),
                                  REX_POINTER(rex_section_base),
                                  REX_OBJECT(REX_MAP_FROM, *rex_member_of),
                                  REX_OBJECT(REX_MAP_TO, matrix),
                                  REX_FIRSTPRIVATE(rex_row),
                                  REX_PRIVATE(matrix),

                                  REX_ALWAYS(REX_PRESENT(REX_TO(given->array, 1))),
                                  REX_CLOSE(REX_ALLOC(given->array, 1)),
                                  REX_HOLD(REX_ALLOC(given->array, 1)),
                                  REX_IMPLICIT(REX_ALLOC(given->array, 1)),
                                  REX_RETURN(REX_TO(given->array, 1)),
                                  REX_USE_DEVICE_PTR(given->array),

                                  REX_VALUE(evaluated++),
                                  REX_VALUE((int8_t)-1),
                                  REX_VALUE((uint8_t)255),
                                  REX_VALUE(rex_unused),
                                  REX_VALUE((uint16_t)65535),
                                  REX_VALUE(-4),
                                  REX_VALUE(4000000000u),
                                  REX_VALUE(INT64_C(-5)),
                                  REX_VALUE(UINT64_MAX),
                                  REX_VALUE(0.5f),
                                  REX_VALUE(0.5),
                                  REX_VALUE((bool)1),
                                  REX_VALUE(rex_letter),
                                  REX_VALUE((char)-1),
                                  REX_VALUE(plain),
                                  REX_VALUE(negative),
                                  REX_VALUE(rex_row),
                                  REX_VALUE(rex_three),
                                  REX_VALUE(&rex_row),
                                  REX_VALUE(given),
                                  REX_IS_DEVICE_PTR(given),
                                  REX_IS_DEVICE_PTR((uintptr_t)given),

                                  REX_STRUCT(*rex_struct_address, array, pair),
                                  REX_MEMBER(40, REX_MAP_TO, *rex_member_of, n),
                                  REX_MEMBER(40, REX_MAP_TO, *rex_member_of, pair.y),
                                  REX_MEMBER_POINTER(40, REX_MAP_TOFROM, *rex_pointee_address, data, 1, n),
                                  REX_ATTACH(REX_MAP_FROM, rex_pointee_address->data, 0, 2),
                                  rex_row_member(REX_TO(&given->n, 1), 40)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        to[i] = all[i];
    given->evaluations = evaluated + 10 * (int)(walked - given->array);

    const int64_t rex_map_rows = n; /* no array of REX_MAP(rex_map, ...) is called so */
    {
        REX_MAP(rex_map, REX_VALUE(n), REX_TO(given->array, rex_map_rows), to[12]);
        given->made = rex_map_build(&given->built, &rex_map, NULL, NULL, NULL);
    }
    given->matrix = (uintptr_t)matrix;
    return (int32_t)(sizeof all / sizeof *all);
}
