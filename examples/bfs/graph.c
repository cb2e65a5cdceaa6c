/*
 * graph.c - bfs's graphs: Rodinia's text format, and a generator.
 *
 * A file has, in this order and separated by white space: the number of nodes; for each node the
 * number of its first edge and its number of edges; the source; the number of edges; for each edge
 * the node that it leads to and its cost, which is ignored. The reader checks all numbers that a
 * kernel uses as indices.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "bfs.h"

enum {
    EDGE_COST_MOST = 10 /* maximum cost of a generated edge, as in Rodinia's generator */
};

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    FILE *file;
    const char *path;
    int64_t line;
};

static int wrong(const struct reader *reader, const char *what)
{
    fprintf(stderr, "bfs: %s:%lld: %s\n", reader->path, (long long)reader->line, what);
    return -1;
}

/* Reports wrong input: a read error, the end of the file, or a text that is not @what. */
static int wrong_input(const struct reader *reader, const char *what)
{
    char message[160];
    if (ferror(reader->file))
        return wrong(reader, strerror(errno));
    snprintf(message, sizeof message, "%s%s", feof(reader->file) ? "the file ends early: " : "",
             what);
    return wrong(reader, message);
}

static int next_visible(struct reader *reader)
{
    int c;
    while ((c = getc(reader->file)) != EOF && isspace(c))
        reader->line += c == '\n';
    return c;
}

/* Reads a whole number from 0 to @most. @what names the number in errors. */
static int read_number(struct reader *reader, int64_t most, const char *what, int64_t *number)
{
    char message[128];
    int64_t value = 0;
    int c = next_visible(reader), digits = 0;
    snprintf(message, sizeof message, "%s should be a whole number from 0 to %lld", what,
             (long long)most);
    for (; isdigit(c); c = getc(reader->file), digits++) {
        value = 10 * value + (c - '0');
        if (value > most)
            return wrong(reader, message);
    }
    if (digits == 0 || (c != EOF && !isspace(c)))
        return wrong_input(reader, message);
    if (c == '\n')
        reader->line++;
    *number = value;
    return 0;
}

static int read_nodes(struct reader *reader, struct graph *graph)
{
    for (int64_t i = 0; i < graph->nodes; i++) {
        int64_t first = 0, count = 0;
        if (read_number(reader, MOST_EDGES, "a node's first edge", &first) != 0 ||
            read_number(reader, MOST_EDGES, "a node's number of edges", &count) != 0)
            return -1;
        graph->node[i] = (struct node){(int32_t)first, (int32_t)count};
    }
    return 0;
}

static int read_edges(struct reader *reader, struct graph *graph)
{
    for (int64_t i = 0; i < graph->edges; i++) {
        int64_t target = 0, cost = 0;
        if (read_number(reader, graph->nodes - 1, "the node that an edge leads to", &target) != 0 ||
            read_number(reader, INT32_MAX, "the cost of an edge", &cost) != 0)
            return -1;
        graph->target[i] = (int32_t)target;
    }
    if (next_visible(reader) != EOF)
        return wrong(reader, "there is more text after the last edge");
    return ferror(reader->file) ? wrong_input(reader, "") : 0;
}

static int check_nodes(const struct reader *reader, const struct graph *graph)
{
    for (int64_t i = 0; i < graph->nodes; i++) {
        int64_t end = (int64_t)graph->node[i].first + graph->node[i].count;
        if (end > graph->edges) {
            fprintf(stderr, "bfs: %s: node %lld has edges up to number %lld, but there are %lld\n",
                    reader->path, (long long)i, (long long)end - 1, (long long)graph->edges);
            return -1;
        }
    }
    return 0;
}

/* Allocates at least one element, so that NULL means out of memory. */
static void *allocate(int64_t count, size_t size)
{
    return malloc((size_t)(count > 0 ? count : 1) * size);
}

static int out_of_memory(const struct graph *graph)
{
    fprintf(stderr, "bfs: out of memory for %lld nodes and %lld edges\n", (long long)graph->nodes,
            (long long)graph->edges);
    return -1;
}

static int read_all(struct reader *reader, struct graph *graph)
{
    if (read_number(reader, MOST_NODES, "the number of nodes", &graph->nodes) != 0)
        return -1;
    if (graph->nodes == 0)
        return wrong(reader, "the graph is without nodes");
    graph->node = allocate(graph->nodes, sizeof *graph->node);
    if (graph->node == NULL)
        return out_of_memory(graph);
    if (read_nodes(reader, graph) != 0 ||
        read_number(reader, graph->nodes - 1, "the source", &graph->source) != 0 ||
        read_number(reader, MOST_EDGES, "the number of edges", &graph->edges) != 0)
        return -1;
    graph->target = allocate(graph->edges, sizeof *graph->target);
    if (graph->target == NULL)
        return out_of_memory(graph);
    return read_edges(reader, graph) != 0 ? -1 : check_nodes(reader, graph);
}

int read_graph(const char *path, struct graph *graph)
{
    struct reader reader = {.file = fopen(path, "r"), .path = path, .line = 1};
    *graph = (struct graph){0};
    if (reader.file == NULL) {
        fprintf(stderr, "bfs: %s: %s\n", path, strerror(errno));
        return -1;
    }
    int result = read_all(&reader, graph);
    fclose(reader.file);
    if (result != 0)
        free_graph(graph);
    return result;
}

void free_graph(struct graph *graph)
{
    free(graph->node);
    free(graph->target);
    *graph = (struct graph){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(FILE *file, const struct graph *graph)
{
    int good = fprintf(file, "%lld\n", (long long)graph->nodes) > 0;
    for (int64_t i = 0; i < graph->nodes && good; i++)
        good = fprintf(file, "%d %d\n", graph->node[i].first, graph->node[i].count) > 0;
    good = good &&
           fprintf(file, "\n%lld\n\n%lld\n", (long long)graph->source, (long long)graph->edges) > 0;
    for (int64_t i = 0; i < graph->edges && good; i++)
        good = fprintf(file, "%d %d\n", graph->target[i], 1 + (int)(i % EDGE_COST_MOST)) > 0;
    return good;
}

int write_graph(const char *path, const struct graph *graph)
{
    FILE *file = fopen(path, "w");
    int good = file != NULL && write_all(file, graph);
    if (file != NULL && fclose(file) != 0)
        good = 0;
    if (!good)
        fprintf(stderr, "bfs: %s: %s\n", path, strerror(errno));
    return good ? 0 : -1;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Rodinia's generator: links each node to two to four random nodes. Calls @link for each end. */
static void for_each_link(const struct graph *graph,
                          void (*link)(const struct graph *graph, int32_t from, int32_t to))
{
    uint64_t random = 2024;
    for (int32_t i = 0; i < graph->nodes; i++)
        for (int32_t links = 2 + (int32_t)(next_random(&random) % 3); links > 0; links--) {
            int32_t other = (int32_t)(next_random(&random) % (uint64_t)graph->nodes);
            link(graph, i, other);
            link(graph, other, i);
        }
}

static void count_link(const struct graph *graph, int32_t from, int32_t to)
{
    (void)to;
    graph->node[from].count++;
}

static void add_link(const struct graph *graph, int32_t from, int32_t to)
{
    struct node *node = &graph->node[from];
    graph->target[node->first + node->count++] = to;
}

int make_graph(struct graph *graph, int64_t nodes)
{
    *graph = (struct graph){.nodes = nodes, .node = calloc((size_t)nodes, sizeof *graph->node)};
    if (graph->node == NULL)
        return out_of_memory(graph);
    for_each_link(graph, count_link);
    for (int64_t i = 0; i < nodes; i++) {
        graph->node[i].first = (int32_t)graph->edges;
        graph->edges += graph->node[i].count;
        graph->node[i].count = 0;
    }
    graph->target = allocate(graph->edges, sizeof *graph->target);
    if (graph->target == NULL)
        return out_of_memory(graph);
    for_each_link(graph, add_link);
    return 0;
}
