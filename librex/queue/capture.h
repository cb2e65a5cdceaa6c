/*
 * capture.h - capture: commands go into a graph instead of a stream.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CAPTURE_H
#define REX_INTERNAL_CAPTURE_H

#include "queue/graph.h"

/*
 * Begin the capture of the locked QUEUE in GRAPH. The end takes all queues out of the capture
 * except the one that began it.
 */
void rex_capture_begin(struct rex_graph *graph, struct rex_queue *queue);
void rex_capture_end(struct rex_graph *graph);

/* Check COMMAND and add a copy of it to GRAPH, for its queue LANE. Returns 0 or an error. */
int rex_capture_add(struct rex_graph *graph, const struct rex_command *command, uint32_t lane);

/* Record EVENT in GRAPH, on LANE. Returns 0 or an error. */
int rex_capture_record(struct rex_graph *graph, struct rex_event *event, uint32_t lane);

/*
 * The locked QUEUE waits for EVENT. True if EVENT was recorded in a graph whose capture goes on.
 * Then the wait goes into that graph, QUEUE takes part, and *RESULT is 0 or an error. Otherwise
 * false, with an error in *RESULT if QUEUE is being captured.
 */
bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result);

/* Make the checks of COMMAND without doing it; GRAPH is locked. Returns 0 or an error. */
int rex_capture_check(struct rex_graph *graph, const struct rex_command *command);

/* Copies the map of COMMAND, a launch, to memory that the caller frees. Returns 0 or an error. */
int rex_capture_own_map(struct rex_command *command, void **copy);

#endif
