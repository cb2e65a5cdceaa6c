#define MACROS macros_default_cpp
#include "names.h"
