#define ROWS rows_cxx11
#include "rows/rows.h"
