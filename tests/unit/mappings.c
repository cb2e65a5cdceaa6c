/*
 * mappings.c - the index of mappings: what calls of libomptarget add and take out, and what is noted of it.
 *
 * libomptarget is a fake, whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "base/process.h"
#include "omp/device.h"
#include "present/lookup.h"
#include "present/mappings.h"
#include "present/presentcalls.h"
#include "omp/backend.h"
#include "plain.h"
#include "rex/launch.h"
#include "rex_kmp.h"

enum { CELL = 8, CELLS = 8, STEPS = 4, ROWS = 18, DEVICE_ADDRESS = 0x10000 };
static char bytes[CELLS * CELL] __attribute__((aligned(16)));

static void start(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
}

/* What libomptarget has of BYTES on every device: all, at an address for each. */
static void map_all(void)
{
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)bytes, sizeof bytes, DEVICE_ADDRESS};
}

static void call_row(enum rex_present_call call, int at, int size, int64_t type, int number, bool over)
{
    void *begin[] = {bytes + at * CELL};
    int64_t sizes[] = {size * CELL}, types[] = {type};
    struct rex_map map = {1, begin, begin, sizes, types, NULL, NULL};
    if (over)
        rex_present_leave(call, &map, number, false);
    else
        rex_present_enter(call, &map, number);
}

static void begin_row(int at, int size, int number)
{
    call_row(REX_CALL_BEGINS, at, size, REX_MAP_TO, number, false);
    map_all();
    call_row(REX_CALL_BEGINS, at, size, REX_MAP_TO, number, true);
}

/* No call names what a global maps, however small it is. */
TEST_IN_CHILD(globals_are_unseen)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), REX_OK);
    entry->size = 1;
    start();
    CHECK(!rex_all_mappings_are_seen());
}

/* libomptarget has one byte; 8 bytes that a region has begun; and two neighbours that lie apart on the device. */
TEST_IN_CHILD(see_presence)
{
    static const struct {
        int at;
        size_t size;
        enum rex_presence presence;
    } asked[] = {{0, 0, REX_PRESENT_WHOLE},     {0, 1, REX_PRESENT_WHOLE},   {0, 2, REX_PRESENT_IN_PART},   {1, 2, REX_ABSENT},
                 {8, 24, REX_PRESENT_INSIDE},   {16, 8, REX_PRESENT_WHOLE},  {15, 2, REX_PRESENT_IN_PART},  {23, 2, REX_PRESENT_IN_PART},
                 {32, 16, REX_PRESENT_IN_PART}, {40, 8, REX_PRESENT_WHOLE},  {39, 2, REX_PRESENT_IN_PART},  {48, 8, REX_ABSENT}};
    static const struct {
        int at;
        size_t size, device;
    } has[] = {{0, 1, 0x10000}, {16, 8, 0x20000}, {32, 8, 0x30000}, {40, 8, 0x40000}};
    start();
    begin_row(2, 1, 0);
    for (size_t i = 0; i < COUNT(has); i++)
        the_record()->mappings[i] = (struct fake_mapping){(uintptr_t)bytes + (uintptr_t)has[i].at, has[i].size, has[i].device};
    for (size_t i = 0; i < COUNT(asked); i++)
        CHECK_EQUAL(rex_memory_presence(bytes + asked[i].at, asked[i].size, 0), asked[i].presence);
}

/* Calls that are not waited for, each with other memory, which libomptarget has no more when the next one leaves. */
TEST_IN_CHILD(loose_memory_is_dropped)
{
    start();
    for (int i = 0; i < 4000; i++) {
        void *at = bytes + 16 * i;
        int64_t size = 8, type = REX_MAP_TOFROM;
        struct rex_map map = {1, &at, &at, &size, &type, NULL, NULL};
        rex_present_enter(REX_CALL_LAUNCHES, &map, 0);
        the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)at, 8, 0x10000};
        rex_present_leave(REX_CALL_LAUNCHES, &map, 0, REX_LEFT_UNSURE);
    }
    CHECK(rex_present_table(0)->mapped.count < 200);
}

/* The entries that N numbers in a scrambled order make, while every third goes again, against a plain array. */
TEST(entries_are_in_order)
{
    enum { N = 997, WIDE = 16 };
    static bool has[N];
    struct rex_entry_list list = {0};
    for (unsigned i = 0; i < 3 * N; i++) {
        unsigned cell = i * 431 % N;
        uintptr_t begin = WIDE + cell * WIDE;
        struct rex_entry made = {.begin = begin, .end = begin + WIDE / 2};
        struct rex_entry *found = rex_entries_first(&list, begin, made.end);
        assert_true((found != NULL) == has[cell]);
        if (has[cell] && i % 3 != 1)
            rex_entries_take_out(&list, found), has[cell] = false;
        else if (!has[cell])
            assert_true(rex_entries_make_room(&list, 1) && rex_entries_add(&list, &made)->begin == begin), has[cell] = true;
        unsigned next = cell + 1, last = cell;
        while (next < N && !has[next])
            next++;
        while (last > 0 && !has[last - 1])
            last--;
        found = rex_entry_touching(&list, rex_entries_near(&list, i, made.end), UINTPTR_MAX);
        assert_true(next < N ? found != NULL && found->begin == WIDE + next * WIDE : found == NULL);
        uint32_t before = rex_entries_before(&list, begin);
        assert_true(last > 0 ? list.entry[before].begin == last * WIDE : before == 0);
    }
    assert_true(list.used <= N + 1 && list.levels > 3);
    free(list.entry);
}

/* ---- calls of several threads ----------------------------------------------------------------------------------------------------------- */

/*
 * A schedule has steps with blanks between them. After each step exactly those threads wait that it says.
 *   aB0-2,4-5p  thread a (to d) enters a call: B begins, E ends, U updates, L launches, D launches by the driver. Each row has the cells
 *               from, to. Letters behind it: c it is copied back, d deleted, h held, m a member, p attached to the last cell, M it has a
 *               mapper, e its base is at its end, b behind that, * it comes 18 times. ^ for rows: those of the call that a is in.
 *   !           behind such a step: the thread waits.
 *   a.bc        a's call leaves, and then b and c wait no more. a~bc: it leaves, and is over later.
 *   =mm.mm...   libomptarget has these cells from now on. It maps what a call begins when that leaves.
 *   [11.??...]  the table: the reference count of each cell's entry, ? it is unknown, o a call owns the entry, - it is gone, l it is loose.
 *   F           all entries may be wrong. K: a child of fork has none, and no call at work. #: there is no memory from now on.
 *   O20bc       20 milliseconds pass, and then b and c wait no more. W: the log has told of a wait of 10 seconds.
 *   Rb          b's launch goes to libomptarget, beside another one.
 *   N           no launch goes by the driver for want of memory. S: libomptarget may have what the table lacks.
 */
static const char *const schedules[] = {
    /* Begins of absent memory wait for the driver, and are waited for; those of present memory are not. */
    "aB0-2 bL1-2! a.b b. [11......]",
    "aB0-2 bD1-3! a.b b.",
    "aB0-2 bU0-1! a.b b.",
    "aB0-2 bB0-2! a.b b. [22......]",
    "aB0-2 bE0-2! a.b [oo......] =........ b. [........]",
    "aB0-2 bB2-4 cD4-6 c. b. a. [1111....]",
    "aB0-2 a. bL0-2 cD1-2 dU0-2 aB0-2 a. [22......] b. c. d.",
    "aL0-1p bB7-8 b. a. [.......?]",
    "aB0-1p bL7-8! a.b b. [?......?]",
    /* A call that attaches or detaches a pointer and an update of its memory exclude each other. */
    "aB7-8 a. bU7-8 aB0-1p! b.a [o......1] a. [?......?] bU7-8 aB2-3p! b.a a.",
    "aB7-8 a. aB0-1p bU7-8! a.b b. bU7-8 aE0-1p! cU7-8! O10c b. c.a [o......o] a.",
    /* Without an entry two launches, one by the driver, exclude each other if either copies back. */
    "aD0-2 bD0-2 cL0-2 a. b. c.",
    "aD0-2c bD1-3! a.b b.",
    "aD0-2 bD1-3c! a.b b.",
    "aD1-3 bL0-2c! a.b b.",
    "aL1-3c bD0-2 Rb a. cD0-2c b. c.",
    "aL0-1p bD7-8 Rb b. a.",
    /* A launch by the driver that looks again and has to wait again holds none of its rows. */
    "aB0-2 a. aB3-5 bD0-2,3-5! dB6-8 d. cE0-2 [oo.oo.11] =......mm c. [...oo.11] a.b [...11.11] b.",
    /* libomptarget cannot map two that overlap in part at once. */
    "aL0-2 bL1-3! a.b cB1-3 [.oo.....] c. [.??.....] b.",
    "aL0-2c bL0-2c a. b.",
    "aD0-2c bU0-2 b. a.",
    "aD0-2 bB1-3! a.b b. [.11.....]",
    "aL0-2 bB0-2 [oo......] b. [??......] a.",
    "aL0-2 bB2-4 b. a. [..11....]",
    "aL0-2 bE0-2! a.b b.",
    "aD4-6 bE0-2,5-7! a.b b.",
    "aB0-2 a. bL0-2c,3-5c cD3-5 b. c.",
    "aB0-2 a. bL0-2c aB0-2,3-4 a. cB4-5 c. b. [22.11...]",
    "aL0-4 bB0-2! a.b b. [11......]",
    "aL0-2 bB0-4! a.b b. [1111....]",
    "aE0-2 bB0-2! a.b b. [11......]",
    "aE0-2 bL0-2! a.b b.",
    "aU0-2 bB0-2! a.b b. [11......]",
    "aB0-2 a. bB1-3 cE0-2! b.c c.",
    "aB0-2 a. bB1-3 cB2-4! b.c c.",
    "aB0-2 a. bB1-3 cU2-3! b.c c.",
    /* Before a data call that waits no launch by the driver begins; others do. */
    "aD0-2 bB0-2! cD0-2! dL0-2 d. a.b [oo......] b.c c.",
    "aD0-2 bE0-2! cD0-2! a.b b.c c.",
    "aD0-2c bB1-3! O11000 W a.b b.",
    "aB0-2 a. bU0-2 aE0-2! O11000 O11000 W b.a a. W",
    "aB0-2 a. bU0-2 aE0-2! cD0-2! O10c O10000 c. b.a a. W",
    /* In between launches and updates that meet only waiting calls go on: 10 ms after 10, 20 after 20. */
    "aD0-2 bB0-2,3-4! cD3-4! O10c c. cD3-4 O10 dD3-4! c. O20d d. a.b b.",
    "aB0-2 a. bD0-2 cE0-2! dU0-2! O10d d. dL0-2 aD0-2 O10 a. aD0-2! d. O20a a. b.c c.",
    "aB0-2 a. bD0-2 cE0-2! O10 dD0-2 O10 aU0-2! b. d.c c.a a.",
    /* Many ranges, in order or not: calls between them wait for none. */
    "aD6-8c,2-4c bD4-6c cL0-2c dU5-6 d. a. b. c.",
    "aD6-8c,2-4c bD3-5! a.b b.",
    "aD0-1c,2-3c,4-5c bD1-2c,3-4c,5-6c a. b.",
    "aD0-1c,2-3c,4-5c bD1-2c,4-5c! a.b b.",
    "aD7-8c,6-7c,5-6c,4-5c,2-3c,1-2c,0-1c,0-1c,0-1c bD3-4c cD2-3,0-1! b. a.c c.",
    "aB7-8,6-7,5-6,4-5,3-4,2-3,1-2,0-1,0-1 a. [21111111] =........ aE0-8 a. [........]",
    "aB4-6,0-2 a. [11..11..] aB0-2* a. [++..11..]",
    /* An end that is the last waits for users; meanwhile launches and updates wait, and begins do not. A begin lets them go on, and the end when those have left. */
    "aB0-2 a. bL0-2 cE0-2! b.c [oo......] c. [??......]",
    "aB0-2 a. bU0-2 cE0-2! dL0-2! b.c c.d d.",
    "aB0-2 a. bD0-2 cE0-2! dU0-2! b.c c.d d.",
    "aB0-2 a. bD0-2 cE0-2! dD0-2! aB0-2 [11......] a.d aL0-2 b.c [11......] c. d. a. [11......]",
    "aL0-2 bE0-2! cB0-2 c. a.b b. [??......] aL0-2 a.",
    "aB0-2 a. aE0-2 bL0-2! =........ a.b [........] b.",
    "aB0-2 a. aE0-2 bE0-2! =........ a.b b. [........]",
    "aB0-2 a. aE0-2 bB0-2! =........ a.b [oo......] b. [11......]",
    /* One that is not the last passes. Of several rows it waits for the last ones alone, and has subtracted none. */
    "aB0-2 a. aB0-2 a. bL0-2 cE0-2 [11......] aE0-2! b. c.a a. [??......]",
    "aB0-2,3-5 a. aB0-2 a. bL3-5 cE0-2,3-5! [22.11...] dL0-2 d. b.c [11.oo...] c. [11.??...]",
    "aB0-2,3-5 a. aB0-2 a. bL0-2 cE0-2,3-5 [11.oo...] dL3-5! b. =mm...... c.d [11......] d.",
    "aB0-2 a. aB0-2 a. aE0-1,1-2 [oo......] a. [??......]",
    "aB0-4 a. aB0-4 a. bL0-2 cE0-4,1-2md! b.c c.",
    "aB0-2 a. aB0-2 a. bL0-2 cE0-2,0-2! dL0-2! b.c c.d d.",
    "aB0-2,2-4 a. aB0-2 a. bD0-2 cE0-2,2-2! b.c c.",
    "aB0-2,2-4 a. aE1-3 [oooo....] =..mm.... a. [..??....]",
    "aB0-2,3-5 a. aB0-2,3-5 a. aE0-2d [oo.22...] a. aE4-6 [??.oo...] a. [??.??...]",
    /* Rows that count one, none, or nobody knows. */
    "aB0-2h,3-5e,6-7b a. [??.11.?.] aB3-5b a. [??.??.?.]",
    "aB0-4,1-2 a. [2222....] aB1-2m a. [2222....] aE1-2m [2222....] a. aE1-2 [1111....] a. aB1-2h a. [????....]",
    "aB1-2,0-4m a. [????....]",
    "aB0-2,0-4 a. [2222....] bB4-8,4-6 b. [22222222]",
    "aB0-4,1-2m a. [1111....]",
    "aB0-4,1-2h a. [????....]",
    "aB0-2,1-3 a. [??......]",
    "aB0-2 a. aB1-3 a. [??......]",
    "aB0-2,2-4,4-6,6-8 a. bU3-3 b. [11111111] bL3-3 b. [??????11]",
    "aB0-2,2-4,4-6,6-8 a. bE5-5 [11??oo??] b. [11??????]",
    "aB0-2,2-4,4-6 a. bB1-1 b. [????11..]",
    "aB0-4,1-1 a. [????....] aB5-5 a. [????....]",
    /* A call with a mapper may use all memory. */
    "aL0-1M bD2-4 cB4-6! a.c b. c. [....11..]",
    "aB0-1M bD2-4! cL4-6c c. a.b b.",
    "aU0-1M bD2-4c cE4-6! b. a.c c.",
    "aE0-1M bL2-4! a.b b.",
    "aD2-4c bL0-1M! a.b b.",
    "aD2-4 bB0-1M! a.b b.",
    "aB6-8 a. bD2-4c cL0-1M! b.c c.",
    "aD2-4 bE0-1M! a.b b.",
    "aB2-4 a. bL0-1M cD2-4 c. b. bE0-1M [..oo....] b. [..??....]",
    "aB0-3,4-7 a. aE7-8M =m.....m. a. [........]",
    /* Entries that are gone stay while a call uses them, or makes them. */
    "aB0-2,3-5 a. bL0-2 F [--......] cE0-2! aB6-7 a. [--....1.] b.c [......1.] c.",
    "aB0-2,3-5 a. F [........] =........ aB0-2 a. [11......]",
    "aB0-2 F [--......] a. [........]",
    "aB0-2 =........ aL3-4 a. a. [11......]",
    "aB0-2 a. =........ aE4-4 a. [........] aB0-2 a. [11......]",
    /* A begin inside of unseen mappings makes loose entries. */
    "aB7-8M =...mm... a. bB1-2,2-4 b. [.lll....]",
    "aB7-8M a. aL1-3 =.mm..... bB1-3 [.oo.....] b. [.ll.....] a. [.ll.....]",
    /* A call inside of another one locks nothing. If its rows are others, the table does not know what they do. */
    "aB0-2 aL0-2 a. [oo......] aE0-2 a. [--......] a. [........] S",
    "aB0-2 aD0-2 a. a. [11......] bD0-2 aU0-2 aD0-2 a. a. b.",
    "aU0-2 aL4-5 a. a. S",
    "aB0-2 a. aB0-2 aB^ a. a. [22......] aE0-2 aE^ a. [11......] a. [11......]",
    /* The memory of a call that is not over when it leaves is loose, until a begin or a launch finds it absent. */
    "aB0-2,3-5 a. aB0-2,3-5 a~ [ll.ll...] aB1-2 a. [ll.ll...] F [ll.ll...]",
    "aB0-2 a~ [ll......] aE0-2 a. [ll......] =........ aB0-2 a. [11......]",
    "aB0-2 a~ bL0-2 =........ aB0-2 a. [??......] b. aE0-2 =........ a. [........]",
    "aB0-4 a~ aB1-2 [loll....] a. [llll....] =.m...... aB0-4 [oooo....] a. [llll....]",
    "aB0-1 a~ aB0-3,1-2,2-6 [ooolll..] a. [llllll..]",
    "aB4-5 a~ aB0-2,1-6 [looooo..] a. [llllll..]",
    /* The part of an entry that a waiting end no longer touches is held no more. */
    "aB0-4 a~ bL2-3 cE2-4! aB0-2 [ooll....] a. b.c c. dL0-1 d.",
    "aB0-2 a. aE0-2 a~ =........ [ll......] aE0-2 a. [ll......] aL0-1 [........] a.",
    "aB0-2,3-5 a. aE2-2 a~ [ll.ll...]",
    "aB2-4 a. aL0-1,1-6 a~ [.lllll..]",
    "aD0-2 =m....... bL0-1 b~ [l.......] a.",
    "=mm...... # aL0-2 a~ [........] N",
    "aB7-8M a. aB0-2 a. aE4-5d a. [??......] S",
    /* Without memory for its rows a call uses all memory; without memory of its own the thread waits for all. */
    "aB0-2,3-5 a. bL0-2 # aE0-2*! [??.??...] b.a [oo.oo...] =mm...... a. [??......] S",
    "aB0-2 a. # aB4-6* bD6-7! a.b b. [??......]",
    "aB0-2 a. aU0-2 # bL4-6! a.b b. [??......] N",
    "aB0-2 a. # aB3-4,5-6,7-8 a. [11......] N S",
    "aB0-2 a. # aB4-6* a. [??......] S",
    /* If the driver launches no more, and uses nothing, an end waits for launches of a part alone. */
    "bU4-5 b. cU4-5 c. aB0-2 a. # aB3-4,5-6,7-8 a. N S bL0-2 cE0-2 [oo......] c. b. [ll......]",
    "bU4-5 b. cU4-5 c. dU4-5 d. aB0-2 a. bU0-2 # aB3-4,5-6,7-8 a. N S cE0-2! b.c c. aB0-2 a. dL0-2 cE0-2 c. d. aB0-2 a. dL0-1 cE0-2! d.c c.",
    /* A child of fork. */
    "aB0-2 bD2-4c K b. a. K",
};
enum { THREADS = 4, CALLS = 2 };
static struct thread {
    sem_t go;
    bool is_started, waits, leaves, is_later;
    int at_work, asleep_since; /* atomic; the latter is the count of broadcasts then, or 0: awake */
    int depth;
    struct call {
        enum rex_present_call call;
        struct rex_map map;
        void *base[ROWS], *begin[ROWS], *mappers[ROWS];
        int64_t sizes[ROWS], types[ROWS];
        struct rex_range range[ROWS];
        struct rex_range_lock ranges;
        unsigned reasons;
    } call[CALLS];
} threads[THREADS];
static __thread struct thread *self;
static int broadcasts = 1; /* atomic; it changes under the lock of the table */
static bool is_full;
static int64_t passed; /* milliseconds; atomic */
static int told;

/* rules.mk leads librex's calls here. */
#define LED_HERE(type, name, ...)        \
    type __real_##name(__VA_ARGS__);     \
    type __wrap_##name(__VA_ARGS__);     \
    type __wrap_##name(__VA_ARGS__)
LED_HERE(void *, malloc, size_t size)
{
    return is_full ? NULL : __real_malloc(size);
}

LED_HERE(void *, calloc, size_t count, size_t size)
{
    return is_full ? NULL : __real_calloc(count, size);
}

LED_HERE(void *, realloc, void *memory, size_t size)
{
    return is_full ? NULL : __real_realloc(memory, size);
}

LED_HERE(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *lock)
{
    CHECK(self != NULL);
    __atomic_store_n(&self->asleep_since, __atomic_load_n(&broadcasts, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
    int result = __real_pthread_cond_wait(condition, lock);
    __atomic_store_n(&self->asleep_since, 0, __ATOMIC_SEQ_CST);
    return result;
}

/* Time passes in a step alone. */
LED_HERE(int, clock_gettime, clockid_t clock, struct timespec *time)
{
    (void)clock;
    int64_t now = 1000 + __atomic_load_n(&passed, __ATOMIC_SEQ_CST);
    *time = (struct timespec){now / 1000, now % 1000 * 1000000};
    return 0;
}

/* A step ends all waits, whose end is later than now. */
LED_HERE(int, pthread_cond_timedwait, pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *end)
{
    struct timespec now;
    __wrap_clock_gettime(CLOCK_REALTIME, &now);
    CHECK(end->tv_sec > now.tv_sec || (end->tv_sec == now.tv_sec && end->tv_nsec > now.tv_nsec));
    return __wrap_pthread_cond_wait(condition, lock);
}

LED_HERE(int, pthread_cond_broadcast, pthread_cond_t *condition)
{
    __atomic_add_fetch(&broadcasts, 1, __ATOMIC_SEQ_CST);
    return __real_pthread_cond_broadcast(condition);
}

/* As a launch does, which gives back what it has before it waits. */
static void pin(struct call *call)
{
    while ((call->reasons = rex_present_pin(&call->ranges)) == 0 && call->ranges.is_waiting) {
        rex_present_wait(&call->ranges.wait);
        call->ranges.is_waiting = false;
    }
    for (size_t i = 0; i < call->ranges.count && call->reasons == 0; i++) {
        const struct rex_range *range = &call->range[i];
        CHECK_EQUAL(range->device, range->is_shared ? DEVICE_ADDRESS + (range->begin - (uintptr_t)bytes) : 0);
    }
}

static void *work(void *thread)
{
    for (self = thread;; __atomic_store_n(&self->at_work, 0, __ATOMIC_SEQ_CST)) {
        sem_wait(&self->go);
        struct call *call = &self->call[self->depth - 1];
        if (call->call == REX_CALL_BY_DRIVER && !self->leaves)
            pin(call);
        else if (call->call == REX_CALL_BY_DRIVER && call->reasons == 0)
            rex_present_unpin(&call->ranges);
        else if (call->call == REX_CALL_BY_DRIVER)
            CHECK((call->reasons == REX_REASON_NESTED) == rex_present_is_entered());
        else if (self->leaves)
            rex_present_leave(call->call, &call->map, 0, self->is_later);
        else
            rex_present_enter(call->call, &call->map, 0);
    }
    return NULL;
}

/* Nothing happens any more before the next step: each thread has done its own, or sleeps since the last broadcast. */
static bool all_is_quiet(void)
{
    int before = __atomic_load_n(&broadcasts, __ATOMIC_SEQ_CST);
    bool is_quiet = true;
    for (const struct thread *each = threads; each < threads + THREADS; each++)
        is_quiet &= !__atomic_load_n(&each->at_work, __ATOMIC_SEQ_CST) || __atomic_load_n(&each->asleep_since, __ATOMIC_SEQ_CST) == before;
    return is_quiet && __atomic_load_n(&broadcasts, __ATOMIC_SEQ_CST) == before;
}

static void set_mapped(int from, int to, bool is_mapped)
{
    for (int i = from; i < to; i++)
        the_record()->mappings[i] =
            (struct fake_mapping){(uintptr_t)(bytes + i * CELL), is_mapped ? CELL : 0, (uintptr_t)(DEVICE_ADDRESS + i * CELL)};
}

static const struct {
    char letter;
    int64_t type; /* of a row */
    enum rex_present_call call;
} letters[] = {{'B', 0, REX_CALL_BEGINS},          {'E', 0, REX_CALL_ENDS},           {'U', 0, REX_CALL_UPDATES},
               {'L', 0, REX_CALL_LAUNCHES},        {'D', 0, REX_CALL_BY_DRIVER},      {'c', REX_MAP_FROM, 0},
               {'d', REX_MAP_DELETE, 0},           {'h', REX_MAP_OMPX_HOLD, 0},       {'m', REX_MAP_MEMBER_OF(0), 0},
               {'p', REX_MAP_PTR_AND_OBJ, 0},      {'e', 0, 0},                       {'b', 0, 0},
               {'M', 0, 0},                        {'*', 0, 0}};

static size_t letter_of(char letter)
{
    size_t i = 0;
    while (i < COUNT(letters) && letters[i].letter != letter)
        i++;
    return i;
}

/* Adds the row at TEXT to CALL; returns the end of its text. */
static const char *add_row(struct call *call, const char *text)
{
    int row = call->map.count++, cells = text[2] - text[0];
    char *begin = bytes + (text[0] - '0') * CELL, *end = begin + cells * CELL;
    call->base[row] = call->begin[row] = begin;
    call->sizes[row] = cells * CELL;
    call->types[row] = REX_MAP_TO;
    for (text += 3; letter_of(*text) < COUNT(letters) && *text != '*'; text++) {
        call->types[row] |= letters[letter_of(*text)].type;
        call->base[row] = *text == 'p' ? bytes + (CELLS - 1) * CELL : *text == 'e' ? end : *text == 'b' ? end + 1 : call->base[row];
        call->mappers[row] = *text == 'M' ? bytes : NULL;
        call->map.mappers = *text == 'M' ? call->mappers : NULL;
    }
    call->range[row] = (struct rex_range){.begin = (uintptr_t)begin, .end = (uintptr_t)end, .is_changed = (call->types[row] & REX_MAP_FROM) != 0};
    return text;
}

static void enter(struct thread *thread, const char *text)
{
    struct call *call = &thread->call[thread->depth++];
    *call = (struct call){.call = letters[letter_of(*text)].call, .ranges.range = call->range};
    call->map = (struct rex_map){0, call->base, call->begin, call->sizes, call->types, NULL, NULL};
    if (text[1] == '^') {
        call->map = call[-1].map;
        return;
    }
    do {
        const char *row = text + 1;
        text = add_row(call, row);
        for (int i = 1; *text == '*' && i < ROWS; i++)
            add_row(call, row);
        text += *text == '*';
    } while (*text == ',');
    call->ranges.count = (size_t)call->map.count;
    call->ranges.call = call->call;
    thread->waits = *text == '!';
}

static void wait_no_more(const char *names)
{
    while (*names != ' ' && *names != '\0')
        threads[*names++ - 'a'].waits = false;
}

static void leave(const struct thread *thread, const char *text)
{
    const struct call *call = &thread->call[thread->depth - 1];
    for (int i = 0; i < call->map.count && call->call == REX_CALL_BEGINS; i++) {
        int from = (int)((char *)call->begin[i] - bytes) / CELL;
        set_mapped(from, from + (int)call->sizes[i] / CELL, true);
        if (call->types[i] & REX_MAP_PTR_AND_OBJ)
            set_mapped(CELLS - 1, CELLS, true);
    }
    wait_no_more(text + 1);
}

static void describe_table(char *text)
{
    struct rex_present_table *table = rex_present_table(0);
    pthread_mutex_lock(&table->lock);
    for (int i = 0; i < CELLS; i++) {
        uintptr_t at = (uintptr_t)(bytes + i * CELL);
        const struct rex_entry *found = rex_entries_first(&table->mapped, at, at + 1);
        text[i] = found == NULL                     ? '.'
                  : found->is_gone                  ? '-'
                  : found->owner != NULL            ? 'o'
                  : found->is_loose                 ? 'l'
                  : found->refs == REX_REFS_UNKNOWN ? '?'
                  : found->refs > 9                 ? '+'
                                                    : (char)('0' + found->refs);
    }
    pthread_mutex_unlock(&table->lock);
    for (int i = 0; i < CELLS; i++) { /* a look-up finds what stays for now, and its first byte */
        struct rex_mapping found;
        bool stays = strchr(".-ol", text[i]) == NULL;
        CHECK_EQUAL(rex_mapping_find(bytes + i * CELL, CELL, 0, &found), stays);
        CHECK(!stays || (found.begin <= (uintptr_t)(bytes + i * CELL) && (uintptr_t)(bytes + i * CELL) < found.end));
    }
}

static bool is_new(const struct rex_present_table *table)
{
    alarm(9);
    bool was_new = table->mapped.count == 0 && table->at_work == NULL;
    rex_devices_registered(1); /* the child has no module, and libomptarget is asked nothing without one */
    begin_row(0, 8, 0);
    return was_new && table->mapped.count == 1;
}

static void hear(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    told += strstr(message, " bytes at ") != NULL && strstr(message, " has waited 10 seconds, because calls of other threads use") != NULL;
}

static void wait_until_quiet(void)
{
    while (!all_is_quiet())
        sched_yield();
}

static void pass_time(const char *text)
{
    char *end;
    __atomic_add_fetch(&passed, strtol(text, &end, 10), __ATOMIC_SEQ_CST);
    wait_no_more(end);
    pthread_mutex_lock(&rex_present_table(0)->lock);
    __wrap_pthread_cond_broadcast(&rex_present_table(0)->changed);
    pthread_mutex_unlock(&rex_present_table(0)->lock);
    wait_until_quiet();
}

static void begin_thread(struct thread *thread)
{
    pthread_t id;
    CHECK(sem_init(&thread->go, 0, 0) == 0 && pthread_create(&id, NULL, work, thread) == 0);
    thread->is_started = true;
}

static void take_step(const char *step)
{
    struct thread *thread = &threads[(*step - 'a') & (THREADS - 1)];
    char text[CELLS + 1] = "", wanted[CELLS + 1];
    if (*step == '=')
        for (int i = 0; i < CELLS; i++)
            set_mapped(i, i + 1, step[1 + i] == 'm');
    else if (*step == '[') {
        snprintf(wanted, sizeof wanted, "%s", step + 1);
        describe_table(text);
        CHECK_MENTIONS(text, wanted);
    } else if (*step == 'F')
        rex_mapping_ended_unseen();
    else if (*step == 'K') {
        pthread_mutex_lock(&rex_present_table(0)->lock); /* as another thread may */
        CHECK_IN_FORK(is_new(rex_present_table(0)));
        pthread_mutex_unlock(&rex_present_table(0)->lock);
    } else if (*step == '#')
        is_full = true;
    else if (*step == 'O')
        pass_time(step + 1);
    else if (*step == 'W')
        CHECK_EQUAL(told, 1);
    else if (*step == 'R')
        CHECK_EQUAL(threads[step[1] - 'a'].call[0].reasons, REX_REASON_BESIDE);
    else if (*step == 'N')
        CHECK(rex_process_reasons() & REX_REASON_NO_MEMORY);
    else if (*step == 'S')
        CHECK(!rex_all_mappings_are_seen());
    else {
        thread->is_later = step[1] == '~';
        thread->leaves = step[1] == '.' || thread->is_later;
        if (thread->leaves)
            leave(thread, step + 1);
        else
            enter(thread, step + 1);
        if (!thread->is_started)
            begin_thread(thread);
        __atomic_store_n(&thread->at_work, 1, __ATOMIC_SEQ_CST);
        sem_post(&thread->go);
        wait_until_quiet();
        thread->depth -= thread->leaves;
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(__atomic_load_n(&threads[i].at_work, __ATOMIC_SEQ_CST), threads[i].waits);
}

TEST_FOR_EACH(follow_schedule, given, schedules)
{
    const struct rex_present_table *table = rex_present_table(0);
    rex_set_log_callback(hear, NULL);
    start();
    for (const char *step = *given; step != NULL; step = strchr(step, ' ') == NULL ? NULL : strchr(step, ' ') + 1) {
        fprintf(stderr, "%s\n", step);
        take_step(step);
    }
    CHECK(table->at_work == NULL);
    const struct rex_entry *left;
    REX_EACH_ENTRY_BETWEEN(&table->mapped, left, 0, UINTPTR_MAX)
    CHECK(left->users == 0 && left->awaited == 0 && left->owner == NULL);
}

