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

enum { ARGUMENTS = 10, MOST_STEPS = 200, TEXT = 400 };

struct step {
    uint16_t function;
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

extern struct rule walk_rules[];
extern const int walk_rule_count;

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
    const char *cubin;
    bool gpu; /* the fakes */
    bool verbose;
};
extern struct settings walk_settings;

/* Runs SEQUENCE in a child. */
void walk_run(const struct sequence *sequence, struct finding *finding);

/* In the child: a call of the rule was made, and has worked or failed. What came of all of them is printed by walk_print_counts(). */
void walk_count(const struct rule *rule, bool worked);
void walk_print_counts(void);
/* In the child: the sequence has shown something; does not return. */
void walk_found(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- what is known (model.c) -------------------------------------------------------------------------------------------------------- */

enum { HOSTS = 4, CELLS = 64, BYTES = CELLS * 8, MOST_ROWS = 8, DEVICES = 8 };

/* One row: a part of an array of the host, or a value. */
struct part {
    int host; /* -1: a value, or something that is not mapped */
    int begin, size;
    int64_t type;
    int64_t value;
};

/* What a map is good for. */
enum form { FORM_NONE, FORM_ADD, FORM_SET, FORM_NOTHING };

/* A map, with the columns that librex is given, and what it is made of. */
struct walk_map {
    struct rex_map map;
    void *base[MOST_ROWS], *begin[MOST_ROWS];
    int64_t sizes[MOST_ROWS], types[MOST_ROWS];
    struct part part[MOST_ROWS];
    enum form form;
    bool wrong; /* librex refuses it wherever it is used */
    bool built; /* by rex_map_build() */
};

extern int64_t walk_host[HOSTS][CELLS];

void model_reset(void);
/* Whether rows can be mapped, or ended, on a device without an error; whether all lie in mappings. */
bool model_can_map(int device, const struct walk_map *map);
bool model_all_mapped(int device, const struct walk_map *map);
bool model_can_end(int device, const struct walk_map *map);
bool model_is_present(int device, int host, int begin, int size);
bool model_any_mapping(void);
/* What calls that have succeeded do. */
void model_begin(int device, const struct walk_map *map);
void model_end(int device, const struct walk_map *map);
void model_update(int device, const struct walk_map *map, int64_t direction);
void model_kernel(int device, const struct walk_map *map);
/* Device memory: variables memory0 and so on. */
void model_memory_new(int memory);
void model_copy_to(int memory, int host, int size);
void model_copy_from(int memory, int host, int size);
void model_copy_peer(int to, int from, int size);
void model_fill(int memory, const void *pattern, int width, int size);
/* Arrays of the host may have changed in a way that is not known; so may all copies. */
void model_forget(void);
/* Compares the arrays with what they should be: a word on the first difference, NULL if there is none. */
const char *model_compare(void);

#endif
