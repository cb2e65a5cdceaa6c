/*
 * wrap_librex.c - the recorder's place in a program with librex, between librex and libomptarget: librex finds its functions with dlsym(),
 * and the linker's --wrap leads that here. librex is linked statically for this.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "wrap.h"

#include <string.h>

#define REAL(name) real_##name
#define WRAPPER(name) wrap_##name
#define DECLARE(type, name, parameters)  \
    static type(*real_##name) parameters; \
    static type wrap_##name parameters;
WRAPPED(DECLARE)

#include "wrappers.h"

void *__real_dlsym(void *handle, const char *symbol);
void *__wrap_dlsym(void *handle, const char *symbol);

void *__wrap_dlsym(void *handle, const char *symbol)
{
    void *found = __real_dlsym(handle, symbol);
#define LOOK_UP(type, name, parameters)                     \
    if (found != NULL && strcmp(symbol, "__tgt_" #name) == 0) { \
        memcpy(&real_##name, &found, sizeof found);         \
        type(*wrapper) parameters = wrap_##name;            \
        memcpy(&found, &wrapper, sizeof found);             \
        return found;                                       \
    }
    WRAPPED(LOOK_UP)
    return found;
}
