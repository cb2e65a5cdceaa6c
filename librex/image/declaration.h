/*
 * declaration.h - a kernel's parameters as its source declares them, which a host image has as
 * text.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DECLARATION_H
#define REX_INTERNAL_DECLARATION_H

#include <stdbool.h>

#include "rex/inspect.h"

/*
 * How many parameters the text AT tells, "0(rex_arg n, double *x)", and whether the runtime's is in
 * front of them, which 1 for 0 says; what they are, into TO, if that is not NULL. -1: it is none.
 */
long rex_declaration_parse(const char *at, bool *env, struct rex_image_parameter *to);

#endif
