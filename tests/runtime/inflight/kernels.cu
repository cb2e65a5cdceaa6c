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
