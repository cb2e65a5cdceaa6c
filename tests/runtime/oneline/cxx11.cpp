#define FORMS in_cxx11
#include "forms.h"
