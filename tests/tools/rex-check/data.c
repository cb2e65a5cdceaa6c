/* Entries for the CUBINs of tests/data: kernels.cu, with LIMITS limits.cu, with ENVIRONMENTS environments.cu. */
#include <rex.h>

#define RAW(stem)                                                                                                                    \
    char stem##id__ = 0;                                                                                                             \
    REX_ENTRY(stem, &stem##id__, #stem, 0, 0)
#ifdef LIMITS
RAW(bounded);
RAW(unbounded);
#elif defined ENVIRONMENTS
RAW(generic);
RAW(spmd);
RAW(misshapen);
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
