#define FORMS in_c11
#include "forms.h"
