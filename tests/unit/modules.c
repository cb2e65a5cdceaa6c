/*
 * modules.c - modules: registered once and ended, by which name, beside which others. Refusals and
 * what is logged: tests/golden/messages/offload.txt.
 *
 * The driver and libomptarget are fakes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>
#include <sched.h>

#include "module/modules.h"
#include "omp/flight.h"
#include "omp/mappingend.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "rex/queue.h"
#include "support/messages.h"

MESSAGES("offload");

#define SM_90 "tests/data/sm_90.cubin"
#define HOST FAKE("host.so")
#define NAME(text) ((char *)(uintptr_t)(text))

static char keys[6];
static double table[4];
static struct __tgt_offload_entry first_entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                     {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
static struct __tgt_offload_entry second_entries[] = {{&keys[2], NAME("none__kernel__"), 0, 0, 0},
                                                      {table, NAME("table"), sizeof table, 0, 0}};
static struct rex_module first = {.struct_size = sizeof first,
                                  .entries_begin = first_entries,
                                  .entries_end = first_entries + 2,
                                  .image_name = SM_90};
static struct rex_module second = {.struct_size = sizeof second,
                                   .entries_begin = second_entries,
                                   .entries_end = second_entries + 2,
                                   .image_name = SM_90};

static void start(int sm, int release)
{
    use_gpu(sm);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
}

/* ---- what is no module ----------------------------------------------------------------------- */

TEST_IN_CHILD(no_modules)
{
    struct rex_module small = first;
    start(90, 22);
    small.struct_size = sizeof small - 1;
    for (int i = 0; i < 2; i++) {
        struct rex_module *module = i == 0 ? NULL : &small;
        REFUSED(rex_module_register(module, NULL));
        REFUSED(rex_module_register(module, SM_90));
        REFUSED(rex_module_init(module));
        REFUSED(rex_module_fini(module));
        REFUSED(rex_module_add(module));
    }
    refuses(rex_module_on_host(NULL) ? REX_OK : rex_last_error_code(), "rex_module_on_host");
    refuses(*rex_module_image_path(NULL) != '\0' ? REX_OK : rex_last_error_code(),
            "rex_module_image_path");
    CHECK_EQUAL(the_record()->count, 0);
}

/* ---- which is whose -------------------------------------------------------------------------- */

static bool is_registered(const struct rex_module *module)
{
    return *rex_module_image_path(module) != '\0';
}

/* As code calls it that includes no header of librex, which would make a call of its own module of
 * it. */
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key,
                            struct __tgt_kernel_arguments *packet);

static int launch_by_key(char *key)
{
    void *base[2] = {NULL, NULL};
    int64_t sizes[2] = {8, 8}, types[2] = {0x120, 0x120};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 2,
                                            .ArgsBase = base,
                                            .Args = base,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types};
    return rex___tgt_target_kernel(0, 1, 1, key, &packet);
}

/* A key is found in what is only known, too; where it is in two modules, in the one that is
 * registered. */
TEST_OF_EACH(keys_are_found, bool, is_later, false, true)
{
    static struct rex_module unregistered, misshapen; /* they stay on the list */
    start(90, 22);
    unregistered = misshapen = first;
    misshapen.entries_begin = (struct __tgt_offload_entry *)(void *)((char *)first_entries + 4);
    CHECK_EQUAL(rex_module_add(&misshapen), REX_OK);
    CHECK_EQUAL(rex_module_add(is_later ? &first : &unregistered), REX_OK);
    CHECK_EQUAL(rex_module_add(is_later ? &unregistered : &first), REX_OK);
    CHECK_EQUAL(rex_module_add(&first), REX_OK);
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    REFUSED(launch_by_key(&keys[5]));
    CHECK_EQUAL(launch_by_key(&keys[1]), REX_OK);
    CHECK(is_registered(&first) == !is_later &&
          is_registered(&unregistered) == is_later); /* the newest */
    CHECK_EQUAL(launch_by_key(&keys[0]), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 2);
    CHECK_EQUAL(rex_module_fini(&second), REX_OK);
    CHECK_EQUAL(launch_by_key(&keys[1]), REX_OK);
}

/* The smaller table is looked up in the larger one, whichever comes first. */
TEST_OF_EACH(one_key_twice, bool, is_larger_first, false, true)
{
    static struct __tgt_offload_entry three[] = {{&keys[3], NAME("plain__kernel__"), 0, 0, 0},
                                                 {&keys[4], NAME("env__kernel__"), 0, 0, 0},
                                                 {&keys[1], NAME("none__kernel__"), 0, 0, 0}};
    static struct rex_module larger = {.struct_size = sizeof larger,
                                       .entries_begin = three,
                                       .entries_end = three + 3,
                                       .image_name = SM_90};
    struct rex_module *one = is_larger_first ? &larger : &first,
                      *other = is_larger_first ? &first : &larger;
    start(90, 22);
    CHECK_EQUAL(rex_module_register(one, NULL), REX_OK);
    REFUSED(rex_module_register(other, NULL));
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
    CHECK_EQUAL(rex_module_fini(one), REX_OK);
    CHECK_EQUAL(rex_module_register(other, NULL), REX_OK);
    REFUSED(rex_module_register(one, NULL));
}

/* The message names the first of several keys, in the order of the module that comes later. */
TEST_IN_CHILD(two_keys_twice)
{
    static struct __tgt_offload_entry turned[] = {{&keys[1], NAME("none__kernel__"), 0, 0, 0},
                                                  {&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
    static struct rex_module other = {.struct_size = sizeof other,
                                      .entries_begin = turned,
                                      .entries_end = turned + 2,
                                      .image_name = SM_90};
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    REFUSED(rex_module_register(&other, NULL));
}

/* ---- by which name --------------------------------------------------------------------------- */

/* A module's own name, however it is written, asks for no other image: the host's may take its
 * place. */
TEST_IN_CHILD(own_names)
{
    static const struct {
        const char *own, *name;
        bool is_own;
    } cases[] = {
        {"tests/data/none.cubin", "tests/data/none.cubin", true},
        {"tests/data/none.cubin", "./tests/data/none.cubin", true},
        {"tests/data/none.cubin", ".//./tests//data/./none.cubin", true},
        {"./tests/data//none.cubin", "tests/data/none.cubin", true},
        {"none.cubin", "./none.cubin", true},
        {"none.cubin", "none.cubin", true},
        {"/none.cubin", "//none.cubin", true},
        {"/none.cubin", "none.cubin", false},
        {"none.cubin", "/none.cubin", false},
        {"none.cubin", "none.cubi", false},
        {"none.cubin", "none.cubins", false},
        {"none.cubin", ".none.cubin", false},
        {".none.cubin", "none.cubin", false},
        {"a/none.cubin", "anone.cubin", false},
        {"a/none.cubin", "a/.none.cubin", false},
        {"a/none.cubin", "b/none.cubin", false},
        {"none.cubin", "none.cubin/", false},
        {"none/.", "none/", true},
        {NULL, "none.cubin", false},
    };
    start(0, 22);
    first.host_image_name = HOST;
    for (size_t i = 0; i < COUNT(cases); i++) {
        first.image_name = cases[i].own;
        bool is_registered = rex_module_register(&first, cases[i].name) == 0;
        if (is_registered != cases[i].is_own)
            fprintf(stderr, "\"%s\" and \"%s\"\n", cases[i].own, cases[i].name);
        CHECK_EQUAL(is_registered, cases[i].is_own);
        CHECK(strcmp(rex_module_image_path(&first), is_registered ? HOST : "") == 0);
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    }
}

/* Another image than the one that is registered is not taken, and that is told. */
static void asked_for(const void *context)
{
    static const char *const others[] = {"sm_90.cubin", SM_90, "another.cubin", "data/sm_90.cubin"};
    (void)context;
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_EQUAL(rex_module_register(&first, others[i]), REX_OK);
}

static void asked_for_memory(const void *context)
{
    size_t size;
    (void)context;
    start(90, 22);
    first.image = read_bytes(SM_90, &size);
    first.image_size = size;
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK(rex_module_register(&first, "memory") == 0);
    CHECK(rex_module_register(&first, "mem") == 0);
    free((void *)(uintptr_t)first.image);
}

/* ---- once, whoever asks ---------------------------------------------------------------------- */

enum {
    UNREGISTERED,
    BUSY,
    REGISTERED
}; /* in the low bits of a module's state; above them is the number of the attempt */

/* The program's own variable for the descriptor is written as long as there is one; and each
 * attempt has a number of its own. */
TEST_IN_CHILD(published)
{
    static struct __tgt_bin_desc *descriptor = NULL;
    start(90, 22);
    first.descriptor = &descriptor;
    for (int i = 0; i < 3; i++) {
        uintptr_t before = first.state;
        CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
        CHECK(descriptor != NULL);
        CHECK(first.state > before && (first.state & 3) == REGISTERED);
        before = first.state;
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
        CHECK(descriptor == NULL);
        CHECK(first.state > before && (first.state & 3) == UNREGISTERED);
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
        CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], i + 1);
    }
}

/* Nothing is registered or ended inside of a call, nor by the log's function meanwhile. */
static void ask_for_it(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    if (strncmp(message, "registered ", 11) != 0)
        return;
    ++*(int *)context;
    REFUSED(rex_module_register(&first, NULL));
    REFUSED(rex_module_init(&first));
    CHECK_EQUAL(rex_module_fini(&first), REX_OK); /* it is not registered yet */
}

static void ask_inside(enum fake_function function)
{
    (void)function;
    REFUSED(rex_module_register(&second, NULL));
    REFUSED(rex_module_fini(&first));
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK); /* which it is */
    second.image_name = NULL;
    REFUSED(rex_module_register(&second, NULL));
    second.image_name = SM_90;
}

TEST_IN_CHILD(inside)
{
    static char bytes[8];
    int times = 0;
    REX_MAP(map, REX_TO(bytes, 8));
    start(90, 22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(ask_for_it, &times);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(times, 1);
    rex_set_log_callback(NULL, NULL);
    the_record()->on_data = ask_inside;
    CHECK_EQUAL(rex_module_data_enter(&first, 0, &map), REX_OK);
    the_record()->on_data = NULL;
    CHECK_EQUAL(rex_module_region_end(&first, 0, &map), REX_OK);
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
}

/* rules.mk leads these calls here: they are counted. */
static unsigned yields;
int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    __atomic_fetch_add(&yields, 1, __ATOMIC_RELEASE);
    return __real_sched_yield();
}

static bool is_begun;

/* The attempt goes on once another thread waits for it. */
static void wait_for_the_other(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    if (level != REX_LOG_ERROR && strncmp(message, "registered ", 11) != 0)
        return;
    __atomic_store_n(&is_begun, true, __ATOMIC_RELEASE);
    while (__atomic_load_n(&yields, __ATOMIC_ACQUIRE) == 0)
        ;
}

static void *register_first(void *result)
{
    *(int *)result = rex_module_register(&first, NULL);
    return NULL;
}

/* Threads that come meanwhile share what the attempt comes to, and its error; who comes later makes
 * an attempt of his own. */
TEST_OF_EACH(shared, int, expected, REX_OK, REX_ENOKERNEL)
{
    pthread_t thread;
    int result = 42;
    start(90, 22);
    first_entries[1].name = expected == REX_OK ? first_entries[1].name : NAME("evn__kernel__");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(wait_for_the_other, NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, register_first, &result), 0);
    while (!__atomic_load_n(&is_begun, __ATOMIC_ACQUIRE))
        ;
    CHECK_EQUAL(first.state & 3, BUSY);
    CHECK_EQUAL(rex_module_register(&first, NULL), expected);
    CHECK_EQUAL(rex_last_error_code(), expected);
    CHECK(expected == REX_OK || strstr(rex_last_error(), "evn__kernel__") != NULL);
    pthread_join(thread, NULL);
    CHECK_EQUAL(result, expected);
    CHECK_EQUAL(first.state >> 2, 1);
    CHECK_EQUAL(rex_module_register(&first, NULL), expected);
    CHECK_EQUAL(first.state >> 2, expected == REX_OK ? 1 : 2);
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], expected == REX_OK ? 1 : 0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The last module ends all mappings, which queues may be using; another one only its own kernels.
 */
TEST_IN_CHILD(last_one)
{
    struct rex_queue *queue = NULL;
    static char bytes[64];
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &first, 0, "at work", 0, NULL), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, (void *)(uintptr_t)4096, bytes, sizeof bytes), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_module_fini(&second), REX_OK);
    REFUSED(rex_module_fini(&first));
    CHECK(is_registered(&first));
    *(int *)in_driver("fake_cuda_busy") = 0;
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
}

/* Globals that are mapped are looked for at the end, each of them, on each device. */
TEST_IN_CHILD(unmapped)
{
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    uint32_t before = the_record()->lookups;
    CHECK_EQUAL(rex_module_fini(&second), REX_OK);
    CHECK_EQUAL(the_record()->lookups - before, the_record()->devices);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    before = the_record()->lookups;
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    CHECK_EQUAL(the_record()->lookups, before);
}

/* At the end of the process libomptarget ends what is registered; nothing else may be done. */
static void at_exit(void)
{
    struct __tgt_kernel_arguments packet = {.Version = 3};
    REFUSED(rex_module_launch(&first, 0, 1, 1, &keys[0], &packet));
    REFUSED(rex_module_register(&second, NULL));
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
    CHECK(is_registered(&first));
}

TEST_IN_CHILD(at_the_end)
{
    start(90, 22);
    atexit(at_exit);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    exit(0);
}

/* ---- LLVM 18 --------------------------------------------------------------------------------- */

/* It takes no registration back: the same image is used again, and no other can be. */
TEST_IN_CHILD(kept)
{
    start(90, 18);
    for (int i = 0; i < 3; i++) {
        CHECK(rex_module_register(&first, SM_90) == 0);
        CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
        CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], 0);
        CHECK(strcmp(rex_module_image_path(&first), "") == 0);
        REFUSED(rex_module_register(&first, "tests/data/limits_sm_90.cubin"));
    }
    /* Nor an image that comes after a device was used. */
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(rex_module_init(&first), REX_OK);
    REFUSED(rex_module_register(&second, NULL));
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
}

/* With a module all others are registered that librex knows, but for those that have ended; what
 * fails of them is theirs. */
TEST_ON_FAKES(along, 18, 19, 22)
{
    static struct __tgt_offload_entry wrong_entry = {&keys[5], NAME("nonesuch__kernel__"), 0, 0, 0};
    static struct rex_module wrong = {.struct_size = sizeof wrong,
                                      .entries_begin = &wrong_entry,
                                      .entries_end = &wrong_entry + 1,
                                      .image_name = SM_90};
    start(90, release);
    CHECK_EQUAL(rex_module_add(&second), REX_OK);
    CHECK_EQUAL(rex_module_add(&wrong), REX_OK);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(is_registered(&second), release == 18);
    CHECK_EQUAL(second.state >> 2, release == 18);
    CHECK(!is_registered(&wrong));
    CHECK_EQUAL(the_record()->registered, release == 18 ? 2 : 1);
    CHECK_EQUAL(rex_module_fini(&second), REX_OK);
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK(!is_registered(&second));
}

/* The program's own function for the log may end a module as soon as it is registered. */
static void end_first(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    if (strcmp(message, "registered " SM_90 " for 2 offload entries") == 0 &&
        ++*(int *)context == 2) {
        CHECK_EQUAL(second.state & 3, BUSY);
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    }
}

TEST_IN_CHILD(ended_at_once)
{
    int times = 0;
    start(90, 18);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(end_first, &times);
    CHECK_EQUAL(rex_module_add(&second), REX_OK);
    CHECK_EQUAL(rex_module_register(&first, SM_90), REX_OK);
    CHECK(!is_registered(&first));
    CHECK_EQUAL(times, 2);
}

/* ---- what is given to libomptarget ----------------------------------------------------------- */

/* A module that comes while devices are in use is loaded on all of them at once. */
TEST_IN_CHILD(loaded_on_all)
{
    start(90, 22);
    the_record()->devices = 3;
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 0);
    CHECK_EQUAL(rex_module_init(&first), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 1);
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 4);
    int registered = 0, seen = 0;
    for (uint32_t i = 0; i < the_record()->count; i++) {
        registered += the_record()->calls[i].function == FAKE_REGISTER;
        if (the_record()->calls[i].function == FAKE_BEGIN && registered == 2)
            seen |= 1 << the_record()->calls[i].device;
    }
    CHECK_EQUAL(seen, 7);
    CHECK_EQUAL(rex_module_fini(&second), REX_OK);
}

/* No device for the image: nothing is left of the attempt, and why is told, with this machine's
 * trouble, if it has any. */
TEST_IN_CHILD(for_no_device)
{
    start(90, 22);
    the_record()->devices = 0;
    for (uint32_t i = 1; i <= 2; i++) {
        CHECK_EQUAL(rex_module_register(&first, NULL), REX_ERUNTIME);
        CHECK_MENTIONS(rex_last_error(), "22) accepted device image " SM_90 " for no device");
        CHECK_EQUAL(the_record()->registered, 0);
        CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], i);
    }
}

/* An image is loaded once each time; not where offloading is disabled. */
TEST_OF_EACH(loads, bool, is_disabled, false, true)
{
    use_gpu(90);
    use_release(22);
    if (is_disabled)
        setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    for (int i = 1; i <= 2; i++) {
        CHECK_EQUAL(rex_module_init(&first), REX_OK);
        CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], is_disabled ? 0 : i);
    }
}

TEST_IN_CHILD(in_a_child)
{
    struct rex_queue *queue = NULL;
    int status;
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &first, 0, "loads", 0, NULL), REX_OK);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(rex_device_alloc(8, 0) == NULL);
        REFUSED(rex_module_register(&first, NULL));
        CHECK(strcmp(rex_module_image_path(&first), "") == 0);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&first), REX_OK);
}

/* Where a global is mapped by the load of an image, no call has named it. */
TEST_OF_EACH(with_globals, int, from, 0, 1)
{
    start(90, 22);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK(rex_all_mappings_are_seen());
    second.entries_begin += from; /* the first, or the second and last */
    second_entries[1].size = 1;   /* which nobody looks at */
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), REX_OK);
    CHECK_EQUAL(rex_module_register(&second, NULL), REX_OK);
    CHECK(!rex_all_mappings_are_seen());
}

/* The registration, as a launch finds it: what stands against the driver, how many teams, and
 * nothing to be like. */
struct prepared {
    int sm, release;
    const char *image, *check;
    bool is_disabled;
    unsigned against;
    const char *about;
    uint64_t most_teams, numbers, devices; /* of devices that need no question, and of all */
};

static const struct prepared wanted_ones[] = {
    {90, 22, "tests/data/stateless_sm_90.cubin", NULL, false, 0, NULL, INT32_MAX, 3 + 2, 3},
    {90, 14, "tests/data/stateless_sm_90.cubin", "full", false, 0, NULL, 65536, 3 + 2, 3},
    {90, 22, "tests/data/stateless_sm_90.cubin", "off", false, 0, NULL, INT32_MAX, 3 + 2, 3},
    {90, 22, "tests/data/stateless_sm_90.cubin", NULL, true, 0, NULL, INT32_MAX,
     (uint64_t)INT32_MAX + 1, 0},
    {90, 22, SM_90, NULL, false, REX_AGAINST_GLOBALS, "table", INT32_MAX, 3 + 2, 3},
    {0, 22, HOST, "full", false, REX_AGAINST_DEVICE, NULL, INT32_MAX, 3 + 2, 3},
    {0, 14, HOST, "off", false, REX_AGAINST_DEVICE, NULL, 65536, 3 + 2, 3},
};

TEST_FOR_EACH(prepared, wanted, wanted_ones)
{
    static struct __tgt_offload_entry entry = {&keys[0], NAME("axpy__kernel__"), 0, 0, 0};
    static struct rex_module stateless = {
        .struct_size = sizeof stateless, .entries_begin = &entry, .entries_end = &entry + 1};
    bool is_stateless = strstr(wanted->image, "stateless") != NULL;
    struct rex_module *module = is_stateless ? &stateless : &first;
    module->image_name = wanted->image;
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, wanted->check), REX_OK);
    use_gpu(wanted->sm);
    use_release(wanted->release);
    if (wanted->is_disabled)
        setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
    the_record()->devices = 3;
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_register(module, NULL), REX_OK);
        const struct rex_registration *registration = rex_registration_of(module);
        CHECK_EQUAL(registration->against, wanted->against);
        CHECK(wanted->about == NULL || strcmp(registration->about, wanted->about) == 0);
        CHECK_EQUAL(registration->exact_rows,
                    wanted->check != NULL && strcmp(wanted->check, "full") == 0);
        CHECK_EQUAL(registration->view != NULL,
                    wanted->check != NULL && strcmp(wanted->check, "off") == 0);
        CHECK_EQUAL(registration->most_teams, wanted->most_teams);
        for (size_t slot = 0; slot < REX_RECENT; slot++)
            CHECK(registration->recent[slot] == &rex_never_launched);
        CHECK_EQUAL(rex_flight_enter(), REX_OK);
        CHECK_EQUAL(rex_flight.numbers, wanted->numbers);
        CHECK_EQUAL(rex_flight.devices, wanted->devices);
        rex_flight_leave();
        CHECK_EQUAL(rex_module_fini(module), REX_OK);
    }
}

/* ---- shared objects -------------------------------------------------------------------------- */

/* One that could be closed stays, as its module does; where that cannot be had, it is said. */
static void pinned(const void *context)
{
    bool is_apart = *(const int *)context; /* in a namespace of the loader's own */
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), REX_OK);
    void *library = is_apart ? dlmopen(LM_ID_NEWLM, FAKE("module.so"), RTLD_NOW)
                             : dlopen(FAKE("module.so"), RTLD_NOW);
    struct rex_module *module = library != NULL ? dlsym(library, "fake_module") : NULL;
    CHECK(module != NULL);
    *module = first;
    CHECK_EQUAL(rex_module_add(module), REX_OK);
    lasting(module->registration); /* who looks for lost memory sees nothing of that namespace */
    CHECK_EQUAL(dlclose(library), 0);
    if (!is_apart)
        CHECK(dlopen(FAKE("module.so"), RTLD_NOW | RTLD_NOLOAD) == library);
}

TEST(test_names)
{
    says("%s", in_child(asked_for, NULL));
    says("%s", in_child(asked_for_memory, NULL));
}

TEST(test_pinned)
{
    static const int is_apart[] = {0, 1};
    assert_string_equal(in_child(pinned, &is_apart[0]), "");
    const char *output = in_child(pinned, &is_apart[1]);
    assert_int_equal(
        occurrences(output, "/tests/fake/module.so cannot be pinned; do not dlclose it\n"), 1);
    assert_int_equal(occurrences(output, "librex: "), 1);
}
