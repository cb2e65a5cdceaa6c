#include <rex.h>
#include <time.h>

REX_KERNEL(first, (double *) a);
static char second__id__;
__attribute__((weak, used, section("omp_offloading_entries"), aligned(8))) struct __tgt_offload_entry second__omp_offload_entry__ = {
    .name = (char *)(uintptr_t)"second__kernel__", .addr = &second__id__, .size = 0};

int main(void)
{
    static double a[8];
    if (rex_offload_init() != 0)
        return 1;
    clock_t begin = clock();
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(first), 1, 64);
    int result = REX_LAUNCH(first, 1, 64, REX_TOFROM(a, 8)) | REX_LAUNCH_WITH(first, config, REX_TOFROM(a, 8));
    result |= __tgt_target_kernel(NULL, -1, 1, 64, &second__id__, &packet);
    return result | (clock() - begin > 1000);
}
