/*
 * slot.h - what one launch by the driver works with: a stream, staging memory of the host, an arena
 * of the device, and graphs of launches before.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SLOT_H
#define REX_INTERNAL_SLOT_H

#include "launch/pack.h"

/* Bytes of staging memory, and as many of the arena: first, and at most. */
#define REX_SLOT_FIRST ((size_t)256 << 10)
#define REX_SLOT_MOST ((size_t)2 << 20)

/* Bytes of arguments that are compared: a kernel with more gets them anew each time. */
#define REX_SLOT_VALUES 192

/* A launch as a graph does it: copy in, kernel, copy out. */
struct rex_slot_graph {
    const struct rex_loaded_kernel *kernel;     /* NULL: none */
    size_t in, out_begin, out_end;              /* bytes: of the arena's beginning; of its part */
    unsigned launches;                          /* by single calls, until a graph pays */
    void *graph, *executable, *node;            /* NULL: it does not pay yet, or cannot be one */
    unsigned grid[3], block[3], dynamic_memory; /* as its kernel node has them, and of the values */
    unsigned char values[REX_SLOT_VALUES];      /* of the arguments as many as there is room for */
    bool is_refused;                            /* by the driver */
    unsigned used;                              /* when */
};
#define REX_SLOT_GRAPHS 16

struct rex_slot {
    struct rex_slot *next;
    int ordinal;
    void *context, *stream;
    unsigned char *staging;
    uint64_t arena;
    size_t room; /* of both */
    struct rex_arguments arguments;
    struct rex_slot_graph graph[REX_SLOT_GRAPHS];
    unsigned uses;
    void *rows; /* room for what a launch knows of its rows, */
    size_t rows_size;
};

/*
 * The GPU that is libomptarget's device NUMBER, as the driver counts, in *ORDINAL; -1 where it is
 * none. 0 or an error.
 */
int rex_slot_ordinal(int number, int *ordinal);

/*
 * A slot of GPU ORDINAL that nobody else has, with its context current: to be given back with what
 * *ENTERED got. NULL with an error, which begins with WHAT.
 */
struct rex_slot *rex_slot_take(int ordinal, const char *what, int *entered);
void rex_slot_give(struct rex_slot *slot, int entered);

/* SIZE bytes of staging memory and arena at least: 0, or REX_ENOMEM, which begins with WHAT. */
int rex_slot_make_room(struct rex_slot *slot, size_t size, const char *what);

/* SIZE bytes for what is known of rows, as they were left: NULL with REX_ENOMEM. */
void *rex_slot_rows(struct rex_slot *slot, size_t size);

/* GRAPH is none any more. The context is current. */
void rex_slot_graph_end(struct rex_slot_graph *graph);

#endif
