/*
 * bfs - finds the distance of every node of a graph from one node.
 *
 * Breadth-first search, of the Rodinia suite, on librex. Each step visits the neighbours of the
 * nodes that the last step reached. A flag copied from the device ends the search if a step reached
 * no new node. See bfs.h.
 *
 * Run it:  make && $(make -s print-O)/examples/bfs/bfs --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "bfs.h"

struct inputs {
    const char *input;  /* NULL: generate a graph */
    const char *output; /* NULL: write no distances */
    const char *made;   /* file for the generated graph; NULL: do not write it */
    int64_t source;     /* -1: the graph's own source */
};

static void parse(struct settings *settings, struct inputs *inputs, int argc, char **argv)
{
    const struct extra_option extra[] = {
        {"input", "FILE", "read a graph in Rodinia's format; default: generate one", &inputs->input,
         NULL, 0, 0},
        {"output", "FILE", "write each node's distance in Rodinia's format", &inputs->output, NULL,
         0, 0},
        {"generate", "FILE", "write the generated graph in Rodinia's format", &inputs->made, NULL,
         0, 0},
        {"source", "I", "node from which distances count (default: that in the file, else 0)", NULL,
         &inputs->source, 0, MOST_NODES - 1},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    settings->extra = extra;
    read_options(settings, argc, argv);
    settings->extra = NULL;
    if (inputs->input != NULL && settings->sized)
        wrong_usage(settings, "--size does not apply to --input, which has its own size");
    if (inputs->input != NULL && inputs->made != NULL)
        wrong_usage(settings, "--input and --generate exclude each other: give one or the other");
}

static int load(const struct settings *settings, const struct inputs *inputs, struct graph *graph)
{
    int result = inputs->input != NULL ? read_graph(inputs->input, graph)
                                       : make_graph(graph, settings->size);
    if (result != 0)
        return result;
    if (inputs->source >= graph->nodes) {
        fprintf(stderr, "bfs: --source %lld: the graph has %lld nodes, numbered from 0\n",
                (long long)inputs->source, (long long)graph->nodes);
        return -1;
    }
    if (inputs->source >= 0)
        graph->source = inputs->source;
    return inputs->made != NULL ? write_graph(inputs->made, graph) : 0;
}

static int write_costs(const char *path, const int32_t *cost, int64_t nodes)
{
    FILE *file = fopen(path, "w");
    int good = file != NULL;
    for (int64_t i = 0; i < nodes && good; i++)
        good = fprintf(file, "%lld) cost:%d\n", (long long)i, cost[i]) > 0;
    if (file != NULL && fclose(file) != 0)
        good = 0;
    if (!good)
        fprintf(stderr, "bfs: %s: %s\n", path, strerror(errno));
    return good ? 0 : -1;
}

struct check {
    double seconds;
    int64_t wrong;
    int64_t reached;
    int32_t farthest;
};

static int check_result(const struct graph *graph, const int32_t *cost, int32_t *expected,
                        struct check *check)
{
    double began = seconds_now();
    if (search_serially(graph, expected) != 0) {
        fputs("bfs: out of memory for the serial run\n", stderr);
        return -1;
    }
    check->seconds = seconds_now() - began;
    for (int64_t i = 0; i < graph->nodes; i++) {
        check->wrong += cost[i] != expected[i];
        check->reached += expected[i] != UNREACHED;
        check->farthest = expected[i] > check->farthest ? expected[i] : check->farthest;
    }
    return 0;
}

static int compute(const struct settings *settings, const struct inputs *inputs,
                   const struct graph *graph, int32_t *cost, int32_t *expected)
{
    struct device_run run = {.device = settings->device, .ways = {.way = settings->way}};
    struct check check = {0};
    if (search_on_device(graph, cost, &run) != 0 ||
        (settings->verify && check_result(graph, cost, expected, &check) != 0))
        return 1;
    if (inputs->output != NULL && write_costs(inputs->output, cost, graph->nodes) != 0)
        return 1;
    print_line("bfs", "%lld nodes, %lld edges, from node %lld, graph %s", (long long)graph->nodes,
               (long long)graph->edges, (long long)graph->source,
               inputs->input != NULL ? inputs->input : "generated");
    print_run(settings, run.launches, run.seconds);
    print_ways(&run.ways);
    print_line("steps", "%lld, each with two updates of the flag", (long long)run.steps);
    /* The last step reaches no node, so there is one step more than the farthest distance. */
    int passed = check.wrong == 0 && run.steps == check.farthest + 1;
    return print_check(settings, passed, check.seconds,
                       "%lld of %lld distances wrong; %lld nodes reached, the farthest %d away",
                       (long long)check.wrong, (long long)graph->nodes, (long long)check.reached,
                       check.farthest);
}

static int run_all(const struct settings *settings, const struct inputs *inputs)
{
    struct graph graph = {0};
    int status = 1;
    if (load(settings, inputs, &graph) == 0) {
        int32_t *cost = malloc((size_t)graph.nodes * sizeof *cost);
        int32_t *expected = malloc((size_t)graph.nodes * sizeof *expected);
        if (cost != NULL && expected != NULL)
            status = compute(settings, inputs, &graph, cost, expected);
        else
            fputs("bfs: out of memory\n", stderr);
        free(cost);
        free(expected);
    }
    free_graph(&graph);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "bfs",
        .purpose = "Finds the distance in edges of every node of a graph from one node, on a\n"
                   "device of libomptarget, and checks the result against a serial run.",
        .unit = "nodes of the generated graph",
        .size = 65536,
        .smallest = 1,
        .largest = MOST_NODES,
        .has_ways = 1,
    };
    struct inputs inputs = {.source = -1};
    parse(&settings, &inputs, argc, argv);
    return start_offload(&settings) != 0 ? 1 : run_all(&settings, &inputs);
}
