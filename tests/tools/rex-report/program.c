/*
 * program.c WAY LAUNCHES - launches of one kernel: with a copy each, in a region, or in a region each; in a queue, or as a graph; a copy of
 * pageable or pinned memory; a launch that fails; or an abort. With GLOBAL its image has a device global.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <stdlib.h>
#include <string.h>

REX_KERNEL(twice);
#ifdef GLOBAL
int64_t factor = 2;
REX_GLOBAL(factor);
#endif

enum { COUNT = 50000, LARGE = 4000000, IN_GRAPH = 12 };
static double x[COUNT];
static int64_t n = 10;

static void check(int result)
{
    if (result != 0)
        exit(1);
}

static void launch(struct rex_queue *queue, int times)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(twice), 1, 32);
    launch.queue = queue;
    REX_MAP(args, REX_VALUE(n), REX_TOFROM(x, COUNT));
    REX_MAP(present, REX_VALUE(n), REX_PRESENT(REX_ALLOC(x, COUNT)));
    for (int i = 0; i < times; i++)
        check(rex_launch(&launch, queue != NULL ? &present : &args));
}

static void use_queue(int launches, bool graph)
{
    struct rex_queue *queue;
    struct rex_graph *made = NULL;
    check(rex_queue_create(&queue, -1, "work", 0));
    if (graph) {
        check(rex_graph_begin(queue));
        launch(queue, IN_GRAPH);
        check(rex_graph_end(&made, queue));
    }
    for (int i = 0; graph && i < launches / IN_GRAPH; i++)
        check(rex_graph_launch(made, queue));
    launch(queue, graph ? 0 : launches);
    check(rex_queue_sync(queue));
    rex_graph_destroy(made);
    check(rex_queue_destroy(queue));
}

static void copy(double *large)
{
    REX_MAP(map, REX_TO(large, LARGE));
    check(rex_data_enter(-1, &map));
    check(rex_data_exit(-1, &map));
}

int main(int count, char **arguments)
{
    const char *way = count > 2 ? arguments[1] : "";
    int launches = count > 2 ? atoi(arguments[2]) : 0;
    bool inside = strcmp(way, "inside") == 0, queue = strcmp(way, "queue") == 0, graph = strcmp(way, "graph") == 0;
    bool around = queue || graph || strcmp(way, "around") == 0;
    REX_MAP(region, REX_TO(x, COUNT));
    check(rex_offload_init());
    if (around)
        check(rex_data_enter(-1, &region));
    for (int i = 0; inside && i < launches; i++) {
        check(rex_data_enter(-1, &region));
        launch(NULL, 1);
        check(rex_data_exit(-1, &region));
    }
    if (queue || graph)
        use_queue(launches, graph);
    else if (strcmp(way, "pageable") == 0)
        copy(calloc(LARGE, sizeof *x));
    else if (strcmp(way, "pinned") == 0)
        copy(rex_host_alloc(LARGE * sizeof *x));
    else if (!inside)
        launch(NULL, launches);
    if (around)
        check(rex_data_exit(-1, &region));
    if (strcmp(way, "abort") == 0)
        abort();
    return rex_offload_fini();
}
