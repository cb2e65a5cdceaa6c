/*
 * walk.c - makes random sequences of calls, runs them, and shrinks those that show something.
 *
 * usage: walk IMAGE GLOBALS CUBIN [--gpu fake|real] [--seed N] [--count N | --seconds N] [--found FOLDER]
 *             [--threads N] [FILE...]
 *
 * FILE is a sequence that was kept, as the walk prints it: it is run, and no other. IMAGE and
 * GLOBALS are for the device of the run, with --gpu the fake GPU or a real one. What is found goes into
 * FOLDER.
 *
 * The same seed and count make the same sequences. Status 0: nothing was found; 1: something was.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "walk.h"

enum { MOST_FINDINGS = 5 };

/* ---- chance
 * ---------------------------------------------------------------------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t state;
static uint64_t chance(uint64_t below)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static int some_function(void)
{
    int all = 0;
    for (int i = 0; i < WALK_RULE_COUNT; i++)
        all += walk_rules[i]->weight;
    int at = (int)chance((uint64_t)all), function = 0;
    while ((at -= walk_rules[function]->weight) >= 0)
        function++;
    return function;
}

static void make_step(struct step *step, int function)
{
    const char *kinds = walk_rules[function]->kinds;
    memset(step, 0, sizeof *step);
    step->function = (uint16_t)function;
    /* In most steps all arguments are usual. */
    int odd = chance(4) == 0 ? 3 : 1000000;
    for (int i = 0; kinds[i] != '\0'; i++) {
        int values = chance((uint64_t)odd) == 0 ? walk_values(kinds[i]) : walk_usual(kinds[i]);
        /* The first one is the most usual, and what a sequence begins with makes it. */
        bool first = kinds[i] != 'c' && kinds[i] != 'h' && chance(3) == 0;
        step->argument[i] = first ? 0 : (uint16_t)chance((uint64_t)values);
    }
}

/* Most sequences begin with what most calls need. */
static const char *const beginnings[] = {
    "rex_module_init(&module);",
    "rex_module_queue_create(&queue0, &module, 0, \"walk\", 0, NULL);",
    "rex_event_create(&event0);",
    "rex_event_record(event0, queue0);",
    "rex_module_queue_create(&queue1, &module, 0, NULL, 0, NULL);",
    "rex_event_create(&event1);",
    "rex_event_record(event1, queue1);",
    "rex_device_alloc(memory0, 512, 0);",
    "rex_device_alloc(memory1, 512, 0);",
    "map_for_add(map0, 32, 3, host0, TO, 64, host1, TOFROM, 64);",
    "map_of_one(map1, TOFROM, host1, 64);",
    "rex_module_data_enter(&module, 0, map1);",
    "map_of_one(map2, TO, host0, 64);",
    "rex_module_data_enter(&module, 0, map2);",
    "rex_graph_begin(queue0);",
    "launch_in_queue(&module, queue0, fitting, 0, 1, 1, 0, map0);",
    "rex_graph_end(&graph0, queue0);",
    "rex_graph_set_args(graph0, 0, map0);",
    "rex_graph_launch(graph0, queue0);",
};

/* Some go on with what is large. */
static const char *const large_beginnings[] = {
    "rex_device_alloc(memory2, 4194816, 0);",
    "map_of_one(map3, TOFROM, huge, 64);",
    "rex_module_data_enter(&module, 0, map3);",
    "rex_device_copy_to(memory2, huge, 4194816, 0);",
    "rex_queue_copy_to(queue0, memory2, huge, 4194816);",
    "host_write(huge, 3);",
    "map_of_one(map2, TO, huge, 64);",
    "rex_module_data_update(&module, 0, map2);",
    "rex_queue_update(queue0, map2);",
    "rex_queue_copy_from(queue0, huge, memory2, 4194816);",
    "rex_device_copy_from(huge, memory2, 4194816, 0);",
    "map_of_one(map2, ALWAYS_FROM, huge, 64);",
    "rex_module_data_update(&module, 0, map2);",
    "rex_queue_update(queue0, map2);",
    "map_for_add(map0, 64, 3, large, TO, 64, large, TOFROM, 64);",
    "rex_module_launch_map(&module, fitting, 0, 1, 1, 0, map0);",
    "rex_module_region_end(&module, 0, map3);",
    "map_for_set(map0, 64, 3, huge, ALWAYS_TOFROM, 64);",
    "rex_module_launch_map(&module, fitting, 0, 1, 1, 0, map0);",
};
/* And others between two devices, and with a library. */
static const char *const more_beginnings[] = {
    "rex_device_alloc(memory2, 512, 1);",
    "rex_module_queue_create(&queue2, &module, 1, NULL, 0, NULL);",
    "rex_device_copy_to(memory0, host0, 512, 0);",
    "rex_queue_copy_peer(queue0, memory2, 1, memory0, 0, 512);",
    "rex_library_load(&library0, 0, image, \"walk\");",
    "library_add(queue0, library0, 32, 3, memory0, memory1);",
    "rex_graph_begin(queue1);",
    "library_add(queue1, library0, 32, 3, memory0, memory1);",
    "rex_event_record(event0, queue1);",
    "rex_queue_wait_event(queue0, event0);",
    "rex_queue_copy_from(queue0, host3, memory1, 256);",
    "rex_queue_update(queue0, map1);",
    "rex_event_record(event1, queue0);",
    "rex_queue_wait_event(queue1, event1);",
    "rex_graph_end(&graph1, queue1);",
    "rex_graph_launch(graph1, queue1);",
    "rex_image_list_open(&list0, image, \"walk\");",
};

enum {
    BEGINNINGS = (int)(sizeof beginnings / sizeof *beginnings),
    LARGE_BEGINNINGS = (int)(sizeof large_beginnings / sizeof *large_beginnings),
    MORE_BEGINNINGS = (int)(sizeof more_beginnings / sizeof *more_beginnings)
};

static void read_step(struct step *step, const char *text)
{
    if (!walk_step_read(text, step))
        exit((fprintf(stderr, "walk: this is no step: %s\n", text), 2));
}

/* Half of the sequences have the usual settings but for the order. */
static void make_settings(struct step *step)
{
    bool is_usual = chance(2) == 0;
    read_step(step, "settings(early, 1, default, default, default, default, 256, default, off);");
    for (int i = 0; walk_rules[step->function]->kinds[i] != '\0'; i++)
        if (i == 0 || !is_usual)
            step->argument[i] = (uint16_t)chance((uint64_t)walk_values((char)('1' + i)));
}

/* Most of COUNT steps, for each of the threads; where those after them begin. */
static int put_beginnings(struct sequence *sequence, int at, const char *const *texts, int count,
                          int threads)
{
    for (int i = 0; i < count; i++)
        for (int thread = 0; thread < threads && at < sequence->count; thread++)
            if (chance(8) > 0) {
                struct step *step = &sequence->step[at++];
                read_step(step, texts[i]);
                step->thread = (uint16_t)thread;
            }
    return at;
}

/* THREADS: how many the sequence has; 0: one, now and then two or four. */
static void make_sequence(struct sequence *sequence, uint64_t seed, uint64_t number, int threads)
{
    static const int some[] = {1, 1, 1, 1, 1, 2, 2, 4};
    /* Sequences would be each other's, a step later, if what they begin with were not far apart. */
    state = seed;
    state = chance(UINT64_MAX) ^ number * UINT64_C(0x2545f4914f6cdd1d);
    state = chance(UINT64_MAX);
    int chosen = threads > 0 ? threads : some[chance(sizeof some / sizeof *some)];
    sequence->count = 40 + (int)chance(MOST_STEPS - 40);
    for (int i = 0; i < sequence->count; i++) {
        make_step(&sequence->step[i], some_function());
        sequence->step[i].thread = (uint16_t)chance((uint64_t)chosen);
    }
    make_settings(&sequence->step[0]);
    int begin = chance(4) > 0 ? BEGINNINGS : 1; /* a module with queues and memory is not ended */
    int at = put_beginnings(sequence, 1, beginnings, begin, chosen);
    if (begin > 1 && chance(5) == 0) {
        sequence->step[0].argument[3] = 1; /* threads that copy */
        put_beginnings(sequence, at, large_beginnings, LARGE_BEGINNINGS, chosen);
    } else if (begin > 1 && chance(2) == 0)
        put_beginnings(sequence, at, more_beginnings, MORE_BEGINNINGS, chosen);
}

/* ---- shrinking
 * ------------------------------------------------------------------------------------------------------------------------------- */

static const char *name_of_step(const struct sequence *sequence, int step)
{
    return step < sequence->count ? walk_rules[sequence->step[step].function]->name : "the end";
}

/* Whether SEQUENCE shows the same. What it is about: the function, and the beginning of the words. */
static bool shows_now(const struct sequence *sequence, const struct sequence *first,
                      const struct finding *wanted)
{
    struct finding finding;
    walk_run(sequence, &finding);
    return finding.found && strcmp(finding.what, wanted->what) == 0 && strncmp(finding.text, wanted->text, 12) == 0 &&
           strcmp(name_of_step(sequence, finding.step), name_of_step(first, wanted->step)) == 0;
}

/* Threads do not meet each time. */
static bool shows(const struct sequence *sequence, const struct sequence *first,
                  const struct finding *wanted)
{
    bool found = false;
    int tries = 1;
    for (int i = 0; i < first->count; i++)
        tries = first->step[i].thread > 0 ? 8 : tries;
    for (; tries > 0 && !found; tries--)
        found = shows_now(sequence, first, wanted);
    return found;
}

static bool try_without(struct sequence *sequence, const struct sequence *first, const struct finding *wanted, int at, int count)
{
    struct sequence shorter = *sequence;
    memmove(&shorter.step[at], &shorter.step[at + count], (size_t)(sequence->count - at - count) * sizeof *shorter.step);
    shorter.count -= count;
    if (!shows(&shorter, first, wanted))
        return false;
    *sequence = shorter;
    return true;
}

static void shrink_arguments(struct sequence *sequence, const struct sequence *first, const struct finding *wanted)
{
    for (int i = 0; i < sequence->count; i++)
        for (int j = 0; walk_rules[sequence->step[i].function]->kinds[j] != '\0'; j++) {
            uint16_t *argument = &sequence->step[i].argument[j], before = *argument;
            *argument = 0;
            if (before != 0 && !shows(sequence, first, wanted))
                *argument = before;
        }
}

static void shrink(struct sequence *sequence, const struct finding *wanted)
{
    const struct sequence first = *sequence;
    if (wanted->step + 1 < sequence->count) /* of one thread nothing comes after it */
        try_without(sequence, &first, wanted, wanted->step + 1, sequence->count - wanted->step - 1);
    for (int before = sequence->count + 1; sequence->count < before;) {
        before = sequence->count;
        for (int size = sequence->count / 2; size > 0; size /= 2)
            for (int at = sequence->count - size; at >= 0; at -= size)
                if (at + size <= sequence->count)
                    try_without(sequence, &first, wanted, at, size);
    }
    shrink_arguments(sequence, &first, wanted);
}

/* ---- what is printed
 * ------------------------------------------------------------------------------------------------------------------------- */

static const char *device_of_run(void)
{
    static char text[64];
    const char *release = getenv("REX_TEST_RELEASE");
    snprintf(text, sizeof text, "%s%s", walk_settings.gpu ? "gpu-" : "",
             release != NULL ? release : "here");
    return text;
}

static void print_sequence(FILE *file, const struct sequence *sequence, const struct finding *finding)
{
    fprintf(file, "// %s in %s, on %s: %s\n", finding->what, name_of_step(sequence, finding->step), device_of_run(), finding->text);
    for (int i = 0; i < sequence->count; i++) {
        char text[TEXT];
        walk_step_text(&sequence->step[i], text);
        fprintf(file, "%s\n", text);
    }
}

static void report(const char *folder, struct sequence *sequence, const struct finding *finding, uint64_t seed, uint64_t number)
{
    struct finding again;
    char path[4096];
    int steps = sequence->count;
    printf("\n%s in %s, on %s, sequence %llu of seed %llu: %s\nshrinking %d steps\n", finding->what,
           name_of_step(sequence, finding->step), device_of_run(), (unsigned long long)number, (unsigned long long)seed, finding->text, steps);
    fflush(stdout);
    walk_is_shrinking = true;
    shrink(sequence, finding);
    walk_is_shrinking = false;
    walk_run(sequence, &again);
    print_sequence(stdout, sequence, again.found ? &again : finding);
    snprintf(path, sizeof path, "%s/%s-%llu-%llu.walk", folder, device_of_run(), (unsigned long long)seed, (unsigned long long)number);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        print_sequence(file, sequence, again.found ? &again : finding);
        fclose(file);
        const char *blocking = getenv("REX_LAUNCH_BLOCKING");
        printf("%d steps of %d are left; to run them again: REX_LAUNCH_BLOCKING=%s tests/walk/run --on %s %s\n", sequence->count, steps,
               blocking != NULL ? blocking : "1", device_of_run(), path);
    }
}

/* ---- sequences that were kept
 * ---------------------------------------------------------------------------------------------------------------- */

static bool read_sequence(const char *path, struct sequence *sequence)
{
    char line[TEXT];
    FILE *file = fopen(path, "r");
    bool right = file != NULL;
    sequence->count = 0;
    while (right && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "//", 2) == 0 || line[strspn(line, " \t\n")] == '\0')
            continue;
        right = sequence->count < MOST_STEPS && walk_step_read(line, &sequence->step[sequence->count]);
        if (!right)
            fprintf(stderr, "walk: %s: this is no step: %s", path, line);
        sequence->count++;
    }
    if (file != NULL)
        fclose(file);
    else
        perror(path);
    return right;
}

static int replay(int count, char **paths)
{
    struct sequence sequence;
    struct finding finding;
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (!read_sequence(paths[i], &sequence))
            return 2;
        walk_run(&sequence, &finding);
        if (finding.found) {
            printf("%s:\n", paths[i]);
            print_sequence(stdout, &sequence, &finding);
        }
        found += finding.found;
    }
    printf("%s: %d sequences that were kept, %d findings\n", device_of_run(), count, found);
    return found > 0;
}

/* ---- main
 * ------------------------------------------------------------------------------------------------------------------------------------ */

/* Whether the same was found before: in the same function, with words that begin alike. */
static bool is_known(const struct sequence *sequence, const struct finding *finding)
{
    static char known[MOST_FINDINGS][200];
    char key[200];
    snprintf(key, sizeof key, "%s %s %.30s", name_of_step(sequence, finding->step), finding->what, finding->text);
    for (int i = 0; i < MOST_FINDINGS; i++) {
        if (strcmp(known[i], key) == 0)
            return true;
        if (known[i][0] == '\0') {
            snprintf(known[i], sizeof known[i], "%s", key);
            return false;
        }
    }
    return false;
}

static int walk(const char *folder, uint64_t seed, uint64_t count, long seconds, int threads)
{
    static struct sequence sequence;
    struct finding finding;
    uint64_t number = 0, steps = 0, findings = 0;
    time_t end = time(NULL) + seconds;
    for (; findings < MOST_FINDINGS && (seconds > 0 ? time(NULL) < end : number < count); number++) {
        make_sequence(&sequence, seed, number, threads);
        walk_run(&sequence, &finding);
        steps += (uint64_t)sequence.count;
        if (finding.found && !is_known(&sequence, &finding)) {
            findings++;
            report(folder, &sequence, &finding, seed, number);
        }
    }
    printf("%s: %llu sequences, %llu steps, %llu findings\n", device_of_run(), (unsigned long long)number, (unsigned long long)steps,
           (unsigned long long)findings);
    return findings > 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 20;
    long seconds = 0;
    bool counts = false;
    const char *folder = ".";
    int at = 4, threads = 0;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--gpu") == 0) {
            walk_settings.gpu = true;
            walk_settings.is_real = strcmp(argv[at + 1], "real") == 0;
        } else if (strcmp(argv[at], "--seed") == 0)
            seed = strtoull(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--count") == 0)
            count = strtoull(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--seconds") == 0)
            seconds = strtol(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--threads") == 0)
            threads = (int)strtol(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--found") == 0)
            folder = argv[at + 1];
        else if (strcmp(argv[at], "--counts") == 0)
            counts = strcmp(argv[at + 1], "yes") == 0;
        else
            return fprintf(stderr, "walk: what is %s?\n", argv[at]), 2;
    }
    if (argc < 4 || !walk_rules_complete())
        return 2;
    walk_settings.image = argv[1];
    walk_settings.globals = argv[2];
    walk_settings.cubin = argv[3];
    int found = at < argc ? replay(argc - at, argv + at) : walk(folder, seed, count, seconds, threads);
    if (counts)
        walk_print_counts();
    return found;
}
