/*
 * context.h - primary contexts of GPUs, and how threads wait in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CONTEXT_H
#define REX_INTERNAL_CONTEXT_H

/*
 * Activate the primary contexts of the GPUs that an image for sm_ARCHITECTURE suits, before
 * libomptarget does, with the policy asked for. Each call is undone by one of
 * rex_context_release().
 */
void rex_context_activate(unsigned architecture);
void rex_context_release(void);

/* Keep the first GPU's context, whoever activated it; undone likewise. */
void rex_context_hold(void);

#endif
