/*
 * Queues: results and order, what must be mapped, copies, events, calls, ends that come too early, threads, errors.
 *
 * On the host device all is done at once, and the same assertions hold but for those about work that is not finished.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>

#include <rex/interop.h>

#include "steps.h"

REX_KERNEL(follow);
REX_KERNEL(axpy);
REX_KERNEL(add_env);
REX_KERNEL(section);
REX_KERNEL(in_struct);
REX_KERNEL(narrow);
REX_KERNEL(hold);
REX_KERNEL(meet);
REX_KERNEL(fault);

enum { STEPS = 300 };

struct rex_queue *new_queue(const char *name, unsigned flags)
{
    struct rex_queue *queue = NULL;
    OK(rex_queue_create(&queue, -1, name, flags));
    assert_non_null(queue);
    assert_int_equal(rex_queue_is_synchronous(queue), !gpu_present());
    return queue;
}

static struct rex_launch_config launch_of(const void *key)
{
    return rex_launch_config_of(key, 8, 128);
}

/* ---- launches -------------------------------------------------------------------------------- */

int put_follow(struct rex_queue *queue, int64_t *value, int64_t n, int64_t addend)
{
    struct rex_launch_config launch = launch_of(REX_KERNEL_ID(follow));
    REX_MAP(args, REX_VALUE(n), REX_VALUE(addend), REX_TOFROM(value, n));
    return launch_in(queue, &launch, &args);
}

int64_t followed(int64_t value, int steps)
{
    for (int64_t i = 0; i < steps; i++)
        value = (3 * value + i) % 1000003;
    return value;
}

static void put_all(struct rex_queue *queue, int64_t *value, int steps)
{
    for (int64_t i = 0; i < steps; i++)
        OK(put_follow(queue, value, VALUES, i));
}

struct rex_graph *record(struct rex_queue *queue, int64_t *value, int launches)
{
    struct rex_graph *graph = NULL;
    OK(rex_graph_begin(queue));
    put_all(queue, value, launches);
    OK(rex_graph_end(&graph, queue));
    assert_int_equal(rex_graph_launches(graph), launches);
    return graph;
}

static void check_followed(const int64_t *value, int64_t began, int steps)
{
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(value[i], followed(began + i, steps));
}

static void fill_in(int64_t *value, int64_t began)
{
    for (int i = 0; i < VALUES; i++)
        value[i] = began + i;
}

/* In order, with the values that each launch was given, whatever becomes of the variables afterwards. */
TEST(in_order)
{
    static int64_t value[VALUES];
    static const unsigned flags[] = {0, REX_QUEUE_NO_CACHE, REX_QUEUE_BLOCKING};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct rex_queue *queue = new_queue("order", flags[i]);
        fill_in(value, 11);
        REX_MAP(region, REX_TOFROM(value, VALUES));
        REX_DATA_REGION_MAP(NULL, -1, region) {
            put_all(queue, value, rounds_of(STEPS));
            OK(rex_queue_sync(queue));
            assert_int_equal(rex_queue_query(queue), 1);
        }
        check_followed(value, 11, rounds_of(STEPS));
        OK(rex_queue_destroy(queue));
    }
}

/* Plain and env kernels, sections whose base lies before them, structs with pointers. */
TEST(arguments)
{
    static int64_t value[VALUES];
    static double x[VALUES], y[VALUES];
    static int32_t pointee[100];
    struct pair {
        int64_t first;
        int32_t *second;
    } pair = {100, pointee};
    int64_t n = VALUES, lower = 300, length = 50, addend = -4;
    int32_t number = -7;
    float half = 2.5f;
    double a = 0.5, sum = 0;
    struct rex_queue *queue = new_queue(NULL, 0);
    for (int i = 0; i < VALUES; i++)
        x[i] = i;
    REX_MAP(region, REX_TOFROM(value, VALUES), REX_TO(x, VALUES), REX_TOFROM(y, VALUES),
            REX_TOFROM(&sum, 1));
    REX_MAP(structure, REX_STRUCT(pair, first, second), REX_MEMBER(0, REX_MAP_TO, pair, first),
                 REX_MEMBER_POINTER(0, REX_MAP_TOFROM, pair, second, 0, 100));
    REX_DATA_REGION_MAP(NULL, -1, region)
        REX_DATA_REGION_MAP(NULL, -1, structure) {
            struct rex_launch_config env = launch_of(REX_KERNEL_ID(add_env)), axpy = launch_of(REX_KERNEL_ID(axpy));
            struct rex_launch_config section = launch_of(REX_KERNEL_ID(section)), in_struct = launch_of(REX_KERNEL_ID(in_struct));
            REX_MAP(env_args, REX_VALUE(n), REX_VALUE(addend), REX_ALLOC(value, VALUES));
            REX_MAP(axpy_args, REX_VALUE(n), REX_VALUE(a), REX_ALLOC(x, VALUES), REX_ALLOC(y, VALUES));
            REX_MAP(section_args, REX_VALUE(lower), REX_VALUE(length), REX_SECTION(REX_MAP_ALLOC, value, lower, length));
            env.threads[0] = 100000;
            if (gpu_present()) /* the queue works on */
                FAILS(launch_in(queue, &env, &env_args), REX_ECUDA, "100000 x 1 x 1 threads");
            env.threads[0] = 128;
            OK(launch_in(queue, &env, &env_args));
            OK(launch_in(queue, &section, &section_args));
            OK(launch_in(queue, &axpy, &axpy_args));
            OK(launch_in(queue, &axpy, &axpy_args));
            OK(launch_in(queue, &in_struct, &structure));
            struct rex_launch_config narrow = rex_launch_config_of(REX_KERNEL_ID(narrow), 1, 1);
            REX_MAP(narrow_args, REX_ALLOC(&sum, 1), REX_VALUE(number), REX_VALUE(half),
                    REX_VALUE(a));
            OK(launch_in(queue, &narrow, &narrow_args));
            OK(rex_queue_sync(queue));
        }
    for (int i = 0; i < VALUES; i++) {
        assert_int_equal(value[i], i >= 300 && i < 350 ? 7 : -4);
        assert_true(y[i] == (double)i);
    }
    assert_true(sum == -4.0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(pointee[i], 5);
    OK(rex_queue_destroy(queue));
}

/* ---- what must be mapped --------------------------------------------------------------------- */

/* Mappings are made and ended by raw calls, which generated code makes; the second time memory lies elsewhere
 * on the device. runtime/present ends mappings in the other ways. */
TEST(mapped_by_raw_calls)
{
    static int64_t value[VALUES], filler[VALUES];
    struct rex_queue *queue = new_queue("raw", 0);
    void *base[] = {value, filler};
    int64_t sizes[] = {sizeof value, sizeof filler}, types[] = {TOFROM, TOFROM};
    for (int i = 0; i < 4; i++) {
        fill_in(value, i);
        __rex_real___tgt_target_data_begin(-1, 1, base, base, sizes, types);
        put_all(queue, value, 5);
        OK(rex_queue_sync(queue));
        __rex_real___tgt_target_data_end(-1, 1, base, base, sizes, types);
        check_followed(value, i, 5);
        if (i == 1) /* stays mapped, most likely where `value` was */
            __rex_real___tgt_target_data_begin(-1, 1, base + 1, base + 1, sizes, types);
        FAILS(put_follow(queue, value, VALUES, 1), REX_EABSENT, "not mapped");
    }
    OK(rex_queue_destroy(queue));
}

/* The same with libomptarget in front of librex, which then sees no raw call and may remember nothing. */
TEST(libomptarget_in_front)
{
    const char *library = getenv("REX_OMPTARGET"), *release = getenv("REX_TEST_RELEASE");
    if (library == NULL || release == NULL || atoi(release) < 19)
        return; /* older ones cannot be loaded without libomp before them */
    setenv("LD_PRELOAD", library, 1);
    assert_int_equal(run_self("mapped_by_raw_calls"), 0);
    unsetenv("LD_PRELOAD");
}

static int call_omp(bool seen, const char *name, const void *host, const void *device, size_t size, int number)
{
    int (*call)(const void *a, const void *b, size_t c, size_t d, int e), (*short_call)(const void *a, int b);
    void *address = dlsym(seen ? RTLD_DEFAULT : dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD), name);
    assert_non_null(address);
    memcpy(&call, &address, sizeof call);
    memcpy(&short_call, &address, sizeof short_call);
    return device != NULL ? call(host, device, size, 0, number) : short_call(host, number);
}

/*
 * Memory that the program itself associates, first with one block of the device, then with another,
 * by functions that come through librex or not: then librex has to be told, unless the queue
 * remembers nothing.
 */
TEST(associated)
{
    static int64_t value[VALUES], seen[VALUES];
    struct rex_queue *queues[] = {new_queue("associated", 0),
                                  new_queue("fresh", REX_QUEUE_NO_CACHE)};
    struct rex_graph *graph = NULL; /* of the second */
    int number = rex_queue_device(queues[0]);
    OK(rex_offload_init());
    for (int i = 0; i < 8; i++) {
        bool is_seen = i < 4 && i % 2 == 0;
        struct rex_queue *queue = queues[i / 4];
        void *block = rex_device_alloc(sizeof value, number);
        assert_non_null(block);
        fill_in(value, i);
        OK(rex_queue_copy_to(queue, block, value, sizeof value));
        assert_int_equal(call_omp(is_seen, "omp_target_associate_ptr", value, block, sizeof value, number), 0);
        if (i == 4)
            OK(rex_graph_begin(queue));
        if (i <= 4)
            put_all(queue, value, 4);
        if (i == 4)
            OK(rex_graph_end(&graph, queue));
        if (i >= 4)
            OK(rex_graph_launch(graph, queue));
        OK(rex_queue_copy_from(queue, seen, block, sizeof seen));
        OK(rex_queue_sync(queue));
        check_followed(seen, i, 4);
        assert_int_equal(call_omp(is_seen, "omp_target_disassociate_ptr", value, NULL, 0, number), 0);
        if (!is_seen && i < 4)
            rex_mappings_changed(); /* the block is not freed: the next one is another */
    }
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queues[0]));
    OK(rex_queue_destroy(queues[1]));
}

/* ---- where nothing is launched --------------------------------------------------------------- */

/* Nothing is launched, and there is nothing to copy: on the host what is mapped is the host's
 * memory. */
static void use_nothing(int device)
{
    static int64_t value[VALUES];
    struct rex_queue *queue = NULL;
    struct rex_graph *graph = NULL;
    OK(rex_queue_create(&queue, device, "nothing", 0));
    assert_true(rex_queue_is_synchronous(queue));
    REX_MAP(update, REX_TO(value, VALUES));
    assert_int_equal(put_follow(queue, value, VALUES, 1), REX_EHOST);
    OK(rex_queue_update(queue, &update));
    OK(rex_graph_begin(queue));
    OK(rex_queue_update(queue, &update));
    OK(rex_graph_end(&graph, queue));
    OK(rex_graph_launch(graph, queue));
    OK(rex_queue_sync(queue));
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
}

/* The host itself is a device number, too. */
TEST(on_the_host)
{
    OK(rex_offload_init());
    use_nothing(rex_device_count());
}

TEST(disabled)
{
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    use_nothing(-1);
}

static void count_said(enum rex_log_level level, const char *message, void *times)
{
    (void)level;
    *(int *)times += strstr(message, "have no streams, and each command ends") != NULL;
}

/* The log says at level info that queues have no streams: on the host device, and there once.
 */
TEST(said_once)
{
    int times = 0;
    OK(rex_configure(REX_OPTION_LOG, "info"));
    rex_set_log_callback(count_said, &times);
    for (int i = 0; i < 3; i++)
        OK(rex_queue_destroy(new_queue(NULL, 0)));
    rex_set_log_callback(NULL, NULL);
    assert_int_equal(times, !gpu_present());
}

/* ---- copies ---------------------------------------------------------------------------------- */

TEST(updates)
{
    static int64_t value[VALUES], absent_value[10];
    struct rex_queue *queue = new_queue("updates", 0);
    fill_in(value, 5);
    REX_MAP(region, REX_ALLOC(value, VALUES));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        REX_MAP(to, REX_TO(value, VALUES));
        REX_MAP(from, REX_SECTION(REX_MAP_FROM, value, 100, 50));
        REX_MAP(wrong, REX_FROM(value, VALUES), REX_TO(absent_value, 10));
        REX_MAP(smallest, REX_TO((char *)absent_value, 1));
        OK(rex_queue_update(queue, &to));
        put_all(queue, value, 3);
        FAILS(rex_queue_update(queue, &wrong), REX_EABSENT, "map row 1");
        FAILS(rex_queue_update(queue, &smallest), REX_EABSENT, "map row 0");
        OK(rex_queue_sync(queue));
        assert_int_equal(value[100], 105);
        OK(rex_queue_update(queue, &from));
        OK(rex_queue_sync(queue));
        /* What a row only spans is not copied, nor is nothing: it need not be mapped. */
        REX_MAP(member, rex_row_of(value, value, sizeof value + 8, 0),
                rex_row_member(REX_FROM(value + 150, 1), 0), REX_TO(absent_value, 0));
        OK(rex_queue_update(queue, &member));
        OK(rex_queue_sync(queue));
    }
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(value[i], i >= 100 && i <= 150 ? followed(5 + i, 3) : 5 + i);
    OK(rex_queue_destroy(queue));
}

/* ---- events and calls ------------------------------------------------------------------------ */

struct called {
    const int64_t *value;
    int64_t seen;
    int times;
};

static void look(void *argument)
{
    struct called *called = argument;
    called->seen = *called->value;
    called->times++;
    usleep(1000);
}

/* Two queues in turn on one array, by events alone; then a call that sees what was copied before it. */
TEST(events_and_calls)
{
    static int64_t value[VALUES];
    struct rex_queue *queues[] = {new_queue("even", 0), new_queue("odd", 0)};
    struct rex_event *event = NULL, *last = NULL;
    struct called called = {value, -1, 0};
    double seconds = -1;
    OK(rex_event_create(&event));
    OK(rex_event_create(&last));
    fill_in(value, 2);
    REX_MAP(region, REX_TOFROM(value, VALUES));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        for (int64_t i = 0; i < 50; i++) {
            OK(put_follow(queues[i % 2], value, VALUES, i));
            OK(rex_event_record(event, queues[i % 2]));
            OK(rex_queue_wait_event(queues[(i + 1) % 2], event));
        }
        REX_MAP(from, REX_FROM(value, VALUES));
        OK(rex_queue_update(queues[0], &from));
        OK(rex_queue_host_func(queues[0], look, &called));
        OK(rex_event_record(last, queues[0]));
        OK(rex_event_sync(last));
        assert_int_equal(rex_event_query(last), 1);
        OK(rex_event_elapsed(&seconds, event, last));
        assert_true(seconds >= (gpu_present() ? 0 : 0.001)); /* as long as look() takes */
        OK(rex_queue_sync(queues[0]));
        OK(rex_queue_sync(queues[1]));
    }
    assert_int_equal(called.times, 1);
    assert_int_equal(called.seen, followed(2, 50));
    check_followed(value, 2, 50);
    rex_event_destroy(event);
    rex_event_destroy(last);
    OK(rex_queue_destroy(queues[0]));
    OK(rex_queue_destroy(queues[1]));
}

/* ---- ends that come too early ---------------------------------------------------------------- */

int64_t *hold_queue(struct rex_queue *queue, int64_t *value)
{
    if (!gpu_present())
        return NULL;
    int64_t *release = rex_host_alloc(sizeof *release);
    assert_non_null(release);
    *release = 0;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(hold), 1, 1);
    REX_MAP(args, REX_IS_DEVICE_PTR(release), REX_ALLOC(value, 1));
    REX_MAP(by_address, REX_IS_DEVICE_PTR(release), REX_IS_DEVICE_PTR(value));
    OK(launch_in(queue, &launch, rex_target_is_present(value, 8, -1) ? &args : &by_address));
    return release;
}

static void *release_later(void *argument)
{
    struct timespec moment = {0, 50000000};
    nanosleep(&moment, NULL);
    __atomic_store_n((int64_t *)argument, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* More than the host device fills at a time, and no more than that. */
TEST(much_is_filled)
{
    enum { MUCH = 20000 };
    static uint32_t much[MUCH], pattern = 0x01020304;
    struct rex_queue *queue = new_queue("fill", 0);
    REX_MAP(region, REX_TOFROM(much, MUCH));
    OK(rex_data_enter(-1, &region));
    OK(rex_queue_fill(queue, rex_mapped_ptr(much, -1), &pattern, sizeof pattern, sizeof much - sizeof pattern));
    OK(rex_queue_fill(queue, rex_mapped_ptr(much, -1), &pattern, 2, sizeof *much));
    OK(rex_queue_destroy(queue));
    OK(rex_data_exit(-1, &region));
    for (int i = 0; i < MUCH; i++)
        assert_int_equal(much[i], i == 0 ? 0x03040304 : i < MUCH - 1 ? pattern : 0);
}

/* Ends the region under the queue's feet in each way that there is. */
TEST(busy_end, .gpu = ON_GPU)
{
    static int64_t value[VALUES], other[VALUES], filled[VALUES], copied[VALUES], replayed[VALUES];
    struct rex_queue *queue = new_queue("long one", 0);
    struct rex_event *event;
    struct rex_graph *graph;
    REX_MAP(region, REX_TOFROM(value, VALUES));
    REX_MAP(apart, REX_TOFROM(other, VALUES));
    REX_MAP(by_fill, REX_TOFROM(filled, VALUES));
    REX_MAP(by_copy, REX_TOFROM(copied, VALUES));
    REX_MAP(by_graph, REX_TOFROM(replayed, VALUES));
    OK(rex_data_enter(-1, &region));
    OK(rex_data_enter(-1, &apart));
    OK(rex_data_enter(-1, &by_fill));
    OK(rex_data_enter(-1, &by_copy));
    OK(rex_data_enter(-1, &by_graph));
    OK(rex_graph_begin(queue));
    OK(rex_queue_fill(queue, rex_mapped_ptr(replayed + 1, -1), "", 1, 8));
    OK(rex_graph_end(&graph, queue));
    int64_t *release = hold_queue(queue, value);
    OK(rex_queue_fill(queue, rex_mapped_ptr(filled + VALUES - 1, -1), "", 1, 8));
    OK(rex_queue_copy_to(queue, rex_mapped_ptr(copied, -1), release, 8)); /* which is pinned */
    OK(rex_graph_launch(graph, queue));
    OK(rex_event_create(&event));
    OK(rex_event_record(event, queue));
    assert_int_equal(rex_event_query(event), 0);
    assert_int_equal(rex_queue_query(queue), 0);
    FAILS(rex_data_exit(-1, &region), REX_EBUSY, "queue \"long one\"");
    FAILS(rex_data_exit(-1, &by_fill), REX_EBUSY, "queue \"long one\"");
    FAILS(rex_data_exit(-1, &by_copy), REX_EBUSY, "queue \"long one\"");
    FAILS(rex_data_exit(-1, &by_graph), REX_EBUSY, "queue \"long one\"");
    FAILS(rex_offload_fini(), REX_EBUSY, "queue \"long one\"");
    OK(rex_data_exit(-1, &apart)); /* which the queue does not use */
    *(volatile int64_t *)release = 1;
    OK(rex_queue_sync(queue));
    assert_int_equal(rex_event_query(event), 1);
    rex_event_destroy(event);
    /* It no longer uses what it did before it was idle; what a graph does that is gone it does. */
    rex_graph_destroy(graph);
    OK(rex_data_enter(-1, &apart));
    OK(rex_graph_begin(queue));
    release = hold_queue(queue, other);
    OK(rex_graph_end(&graph, queue));
    OK(rex_graph_launch(graph, queue));
    rex_graph_destroy(graph);
    OK(rex_data_exit(-1, &by_fill));
    OK(rex_data_exit(-1, &by_copy));
    OK(rex_data_exit(-1, &by_graph));
    OK(rex_data_exit(-1, &region));
    FAILS(rex_data_exit(-1, &apart), REX_EBUSY, "queue \"long one\"");
    FAILS(rex_offload_fini(), REX_EBUSY, "queue \"long one\"");
    *(volatile int64_t *)release = 1;
    OK(rex_queue_sync(queue));
    OK(rex_data_exit(-1, &apart));
    assert_true(value[0] == 1 && other[0] == 1);
    OK(rex_queue_destroy(queue));
    OK(rex_offload_fini());
}

/* A launch ends no mapping that the queue works with, and a row of no memory is not the queue's. */
TEST(busy_launch, .gpu = ON_GPU)
{
    static int64_t value[VALUES];
    struct rex_queue *queue = new_queue("long one", 0);
    struct rex_launch_config launch = launch_of(REX_KERNEL_ID(follow));
    REX_MAP(region, REX_TOFROM(value, VALUES));
    REX_MAP(nothing, REX_TO((int64_t *)NULL, 0));
    REX_MAP(args, REX_VALUE((int64_t)VALUES), REX_VALUE(INT64_C(7)), REX_TOFROM(value, VALUES));
    OK(rex_data_enter(-1, &region));
    OK(rex_data_enter(-1, &nothing));
    int64_t *release = hold_queue(queue, value);
    rex_mappings_changed(); /* so libomptarget maps the rows of the launch */
    OK(rex_launch(&launch, &args));
    OK(rex_data_exit(-1, &nothing));
    FAILS(rex_data_exit(-1, &region), REX_EBUSY, "queue \"long one\"");
    *(volatile int64_t *)release = 1;
    OK(rex_queue_sync(queue));
    OK(rex_data_exit(-1, &region));
    assert_true(value[0] == 8 && value[1] == 7);
    OK(rex_queue_destroy(queue));
}

static int waits;

/* What would wait for the end of the module, which waits for the queue, is an error. */
static void count_waits(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    if (strstr(message, context) == NULL || ++waits <= 3)
        return;
    FAILS(rex_module_register(&rex_this_module, default_image().text), REX_EINVAL,
          "is being registered or ended: the log callback cannot use the module");
    FAILS(rex_offload_fini(), REX_EINVAL, "is being registered or ended: the log callback cannot use the module");
}

TEST(busy_end_waits)
{
    static int64_t value[VALUES];
    void *base[] = {value};
    int64_t sizes[] = {sizeof value}, types[] = {TOFROM};
    pthread_t thread;
    struct rex_queue *queue = new_queue("waited for", 0);
    OK(rex_configure(REX_OPTION_UNFINISHED, "wait"));
    OK(rex_configure(REX_OPTION_LOG, "info"));
    rex_set_log_callback(count_waits, (void *)(uintptr_t) "waits for queue \"waited for\"");
    REX_MAP(region, REX_TOFROM(value, VALUES));
    for (int way = 0; way < 3; way++) {
        OK(rex_data_enter(-1, &region));
        void *memory = rex_device_alloc(8, -1);
        int64_t *release = hold_queue(queue, value);
        if (release != NULL)
            assert_int_equal(pthread_create(&thread, NULL, release_later, release), 0);
        switch (way) {
        case 0:
            OK(rex_data_exit(-1, &region));
            break;
        case 1:
            __tgt_target_data_end(-1, 1, base, base, sizes, types);
            break;
        default:
            rex_device_free(memory, -1);
        }
        assert_int_equal(rex_queue_query(queue), 1);
        if (way == 2)
            OK(rex_data_exit(-1, &region));
        if (release != NULL) {
            assert_int_equal(value[0], way + 1);
            assert_int_equal(waits, way + 1);
            assert_int_equal(pthread_join(thread, NULL), 0);
        }
        assert_false(rex_target_is_present(value, sizeof value, -1));
    }
    int64_t *release = hold_queue(queue, rex_device_alloc(8, -1));
    if (release != NULL)
        assert_int_equal(pthread_create(&thread, NULL, release_later, release), 0);
    OK(rex_offload_fini());
    if (release != NULL) {
        assert_int_equal(waits, 4);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    rex_set_log_callback(NULL, NULL);
    OK(rex_queue_destroy(queue));
}

/* The module ends and comes again; a queue and a graph live on. */
TEST(registered_again)
{
    static int64_t value[VALUES];
    struct rex_queue *queue = new_queue("again", 0);
    struct rex_graph *graph = NULL;
    for (int i = 0; i < 3; i++) {
        fill_in(value, i);
        REX_MAP(region, REX_TOFROM(value, VALUES));
        REX_DATA_REGION_MAP(NULL, -1, region) {
            if (graph == NULL)
                graph = record(queue, value, 10);
            put_all(queue, value, 10);
            OK(rex_graph_launch(graph, queue));
            OK(rex_queue_sync(queue));
        }
        assert_int_equal(value[3], followed(followed(i + 3, 10), 10));
        OK(rex_offload_fini());
        OK(rex_offload_init());
    }
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* Each of two kernels waits for what the other one writes: in one queue neither would see it in time. */
TEST(overlap)
{
    enum { APART = 64 };
    static int64_t flag[2 * APART], met[2];
    int64_t patience = 200000000;
    struct rex_queue *queues[] = {new_queue("left", 0), new_queue("right", 0)};
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(meet), 1, 1);
    REX_MAP(region, REX_TOFROM(flag, 2 * APART), REX_TOFROM(met, 2));
    REX_DATA_REGION_MAP(NULL, -1, region)
        for (int side = 0; side < 2; side++) {
            int64_t *mine = flag + side * APART, *theirs = flag + !side * APART, *result = met + side;
            REX_MAP(args, REX_ALLOC(mine, 1), REX_ALLOC(theirs, 1), REX_VALUE(patience), REX_ALLOC(result, 1));
            OK(launch_in(queues[side], &launch, &args));
            if (side == 1) {
                OK(rex_queue_sync(queues[0]));
                OK(rex_queue_sync(queues[1]));
            }
        }
    assert_int_equal(met[1], 1);
    assert_int_equal(met[0], gpu_is_real());
    OK(rex_queue_destroy(queues[0]));
    OK(rex_queue_destroy(queues[1]));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 8 };

static struct rex_queue *shared;

static void *work(void *number)
{
    static int64_t values[THREADS][VALUES];
    int64_t *value = values[(intptr_t)number];
    int wrong = 0, steps = rounds_of(100);
    for (int round = 0; round < 5; round++) {
        fill_in(value, round);
        REX_MAP(region, REX_TOFROM(value, VALUES));
        wrong |= rex_data_enter(-1, &region);
        for (int64_t i = 0; i < steps; i++)
            wrong |= put_follow(shared, value, VALUES, i);
        wrong |= rex_queue_sync(shared);
        wrong |= rex_data_exit(-1, &region);
        for (int i = 0; i < VALUES; i++)
            wrong |= value[i] != followed(round + i, steps);
    }
    return wrong == 0 ? NULL : value;
}

/* Others may still be at work on their own memory when one ends its region. */
TEST(one_queue_for_all_threads)
{
    OK(rex_configure(REX_OPTION_UNFINISHED, "wait"));
    shared = new_queue("shared", 0);
    run_threads(THREADS, work);
    OK(rex_queue_destroy(shared));
}

static int64_t updated[VALUES];

static void *update_or_launch(void *number)
{
    int wrong = 0, steps = rounds_of(1000);
    REX_MAP(there_and_back, REX_TO(updated, VALUES), REX_FROM(updated, VALUES));
    for (int step = 0; step < steps; step++) {
        if ((intptr_t)number > 0) {
            wrong |= put_follow(shared, updated, VALUES, 1);
            continue;
        }
        fill_in(updated, step);
        wrong |= rex_queue_update(shared, &there_and_back);
        for (int i = 0; i < VALUES; i++)
            wrong |= updated[i] != followed(step + i, 0);
    }
    return wrong == 0 ? NULL : updated;
}

/* A thread copies numbers to the device and back, and no launch of the others comes between. */
TEST(one_update_is_one_call)
{
    REX_MAP(region, REX_TO(updated, VALUES));
    shared = new_queue("blocking", REX_QUEUE_BLOCKING);
    OK(rex_data_enter(-1, &region));
    run_threads(4, update_or_launch);
    OK(rex_data_exit(-1, &region));
    OK(rex_queue_destroy(shared));
}

/* ---- the end of the process ------------------------------------------------------------------ */

static struct rex_graph *late;

static void update_late(void)
{
    REX_MAP(from, REX_FROM(updated, VALUES));
    bool right = rex_queue_update(shared, &from) == REX_EINVAL && rex_graph_launch(late, shared) == REX_EINVAL;
    _exit(right ? 0 : 1);
}

/* On the host device, an update that comes too late is an error, and not a copy of nothing. */
TEST(update_at_the_end, .gpu = ON_HOST_DEVICE)
{
    int status = -1;
    REX_MAP(region, REX_TO(updated, VALUES));
    REX_MAP(from, REX_FROM(updated, VALUES));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (atexit(update_late) != 0)
            _exit(2);
        shared = new_queue("late", 0);
        OK(rex_data_enter(-1, &region));
        OK(rex_graph_begin(shared));
        OK(rex_queue_update(shared, &from));
        OK(rex_graph_end(&late, shared));
        OK(rex_graph_launch(late, shared));
        exit(3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- ended objects ---------------------------------------------------------------------------- */

#define HAS_ENDED(call, what) FAILS(call, REX_EINVAL, #what " at 0x")

/* Each call with a queue, event or graph that was destroyed is an error, and the next objects work. */
TEST(destroyed)
{
    static int64_t value[VALUES];
    static const uint32_t pattern = 1;
    double seconds;
    void *stream;
    struct rex_queue *queue = new_queue("lives", 0), *ended = new_queue("ended", 0);
    struct rex_event *event, *ended_event;
    struct rex_graph *made = NULL;
    REX_MAP(region, REX_TOFROM(value, VALUES));
    REX_MAP(args, REX_VALUE((int64_t)VALUES), REX_VALUE(INT64_C(1)), REX_TOFROM(value, VALUES));
    fill_in(value, 0);
    OK(rex_data_enter(-1, &region));
    void *memory = rex_device_alloc(16, -1);
    OK(rex_event_create(&event));
    OK(rex_event_create(&ended_event));
    OK(rex_event_record(event, ended));
    OK(rex_event_record(ended_event, ended));
    struct rex_graph *ended_graph = record(ended, value, 2);
    rex_graph_destroy(ended_graph);
    rex_event_destroy(ended_event);
    OK(rex_queue_destroy(ended));

    HAS_ENDED(put_follow(ended, value, VALUES, 1), queue);
    struct rex_launch_config elsewhere = launch_of(REX_KERNEL_ID(follow));
    elsewhere.device = rex_device_count();
    HAS_ENDED(launch_in(ended, &elsewhere, &args), queue);
    HAS_ENDED(rex_queue_copy_to(ended, memory, value, 8), queue);
    HAS_ENDED(rex_queue_copy_to(ended, NULL, NULL, 0), queue);
    HAS_ENDED(rex_queue_copy_from(ended, value, memory, 8), queue);
    HAS_ENDED(rex_queue_copy_peer(ended, memory, -1, memory, -1, 8), queue);
    HAS_ENDED(rex_queue_fill(ended, memory, &pattern, 4, 8), queue);
    HAS_ENDED(rex_queue_host_func(ended, look, NULL), queue);
    HAS_ENDED(rex_queue_update(ended, &region), queue);
    HAS_ENDED(rex_queue_sync(ended), queue);
    HAS_ENDED(rex_queue_query(ended), queue);
    HAS_ENDED(rex_queue_device(ended), queue);
    HAS_ENDED(rex_queue_is_synchronous(ended) ? REX_OK : rex_last_error_code(), queue);
    HAS_ENDED(rex_queue_stream(ended, &stream, NULL), queue);
    HAS_ENDED(rex_queue_global(ended, value) == NULL ? rex_last_error_code() : REX_OK, queue);
    HAS_ENDED(rex_queue_wait_event(ended, event), queue);
    HAS_ENDED(rex_event_record(event, ended), queue);
    HAS_ENDED(rex_graph_begin(ended), queue);
    HAS_ENDED(rex_graph_end(&made, ended), queue);
    HAS_ENDED(rex_queue_destroy(ended), queue);

    HAS_ENDED(rex_event_record(ended_event, queue), event);
    HAS_ENDED(rex_queue_wait_event(queue, ended_event), event);
    HAS_ENDED(rex_event_sync(ended_event), event);
    HAS_ENDED(rex_event_query(ended_event), event);
    HAS_ENDED(rex_event_elapsed(&seconds, event, ended_event), event);
    HAS_ENDED(rex_event_elapsed(&seconds, ended_event, event), event);
    HAS_ENDED((rex_event_destroy(ended_event), rex_last_error_code()), event);

    HAS_ENDED(rex_graph_launch(ended_graph, queue), graph);
    HAS_ENDED(rex_graph_set_args(ended_graph, 0, &args), graph);
    HAS_ENDED(rex_graph_launches(ended_graph) == 0 ? rex_last_error_code() : REX_OK, graph);
    HAS_ENDED((rex_graph_destroy(ended_graph), rex_last_error_code()), graph);

    OK(rex_event_sync(event)); /* what it stood for has outlived its queue */
    int64_t expected = 1;
    for (int i = 0; i < 100; i++) { /* more than wait for their memory to be used again */
        struct rex_queue *other = new_queue("other", 0);
        assert_ptr_not_equal(other, queue);
        struct rex_graph *graph = record(other, value, 1);
        OK(rex_graph_launch(graph, other));
        expected = 3 * expected % 1000003;
        rex_graph_destroy(graph);
        OK(rex_queue_destroy(other));
        HAS_ENDED(rex_queue_sync(other), queue);
    }
    rex_device_free(memory, -1);
    rex_event_destroy(event);
    OK(rex_queue_destroy(queue));
    OK(rex_data_exit(-1, &region));
    assert_int_equal(value[1], expected);
}

/* ---- errors that come later ------------------------------------------------------------------ */

/* NULL: waited for. */
static int put_fault(struct rex_queue *queue)
{
    int64_t nowhere = 16;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(fault), 1, 1);
    REX_MAP(args, REX_VALUE(nowhere));
    return queue != NULL ? launch_in(queue, &launch, &args) : rex_launch(&launch, &args);
}

/* libomptarget, which would abort, is not asked to do anything on the device; what is mapped can be
 * asked. */
static void check_lost(const struct rex_map *region, void *memory)
{
    struct rex_queue *other = NULL;
    int64_t value = 0;
    FAILS(rex_data_enter(-1, region), REX_ECUDA,
          "data enter: device 0 is lost until the process ends, because queue \"faulty\"");
    FAILS(rex_data_update(-1, region), REX_ECUDA, "is lost");
    FAILS(rex_data_exit(-1, region), REX_ECUDA, "is lost");
    FAILS(rex_offload_fini(), REX_ECUDA, "is lost");
    FAILS(rex_offload_init(), REX_ECUDA, "is lost");
    FAILS(rex_device_alloc(16, -1) == NULL ? REX_ECUDA : REX_OK, REX_ECUDA, "is lost");
    FAILS(rex_device_copy_to(memory, &value, 8, -1), REX_ECUDA, "is lost");
    FAILS(rex_device_copy_from(&value, memory, 8, -1), REX_ECUDA, "is lost");
    FAILS(rex_queue_create(&other, -1, "other", 0), REX_ECUDA, "is lost");
    FAILS(rex_device_gpu(0), REX_ECUDA, "is lost");
    assert_false(rex_target_is_present(&value, 8, -1));
    rex_device_free(memory, -1);
    assert_non_null(strstr(rex_last_error(), "rex_device_free: device 0 is lost"));
}

TEST(fault_later, .gpu = ON_GPU)
{
    static int64_t value[VALUES];
    struct rex_queue *queue = new_queue("faulty", 0);
    REX_MAP(region, REX_TOFROM(value, VALUES));
    OK(rex_data_enter(-1, &region));
    void *memory = rex_device_alloc(16, -1);
    OK(put_follow(queue, value, VALUES, 1));
    OK(put_fault(queue));
    FAILS(rex_queue_sync(queue), REX_ECUDA, "queue \"faulty\": ");
    assert_non_null(strstr(rex_last_error(), "\"fault\""));
    assert_non_null(strstr(rex_last_error(), "\"follow\""));
    FAILS(rex_queue_sync(queue), REX_ECUDA, "queue \"faulty\"");
    FAILS(put_follow(queue, value, VALUES, 1), REX_ECUDA, "queue \"faulty\"");
    FAILS(put_fault(NULL), REX_ECUDA, "\"faulty\"");
    check_lost(&region, memory);
    FAILS(rex_queue_destroy(queue), REX_ECUDA, "\"fault\"");
    check_lost(&region, memory);
    _exit(0); /* what libomptarget does at the end with a context that is lost is its own affair */
}

/* Nobody has waited but for an event, for a graph, or to give memory back: that call finds out. */
static void find_out(int way)
{
    static int64_t value[VALUES];
    static const char *const says[] = {"rex_event_sync: cuEventSynchronize: ",
                                       "rex_device_free: device 0 is lost until the process ends, because queue \"faulty\"",
                                       "kernels that may have failed: \"fault\""};
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    struct rex_queue *queue = new_queue("faulty", 0);
    REX_MAP(region, REX_TOFROM(value, VALUES));
    OK(rex_offload_init());
    OK(rex_event_create(&event));
    void *memory = rex_device_alloc(16, -1);
    if (way == 2)
        OK(rex_graph_begin(queue));
    OK(put_fault(queue));
    if (way == 2) {
        OK(rex_graph_end(&graph, queue));
        OK(rex_graph_launch(graph, queue));
        assert_int_equal(rex_queue_sync(queue), REX_ECUDA);
    } else if (way == 0) {
        if (rex_event_record(event, queue) != REX_OK)
            _exit(0); /* the kernel was faster */
        assert_int_equal(rex_event_sync(event), REX_ECUDA);
        assert_non_null(
            strstr(rex_last_error(), "; kernels that may have failed: \"fault\""));
    } else {
        rex_device_free(memory, -1);
    }
    assert_int_equal(rex_last_error_code(), REX_ECUDA);
    assert_non_null(strstr(rex_last_error(), says[way]));
    check_lost(&region, memory);
    FAILS(put_follow(queue, value, VALUES, 1), REX_ECUDA, "is lost");
    _exit(0);
}

TEST(fault_found_by_event, .gpu = ON_GPU)
{
    find_out(0);
}

TEST(fault_found_by_free, .gpu = ON_GPU)
{
    find_out(1);
}

TEST(fault_in_graph, .gpu = ON_GPU)
{
    find_out(2);
}

TEST(fault_at_once, .gpu = ON_GPU)
{
    struct rex_queue *queue = new_queue("stepwise", REX_QUEUE_BLOCKING);
    FAILS(put_fault(queue), REX_ECUDA, "kernels that may have failed: \"fault\"");
    _exit(0);
}

/* A launch without the queue has found the loss: look-ups for the queue do not abort. */
TEST(fault_beside_queue, .gpu = ON_GPU)
{
    static int64_t value[VALUES], absent[VALUES];
    struct rex_queue *queue = new_queue("beside", 0);
    REX_MAP(region, REX_TOFROM(value, VALUES));
    OK(rex_data_enter(-1, &region));
    const void *device = rex_mapped_ptr(&value[1], -1);
    (void)put_fault(NULL); /* with REX_LAUNCH_BLOCKING=0 the next call finds out */
    FAILS(rex_device_sync(-1), REX_ECUDA, "\"fault\"");
    assert_ptr_equal(rex_mapped_ptr(&value[1], -1), device);
    FAILS(put_follow(queue, absent, VALUES, 1), REX_EABSENT, "not mapped");
    FAILS(put_follow(queue, value, VALUES, 1), REX_ECUDA, "");
    FAILS(rex_queue_update(queue, &region), REX_ECUDA, "");
    _exit(0);
}

TEST(child_of_fork)
{
    static int64_t value[VALUES];
    int status = -1, expected = gpu_present() ? REX_EFORK : REX_OK;
    double seconds;
    struct rex_queue *queue = new_queue("parent's", 0);
    struct rex_event *event;
    struct rex_graph *graph = NULL;
    REX_MAP(region, REX_TOFROM(value, VALUES));
    REX_MAP(args, REX_VALUE((int64_t)VALUES), REX_VALUE(INT64_C(1)), REX_TOFROM(value, VALUES));
    OK(rex_data_enter(-1, &region));
    OK(rex_event_create(&event));
    OK(rex_event_record(event, queue));
    OK(rex_graph_begin(queue));
    OK(put_follow(queue, value, VALUES, 1));
    OK(rex_graph_end(&graph, queue));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int results[] = {rex_queue_sync(queue), rex_graph_launch(graph, queue),
                         rex_event_sync(event), rex_event_elapsed(&seconds, event, event),
                         rex_graph_set_args(graph, 0, &args)};
        for (size_t i = 0; i < sizeof results / sizeof *results; i++)
            if (results[i] != expected)
                _exit(1);
        bool is_named =
            expected == REX_OK || strstr(rex_last_error(), "in this process's parent") != NULL;
        rex_event_destroy(event);
        rex_graph_destroy(graph);
        _exit(is_named && rex_queue_destroy(queue) == REX_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    OK(rex_graph_launch(graph, queue));
    OK(rex_event_sync(event));
    OK(rex_queue_sync(queue));
    OK(rex_data_exit(-1, &region));
    assert_int_equal(value[0], 1);
    rex_event_destroy(event);
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
}
