#include <rex/kernel.h>

REX_DEVICE_KERNEL(square, (long long) value, (long long *) result)
{
    *result = value * value;
}

/* On the host device alone: the program's own function, called from inside a launch. */
REX_DEVICE_KERNEL(call, (void (*)(void)) function)
{
    function();
}

/* flags[0]: it has begun. On a GPU it stays until the program sets flags[1], in memory that both see. */
REX_DEVICE_KERNEL(stay, (volatile int64_t *) flags, (int64_t *) value)
{
    flags[0] = 1;
#if REX_ON_GPU
    while (flags[1] == 0) {
    }
#endif
    *value += 1;
}
