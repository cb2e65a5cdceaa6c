#include "rex_kmp.h"
#include <sys/time.h>

/* "rex_kmp.h" in a comment; struct __tgt_offload_entry x = {0}; */
char OUT__1__main__9__id__ = 0;
struct __tgt_offload_entry OUT__1__main__9__omp_offload_entry__
__attribute__((section("omp_offloading_entries"))) = {(void *)&OUT__1__main__9__id__, (char *)"OUT__1__main__9__kernel__", 0, 0, 0};
#if 0
struct __tgt_offload_entry none = {0, 0, 0, 0, 0};
#endif

REX_KERNEL(by_macro);

int main(int argc, char **argv)
{
    rex_offload_init();
    struct timeval begin;
    gettimeofday(&begin, 0);
    static double a[1];
    void *columns[] = {a};
    int64_t sizes[] = {8}, types[] = {35};
    struct __tgt_kernel_arguments args = {3, 1, columns, columns, sizes, types, 0, 0, 0, 0, {1, 1, 1}, {1, 1, 1}, 0};
    void *host_ptr = (void *)&OUT__1__main__9__id__;
    __tgt_target_kernel(-1, 1, 1, host_ptr, &args);
    return __tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(by_macro), &args);
}
