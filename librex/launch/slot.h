/*
 * slot.h - the resources of one launch by the driver: a stream, staging memory, a device arena, and
 * graphs of earlier launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SLOT_H
#define REX_INTERNAL_SLOT_H

#include "launch/pack.h"

/* Bytes of staging memory, and of the arena: at first, and at most. */
#define REX_SLOT_FIRST ((size_t)256 << 10)
#define REX_SLOT_MOST ((size_t)2 << 20)

/* Bytes of arguments that are compared: a kernel with more is set anew for each launch. */
#define REX_SLOT_VALUES 192

/* A launch as a graph: copy in, kernel, copy out. */
struct rex_slot_graph {
    const struct rex_loaded_kernel *kernel;     /* NULL: the place is free */
    size_t in, out_begin, out_end;              /* bytes in; begin and end of bytes out */
    unsigned launches;                          /* by single calls, until a graph pays */
    void *graph, *executable, *node;            /* NULL: no graph yet, or none possible */
    unsigned grid[3], block[3], dynamic_memory; /* current in the kernel node, as are the values */
    unsigned char values[REX_SLOT_VALUES];      /* the arguments, if they fit */
    bool is_refused;                            /* by the driver */
    unsigned used;                              /* the slot's `uses` at its last use */
};
#define REX_SLOT_GRAPHS 16

struct rex_slot {
    struct rex_slot *next;
    int ordinal;
    struct rex_device *device; /* of this ordinal */
    void *context, *stream;
    unsigned char *staging;
    uint64_t arena;
    size_t room; /* bytes of both */
    struct rex_arguments arguments;
    struct rex_slot_graph graph[REX_SLOT_GRAPHS];
    unsigned uses;
    void *rows; /* room for the rows of a launch */
    size_t rows_size;
};

/*
 * Write the driver's number of libomptarget's device NUMBER to *ORDINAL; -1 if it is no GPU.
 * Returns 0 or an error.
 */
int rex_slot_ordinal(int number, int *ordinal);

/*
 * Take a slot of GPU ORDINAL for this thread alone, and make its context current. Give it back with
 * the value of *ENTERED. NULL with an error, which begins with WHAT.
 */
struct rex_slot *rex_slot_take(int ordinal, const char *what, int *entered);
void rex_slot_give(struct rex_slot *slot, int entered);

/* Provide SIZE bytes of staging memory and arena: 0, or REX_ENOMEM, which begins with WHAT. */
int rex_slot_make_room(struct rex_slot *slot, size_t size, const char *what);

/* SIZE bytes of room for rows, not cleared. NULL with REX_ENOMEM. */
void *rex_slot_rows(struct rex_slot *slot, size_t size);

/* Destroy GRAPH and free its place. The context is current. */
void rex_slot_graph_end(struct rex_slot_graph *graph);

#endif
