/* What the shared object has for the program. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdint.h>

struct __tgt_offload_entry;

/* Launches a kernel on memory that the program has mapped. */
int solver_triple(int64_t *x, int64_t count);
int solver_init(void);
/* The table of the shared object. */
void solver_table(struct __tgt_offload_entry **begin, struct __tgt_offload_entry **end);
