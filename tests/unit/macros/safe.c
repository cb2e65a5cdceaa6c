#define REX_KMP_SAFE
#define MACROS macros_safe_c
#include "rewrite.h"
