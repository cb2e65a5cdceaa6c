/*
 * register.h - one attempt to register a module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTER_H
#define REX_INTERNAL_REGISTER_H

#include "module/registration.h"

/*
 * Register the module of REGISTRATION with the image NAME, NULL: its own; by one thread at a time.
 * 0 or an error.
 */
int rex_register(struct rex_registration *registration, const char *name);

/*
 * Compare KERNEL with the image, as is put off with REX_CHECK=off. 0 or an error.
 */
int rex_registration_match(struct rex_registration *registration, struct rex_kernel *kernel);

#endif
