#define MACROS macros_default_c
#include "names.h"
