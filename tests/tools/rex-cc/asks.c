/* asks.c - looks for twice() when it runs.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
int main(void)
{
    int (*twice)(void) = dlsym(dlopen(0, RTLD_LAZY), "twice");
    return !twice || twice();
}
