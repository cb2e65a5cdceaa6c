/*
 * stateless.h - the module of tests/data/stateless.cu, whose image keeps nothing from one launch to the next: the driver may launch it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_STATELESS_H
#define REX_TESTS_UNIT_STATELESS_H

#include "common.h"
#include "rex/entry.h"

static char axpy_id, env_id, widths_id, nothing_id;
#define ENTRY(key, name) {(key), (char *)(uintptr_t)(name "__kernel__"), 0, 0, 0}
static struct __tgt_offload_entry entries[] = {ENTRY(&axpy_id, "axpy"), ENTRY(&env_id, "axpy_env"), ENTRY(&widths_id, "widths"),
                                               ENTRY(&nothing_id, "nothing")};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entries,
                                   .entries_end = entries + COUNT(entries),
                                   .image_name = "tests/data/stateless_sm_90.cubin"};

#endif
