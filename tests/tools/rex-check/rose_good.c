#include "rex_kmp.h"
#include <sys/time.h>

/* "rex_kmp.h" in a comment; struct __tgt_offload_entry x = {0}; */
char OUT__1__main__9__id__ = 0;
struct __tgt_offload_entry OUT__1__main__9__omp_offload_entry__
__attribute__((section("omp_offloading_entries"))) = {(void *)&OUT__1__main__9__id__, (char *)"OUT__1__main__9__kernel__", 0, 0, 0};
char OUT__2__main__12__id__ = 0;
struct __tgt_offload_entry OUT__2__main__12__omp_offload_entry__ __attribute__((section("omp_offloading_entries")))  = {((void *)(&OUT__2__main__12__id__)), "OUT__2__main__12__kernel__", 0, 0, 0};
#if 0
struct __tgt_offload_entry none = {0, 0, 0, 0, 0};
#endif

double read_timer()
{
    struct timeval now;
    gettimeofday(&now, 0);
    return now.tv_sec + 1e-6 * now.tv_usec;
}

int main(argc, argv)
int argc;
char **argv;
{
    int status = 0;
    rex_offload_init();
    double begin = read_timer();
    for (int i = 0; i < 9; i++) {
        void *__host_ptr = (void *)(&OUT__1__main__9__id__);
        __tgt_target_teams(0, __host_ptr, 0, 0, 0, 0, 0, 16, 64);
    }
    status = __tgt_target_kernel(-1, 16, 64, (void *)&OUT__2__main__12__id__, &args);
    return status || read_timer() - begin > 1;
}
