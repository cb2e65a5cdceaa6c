/* Launches and regions as generated code has them, all right; rex-check.sh makes mistakes in them. */
#include "rex_kmp.h"

#include <stdlib.h>

enum { TO = 0x1, FROM = 0x2, PARAMETER = 0x20, LITERAL = 1 << 8 };

char OUT__1__main__9__id__ = 0;
struct __tgt_offload_entry OUT__1__main__9__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__1__main__9__id__, (char *)"OUT__1__main__9__kernel__", 0, 0, 0};
REX_KERNEL(by_macro);

/* Four columns in braces, and a packet by position. */
int by_position(int n, double *x, double *y)
{
    void *host_ptr = (void *)&OUT__1__main__9__id__;
    void *literal_0 = rex_pack_literal_arg_bytes(&n, sizeof(int));
    void *base[] = {literal_0, x, y};
    void *begin[] = {(literal_0), x + 0, y + 0};
    int64_t sizes[] = {(int64_t)sizeof(int), (int64_t)sizeof(double) * n, (int64_t)sizeof(double) * n};
    int64_t types[] = {288, 33, 35};
    int arg_num = 3;
    struct __tgt_kernel_arguments args = {3, arg_num, base, begin, sizes, types, 0, 0, n, 0, {16, 1, 1}, {128, 1, 1}, 0};
    return __tgt_target_kernel(-1, 16, 128, host_ptr, &args);
}

/* A packet by names, and one that is filled by assignments; the rows end with one that is no parameter. */
int by_name(int n, double *x, double *y)
{
    void *literal = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *base[] = {literal, x, y}, *more = 0;
    void *begin[] = {literal, x, y};
    int64_t sizes[3] = {4, 8 * (int64_t)n, 8 * (int64_t)n};
    int64_t types[3] = {PARAMETER | LITERAL, PARAMETER | TO, TO | FROM};
    struct __tgt_kernel_arguments named = {
        .Version = 2, .NumArgs = 3, .ArgsBase = base, .Args = begin, .ArgSizes = sizes, .ArgTypes = types, .Teams = {1, 1, 1}};
    struct __tgt_kernel_arguments assigned = {0};
    assigned.Version = 3;
    assigned.NumArgs = 2 + 1;
    assigned.ArgsBase = base;
    assigned.Args = begin;
    assigned.ArgSizes = sizes;
    assigned.ArgTypes = types;
    assigned.Teams[0] = 4;
    (void)more;
    return __tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(by_macro), &named) | __tgt_target_kernel(-1, 4, 1, REX_KERNEL_ID(by_macro), &assigned);
}

/* A region that is left by another way, too, and ended before. */
int in_region(int n, double *x, double *y)
{
    void *base[] = {x, y};
    void *begin[] = {x, y};
    int64_t sizes[] = {8 * (int64_t)n, 8 * (int64_t)n};
    int64_t types[] = {1, 3};
    __tgt_target_data_begin(-1, 2, base, begin, sizes, types);
    if (by_position(n, x, y) != 0) {
        __tgt_target_data_end(-1, 2, base, begin, sizes, types);
        return 1;
    }
    int64_t from[] = {FROM, FROM};
    __tgt_target_data_update(-1, 2, base, begin, sizes, from);
    __tgt_target_data_end(-1, 2, base, begin, sizes, types);
    return 0;
}

/* Columns that are allocated, and filled with a cursor; the number of rows is counted before. */
int by_cursor(int n, int rows, double **parts)
{
    int64_t arg_num = 1;
    for (int i = 0; i < rows; i++)
        arg_num += 1;
    void *literal = rex_pack_literal_arg_bytes(&n, sizeof(int));
    void **base = (void **)malloc(sizeof(void *) * (size_t)arg_num);
    void **begin = (void **)malloc(sizeof(void *) * (size_t)arg_num);
    int64_t *sizes = (int64_t *)malloc(sizeof(int64_t) * (size_t)arg_num);
    int64_t *types = (int64_t *)calloc((size_t)arg_num, sizeof(int64_t));
    if (base == NULL || begin == NULL || sizes == NULL || types == NULL) {
        free(base);
        free(begin);
        free(sizes);
        free(types);
        return -1;
    }
    int64_t index = 0;
    base[index] = literal;
    begin[index] = literal;
    sizes[index] = sizeof(int);
    types[index] = 288;
    index++;
    for (int i = 0; i < rows; i++) {
        base[index] = parts[i];
        begin[index] = parts[i] + 1;
        sizes[index] = 8;
        types[index] = 35;
        index++;
    }
    int result = __tgt_target_teams(-1, REX_KERNEL_ID(by_macro), (int32_t)arg_num, base, begin, sizes, types, 4, 64);
    free(base);
    free(begin);
    free(sizes);
    free(types);
    return result;
}

int main(void)
{
    double x[8] = {0}, y[8] = {0}, *parts[] = {x};
    rex_offload_init();
    return by_position(8, x, y) | by_name(8, x, y) | in_region(8, x, y) | by_cursor(8, 1, parts);
}
