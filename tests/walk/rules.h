/*
 * rules.h - what the rules of all functions share: the variables of a sequence, and how a result is judged.
 *
 * A rule makes one call. What the program must not do, since nothing promises an error for it, it leaves out: the step is then nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_WALK_RULES_H
#define REX_TESTS_WALK_RULES_H

#include "walk.h"
#include "walk_errors.h"

#define REX_KMP_INTERNAL
#include "rex/configure.h"
#include "rex/library.h"
#include "rex_kmp.h"

enum { EVENTS = 3, GRAPHS = 2, MAPS = 4, PINNED = 2, PACKETS = 3, COMMANDS = 64 };
enum { ADD, SET, NOTHING, SUM, OBJECT, KERNELS, BUMP = KERNELS, GLOBAL }; /* keys, as arguments.c has them */

/* What a queue was told while it was captured. */
enum kind_of_command { LAUNCH, LIBRARY_ADD, COPY_TO, COPY_FROM, COPY_PEER, UPDATE, FILL };
struct command {
    enum kind_of_command kind;
    struct walk_map map; /* of a launch or an update */
    int host, memory, from, size, width;
    uint32_t pattern;
    int64_t cells, a; /* of a library's kernel */
};
struct captured {
    bool used;
    const struct rex_graph *graph; /* NULL: it is not ended */
    int device, queue, count, launches;
    bool overfull;
    struct command command[COMMANDS];
};

struct walk_queue {
    struct rex_queue *queue;
    int device;   /* its number; -1: the host, or none */
    int captured; /* in which of walk_now.captured; -1: none */
};
struct walk_event {
    struct rex_event *event;
    int captured;
    unsigned seen[QUEUES]; /* what it stands for */
};

/* Of the process: all threads have them. */
extern struct rex_module walk_modules[4]; /* its own, one that has no image, zeros, one with a global */

extern _Thread_local struct variables {
    struct walk_queue queue[QUEUES];
    struct walk_event event[EVENTS], between[QUEUES]; /* between: to make a queue wait */
    struct rex_graph *graph[GRAPHS];
    struct rex_image_view *view[2];
    struct rex_image_list *list[2];
    int list_file[2]; /* of rulesother.c */
    struct rex_library *library[2];
    int library_file[2], library_device[2];
    struct walk_map map[MAPS];
    int64_t object[MAPS][4]; /* firstprivate in the map */
    struct {
        struct __tgt_kernel_arguments packet;
        int map; /* whose columns it has; -1: none */
        unsigned made;
        bool filled;
    } packet[PACKETS];
    struct {
        void *address;
        int size, device;
        unsigned made;
    } memory[MEMORIES];
    struct {
        void *address;
        bool live;
    } pinned[PINNED];
    unsigned map_made[MAPS]; /* counts what a map was made anew */
    struct captured captured[QUEUES + GRAPHS];
    int thread;
} walk_now;
/* Whether no other thread makes calls: what belongs to the process may end. */
extern bool walk_is_alone;

/* Ready for a sequence, for those of a thread; and the ends, which give all back. */
void walk_begin(void);
void walk_begin_thread(int thread);
void walk_end_thread(void);
void walk_end(void);
/* Arrays that all threads add to (rulesshared.c): ready for them; and, when they are over, compared. */
void walk_share_begin(bool is_used);
void walk_share_end(void);
void walk_share_leave(void); /* the thread's own mappings of them end */
/* The present table and libomptarget agree of each cell, or of some of a large array. */
void walk_compare_presence(const void *begin, size_t size);
const void *walk_share_key(bool of_record); /* of the kernel that adds X or Z, or what a record points to */

/* ---- judging
 * ----------------------------------------------------------------------------------------------------------------------------- */

enum verdict { EITHER, MUST_WORK, MUST_FAIL };

/* Before the call: the last error is made one that no rule brings about. */
void walk_before(void);
bool walk_is_untouched(void);
/* After it: CODE is what it returned, 0 where that says nothing; true where it has worked. */
bool walk_judge(const struct call *call, bool failed, int code, enum verdict verdict);
/* For a function that may set the last error, or not. */
void walk_judge_loosely(const struct call *call);
static inline bool walk_judge_int(const struct call *call, int result, enum verdict verdict)
{
    return walk_judge(call, result < 0, result, verdict);
}

/* ---- what arguments stand for
 * ------------------------------------------------------------------------------------------------------------ */

struct rex_module *walk_module(const struct call *call, int argument);
struct walk_queue *walk_queue_of(const struct call *call, int argument); /* NULL: none is there */
struct rex_queue *walk_queue(const struct call *call, int argument);
struct walk_event *walk_event_of(const struct call *call, int argument);
struct rex_event *walk_event(const struct call *call, int argument);
struct walk_map *walk_map_of(const struct call *call, int argument);
void *walk_host_of(const struct call *call, int argument);
void *walk_memory_of(const struct call *call, int argument);
/* Which kernel an argument names, `fitting` the one that the map is for; -1: NULL. And its key. */
int walk_kernel(const struct call *call, int argument, const struct walk_map *map);
const void *walk_key(int kernel);
/* The bytes of an image, NULL where there are none. */
const void *walk_image(const struct call *call, int argument, size_t *size);
const char *walk_string(const struct call *call, int argument);
bool walk_is_registered(void);
/* The number of the device; -1 where that is the host or none. */
int walk_device(const struct call *call, int argument);
int walk_device_of_queue(const struct walk_queue *queue);
static inline bool walk_is_captured(const struct walk_queue *queue)
{
    return queue != NULL && queue->captured >= 0;
}
/* How many parameters kernel KEY has; -1: it is none. How many the map's rows are. */
int walk_parameters(int key);
int walk_map_parameters(const struct walk_map *map);
/* Whether they are as many, and none is of a kind that no kernel has there. */
bool walk_fits(int key, const struct walk_map *map);
/* Whether a launch of the key with the map cannot make the kernel go wild. */
bool walk_is_harmless(int kernel, const struct walk_map *map);
bool walk_has_types(const struct walk_map *map, int64_t types);
bool walk_has_empty(const struct walk_map *map);
/* A launch that is not waited for: the driver launches none after it. Call it before the launch. */
void walk_note_launch(const struct rex_launch_config *launch);
/* Whether the one who launches may be unable to: the driver, which the sequence has asked for, or
 * LLVM 18, which it has asked for or which launches since the driver does no more. */
bool walk_may_refuse(void);

/* ---- queues (rulesqueue.c) */

/* What COMMAND needs is done before; and the queue has taken it. */
void walk_order_command(const struct walk_queue *queue, const struct command *command);
void walk_took(const struct walk_queue *queue, const struct command *command);
bool walk_may_use(const struct walk_queue *queue, int memory, int64_t size);

/* ---- order (rulesqueue.c) ----------------------------------------------------------------------- */

/* WHO, a queue's number or HOST, works on TOUCHES next: what others have queued for them is done before. */
void walk_order(int who, const struct touches *touches);
void walk_wait_for_queue(int queue);
/* The same for a call that works on the map's rows, or a kernel's. */
void walk_order_rows(int device, const struct walk_map *map, touch_rows *touch);
void walk_order_memory(int memory, bool write);
void walk_order_host(int host, bool write);
/* The device's copy of an array is what the model says; nothing where there is none. */
void walk_peek(int device, int host);

/* RULE(function, a letter for each argument, how often): the head of a rule, which the table finds by itself. OWN_RULE(): of
 * what is no function of librex's. arguments.c has the letters. */
#define RULE(name, kinds, weight) RULE_PROMISING(name, kinds, weight, ERRORS_##name)
#define OWN_RULE(name, kinds, weight) RULE_PROMISING(name, kinds, weight, 0)
#define RULE_PROMISING(name, kinds, weight, errors)                                                \
    static void rule_##name(struct call *call);                                                    \
    static const struct rule name##_rule = {#name, kinds, weight, rule_##name, errors};            \
    static const struct rule *const name##_listed                                                  \
        __attribute__((__used__, __section__("walk_rules"))) = &name##_rule;                       \
    static void rule_##name(struct call *call)

#endif
