#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, rex_arg n, rex_arg amount, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] = x[i] + rex_arg_double(amount);
}
