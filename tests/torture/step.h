/* step.h - one step of a scenario, and whether it may end as it does. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_STEP_H
#define REX_TORTURE_STEP_H

#include "torture.h"

/* Librex's last error becomes one that no step has, so that a step which fails without setting it is seen. */
void step_begin(void);

/* Whether RESULT of WHAT is success; if not, it has to be an error that fits the plan, and said so. */
bool step_ended(const char *what, int result, int also);

#define STEP_RESULT(what, result) step_ended((what), (result), 0)
#define STEP_POINTER(what, pointer) step_ended((what), (pointer) != NULL ? 0 : step_code(), 0)
#define TRY(call) (step_begin(), step_ended(#call, (call), 0))
/* ALSO is no failure here. */
#define TRY_ONE_OF(call, also) (step_begin(), step_ended(#call, (call), (also)))

/* Whether nothing has set an error since the step began. */
bool step_is_silent(void);

/* The error of a call that returned NULL. */
int step_code(void);

bool torture_on_host(void);
bool torture_on_fake(void);
bool torture_computes(void);

#endif
