/*
 * capture.h - capture: what is put in a queue is captured into a graph instead of being done.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CAPTURE_H
#define REX_INTERNAL_CAPTURE_H

#include "queue/graph.h"

/*
 * The locked QUEUE begins to be captured in GRAPH. At the end of that all queues that take part,
 * but the one that began, go back to doing what they are given.
 */
void rex_capture_begin(struct rex_graph *graph, struct rex_queue *queue);
void rex_capture_end(struct rex_graph *graph);

/* COMMAND of queue LANE of GRAPH, which is copied, goes into it after it was checked. 0 or an
 * error. */
int rex_capture_add(struct rex_graph *graph, const struct rex_command *command, uint32_t lane);

/* EVENT is recorded in GRAPH, on LANE. 0 or an error. */
int rex_capture_record(struct rex_graph *graph, struct rex_event *event, uint32_t lane);

/*
 * QUEUE, which is locked, waits for EVENT. Where that was recorded in a graph that is still being
 * captured, the wait goes into that graph and QUEUE takes part: true, with 0 or an error in
 * *RESULT. Where it was not: false, with an error in *RESULT if QUEUE is being captured.
 */
bool rex_capture_wait(struct rex_queue *queue, struct rex_event *event, int *result);

/* COMMAND as it would be done now, but for doing it; GRAPH is locked. 0 or an error. */
int rex_capture_check(struct rex_graph *graph, const struct rex_command *command);

/*
 * Put the map of COMMAND, a launch, in memory of its own, to be freed; NULL where there was none
 * left.
 */
void *rex_capture_own_map(struct rex_command *command);

#endif
