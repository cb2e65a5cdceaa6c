/*
 * Memory that is present, and launches on it: who launches and why, what waits for what, what is
 * copied and what is refused, and what is left when all is over.
 *
 * On the host device a kernel does not stay, and libomptarget launches: the results are the same.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "calls.h"

#include <sys/syscall.h>

static void start(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS); /* a hang is a failure */
    OK(rex_offload_init());
}

/* ---- beside a kernel ------------------------------------------------------------------------- */

static int64_t flags_of_host[] = {0, 1}, *flags;

static int stays(void)
{
    REX_MAP(map, REX_IS_DEVICE_PTR(flags), REX_TOFROM(y, CELLS));
    return launch(REX_KERNEL_ID(stay), 0, &map);
}

static int stays_on_part(void)
{
    REX_MAP(map, REX_IS_DEVICE_PTR(flags), REX_TOFROM(y, 8));
    return launch(REX_KERNEL_ID(stay), 0, &map);
}

/* The kernel writes y, and that is not copied back. */
static int stays_reading(void)
{
    REX_MAP(map, REX_IS_DEVICE_PTR(flags), REX_TO(y, CELLS));
    return launch(REX_KERNEL_ID(stay), 0, &map);
}

struct call {
    int (*make)(void);
    pthread_t thread;
    int id; /* of the thread; 0 until it runs */
    int result;
    bool is_over;
};

static void *make(void *argument)
{
    struct call *call = argument;
    __atomic_store_n(&call->id, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    call->result = call->make();
    __atomic_store_n(&call->is_over, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static void start_call(struct call *call, int (*what)(void))
{
    *call = (struct call){.make = what};
    assert_int_equal(pthread_create(&call->thread, NULL, make, call), 0);
}

static int result_of(struct call *call)
{
    pthread_join(call->thread, NULL);
    return call->result;
}

static void start_kernel(struct call *kernel, int (*what)(void))
{
    flags = gpu_present() ? rex_host_alloc(sizeof flags_of_host) : flags_of_host;
    assert_non_null(flags);
    flags[0] = 0;
    flags[1] = !gpu_present();
    start_call(kernel, what);
    while (__atomic_load_n(&flags[0], __ATOMIC_SEQ_CST) == 0)
        sched_yield();
}

static int end_kernel(struct call *kernel)
{
    __atomic_store_n(&flags[1], 1, __ATOMIC_SEQ_CST);
    return result_of(kernel);
}

enum waits { PASSES, WAITS };

/* Returns true if the call sleeps, or has run since *USED. Other programs may keep it from running. */
static bool has_had_time(const struct call *call, int64_t *used)
{
    char path[64], state = '\0';
    clockid_t clock;
    struct timespec now = {0};
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", __atomic_load_n(&call->id, __ATOMIC_SEQ_CST));
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d %*s %c", &state) != 1)
            state = '\0';
        fclose(file);
    }
    if (pthread_getcpuclockid(call->thread, &clock) == 0)
        clock_gettime(clock, &now);
    int64_t before = *used;
    *used = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return state == 'S' || *used != before;
}

/* If a call is to wait, gives it 30 milliseconds of its time, in which it must not return. */
static void await(struct call *call, enum waits waits)
{
    int64_t used = 0;
    for (int i = 0; gpu_present() && waits == WAITS && i < 30; i += has_had_time(call, &used)) {
        assert_false(__atomic_load_n(&call->is_over, __ATOMIC_SEQ_CST));
        usleep(1000);
    }
    while (waits == PASSES && !__atomic_load_n(&call->is_over, __ATOMIC_SEQ_CST))
        usleep(100);
}

/* Ends whatever has begun: y is then what ADDS kernels have made of it. */
static void finish(int64_t adds)
{
    REX_MAP(rest, REX_FROM(y, CELLS));
    while (rex_target_is_present(y, sizeof x, -1))
        OK(rex_data_exit(-1, &rest));
    assert_int_equal(y[0], adds);
    for (int i = 1; i < CELLS; i++)
        assert_int_equal(y[i], 0);
    /*
     * After attached pointers LLVM 14's plugin for GPUs destroys an event twice as the process
     * ends.
     */
    if (release_of_test() == 14 && gpu_present())
        _exit(0);
}

static void beside_kernel(int (*before)(void), bool nowait, int (*what)(void), enum waits waits,
                          int64_t adds)
{
    struct call kernel, call;
    bool refused = what == launches_nowait && gpu_present() && release_of_test() == 18;
    start();
    if ((what == launches_raw || what == launches_all_raw) && !takes_raw())
        leave_out("LLVM %d takes no packet as it is", release_of_test());
    if (before != NULL)
        OK(before());
    start_kernel(&kernel, what == ends_by_a_part       ? stays_on_part
                          : what == launches_on_a_byte ? stays_reading
                                                       : stays);
    if (nowait)
        ADD(REX_LAUNCH_NOWAIT, 0, REX_TOFROM(x, CELLS));
    start_call(&call, what);
    /* On LLVM 18 such a launch maps its rows by data calls. */
    bool ends = what == launches_attached && release_of_test() == 18;
    await(&call, refused ? PASSES : ends ? WAITS : waits);
    OK(end_kernel(&kernel));
    assert_int_equal(result_of(&call), refused ? REX_EUNSUPPORTED : 0);
    finish(adds - refused);
}

#define BESIDE(name, ...)           \
    TEST(name)                      \
    {                               \
        beside_kernel(__VA_ARGS__); \
    }
/*
 * Another call that finds y present leaves it so; what the kernel's launch maps for itself an
 * update does not find.
 */
BESIDE(begin_present, begins, false, begins, PASSES, 1)
BESIDE(begin_present_raw, begins, false, begins_raw, PASSES, 1)
BESIDE(update_present, begins, false, updates, PASSES, 1)
BESIDE(update_present_raw, begins, false, updates_raw, PASSES, 1)
BESIDE(update_absent, NULL, false, updates_raw, PASSES, 1)
BESIDE(launch_on_present, begins, false, launches, PASSES, 2)
BESIDE(launch_attached_on_present, begins, false, launches_attached, PASSES, 2)
BESIDE(begin_by_mapper_beside_present, begins, false, begins_by_mapper, PASSES, 1)
BESIDE(end_others, begins_all, false, ends_others, PASSES, 1)
/* Two that map y for themselves come one after the other, so that no addition is lost. */
BESIDE(begin_absent, NULL, false, begins, WAITS, 1)
BESIDE(begin_absent_raw, NULL, false, begins_raw, WAITS, 1)
BESIDE(launch_on_absent, NULL, false, launches, WAITS, 2)
BESIDE(launch_on_a_byte, NULL, false, launches_on_a_byte, WAITS, 0)
BESIDE(launch_attached_on_absent, NULL, false, launches_attached, WAITS, 2)
BESIDE(launch_nowait_on_absent, NULL, false, launches_nowait, WAITS, 2)
BESIDE(launch_raw_on_absent, NULL, false, launches_raw, WAITS, 2)
BESIDE(launch_all_raw_on_absent, NULL, false, launches_all_raw, WAITS, 2)
BESIDE(begin_all_absent, NULL, false, begins_all, WAITS, 1)
/* A mapper may name what the kernel works on. */
BESIDE(begin_by_mapper, NULL, false, begins_by_mapper, WAITS, 1)
BESIDE(launch_by_mapper, NULL, false, launches_by_mapper, WAITS, 1)
BESIDE(end_by_mapper, begins_both, false, ends_by_mapper, WAITS, 1)
BESIDE(end_present, begins, false, ends, WAITS, 1)
BESIDE(end_without_length, begins_twice, false, ends_without_length, WAITS, 1)
/*
 * The end copies that part back alone. By libomptarget a launch that is at work has the last
 * reference then, and copies its own row back.
 */
BESIDE(end_by_another_part, begins_all, false, ends_by_a_part, WAITS, gpu_present())
BESIDE(end_present_raw, begins, false, ends_raw, WAITS, 1)
/*
 * A call that is not waited for leaves its memory to libomptarget; a kernel of the driver's at work
 * there is waited for as before.
 */
BESIDE(end_after_nowait, begins, true, ends, WAITS, 1)
BESIDE(begin_after_nowait, NULL, true, begins, WAITS, 1)
BESIDE(launch_after_nowait, NULL, true, launches, WAITS, 2)

/* A launch or an update that meets only a call that waits goes on: the kernel may wait for it. */
static void beside_waiting(int (*before)(void), int (*waits)(void), int (*const calls[])(void))
{
    struct call kernel, waiting;
    start();
    OK(before());
    start_kernel(&kernel, stays);
    start_call(&waiting, waits);
    await(&waiting, WAITS);
    for (size_t i = 0; calls[i] != NULL; i++)
        OK(calls[i]());
    OK(end_kernel(&kernel));
    OK(result_of(&waiting));
}

static int launches_on_another(void)
{
    int64_t *other = many[0];
    return ADD(0, 0, REX_TOFROM(other, CELLS));
}

TEST(beside_an_end_that_waits, .gpu = ON_GPU)
{
    beside_waiting(begins, ends, (int (*const[])(void)){launches, updates, updates_raw, NULL});
}

TEST(beside_a_begin_that_waits, .gpu = ON_GPU)
{
    beside_waiting(launches_on_another, begins_all,
                   (int (*const[])(void)){launches_on_another, NULL});
}

/* ---- beside a kernel that fails -------------------------------------------------------------- */

static int64_t *nowhere = (int64_t *)65536; /* behind the first page, which a launch refuses */

static int stays_and_fails(void)
{
    REX_MAP(map, REX_IS_DEVICE_PTR(flags), REX_IS_DEVICE_PTR(nowhere),
            REX_NO_PARAM(REX_TOFROM(y, CELLS)));
    return launch(REX_KERNEL_ID(stay), 0, &map);
}

/* libomptarget, which would abort, is not asked for anything more. */
static void beside_failure(int (*before)(void), int (*what)(void))
{
    struct call kernel, call;
    start();
    OK(before != NULL ? before() : 0);
    start_kernel(&kernel, stays_and_fails);
    start_call(&call, what);
    await(&call, WAITS);
    assert_int_equal(end_kernel(&kernel), REX_ECUDA);
    assert_int_equal(result_of(&call), REX_ECUDA);
    _exit(0); /* the end of libomptarget with a context that is lost is its own affair */
}

#define BESIDE_FAILURE(name, ...)    \
    TEST(name, .gpu = ON_GPU)        \
    {                                \
        beside_failure(__VA_ARGS__); \
    }
BESIDE_FAILURE(end_beside_failure, begins, ends)
BESIDE_FAILURE(begin_beside_failure, NULL, begins)
BESIDE_FAILURE(launch_attached_beside_failure, NULL, launches_attached)

/* ---- beside a begin -------------------------------------------------------------------------- */

/* What is being mapped is not found mapped before it is copied: the fake driver stays there. */
TEST(beside_a_begin, .gpu = ON_GPU)
{
    int (*const calls[])(void) = {launches, begins, begins_raw, updates, updates_raw};
    struct call first, second;
    char value[64], byte;
    if (gpu_is_real())
        leave_out("a copy that stays");
    start();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int inside[2], until[2];
        assert_true(pipe(inside) == 0 && pipe(until) == 0);
        snprintf(value, sizeof value, "cuMemcpyHtoDAsync:%d:%d", inside[1], until[0]);
        setenv("FAKE_CUDA_SLOW", value, 1);
        start_call(&first, begins);
        assert_int_equal(read(inside[0], &byte, 1), 1);
        start_call(&second, calls[i]);
        await(&second, WAITS);
        close(until[1]);
        assert_true(result_of(&first) == REX_OK && result_of(&second) == REX_OK);
        finish(1);
    }
}

/* ---- beside deferred launches ---------------------------------------------------------------- */

/*
 * Only the last end looks whether others have launched since its wait: they may launch for ever.
 * The fake driver stays in the wait.
 */
TEST(end_beside_deferred_launches, .gpu = ON_GPU)
{
    struct call end;
    int inside[2], until[2];
    char value[64], byte;
    if (gpu_is_real())
        leave_out("a wait that stays");
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "0"));
    start();
    for (int lasts = 0; lasts < 2; lasts++) {
        int before;
        OK(lasts ? 0 : begins_twice());
        OK(launches());
        assert_true(pipe(inside) == 0 && pipe(until) == 0);
        snprintf(value, sizeof value, "cuEventSynchronize:%d:%d", inside[1], until[0]);
        setenv("FAKE_CUDA_SLOW", value, 1);
        before = fake_calls("cuEventSynchronize");
        start_call(&end, ends);
        assert_int_equal(read(inside[0], &byte, 1), 1);
        OK(launches());
        close(until[1]);
        OK(result_of(&end));
        assert_int_equal(fake_calls("cuEventSynchronize") - before, 1 + lasts);
    }
    finish(4);
}

/* A waited launch would copy y back: a deferred one waits for nothing. */
TEST(deferred_beside_an_end_that_waits, .gpu = ON_GPU)
{
    struct call kernel, end;
    if (gpu_is_real())
        leave_out("the number of waits");
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "0"));
    start();
    OK(begins());
    start_kernel(&kernel, stays);
    start_call(&end, ends);
    await(&end, WAITS);
    int before = fake_calls("cuEventSynchronize");
    OK(launches());
    assert_int_equal(fake_calls("cuEventSynchronize"), before);
    OK(end_kernel(&kernel));
    OK(result_of(&end));
    finish(2);
}

/*
 * A call gives out the device address of y. Another row has a mapper, which tells its rows to
 * libomptarget alone.
 */
TEST(address_beside_a_mapper, .gpu = ON_GPU)
{
    void *mappers[] = {NULL, mapper()};
    REX_MAP(map, rex_row_with(REX_TOFROM(y, CELLS), REX_MAP_RETURN_PARAM), REX_TOFROM(&holder, 1));
    if (gpu_is_real())
        leave_out("the number of waits");
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "0"));
    start();
    map.mappers = mappers;
    OK(begins());
    OK(rex_data_enter(-1, &map));
    int before = fake_calls("cuEventSynchronize");
    OK(launches());
    assert_int_equal(fake_calls("cuEventSynchronize") - before, 1);
    OK(ends_by_mapper());
    finish(1);
}

/* ---- many threads ---------------------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 50 };

enum { LARGEST = (1 << 20) + 1 };
static int64_t from[LARGEST + 1], *shared = many[AMONG], shared_cells = CELLS;

/* Each thread adds to a cell of its own; half of them map the array around each launch. */
static void *add_often(void *number)
{
    int64_t at = (intptr_t)number;
    REX_MAP(region, REX_TOFROM(shared, shared_cells));
    REX_MAP(update, REX_FROM(shared, shared_cells));
    for (int i = 0; i < ROUNDS; i++) {
        bool maps = at % 2 != 0;
        if ((maps && rex_data_enter(-1, &region) != 0) ||
            ADD(0, at, REX_TOFROM(shared, shared_cells)) != 0 ||
            (i % 8 == 0 && at == 1 && rex_data_update(-1, &update) != 0) ||
            (maps && rex_data_exit(-1, &region) != 0))
            return shared;
    }
    return NULL;
}

/* Of a text file. */
static char *text_of(const char *path)
{
    struct bytes file = read_bytes(path);
    file.bytes[file.size - 1] = '\0';
    return (char *)file.bytes;
}

/*
 * None may copy back what another has changed since. Without the driver two launches beside each
 * other may.
 */
TEST(threads_share_an_array, .gpu = ON_GPU)
{
    start();
    for (int mapped = 0; mapped < 2; mapped++) {
        if (mapped)
            OK(begins());
        run_threads(THREADS, add_often);
    }
    OK(ends());
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(y[i], 2 * ROUNDS);
    assert_false(rex_target_is_present(y, 1, -1));
    if (!gpu_is_real())
        assert_in_range(fake_calls("cuStreamCreate"), 1, 100);
}

/* A begin has copied all of it before another thread's launch sees it. */
TEST(threads_share_a_large_array, .gpu = ON_GPU)
{
    enum { FEW = 3 };
    OK(rex_configure(REX_OPTION_COPY_THREADS, "2"));
    start();
    shared = from;
    shared_cells = LARGEST;
    run_threads(FEW, add_often);
    assert_false(rex_target_is_present(from, 1, -1));
    for (int i = 0; i < LARGEST; i++)
        assert_int_equal(from[i], i < FEW ? ROUNDS : 0);
}

/* Of all of them together. */
TEST(told_once, .gpu = ON_GPU)
{
    static const char *const words = "kernel \"add\" is launched by the CUDA driver";
    char value[PATH_MAX + 80];
    struct path path = temporary_file("log");
    snprintf(value, sizeof value, "info:%s", path.text);
    setenv("REX_LOG", value, 1);
    assert_int_equal(run_self("threads_share_an_array"), 0);
    char *log = text_of(path.text), *told = strstr(log, words);
    assert_non_null(told);
    assert_null(strstr(told + 1, words));
    free(log);
    unlink(path.text);
}

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 16) % below;
}

/*
 * Each thread adds to a cell of its own: in any part of x that has it, and in any part of a block
 * of y, which two threads begin, update and end. Two other rows come in either order.
 */
enum { OWN = CELLS / THREADS, BLOCK = 2 * OWN };

static int add_in(int64_t *array, int64_t lower, int64_t length, int64_t cell, int turn)
{
    int64_t *part = array + lower, *first = many[turn % 2], *second = many[(turn + 1) % 2];
    return ADD(0, cell - lower, REX_TOFROM(part, length), REX_NO_PARAM(REX_TOFROM(first, CELLS)),
               REX_NO_PARAM(REX_TOFROM(second, CELLS)));
}

static void *meet(void *number)
{
    int64_t cell = (intptr_t)number * OWN, block = cell / BLOCK * BLOCK, *all = y + block;
    unsigned state = (unsigned)cell + 1;
    REX_MAP(region, REX_TOFROM(all, BLOCK));
    for (int i = 0; i < 2 * ROUNDS; i++) {
        int64_t lower = draw(&state, (unsigned)cell + 1), own = block > lower ? block : lower,
                length = 1 + draw(&state, (unsigned)(block + BLOCK - cell));
        int64_t *part = y + cell;
        REX_MAP(update, REX_FROM(part, length));
        bool begins = draw(&state, 2) == 0;
        if ((begins && rex_data_enter(-1, &region) != 0) ||
            add_in(y, own, cell + length - own, cell, i) != 0 ||
            add_in(x, lower, cell + length - lower, cell, i) != 0)
            return all;
        int updated = rex_data_update(-1, &update);
        if ((updated != 0 && (begins || updated != REX_EABSENT)) ||
            (begins && rex_data_exit(-1, &region) != 0))
            return all;
    }
    return NULL;
}

TEST(threads_meet_at_random, .gpu = ON_GPU)
{
    OK(rex_configure(REX_OPTION_LOG, "off"));
    start();
    run_threads(THREADS, meet);
    for (int i = 0; i < CELLS; i++)
        assert_true(x[i] == (i % OWN == 0 ? 2 * ROUNDS : 0) && y[i] == x[i]);
    assert_false(rex_target_is_present(y, sizeof x, -1));
}

/*
 * Regions of, and launches on, parts of y that overlap, or all of it. A part that another thread
 * has mapped in part is refused.
 */
static void *overlap(void *number)
{
    unsigned state = (unsigned)(intptr_t)number + 1;
    bool has_nowait = !(gpu_present() && release_of_test() == 18);
    for (int i = 0; i < 4 * ROUNDS; i++) {
        bool is_all = draw(&state, 2) == 0;
        int64_t *part = is_all ? y : y + draw(&state, CELLS / 2);
        int64_t length = is_all ? CELLS : 1 + draw(&state, CELLS / 2);
        unsigned how = draw(&state, 3);
        REX_MAP(region, REX_TOFROM(part, length));
        int result = how == 0 ? rex_data_enter(-1, &region)
                              : ADD(how == 1 && has_nowait ? REX_LAUNCH_NOWAIT : 0, 0,
                                    REX_TOFROM(part, length));
        if (how == 0 && result == 0)
            result = rex_data_exit(-1, &region);
        if (result != 0 && result != REX_EOVERLAP)
            return y;
    }
    return NULL;
}

/* Nothing is left, for librex or for libomptarget: another call may map what contains it all. */
static void check_overlap(const char *launch_by)
{
    OK(rex_configure(REX_OPTION_LOG, "off"));
    OK(rex_configure(REX_OPTION_LAUNCH_BY, launch_by));
    start();
    run_threads(THREADS, overlap);
    assert_false(rex_target_is_present(y, sizeof x, -1));
    REX_MAP(all, rex_row_object(many, sizeof many, TOFROM));
    OK(rex_data_enter(-1, &all));
    OK(rex_data_exit(-1, &all));
}

TEST(threads_overlap)
{
    check_overlap("auto");
}

TEST(threads_overlap_in_libomptarget)
{
    if (gpu_present() && release_of_test() == 18)
        leave_out("LLVM 18 launches no plain kernel on a GPU");
    check_overlap("runtime");
}

/* ---- many rows ------------------------------------------------------------------------------- */

enum { PLACES = 100000 };
static int64_t to[LARGEST + 1];

/* In the first row VALUE, which is the kernel's as well as the second row. */
static int launch_on_places(const void *key, int side, void *value)
{
    static void *begin[2][PLACES];
    static int64_t sizes[2][PLACES], types[2][PLACES];
    struct rex_map map = {PLACES, begin[side], begin[side], sizes[side], types[side], NULL, NULL};
    for (int i = 0; i < PLACES; i++) {
        map.begin[i] = &from[2 * i + side];
        map.sizes[i] = 8;
        map.types[i] = TOFROM | (i == 1 && side == 0 ? PARAMETER : 0);
    }
    map.begin[0] = value;
    map.types[0] = LITERAL | PARAMETER;
    return launch(key, 0, &map);
}

static int stays_on_places(void)
{
    return launch_on_places(REX_KERNEL_ID(stay), 0, flags);
}

/* Compared each with each they would take minutes. */
TEST(places_between_places, .gpu = ON_GPU)
{
    struct call kernel;
    start();
    start_kernel(&kernel, stays_on_places);
    for (int i = 0; i < rounds_of(20); i++)
        OK(launch_on_places(REX_KERNEL_ID(nothing), 1, NULL));
    OK(end_kernel(&kernel));
    assert_int_equal(from[2], 1);
}

static int stays_on_two(void)
{
    int64_t *high = &from[4], *low = from;
    REX_MAP(rows, REX_IS_DEVICE_PTR(flags), REX_TOFROM(high, 1), REX_NO_PARAM(REX_TOFROM(low, 1)));
    return launch(REX_KERNEL_ID(stay), 0, &rows);
}

/* Rows that lie between those of the kernel, and both not in the order of their addresses. */
TEST(rows_between_rows, .gpu = ON_GPU)
{
    int64_t *high = &from[6], *low = &from[2];
    struct call kernel;
    start();
    start_kernel(&kernel, stays_on_two);
    REX_MAP(rows, REX_VALUE(UINT64_C(1)), REX_NO_PARAM(REX_TOFROM(high, 1)),
            REX_NO_PARAM(REX_TOFROM(low, 1)));
    OK(launch(REX_KERNEL_ID(nothing), 0, &rows));
    OK(end_kernel(&kernel));
    assert_int_equal(from[4], 1);
}

/* ---- memory of a queue ----------------------------------------------------------------------- */

/* What a queue or its graph works with is not ended before, however much it is; what it does not is.
 */
static void hold_memory(bool in_graph)
{
    enum { ARRAYS = 90, RANGES = 20 };
    static const uint32_t zero;
    struct rex_launch_config holds = rex_launch_config_of(REX_KERNEL_ID(hold), 1, 1),
                             adds = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    struct rex_queue *queue;
    struct rex_graph *graph = NULL;
    start();
    flags = rex_host_alloc(sizeof flags_of_host);
    assert_non_null(flags);
    flags[0] = 0;
    OK(begins());
    for (int i = 0; i <= ARRAYS; i++)
        OK(data(rex_data_enter, &from[i * CELLS], TOFROM));
    OK(rex_queue_create(&queue, -1, NULL, 0));
    if (in_graph)
        OK(rex_graph_begin(queue));
    REX_MAP(held, REX_IS_DEVICE_PTR(flags), REX_ALLOC(y, CELLS));
    OK(launch_in(queue, &holds, &held));
    if (!in_graph)
        FAILS(ends(), REX_EBUSY, "unfinished work");
    OK(data(rex_data_exit, &from[ARRAYS * CELLS], TOFROM));
    for (int i = 0; i < ARRAYS; i++) {
        REX_MAP(map, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(0)),
                REX_ALLOC(&from[i * CELLS], CELLS));
        if (i < RANGES)
            OK(rex_queue_fill(queue, rex_mapped_ptr(&from[i * CELLS], -1), &zero, 4, 8));
        else
            OK(launch_in(queue, &adds, &map));
    }
    if (in_graph) {
        OK(rex_graph_end(&graph, queue));
        OK(rex_graph_launch(graph, queue));
    }
    for (int i = 0; i < ARRAYS; i++)
        FAILS(data(rex_data_exit, &from[i * CELLS], TOFROM), REX_EBUSY, "unfinished work");
    FAILS(ends(), REX_EBUSY, "unfinished work");
    flags[0] = 1;
    OK(rex_queue_sync(queue));
    for (int i = 0; i < ARRAYS; i++)
        OK(data(rex_data_exit, &from[i * CELLS], TOFROM));
    assert_int_equal(from[(ARRAYS - 1) * CELLS], 1);
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
    OK(ends());
}

TEST(memory_of_a_queue, .gpu = ON_GPU)
{
    hold_memory(false);
}

TEST(memory_of_a_graph, .gpu = ON_GPU)
{
    hold_memory(true);
}

/* ---- who launches, and why ------------------------------------------------------------------- */

static int launches_alone(void)
{
    REX_MAP(map, REX_VALUE(UINT64_C(1)));
    return launch(REX_KERNEL_ID(nothing), 0, &map);
}

static int launches_always(void)
{
    return ADD(0, 0, REX_ALWAYS(REX_TOFROM(y, CELLS)));
}

static int launches_private(void)
{
    int64_t own[1] = {7};
    int result = ADD(0, 0, REX_FIRSTPRIVATE(own));
    assert_int_equal(own[0], 7);
    return result;
}

static int launches_nested(void)
{
    return ADD(0, 0, REX_TOFROM(y, CELLS), REX_NO_PARAM(REX_SECTION(TO, y, 8, 8)));
}

static int launches_twice(void)
{
    return ADD(0, 0, REX_TO(y, CELLS), REX_NO_PARAM(REX_FROM(y, CELLS)));
}

static int launches_crossed(void)
{
    return ADD(0, 0, REX_TO(y, CELLS), REX_NO_PARAM(REX_ALWAYS(REX_SECTION(FROM, y, 0, 8))));
}

static int launches_on_section(void)
{
    return ADD(0, 0, REX_SECTION(TOFROM, y, 0, 8));
}

static int launches_without_length(void)
{
    return ADD(0, 0, REX_SECTION(TOFROM, y, 0, 0));
}

static int launches_on_members(void)
{
    REX_MAP(map, REX_VALUE(UINT64_C(1)), REX_NO_PARAM(REX_OBJECT(TO, holder)),
            REX_MEMBER(1, TO, holder, cells));
    return launch(REX_KERNEL_ID(nothing), 0, &map);
}

/* By libomptarget's own function: librex does not see it. */
static int maps_unseen(const char *name, int64_t *cells)
{
    void (*call)(int64_t, int32_t, void **, void **, int64_t *, int64_t *);
    find(dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD), name, &call);
    REX_MAP(map, rex_row_object(cells, sizeof x, TOFROM));
    call(0, REX_MAP_ARGUMENTS(map));
    rex_mappings_changed();
    return 0;
}

static int begins_unseen(void)
{
    return maps_unseen("__tgt_target_data_begin", y);
}

static int ends_unseen(void)
{
    return maps_unseen("__tgt_target_data_end", y);
}

int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset,
                             int device);
int omp_target_disassociate_ptr(const void *host, int device);
static void *associated;

static int associates(void)
{
    associated = rex_device_alloc(sizeof x, 0);
    assert_non_null(associated);
    OK(rex_device_copy_to(associated, y, sizeof x, 0));
    return omp_target_associate_ptr(y, associated, sizeof x, 0, 0);
}

static int disassociates(void)
{
    int result = omp_target_disassociate_ptr(y, 0);
    OK(rex_device_copy_from(y, associated, sizeof x, 0));
    rex_device_free(associated, 0);
    return result;
}

/* What a mapper has mapped librex does not see: a launch uses it all the same. */
TEST(mapped_by_a_mapper)
{
    start();
    OK(begins_by_mapper());
    OK(ADD(0, 0, REX_TOFROM(x, CELLS)));
    assert_int_equal(x[0], 0);
    OK(ends_by_mapper());
    assert_int_equal(x[0], 1);
    finish(0);
}

/* A begin that is refused leaves nothing behind, also if one of its rows lies in the one that is refused. */
TEST(refused_with_a_part)
{
    start();
    REX_MAP(first, REX_SECTION(TOFROM, y, 0, 1));
    REX_MAP(refused, REX_SECTION(TOFROM, y, 0, 20), REX_SECTION(TOFROM, y, 10, 10));
    REX_MAP(part, REX_SECTION(TO, y, 10, 10));
    REX_MAP(beside, REX_SECTION(TOFROM, y, 5, 15));
    OK(rex_data_enter(-1, &first));
    assert_int_equal(rex_data_enter(-1, &refused), REX_EOVERLAP);
    assert_false(rex_target_is_present(y + 10, sizeof *y, -1));
    assert_int_equal(rex_data_update(-1, &part), REX_EABSENT);
    OK(rex_data_enter(-1, &beside));
    OK(rex_data_exit(-1, &beside));
    OK(rex_data_exit(-1, &first));
    finish(0);
}

/* An end by a mapper, which may end anything, leaves the mappings known that it has not ended. */
TEST(mapped_beside_a_mapper)
{
    start();
    REX_MAP(cell, REX_SECTION(TOFROM, y, 10, 1));
    REX_MAP(all, REX_TOFROM(y, CELLS));
    OK(rex_data_enter(-1, &cell));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(rex_data_enter(-1, &all), REX_EOVERLAP);
        assert_int_equal(launches(), REX_EOVERLAP);
        OK(begins_by_mapper());
        OK(ends_by_mapper());
    }
    OK(rex_data_exit(-1, &cell));
    OK(rex_data_enter(-1, &all));
    OK(rex_data_exit(-1, &all));
    finish(0);
}

/* Two rows of an end lie in one mapping, and both have to be present. */
TEST(present_in_one_mapping)
{
    start();
    REX_MAP(all, REX_TOFROM(y, CELLS));
    REX_MAP(both, REX_PRESENT(REX_SECTION(FROM, y, 7, 2)), REX_PRESENT(REX_FROM(y, CELLS)));
    REX_MAP(drop, REX_PRESENT(REX_SECTION(FROM, y, 7, 2)), REX_PRESENT(REX_DELETE(y, CELLS)));
    for (int i = 0; i < 2; i++) {
        OK(rex_data_enter(-1, &all));
        OK(rex_data_exit(-1, i == 0 ? &both : &drop));
        assert_false(rex_target_is_present(y, sizeof *y, -1));
    }
    finish(0);
}

/* Memory of a launch that is not waited for is still mapped: a begin around it is refused. */
TEST(mapped_by_a_launch_not_waited_for, .on = "14 15 16 17 19 21 22 23 24")
{
    start();
    REX_MAP(all, REX_TOFROM(y, CELLS));
    REX_MAP(cell, REX_SECTION(TOFROM, y, 10, 1));
    OK(rex_data_enter(-1, &cell));
    OK(ADD(REX_LAUNCH_NOWAIT, 10, REX_SECTION(TOFROM, y, 10, 1)));
    assert_int_equal(rex_data_enter(-1, &all), REX_EOVERLAP);
    OK(rex_data_exit(-1, &cell));
    OK(rex_data_enter(-1, &all));
    OK(rex_data_exit(-1, &all));
    assert_int_equal(y[10], 1);
    y[10] = 0;
    finish(0);
}

/* On the device an attached pointer is another address, which a copy does not bring. */
TEST(always_over_a_pointer)
{
    start();
    REX_MAP(region, REX_OBJECT(TOFROM, holder), REX_ATTACH(TOFROM, holder.cells, 0, CELLS));
    OK(rex_data_enter(-1, &region));
    REX_MAP(map, REX_VALUE(UINT64_C(1)), REX_NO_PARAM(REX_ALWAYS(REX_FROM(&holder, 1))));
    for (int i = 0; i < 3; i++)
        OK(launch(REX_KERNEL_ID(nothing), 0, &map));
    assert_ptr_equal(holder.cells, x);
    OK(ADD(0, 0, REX_TOFROM(x, CELLS)));
    OK(rex_data_exit(-1, &region));
    assert_int_equal(x[0], 1);
    finish(0);
}

/* Nor does an update of what a mapper has mapped. */
TEST(update_a_pointer_of_a_mapper)
{
    OK(rex_configure(REX_OPTION_COPY_THREADS, "1"));
    start();
    REX_MAP(plain, REX_TO(&holder, 1));
    REX_MAP(update, REX_FROM(&holder, 1));
    OK(rex_data_enter(-1, &plain));
    OK(begins_by_mapper());
    OK(rex_data_update(-1, &update));
    assert_ptr_equal(holder.cells, x);
    OK(ends_by_mapper());
    OK(rex_data_exit(-1, &plain));
}

#define UNSEEN "a row is mapped in part, or was mapped by a call that librex did not see"
#define TYPE "a row has a type that only libomptarget maps"
/*
 * In this order, around each launch two other calls, if any; launches add 1, or not where they have
 * no y.
 */
static const struct sender {
    int (*before)(void), (*launches)(void), (*after)(void);
    int adds;
    const char *because; /* NULL: by the driver */
} senders[] = {
    {NULL, launches_alone, NULL, 0, NULL},
    {NULL, launches, NULL, 1, NULL},
    {NULL, launches_always, NULL, 1, NULL},
    {NULL, launches_private, NULL, 0, NULL},
    {NULL, launches_nested, NULL, 1, NULL},
    {NULL, launches_twice, NULL, 1, NULL},
    {NULL, launches_crossed, NULL, 1, "the launch would map rows that overlap"},
    {begins, launches, ends, 1, NULL},
    {begins, launches_on_section, ends, 1, NULL},
    {begins, launches_without_length, ends, 1, NULL},
    {begins, launches_twice, ends, 1, NULL},
    {begins, launches_crossed, ends, 1, NULL},
    {begins, launches_always, ends, 1, NULL},
    {begins_raw, launches, ends_raw, 1, NULL},
    {begins_raw, launches_on_section, ends, 1, NULL},
    {associates, launches, disassociates, 1, UNSEEN},
    {NULL, launches, NULL, 1, NULL},
    {begins_unseen, launches, ends_unseen, 1, UNSEEN},
    {NULL, launches, NULL, 1, NULL},
    {NULL, launches_on_members, NULL, 0, TYPE},
    {NULL, launches_attached, NULL, 1, TYPE},
    {NULL, launches_by_mapper, NULL, 0, "a row has a mapper"},
    {NULL, launches, NULL, 1, NULL},
    {NULL, launches_raw, NULL, 1, "the program calls libomptarget itself"},
    {NULL, launches_nowait, NULL, 1, "the launch is asynchronous (nowait)"},
    {NULL, launches, NULL, 1, NULL},
    {begins, launches_nowait, ends, 1, "the launch is asynchronous (nowait)"},
    {NULL, launches, NULL, 1, "an asynchronous or failed call has used the memory of a row"},
    {NULL, launches, NULL, 1, NULL},
};
enum { SENDERS = sizeof senders / sizeof *senders };

/* LLVM 18 has no way to run a plain kernel; its rows libomptarget maps. */
static const char *because_of(const struct sender *sender)
{
    return release_of_test() == 18 ? NULL : sender->because;
}

static bool is_left_out(const struct sender *sender)
{
    return sender->launches == launches_nowait ? release_of_test() == 18 && gpu_present()
                                               : sender->launches == launches_raw && !takes_raw();
}

static int64_t launch_all(void)
{
    int64_t adds = 0;
    start();
    for (int i = 0; i < SENDERS; i++) {
        const struct sender *sender = &senders[i];
        if (is_left_out(sender))
            continue;
        OK(sender->before != NULL ? sender->before() : 0);
        if (sender->launches() != 0)
            fail_msg("sender %d: %s", i, rex_last_error());
        OK(sender->after != NULL ? sender->after() : 0);
        adds += sender->adds;
        if (y[0] != adds)
            fail_msg("sender %d: %d, not %d", i, (int)y[0], (int)adds);
    }
    return adds;
}

/* The process that leaves the trace. */
TEST(launch_in_every_way)
{
    finish(launch_all());
}

/* Each row has an allocation of its own. */
TEST(launch_in_every_way_checked)
{
    OK(rex_configure(REX_OPTION_CHECK, "full"));
    finish(launch_all());
}

static char *trace_of(const char *test)
{
    static struct path path;
    path = temporary_file("trace.json");
    setenv("REX_TRACE", path.text, 1);
    assert_int_equal(run_self(test), 0);
    unsetenv("REX_TRACE");
    char *trace = text_of(path.text);
    unlink(path.text);
    return trace;
}

/* On LLVM 14 that process ends too early for its trace. */
TEST(senders_in_the_trace, .gpu = ON_GPU, .on = "15 16 17 18 19 21 22 23 24")
{
    char expected[160];
    setenv("REX_LAUNCH_BLOCKING", "on", 1); /* the call of a deferred launch is not its kernel */
    char *trace = trace_of("launch_in_every_way"), *at = trace;
    for (int i = 0; i < SENDERS; i++) {
        const char *because = because_of(&senders[i]);
        if (is_left_out(&senders[i]))
            continue;
        snprintf(expected, sizeof expected,
                 because == NULL ? "\"by\":\"driver\"}"
                                 : "\"by\":\"libomptarget\",\"because\":\"%s\"}",
                 because);
        at = strstr(at, "\"by\":");
        if (at == NULL || strncmp(at, expected, strlen(expected)) != 0)
            fail_msg("sender %d: not %s, but %.120s", i, expected, at != NULL ? at : "no more");
        at++;
    }
    assert_null(strstr(at, "\"by\":"));
    free(trace);
}

/* Where the driver is demanded another way is an error, but not where there is no GPU. */
TEST(the_driver_is_demanded)
{
    OK(rex_configure(REX_OPTION_LAUNCH_BY, "driver"));
    start();
    OK(launches());
    if (gpu_present() && release_of_test() != 18)
        FAILS(launches_attached(), REX_EUNSUPPORTED,
              "REX_LAUNCH_BY=driver, and only libomptarget can launch it: " TYPE);
    finish(1);
}

/* ---- mapped again ---------------------------------------------------------------------------- */

static int ends_nothing(void)
{
    REX_MAP(empty, rex_row_object(x, 0, REX_MAP_ALLOC));
    int result = rex_data_exit(-1, &empty);
    return result == 0 ? ends() : result;
}

static int ends_by_mapper_of_y(void)
{
    holder.cells = y;
    int result = ends_by_mapper();
    holder.cells = x;
    return result;
}

static int ends_with_module(void)
{
    int result = ends();
    return result == 0 && loads_late() ? rex_offload_fini() == 0 && rex_offload_init() == 0 ? 0 : -1
                                       : result;
}

static int (*const ways_to_end[])(void) = {
    ends, ends_region, ends_raw, ends_nothing, ends_unseen, ends_by_mapper_of_y, ends_with_module};

/*
 * Whatever way its mapping ends, y is used where it is mapped next, which is elsewhere; a queue
 * knows as well.
 */
TEST(mapped_elsewhere)
{
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(add), 1, 1);
    struct rex_queue *queue;
    int64_t adds = 0;
    start();
    for (size_t i = 0; i < sizeof ways_to_end / sizeof *ways_to_end; i++) {
        void *first = NULL;
        for (int round = 0; round < 2; round++) {
            if (first != NULL)
                first = rex_device_alloc(sizeof x, -1); /* the place that y had */
            OK(begins());
            OK(rex_queue_create(&queue, -1, NULL, 0));
            REX_MAP(map, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(0)), REX_TOFROM(y, CELLS));
            OK(launch_in(queue, &config, &map));
            OK(rex_queue_sync(queue));
            OK(launches());
            adds += 2;
            OK(rex_queue_destroy(queue));
            first = rex_mapped_ptr(y, -1);
            OK(ways_to_end[i]());
            if (y[0] != adds)
                fail_msg("way %zu, round %d: %d, not %d", i, round, (int)y[0], (int)adds);
            OK(launches()); /* of y, which is not mapped */
            assert_int_equal(y[0], ++adds);
        }
    }
    finish(adds);
}

/* What was begun more often stays, also after an end that may come later. */
TEST(ended_once_of_two)
{
    start();
    OK(begins_twice());
    OK(ends_nowait());
    OK(launches());
    assert_true(y[0] == 0 || !gpu_present());
    finish(1);
}

/*
 * What librex has not seen is larger than the row that it sees, and ends by rows that lie elsewhere
 * in it.
 */
TEST(half_of_an_unseen_mapping)
{
    start();
    OK(begins_unseen());
    REX_MAP(first, rex_row_object(y, sizeof x / 2, TOFROM));
    REX_MAP(second, rex_row_object(y + CELLS / 2, sizeof x / 2, TOFROM));
    OK(rex_data_enter(-1, &first));
    OK(launches());
    OK(rex_data_exit(-1, &second));
    OK(rex_data_exit(-1, &second));
    assert_false(rex_target_is_present(y, 1, -1));
    int64_t before = y[0];
    OK(launches());
    OK(rex_data_enter(-1, &first));
    OK(ADD(0, 0, REX_SECTION(TOFROM, y, 0, CELLS / 2)));
    OK(rex_data_exit(-1, &first));
    finish(before + 2);
}

/* LLVM 14 ends what a row of no length points into, where a later row has mapped that by then. */
TEST(a_row_without_length_that_moves, .on = "14")
{
    start();
    for (int place = -8; place <= CELLS + 8; place++) {
        bool inside = place >= 0 && place < CELLS;
        int64_t *at = (int64_t *)many + AMONG * CELLS + place;
        REX_MAP(map, REX_VALUE(INT64_C(1)), REX_VALUE(INT64_C(0)), REX_NO_PARAM(REX_TOFROM(at, 0)),
                REX_TOFROM(y, CELLS));
        assert_int_equal(launch(REX_KERNEL_ID(add), 0, &map), inside ? REX_EOVERLAP : 0);
    }
    finish(17);
}

/*
 * A row of no length may end its neighbours, from whose base on it lies; what is mapped then is as
 * libomptarget says.
 */
TEST(neighbours_of_a_row_without_length)
{
    start();
    for (int place = 0; place <= CELLS + 8; place += 8) {
        int64_t *base = many[AMONG - 1], before = y[0];
        REX_MAP(rows, rex_row_of(base, y, 64, TOFROM));
        REX_MAP(empty, rex_row_object(base + place, 0, REX_MAP_ALLOC));
        OK(rex_data_enter(-1, &rows));
        OK(rex_data_exit(-1, &empty));
        for (int i = 0; i < 2; i++) {
            bool present = rex_target_is_present(y, 64, -1);
            OK(ADD(0, 0, REX_SECTION(TOFROM, y, 0, 8)));
            assert_int_equal(y[0], before + (present ? 0 : i + 1));
        }
        OK(rex_data_exit(-1, &rows));
        assert_int_equal(y[0], before + 2);
    }
    finish(y[0]);
}

/* ---- copies, and memory for them ------------------------------------------------------------- */

static int add_all(int64_t n, const int64_t *source)
{
    REX_MAP(map, REX_VALUE(n), REX_TO(source, n), REX_TOFROM(to, n));
    return launch(REX_KERNEL_ID(add_all), 0, &map);
}

/* Often enough for every way that librex has to send them; a pinned source is copied by the device.
 */
TEST(rows_of_every_size)
{
    static const int64_t sizes[] = {1,    2,    63,    64,     65,     1000,  4095,
                                    8191, 8193, 60000, 131072, 140000, 300000};
    enum { TURNS = 20, MOST_PINNED = 300000 };
    start();
    int64_t *pinned = gpu_present() ? rex_host_alloc(MOST_PINNED * sizeof *pinned) : from;
    assert_non_null(pinned);
    for (int64_t i = 0; i < MOST_PINNED; i++)
        from[i] = pinned[i] = i + 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(to, 0, sizeof to);
        for (int turn = 0; turn < TURNS; turn++)
            OK(add_all(sizes[i], i % 3 == 2 ? pinned : from));
        for (int64_t j = 0; j <= sizes[i]; j++)
            if (to[j] != (j < sizes[i] ? TURNS * (j + 1) : 0))
                fail_msg("%d values: value %d is %d", (int)sizes[i], (int)j, (int)to[j]);
    }
}

/*
 * Launches that differ in values alone, with a copy and without: so many that each way of sending
 * them comes.
 */
TEST(values_that_change)
{
    enum { LAUNCHES = 2 * CELLS };
    start();
    for (int mapped = 0; mapped < 2; mapped++) {
        OK(mapped ? begins() : 0);
        for (int i = 0; i < LAUNCHES; i++)
            OK(ADD(0, i % CELLS, REX_TOFROM(y, CELLS)));
    }
    OK(ends());
    for (int i = 0; i < CELLS; i++)
        assert_int_equal(y[i], 2 * LAUNCHES / CELLS);
}

/* Rows fit that are not rounded up; device memory that librex keeps is there for the program. */
TEST(rows_that_just_fit, .gpu = ON_GPU)
{
    enum { MIB = 1 << 20 };
    if (gpu_is_real())
        skip();
    setenv("FAKE_CUDA_MEMORY", "17", 1);
    start();
    for (int64_t i = 0; i < 3; i++) {
        from[LARGEST - 1] = 1;
        OK(add_all(LARGEST, from));
        assert_int_equal(to[LARGEST - 1], i + 1);
        void *memory = rex_device_alloc(16 * MIB, 0);
        assert_non_null(memory);
        FAILS(add_all(LARGEST, from), REX_ENOMEM, "bytes of device memory cannot be allocated: cuMemAlloc");
        rex_device_free(memory, 0);
    }
}

/* ---- at the end of the process --------------------------------------------------------------- */

/* A row that attaches a pointer and is no member: LLVM 14 to 22 keep the struct mapped after the end. */
static int ends_attached(void)
{
    static int64_t values[64];
    static struct {
        int64_t count, *values;
    } list = {64, values};
    int error;
    REX_DATA_REGION(&error, -1, REX_OBJECT(REX_MAP_TO, list),
                    REX_ATTACH(REX_MAP_TO, list.values, 0, 64))
    {
    }
    return error;
}

TEST(leave_mapped)
{
    static double sum;
    start();
    if (getenv("REX_LOG") == NULL)
        return;
    REX_MAP(sums, REX_OBJECT(REX_MAP_FROM, sum));
    OK(begins_all());
    OK(rex_data_enter(-1, &sums));
    OK(ends_attached());
}

TEST(regions_that_never_end)
{
    char value[PATH_MAX + 80];
    struct path path = temporary_file("log");
    snprintf(value, sizeof value, "warn:%s", path.text);
    setenv("REX_LOG", value, 1);
    assert_int_equal(run_self("leave_mapped"), 0);
    char *log = text_of(path.text);
    if (strstr(log, "a region was never ended: ") == NULL ||
        strstr(log, " are still mapped on device 0 (mappings left: 22)") == NULL)
        fail_msg("%s", log);
    free(log);
    unlink(path.text);
}

int before_tests(int argc, char **argv)
{
    /* The driver may load no kernel while another one stays on the GPU. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    (void)argc, (void)argv;
    return -1;
}

/* So many launches that they are a graph. Some have the last argument of the launch before. */
TEST(arguments_that_change)
{
    enum { VALUES = 28, LAUNCHES = 100 };
    int64_t sum = 0, expected = 0, sizes[VALUES + 1], types[VALUES + 1];
    void *base[VALUES + 1] = {NULL};
    struct rex_map args = {
        .count = VALUES + 1, .base = base, .begin = base, .sizes = sizes, .types = types};
    REX_MAP(region, REX_TOFROM(&sum, 1));
    start();
    for (int i = 0; i <= VALUES; i++) {
        sizes[i] = 8;
        types[i] = REX_MAP_TARGET_PARAM | (i < VALUES ? REX_MAP_LITERAL : 0);
    }
    base[VALUES] = &sum;
    OK(rex_data_enter(-1, &region));
    for (int i = 0; i < LAUNCHES; i++) {
        base[VALUES - 1] = (void *)(uintptr_t)(i / 3);
        expected += i / 3;
        OK(launch(REX_KERNEL_ID(add_many), 0, &args));
    }
    OK(rex_data_exit(-1, &region));
    assert_int_equal(sum, expected);
}
