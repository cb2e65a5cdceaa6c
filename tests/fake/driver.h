/* driver.h - what the files of the fake driver share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_FAKE_DRIVER_H
#define REX_FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the call NAME is to return instead of doing anything; 0: nothing. */
int fake_cuda_result(const char *name);

/* Declares a function of the driver, and begins it. */
#define FUNCTION(name, ...) \
    int name(__VA_ARGS__);  \
    int name(__VA_ARGS__)

/* Returns RESULT from the function, unless it is 0. */
#define FAIL_WITH(result)       \
    do {                        \
        int result_ = (result); \
        if (result_ != 0)       \
            return result_;     \
    } while (0)

/* The call NAME is counted; what it is to return instead of doing anything, if not 0. */
int fake_breaks(const char *name);
#define BREAK_COUNTED(name) FAIL_WITH(fake_breaks(name))

enum { FAKE_GPUS = 64 }; /* as many as librex uses */

/* ---- contexts: cuda.c ------------------------------------------------------------------------------------------------------------ */

int fake_is_context(const void *context);
/* The device of the thread's current context, 0 where it has none. */
int fake_device(void);
int fake_device_of_context(const void *context);

/* ---- memory: memory.c ------------------------------------------------------------------------------------------------------------ */

/* Whether there is device memory, as FAKE_CUDA_MEMORY says. */
bool fake_has_memory(void);

/* Device addresses can be read and written, as long as a kernel of an image runs, or not. */
void fake_memory_open(bool open);

/* SIZE bytes at ADDRESS are device memory for as long as the image of MODULE is loaded: a global of it. */
void fake_memory_add_global(void *module, void *address, size_t size);
void fake_memory_forget_globals(const void *module);

/* Where the fake keeps the SIZE bytes of device memory at ADDRESS; NULL where they do not lie in one allocation. */
void *fake_memory(uint64_t address, size_t size);

/* The same for memory of the device or the host. */
void *fake_memory_of_any(uint64_t address, size_t size);

/* The device whose memory is at ADDRESS; -1: none. */
int fake_device_of(uint64_t address);

/* The host's memory of SIZE bytes at ADDRESS is pinned, or not any more; 0 or an error, where too much is pinned. */
int fake_pin(const void *address, size_t size);
void fake_unpin(const void *address);
bool fake_is_pinned(const void *address);
/* Memory of the host that is not; false where there is no device memory. */
bool fake_is_unpinned(const void *address);
/* ADDRESS is one of the host's where a GPU can read nothing; false where there is no memory at all. */
bool fake_is_pageable(uint64_t address);

struct fake_launch;

/* ---- images that compute: image.c ------------------------------------------------------------------------------------------------ */

/* The host image in IMAGE, opened; NULL: it has none, or it cannot be opened. */
void *fake_image_open(const void *image);
/* A function of it, or a global with its *SIZE; NULL: there is none. */
void *fake_image_find(void *opened, const char *name, size_t *size);
/* How many parameters its signature says that KERNEL has, and which are POINTERS, a bit for each; 0 where it has no signature. */
size_t fake_image_parameters(void *opened, const char *kernel, uint64_t *pointers);
/* All parameters have 8 bytes. */
enum { FAKE_WORDS = 65 };
/* False: the kernel touched memory that it must not. */
bool fake_image_run(const struct fake_launch *launch);
/* It is the kernel of runtime/hold.h, and has to wait. */
bool fake_image_holds(const struct fake_launch *launch);

/* ---- what is put in streams: work.c ---------------------------------------------------------------------------------------------- */

struct fake_launch {
    void *function;
    unsigned grid[3], block[3], dynamic_memory;
    bool is_cooperative;
    unsigned cluster[3]; /* 0: none */
    void **parameters;
    void (*call)(const unsigned *grid, const unsigned *block, void **parameters); /* NULL: no function of a test */
    void *code;                                                                   /* NULL: no function of an image; image.c */
    bool is_held;                                                                 /* it waits for its first parameter's word */
    uint64_t pointers;                                                            /* which parameters of an image's are */
    size_t count;                                                                 /* of parameters */
    const size_t *widths;                                                         /* of each; NULL: 8 */
};

/* Streams, events, graphs and what else a handle stands for. */
struct fake_step;
struct fake_mark;
struct fake_object {
    void *context; /* first */
    /* A stream. */
    struct fake_object *next;
    struct fake_step *first, **end;
    bool is_blocking, is_running;
    int priority;
    struct fake_object *graph; /* that it is captured in */
    void *last[8];             /* in that: what the next one depends on */
    size_t lasts;
    bool is_apart; /* the stream that began the capture has not waited for it */
    /* An event: where it was recorded last. */
    struct fake_mark *mark;
    void *node;
    struct fake_object *in;
    /* A module: its host image. */
    void *opened;
    /* A graph, or an executable one. */
    struct fake_step *node_first, **node_end;
    size_t nodes;
    const struct fake_object *began; /* the stream that began the capture */
};

/* Each of them copies its arguments and gives 0 or an error. Without device memory copies, fills and calls do nothing. */
int fake_put_copy(struct fake_object *stream, void *to, const void *from, size_t size);
int fake_put_fill(struct fake_object *stream, void *to, unsigned value, unsigned width, size_t count);
int fake_put_call(struct fake_object *stream, void (*function)(void *argument), void *argument);
int fake_put_launch(struct fake_object *stream, const struct fake_launch *launch);
int fake_put_record(struct fake_object *stream, struct fake_object *event);
int fake_put_wait(struct fake_object *stream, struct fake_object *event);
int fake_put_graph(struct fake_object *stream, const struct fake_object *executable);

void fake_stream_open(struct fake_object *stream, unsigned flags);
void fake_stream_close(struct fake_object *stream);
void fake_event_close(struct fake_object *event);
void fake_graph_close(struct fake_object *graph);

/* Do what is in the stream; in all of them, or in those alone that the default stream waits for. */
void fake_finish(struct fake_object *stream);
void fake_finish_all(bool blocking_alone);
/* Up to where the event was recorded. */
void fake_finish_event(struct fake_object *event);
/* Do one thing, if there is one; whether nothing is left, in the stream or before the event. */
bool fake_advance(struct fake_object *stream);
bool fake_advance_event(struct fake_object *event);

int fake_capture_begin(struct fake_object *stream, struct fake_object *graph);
/* Whether the stream has waited for all others in its capture. */
bool fake_capture_is_joined(const struct fake_object *stream);
/* The graph, or NULL. */
struct fake_object *fake_capture_end(struct fake_object *stream);
/* EXECUTABLE, which is new, gets what GRAPH has. */
void fake_instantiate(struct fake_object *executable, const struct fake_object *graph);
int fake_set_launch(struct fake_object *executable, const void *node, const struct fake_launch *launch);

#endif
