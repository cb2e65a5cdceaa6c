#define MACROS macros_default_cpp
#include "rewrite.h"
