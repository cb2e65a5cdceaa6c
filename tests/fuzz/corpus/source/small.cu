#include "rex_kmp.h"
#if 0
"skipped
#else
/* a comment */ // another \
continued
char a__id__;
struct __tgt_offload_entry a__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {&a__id__, "a__" "kernel__", 0, 0, 0};
#endif
REX_KERNEL(b);
extern "C" __global__ void a__kernel__(double *p, long n) { *p = 1'000; }
int main(void) { rex_offload_init(); double t = omp_get_wtime(); return REX_KERNEL_ID(b) == 0; }
