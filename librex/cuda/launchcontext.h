/*
 * launchcontext.h - launch contexts, each for one launch by the driver or one copying thread at a
 * time.
 *
 * A launch context has a stream, staging memory, an arena and graphs of earlier launches. The
 * staging memory is pinned memory of the host. The arena is memory of the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCHCONTEXT_H
#define REX_INTERNAL_LAUNCHCONTEXT_H

#include "cuda/context.h"

/*
 * Size in bytes of the staging memory and of the arena: REX_STAGED_FIRST if that size is enough,
 * otherwise REX_STAGED_MOST.
 */
#define REX_STAGED_FIRST ((size_t)256 << 10)
#define REX_STAGED_MOST ((size_t)2 << 20)

/*
 * A copying thread copies one chunk at a time. This is the size of a chunk in bytes, half of the
 * largest staging memory. On an H100, copies in chunks of 256 KiB were slower.
 */
#define REX_STAGED_CHUNK (REX_STAGED_MOST / 2)

/*
 * Arguments in the form that cuLaunchKernel takes. A struct of zeros is valid: the first use of the
 * struct allocates `address` and `values`.
 */
struct rex_arguments {
    void **address;        /* the address of each parameter's value */
    unsigned char *values; /* the values, in the layout of the kernel's parameters */
    uint32_t room, bytes;  /* elements of `address`; bytes of `values` */
};
void rex_arguments_free(struct rex_arguments *arguments);

/*
 * The CUDA graph of one launch: a copy to the device, the kernel, and a copy back. launch/run.c
 * makes the graph.
 */
struct rex_launch_graph {
    const struct rex_loaded_kernel *kernel; /* NULL: the element is free */
    /*
     * `in`: number of bytes copied to the device. `out_begin`, `out_end`: begin and end of the
     * bytes copied back, as offsets in the staging memory
     */
    size_t in, out_begin, out_end;
    /* number of launches so far; counted only until the graph is made */
    unsigned launches;
    void *graph, *executable, *node; /* NULL: no graph yet, or the driver refused it */
    struct rex_grid grid;            /* the grid in the kernel node */
    unsigned char *values;           /* the arguments in the kernel node, or NULL */
    bool is_refused;                 /* the driver refused the graph */
    unsigned used;                   /* `uses` of the launch context at the graph's last use */
};
#define REX_LAUNCH_GRAPHS 16
void rex_launch_graph_end(struct rex_launch_graph *graph);

struct rex_launch_context {
    int ordinal;
    struct rex_device *device; /* the GPU with this ordinal */
    void *cuda, *stream;       /* the GPU's context, and a stream in it */
    unsigned char *staging;
    size_t staging_room; /* bytes of `staging` */
    uint64_t arena;
    size_t room; /* bytes of the arena; `staging_room` is at least `room` */
    /*
     * one event for each of the two staging chunks of a copying thread; recorded in the stream
     * after the copy between the chunk and the device
     */
    void *event[2];
    /*
     * A wait failed. The launch context is not used again, because the device may still use the
     * memory of the launch context.
     */
    bool is_broken;
    struct rex_arguments arguments;
    struct rex_launch_graph graph[REX_LAUNCH_GRAPHS];
    unsigned uses;
    size_t place;  /* last index of this context in the array `idle` of `device` */
    unsigned ends; /* `ends` of `device` when this context was made */
    void *rows;    /* memory for the rows of a launch */
    size_t rows_most;
    bool rows_are_mapped; /* no row of the last launch needed new device memory */
};

/*
 * Writes a launch context of GPU ORDINAL to *TAKEN. No other thread uses the context until
 * rex_launch_context_give(). Makes the GPU's primary context current, and writes the result of
 * rex_context_enter() to *ENTERED. Pass *ENTERED to rex_launch_context_give().
 *
 * Returns 0, REX_ENOMEM or REX_ECUDA; the message begins with WHAT. *TAKEN is NULL on failure. If
 * WHAT is NULL, no error is set, and rex_cuda_why() gives the reason.
 */
int rex_launch_context_take(int ordinal, const char *what, struct rex_launch_context **taken,
                            int *entered);
void rex_launch_context_give(struct rex_launch_context *context, int entered);

/*
 * Enlarges the staging memory and the arena, if necessary, to at least SIZE bytes each. Returns 0,
 * REX_ENOMEM or REX_ECUDA; the message begins with WHAT.
 */
int rex_launch_context_make_room(struct rex_launch_context *context, size_t size, const char *what);

/*
 * Enlarges the staging memory, if necessary, to at least SIZE bytes. SIZE must be at most
 * REX_STAGED_MOST. Returns false on failure; rex_cuda_why() gives the reason.
 */
bool rex_launch_context_make_staging(struct rex_launch_context *context, size_t size);

/*
 * Makes REX_STAGED_MOST bytes of staging memory and the events, for a copying thread. Returns false
 * on failure; rex_cuda_why() gives the reason.
 */
bool rex_launch_context_make_chunks(struct rex_launch_context *context);

/*
 * Ends the launch contexts of GPU ORDINAL. Idle contexts end now. A context in use ends when its
 * thread gives it back. The caller must make sure that no launch is in progress.
 */
void rex_launch_contexts_end(int ordinal);

/*
 * Undoes one call of rex_context_activate(), rex_context_activate_one() or rex_context_hold()
 * (cuda/context.h). If no call of these three functions is left to undo, ends the launch contexts
 * of all GPUs and the idle streams of deferred launches.
 */
void rex_context_unhold(void);

#endif
