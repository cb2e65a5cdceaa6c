/*
 * library.c - kernels by name: what the driver is given for a library, what is refused, what is
 * given back, and each call of the driver failing.
 *
 * The driver and libomptarget are fakes. tests/runtime/library tests on real ones the results that
 * kernels compute.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <elf.h>
#include <sys/mman.h>

#include "inqueue.h"
#include "module/modules.h"
#include "support/messages.h"

MESSAGES("library");

#define CUBIN "tests/data/sm_90.cubin"

/* A program that has no entries. */
static struct rex_module nothing = {.struct_size = sizeof(struct rex_module),
                                    .image_name = "nothing.cubin"};

static struct rex_library *load(const char *name)
{
    struct rex_library *library = NULL;
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, name), REX_OK);
    return library;
}

static struct rex_queue *new_queue(const char *name)
{
    struct rex_queue *queue = NULL;
    CHECK_EQUAL(rex_module_queue_create(&queue, &nothing, 0, name, 0, NULL), REX_OK);
    return queue;
}

static struct rex_launch_config launch_of(const struct rex_library *library, const char *name)
{
    const void *key = rex_library_kernel(library, name);
    CHECK(key != NULL);
    return rex_launch_config_of(key, 3, 64);
}

/* ---- what the driver is given ---------------------------------------------------------------- */

/* Arguments of a kernel, of up to 16 bytes each. */
struct given {
    const char *kernel;
    size_t count;
    struct {
        size_t width;
        uint64_t bytes[2];
    } argument[4];
};

/* With an int, a float and a double; a struct of 16 bytes; a narrow one first; none. The runtime's
 * parameter in front is none of the launch's. */
static struct given given[] = {
    {"narrow__kernel__",
     4,
     {{8, {0x1000}}, {4, {0xfffffff9}}, {4, {0x40200000}}, {8, {0x3fc0000000000000}}}},
    {"wide__kernel__", 2, {{16, {0x3fb999999999999a, 0x7e37e43c8800759c}}, {8, {0x2000}}}},
    {"narrow_first__kernel__", 3, {{4, {5}}, {8, {6}}, {8, {0x7000}}}},
    {"env__kernel__", 2, {{8, {77}}, {8, {0x3000}}}},
    {"plain__kernel__", 2, {{8, {1}}, {8, {0x1000}}}},
    {"none__kernel__", 0, {{0, {0}}}},
};
enum { NARROW, WIDE, NARROW_FIRST, ENV, PLAIN, NONE };

static const struct given *awaited; /* by the driver; NULL: anything */
static size_t in_front;             /* parameters of the runtime's */

static void watch(const char *kernel, const unsigned *grid, const unsigned *block,
                  void **parameters)
{
    if (awaited == NULL)
        return;
    CHECK(grid[0] == 3 && grid[1] == 1 && block[0] == 64 && block[2] == 1);
    CHECK(strcmp(kernel, awaited->kernel) == 0);
    for (size_t i = 0; i < awaited->count; i++)
        CHECK(memcmp(parameters[in_front + i], awaited->argument[i].bytes,
                     awaited->argument[i].width) == 0);
}

static void start(int release)
{
    void (**watcher)(const char *, const unsigned *, const unsigned *, void **);
    use_gpu(90);
    use_release(release);
    watcher = in_driver("fake_cuda_watch");
    *watcher = watch;
}

/* By their addresses; and in a block, each where the image says. */
static void launch_given(struct rex_queue *queue, struct rex_library *library, struct given *of)
{
    const struct rex_image_symbol *kernel = rex_image_view_find(rex_library_view(library),
                                                                of->kernel);
    struct rex_launch_config launch = launch_of(library, of->kernel);
    char block[64];
    void *arguments[4], *in_block[4];
    awaited = of;
    in_front = kernel->parameters - of->count;
    for (size_t i = 0; i < of->count; i++) {
        arguments[i] = of->argument[i].bytes;
        in_block[i] = block + kernel->parameter[in_front + i].offset -
                      kernel->parameter[in_front].offset;
        memcpy(in_block[i], arguments[i], of->argument[i].width);
    }
    int before = driver_calls("cuLaunchKernel");
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, of->count), REX_OK);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, in_block, of->count), REX_OK);
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), before + 2);
    awaited = NULL;
}

TEST_ON_FAKES(arguments, ALL_RELEASES)
{
    start(release);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("by name");
    launch_given(queue, library, &given[NARROW]);
    launch_given(queue, library, &given[WIDE]);
    launch_given(queue, library, &given[NARROW_FIRST]);
    launch_given(queue, library, &given[NONE]);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* With a signature: as many bytes of an argument are read as its type has, and a small number is no
 * address. */
TEST_IN_CHILD(by_signature)
{
    start(22);
    struct rex_library *library = load("tests/data/signed_sm_90.cubin");
    struct rex_queue *queue = new_queue("signed");
    struct rex_launch_config launch = launch_of(library, "narrow__kernel__");
    struct given *narrow = &given[NARROW];
    uint64_t small = 7;
    void *wrong[] = {&small, narrow->argument[1].bytes, narrow->argument[2].bytes,
                     narrow->argument[3].bytes};
    launch_given(queue, library, narrow);
    int before = driver_calls("cuLaunchKernel");
    REFUSED(launch_library_in(queue, library, &launch, wrong, 4));
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), before);
    launch_given(queue, library, &given[ENV]);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* ---- images ---------------------------------------------------------------------------------- */

/* From memory, which is the caller's again at once; kernels, parameters and globals are those of
 * the image. */
TEST_IN_CHILD(every_format)
{
    static const char *const files[] = {CUBIN, "tests/data/three_zstd.fatbin",
                                        "tests/data/sm_90.ptx", "tests/data/two.offload"};
    setenv("FAKE_LINK_CUBIN", CUBIN, 1);
    setenv("REX_CACHE", "off", 1);
    start(22);
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_library *library = NULL;
        void *address = NULL;
        size_t size;
        unsigned char *bytes = read_bytes(files[i], &size);
        CHECK_EQUAL(rex_library_load(&library, -1, bytes, size, "generated"), REX_OK);
        memset(bytes, 0xee, size);
        free(bytes);
        const struct rex_image_view *view = rex_library_view(library);
        const struct rex_image_symbol *kernel = rex_image_view_find(view, "narrow__kernel__");
        CHECK_EQUAL(kernel->parameter[1].size, 4);
        CHECK(rex_library_kernel(library, "plain__kernel__") != NULL);
        CHECK_EQUAL(rex_library_global(&address, &size, library, -1, "table"), REX_OK);
        CHECK(address == (void *)4096 && size == 32);
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
        CHECK_EQUAL(driver_objects(), 0);
    }
}

struct wrong {
    const char *name, *bytes; /* NULL: the file NAME */
    int sm;
};

static const struct wrong wrong_images[] = {
    {"tests/data/nothing.cubin", NULL, 90},
    {"tests/data", NULL, 90},
    {"made", "no image", 90},
    {CUBIN, NULL, 0},
    {CUBIN, NULL, 120},
};

TEST_FOR_EACH(cannot_load, wrong, wrong_images)
{
    struct rex_library *library = (struct rex_library *)&nothing;
    use_gpu(wrong->sm);
    use_release(22);
    REFUSED(rex_library_load(&library, 0, wrong->bytes, 8, wrong->name));
    CHECK(library == (struct rex_library *)&nothing);
    CHECK_EQUAL(driver_objects(), 0);
}

/* A GPU that comes late is found. */
TEST_IN_CHILD(comes_late)
{
    struct rex_library *library = NULL;
    start(22);
    setenv("FAKE_CUDA_FAILS", "100", 1);
    REFUSED(rex_library_load(&library, 0, NULL, 0, CUBIN));
    unsetenv("FAKE_CUDA_FAILS");
    setenv("FAKE_CUDA_BREAKS", "cuModuleLoadData:719:1", 1);
    REFUSED(rex_library_load(&library, 0, NULL, 0, CUBIN));
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_library_unload(load(CUBIN)), REX_OK);
}

TEST_IN_CHILD(wrong_calls)
{
    start(22);
    struct rex_library *library = load(CUBIN), *other = NULL;
    struct rex_queue *queue = new_queue("wrong");
    struct rex_launch_config launch = launch_of(library, "plain__kernel__"), strange = launch;
    uint64_t value = 1;
    void *arguments[] = {&value, &value, &value}, *missing[] = {&value, NULL}, *address;
    size_t size;
    strange.key = &value;
    REFUSED(launch_library_in(queue, library, &launch, arguments, 3));
    REFUSED(launch_library_in(queue, library, &launch, missing, 2));
    REFUSED(launch_library_in(queue, library, &strange, arguments, 2));
    launch.device = 1;
    REFUSED(launch_library_in(queue, library, &launch, arguments, 2));
    NO_RESULT(rex_library_kernel(library, "plane__kernel__"));
    NO_RESULT(rex_library_kernel(library, "table"));
    REFUSED(rex_library_global(&address, &size, library, 0, "tabel"));
    REFUSED(rex_library_global(&address, &size, library, 0, "plain__kernel__"));
    REFUSED(rex_library_global(&address, &size, library, 1, "table"));
    REFUSED(rex_library_load(&other, 7, NULL, 0, CUBIN));
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_library_unload(NULL), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* Nothing, where there has to be something. */
TEST_IN_CHILD(null_pointers)
{
    start(22);
    struct rex_library *library = load(CUBIN), *none = NULL;
    struct rex_queue *queue = new_queue("null");
    struct rex_launch_config launch = launch_of(library, "plain__kernel__");
    uint64_t word = 0;
    void *arguments[] = {&word, &word}, *address = NULL;
    size_t size = 0;
    REFUSED(rex_library_load(NULL, 0, NULL, 0, CUBIN));
    REFUSED(rex_library_load(&none, 0, NULL, 0, NULL));
    NO_RESULT(rex_library_kernel(NULL, "a"));
    NO_RESULT(rex_library_kernel(library, NULL));
    NO_RESULT(rex_library_view(NULL));
    REFUSED(rex_library_global(NULL, &size, library, 0, "table"));
    REFUSED(rex_library_global(&address, NULL, library, 0, "table"));
    REFUSED(rex_library_global(&address, &size, NULL, 0, "table"));
    REFUSED(rex_library_global(&address, &size, library, 0, NULL));
    REFUSED(rex_library_global(&address, &size, library, 7, "table"));
    REFUSED(launch_library_in(NULL, library, &launch, arguments, 2));
    REFUSED(launch_library_in(queue, NULL, &launch, arguments, 2));
    REFUSED(rex_library_launch(library, NULL, arguments, 2));
    REFUSED(launch_library_in(queue, library, &launch, NULL, 1));
    CHECK(none == NULL && address == NULL && size == 0 && driver_calls("cuLaunchKernel") == 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* The host's queue does nothing with an image for a GPU, as rex_launch() would not. */
TEST_IN_CHILD(on_the_host)
{
    start(22);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = NULL;
    CHECK_EQUAL(rex_module_queue_create(&queue, &nothing, 1, NULL, 0, NULL), REX_OK);
    struct rex_launch_config launch = launch_of(library, "none__kernel__");
    REFUSED(launch_library_in(queue, library, &launch, NULL, 0));
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    struct rex_library *other = NULL;
    int loads = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(rex_library_load(&other, 1, NULL, 0, CUBIN),
                REX_OK); /* for a GPU that needs it later */
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), loads);
    CHECK_EQUAL(rex_library_unload(other), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* Devices that are no NVIDIA GPUs, as of a program whose own image is the host's. */
TEST_IN_CHILD(on_another_device)
{
    start(22);
    struct rex_library *library = load(CUBIN), *other = NULL;
    struct rex_queue *queue = NULL;
    struct rex_launch_config launch = launch_of(library, "none__kernel__");
    void *address;
    size_t size;
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    REFUSED(rex_library_load(&other, 0, NULL, 0, CUBIN));
    REFUSED(rex_library_global(&address, &size, library, 0, "table"));
    CHECK_EQUAL(rex_module_queue_create(&queue, &nothing, 0, "other", 0, NULL), REX_OK);
    REFUSED(launch_library_in(queue, library, &launch, NULL, 0));
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* The GPU's context cannot be had: an error that names both, and what is loaded stays as it is. */
TEST_OF_EACH(no_context, const char *, call, "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent")
{
    char breaks[64];
    void *address = NULL;
    size_t size = 0;
    start(22);
    struct rex_library *library = load(CUBIN);
    snprintf(breaks, sizeof breaks, "%s:719:1", call);
    setenv("FAKE_CUDA_BREAKS", breaks, 1);
    REFUSED(rex_library_global(&address, &size, library, 0, "table"));
    CHECK(address == NULL && size == 0);
    int users = context_users();
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "table"), REX_OK);
    CHECK_EQUAL(context_users(), users);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* ---- an image that contradicts itself -------------------------------------------------------- */

/* The argument ends where a page does, and the next one cannot be read: its signature tells 39
 * bytes of an int. */
static void wide_signature(const void *context)
{
    static const char told[] = "narrow__kernel__P9rex_kindsIJLj0ELj1ELj1027";
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct rex_library *library = NULL;
    unsigned char *name,
        *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size;
    (void)context;
    start(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), REX_OK);
    CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    unsigned char *bytes = read_bytes("tests/data/signed_sm_90.cubin", &size);
    while ((name = memmem(bytes, size, told, strlen(told))) != NULL)
        memcpy(name + strlen(told) - 4, "9987", 4); /* 39 << 8 | REX_KIND_VALUE */
    CHECK_EQUAL(rex_library_load(&library, 0, bytes, size, "wide"), REX_OK);
    struct rex_queue *queue = new_queue("wide");
    struct rex_launch_config launch = launch_of(library, "narrow__kernel__");
    void *arguments[4];
    awaited = &given[NARROW];
    for (size_t i = 0; i < COUNT(arguments); i++)
        arguments[i] = given[NARROW].argument[i].bytes;
    arguments[1] = memcpy(pages + page - sizeof(int), arguments[1], sizeof(int));
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, 4), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    munmap(pages, 2 * page);
    free(bytes);
}

TEST(test_contradictions)
{
    says("%s", in_child(wide_signature, NULL));
}

/* ---- an image for the host device ------------------------------------------------------------ */

/* Functions of which nothing tells the parameters are kernels of as many as are given, of a word
 * each. */
#define UNTOLD FAKE("iomp/libiomp5.so")
#define UNTOLD_KERNEL "omp_get_default_device"

static struct rex_library *load_untold(int release)
{
    use_gpu(0);
    use_release(release);
    return load(UNTOLD);
}

enum { MOST_WORDS = UINT16_MAX };

/* COUNT of them: each gets to libomptarget as a value, in order. */
static void launch_words(struct rex_queue *queue, struct rex_library *library, size_t count,
                         uint64_t *words)
{
    static void *arguments[MOST_WORDS];
    struct rex_launch_config launch = launch_of(library, UNTOLD_KERNEL);
    for (size_t i = 0; i < count; i++) {
        words[i] = 1000 * count + i;
        arguments[i] = &words[i];
    }
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, count), REX_OK);
    const struct fake_call *call = last_call(FAKE_KERNEL);
    CHECK_EQUAL(call->packet.rows, count);
    for (size_t i = 0; i < count && i < FAKE_ROWS; i++) {
        CHECK((uintptr_t)call->base[i] == words[i] && (uintptr_t)call->begin[i] == words[i]);
        CHECK(call->sizes[i] == 8 && call->types[i] == (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM));
    }
}

TEST_ON_FAKES(words_alone, 16, 19, 22)
{
    static const size_t counts[] = {1, 2, 31, 32, 33, 34, FAKE_ROWS};
    struct rex_library *library = load_untold(release);
    struct rex_queue *queue = new_queue("words");
    for (size_t i = 0; i < COUNT(counts);
         i++) { /* of its own size, so that AddressSanitizer sees where it is left */
        uint64_t *words = malloc(counts[i] * sizeof *words);
        CHECK(words != NULL);
        launch_words(queue, library, counts[i], words);
        free(words);
    }
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* No launch has more of them than a kernel of another image could. */
TEST_IN_CHILD(too_many_words)
{
    static uint64_t words[MOST_WORDS + 1];
    static void *arguments[MOST_WORDS + 1];
    struct rex_library *library = load_untold(19);
    struct rex_queue *queue = new_queue("too many");
    struct rex_launch_config launch = launch_of(library, UNTOLD_KERNEL);
    for (size_t i = 0; i < COUNT(arguments); i++)
        arguments[i] = &words[i];
    REFUSED(launch_library_in(queue, library, &launch, arguments, COUNT(arguments)));
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL], 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* The image is loaded with the library, on a device that is not the host; its globals are where
 * libomptarget has them. */
TEST_IN_CHILD(globals_of_runtime)
{
    void *address = NULL, *on_host = NULL;
    size_t size = 0;
    int host = (use_gpu(0), use_release(19), 1);
    struct rex_library *library = NULL, *of_host = NULL;
    CHECK_EQUAL(rex_library_load(&of_host, host, NULL, 0, UNTOLD), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 0);
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, FAKE("host.so")), REX_OK);
    CHECK(the_record()->counts[FAKE_BEGIN] == 1 && last_call(FAKE_BEGIN)->packet.rows == 0 &&
          last_call(FAKE_BEGIN)->device == 0);
    const struct fake_call *registered = newest_call(FAKE_REGISTER);
    for (uint64_t i = 0; i < registered->entry_count; i++)
        if (strcmp(registered->entries[i].name, "table") == 0)
            on_host = registered->entries[i].address;
    CHECK(on_host != NULL);
    REFUSED(rex_library_global(&address, &size, library, 0, "table"));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)on_host, 32, 0x10000000};
    REFUSED(rex_library_global(&address, &size, library, host, "table"));
    CHECK(address == NULL && size == 0);
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "table"), REX_OK);
    CHECK(address == (void *)0x10000000 && size == 32);
    REFUSED(rex_library_global(&address, &size, library, 0, "plain__kernel__"));
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_library_unload(of_host), REX_OK);
}

/* ---- the end --------------------------------------------------------------------------------- */

static int put_plain(struct rex_queue *queue, struct rex_library *library)
{
    struct rex_launch_config launch = launch_of(library, "plain__kernel__");
    uint64_t value = 1, out = 0x1000;
    void *arguments[] = {&value, &out};
    return launch_library_in(queue, library, &launch, arguments, 2);
}

static struct rex_graph *record(struct rex_queue *queue, struct rex_library *library)
{
    struct rex_graph *graph = NULL;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(put_plain(queue, library), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    return graph;
}

/* Not while a queue works with it, but where the program says so. */
TEST_IN_CHILD(end_at_work)
{
    start(22);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("at work"), *idle = new_queue("idle");
    CHECK_EQUAL(put_plain(queue, library), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    REFUSED(rex_library_unload(library));
    CHECK_EQUAL(put_plain(queue, library), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(idle), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* A graph keeps what it has; when it goes while it is at work, an error that comes later has no
 * name that is gone. */
TEST_IN_CHILD(end_in_a_graph)
{
    start(22);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("graphs");
    struct rex_graph *graph = record(queue, library);
    int objects = driver_objects(), unloads = driver_calls("cuModuleUnload");
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), objects);
    uint64_t value = 9, out = 0x2000;
    REX_MAP(args, REX_VALUE(value), REX_VALUE(out));
    CHECK_EQUAL(rex_graph_set_args(graph, 1, &args), REX_OK);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    rex_graph_destroy(graph);
    CHECK_EQUAL(driver_calls("cuModuleUnload"), unloads + 1);
    *(int *)in_driver("fake_cuda_lost") = 719;
    REFUSED(rex_queue_sync(queue));
}

/* A capture that fails holds nothing. */
TEST_IN_CHILD(end_after_capture)
{
    start(22);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("captures");
    struct rex_graph *graph = NULL;
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    CHECK_EQUAL(put_plain(queue, library), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuGraphInstantiate:719:0", 1);
    REFUSED(rex_graph_end(&graph, queue));
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* However often: libomptarget is told of the first image alone, and the driver unloads them all. */
TEST_ON_FAKES(end_many, 14, 18, 24)
{
    start(release);
    for (int i = 0; i < 20; i++) {
        struct rex_library *library = load(CUBIN), *other = load("tests/data/limits_sm_90.cubin");
        struct rex_queue *queue = new_queue(NULL);
        CHECK_EQUAL(put_plain(queue, library), REX_OK);
        CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
        CHECK_EQUAL(rex_library_unload(other), REX_OK);
        CHECK_EQUAL(driver_objects(), 0);
    }
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
    CHECK_EQUAL(driver_calls("cuModuleLoadData"), 40);
}

TEST_IN_CHILD(in_a_child)
{
    start(22);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("parent's");
    struct rex_graph *graph = record(queue, library);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        REFUSED(put_plain(queue, library));
        REFUSED(rex_library_unload(library));
        rex_graph_destroy(graph);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* ---- on the host ----------------------------------------------------------------------------- */

static char own_key;
static struct __tgt_offload_entry own_entry[] = {
    {&own_key, (char *)(uintptr_t) "env__kernel__", 0, 0, 0}};
static struct rex_module own = {.struct_size = sizeof own,
                                .entries_begin = own_entry,
                                .entries_end = own_entry + 1,
                                .image_name = FAKE("host.so")};

static void start_on_host(int release)
{
    use_gpu(0);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
}

/* On the host itself, so that no device is used: LLVM 18 takes no image later. */
static struct rex_library *load_on_host(const void *bytes, size_t size, const char *name)
{
    struct rex_library *library = NULL;
    CHECK_EQUAL(rex_library_load(&library, the_record()->devices, bytes, size, name), REX_OK);
    return library;
}

/* So many modules are kept of libraries that are unloaded, and lead to nothing of theirs. */
static void check_ended(int count)
{
    for (const struct rex_module *module = rex_modules_first(); module != NULL;
         module = module->next, count--) {
        CHECK(module->entries_begin == NULL && module->entries_end == NULL &&
              module->image == NULL);
        CHECK(((const struct rex_registration *)module->registration)->memory_name == NULL);
    }
    CHECK_EQUAL(count, 0);
}

/* The host has of each: a byte of a kernel, and of a global as much as the image, where any
 * type may lie; none is part of another. */
static void check_keys(const struct fake_call *call)
{
    size_t globals = 0;
    CHECK(call->entry_count > 2);
    for (size_t i = 0; i < call->entry_count; i++) {
        const struct fake_entry *one = &call->entries[i];
        globals += one->size > 0;
        CHECK(one->size == 0 || (uintptr_t)one->address % 16 == 0);
        for (size_t j = 0; j < call->entry_count; j++) {
            const struct fake_entry *other = &call->entries[j];
            CHECK(i == j ||
                  (uintptr_t)one->address + (one->size > 0 ? one->size : 1) <=
                      (uintptr_t)other->address ||
                  (uintptr_t)other->address + (other->size > 0 ? other->size : 1) <=
                      (uintptr_t)one->address);
            CHECK(i == j || strcmp(one->name, other->name) != 0);
        }
    }
    CHECK(globals > 0);
}

/* Host images are registered, and what is made for one is used again; LLVM 18, which takes none
 * back, has them still. */
TEST_ON_FAKES(registered_each_time, 14, 18, 22, 24)
{
    size_t size;
    start_on_host(release);
    unsigned char *bytes = realloc(read_bytes(FAKE("host.so"), &size), 1 << 20);
    CHECK(bytes != NULL && size < 1 << 20);
    bytes[size] = 0;
    const char *names[3];
    for (int i = 0; i < 3; i++) {
        struct rex_library *first = load_on_host(NULL, 0, FAKE("host.so")),
                           *second = load_on_host(bytes, size + 1, "longer");
        CHECK_EQUAL(the_record()->registered, release == 18 ? 2 * (i + 1) : 2);
        CHECK_EQUAL(newest_call(FAKE_REGISTER)->image_size, size + 1);
        if (release == 22) /* which is given them by name and without the image's own rows */
            check_keys(newest_call(FAKE_REGISTER));
        /* libomptarget keeps the names, which are the image's where the release calls its
         * functions: no later one lies there. */
        names[i] = newest_call(FAKE_REGISTER)->entries[0].name;
        for (int before = 0; before < i && release == 22; before++)
            CHECK(names[before] != names[i] && strcmp(names[before], names[i]) == 0);
        CHECK(rex_library_kernel(first, "plain__kernel__") != NULL);
        CHECK(rex_library_kernel(first, "plain__kernel__") !=
              rex_library_kernel(second, "plain__kernel__"));
        if (i == 0) {
            NO_RESULT(rex_library_kernel(first, "plane__kernel__"));
            NO_RESULT(rex_library_kernel(second, "nothing_like_it"));
        }
        CHECK_EQUAL(rex_library_unload(first), REX_OK);
        CHECK_EQUAL(rex_library_unload(second), REX_OK);
        CHECK_EQUAL(the_record()->registered, release == 18 ? 2 * (i + 1) : 0);
    }
    CHECK_EQUAL(the_record()->used_address_again, 0);
    check_ended(release == 18 ? 6 : 2);
    free(bytes);
}

/* A shared object whose symbols have no bytes: there is nothing to launch, nor to write to. */
static void without_symbols(void)
{
    struct rex_library *library = NULL;
    Elf64_Ehdr header;
    Elf64_Shdr section;
    size_t size;
    unsigned char *bytes = read_bytes(FAKE("module.so"), &size);
    memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        for (size_t at = 0; (section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) &&
                            at < section.sh_size;
             at += sizeof(Elf64_Sym))
            memset(bytes + section.sh_offset + at + offsetof(Elf64_Sym, st_size), 0,
                   sizeof(Elf64_Xword));
    }
    REFUSED(rex_library_load(&library, 0, bytes, size, "bare"));
    CHECK(library == NULL);
    free(bytes);
}

/* Where libomptarget has no device for it, nothing is left of it. */
TEST_IN_CHILD(not_accepted)
{
    struct rex_library *library = NULL;
    start_on_host(22);
    the_record()->devices = 0;
    for (int i = 0; i < 2; i++) {
        REFUSED(rex_library_load(&library, 0, NULL, 0, FAKE("host.so")));
        CHECK(library == NULL);
        CHECK_EQUAL(the_record()->registered, 0);
        check_ended(1);
    }
    the_record()->devices = 1;
    without_symbols();
    library = load(FAKE("host.so"));
    CHECK_EQUAL(the_record()->registered, 1);
    REFUSED(rex_library_load(&library, 9, NULL, 0, FAKE("host.so")));
    CHECK_EQUAL(the_record()->registered, 1);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(the_record()->registered, 0);
    check_ended(2);
}

static struct rex_graph *held;

static void destroy_inside(enum fake_function function)
{
    (void)function;
    rex_graph_destroy(held);
    held = NULL;
}

/* A graph keeps what it launches; where that cannot end with it, it is said. */
static void held_by_graphs(const void *context)
{
    static int64_t cell;
    (void)context;
    start_on_host(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), REX_OK);
    CHECK_EQUAL(rex_module_register(&own, NULL), REX_OK);
    for (int is_inside = 0; is_inside < 2; is_inside++) {
        CHECK_EQUAL(rex_library_unload(load(FAKE("host.so"))),
                    REX_OK); /* what a graph has held is used again */
        CHECK_EQUAL(the_record()->registered, 1);
        struct rex_library *library = load(FAKE("host.so"));
        struct rex_queue *queue = new_queue("host's");
        struct rex_graph *first = record(queue, library), *second = record(queue, library);
        CHECK_EQUAL(the_record()->registered, 2);
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
        CHECK_EQUAL(the_record()->registered, 2);
        rex_graph_destroy(first);
        CHECK_EQUAL(the_record()->registered, 2);
        CHECK_EQUAL(rex_graph_launch(second, queue), REX_OK);
        held = second;
        if (is_inside) {
            REX_MAP(region, REX_TO(&cell, 1));
            the_record()->on_data = destroy_inside;
            CHECK_EQUAL(rex_module_data_enter(&own, 0, &region), REX_OK);
            the_record()->on_data = NULL;
            CHECK_EQUAL(rex_module_region_end(&own, 0, &region), REX_OK);
        } else
            rex_graph_destroy(held);
        CHECK_EQUAL(the_record()->registered, is_inside ? 2 : 1);
        CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    }
}

TEST(test_on_the_host)
{
    says("%s", in_child(held_by_graphs, NULL));
}
