/*
 * claims.h - memory that launches by the driver work on, kept apart from data calls and from each
 * other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CLAIMS_H
#define REX_INTERNAL_CLAIMS_H

#include "memory/mappings.h"

enum rex_claim_kind {
    REX_CLAIM_LAUNCH,         /* by the driver */
    REX_CLAIM_RUNTIME_LAUNCH, /* by libomptarget */
    REX_CLAIM_UPDATE,
    REX_CLAIM_BEGIN,
    REX_CLAIM_END
};

/* Memory that one launch, or one data call, works on until it ends. */
struct rex_claim {
    struct rex_claim *next;
    struct rex_place *place; /* COUNT of them; many are put in the order of their addresses */
    size_t count;
    uintptr_t lowest, highest; /* of all places; the claim's own, as is: */
    bool is_ordered;
    int number; /* of the device */
    enum rex_claim_kind kind;
    bool is_all; /* its one place is all memory, and no mapping says what of it is mapped */
};

/*
 * From now on no data call begins that may change what is mapped of these places, nor a launch that
 * maps some of them for itself as this one does, if either copies it back. The device address of
 * each is filled in, but of an end's, which grow to whole mappings. Waits for those that are at
 * work. A reason against the driver that other threads act on is seen by a look after this call.
 */
void rex_claim_begin(struct rex_claim *claim);
void rex_claim_end(struct rex_claim *claim);

/*
 * Whether a call has attached a pointer to mapped memory: its bytes on the device are not the
 * host's.
 */
bool rex_pointers_are_attached(void);

#endif
