#define REX_KMP_INTERNAL
#define MACROS macros_internal_cpp
#include "rewrite.h"
