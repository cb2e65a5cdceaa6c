/* Entries for the CUBINs of tests/data: kernels.cu, or with LIMITS limits.cu. */
#include <rex.h>

#ifdef LIMITS
#define RAW(stem)                                                                                                                    \
    char stem##id__ = 0;                                                                                                             \
    REX_ENTRY(stem, &stem##id__, #stem, 0, 0)
RAW(bounded);
RAW(unbounded);
#else
REX_KERNEL(plain);
REX_KERNEL(env);
REX_KERNEL(none);
REX_KERNEL(narrow);
REX_KERNEL(narrow_first);
REX_KERNEL(wide);
#ifndef NO_GLOBAL
double table[4];
REX_GLOBAL(table);
#endif
#endif
