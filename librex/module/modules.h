/*
 * modules.h - the modules that librex knows, and whose key is whose.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MODULES_H
#define REX_INTERNAL_MODULES_H

#include <limits.h>
#include <stdbool.h>

#include "module/registration.h"

/*
 * Whether MODULE is in the main program. PATH gets the file of its binary, "" for the main program.
 */
bool rex_module_in_program(const struct rex_module *module, char path[PATH_MAX]);

/* An argument of the public function CALLER: 0 or REX_EINVAL. */
int rex_module_check(const struct rex_module *module, const char *caller);

/*
 * The module's registration, made and put on the list of modules the first time; NULL where memory
 * ran out.
 */
struct rex_registration *rex_modules_know(struct rex_module *module);

/*
 * From now on no other module may have one of the keys, or an image of another kind: 0; REX_EKEY
 * where another has one of the keys already, REX_EUNSUPPORTED where it has an image of another
 * kind. ON_HOST: the image is for the CPU.
 */
int rex_modules_claim(struct rex_registration *registration, bool on_host);
/* The keys, and the kind of image, are free again. */
void rex_modules_unclaim(struct rex_registration *registration);

/* The list of modules: the one that has KEY, registered or only known; NULL if none has. */
struct rex_module *rex_modules_find(const void *key);
/* The first module of the list, NULL if there is none. */
struct rex_module *rex_modules_first(void);

/* The source location ";unknown;unknown;0;0;;". */
extern ident_t rex_unknown_location;

#endif
