/*
 * toolkit.h - the CUDA toolkit that rex-cc would use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_TOOLKIT_H
#define REX_INFO_TOOLKIT_H

#include "facts.h"

/* Adds the facts about the CUDA toolkit to FACTS, as the group "toolkit". */
void facts_of_toolkit(struct facts *facts);

#endif
