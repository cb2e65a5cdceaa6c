/* What looks like a mistake where macros are not expanded, and conditions not followed. */
#ifdef OTHER
#include "rex_kmp.h"
#else
#include "rex_kmp.h"
#endif
#define IN_SECTION __attribute__((section("omp_offloading_entries"), used))
char first__id__, second__id__;
#ifdef OTHER
IN_SECTION struct __tgt_offload_entry first__omp_offload_entry__ = {
#else
struct __tgt_offload_entry first__omp_offload_entry__ IN_SECTION = {
#endif
    &first__id__, "first__kernel__", 0, 0, 0};
[[gnu::section("omp_offloading_entries")]] __tgt_offload_entry second__omp_offload_entry__{.SymbolName = "second__kernel__", .Address = &second__id__};
double data[8];
IN_SECTION struct __tgt_offload_entry data__omp_offload_entry__ = {data, "data", sizeof(data), 0, 0};

struct __tgt_offload_entry *find(const char *name)
{
    struct __tgt_offload_entry copy = {0}, *next = name ? 0 : &copy;
    return next;
}

int main(int argc, char **argv)
{
#ifdef OTHER
    if (argc > 1) {
#else
    while (argc-- > 1) {
#endif
        void *host_ptr = find(&argv[1]);
        __tgt_target_kernel(-1, 1, 64, host_ptr, &argv);
    }
    struct timespec seed;
    clock_gettime(CLOCK_REALTIME, &seed);
    srand(seed.tv_nsec);
    rex_offload_init();
    rex_offload_fini();
    rex_offload_init();
}
