/*
 * walk.h - random sequences of calls of librex: what a step is, what its arguments can be, and what librex should make of them.
 *
 * A step is a function and, for each of its arguments, the number of one of the values that the argument's kind has. Variables of the
 * sequence are such values: `queue1` is NULL until a step has made it. So any step may be taken out of a sequence, and what it made is
 * NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_WALK_H
#define REX_TESTS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex.h"
#include "rex/inspect.h"
#include "rex/interop.h"

enum { ARGUMENTS = 10, MOST_STEPS = 200, TEXT = 400, THREADS = 4 };

struct step {
    uint16_t function;
    uint16_t thread; /* which makes it */
    uint16_t argument[ARGUMENTS];
};

struct sequence {
    int count;
    struct step step[MOST_STEPS];
};

/* ---- functions (rules.c) ------------------------------------------------------------------------------------------------------------ */

struct call; /* one call that is being made */

struct rule {
    const char *name;
    const char *kinds; /* a letter for each argument */
    int weight;        /* how often it is chosen; 0: as often as the usual function */
    void (*make)(struct call *call);
    unsigned errors; /* that the header promises: bit -error (walk_errors.h) */
};

struct call {
    const struct rule *rule;
    const struct step *step;
};

/* All rules, in the order of the linker: RULE() of rules.h. */
extern const struct rule *const __start_walk_rules[], *const __stop_walk_rules[];
#define walk_rules __start_walk_rules
#define WALK_RULE_COUNT ((int)(__stop_walk_rules - __start_walk_rules))

/* Whether every exported function has a rule, and nothing else but those of the walk itself; says which has not. */
bool walk_rules_complete(void);

/* ---- arguments (arguments.c) -------------------------------------------------------------------------------------------------------- */

/* How many values an argument of KIND has, and how many of them, the first ones, are usual. */
int walk_values(char kind);
int walk_usual(char kind);
/* How value NUMBER is written. */
const char *walk_value_text(char kind, int number);
/* A step as a line of C, or something like it; and back: false where it is no step. */
void walk_step_text(const struct step *step, char text[TEXT]);
bool walk_step_read(const char *text, struct step *step);

/* The value itself, of integers. */
int64_t walk_integer(const struct call *call, int argument);
/* The number of the variable that an argument is; -1 for NULL. */
int walk_variable(const struct call *call, int argument);

/* ---- a run of a sequence (run.c) ---------------------------------------------------------------------------------------------------- */

struct finding {
    bool found;
    int step;        /* at which step */
    char what[64];   /* "crash", "hang", "wrong" */
    char text[1024]; /* in words */
};

struct settings {
    const char *image; /* of kernels.cu, for the device of the run */
    const char *globals; /* of globals.cu, likewise */
    const char *cubin;
    bool gpu; /* the fake GPU, or a real one */
    bool is_real;
};
extern struct settings walk_settings;

/* A sequence that hangs is given up sooner. */
extern bool walk_is_shrinking;

/* Runs SEQUENCE in a child. */
void walk_run(const struct sequence *sequence, struct finding *finding);

/* In the child: a call of the rule was made, and has worked or failed. What came of all of them is printed by walk_print_counts(). */
void walk_count(const struct call *call, bool worked);
void walk_print_counts(void);
/* In the child: the sequence has shown something; does not return. */
void walk_found(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- what is known (model.c) ------------------------------------------------------------------ */

enum {
    ARRAYS = 6,  /* of the host: some small ones, one that copies in pieces, one that threads copy */
    RECORDS = 2, /* structs with a pointer to an array; one place for both */
    PLACES = ARRAYS + 1,
    CELLS = 64,
    BYTES = CELLS * 8,
    MOST_BYTES = (4 << 20) + BYTES,
    MOST_ROWS = 12,
    DEVICES = 8,
    QUEUES = 3,
    MEMORIES = 3,
    HOST = QUEUES, /* the thread itself, where a queue is meant */
    MOST_TOUCHES = 2048
};

struct walk_record {
    int64_t count;
    int64_t *data;
    int64_t tail;
};

/* One row: a part of a place of the host, or a value. */
struct part {
    int host; /* -1: a value, or something that is not mapped */
    int begin, size;
    int64_t type;
    int64_t value;
};

/* The kernel that a map's rows are right for. */
enum form { FORM_NONE, FORM_ADD, FORM_SET, FORM_SUM, FORM_OBJECT, FORM_NOTHING };

/* A map, with the columns that librex is given, and what it is made of. */
struct walk_map {
    struct rex_map map;
    void *base[MOST_ROWS], *begin[MOST_ROWS];
    int64_t sizes[MOST_ROWS], types[MOST_ROWS];
    struct part part[MOST_ROWS];
    enum form form;
    int memory; /* device memory that a value points to; -1: none */
    unsigned memory_made;
    bool wrong; /* librex refuses it wherever it is used */
    bool built; /* by rex_map_build() */
    bool mixed; /* its parameters are of other kinds than any kernel's */
    bool raw; /* the call gets its columns, not the map */
    bool returned; /* its columns have device addresses, which rex_map_address() gives */
};

/* Bytes that queues and the thread read and write: of the host, of a mapping's copy, of a device's memory. */
struct place {
    unsigned char *value, *known;
    int size;
    bool is_touched; /* since it was compared last */
    unsigned written[QUEUES], read[QUEUES]; /* by which command of each queue last */
};

/* What a call works on. */
struct touches {
    int count;
    struct touch {
        struct place *place;
        bool write;
    } touch[MOST_TOUCHES];
};

extern _Thread_local int64_t *walk_array[ARRAYS];
extern _Thread_local struct walk_record walk_record[RECORDS];
/* Bytes of a place of the host, where it begins, and the one that ADDRESS is in, -1 for none. */
int model_size(int host);
void *model_address(int host);
int model_host_at(const void *address, int *begin);

void model_reset(void);
void model_end_all(void);
/* Whether rows can be mapped, or ended, on a device without an error; whether all lie in mappings. */
bool model_can_map(int device, const struct walk_map *map);
bool model_all_mapped(int device, const struct walk_map *map);
bool model_can_end(int device, const struct walk_map *map);
bool model_is_present(int device, int host, int begin, int size);
bool model_any_mapping(void);
/* Whether the pointers of records that a kernel follows lead to the arrays that are mapped now. */
bool model_is_attached(int device, const struct walk_map *map);
/* Whether a row of no length lies beside a mapping of its array: LLVM 15 to 24 take it for a part of
 * one whose base it lies behind. Or whether an implicit row, as a mapper makes, is mapped in part: its
 * end takes a reference of the mapping. */
bool model_is_vague(int device, const struct walk_map *map);
/* What calls that have succeeded do. */
void model_begin(int device, const struct walk_map *map);
void model_end(int device, const struct walk_map *map);
void model_update(int device, const struct part *part, int64_t direction);
void model_kernel(int device, const struct walk_map *map);
void model_write(int host, int64_t first);
/* The first bytes of a mapping of the place; NULL: there is none. Its device address is remembered. */
struct mapping;
struct mapping *model_mapping(int device, int host, int *begin, int *size);
bool model_is_address(struct mapping *mapping, const void *address);
/* Whether BYTES are what the mapping's copy holds: a word on the first difference. */
const char *model_compare_copy(struct mapping *mapping, const unsigned char *bytes);
/* Device memory: variables memory0 and so on. */
void model_memory_new(int memory, int size);
void model_copy_to(int memory, int host, int size);
void model_copy_from(int memory, int host, int size);
void model_copy_peer(int to, int from, int size);
void model_add(int to, int from, int64_t cells, int64_t a);
void model_fill(int memory, const void *pattern, int width, int size);
/* Arrays of the host may have changed in a way that is not known; so may all copies. */
void model_forget(void);
/* Compares what no queue may be writing with what it should be: a word on the first difference.
 * Large arrays only where a call worked on them, or where ALL is asked for. */
const char *model_compare(bool all);

/* ---- order: who sees what queues have done ------------------------------------------------------ */

void model_touch_host(struct touches *touches, int host, bool write);
void model_touch_memory(struct touches *touches, int memory, bool write);
/* The copies of the map's rows, as a kernel uses them; and what data calls and launches use. */
void model_touch_copies(struct touches *touches, int device, const struct walk_map *map);
void model_touch_mapping(struct touches *touches, struct mapping *mapping);
/* Whether librex may take copies of the map's rows for ones that a queue works on: it keeps them in
 * mind until the queue itself, and not an event in it, has been waited for. */
bool model_copies_in_use(int device, const struct walk_map *map);
typedef void touch_rows(struct touches *touches, int device, const struct walk_map *map);
touch_rows model_touch_begin, model_touch_end, model_touch_update, model_touch_launch;
/* A queue that WHO has to wait for before it works on TOUCHES; -1: none. */
int model_unseen(int who, const struct touches *touches);
bool model_has_unseen(int queue);
/* QUEUE was given a command that does so; NULL: one that works on no memory. */
void model_did(int queue, const struct touches *touches);
/* SEEN is what there is in the queue up to here; WHO knows that to be done. */
void model_record(int queue, unsigned seen[QUEUES]);
void model_wait(int who, const unsigned seen[QUEUES]);
/* QUEUE has been waited for, and has nothing left to do. */
void model_idle(int queue);

#endif
