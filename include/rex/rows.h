/*
 * rex/rows.h - counting and visiting the rows of REX_MAP(), with the preprocessor. Included by rex/map.h; nothing here is for direct use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_ROWS_H
#define REX_ROWS_H

/** REX_ROWS_MAX: most rows of one REX_MAP(); more are built with rex_map_build(). Since 0.1. */
#define REX_ROWS_MAX 64

/** REX_ROW_COUNT(rows...): how many rows there are, 1 to 64. Since 0.1. */
#define REX_ROW_COUNT(...) \
    REX_ROW_PICK(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, \
    44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, \
    17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
/** REX_ROW_PICK(): the argument behind 64 others. Since 0.1. */
#define REX_ROW_PICK( \
    r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, r21, r22, r23, \
    r24, r25, r26, r27, r28, r29, r30, r31, r32, r33, r34, r35, r36, r37, r38, r39, r40, r41, r42, r43, r44, \
    r45, r46, r47, r48, r49, r50, r51, r52, r53, r54, r55, r56, r57, r58, r59, r60, r61, r62, r63, r64, n, ...) \
    n

/** REX_JOIN(a, b): one token, after both are expanded. Since 0.1. */
#define REX_JOIN(a, b) REX_JOIN_EXPANDED(a, b)
/** REX_JOIN_EXPANDED(a, b): one token, of a and b as they are. Since 0.1. */
#define REX_JOIN_EXPANDED(a, b) a##b

/** REX_EACH(m, name, rows...): m(name, number, row) for each row; numbers run down to 1. Since 0.1. */
#define REX_EACH(m, name, ...) REX_JOIN(REX_EACH_, REX_ROW_COUNT(__VA_ARGS__))(m, name, __VA_ARGS__)
/**
 * REX_EACH_1, REX_EACH_2, REX_EACH_3, REX_EACH_4, REX_EACH_5, REX_EACH_6, REX_EACH_7, REX_EACH_8, REX_EACH_9,
 * REX_EACH_10, REX_EACH_11, REX_EACH_12, REX_EACH_13, REX_EACH_14, REX_EACH_15, REX_EACH_16, REX_EACH_17,
 * REX_EACH_18, REX_EACH_19, REX_EACH_20, REX_EACH_21, REX_EACH_22, REX_EACH_23, REX_EACH_24, REX_EACH_25,
 * REX_EACH_26, REX_EACH_27, REX_EACH_28, REX_EACH_29, REX_EACH_30, REX_EACH_31, REX_EACH_32, REX_EACH_33,
 * REX_EACH_34, REX_EACH_35, REX_EACH_36, REX_EACH_37, REX_EACH_38, REX_EACH_39, REX_EACH_40, REX_EACH_41,
 * REX_EACH_42, REX_EACH_43, REX_EACH_44, REX_EACH_45, REX_EACH_46, REX_EACH_47, REX_EACH_48, REX_EACH_49,
 * REX_EACH_50, REX_EACH_51, REX_EACH_52, REX_EACH_53, REX_EACH_54, REX_EACH_55, REX_EACH_56, REX_EACH_57,
 * REX_EACH_58, REX_EACH_59, REX_EACH_60, REX_EACH_61, REX_EACH_62, REX_EACH_63, REX_EACH_64:
 * what REX_EACH() becomes for so many rows. Since 0.1.
 */
#define REX_EACH_1(m, name, row) m(name, 1, row)
#define REX_EACH_2(m, name, row, ...) m(name, 2, row) REX_EACH_1(m, name, __VA_ARGS__)
#define REX_EACH_3(m, name, row, ...) m(name, 3, row) REX_EACH_2(m, name, __VA_ARGS__)
#define REX_EACH_4(m, name, row, ...) m(name, 4, row) REX_EACH_3(m, name, __VA_ARGS__)
#define REX_EACH_5(m, name, row, ...) m(name, 5, row) REX_EACH_4(m, name, __VA_ARGS__)
#define REX_EACH_6(m, name, row, ...) m(name, 6, row) REX_EACH_5(m, name, __VA_ARGS__)
#define REX_EACH_7(m, name, row, ...) m(name, 7, row) REX_EACH_6(m, name, __VA_ARGS__)
#define REX_EACH_8(m, name, row, ...) m(name, 8, row) REX_EACH_7(m, name, __VA_ARGS__)
#define REX_EACH_9(m, name, row, ...) m(name, 9, row) REX_EACH_8(m, name, __VA_ARGS__)
#define REX_EACH_10(m, name, row, ...) m(name, 10, row) REX_EACH_9(m, name, __VA_ARGS__)
#define REX_EACH_11(m, name, row, ...) m(name, 11, row) REX_EACH_10(m, name, __VA_ARGS__)
#define REX_EACH_12(m, name, row, ...) m(name, 12, row) REX_EACH_11(m, name, __VA_ARGS__)
#define REX_EACH_13(m, name, row, ...) m(name, 13, row) REX_EACH_12(m, name, __VA_ARGS__)
#define REX_EACH_14(m, name, row, ...) m(name, 14, row) REX_EACH_13(m, name, __VA_ARGS__)
#define REX_EACH_15(m, name, row, ...) m(name, 15, row) REX_EACH_14(m, name, __VA_ARGS__)
#define REX_EACH_16(m, name, row, ...) m(name, 16, row) REX_EACH_15(m, name, __VA_ARGS__)
#define REX_EACH_17(m, name, row, ...) m(name, 17, row) REX_EACH_16(m, name, __VA_ARGS__)
#define REX_EACH_18(m, name, row, ...) m(name, 18, row) REX_EACH_17(m, name, __VA_ARGS__)
#define REX_EACH_19(m, name, row, ...) m(name, 19, row) REX_EACH_18(m, name, __VA_ARGS__)
#define REX_EACH_20(m, name, row, ...) m(name, 20, row) REX_EACH_19(m, name, __VA_ARGS__)
#define REX_EACH_21(m, name, row, ...) m(name, 21, row) REX_EACH_20(m, name, __VA_ARGS__)
#define REX_EACH_22(m, name, row, ...) m(name, 22, row) REX_EACH_21(m, name, __VA_ARGS__)
#define REX_EACH_23(m, name, row, ...) m(name, 23, row) REX_EACH_22(m, name, __VA_ARGS__)
#define REX_EACH_24(m, name, row, ...) m(name, 24, row) REX_EACH_23(m, name, __VA_ARGS__)
#define REX_EACH_25(m, name, row, ...) m(name, 25, row) REX_EACH_24(m, name, __VA_ARGS__)
#define REX_EACH_26(m, name, row, ...) m(name, 26, row) REX_EACH_25(m, name, __VA_ARGS__)
#define REX_EACH_27(m, name, row, ...) m(name, 27, row) REX_EACH_26(m, name, __VA_ARGS__)
#define REX_EACH_28(m, name, row, ...) m(name, 28, row) REX_EACH_27(m, name, __VA_ARGS__)
#define REX_EACH_29(m, name, row, ...) m(name, 29, row) REX_EACH_28(m, name, __VA_ARGS__)
#define REX_EACH_30(m, name, row, ...) m(name, 30, row) REX_EACH_29(m, name, __VA_ARGS__)
#define REX_EACH_31(m, name, row, ...) m(name, 31, row) REX_EACH_30(m, name, __VA_ARGS__)
#define REX_EACH_32(m, name, row, ...) m(name, 32, row) REX_EACH_31(m, name, __VA_ARGS__)
#define REX_EACH_33(m, name, row, ...) m(name, 33, row) REX_EACH_32(m, name, __VA_ARGS__)
#define REX_EACH_34(m, name, row, ...) m(name, 34, row) REX_EACH_33(m, name, __VA_ARGS__)
#define REX_EACH_35(m, name, row, ...) m(name, 35, row) REX_EACH_34(m, name, __VA_ARGS__)
#define REX_EACH_36(m, name, row, ...) m(name, 36, row) REX_EACH_35(m, name, __VA_ARGS__)
#define REX_EACH_37(m, name, row, ...) m(name, 37, row) REX_EACH_36(m, name, __VA_ARGS__)
#define REX_EACH_38(m, name, row, ...) m(name, 38, row) REX_EACH_37(m, name, __VA_ARGS__)
#define REX_EACH_39(m, name, row, ...) m(name, 39, row) REX_EACH_38(m, name, __VA_ARGS__)
#define REX_EACH_40(m, name, row, ...) m(name, 40, row) REX_EACH_39(m, name, __VA_ARGS__)
#define REX_EACH_41(m, name, row, ...) m(name, 41, row) REX_EACH_40(m, name, __VA_ARGS__)
#define REX_EACH_42(m, name, row, ...) m(name, 42, row) REX_EACH_41(m, name, __VA_ARGS__)
#define REX_EACH_43(m, name, row, ...) m(name, 43, row) REX_EACH_42(m, name, __VA_ARGS__)
#define REX_EACH_44(m, name, row, ...) m(name, 44, row) REX_EACH_43(m, name, __VA_ARGS__)
#define REX_EACH_45(m, name, row, ...) m(name, 45, row) REX_EACH_44(m, name, __VA_ARGS__)
#define REX_EACH_46(m, name, row, ...) m(name, 46, row) REX_EACH_45(m, name, __VA_ARGS__)
#define REX_EACH_47(m, name, row, ...) m(name, 47, row) REX_EACH_46(m, name, __VA_ARGS__)
#define REX_EACH_48(m, name, row, ...) m(name, 48, row) REX_EACH_47(m, name, __VA_ARGS__)
#define REX_EACH_49(m, name, row, ...) m(name, 49, row) REX_EACH_48(m, name, __VA_ARGS__)
#define REX_EACH_50(m, name, row, ...) m(name, 50, row) REX_EACH_49(m, name, __VA_ARGS__)
#define REX_EACH_51(m, name, row, ...) m(name, 51, row) REX_EACH_50(m, name, __VA_ARGS__)
#define REX_EACH_52(m, name, row, ...) m(name, 52, row) REX_EACH_51(m, name, __VA_ARGS__)
#define REX_EACH_53(m, name, row, ...) m(name, 53, row) REX_EACH_52(m, name, __VA_ARGS__)
#define REX_EACH_54(m, name, row, ...) m(name, 54, row) REX_EACH_53(m, name, __VA_ARGS__)
#define REX_EACH_55(m, name, row, ...) m(name, 55, row) REX_EACH_54(m, name, __VA_ARGS__)
#define REX_EACH_56(m, name, row, ...) m(name, 56, row) REX_EACH_55(m, name, __VA_ARGS__)
#define REX_EACH_57(m, name, row, ...) m(name, 57, row) REX_EACH_56(m, name, __VA_ARGS__)
#define REX_EACH_58(m, name, row, ...) m(name, 58, row) REX_EACH_57(m, name, __VA_ARGS__)
#define REX_EACH_59(m, name, row, ...) m(name, 59, row) REX_EACH_58(m, name, __VA_ARGS__)
#define REX_EACH_60(m, name, row, ...) m(name, 60, row) REX_EACH_59(m, name, __VA_ARGS__)
#define REX_EACH_61(m, name, row, ...) m(name, 61, row) REX_EACH_60(m, name, __VA_ARGS__)
#define REX_EACH_62(m, name, row, ...) m(name, 62, row) REX_EACH_61(m, name, __VA_ARGS__)
#define REX_EACH_63(m, name, row, ...) m(name, 63, row) REX_EACH_62(m, name, __VA_ARGS__)
#define REX_EACH_64(m, name, row, ...) m(name, 64, row) REX_EACH_63(m, name, __VA_ARGS__)

#endif
