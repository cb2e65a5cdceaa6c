/*
 * wrap_clang.c - the recorder's place in a program that clang compiled: the linker's --wrap leads its calls here.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "wrap.h"

#define REAL(name) __real___tgt_##name
#define WRAPPER(name) __wrap___tgt_##name
#define DECLARE(type, name, parameters) \
    type REAL(name) parameters;         \
    type WRAPPER(name) parameters;
WRAPPED(DECLARE)

#include "wrappers.h"
