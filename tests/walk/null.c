/*
 * null.c - the calls of calls.h, which scripts/null.sh writes: each with one pointer that is NULL, in a child of its own.
 *
 * usage: null IMAGE
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rex.h>

#define REX_KMP_INTERNAL
#include <rex_kmp.h>

#include <rex/inspect.h>
#include <rex/interop.h>
#include <rex/library.h>

#include "inqueue.h"
#include "walk/exported.h"
#include "memory/section.h" /* what a map builder is */

REX_KERNEL(walk_add);
REX_KERNEL(walk_nothing);

#define rex___tgt_target exported_target
#define rex___tgt_target_teams exported_target_teams
#define rex___tgt_target_kernel exported_target_kernel
#define rex___tgt_target_data_begin exported_target_data_begin
#define rex___tgt_target_data_end exported_target_data_end
#define rex___tgt_target_data_update exported_target_data_update

/* Valid arguments. */
static struct {
    int64_t cells[64];
    struct rex_queue *queue;
    struct rex_event *event;
    struct rex_graph *graph;
    struct rex_image_view *view;
    struct rex_image_list *list;
    struct rex_library *library;
    struct rex_map args;
    struct rex_map_builder builder;
    struct rex_row row;
    struct rex_launch_config launch, nothing, queued;
    struct rex_dimension dimension;
    struct rex_array_part part;
    struct __tgt_kernel_arguments packet;
    const char *names[1];
    void *base[1];
    int64_t sizes[1], types[1];
    void *memory, *image;
    size_t image_size;
} with = {.names = {"walk_add__kernel__"}, .dimension = {64, 0, 64, 1}, .sizes = {8}};

/* Where results go. */
static struct {
    struct rex_queue *queue;
    struct rex_event *event;
    struct rex_graph *graph;
    struct rex_image_view *view;
    struct rex_image_list *list;
    struct rex_library *library;
    struct rex_map map;
    struct rex_gpu gpu;
    double seconds;
    size_t size;
} made;

static int a_mapper(struct rex_map_builder *builder, void *element)
{
    int64_t *value = element;
    return rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *value));
}

static int some_rows(struct rex_map_builder *builder, void *context)
{
    (void)context;
    return rex_map_add(builder, with.row);
}

static void an_info_row(const char *group, const char *name, const char *value, void *context)
{
    (void)group, (void)name, (void)value, (void)context;
}

static void a_log(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
}

static void a_call(void *argument)
{
    (void)argument;
}

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "null: %s: %s\n", what, rex_last_error());
        exit(2);
    }
}

static void read_image(const char *path)
{
    FILE *file = fopen(path, "rb");
    with.image = malloc(1 << 20);
    with.image_size = file != NULL && with.image != NULL ? fread(with.image, 1, 1 << 20, file) : 0;
    must(with.image_size == 0, "the image cannot be read");
    fclose(file);
}

static void make_arguments(const char *image)
{
    int64_t n = 64;
    rex_this_module.image_name = rex_this_module.host_image_name = image;
    read_image(image);
    must(rex_offload_init(), "init");
    REX_MAP(args, REX_VALUE(n), REX_VALUE(n), REX_TO(with.cells, n), REX_TOFROM(with.cells, n));
    must(rex_map_build(&with.args, &args, NULL, NULL, NULL), "map");
    REX_MAP(region, REX_TOFROM(with.cells, n));
    must(rex_data_enter(0, &region), "data begin");
    with.row = REX_TO(with.cells, n);
    with.base[0] = with.cells;
    with.launch = rex_launch_config_of(REX_KERNEL_ID(walk_add), 1, 1);
    with.nothing = rex_launch_config_of(REX_KERNEL_ID(walk_nothing), 1, 1);
    with.packet = (struct __tgt_kernel_arguments){.Version = 3,
                                                  .NumArgs = with.args.count,
                                                  .ArgsBase = with.args.base,
                                                  .Args = with.args.begin,
                                                  .ArgSizes = with.args.sizes,
                                                  .ArgTypes = with.args.types,
                                                  .Teams = {1, 1, 1},
                                                  .Threads = {1, 1, 1}};
    must(rex_queue_create(&with.queue, 0, "null", 0), "queue");
    with.queued = with.launch;
    with.queued.queue = with.queue;
    must(rex_graph_begin(with.queue), "graph begin");
    must(launch_in(with.queue, &with.launch, &with.args), "launch in a graph");
    must(launch_in(with.queue, &with.nothing, NULL), "launch without arguments in a graph");
    must(rex_graph_end(&with.graph, with.queue), "graph end");
    must(rex_event_create(&with.event), "event");
    must(rex_event_record(with.event, with.queue), "record");
    must(rex_image_list_open(&with.list, with.image, with.image_size, "image"), "list");
    must(rex_image_view_open(&with.view, with.list, 0, "image"), "view");
    must(rex_library_load(&with.library, 0, with.image, with.image_size, "image"), "library");
    with.memory = rex_device_alloc(sizeof with.cells, 0);
    with.part = (struct rex_array_part){with.memory, &with.dimension, 0};
    must(with.memory == NULL, "device memory");
}

/* 0: as it should be. The standard output gets the message, the standard error what is wrong. */
static int judge(const char *function, const char *parameter, int allowed, int failed)
{
    const char *message = rex_last_error();
    int error = rex_last_error_code();
    if (allowed)
        return error != 0 ? fprintf(stderr, "FAIL: %s: %s may be NULL, and is refused: %s\n", function, parameter, message) : 0;
    if (!failed || (error != REX_EINVAL && error != REX_EKEY))
        return fprintf(stderr, "FAIL: %s: %s is NULL, and that is no error (\"%s\")\n", function, parameter, message);
    printf("%s, %s: %s\n", function, parameter, message);
    return 0;
}

static int bad, calls;

static void report(pid_t child, const char *function, const char *parameter)
{
    int status = 0;
    calls++;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        fprintf(stderr, "FAIL: %s: %s is NULL: %s\n", function, parameter, strsignal(WTERMSIG(status)));
    bad += status != 0;
}

#define CASE(function, parameter, allowed, ...)                      \
    do {                                                             \
        fflush(stdout);                                              \
        pid_t child = fork();                                        \
        if (child == 0) {                                            \
            int failed = 0;                                          \
            alarm(20);                                               \
            __VA_ARGS__                                              \
            int wrong = judge(function, parameter, allowed, failed); \
            fflush(stdout);                                          \
            _exit(wrong != 0);                                       \
        }                                                            \
        report(child, function, parameter);                          \
    } while (0);

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    make_arguments(argv[1]);
#include "calls.h"
    printf("%d calls, %d wrong\n", calls, bad);
    return bad != 0;
}
