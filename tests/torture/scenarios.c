/*
 * scenarios.c - what librex does while its calls fail, step by step: each returns, either with what was asked for or with an error that
 * fits.
 *
 * TORTURE_DEVICE in the environment says what computes: "host", the host device of a real libomptarget; "gpu", a GPU; "fake", a driver and
 * a libomptarget that only count. The kernels are those of tests/data.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "fake.h"
#include "inqueue.h"
#include "rex.h"
#include "rex/inspect.h"
#include "rex/interop.h"
#include "rex/library.h"
#include "rex_kmp.h"
#include "planted.h"
#include "step.h"

REX_KERNEL(plain);

enum { CELLS = 64 };
static uint64_t cell[CELLS], fake_cell[CELLS]; /* what is mapped, and the fake's device memory for it */
static struct {
    bool open;
    struct rex_map map; /* what was built for it */
    struct rex_queue *queue[3];
    struct rex_event *event;
    struct rex_graph *graph;
    struct rex_library *library;
    bool captures;
    void *pinned, *memory;
    bool pin;
} things;

/* ---- launches ----------------------------------------------------------------------------------------------------------------------- */

static uint64_t value = 1000;

/* By libomptarget or by the driver. */
static int launches(void)
{
    static const char *const ways[] = {"__tgt_target_kernel", "__tgt_target_teams_mapper", "cuLaunchKernel", "cuGraphLaunch"};
    int count = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        count += torture_done(ways[i]);
    return count;
}

/* A launch that has returned RESULT, before which BEFORE were done, has computed, or has failed. */
static void check_launch(const char *what, int result, int before)
{
    if (!STEP_RESULT(what, result))
        return;
    if (launches() == before)
        PROBLEM("%s succeeds, and nothing was launched", what);
    if (torture_computes() && cell[0] != value)
        PROBLEM("%s succeeds, and the kernel has computed %llu instead of %llu", what, (unsigned long long)cell[0],
                (unsigned long long)value);
}

static void launch(void)
{
    struct rex_launch_config description = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 1);
    value++;
    REX_MAP(args, REX_VALUE(value), REX_FROM(cell, CELLS));
    int before = launches();
    step_begin();
    check_launch("rex_launch", rex_launch(&description, &args), before);
}

/* The last two go as a graph where the driver launches. */
static void use_launch(void)
{
    enum { UNTIL_GRAPH = 16 }; /* REX_GRAPH_PAYS, of a header that users do not have */
    for (int i = 0; i < UNTIL_GRAPH + 2; i++)
        launch();
}

/* ---- packets ------------------------------------------------------------------------------------------------------------------------ */

int exported_kernel(int64_t device, int32_t teams, int32_t threads, void *key,
                    struct __tgt_kernel_arguments *args) __asm__("rex___tgt_target_kernel");

enum way { DIRECT, SAFE, EXPORTED, RAW };

static int send_packet(enum way way, struct __tgt_kernel_arguments *packet)
{
    void *key = (void *)(uintptr_t)REX_KERNEL_ID(plain);
    return way == DIRECT     ? rex_direct___tgt_target_kernel(-1, 1, 1, key, packet)
           : way == SAFE     ? rex___tgt_target_kernel(-1, 1, 1, key, packet)
           : way == EXPORTED ? exported_kernel(-1, 1, 1, key, packet)
                             : rex_module_launch(&rex_this_module, -1, 1, 1, key, packet);
}

static void use_packets(void)
{
    static const char *const names[] = {"the direct wrapper", "the safe wrapper", "the exported wrapper", "rex_module_launch"};
    bool is_known = TRY(rex_module_add(&rex_this_module));
    for (enum way way = DIRECT; way <= RAW; way++) {
        value++;
        void *base[] = {rex_pack_literal_arg_bytes(&value, sizeof value), cell}, *begin[] = {base[0], cell};
        int64_t sizes[] = {sizeof value, sizeof cell}, types[] = {0x120, 0x22};
        struct __tgt_kernel_arguments packet = {.Version = 2,
                                                .NumArgs = 2,
                                                .ArgsBase = base,
                                                .Args = begin,
                                                .ArgSizes = sizes,
                                                .ArgTypes = types,
                                                .Teams = {1, 1, 1},
                                                .Threads = {1, 1, 1}};
        if ((way == DIRECT && !TRY(rex_module_register(&rex_this_module, NULL))) || (way == EXPORTED && !is_known))
            continue; /* it wants a module that is registered, or known */
        int before = launches();
        step_begin();
        int result = send_packet(way, &packet);
        /* A wrapper returns -1 for each cause that keeps the module from being registered. */
        if (result == REX_EHOST && way != RAW && *rex_module_image_path(&rex_this_module) == '\0')
            result = rex_last_error_code();
        check_launch(names[way], result, before);
    }
}

/* ---- regions ------------------------------------------------------------------------------------------------------------------------ */

/* The fake maps what it is told. */
static void tell_fake(bool mapped)
{
    void *library = torture_on_fake() ? dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD) : NULL;
    struct fake_record *(*get)(void);
    void *address = library != NULL ? dlsym(library, "fake_record") : NULL;
    if (address == NULL)
        return;
    memcpy(&get, &address, sizeof get);
    get()->mappings[0] = (struct fake_mapping){(uintptr_t)cell, mapped ? sizeof cell : 0, (uintptr_t)fake_cell};
}

/* Goes through a pointer, as a mapper of the program's does. */
struct holder {
    uint64_t *cells;
    int64_t count;
};
static struct holder holder = {cell, CELLS};

static int map_holder(struct rex_map_builder *builder, void *element)
{
    struct holder *one = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *one));
    return result == 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, one->cells, 0, one->count)) : result;
}

static int push_all(struct rex_map_builder *builder, void *context)
{
    (void)context;
    return rex_map_add_mapped(builder, map_holder, REX_OBJECT(REX_MAP_TOFROM, holder), sizeof holder);
}

static bool begin_with(const struct rex_map *map)
{
    if (!things.open && TRY(rex_data_enter(-1, map))) {
        things.open = true;
        tell_fake(true);
    }
    return things.open;
}

static bool end_with(const struct rex_map *map)
{
    if (things.open && TRY(rex_data_exit(-1, map))) {
        things.open = false;
        tell_fake(false);
    }
    return !things.open;
}

static bool end(void)
{
    REX_MAP(plainly, REX_TOFROM(cell, CELLS));
    bool ended = end_with(things.map.count > 0 ? &things.map : &plainly);
    if (ended)
        rex_map_free(&things.map);
    return ended;
}

static bool begin(void)
{
    REX_MAP(map, REX_TOFROM(cell, CELLS));
    return begin_with(&map);
}

/* What the device has is what the launches before have made. */
static void look(const char *what, uint64_t expected)
{
    REX_MAP(map, REX_FROM(cell, CELLS));
    memset(cell, 0, sizeof cell);
    if (TRY(rex_data_update(-1, &map)) && torture_computes() && cell[0] != expected)
        PROBLEM("%s: the device has %llu instead of %llu", what, (unsigned long long)cell[0], (unsigned long long)expected);
}

/* In a queue, or NULL: waited for. */
static bool launch_present(struct rex_queue *queue)
{
    struct rex_launch_config description = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 1);
    uint64_t before = value++;
    REX_MAP(args, REX_VALUE(value), REX_PRESENT(REX_ALLOC(cell, CELLS)));
    description.queue = queue;
    bool done = TRY(rex_launch(&description, &args));
    if (!done)
        value = before;
    return done;
}

/* More rows than a call has room for at first: of what is mapped, and of what is not. */
static void update_parts(void)
{
    enum { PARTS = 20 };
    static uint64_t other[PARTS];
    void *begin[PARTS];
    int64_t sizes[PARTS], types[PARTS];
    for (int i = 0; i < PARTS; i++) {
        begin[i] = &cell[i];
        sizes[i] = sizeof *cell;
        types[i] = REX_MAP_FROM;
    }
    struct rex_map map = {PARTS, begin, begin, sizes, types, NULL, NULL};
    TRY(rex_data_update(-1, &map));
    for (int i = 0; i < PARTS; i++)
        begin[i] = &other[i];
    if (TRY(rex_data_enter(-1, &map))) {
        types[0] |= REX_MAP_PRESENT;
        TRY(rex_module_region_end(&rex_this_module, -1, &map));
    }
}

static void use_region(void)
{
    if (begin()) {
        REX_MAP(map, REX_TO(cell, CELLS));
        cell[0] = ++value;
        if (TRY(rex_data_update(-1, &map)))
            look("rex_data_update", value);
        update_parts();
        launch_present(NULL);
        rex_target_is_present(cell, sizeof cell, -1);
        rex_mapped_ptr(cell, -1);
    }
    end();
}

static void use_mapper(void)
{
    if (torture_on_fake() || things.open) /* it maps nothing through a pointer */
        return;
    if (TRY(rex_map_build(&things.map, NULL, push_all, NULL, NULL)) && begin_with(&things.map)) {
        if (launch_present(NULL))
            look("a launch", value);
    }
    end();
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------- */

static void use_memory(void)
{
    uint64_t from = ++value, to = 0;
    if (!TRY(rex_offload_init()))
        return;
    step_begin();
    things.memory = rex_device_alloc(sizeof from, 0);
    if (!STEP_POINTER("rex_device_alloc", things.memory))
        return;
    bool there = TRY(rex_device_copy_to(things.memory, &from, sizeof from, 0)),
         back = TRY(rex_device_copy_from(&to, things.memory, sizeof to, 0));
    if (there && back && to != from)
        PROBLEM("rex_device_copy_from: the memory has %llu instead of %llu", (unsigned long long)to, (unsigned long long)from);
    TRY_ONE_OF(rex_device_gpu(0), REX_ENODEVICE);
    rex_device_free(things.memory, 0);
    things.memory = NULL;
}

static void use_pinned(void)
{
    step_begin();
    if (things.pinned == NULL) /* else it could not be freed the last time */
        things.pinned = rex_host_alloc(4096);
    if (STEP_POINTER("rex_host_alloc", things.pinned))
        memset(things.pinned, 1, 4096);
    things.pin = TRY(rex_host_register(cell, sizeof cell));
    if (things.pin && TRY(rex_host_unregister(cell)))
        things.pin = false;
    if (things.pinned != NULL && TRY(rex_host_free(things.pinned)))
        things.pinned = NULL;
}

/* ---- queues ------------------------------------------------------------------------------------------------------------------------- */

static void called(void *argument)
{
    (void)argument;
}

static bool make_queues(void)
{
    return TRY(rex_queue_create(&things.queue[0], -1, "first", 0)) && TRY(rex_queue_create(&things.queue[1], -1, NULL, 0));
}

static bool destroy_queues(void)
{
    for (int i = 0; i < 2; i++) {
        TRY(rex_queue_destroy(things.queue[i]));
        things.queue[i] = NULL;
    }
    return true;
}

static void move_bytes(struct rex_queue *queue)
{
    static uint64_t from[2], to[2];
    step_begin();
    things.memory = rex_device_alloc(sizeof from, -1);
    if (!STEP_POINTER("rex_device_alloc", things.memory))
        return;
    from[0] = ++value;
    bool moved = TRY(rex_queue_copy_to(queue, things.memory, from, sizeof from));
    moved = TRY(rex_queue_copy_from(queue, to, things.memory, sizeof to)) && moved;
    moved = TRY(rex_queue_sync(queue)) && moved;
    if (moved && torture_computes() && to[0] != from[0])
        PROBLEM("rex_queue_copy_from: the memory has %llu instead of %llu", (unsigned long long)to[0], (unsigned long long)from[0]);
    TRY(rex_queue_copy_peer(queue, (uint64_t *)things.memory + 1, -1, things.memory, -1, sizeof *from));
    TRY(rex_queue_sync(queue));
    TRY(rex_device_copy_peer(things.memory, -1, (uint64_t *)things.memory + 1, -1, sizeof *from));
    for (size_t width = 1; width <= 4; width *= 2)
        TRY(rex_queue_fill(queue, things.memory, from, width, sizeof from));
    TRY(rex_queue_host_func(queue, called, NULL));
    TRY(rex_queue_sync(queue));
    rex_device_free(things.memory, -1);
    things.memory = NULL;
}

/* A queue of somebody else's stream, the default one; and one that others put work in. */
static void use_streams(struct rex_queue *queue)
{
    void *stream, *context;
    if (!TRY(rex_queue_from_stream(&things.queue[2], -1, NULL, "theirs", 0)))
        return;
    TRY_ONE_OF(rex_queue_stream(queue, &stream, &context), REX_ENODEVICE);
    move_bytes(things.queue[2]);
    TRY(rex_queue_destroy(things.queue[2]));
    things.queue[2] = NULL;
}

static void use_events(struct rex_queue *const queue[2])
{
    double seconds;
    if (!TRY(rex_event_create(&things.event)))
        return;
    if (TRY(rex_event_record(things.event, queue[0]))) {
        TRY(rex_queue_wait_event(queue[1], things.event));
        TRY(rex_event_sync(things.event));
        TRY(rex_event_query(things.event));
        TRY(rex_event_elapsed(&seconds, things.event, things.event));
    }
    rex_event_destroy(things.event);
    things.event = NULL;
}

static void use_queue(void)
{
    int before = launches();
    if (make_queues() && begin()) {
        REX_MAP(map, REX_FROM(cell, CELLS));
        int count = launch_present(things.queue[0]) + launch_present(things.queue[0]);
        int launched = launches() - before;
        if (launched != count)
            PROBLEM("%d launches of a queue succeed, and %d were made", count, launched);
        use_events(things.queue);
        bool updated = TRY(rex_queue_update(things.queue[0], &map));
        bool is_done = TRY(rex_queue_sync(things.queue[0])) && count > 0;
        if (updated && is_done && torture_computes() && cell[0] != value)
            PROBLEM("a queue has computed %llu instead of %llu", (unsigned long long)cell[0], (unsigned long long)value);
        move_bytes(things.queue[0]);
        use_streams(things.queue[0]);
        TRY(rex_queue_query(things.queue[0]));
    }
    destroy_queues();
    end();
}

/* ---- large copies ------------------------------------------------------------------------------------------------------------------- */

enum { LARGE = (4 << 20) + 1 }; /* what goes by way of pinned memory, and a byte more */

/*
 * By one thread, so that its calls have an order. The launch leaves the copies alone to fail: each
 * failure takes long.
 */
static void prepare_large(void)
{
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    setenv("REX_COPY_THREADS", "1", 1);
    launch();
}

static void copy_large(void)
{
    static unsigned char from[LARGE], to[LARGE];
    static unsigned char seed;
    memset(from, ++seed, sizeof from);
    from[0]++;
    step_begin();
    things.memory = rex_device_alloc(LARGE, -1);
    if (!STEP_POINTER("rex_device_alloc", things.memory))
        return;
    if (TRY(rex_queue_copy_to(things.queue[0], things.memory, from, sizeof from)) &&
        TRY(rex_queue_copy_from(things.queue[0], to, things.memory, sizeof to)) && TRY(rex_queue_sync(things.queue[0])) &&
        memcmp(to, from, sizeof to) != 0)
        PROBLEM("a large copy there and back has other bytes");
    rex_device_free(things.memory, -1);
    things.memory = NULL;
}

static void use_large(void)
{
    if (make_queues())
        copy_large();
    destroy_queues();
}

static bool capture(void)
{
    if (!TRY(rex_graph_begin(things.queue[0])))
        return false;
    bool whole = launch_present(things.queue[0]);
    if (!TRY(rex_event_create(&things.event)))
        whole = false;
    else {
        whole = TRY(rex_event_record(things.event, things.queue[0])) && whole;
        whole = TRY(rex_queue_wait_event(things.queue[1], things.event)) && whole;
        whole = launch_present(things.queue[1]) && whole;
    }
    bool made = TRY(rex_graph_end(&things.graph, things.queue[0]));
    rex_event_destroy(things.event);
    things.event = NULL;
    return made && whole;
}

static void use_graph(void)
{
    if (make_queues() && begin() && capture()) {
        REX_MAP(args, REX_VALUE(value), REX_PRESENT(REX_ALLOC(cell, CELLS)));
        TRY(rex_graph_launch(things.graph, things.queue[0]));
        if (rex_graph_launches(things.graph) != 2)
            PROBLEM("a graph of two launches has %zu", rex_graph_launches(things.graph));
        bool set = TRY(rex_graph_set_args(things.graph, 0, &args)), launched = TRY(rex_graph_launch(things.graph, things.queue[0]));
        bool synced = TRY(rex_queue_sync(things.queue[0]));
        if (set && launched && synced)
            look("a graph", value);
    }
    rex_graph_destroy(things.graph);
    things.graph = NULL;
    destroy_queues();
    end();
}

/* ---- kernels by name ---------------------------------------------------------------------------------------------------------------- */

static bool unload(void)
{
    if (TRY(rex_library_unload(things.library)))
        things.library = NULL;
    return things.library == NULL;
}

/* Where the driver knows nothing of libomptarget's memory, the device is no NVIDIA GPU: a library for one is refused there. */
static void launch_by_name(struct rex_queue *queue)
{
    const void *key = rex_library_kernel(things.library, "plain__kernel__");
    struct rex_launch_config description = rex_launch_config_of(key, 1, 1);
    void *arguments[] = {&value, &things.memory};
    uint64_t seen = 0;
    value++;
    step_begin();
    int result = launch_library_in(queue, things.library, &description, arguments, 2);
    bool launched = step_ended("rex_library_launch", result, REX_EDEVICE) && result == REX_OK;
    bool back = TRY(rex_queue_copy_from(queue, &seen, things.memory, sizeof seen)), synced = TRY(rex_queue_sync(queue));
    if (launched && back && synced && torture_computes() && seen != value)
        PROBLEM("a kernel by name has computed %llu instead of %llu", (unsigned long long)seen, (unsigned long long)value);
}

static void use_library(void)
{
    const char *image = torture_on_host() ? rex_this_module.host_image_name : rex_this_module.image_name;
    void *address;
    size_t size;
    if (TRY_ONE_OF(rex_library_load(&things.library, -1, NULL, 0, image), REX_EUNSUPPORTED) && things.library != NULL) {
        TRY_ONE_OF(rex_library_global(&address, &size, things.library, -1, "table"), REX_EUNSUPPORTED);
        step_begin();
        things.memory = rex_device_alloc(sizeof value, -1);
        if (STEP_POINTER("rex_device_alloc", things.memory) && TRY(rex_queue_create(&things.queue[0], -1, "by name", 0)))
            launch_by_name(things.queue[0]);
        destroy_queues();
        rex_device_free(things.memory, -1);
        things.memory = NULL;
    }
    unload();
}

/* ---- several images in memory ------------------------------------------------------------------------------------------------------- */

static char part_keys[2];
static struct __tgt_offload_entry part_entries[] = {{&part_keys[0], (char *)(uintptr_t) "plain__kernel__", 0, 0, 0},
                                                    {&part_keys[1], (char *)(uintptr_t) "axpy__kernel__", 0, 0, 0}};
static struct rex_image_row part_rows[2];
static struct rex_module several = {.struct_size = sizeof several,
                                    .entries_begin = part_entries,
                                    .entries_end = part_entries + 2,
                                    .images_begin = part_rows,
                                    .images_end = part_rows + 2};

static void prepare_parts(void)
{
    static const char *const files[] = {"tests/data/sm_90.cubin", "tests/data/stateless_sm_90.cubin"};
    static unsigned char bytes[2][100000];
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "rbe");
        size_t size = file != NULL ? fread(bytes[i], 1, sizeof bytes[i], file) : 0;
        if (file != NULL)
            fclose(file);
        part_rows[i] = (struct rex_image_row){bytes[i], bytes[i] + size, 0};
    }
}

static void use_parts(void)
{
    TRY(rex_module_register(&several, NULL));
    TRY(rex_module_fini(&several));
}

/* ---- the rest ----------------------------------------------------------------------------------------------------------------------- */

static void find_runtime(void)
{
    unsetenv("REX_OMPTARGET");
    launch();
}

static void see_row(const char *section, const char *name, const char *text, void *context)
{
    (void)section, (void)name, (void)text, (void)context;
}

static void use_info(void)
{
    struct rex_gpu gpu;
    TRY(rex_info(0, see_row, NULL));
    if (rex_gpu_count() > 0 && TRY(rex_gpu_get(&gpu, sizeof gpu, 0)) && (gpu.threads_per_block == 0 || gpu.shared_memory == 0))
        PROBLEM("rex_gpu_get succeeds, and does not describe the GPU");
}

/* A child works on the host device, and is refused a GPU. */
static void use_fork(void)
{
    int status = 0;
    launch();
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        struct rex_launch_config description = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 1);
        REX_MAP(args, REX_VALUE(value), REX_FROM(cell, CELLS));
        rex_launch(&description, &args);
        _exit(0);
    }
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        PROBLEM("a child of fork ends with status %d, and signal %d", WEXITSTATUS(status), WTERMSIG(status));
}

/* ---- other compilers' code ---------------------------------------------------------------------------------------------------------- */

static struct __tgt_offload_entry entry = {cell, (char *)(uintptr_t) "theirs", 0, 0, 0};
static struct __tgt_device_image their_image = {cell, cell + CELLS, &entry, &entry + 1};
static struct __tgt_bin_desc theirs = {1, &their_image, &entry, &entry + 1};

static void prepare_theirs(void)
{
    setenv("REX_ADOPT", "on", 1);
    launch();
}

/* What is registered as it is leaves a note of that, and no part of a copy. */
static void use_theirs(void)
{
    int before = torture_holds;
    __rex_real___tgt_register_lib(&theirs);
    int more = torture_holds - before;
    if (torture_registered == &theirs ? more > 1 : more < 3)
        PROBLEM("%d pieces of memory are kept of another compiler's code", more);
    __rex_real___tgt_unregister_lib(&theirs);
}

/* ---- what is written ---------------------------------------------------------------------------------------------------------------- */

static void use_several(void)
{
    launch();
    use_region();
    use_mapper();
    use_queue();
}

static void set_in_folder(const char *variable, const char *before, const char *name)
{
    char text[PATH_MAX];
    const char *folder = getenv("TORTURE_FOLDER");
    snprintf(text, sizeof text, "%s%s/%s", before, folder != NULL ? folder : "/tmp", name);
    setenv(variable, text, 1);
}

static void use_trace(void)
{
    set_in_folder("REX_TRACE", "", "trace.json");
    use_several();
}
static void use_summary(void)
{
    setenv("REX_TRACE", "-", 1);
    use_several();
}
/* Without queues, which write few lines and make the most calls. */
static void use_log(void)
{
    set_in_folder("REX_LOG", "debug:", "log");
    launch();
    use_region();
    use_mapper();
}

/* ---- all of them -------------------------------------------------------------------------------------------------------------------- */

#define HOST "host "
#define GPUS "fake gpu "
#define FAKE "fake "
const struct scenario torture_scenarios[] = {
    {"launch", HOST GPUS, NULL, NULL, use_launch},
    {"packets", HOST GPUS, NULL, NULL, use_packets},
    {"region", HOST GPUS, NULL, NULL, use_region},
    {"mapper", HOST "gpu ", NULL, NULL, use_mapper},
    {"memory", HOST GPUS, NULL, NULL, use_memory},
    {"pinned", HOST GPUS, NULL, NULL, use_pinned},
    {"queue", HOST GPUS, NULL, NULL, use_queue},
    {"large", GPUS, prepare_large, NULL, use_large},
    {"graph", HOST GPUS, NULL, NULL, use_graph},
    {"library", HOST GPUS, NULL, NULL, use_library},
    {"trace", HOST GPUS, NULL, NULL, use_trace},
    {"summary", HOST FAKE, NULL, NULL, use_summary},
    {"log", HOST FAKE, NULL, NULL, use_log},
    {"parts", FAKE, prepare_parts, NULL, use_parts},
    {"fork", HOST FAKE, NULL, NULL, use_fork},
    {"find", HOST, NULL, NULL, find_runtime},
    {"info", HOST GPUS, NULL, NULL, use_info},
    {"theirs", FAKE, prepare_theirs, NULL, use_theirs},
    {"ptx", GPUS, NULL, "tests/data/sm_90.ptx", launch},
    {"fatbin", FAKE, NULL, "tests/data/three_zstd.fatbin", launch},
    {"container", FAKE, NULL, "tests/data/two.offload", launch},
    /* What librex must not do: tests/scripts/torture.sh wants each to be found. */
    {"leak", "planted ", NULL, NULL, planted_leak},
    {"crash", "planted ", NULL, NULL, planted_crash},
    {"hang", "planted ", NULL, NULL, planted_hang},
    {"silence", "planted ", NULL, NULL, planted_silence},
    {"wrong", "planted ", NULL, NULL, planted_wrong_error},
    {"success", "planted ", NULL, NULL, planted_success},
    {"grudge", "planted ", NULL, NULL, planted_grudge},
};
const size_t torture_scenario_count = sizeof torture_scenarios / sizeof *torture_scenarios;

/* ---- one run ------------------------------------------------------------------------------------------------------------------------ */

/* What a step has left since it failed; whether nothing is left. */
static bool tidy(void)
{
    rex_graph_destroy(things.graph);
    rex_event_destroy(things.event);
    things.graph = NULL;
    things.event = NULL;
    destroy_queues();
    if (things.pin && TRY(rex_host_unregister(cell)))
        things.pin = false;
    if (things.pinned != NULL && TRY(rex_host_free(things.pinned)))
        things.pinned = NULL;
    if (things.memory != NULL)
        rex_device_free(things.memory, -1);
    things.memory = NULL;
    return unload() && end() && !things.pin && things.pinned == NULL;
}

static void choose_image(const struct scenario *scenario)
{
    rex_this_module.image_name = torture_on_host()         ? NULL
                                 : scenario->image != NULL ? scenario->image
                                 : torture_on_fake()       ? "tests/data/sm_90.cubin"
                                                           : "tests/data/sm_75.cubin:tests/data/sm_80.cubin:tests/data/sm_90.cubin:"
                                                             "tests/data/sm_100.cubin:tests/data/sm_120.cubin";
    rex_this_module.host_image_name = torture_on_host() ? TEST_BUILD "/tests/fake/host.so" : NULL;
}

static void run_clean(const struct scenario *scenario)
{
    torture_disarm();
    tidy();
    scenario->body();
    tidy();
}

/*
 * A module that could not be registered keeps the message, and a thread the driver's last error.
 * With both in each run, one whose failure leaves them does not look as if it leaked.
 */
static void leave_messages(void)
{
    struct rex_module now = rex_this_module;
    struct rex_launch_config description = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 1);
    REX_MAP(args, REX_VALUE(value), REX_FROM(cell, CELLS));
    rex_this_module.image_name = rex_this_module.host_image_name = "/none";
    rex_launch(&description, &args);
    rex_this_module.image_name = now.image_name;
    rex_this_module.host_image_name = now.host_image_name;
    if (rex_gpu_count() > 0)
        rex_cuda_note(1, "cuInit");
}

/* Without a failure: what is there then, before librex's own end. */
static void repeat(const struct scenario *scenario, const struct plan *plan)
{
    for (int i = 0; i < plan->rounds; i++) {
        scenario->body();
        if (plan->lasting && tidy())
            TRY(rex_offload_fini());
    }
    torture_tell_held();
    torture_report->ended = true;
    _exit(0);
}

/*
 * A failure that is over must be so at once, without the module's end in between. One that lasts is over after it. In the end everything is
 * made once more, so that what stays behind of the first is no longer the last.
 */
void torture_play(const struct scenario *scenario)
{
    choose_image(scenario);
    /* A thread of librex loads libomptarget, unless it is loaded. In "fork" the thread can fail. */
    if (torture_on_fake() && strcmp(scenario->name, "fork") != 0)
        dlopen(getenv("REX_OMPTARGET"), RTLD_NOW);
    if (scenario->prepare != NULL) {
        torture_disarm();
        scenario->prepare();
        torture_arm();
    }
    if (torture_plan()->call < 0 && torture_plan()->rounds > 0)
        repeat(scenario, torture_plan());
    scenario->body();
    torture_tell_done();
    for (int rounds = torture_plan()->rounds; rounds > 1; rounds--) {
        torture_fail_again();
        scenario->body();
    }
    if (torture_fired() && !torture_plan()->lasting)
        run_clean(scenario);
    if (tidy())
        TRY(rex_offload_fini());
    torture_tell_counts();
    run_clean(scenario);
    TRY(rex_offload_fini());
    leave_messages();
    run_clean(scenario);
    TRY(rex_offload_fini());
}
