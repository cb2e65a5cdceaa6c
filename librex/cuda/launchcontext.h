/*
 * launchcontext.h - launch contexts: a stream, staging memory, a device arena, and graphs of
 * earlier launches, for one launch by the driver or one copying thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCHCONTEXT_H
#define REX_INTERNAL_LAUNCHCONTEXT_H

#include "cuda/context.h"

/* Bytes of staging memory, and likewise of the arena: at first, and at most. */
#define REX_STAGED_FIRST ((size_t)256 << 10)
#define REX_STAGED_MOST ((size_t)2 << 20)

/* Bytes that a thread copies at a time. A quarter of that is slower by half on an H100. */
#define REX_STAGED_CHUNK (REX_STAGED_MOST / 2)

/* Bytes of arguments that are compared: a kernel with more is set anew for each launch. */
#define REX_STAGED_VALUES 192

/* Arguments in the form that cuLaunchKernel takes. All zeros at first. */
struct rex_arguments {
    void **address;        /* the address of each parameter's value */
    unsigned char *values; /* in the layout of the kernel's parameters */
    uint32_t room, bytes;
};
void rex_arguments_free(struct rex_arguments *arguments);

/* A launch as a graph: copy in, kernel, copy out. launch/run.c makes it. */
struct rex_launch_graph {
    const struct rex_loaded_kernel *kernel;  /* NULL: the place is free */
    size_t in, out_begin, out_end;           /* bytes in; begin and end of bytes out */
    unsigned launches;                       /* by single calls, until a graph pays */
    void *graph, *executable, *node;         /* NULL: no graph yet, or none possible */
    struct rex_grid grid;                    /* current in the kernel node, as are the values */
    unsigned char values[REX_STAGED_VALUES]; /* the arguments, if they fit */
    bool is_refused;                         /* by the driver */
    unsigned used;                           /* the context's `uses` at its last use */
};
#define REX_LAUNCH_GRAPHS 16
void rex_launch_graph_end(struct rex_launch_graph *graph);

struct rex_launch_context {
    int ordinal;
    struct rex_device *device; /* of this ordinal */
    void *cuda, *stream;       /* the GPU's context, and a stream in it */
    unsigned char *staging;
    size_t staging_room; /* its bytes */
    uint64_t arena;
    size_t room;    /* bytes of the arena; there is at least as much staging memory */
    void *event[2]; /* of each chunk of a copying thread */
    bool is_broken; /* a wait failed: the device may still use the memory, so it is not kept */
    struct rex_arguments arguments;
    struct rex_launch_graph graph[REX_LAUNCH_GRAPHS];
    unsigned uses;
    size_t place;  /* where it was idle the last time */
    unsigned ends; /* the device's, when this context was made */
    void *rows;    /* room for the rows of a launch */
    size_t rows_most;
};

/*
 * Take a context of GPU ORDINAL for this thread alone, and make the GPU's context current. Give it
 * back with the value of *ENTERED. Returns 0, or an error that begins with WHAT; *TAKEN is NULL
 * then. WHAT is NULL: no error is set, and rex_cuda_why() says why.
 */
int rex_launch_context_take(int ordinal, const char *what, struct rex_launch_context **taken,
                            int *entered);
void rex_launch_context_give(struct rex_launch_context *context, int entered);

/* Provide SIZE bytes of staging memory and arena: 0, or REX_ENOMEM, which begins with WHAT. */
int rex_launch_context_make_room(struct rex_launch_context *context, size_t size, const char *what);

/* Provide SIZE bytes of staging memory. False with rex_cuda_why(). */
bool rex_launch_context_make_staging(struct rex_launch_context *context, size_t size);

/* Provide what a copying thread needs: REX_STAGED_MOST bytes of staging memory, and the events. */
bool rex_launch_context_make_chunks(struct rex_launch_context *context);

/*
 * End the contexts of GPU ORDINAL: idle ones now, others when they are given back. No launch is at
 * work.
 */
void rex_launch_contexts_end(int ordinal);

/*
 * Undo a call that keeps primary contexts (cuda/context.h). The last one ends the launch contexts
 * of all GPUs.
 */
void rex_context_unhold(void);

#endif
