/*
 * library.c - kernels by name: what the driver is given for a library, and what is refused.
 *
 * The driver and libomptarget are fakes. tests/runtime/library tests on real ones the results that
 * kernels compute.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "base/process.h"
#include "inqueue.h"
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
    {"none__kernel__", 0, {{0, {0}}}},
    {"env__kernel__", 2, {{8, {77}}, {8, {0x3000}}}},
};
enum { NARROW, WIDE, NARROW_FIRST, NONE, ENV };

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

/* With a signature a small number is no address. */
TEST_IN_CHILD(arguments)
{
    uint64_t small = 7;
    void *wrong[] = {&small, &small};
    start(22);
    struct rex_library *library = load(CUBIN), *typed = load("tests/data/typed_sm_90.cubin");
    struct rex_queue *queue = new_queue("by name");
    struct rex_launch_config launch = launch_of(typed, "plain__kernel__");
    for (int i = NARROW; i <= NONE; i++)
        launch_given(queue, library, &given[i]);
    launch_given(queue, typed, &given[NARROW]);
    launch_given(queue, typed, &given[ENV]);
    CHECK_EQUAL(the_record()->registered, 1); /* so that there are devices */
    REFUSED(launch_library_in(queue, typed, &launch, wrong, 2));
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_library_unload(typed), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST_IN_CHILD(wrong_calls)
{
    start(22);
    struct rex_library *library = load(CUBIN), *other = NULL;
    struct rex_queue *queue = new_queue("wrong");
    struct rex_launch_config launch = launch_of(library, "plain__kernel__"), strange = launch;
    uint64_t value = 1;
    void *arguments[] = {&value, &value, &value}, *missing[] = {&value, NULL}, *address;
    static const char *const broken[] = {"cuDevicePrimaryCtxRetain:719:0", "cuCtxPushCurrent:719:0",
                                         "cuModuleGetGlobal:719:0"};
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
    REFUSED(rex_library_global(&address, &size, library, 9, "table"));
    for (size_t i = 0; i < COUNT(broken); i++) {
        setenv("FAKE_CUDA_BREAKS", broken[i], 1);
        REFUSED(rex_library_global(&address, &size, library, 0, "table"));
    }
    unsetenv("FAKE_CUDA_BREAKS");
    REFUSED(rex_library_load(&other, 7, NULL, 0, CUBIN));
    REFUSED(rex_library_load(&other, 0, "", 0, "of no bytes"));
    unsigned char *bytes = lasting(read_bytes("tests/data/three_zstd.fatbin", &size));
    memcpy(bytes + 1688, (uint64_t[]){17 << 20}, 8); /* what the member for this GPU unpacks to */
    REFUSED(rex_library_load(&other, 0, bytes, size, "large"));
    setenv("FAKE_CUDA_BREAKS", "cuModuleLoadData:719:0", 1);
    REFUSED(rex_library_load(&other, 0, NULL, 0, CUBIN));
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* The host's queue does nothing with an image for a GPU, as rex_launch() would not; nor does that
 * of a device that is no NVIDIA GPU. */
TEST_IN_CHILD(on_another_device)
{
    void *address;
    size_t size;
    start(22);
    struct rex_library *library = load(CUBIN), *other = NULL;
    struct rex_launch_config launch = launch_of(library, "none__kernel__");
    CHECK_EQUAL(rex_library_load(&other, the_record()->devices, NULL, 0, CUBIN), REX_OK); /* nothing, for the host */
    CHECK_EQUAL(rex_library_unload(other), REX_OK);
    setenv("FAKE_CUDA_BREAKS", "cuPointerGetAttribute:1:0", 1);
    for (int device = 0; device < 2; device++) {
        struct rex_queue *queue = NULL;
        CHECK_EQUAL(rex_module_queue_create(&queue, &nothing, device, "other", 0, NULL), REX_OK);
        REFUSED(launch_library_in(queue, library, &launch, NULL, 0));
        REFUSED(rex_library_global(&address, &size, library, device, "table"));
        CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    }
    REFUSED(rex_library_load(&other, 0, NULL, 0, CUBIN));
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* ---- an image for the host device ------------------------------------------------------------ */

/* Functions of which nothing tells the parameters are kernels of as many as are given, of a word
 * each. */
#define UNTOLD FAKE("iomp/libiomp5.so")
#define UNTOLD_KERNEL "omp_get_default_device"

enum { MOST_WORDS = UINT16_MAX };

/* Each gets to libomptarget as a value, in order; no launch has more of them than a kernel of
 * another image could. */
TEST_IN_CHILD(words_alone)
{
    static const size_t counts[] = {1, 32, 33, FAKE_ROWS};
    static void *arguments[MOST_WORDS + 1];
    use_gpu(0);
    use_release(19);
    struct rex_library *library = load(UNTOLD);
    struct rex_queue *queue = new_queue("words");
    struct rex_launch_config launch = launch_of(library, UNTOLD_KERNEL);
    for (size_t i = 0; i < COUNT(counts); i++) {
        /* of its own size, so that AddressSanitizer sees where it is left */
        uint64_t *words = malloc(counts[i] * sizeof *words);
        CHECK(words != NULL);
        for (size_t j = 0; j < counts[i]; j++) {
            words[j] = 1000 * counts[i] + j;
            arguments[j] = &words[j];
        }
        CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, counts[i]), REX_OK);
        const struct fake_call *call = last_call(FAKE_KERNEL);
        CHECK_EQUAL(call->packet.rows, counts[i]);
        for (size_t j = 0; j < counts[i]; j++)
            CHECK((uintptr_t)call->base[j] == words[j] && (uintptr_t)call->begin[j] == words[j] &&
                  call->types[j] == (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM));
        free(words);
    }
    for (size_t i = 0; i < COUNT(arguments); i++)
        arguments[i] = &arguments[i];
    REFUSED(launch_library_in(queue, library, &launch, arguments, COUNT(arguments)));
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* LLVM 18 takes no image after the first use of a device, and from 23 on the host device calls no such function. */
TEST_ON_FAKES(refused_images, 18, 23, 24)
{
    struct rex_library *library;
    use_gpu(0);
    use_release(release);
    CHECK_EQUAL(rex_library_unload(release == 18 ? load(UNTOLD) : NULL), REX_OK);
    REFUSED(rex_library_load(&library, 0, NULL, 0, release == 18 ? FAKE("host.so") : UNTOLD));
}

/* libomptarget is given each symbol of a host image, with bytes of its own on the host, where any
 * type can lie if it is a global. */
TEST_IN_CHILD(host_entries)
{
    uintptr_t first = UINTPTR_MAX, last = 0;
    use_gpu(0);
    use_release(19);
    struct rex_library *library = load(FAKE("host.so"));
    const struct fake_call *call = newest_call(FAKE_REGISTER);
    CHECK_EQUAL(call->entry_count, 4);
    for (size_t i = 0; i < call->entry_count; i++) {
        const struct fake_entry *entry = &call->entries[i];
        bool is_global = strcmp(entry->name, "table") == 0;
        uintptr_t begin = (uintptr_t)entry->address, end = begin + (is_global ? 32 : 1);
        CHECK(entry->size == (is_global ? 32 : 0) && entry->flags == 0 && entry->reserved == 0);
        CHECK(is_global ? begin % 16 == 0
                        : rex_library_kernel(library, entry->name) == entry->address);
        first = !is_global && begin < first ? begin : first;
        last = !is_global && begin > last ? begin : last;
        for (size_t j = 0; j < i; j++) {
            uintptr_t other = (uintptr_t)call->entries[j].address;
            CHECK(other >= end || other + (call->entries[j].size > 0 ? 32 : 1) <= begin);
        }
    }
    CHECK(last - first < call->entry_count); /* keys lie side by side */
    for (int again = 0; again < 2; again++) { /* at other addresses */
        CHECK_EQUAL(the_record()->registered, 1);
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
        CHECK_EQUAL(the_record()->registered, 0);
        library = load(FAKE("host.so"));
    }
    CHECK_EQUAL(the_record()->used_address_again, 0);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Not while a queue works with it, but where the program says so. What it ran before ends. */
TEST_IN_CHILD(end_at_work)
{
    start(22);
    struct rex_library *library = load(CUBIN), *other = load("tests/data/typed_sm_90.cubin");
    struct rex_queue *queue = new_queue("at work"), *idle = new_queue("idle");
    struct rex_launch_config launch = launch_of(library, "none__kernel__");
    launch_given(queue, other, &given[NARROW]);
    launch_given(queue, other, &given[ENV]);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_library_unload(other), REX_OK);
    REFUSED(rex_library_unload(library));
    CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), REX_OK);
    CHECK_IN_FORK((REFUSED(rex_library_unload(library)), true));
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_thread.shelters, 0); /* as before, so that the next call has its own */
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(idle), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* What a graph launches stays until the graph ends, and no longer. */
TEST_OF_EACH(kept_by_graph, bool, on_host, false, true)
{
    struct rex_graph *graph = NULL;
    start(22);
    setenv("FAKE_CUDA_DEVICES", on_host ? "0" : "1", 1);
    struct rex_library *library = load(on_host ? FAKE("host.so") : CUBIN);
    struct rex_queue *queue = new_queue("kept");
    struct rex_launch_config launch = launch_of(library, "none__kernel__");
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), REX_OK);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(the_record()->registered, 1);
    CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    rex_graph_destroy(graph);
    CHECK_EQUAL(the_record()->registered, !on_host);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}
