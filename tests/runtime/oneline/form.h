/* What forms.h makes, once in C11 and once in C++11. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ONELINE_FORM_H
#define ONELINE_FORM_H

/* NULL, or what is not as it should be. */
typedef const char *form(void);

struct forms {
    form *numbers_of_rows, *iterations, *configurations, *evaluation, *ways_out_of_a_region, *failing_regions, *regions_together, *messages;
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct forms in_c11, in_cxx11;
#ifdef __cplusplus
}
#endif

#endif
