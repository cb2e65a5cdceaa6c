#include <stdio.h>

char OUT__1__main__9__id__ = 0;
struct __tgt_offload_entry OUT__1__main__9__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__1__main__9__id__, "OUT__1__main__9__kernel__", 0, 0, 0};
#include "rex_kmp.h"
#include "rex_kmp.h"

char OUT__2__main__12__id__ = 0;
struct __tgt_offload_entry OUT__2__main__12__omp_offload_entry__ = {(void *)&OUT__2__main__12__id__, "OUT__2__main__12__kernel__", 0, 0, 0};
struct __tgt_offload_entry OUT__3__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__2__main__12__id__, "OUT__1__main__9__kernel__", 0, 0, 0};
struct __tgt_offload_entry OUT__4__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {0, "OUT__4__kernel__", 0, 0, 0};
char key = 0;
struct __tgt_offload_entry OUT__5__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {&key, "OUT__5__kernel__", 0, 0, 0};
char OUT__6__id__ = 0;
struct __tgt_offload_entry OUT__7__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    &OUT__6__id__, "OUT__6__kernel__", 0, 0, 0};

int main(void)
{
    double begin = omp_get_wtime();
    rex_offload_init();
    rex_offload_init();
    __tgt_target_kernel(-1, 1, 1, (void *)&OUT__1__main__8__id__, 0);
    return 0;
}
