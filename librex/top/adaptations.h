/*
 * adaptations.h - a release's row of facts in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADAPTATIONS_H
#define REX_INTERNAL_ADAPTATIONS_H

#include "omp/release.h"
#include "rex/inspect.h"

/* rex_info() of release NUMBER. */
int rex_info_of_release(int number, rex_info_row *row, void *context);

/* Call ROW for each adaptation to RELEASE, in group "adapted". */
void rex_adaptations(const struct rex_release *release, rex_info_row *row, void *context);

#endif
