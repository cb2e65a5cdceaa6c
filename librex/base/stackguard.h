/*
 * stackguard.h - functions that -fstack-protector leaves as they are.
 *
 * The guard takes six instructions of each function that has the address of a local object. The few
 * functions that every launch goes through do without: what they keep on the stack are structs of
 * the library's own, of which they write whole members, and none is indexed by what a caller gave.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STACKGUARD_H
#define REX_INTERNAL_STACKGUARD_H

#if __has_attribute(no_stack_protector)
#define REX_NO_STACK_GUARD __attribute__((no_stack_protector))
#else
#define REX_NO_STACK_GUARD
#endif

#endif
