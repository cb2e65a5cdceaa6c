/* planted.h - what librex must not do, and the runner has to find. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_TORTURE_PLANTED_H
#define REX_TORTURE_PLANTED_H

void planted_leak(void);        /* loses memory where it has none for more */
void planted_crash(void);       /* looks at memory that it did not get */
void planted_hang(void);        /* waits for it */
void planted_silence(void);     /* returns an error and sets none */
void planted_wrong_error(void); /* says that the caller is wrong */
void planted_success(void);     /* says that it has done what it has not */
void planted_grudge(void);      /* never works again */

#endif
