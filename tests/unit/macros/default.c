#define MACROS macros_default_c
#include "rewrite.h"
