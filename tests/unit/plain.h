/*
 * plain.h - a module with one kernel of tests/data/kernels.cu: its parameters are one value and one address.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_PLAIN_H
#define REX_TESTS_UNIT_PLAIN_H

#include "rex/entry.h"

static char plain_id;
static struct __tgt_offload_entry entry[] = {{&plain_id, (char *)(uintptr_t) "plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

#endif
