/*
 * request.h - one launch, as the program requests it.
 *
 * Each launch has one request, except a launch in the stream of a queue. librex checks the request,
 * and then one backend launches it: the CUDA driver or libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REQUEST_H
#define REX_INTERNAL_REQUEST_H

#include "memory/rowcheck.h"
#include "module/resolve.h"
#include "omp/columns.h"
#include "omp/grid.h"

struct rex_request {
    struct rex_target target;
    int64_t device; /* as the program passed it: -1 or a number */
    /* number of the device; not always set if a packet has fallback reasons */
    int number;
    struct rex_grid grid;      /* complete after `target` is resolved */
    uint64_t trip_count;       /* 0: unknown */
    uint64_t flags;            /* flags of the packet (REX_FLAG_) */
    const struct rex_map *map; /* the rows; NULL if the program passed NULL as the packet */
    void **names;              /* names of the rows of a packet, or NULL */
    bool is_packet; /* true: rex_check_packet() checks the rows; false: rex_check_rows() */
    enum rex_purpose purpose; /* REX_FOR_LAUNCH or REX_FOR_QUEUE */
    unsigned reasons;         /* fallback reasons (REX_REASON_); 0: the driver launches */
};

/*
 * TYPE tells whether a row is a value, private memory or mapped memory. REX_ROW_BITS(TYPE) is the
 * set of type bits that launches by the driver support in a row of that kind. If a row has another
 * bit, libomptarget makes the launch (REX_REASON_TYPE). For a launch in a queue's stream,
 * rex_check_rows() decides if a row with another bit is valid.
 */
#define REX_ROW_BITS(type)                      \
    ((type)&REX_MAP_LITERAL   ? REX_ROW_VALUE   \
     : (type)&REX_MAP_PRIVATE ? REX_ROW_PRIVATE \
                              : REX_ROW_MAPPED)

static inline struct rex_reason rex_request_reason(const struct rex_request *request)
{
    return (struct rex_reason){request->reasons, request->target.registration->about};
}

/* Returns the packet of REQUEST, filled as a compiler fills it. */
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
