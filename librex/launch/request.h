/*
 * request.h - one launch, as the program asks for it.
 *
 * Every way in makes a request once. It is checked, and then one backend launches it: the CUDA
 * driver or libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REQUEST_H
#define REX_INTERNAL_REQUEST_H

#include "memory/rowcheck.h"
#include "module/registry.h"
#include "omp/columns.h"
#include "omp/grid.h"

struct rex_request {
    struct rex_target target;
    int64_t device;            /* -1 or a number, as the program says */
    int number;                /* the device's number; unknown if a reason is REX_REASON_DEVICE */
    struct rex_grid grid;      /* complete, once the target is resolved */
    uint64_t trip_count;       /* 0: unknown */
    uint64_t flags;            /* as a packet has them */
    const struct rex_map *map; /* the rows; NULL: the packet is NULL */
    void **names;              /* of the rows of a packet; NULL: none */
    bool is_packet;            /* libomptarget's launch checks its rows, not rex_check_rows() */
    enum rex_purpose purpose;  /* REX_FOR_LAUNCH or REX_FOR_QUEUE */
    unsigned reasons;          /* fallback reasons, REX_REASON_; 0: the driver launches */
};

/*
 * The bits that the driver knows of a row of TYPE: a value, private memory, or memory that is
 * mapped. A row with others is for libomptarget, and rex_check_rows() reads it whole.
 */
#define REX_ROW_BITS(type)                      \
    ((type)&REX_MAP_LITERAL   ? REX_ROW_VALUE   \
     : (type)&REX_MAP_PRIVATE ? REX_ROW_PRIVATE \
                              : REX_ROW_MAPPED)

static inline struct rex_reason rex_request_reason(const struct rex_request *request)
{
    return (struct rex_reason){request->reasons, request->target.registration->about};
}

/* The packet of REQUEST, as a caller of libomptarget fills it. */
static inline struct __tgt_kernel_arguments rex_request_packet(const struct rex_request *request)
{
    struct __tgt_kernel_arguments packet = rex_packet_of_map(request->map);
    packet.ArgNames = request->names;
    packet.Tripcount = (int64_t)request->trip_count;
    packet.Flags = (int64_t)request->flags;
    rex_packet_set_grid(&packet, &request->grid);
    return packet;
}

#endif
