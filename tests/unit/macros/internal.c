#define REX_KMP_INTERNAL
#define MACROS macros_internal_c
#include "rewrite.h"
