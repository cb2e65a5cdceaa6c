/*
 * immediate.c - queues that do everything at once, on a device that is no NVIDIA GPU, and their graphs: every byte, in order, and where they
 * stop. On the host itself, and where offloading is disabled, there is nothing to copy.
 *
 * libomptarget is a fake, whose device memory is the host's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "inqueue.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "queue/queuestate.h"
#include "rex/queue.h"

static char plain_id;
static double table[4];
static struct __tgt_offload_entry entries[] = {{&plain_id, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0},
                                               {table, (char *)(uintptr_t)"table", sizeof table, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entries, .entries_end = entries + 2, .image_name = FAKE("host.so")};

enum { CELLS = 100, ROOM = 3 * 65536 + 64 };
static uint64_t cells[CELLS];
static unsigned char *device;

static struct rex_queue *start(int number)
{
    struct rex_queue *queue = NULL;
    use_gpu(0);
    use_release(19);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, number, "at once", 0, NULL), REX_OK);
    CHECK(rex_queue_is_synchronous(queue));
    CHECK((device = rex_device_alloc(ROOM, 0)) != NULL);
    return queue;
}

static void finish(struct rex_queue *queue)
{
    rex_device_free(device, 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* The first SIZE cells are mapped, to the beginning of the device's memory. */
static void map_cells(size_t count)
{
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, count * sizeof *cells, (uintptr_t)device};
}

static int put_plain(struct rex_queue *queue, uint64_t value, uint64_t *out)
{
    struct rex_launch_config launch = {.key = &plain_id, .device = -1, .teams = {2, 3, 5}, .threads = {7, 11, 13}};
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(out, 1));
    return launch_module_in(queue, &module, &launch, &args);
}

static uint32_t launches(void)
{
    return the_record()->counts[FAKE_KERNEL];
}

/* ---- fills and copies ---------------------------------------------------------------------------------------------------------------- */

static void check_filled(struct rex_queue *queue, size_t width, size_t size)
{
    static const unsigned char pattern[] = {0xa1, 0xb2, 0xc3, 0xd4};
    memset(device, 0x11, ROOM);
    CHECK_EQUAL(rex_queue_fill(queue, device + 16, pattern, width, size), REX_OK);
    for (size_t i = 0; i < ROOM; i++)
        CHECK_EQUAL(device[i], i < 16 || i - 16 >= size ? 0x11 : pattern[i % width]);
}

TEST_IN_CHILD(fill)
{
    static const size_t units[] = {0, 4, 65532, 65536, 65540, 2 * 65536, 2 * 65536 + 12};
    struct rex_queue *queue = start(0);
    for (size_t width = 1; width <= 4; width *= 2)
        for (size_t i = 0; i < COUNT(units); i++)
            check_filled(queue, width, units[i] + (units[i] > 0 ? width : 0) * (4 / width - 1));
    uint32_t touches = the_record()->touches;
    CHECK_EQUAL(rex_queue_fill(queue, device, "", 1, 2 * 65536 + 1), REX_OK);
    CHECK_EQUAL(the_record()->touches - touches, 3);
    finish(queue);
}

static void see(void *argument)
{
    *(unsigned char *)argument = device[40];
}

TEST_IN_CHILD(copy)
{
    unsigned char bytes[100], seen = 0;
    struct rex_queue *queue = start(0);
    uint64_t *part = cells + 5;
    REX_MAP(there, REX_TO(part, 7));
    REX_MAP(back, REX_FROM(part, 7));
    memset(device, 0x11, ROOM);
    memset(bytes, 0x22, sizeof bytes);
    CHECK_EQUAL(rex_queue_copy_to(queue, device + 3, bytes, 60), REX_OK);
    CHECK(device[2] == 0x11 && device[3] == 0x22 && device[62] == 0x22 && device[63] == 0x11);
    CHECK_EQUAL(rex_queue_copy_from(queue, bytes + 10, device + 1, 2), REX_OK);
    CHECK(bytes[9] == 0x22 && bytes[10] == 0x11 && bytes[11] == 0x11 && bytes[12] == 0x22);
    map_cells(CELLS);
    memset(cells, 0x33, sizeof cells);
    CHECK_EQUAL(rex_queue_update(queue, &there), REX_OK);
    CHECK(device[39] == 0x22 && device[40] == 0x33 && device[95] == 0x33 && device[96] == 0x11);
    CHECK_EQUAL(rex_queue_host_func(queue, see, &seen), REX_OK);
    CHECK_EQUAL(seen, 0x33);
    memset(device, 0x44, ROOM);
    CHECK_EQUAL(rex_queue_update(queue, &back), REX_OK);
    CHECK(cells[4] == 0x3333333333333333 && cells[5] == 0x4444444444444444 && cells[11] == cells[5] && cells[12] == cells[4]);
    CHECK(rex_queue_query(queue) == 1 && rex_queue_sync(queue) == REX_OK);
    /* What a row only spans is not copied, and need not be mapped whole. */
    REX_MAP(member, rex_row_of(cells, cells, sizeof cells, 0), rex_row_member(REX_TO(part, 1), 0));
    map_cells(10);
    memset(device, 0x55, ROOM);
    CHECK_EQUAL(rex_queue_update(queue, &member), REX_OK);
    CHECK(device[39] == 0x55 && device[40] == 0x44 && device[48] == 0x55);
    finish(queue);
}

TEST_IN_CHILD(launch)
{
    struct rex_queue *queue = start(0);
    map_cells(CELLS);
    CHECK_EQUAL(put_plain(queue, 17, cells + 3), REX_OK);
    const struct fake_call *call = last_call(FAKE_KERNEL);
    CHECK(call->device == 0 && call->key != NULL && call->base[0] == (void *)17 && call->begin[1] == cells + 3);
    CHECK(call->packet.teams[0] == 2 && call->packet.teams[1] == 3 && call->packet.teams[2] == 5);
    CHECK(call->packet.threads[0] == 7 && call->packet.threads[1] == 11 && call->packet.threads[2] == 13);
    REFUSED(put_plain(queue, 17, cells + CELLS), REX_EABSENT,
            "kernel \"plain__kernel__\": map row 1, 8 bytes at %p, is not mapped on device 0: a queue maps nothing for a launch"
            "; row 1 is REX_ALLOC(out, 1)",
            (void *)(cells + CELLS));
    CHECK_EQUAL(launches(), 1);
    finish(queue);
}

/* Where a global is libomptarget knows. */
TEST_IN_CHILD(ask_for_global)
{
    struct rex_queue *queue = start(0);
    NO_ADDRESS(rex_module_queue_global(&module, queue, table), REX_EABSENT,
               "rex_queue_global: global \"table\" is not on device 0 yet");
    the_record()->mappings[1] = (struct fake_mapping){(uintptr_t)table, sizeof table, 0x10000000};
    CHECK(rex_module_queue_global(&module, queue, table) == (void *)0x10000000);
    finish(queue);
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------------------- */

static void count_call(void *argument)
{
    ++*(int *)argument;
}

/* What is captured is done when the graph is launched, each time, and no further than to what fails. */
TEST_IN_CHILD(replay)
{
    struct rex_graph *graph = NULL;
    static const uint64_t other = 5;
    int calls = 0;
    struct rex_queue *queue = start(0);
    REX_MAP(there, REX_TO(cells, 2));
    REX_MAP(changed, REX_VALUE(other), REX_ALLOC(cells + 1, 1));
    REX_MAP(outside, REX_VALUE(other), REX_ALLOC(cells + CELLS, 1));
    map_cells(CELLS);
    memset(device, 0, ROOM);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(put_plain(queue, 3, cells), REX_OK);
    REFUSED(put_plain(queue, 4, cells + CELLS), REX_EABSENT,
            "kernel \"plain__kernel__\": map row 1, 8 bytes at %p, is not mapped on device 0: a queue maps nothing for a launch"
            "; row 1 is REX_ALLOC(out, 1)",
            (void *)(cells + CELLS));
    CHECK_EQUAL(rex_queue_update(queue, &there), REX_OK);
    CHECK_EQUAL(rex_queue_host_func(queue, count_call, &calls), REX_OK);
    CHECK_EQUAL(put_plain(queue, 4, cells), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK(rex_graph_launches(graph) == 2 && launches() == 0 && calls == 0 && device[0] == 0);
    cells[0] = cells[1] = 0x5555555555555555;
    for (int i = 1; i <= 2; i++) {
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
        CHECK(launches() == 2 * (uint32_t)i && calls == i && device[0] == 0x55 && device[15] == 0x55 && device[16] == 0);
        CHECK_EQUAL((uintptr_t)last_call(FAKE_KERNEL)->base[0], 4);
    }
    REFUSED(rex_graph_set_args(graph, 1, &outside), REX_EABSENT,
            "kernel \"plain__kernel__\": map row 1, 8 bytes at %p, is not mapped on device 0: a queue maps nothing for a launch"
            "; row 1 is REX_ALLOC(cells + CELLS, 1)",
            (void *)(cells + CELLS));
    CHECK_EQUAL(rex_graph_set_args(graph, 1, &changed), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK(last_call(FAKE_KERNEL)->base[0] == (void *)5 && last_call(FAKE_KERNEL)->begin[1] == cells + 1);
    map_cells(1);
    rex_mappings_changed();
    REFUSED(rex_graph_launch(graph, queue), REX_EABSENT, "queue update: 16 bytes at %p are not mapped whole on device 0", (void *)cells);
    CHECK(launches() == 7 && calls == 3);
    rex_graph_destroy(graph);
    finish(queue);
}

/* ---- nothing to copy ----------------------------------------------------------------------------------------------------------------- */

/* On the host what is mapped is the host's memory; where offloading is disabled nothing is mapped. */
TEST_OF_EACH(update_nothing, const char *, disabled, NULL, "")
{
    struct rex_queue *queue = NULL;
    struct rex_graph *graph = NULL;
    use_gpu(0);
    use_release(19);
    if (disabled != NULL)
        setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, disabled != NULL ? -1 : 1, "host", 0, NULL), REX_OK);
    REX_MAP(both, REX_TO(cells, 2), REX_FROM(cells + 2, 2));
    uint32_t touches = the_record()->touches;
    CHECK_EQUAL(rex_queue_update(queue, &both), REX_OK);
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(rex_queue_update(queue, &both), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(the_record()->touches, touches);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

/* That queues are immediate is said once, and of which device. */
static void say_once(const void *unused)
{
    (void)unused;
    struct rex_queue *queue[3];
    use_gpu(0);
    use_release(19);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_module_queue_create(&queue[i], &module, i % 2, NULL, 0, NULL), REX_OK);
    CHECK(strcmp(queue[0]->name, "queue 1") == 0 && strcmp(queue[2]->name, "queue 3") == 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_queue_destroy(queue[i]), REX_OK);
}

TEST(test_nothing)
{
    const char *output = in_child(say_once, NULL);
    assert_int_equal(occurrences(output, "queues do everything at once: device 0 is no NVIDIA GPU\n"), 1);
    assert_int_equal(occurrences(output, "queues do everything"), 1);
}
