/*
 * Several devices at once: libomptarget's host device is four of them, and a machine may have
 * several GPUs. Each device has memory, queues and graphs of its own; events order work across
 * them. Where there is one GPU, it is all of them, and on the host's devices nothing is ever
 * unfinished.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/interop.h"
#include "runtime/checks.h"

REX_KERNEL(follow);
REX_KERNEL(slow);

enum { VALUES = 500, STEPS = 100, MOST_DEVICES = 16 };

static int devices, steps;
static int64_t addend[STEPS]; /* each device's copy is another, */
static int64_t own_addend[MOST_DEVICES][STEPS]; /* or an array of its own */
static int64_t value[MOST_DEVICES][VALUES];
static struct rex_queue *queue[MOST_DEVICES];

static void start(void)
{
    OK(rex_offload_init());
    devices = rex_device_count() < MOST_DEVICES ? rex_device_count() : MOST_DEVICES;
    steps = rounds_of(STEPS);
    assert_true(devices > 0);
}

static void make_queues(void)
{
    for (int device = 0; device < devices; device++) {
        char name[32];
        snprintf(name, sizeof name, "of device %d", device);
        OK(rex_queue_create(&queue[device], device, name, 0));
        assert_int_equal(rex_queue_device(queue[device]), device);
    }
}

static void destroy_queues(void)
{
    for (int device = 0; device < devices; device++)
        OK(rex_queue_destroy(queue[device]));
}

/* ---- the same array on every device, and one of its own -------------------------------------- */

static int64_t followed(int64_t began, int device, int launches)
{
    for (int64_t step = 0; step < launches; step++)
        began = (3 * began + 10 * step + device) % 1000003;
    return began;
}

static void fill(int device, int64_t *added)
{
    for (int64_t step = 0; step < STEPS; step++)
        added[step] = 10 * step + device;
    for (int i = 0; i < VALUES; i++)
        value[device][i] = i;
}

static void map_on(int device)
{
    int64_t *own = value[device];
    fill(device, addend);
    REX_MAP(region, REX_TO(addend, STEPS), REX_TOFROM(own, VALUES));
    OK(rex_data_enter(device, &region));
}

static void unmap_from(int device)
{
    int64_t *own = value[device];
    REX_MAP(region, REX_TO(addend, STEPS), REX_TOFROM(own, VALUES));
    OK(rex_data_exit(device, &region));
}

/* Every array is where it was mapped, and nowhere else. */
static void check_places(void)
{
    for (int on = 0; on < devices; on++)
        for (int of = 0; of < devices; of++)
            assert_int_equal(rex_target_is_present(value[of], sizeof value[of], on), on == of);
    for (int on = 1; on < devices; on++)
        assert_ptr_not_equal(rex_mapped_ptr(addend, on), rex_mapped_ptr(addend, on - 1));
}

static void check_values(int launches)
{
    for (int device = 0; device < devices; device++)
        for (int i = 0; i < VALUES; i++)
            assert_int_equal(value[device][i], followed(i, device, launches));
}

/* With a queue through it, else waited for; NUMBER is DEVICE, or -1 for the default one. */
static int put_follow(int number, int device, struct rex_queue *to, int64_t step, int64_t *added)
{
    int64_t n = VALUES, *own = value[device];
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(follow), 4, 128);
    launch.device = number;
    REX_MAP(args, REX_VALUE(n), REX_VALUE(step), REX_TO(added, STEPS), REX_TOFROM(own, VALUES));
    return to != NULL ? launch_in(to, &launch, &args) : rex_launch(&launch, &args);
}

static void record_in_turn(void)
{
    struct rex_graph *graph[MOST_DEVICES];
    for (int device = 0; device < devices; device++)
        map_on(device);
    check_places();
    for (int device = 0; device < devices; device++) {
        OK(rex_graph_begin(queue[device]));
        for (int64_t step = 0; step < steps; step++)
            OK(put_follow(device, device, queue[device], step, addend));
        OK(rex_graph_end(&graph[device], queue[device]));
    }
    for (int device = 0; device < devices; device++)
        OK(rex_graph_launch(graph[device], queue[device]));
    if (devices > 1)
        FAILS(rex_graph_launch(graph[1], queue[0]), REX_EINVAL, "the graph of device 1");
    for (int device = 0; device < devices; device++) {
        OK(rex_queue_sync(queue[device]));
        rex_graph_destroy(graph[device]);
        unmap_from(device);
    }
}

/* Each thread maps what is its device's, works on it and ends the mapping, beside the others. */
static void *map_and_launch(void *number)
{
    int device = (int)(intptr_t)number;
    int64_t *own = value[device], *added = own_addend[device];
    fill(device, added);
    REX_MAP(region, REX_TO(added, STEPS), REX_TOFROM(own, VALUES));
    int result = rex_data_enter(device, &region);
    for (int64_t step = 0; step < steps && result == REX_OK; step++) {
        result = put_follow(device, device, step % 2 == 0 ? queue[device] : NULL, step, added);
        result = result == REX_OK ? rex_queue_sync(queue[device]) : result;
    }
    if (result == REX_OK)
        result = rex_data_exit(device, &region);
    if (result != REX_OK)
        fprintf(stderr, "device %d: %s\n", device, rex_last_error());
    return result == REX_OK ? NULL : own;
}

/* In queues and in graphs, and by threads. */
TEST(in_turn)
{
    start();
    printf("%d devices\n", devices);
    make_queues();
    record_in_turn();
    check_values(steps);
    run_threads(devices, map_and_launch);
    check_values(steps);
    destroy_queues();
}

/* The device that -1 stands for is the thread's own, and a queue keeps the one that it was made for. */
TEST(default_device)
{
    void (*set_default_device)(int device);
    start();
    find(dlopen(NULL, RTLD_NOW), "omp_set_default_device", &set_default_device);
    for (int device = devices - 1; device >= 0; device--) {
        struct rex_queue *made;
        set_default_device(device);
        OK(rex_queue_create(&made, -1, NULL, 0));
        assert_int_equal(rex_queue_device(made), device);
        OK(rex_queue_destroy(made));
        map_on(device);
        for (int64_t step = 0; step < steps; step++)
            OK(put_follow(-1, device, NULL, step, addend));
        unmap_from(device);
    }
    check_values(steps);
}

/* ---- from device to device ------------------------------------------------------------------- */

static int64_t slowed(int64_t began, int64_t turns, int times)
{
    for (int i = 0; i < times; i++)
        for (int64_t turn = 0; turn < turns; turn++)
            began = (3 * began + turn) % 1000003;
    return began;
}

/* An array goes from device to device, and a kernel changes it on each: the queues know of each other by events alone. With one device it
 * goes between two places of that. */
TEST(copies)
{
    enum { ROUNDS = 5, TURNS = 20000, BYTES = 1 << 20 };
    struct rex_event *event[MOST_DEVICES];
    int64_t *memory[MOST_DEVICES + 1], back = 0, first = 7, turns = TURNS;
    int rounds = rounds_of(ROUNDS), places;
    start();
    make_queues();
    places = devices > 1 ? devices : 2;
    for (int i = 0; i < places; i++)
        assert_non_null(memory[i] = rex_device_alloc(BYTES, i % devices));
    for (int i = 0; i < devices; i++)
        OK(rex_event_create(&event[i]));
    OK(rex_queue_copy_to(queue[0], memory[0], &first, sizeof first));
    OK(rex_queue_copy_to(queue[0], memory[0] + BYTES / 8 - 1, &first, sizeof first));
    for (int i = 0; i < rounds * places; i++) {
        int device = i % places % devices, next = (i + 1) % places;
        struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(slow), 1, 1);
        REX_MAP(args, REX_VALUE(turns), REX_IS_DEVICE_PTR(memory[i % places]));
        launch.device = device;
        OK(launch_in(queue[device], &launch, &args));
        OK(rex_queue_copy_peer(queue[device], memory[next], next % devices, memory[i % places], device, BYTES));
        OK(rex_event_record(event[device], queue[device]));
        OK(rex_queue_wait_event(queue[next % devices], event[device]));
    }
    OK(rex_queue_copy_from(queue[0], &back, memory[0], sizeof back));
    OK(rex_queue_sync(queue[0]));
    assert_int_equal(back, slowed(7, TURNS, rounds * places));
    OK(rex_device_copy_peer(memory[1], 1 % devices, memory[0], 0, BYTES));
    OK(rex_device_copy_from(&back, memory[1], sizeof back, 1 % devices));
    assert_int_equal(back, slowed(7, TURNS, rounds * places));
    OK(rex_device_copy_from(&back, memory[1] + BYTES / 8 - 1, sizeof back, 1 % devices));
    assert_int_equal(back, 7);
    double seconds;
    if (devices > 1)
        FAILS(rex_event_elapsed(&seconds, event[0], event[1]), REX_EINVAL, "device");
    for (int i = 0; i < devices; i++)
        rex_event_destroy(event[i]);
    destroy_queues();
    for (int i = 0; i < places; i++)
        rex_device_free(memory[i], i % devices);
}
