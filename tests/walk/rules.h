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

#define REX_KMP_INTERNAL
#include "memory/section.h"
#include "rex/configure.h"
#include "rex/library.h"
#include "rex_kmp.h"

enum { QUEUES = 3, EVENTS = 3, GRAPHS = 2, MEMORIES = 3, MAPS = 4, PINNED = 2, PACKETS = 3, COMMANDS = 64 };

/* What a queue was told while it was captured. */
enum kind_of_command { LAUNCH, COPY_TO, COPY_FROM, UPDATE_TO, UPDATE_FROM, FILL };
struct command {
    enum kind_of_command kind;
    struct walk_map map; /* of a launch; of an update, one row of it */
    int host, memory, size, width;
    uint32_t pattern;
};
struct captured {
    const struct rex_graph *graph; /* NULL: free */
    int device, count, launches;
    bool overfull;
    struct command command[COMMANDS];
};

extern struct variables {
    struct rex_module module, other, broken;
    struct rex_queue *queue[QUEUES];
    struct rex_event *event[EVENTS];
    struct rex_graph *graph[GRAPHS];
    struct rex_image_view *view[2];
    struct rex_image_list *list[2];
    int list_file[2]; /* of rulesother.c */
    struct rex_library *library[2];
    struct walk_map map[MAPS];
    struct {
        struct __tgt_kernel_arguments packet;
        int map; /* whose columns it has; -1: none */
        unsigned made;
        bool filled;
    } packet[PACKETS];
    struct {
        void *address;
        int size, device;
    } memory[MEMORIES];
    struct {
        void *address;
        bool live;
    } pinned[PINNED];
    unsigned map_made[MAPS]; /* counts what a map was made anew */
    struct rex_map_builder builder;
    struct captured captured[QUEUES + GRAPHS];
    bool fini_over;
} walk_now;

/* Ready for a sequence; and the end of one, which gives all back. */
void walk_begin(void);
void walk_end(void);

/* ---- judging
 * ----------------------------------------------------------------------------------------------------------------------------- */

enum verdict { EITHER, MUST_WORK, MUST_FAIL };

/* Before the call: the last error is made one that librex never sets. */
void walk_before(void);
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
struct rex_queue *walk_queue(const struct call *call, int argument);
struct rex_event *walk_event(const struct call *call, int argument);
struct walk_map *walk_map_of(const struct call *call, int argument);
void *walk_host_of(const struct call *call, int argument);
void *walk_memory_of(const struct call *call, int argument);
const void *walk_key(const struct call *call, int argument);
/* The bytes of an image, NULL where there are none. */
const void *walk_image(const struct call *call, int argument, size_t *size);
const char *walk_string(const struct call *call, int argument);
bool walk_is_registered(void);
/* The number of the device; -1 where that is the host or none. */
int walk_device(const struct call *call, int argument);
/* The same for an argument that is a queue. */
int walk_device_of_queue(const struct rex_queue *queue);
/* Whether a launch of the key with the map cannot make the kernel go wild. */
bool walk_has_too_many(const struct call *call, int key, const struct walk_map *map);
bool walk_is_harmless(const struct call *call, int key, const struct walk_map *map);
bool walk_has_types(const struct walk_map *map, int64_t types);
bool walk_has_empty(const struct walk_map *map);

/* The rules of each file, as the table calls them. */
#define FUNCTION(name, kinds, weight) void rule_##name(struct call *call);
#define OURS FUNCTION
#include "rules.list"
#undef FUNCTION
#undef OURS

#endif
