/*
 * shortage.c - memory runs out once, at each allocation that librex makes in turn, from binding to the end of a module: the call says so
 * and leaves nothing behind, and the same again goes well. `make torture` does so with every call, on real releases; this is a quick part
 * of it. And where nothing fails, nothing stays behind.
 *
 * The driver and libomptarget are fakes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "computing.h"

#include <errno.h>
#include <pthread.h>

#include "inqueue.h"
#include "rex.h"
#include "rex/device.h"
#include "rex/inspect.h"
#include "rex/library.h"
#include "rex/queue.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "image/open.h"
#include "module/librarymodule.h"

REX_KERNEL(plain);

/* The allocation of that number fails, counted from when it was set; -1: none. And blocks that are there now. */
static int failing = -1, allocations, blocks;

static void *counted(void *block)
{
    blocks += block != NULL;
    return block;
}

static int is_to_fail(void)
{
    bool fails = failing >= 0 && ++allocations == failing;
    if (fails)
        errno = ENOMEM;
    return fails;
}

#define FAILING(name, type, parameters, ...)                              \
    type __real_##name parameters;                                        \
    type __wrap_##name parameters;                                        \
    type __wrap_##name parameters                                         \
    {                                                                     \
        return is_to_fail() ? NULL : counted(__real_##name(__VA_ARGS__)); \
    }
FAILING(malloc, void *, (size_t size), size)
FAILING(calloc, void *, (size_t count, size_t size), count, size)
FAILING(aligned_alloc, void *, (size_t alignment, size_t size), alignment, size)
FAILING(strdup, char *, (const char *text), text)

#define GROWING(name, parameters, ...)                                 \
    void *__real_##name parameters;                                    \
    void *__wrap_##name parameters;                                    \
    void *__wrap_##name parameters                                     \
    {                                                                  \
        bool is_new = block == NULL;                                   \
        void *made = is_to_fail() ? NULL : __real_##name(__VA_ARGS__); \
        return is_new ? counted(made) : made;                          \
    }
GROWING(realloc, (void *block, size_t size), block, size)
GROWING(reallocarray, (void *block, size_t count, size_t size), block, count, size)

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

/* ---- what is done ------------------------------------------------------------------------------------------------------------------ */

/* The rows of one cell: itself. */
struct cell {
    int64_t number;
};
static struct cell cells[3];

static int cell_rows(struct rex_map_builder *builder, void *cell)
{
    return rex_map_add(builder, (struct rex_row){cell, cell, sizeof(struct cell), REX_MAP_TOFROM});
}

static int rows(struct rex_map_builder *builder, void *context)
{
    struct rex_row row = {cells, cells, sizeof cells, REX_MAP_TOFROM};
    (void)context;
    return rex_map_add_mapped(builder, cell_rows, row, sizeof(struct cell));
}

static int use_region(void)
{
    struct rex_map map = {.count = 0};
    int result = rex_map_build(&map, NULL, rows, NULL, NULL);
    CHECK(result == REX_OK || map.count == 0);
    if (result != REX_OK)
        return result;
    if ((result = rex_data_enter(0, &map)) == REX_OK)
        result = rex_data_exit(0, &map);
    rex_map_free(&map);
    return result;
}

static int use_returned(void)
{
    void *base = cells, *begin = cells;
    int64_t size = sizeof cells, type = REX_MAP_TO | REX_MAP_RETURN_PARAM;
    struct rex_map map = {.count = 1, .base = &base, .begin = &begin, .sizes = &size, .types = &type};
    int result = rex_data_enter(0, &map);
    if (result == REX_OK)
        result = rex_data_exit(0, &map);
    CHECK(base == cells || result != REX_OK);
    return result;
}

static int use_launches(void)
{
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 2, 32);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    int result = rex_launch(&launch, &args);
    return result == REX_OK ? rex_launch(&launch, &args) : result;
}

/* Those that keep a message, for threads that wait for them: in what the first allocation gives. */
static int failed_registrations;

static int register_one(struct rex_module *module)
{
    int before = allocations, result = rex_module_register(module, NULL);
    failed_registrations += result != REX_OK && failing != before + 1;
    return result;
}

/* Launches by the driver: of a module that keeps nothing, of kernels in both forms. */
static char key, env_key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0},
                                             {&env_key, (char *)(uintptr_t)"axpy_env__kernel__", 0, 0, 0}};
static struct rex_module another = {.struct_size = sizeof(struct rex_module),
                                    .entries_begin = entry,
                                    .entries_end = entry + COUNT(entry),
                                    .image_name = "tests/data/stateless_sm_90.cubin"};

static int64_t x[3], y[3], n = 3, a = 1;

static int use_driver(const void *first, const void *second)
{
    struct rex_launch_config launch = rex_launch_config_of(first, 2, 32);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_TO(x, 3), REX_TOFROM(y, 3));
    int result = register_one(&another);
    if (result == REX_OK)
        result = rex_module_launch_map(&another, &launch, &args);
    launch.key = second;
    return result == REX_OK ? rex_module_launch_map(&another, &launch, &args) : result;
}

/* libomptarget maps the rows, which are where the fake says. */
static int use_mapped(void)
{
    static int64_t *pointer = y;
    struct rex_launch_config launch = rex_launch_config_of(&key, 2, 32);
    REX_MAP(args, REX_VALUE(n), REX_VALUE(a), REX_FIRSTPRIVATE(x), REX_ATTACH(REX_MAP_TOFROM, pointer, 0, 3));
    int result = register_one(&another);
    if (result == REX_OK && the_record()->mappings[0].begin == 0)
        map_on_device(0, y, sizeof y);
    return result == REX_OK ? rex_module_launch_map(&another, &launch, &args) : result;
}

static int use_image(const char *path)
{
    struct rex_image_list *list = NULL;
    struct rex_image_view *view = NULL;
    size_t size;
    int kept = failing;
    failing = -1;
    unsigned char *bytes = read_bytes(path, &size);
    failing = kept;
    int result = rex_image_list_open(&list, bytes, size, path);
    CHECK_EQUAL(list != NULL, result == REX_OK);
    if (result == REX_OK) {
        result = rex_image_view_open(&view, list, 0, path);
        CHECK_EQUAL(view != NULL, result == REX_OK);
    }
    rex_image_view_close(view);
    rex_image_list_close(list);
    free(bytes);
    return result;
}

static bool is_gpu; /* the device, */
enum { PLAIN, ENV, MAPPED };
static int way; /* and which kernel comes first there, or who maps */

static int use_all(void)
{
    static const char *const images[] = {"tests/data/sm_90.cubin", "tests/data/sm_90.ptx", "tests/data/three.fatbin",
                                         "tests/data/two.offload", FAKE("host.so")};
    int result = register_one(&rex_this_module);
    for (size_t i = 0; result == REX_OK && i < COUNT(images); i++)
        result = use_image(images[i]);
    if (result == REX_OK && way != MAPPED) /* LLVM 18 launches none of them */
        result = use_launches();
    if (result == REX_OK && is_gpu)
        result = way == MAPPED ? use_mapped() : use_driver(way == ENV ? &env_key : &key, &key);
    if (result == REX_OK)
        result = use_region();
    return result == REX_OK ? use_returned() : result;
}

/* From a file, or from bytes that are the caller's. */
static int use_library(const char *name, bool in_memory)
{
    struct rex_library *library = NULL;
    size_t size = 0;
    int kept = failing;
    failing = -1;
    unsigned char *bytes = in_memory ? read_bytes(name, &size) : NULL;
    failing = kept;
    int result = rex_library_load(&library, 0, bytes, size, name);
    CHECK_EQUAL(library != NULL, result == REX_OK);
    free(bytes);
    if (result == REX_OK)
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
    return result;
}

static int use_libraries(void)
{
    static const char *const files[] = {"tests/data/sm_90.cubin", "tests/data/sm_90.ptx", "tests/data/sm_80.cubin:tests/data/three_zstd.fatbin",
                                        "tests/data/signed_sm_90.cubin"};
    int result = REX_OK;
    for (size_t i = 0; result == REX_OK && i < (is_gpu ? COUNT(files) : 2); i++)
        result = use_library(is_gpu ? files[i] : FAKE("host.so"), i == 1);
    return result;
}

/* A setting of the program's own, and entries that are looked at as late as can be. */
static int use_unchecked(void)
{
    static struct rex_module unchecked;
    unchecked = unchecked.struct_size > 0 ? unchecked : rex_this_module;
    int result = rex_configure(REX_OPTION_CHECK, "off");
    if (result == REX_OK)
        result = register_one(&unchecked);
    return result == REX_OK ? rex_module_fini(&unchecked) : result;
}

/* ---- memory runs out --------------------------------------------------------------------------------------------------------------- */

struct shortage {
    int number, release, sm, way;
    const char *check; /* of rows: "full" gives each an allocation of its own */
    int (*use)(void);
    bool is_later; /* once all of it went well */
};

/* A thread keeps its parts, so that they are no part of what is counted. */
static void have_parts(void)
{
    for (enum rex_part part = 0; part < REX_PARTS; part++)
        CHECK(rex_part(part, 8192) != NULL);
}

/* What is left at the end is printed. It ends with status 3 where there are fewer allocations. */
static void run_out(const void *context)
{
    const struct shortage *shortage = context;
    setenv("REX_LOG", "off", 1);
    setenv("FAKE_CUDA_MEMORY", "16", 1);
    use_gpu(shortage->sm);
    use_release(shortage->release);
    is_gpu = shortage->sm > 0;
    way = shortage->way;
    setenv("REX_CHECK", shortage->check, 1);
    rex_this_module.image_name = shortage->sm > 0 ? "tests/data/sm_90.cubin" : FAKE("host.so");
    setenv("REX_CACHE", "off", 1);
    setenv("FAKE_LINK_CUBIN", "tests/data/sm_90.cubin", 1);
    have_parts();
    CHECK_EQUAL(shortage->is_later ? shortage->use() : REX_OK, REX_OK);
    failing = shortage->number;
    int result = shortage->use();
    failing = -1;
    if (shortage->number > 0 && allocations < shortage->number)
        _exit(result == REX_OK ? 3 : 4);
    if (result != REX_OK) {
        CHECK(strstr(rex_last_error(), "emory") != NULL || strstr(rex_last_error(), "malloc: CUDA_ERROR_OUT_OF_MEMORY") != NULL);
        /* A libomptarget that cannot be read for want of memory is none. */
        CHECK(result == REX_ENOMEM || (result == REX_ENORUNTIME && strstr(rex_last_error(), "malloc: Cannot allocate memory") != NULL));
        CHECK_EQUAL(rex_last_error_code(), result);
    }
    CHECK_EQUAL(shortage->use(), REX_OK);
    CHECK_EQUAL(rex_module_fini(&another), REX_OK);
    CHECK_EQUAL(rex_module_fini(&rex_this_module), REX_OK);
    /* LLVM 18 keeps what it has loaded, and the image that brings devices stays. */
    CHECK_EQUAL(the_record()->registered, way == MAPPED ? 2 : shortage->use == use_libraries && is_gpu);
    /* What libomptarget has known stays each time. */
    printf("%d %s\n", shortage->use == use_all || shortage->is_later ? blocks - failed_registrations : 0, rex_last_error());
}

/* What was said, each once, on lines of its own. */
static char all_said[65536] = "\n";

static void note(const char *output)
{
    const char *said = strchr(output, ' ');
    char line[REX_MESSAGE_MAX];
    assert_non_null(said);
    snprintf(line, sizeof line, "\n%s", said + 1);
    if (strstr(all_said, line) == NULL && strlen(all_said) + strlen(line) < sizeof all_said)
        strcat(all_said, line + 1);
}

/* As many blocks as where nothing fails are left each time. */
static void run_out_each(struct shortage shortage)
{
    int left = atoi(in_child(run_out, &shortage));
    for (;;) {
        shortage.number++;
        struct child child = run_child(run_out, &shortage);
        if (child.status == 3)
            break;
        if (child.status != 0 || atoi(child.output) != left)
            fail_msg("allocation %d on LLVM %d: the child ended with %d, and should leave %d blocks:\n%s", shortage.number,
                     shortage.release, child.status, left, child.output);
        note(child.output);
    }
    assert_in_range(shortage.number, 20, 1000);
}

static size_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

/* Of a library's entries: the rows, names and keys of its kernels. */
static size_t size_of_entries(const char *path)
{
    struct rex_view view;
    size_t file_size, size = 16;
    unsigned char *bytes = read_bytes(path, &file_size);
    assert_int_equal(rex_view_open(&view, bytes, file_size, path), REX_OK);
    for (size_t i = 0; i < view.count; i++)
        size += view.symbols[i].kernel ? sizeof(struct __tgt_offload_entry) + strlen(view.symbols[i].name) + 1 + 1 : 0;
    rex_view_close(&view);
    free(bytes);
    return size;
}

/* How much there was no memory for, and what it was for. */
static void check_messages(void)
{
    const size_t row = sizeof(struct __tgt_offload_entry);
    const struct {
        size_t size;
        const char *what;
    } expected[] = {
        {4, "REX_CHECK"},
        {sizeof(struct rex_registration), "a module"},
        {4 * 4 + 8 + sizeof(struct rex_launched) + sizeof(struct rex_misfit) + sizeof(void *), "the index of host keys"},
        {4 * 4 + 2 * (8 + sizeof(struct rex_launched) + sizeof(struct rex_misfit) + sizeof(void *)), "the index of host keys"},
        {strlen("tests/data/sm_90.cubin") + 1, "the names of images"},
        {strlen(FAKE("host.so")) + 1, "the names of images"},
        {size_of("tests/data/sm_90.ptx"), "a copy of the device image"},
        {size_of("tests/data/sm_90.cubin"), "a compiled device image"},
        {strlen("tests/data/sm_90.cubin") + 1, "an image's path"},
        {strlen(FAKE("host.so")) + 1, "an image's path"},
        {sizeof(struct rex_view), "the view of a device image"},
        {24, "an image"}, /* three words */
        {4 * sizeof(struct rex_source), "a list of images"},
        {strlen("tests/data/sm_90.cubin") + 1, "an image's name"},
        {strlen(FAKE("host.so")) + 1, "an image's name"},
        {sizeof(struct rex_descriptor), "a registration"},
        {sizeof(struct rex_descriptor) + 4 * row, "a registration"}, /* LLVM 14: as many as the image has */
        {sizeof(struct rex_signature) + 2 * sizeof(struct rex_image_parameter), "a kernel's signature"},
        {size_of_entries("tests/data/sm_90.cubin"), "the entries of a library"},
        {sizeof(struct rex_library), "a library"},
        {sizeof(struct rex_registration) + sizeof(struct rex_descriptor), "a library"},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        char line[128];
        snprintf(line, sizeof line, "\nout of memory: %zu bytes for %s\n", expected[i].size, expected[i].what);
        if (strstr(all_said, line) == NULL)
            fail_msg("nothing says:%s%s", line, all_said);
    }
}

TEST(test_each)
{
    static const struct shortage shortages[] = {
        {0, 14, 0, 0, "on", use_all, false},       {0, 22, 0, 0, "on", use_all, false},       {0, 18, 90, MAPPED, "on", use_all, false},
        {0, 19, 90, ENV, "full", use_all, false},  {0, 23, 90, PLAIN, "on", use_all, false},   {0, 14, 0, 0, "on", use_libraries, false},
        {0, 22, 90, 0, "on", use_libraries, false}, {0, 22, 90, 0, "on", use_libraries, true}, {0, 19, 90, 0, "on", use_unchecked, false},
    };
    for (size_t i = 0; i < COUNT(shortages); i++)
        run_out_each(shortages[i]);
    check_messages();
}

/* ---- a thread without memory for its error ---------------------------------------------------------------------------------------- */

/* An allocation fails that makes room for the error: of the list of parts first, of the error's own part then. */
static void *no_room_in_thread(void *context)
{
    const int *number = context;
    CHECK(rex_last_error_code() == REX_OK && strcmp(rex_last_error(), "") == 0);
    failing = *number;
    errno = EINTR;
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_ENOMEM);
    CHECK_EQUAL(errno, EINTR);
    CHECK_EQUAL(allocations, *number);
    failing = -1;
    CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
    CHECK(strcmp(rex_last_error(), "out of memory, also for the message") == 0);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_module_register: the module is NULL") == 0);
    return NULL;
}

TEST_OF_EACH(no_room, int, number, 1, 2)
{
    pthread_t thread;
    setenv("REX_LOG", "off", 1);
    CHECK_EQUAL(pthread_create(&thread, NULL, no_room_in_thread, &number), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* The function for the log changes no error, though none can be kept. */
static void says(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    (void)context;
    CHECK(strcmp(message, "hello") == 0);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_ENOMEM);
}

static void *no_room_in_function(void *unused)
{
    failing = 1;
    rex_log(REX_LOG_INFO, "hello");
    CHECK_EQUAL(allocations, 1);
    CHECK(rex_last_error_code() == REX_OK && strcmp(rex_last_error(), "") == 0);
    return unused;
}

TEST_IN_CHILD(function_without_room)
{
    pthread_t thread;
    setenv("REX_LOG", "info", 1);
    rex_set_log_callback(says, NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, no_room_in_function, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* ---- nothing fails, and nothing stays ---------------------------------------------------------------------------------------------- */

static void called(void *argument)
{
    (void)argument;
}

static void use_graph(struct rex_queue *queue)
{
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_graph *graph;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 2, 32);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(launch_in(queue, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_graph_set_args(graph, 1, &args), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    rex_graph_destroy(graph);
}

static void use_queue(void)
{
    static char bytes[16];
    int64_t value = 1;
    uint64_t *out = NULL;
    struct rex_queue *queue;
    struct rex_event *event;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 2, 32);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(rex_queue_create(&queue, 0, "one", 0), REX_OK);
    CHECK_EQUAL(rex_event_create(&event), REX_OK);
    char *memory = rex_device_alloc(sizeof bytes, 0);
    CHECK(memory != NULL);
    CHECK_EQUAL(launch_in(queue, &launch, &args), REX_OK);
    CHECK_EQUAL(rex_queue_copy_to(queue, memory, bytes, sizeof bytes), REX_OK);
    CHECK_EQUAL(rex_queue_fill(queue, memory, bytes, 4, sizeof bytes), REX_OK);
    CHECK_EQUAL(rex_queue_host_func(queue, called, NULL), REX_OK);
    CHECK_EQUAL(rex_event_record(event, queue), REX_OK);
    CHECK_EQUAL(rex_queue_wait_event(queue, event), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    use_graph(queue);
    rex_event_destroy(event);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    rex_device_free(memory, 0);
}

/* More rows than have room on a stack, each end of which is another one's begin; and as many that overlap. */
static void use_many_rows(void)
{
    enum { ROWS = 500 };
    static char all[ROWS * 8];
    static void *begin[ROWS];
    static int64_t sizes[ROWS], types[ROWS];
    for (int i = 0; i < ROWS; i++) {
        begin[i] = all + 8 * i;
        sizes[i] = 8;
        types[i] = REX_MAP_TO | (i % 2 == 0 ? REX_MAP_RETURN_PARAM : 0);
    }
    struct rex_map map = {.count = ROWS, .base = begin, .begin = begin, .sizes = sizes, .types = types};
    CHECK_EQUAL(rex_data_enter(0, &map), REX_OK);
    CHECK_EQUAL(rex_data_exit(0, &map), REX_OK);
    for (int i = 0; i < ROWS; i++) {
        begin[i] = all + 8 * i;
        sizes[i] = i < ROWS - 1 ? 9 : 8;
        types[i] = REX_MAP_TO;
    }
    CHECK_EQUAL(rex_data_enter(0, &map), REX_EOVERLAP);
}

/* What pinned memory, settings and files that are no images take. */
static void use_others(void)
{
    struct rex_image_list *list;
    static char text[64];
    void *memory = rex_host_alloc(100);
    CHECK(memory != NULL);
    rex_host_free(memory);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN_PATH, "/nowhere"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN_PATH, "/elsewhere"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN_PATH, NULL), REX_OK);
    CHECK(rex_image_list_open(&list, text, sizeof text, "text") != REX_OK);
}

TEST_OF_EACH(nothing_stays, int, sm, 90, 0)
{
    int before = 0;
    setenv("REX_LOG", "off", 1);
    setenv("FAKE_CUDA_MEMORY", "16", 1);
    use_gpu(sm);
    use_release(22);
    is_gpu = sm > 0;
    rex_this_module.image_name = sm > 0 ? "tests/data/sm_90.cubin" : FAKE("host.so");
    CHECK_EQUAL(rex_module_register(&rex_this_module, NULL), REX_OK);
    for (int round = 0; round < 4; round++) {
        CHECK_EQUAL(use_all(), REX_OK);
        use_queue();
        use_many_rows();
        use_others();
        before = round == 0 ? blocks : before; /* what is remembered once is there then */
        CHECK_EQUAL(blocks, before);
    }
}

/* Blocks that a module leaves, which libomptarget may look at for ever. */
static int left_by_module(bool launches)
{
    int before = blocks;
    CHECK_EQUAL(rex_module_register(&another, NULL), REX_OK);
    if (launches)
        CHECK_EQUAL(use_driver(&key, &env_key), REX_OK);
    CHECK_EQUAL(rex_module_fini(&another), REX_OK);
    return blocks - before;
}

/* What launches by the driver have worked with goes with their module. */
TEST_IN_CHILD(nothing_stays_of_launches)
{
    setenv("FAKE_CUDA_MEMORY", "16", 1);
    use_gpu(90);
    use_release(22);
    left_by_module(true);
    int left = left_by_module(false);
    CHECK_EQUAL(left_by_module(true), left);
}
