/*
 * Lesson 19: packets in queues, for a generator that knows which loops may overlap.
 *
 * The region and its packets are lesson 15's. put_packet() puts a packet into a queue: the columns
 * make a map, and grid and key make a configuration. The program waits only at the region's end.
 *
 * The last loop of a round uses only y, and the first loop of the next round uses only x. These two
 * loops may overlap, so each array has a queue. An event orders the queues if a loop in the queue
 * of y reads x.
 *
 * Run it:  make && $(make -s print-O)/examples/19_queued_packets/19_queued_packets
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>

#include "../axpy_multi/axpy_multi.h"
#include "../common/common.h"

REX_KERNEL_STEM(OUT__1__scale_like__31__);
REX_KERNEL_STEM(OUT__2__axpy_like__38__);
REX_KERNEL_STEM(OUT__3__bias_like__45__);

const char program_name[] = "19_queued_packets";

/* Replaces __tgt_target_kernel(). All memory of the packet's rows is mapped. */
static int put_packet(struct rex_queue *queue, const void *key,
                      const struct __tgt_kernel_arguments *packet)
{
    struct rex_map map = {packet->NumArgs,  packet->ArgsBase,   packet->Args, packet->ArgSizes,
                          packet->ArgTypes, packet->ArgMappers, NULL};
    struct rex_launch_config config =
        rex_launch_config_of(key, packet->Teams[0], packet->Threads[0]);
    config.queue = queue;
    return rex_launch(&config, &map);
}

/*
 * Puts a loop over one array, the kernel of @key, into @queue. The columns and the packet may be
 * local, because rex_launch() reads them before it returns.
 */
static int put_loop(struct rex_queue *queue, const void *key, int64_t n, double a, double *x)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    void *base[] = {packed_n, packed_a, x};
    int64_t sizes[] = {sizeof n, sizeof a, n * (int64_t)sizeof *x};
    int64_t types[] = {288, 288, 32};
    struct __tgt_kernel_arguments packet = {
        3, 3, base, base, sizes, types, 0, 0, n, 0, {(int)((n + 127) / 128), 1, 1}, {128, 1, 1}, 0};
    return put_packet(queue, key, &packet);
}

static int put_axpy(struct rex_queue *queue, int64_t n, double a, double *x, double *y)
{
    void *packed_n = rex_pack_literal_arg_bytes(&n, sizeof n);
    void *packed_a = rex_pack_literal_arg_bytes(&a, sizeof a);
    void *base[] = {packed_n, packed_a, x, y};
    int64_t bytes = n * (int64_t)sizeof *x;
    int64_t sizes[] = {sizeof n, sizeof a, bytes, bytes};
    int64_t types[] = {288, 288, 32, 32};
    struct __tgt_kernel_arguments packet = {
        3, 4, base, base, sizes, types, 0, 0, n, 0, {(int)((n + 127) / 128), 1, 1}, {128, 1, 1}, 0};
    return put_packet(queue, REX_KERNEL_STEM_ID(OUT__2__axpy_like__38__), &packet);
}

/* Puts the launches of all rounds into two queues. */
static int put_rounds(struct rex_queue *of_x, struct rex_queue *of_y, struct rex_event *event,
                      struct vectors v, int rounds)
{
    int failed = 0;
    for (int round = 0; round < rounds && failed == 0; round++) {
        if (round > 0) /* wait until the last round has read x */
            failed |= rex_queue_wait_event(of_x, event);
        failed |= put_loop(of_x, REX_KERNEL_STEM_ID(OUT__1__scale_like__31__), v.count, SCALE, v.x);
        failed |= rex_event_record(event, of_x);
        failed |= rex_queue_wait_event(of_y, event);
        failed |= put_axpy(of_y, v.count, FIRST, v.x, v.y);
        failed |= put_axpy(of_y, v.count, SECOND, v.x, v.y);
        failed |= rex_event_record(event, of_y);
        failed |= put_loop(of_y, REX_KERNEL_STEM_ID(OUT__3__bias_like__45__), v.count, BIAS, v.y);
    }
    return failed;
}

int run_on_device(struct vectors v, struct device_run *run)
{
    struct rex_queue *of_x = NULL, *of_y = NULL;
    struct rex_event *event = NULL;
    int64_t bytes = v.count * (int64_t)sizeof *v.x;
    void *base[] = {v.x, v.y};
    int64_t sizes[] = {bytes, bytes};
    int64_t types[] = {3, 3};
    int failed = rex_queue_create(&of_x, run->device, "x", 0);
    if (failed == 0)
        failed = rex_queue_create(&of_y, run->device, "y", 0);
    if (failed == 0)
        failed = rex_event_create(&event);
    if (failed != 0)
        goto free;
    double began = seconds_now();
    __tgt_target_data_begin(run->device, 2, base, base, sizes, types);
    failed = put_rounds(of_x, of_y, event, v, run->rounds);
    failed |= rex_queue_sync(of_y); /* the queue of y waits for the queue of x */
    __tgt_target_data_end(run->device, 2, base, base, sizes, types);
    run->launches = 4 * run->rounds;
    run->seconds = seconds_now() - began;
    if (failed != 0 && rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
        fprintf(stderr, "%s: there is no device to launch on\n", program_name);
free:
    rex_event_destroy(event);
    rex_queue_destroy(of_y);
    rex_queue_destroy(of_x);
    return failed == 0 ? 0 : -1;
}
