#define ROWS rows_c11
#include "rows/rows.h"
