#include "rex_kmp.h"

REX_KERNEL(by_macro);

int main(void)
{
    return 0;
}
