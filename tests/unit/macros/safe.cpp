#define REX_KMP_SAFE
#define MACROS macros_safe_cpp
#include "rewrite.h"
