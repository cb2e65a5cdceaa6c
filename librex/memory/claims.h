/*
 * claims.h - memory that launches by the driver work on, kept apart from data calls and from each
 * other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CLAIMS_H
#define REX_INTERNAL_CLAIMS_H

#include "memory/mappings.h"

/* Memory that one launch, or one data call, works on until it ends. */
struct rex_claim {
    struct rex_claim *next;
    struct rex_place *place; /* COUNT of them */
    const bool *is_changed;  /* of each that is not mapped: the launch copies it back */
    size_t count;
    uintptr_t lowest, highest; /* of all places; the claim's own */
    int number;                /* of the device */
    bool is_data_call;         /* which may change what is mapped */
};

/*
 * From now on no data call begins that may change what is mapped of these places, nor a launch that
 * maps some of them for itself as this one does, if either copies it back. The device address of
 * each is filled in. Waits for those that are at work; holds nothing meanwhile.
 */
void rex_claim_begin(struct rex_claim *claim);
void rex_claim_end(struct rex_claim *claim);

/*
 * Whether a call has attached a pointer to mapped memory: its bytes on the device are not the
 * host's.
 */
bool rex_pointers_are_attached(void);

#endif
