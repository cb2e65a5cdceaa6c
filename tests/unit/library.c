/*
 * library.c - kernels by name: what the driver is given for a library, what is refused, what is given back, and each call of the driver
 * failing.
 *
 * The driver and libomptarget are fakes. What kernels compute is tested on real ones, in tests/runtime/library.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include <elf.h>
#include <malloc.h>
#include <sys/mman.h>

#include "inqueue.h"
#include "module/librarymodule.h"
#include "module/modules.h"

#define CUBIN "tests/data/sm_90.cubin"

/* A program that has no entries. */
static struct rex_module nothing = {.struct_size = sizeof(struct rex_module), .image_name = "nothing.cubin"};

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

/* ---- what the driver is given -------------------------------------------------------------------------------------------------------- */

static struct {
    char kernel[64];
    unsigned char bytes[5][16]; /* of each parameter */
} seen;
static size_t widths[5]; /* of what is launched */

static void watch(const char *kernel, const unsigned *grid, const unsigned *block, void **parameters)
{
    CHECK(grid[0] == 3 && grid[1] == 1 && block[0] == 64 && block[2] == 1);
    snprintf(seen.kernel, sizeof seen.kernel, "%s", kernel);
    for (size_t i = 0; i < COUNT(widths) && widths[i] > 0; i++)
        memcpy(seen.bytes[i], parameters[i], widths[i]);
}

static void expect(const char *kernel, size_t count, const size_t *of)
{
    CHECK_EQUAL(strcmp(seen.kernel, kernel), 0);
    memset(widths, 0, sizeof widths);
    memcpy(widths, of, count * sizeof *of);
}

#define SEES(parameter, type, expected)                        \
    do {                                                       \
        type value_;                                           \
        memcpy(&value_, seen.bytes[parameter], sizeof value_); \
        CHECK(value_ == (expected));                           \
    } while (0)

static void start(int release)
{
    void (**watcher)(const char *, const unsigned *, const unsigned *, void **);
    use_gpu(90);
    use_release(release);
    watcher = in_driver("fake_cuda_watch");
    *watcher = watch;
}

/* The arguments lie in a block, each where the image says. */
static int launch_block(struct rex_queue *queue, struct rex_library *library, const char *name, void *block)
{
    const struct rex_image_symbol *kernel = rex_image_view_find(rex_library_view(library), name);
    const struct rex_image_parameter *parameter = kernel->parameter + kernel->env;
    struct rex_launch_config launch = launch_of(library, name);
    size_t count = (size_t)kernel->parameters - kernel->env;
    void *arguments[8];
    for (size_t i = 0; i < count; i++)
        arguments[i] = (char *)block + parameter[i].offset - parameter->offset;
    return launch_library_in(queue, library, &launch, arguments, count);
}

/* Parameters of 8, 4, 4 and 8 bytes, which are 24 together; by address and in a block. */
static void launch_narrow(struct rex_queue *queue, struct rex_library *library)
{
    static const size_t narrow[] = {8, 4, 4, 8};
    struct {
        uint64_t out;
        int a;
        float b;
        double c;
    } block = {0x1000, -7, 2.5f, 0.125};
    void *arguments[] = {&block.out, &block.a, &block.b, &block.c};
    struct rex_launch_config launch = launch_of(library, "narrow__kernel__");
    memcpy(widths, narrow, sizeof narrow);
    for (int way = 0; way < 2; way++) {
        memset(&seen, 0xee, sizeof seen);
        CHECK_EQUAL(way == 0 ? launch_library_in(queue, library, &launch, arguments, 4)
                             : launch_block(queue, library, "narrow__kernel__", &block),
                    REX_OK);
        expect("narrow__kernel__", 4, narrow);
        SEES(0, uint64_t, 0x1000u);
        SEES(1, int, -7);
        SEES(2, float, 2.5f);
        SEES(3, double, 0.125);
    }
}

/* A struct of 16 bytes; and a block whose first member is a narrow one. */
static void launch_wide(struct rex_queue *queue, struct rex_library *library)
{
    static const size_t wide[] = {16, 8}, first[] = {4, 8, 8};
    struct {
        double one, other;
    } pair = {0.1, 1e300};
    uint64_t out = 0x2000;
    void *arguments[] = {&pair, &out};
    struct rex_launch_config launch = launch_of(library, "wide__kernel__");
    memset(widths, 0, sizeof widths);
    memcpy(widths, wide, sizeof wide);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, 2), REX_OK);
    CHECK(memcmp(seen.bytes[0], &pair, sizeof pair) == 0);
    SEES(1, uint64_t, 0x2000u);
    struct {
        int a;
        uint64_t value, out;
    } block = {5, 6, 7};
    memcpy(widths, first, sizeof first);
    CHECK_EQUAL(launch_block(queue, library, "narrow_first__kernel__", &block), REX_OK);
    SEES(0, int, 5);
    SEES(1, uint64_t, 6u);
    SEES(2, uint64_t, 7u);
}

/* The runtime's parameter in front is none of the launch's. */
static void launch_env(struct rex_queue *queue, struct rex_library *library)
{
    static const size_t env[] = {8, 8, 8};
    uint64_t block[] = {77, 0x3000};
    void *arguments[] = {&block[0], &block[1]};
    struct rex_launch_config launch = launch_of(library, "env__kernel__");
    memset(widths, 0, sizeof widths);
    memcpy(widths, env, sizeof env);
    for (int way = 0; way < 2; way++) {
        memset(&seen, 0xee, sizeof seen);
        CHECK_EQUAL(way == 0 ? launch_library_in(queue, library, &launch, arguments, 2)
                             : launch_block(queue, library, "env__kernel__", block),
                    REX_OK);
        SEES(1, uint64_t, 77u);
        SEES(2, uint64_t, 0x3000u);
    }
}

TEST_ON_FAKES(arguments, ALL_RELEASES)
{
    start(release);
    struct rex_library *library = load(CUBIN);
    struct rex_queue *queue = new_queue("by name");
    launch_narrow(queue, library);
    launch_wide(queue, library);
    struct rex_launch_config none = launch_of(library, "none__kernel__");
    memset(widths, 0, sizeof widths);
    CHECK_EQUAL(launch_library_in(queue, library, &none, NULL, 0), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* Of the signature: as many bytes of an argument are read as its type has, and a small number is no address. */
TEST_IN_CHILD(by_signature)
{
    static const size_t of_narrow[] = {8, 4, 4, 8};
    start(22);
    struct rex_library *library = load("tests/data/signed_sm_90.cubin");
    struct rex_queue *queue = new_queue("signed");
    struct rex_launch_config launch = launch_of(library, "narrow__kernel__");
    uint64_t out = 0x1000, small = 7;
    int a = 1;
    float b = 2;
    double c = 3;
    void *right[] = {&out, &a, &b, &c}, *wrong[] = {&small, &a, &b, &c};
    memcpy(widths, of_narrow, sizeof of_narrow);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, right, 4), REX_OK);
    int before = driver_calls("cuLaunchKernel");
    CHECK_EQUAL(launch_library_in(queue, library, &launch, wrong, 4), REX_EPARAMS);
    CHECK_MENTIONS(rex_last_error(), "argument 1 of narrow is a value of 8 bytes, its parameter is a pointer; it takes (pointer, value of 4 bytes, "
                                     "value of 4 bytes, value of 8 bytes)");
    CHECK_EQUAL(driver_calls("cuLaunchKernel"), before);
    launch_env(queue, library);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* ---- images -------------------------------------------------------------------------------------------------------------------------- */

static void read_whole(const char *path, unsigned char **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    *bytes = malloc(1 << 20);
    CHECK(*bytes != NULL);
    *size = fread(*bytes, 1, 1 << 20, file);
    fclose(file);
}

/* From memory, which is the caller's again at once; kernels, parameters and globals are those of the image. */
TEST_IN_CHILD(every_format)
{
    static const char *const files[] = {CUBIN, "tests/data/three_zstd.fatbin", "tests/data/sm_90.ptx", "tests/data/two.offload"};
    setenv("FAKE_LINK_CUBIN", CUBIN, 1);
    setenv("REX_CACHE", "off", 1);
    start(22);
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_library *library = NULL;
        unsigned char *bytes;
        void *address = NULL;
        size_t size;
        read_whole(files[i], &bytes, &size);
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
    const char *name; /* of a file; NULL: the bytes "no image" */
    int sm, result;
    const char *message;
};

static const struct wrong cannot_load_cases[] = {
    {"tests/data/nothing.cubin", 90, REX_ENOIMAGE, "no device image tests/data/nothing.cubin; looked for tests/data/nothing.cubin"},
    {"tests/data", 90, REX_EREAD, "device image tests/data cannot be read"},
    {NULL, 90, REX_EIMAGE, "device image made cannot be used"},
    {CUBIN, 0, REX_ENODEVICE, "device image " CUBIN " is for an NVIDIA GPU (sm_90), and this process has none"},
    {CUBIN, 120, REX_ENODEVICE, "device image " CUBIN " is for sm_90, and the GPU is sm_120"},
};

TEST_FOR_EACH(cannot_load, wrong, cannot_load_cases)
{
    struct rex_library *library = (struct rex_library *)&nothing;
    use_gpu(wrong->sm);
    use_release(22);
    CHECK_EQUAL(rex_library_load(&library, 0, wrong->name == NULL ? "no image" : NULL, 8, wrong->name == NULL ? "made" : wrong->name),
                wrong->result);
    CHECK_MENTIONS(rex_last_error(), wrong->message);
    CHECK(library == (struct rex_library *)&nothing);
    CHECK_EQUAL(driver_objects(), 0);
}

/* A GPU that comes late is found, the bytes that the driver loads are all of the image, and what it does not load is named. */
TEST_IN_CHILD(comes_late)
{
    struct rex_library *library = NULL;
    struct stat status;
    start(22);
    setenv("FAKE_CUDA_FAILS", "100", 1);
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, CUBIN), REX_ENODEVICE);
    unsetenv("FAKE_CUDA_FAILS");
    setenv("FAKE_CUDA_BREAKS", "cuModuleLoadData:719:1", 1);
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, CUBIN), REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "device image " CUBIN ", for librex's own launches on GPU 0: cuModuleLoadData: CUDA_ERROR_LAUNCH_FAILED") == 0);
    unsetenv("FAKE_CUDA_BREAKS");
    library = load(CUBIN);
    const struct __tgt_device_image *image = &rex_library_registration(library)->descriptor->image;
    CHECK_EQUAL(stat(CUBIN, &status), 0);
    CHECK_EQUAL((const char *)image->ImageEnd - (const char *)image->ImageStart, status.st_size);
    CHECK(image->ImageStart == library->image.bytes);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
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
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, 3), REX_EPARAMS);
    CHECK_MENTIONS(rex_last_error(), "kernel \"plain__kernel__\" has 2 parameters, and the launch 3 arguments");
    CHECK_EQUAL(launch_library_in(queue, library, &launch, missing, 2), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "kernel \"plain__kernel__\": argument 1 is at NULL");
    CHECK_EQUAL(launch_library_in(queue, library, &strange, arguments, 2), REX_EKEY);
    CHECK_MENTIONS(rex_last_error(), "is that of no kernel of device image " CUBIN);
    launch.device = 1;
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, 2), REX_EDEVICE);
    CHECK(rex_library_kernel(library, "plane__kernel__") == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_ENOKERNEL);
    CHECK_MENTIONS(rex_last_error(),
                   "device image " CUBIN " has no kernel \"plane__kernel__\"; the nearest name in it is \"plain__kernel__\"");
    CHECK(rex_library_kernel(library, "table") == NULL);
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "tabel"), REX_ENOKERNEL);
    CHECK_MENTIONS(rex_last_error(), "has no global \"tabel\"; the nearest name in it is \"table\"");
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "plain__kernel__"), REX_ENOKERNEL);
    CHECK_EQUAL(rex_library_global(&address, &size, library, 1, "table"), REX_EABSENT);
    CHECK_MENTIONS(rex_last_error(), "global \"table\" is not on device 1");
    CHECK_EQUAL(rex_library_load(&other, 7, NULL, 0, CUBIN), REX_EDEVICE);
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
    REFUSED(rex_library_load(NULL, 0, NULL, 0, CUBIN), REX_EINVAL, "rex_library_load: the library is NULL");
    REFUSED(rex_library_load(&none, 0, NULL, 0, NULL), REX_EINVAL, "rex_library_load: the name is NULL");
    NO_ADDRESS(rex_library_kernel(NULL, "a"), REX_EINVAL, "rex_library_kernel: the library is NULL");
    NO_ADDRESS(rex_library_kernel(library, NULL), REX_EINVAL, "rex_library_kernel: the name is NULL");
    NO_ADDRESS(rex_library_view(NULL), REX_EINVAL, "rex_library_view: the library is NULL");
    REFUSED(rex_library_global(NULL, &size, library, 0, "table"), REX_EINVAL, "rex_library_global: the address is NULL");
    REFUSED(rex_library_global(&address, NULL, library, 0, "table"), REX_EINVAL, "rex_library_global: the size is NULL");
    REFUSED(rex_library_global(&address, &size, NULL, 0, "table"), REX_EINVAL, "rex_library_global: the library is NULL");
    REFUSED(rex_library_global(&address, &size, library, 0, NULL), REX_EINVAL, "rex_library_global: the name is NULL");
    REFUSED(rex_library_global(&address, &size, library, 7, "table"), REX_EDEVICE, "device number 7: there are 1 devices; 1 is the host");
    REFUSED(launch_library_in(NULL, library, &launch, arguments, 2), REX_EINVAL, "rex_library_launch: the launch's queue is NULL");
    REFUSED(launch_library_in(queue, NULL, &launch, arguments, 2), REX_EINVAL, "rex_library_launch: the library is NULL");
    REFUSED(rex_library_launch(library, NULL, arguments, 2), REX_EINVAL, "rex_library_launch: the launch is NULL");
    REFUSED(launch_library_in(queue, library, &launch, NULL, 1), REX_EINVAL, "rex_library_launch: the array of arguments is NULL");
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
    CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), REX_EHOST);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    struct rex_library *other = NULL;
    int loads = driver_calls("cuModuleLoadData");
    CHECK_EQUAL(rex_library_load(&other, 1, NULL, 0, CUBIN), REX_OK); /* for a GPU that needs it later */
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
    CHECK_EQUAL(rex_library_load(&other, 0, NULL, 0, CUBIN), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "rex_library_load: device image " CUBIN " is for a GPU, and device 0 is no NVIDIA GPU");
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "table"), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_module_queue_create(&queue, &nothing, 0, "other", 0, NULL), REX_OK);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, NULL, 0), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "device image " CUBIN " is for a GPU, and queue \"other\" is of device 0");
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
    REFUSED(rex_library_global(&address, &size, library, 0, "table"), REX_ECUDA,
            "device image " CUBIN ", on GPU 0: %s: CUDA_ERROR_LAUNCH_FAILED", call);
    CHECK(address == NULL && size == 0);
    int users = context_users();
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "table"), REX_OK);
    CHECK_EQUAL(context_users(), users);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* ---- images that contradict themselves ------------------------------------------------------------------------------------------------ */

/* The attribute of parameter ORDINAL at OFFSET in the CUBIN's BYTES gets offset OTHER, in each kernel that has such a one; how many have. */
static int move_parameter(unsigned char *bytes, size_t size, uint16_t ordinal, uint16_t offset, uint16_t other)
{
    const uint16_t wanted[] = {0x1704, 12, 0, 0, ordinal, offset};
    int moved = 0;
    for (size_t i = 0; i + sizeof wanted <= size; i++)
        if (memcmp(bytes + i, wanted, sizeof wanted) == 0) {
            memcpy(bytes + i + 10, &other, sizeof other);
            moved++;
        }
    return moved;
}

/* With such offsets a launch would read before the caller's block, or behind it. */
TEST_IN_CHILD(moved_parameters)
{
    static const struct {
        uint16_t ordinal, offset, other;
        int result;
    } cases[] = {{3, 16, 16, REX_OK},     {3, 16, 15, REX_EIMAGE},    {3, 16, 0, REX_EIMAGE}, {3, 16, 65535, REX_OK},
                 {0, 0, 16, REX_EIMAGE}, {0, 0, 65535, REX_EIMAGE}, {2, 12, 20, REX_EIMAGE}};
    start(22);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_library *library = NULL;
        unsigned char *bytes;
        size_t size;
        read_whole(CUBIN, &bytes, &size);
        CHECK(move_parameter(bytes, size, cases[i].ordinal, cases[i].offset, cases[i].other) > 0);
        CHECK_EQUAL(rex_library_load(&library, 0, bytes, size, "moved"), cases[i].result);
        if (cases[i].result != REX_OK)
            CHECK_MENTIONS(rex_last_error(), "device image moved cannot be used: the parameters of a kernel overlap, or are out of order");
        CHECK_EQUAL(rex_library_unload(library), REX_OK);
        free(bytes);
    }
}

/* The argument ends where a page does, and the next one cannot be read: its signature tells 39 bytes of an int. */
static void wide_signature(const void *context)
{
    static const char told[] = "narrow__kernel__P9rex_kindsIJLj0ELj1ELj1027";
    static const size_t narrow[] = {8, 4, 4, 8};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct rex_library *library = NULL;
    unsigned char *bytes, *name, *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size;
    (void)context;
    start(22);
    CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    read_whole("tests/data/signed_sm_90.cubin", &bytes, &size);
    while ((name = memmem(bytes, size, told, strlen(told))) != NULL)
        memcpy(name + strlen(told) - 4, "9987", 4); /* 39 << 8 | REX_KIND_VALUE */
    CHECK_EQUAL(rex_library_load(&library, 0, bytes, size, "wide"), REX_OK);
    struct rex_queue *queue = new_queue("wide");
    struct rex_launch_config launch = launch_of(library, "narrow__kernel__");
    uint64_t out = 0x1000;
    float b = 2;
    double c = 3;
    int a = -7;
    void *arguments[] = {&out, memcpy(pages + page - sizeof a, &a, sizeof a), &b, &c};
    memcpy(widths, narrow, sizeof narrow);
    CHECK_EQUAL(launch_library_in(queue, library, &launch, arguments, 4), REX_OK);
    SEES(1, int, -7);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    munmap(pages, 2 * page);
    free(bytes);
}

TEST(test_contradictions)
{
    CHECK_MENTIONS(in_child(wide_signature, NULL), "kernel \"narrow__kernel__\": parameter 1 has 39 bytes by its signature, and 4 by the "
                                                   "image: the signature is not used");
}

/* ---- an image for the host device ---------------------------------------------------------------------------------------------------- */

/* Functions of which nothing tells the parameters are kernels of as many as are given, of a word each. */
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
static void launch_words(struct rex_queue *queue, struct rex_library *library, size_t count, uint64_t *words)
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
    for (size_t i = 0; i < COUNT(counts); i++) { /* of its own size, so that AddressSanitizer sees where it is left */
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
    REFUSED(launch_library_in(queue, library, &launch, arguments, COUNT(arguments)), REX_EPARAMS,
            "kernel \"" UNTOLD_KERNEL "\" has 65535 parameters, and the launch 65536 arguments");
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL], 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* The image is loaded with the library, on a device that is not the host; its globals are where libomptarget has them. */
TEST_IN_CHILD(globals_of_runtime)
{
    void *address = NULL, *on_host = NULL;
    size_t size = 0;
    int host = (use_gpu(0), use_release(19), 1);
    struct rex_library *library = NULL, *of_host = NULL;
    CHECK_EQUAL(rex_library_load(&of_host, host, NULL, 0, UNTOLD), REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 0);
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, FAKE("host.so")), REX_OK);
    CHECK(the_record()->counts[FAKE_BEGIN] == 1 && last_call(FAKE_BEGIN)->packet.rows == 0 && last_call(FAKE_BEGIN)->device == 0);
    const struct fake_call *registered = &the_record()->calls[the_record()->count - 1];
    while (registered->function != FAKE_REGISTER)
        registered--;
    for (uint64_t i = 0; i < registered->entry_count; i++)
        if (strcmp(registered->entries[i].name, "table") == 0)
            on_host = registered->entries[i].address;
    CHECK(on_host != NULL);
    REFUSED(rex_library_global(&address, &size, library, 0, "table"), REX_EABSENT,
            "rex_library_global: global \"table\" is not on device 0");
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)on_host, 32, 0x10000000};
    REFUSED(rex_library_global(&address, &size, library, host, "table"), REX_EABSENT,
            "rex_library_global: global \"table\" is not on device 1");
    CHECK(address == NULL && size == 0);
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "table"), REX_OK);
    CHECK(address == (void *)0x10000000 && size == 32);
    CHECK_EQUAL(rex_library_global(&address, &size, library, 0, "plain__kernel__"), REX_ENOKERNEL);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_library_unload(of_host), REX_OK);
}

/* ---- entries that librex makes ------------------------------------------------------------------------------------------------------------ */

/* In the image's order, or that of its own table; keys and names lie behind the rows, each in bytes of its own. */
static void check_table(const struct rex_view *view, const char *const *names, size_t count)
{
    struct rex_library_table made;
    CHECK_EQUAL(rex_library_table_make(&made, view), REX_OK);
    CHECK_EQUAL(made.count, count);
    const char *name = (const char *)(made.entries + count), *key = name;
    for (size_t i = 0; i < count; i++)
        key += strlen(names[i]) + 1;
    for (size_t i = 0; i < count; i++) {
        const struct __tgt_offload_entry *entry = &made.entries[i];
        const struct rex_image_symbol *symbol = rex_view_find(view, names[i]);
        CHECK(strcmp(entry->name, names[i]) == 0 && entry->name == name);
        CHECK_EQUAL(entry->size, symbol->kernel ? 0 : symbol->size);
        CHECK(entry->flags == 0 && entry->reserved == 0);
        key += symbol->kernel ? 0 : (16 - (uintptr_t)key % 16) % 16;
        CHECK(entry->addr == key);
        CHECK(made.symbol[i] == symbol - view->symbols && made.entry[symbol - view->symbols] == entry);
        name += strlen(names[i]) + 1;
        key += symbol->kernel ? 1 : (symbol->size + 15) / 16 * 16;
    }
    CHECK((size_t)(key - (const char *)made.entries) <= malloc_usable_size(made.entries));
    for (size_t i = 0; i < view->count; i++) {
        size_t known = 0;
        for (size_t j = 0; j < count; j++)
            known += strcmp(view->symbols[i].name, names[j]) == 0;
        CHECK_EQUAL(made.entry[i] != NULL, known);
    }
    rex_library_table_free(&made, true);
    CHECK(made.entries == NULL && made.symbol == NULL && made.entry == NULL && made.count == 0);
}

TEST_IN_CHILD(tables)
{
    static const char *const kernels[] = {"a", "kernel b"}, *const all[] = {"a", "cells", "kernel b", "byte", "large"},
                             *const in_order[] = {"large", "kernel b", "byte"}, *positions[] = {"large", "absent", "empty", "kernel b", "byte"};
    const struct rex_image_symbol symbols[] = {{.name = "a", .kernel = true, .size = 100}, {.name = "cells", .size = 17},
                                               {.name = "empty"},                          {.name = "kernel b", .kernel = true},
                                               {.name = "byte", .size = 1},                {.name = "large", .size = 5000}};
    struct rex_view view = {.kind = REX_IMAGE_CUBIN, .most = SIZE_MAX};
    check_table(&view, NULL, 0);
    for (size_t i = 0; i < COUNT(symbols); i++)
        CHECK_EQUAL(rex_view_add(&view, &symbols[i]), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    check_table(&view, kernels, COUNT(kernels));
    view.kind = REX_IMAGE_HOST;
    check_table(&view, all, COUNT(all));
    view.positions = positions;
    view.position_count = COUNT(positions);
    check_table(&view, in_order, COUNT(in_order));
    view.positions = NULL;
    rex_view_close(&view);
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------------- */

static int put_plain(struct rex_queue *queue, struct rex_library *library)
{
    struct rex_launch_config launch = launch_of(library, "plain__kernel__");
    uint64_t value = 1, out = 0x1000;
    void *arguments[] = {&value, &out};
    memset(widths, 0, sizeof widths);
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
    CHECK_EQUAL(rex_library_unload(library), REX_EBUSY);
    CHECK_MENTIONS(rex_last_error(), "rex_library_unload: queue \"at work\" has unfinished work that may use it");
    CHECK_EQUAL(put_plain(queue, library), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_UNFINISHED, "wait"), REX_OK);
    *(int *)in_driver("fake_cuda_busy") = 1;
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(idle), REX_OK);
    CHECK_EQUAL(driver_objects(), 0);
}

/* A graph keeps what it has; when it goes while it is at work, an error that comes later has no name that is gone. */
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
    CHECK_EQUAL(rex_queue_sync(queue), REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), "launched since the last wait: \"a kernel of a library that is unloaded\"");
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
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_ECUDA);
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
    CHECK(((const struct rex_registration *)rex_modules_first()->registration)->memory_name == NULL);
    int registered = 0;
    for (uint32_t i = 0; i < the_record()->count && i < FAKE_CALLS; i++)
        registered += the_record()->calls[i].function == FAKE_REGISTER;
    CHECK_EQUAL(registered, 1);
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
        CHECK_EQUAL(put_plain(queue, library), REX_EFORK);
        CHECK_EQUAL(rex_library_unload(library), REX_EFORK);
        CHECK_MENTIONS(rex_last_error(), "was loaded in this process's parent");
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

/* ---- on the host --------------------------------------------------------------------------------------------------------------------- */

static char own_key;
static struct __tgt_offload_entry own_entry[] = {{&own_key, (char *)(uintptr_t)"env__kernel__", 0, 0, 0}};
static struct rex_module own = {
    .struct_size = sizeof own, .entries_begin = own_entry, .entries_end = own_entry + 1, .image_name = FAKE("host.so")};

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

static const struct fake_call *last_registered(void)
{
    const struct fake_call *call = &the_record()->calls[the_record()->count];
    CHECK(the_record()->count <= FAKE_CALLS);
    while ((--call)->function != FAKE_REGISTER)
        ;
    return call;
}

/* So many modules are kept of libraries that are unloaded, and lead to nothing of theirs. */
static void check_ended(int count)
{
    for (const struct rex_module *module = rex_modules_first(); module != NULL; module = module->next, count--) {
        CHECK(module->entries_begin == NULL && module->entries_end == NULL && module->image == NULL);
        CHECK(((const struct rex_registration *)module->registration)->memory_name == NULL);
    }
    CHECK_EQUAL(count, 0);
}

/* What the host has of each: a byte of a kernel, and of a global as much as the image, where any type may lie; none is part of another. */
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
            CHECK(i == j || (uintptr_t)one->address + (one->size > 0 ? one->size : 1) <= (uintptr_t)other->address ||
                  (uintptr_t)other->address + (other->size > 0 ? other->size : 1) <= (uintptr_t)one->address);
            CHECK(i == j || strcmp(one->name, other->name) != 0);
        }
    }
    CHECK(globals > 0);
}

/* Host images are registered, and what is made for one is used again; LLVM 18, which takes none back, has them still. */
TEST_ON_FAKES(registered_each_time, 14, 18, 22, 24)
{
    size_t size;
    start_on_host(release);
    unsigned char *bytes = realloc(read_bytes(FAKE("host.so"), &size), 1 << 20);
    CHECK(bytes != NULL && size < 1 << 20);
    bytes[size] = 0;
    const char *names[3];
    for (int i = 0; i < 3; i++) {
        struct rex_library *first = load_on_host(NULL, 0, FAKE("host.so")), *second = load_on_host(bytes, size + 1, "longer");
        CHECK_EQUAL(the_record()->registered, release == 18 ? 2 * (i + 1) : 2);
        CHECK_EQUAL(last_registered()->image_size, size + 1);
        if (release == 22) /* which is given them by name and without the image's own rows */
            check_keys(last_registered());
        /* libomptarget keeps the names, which are the image's where the release calls its functions: no later one lies there. */
        names[i] = last_registered()->entries[0].name;
        for (int before = 0; before < i && release == 22; before++)
            CHECK(names[before] != names[i] && strcmp(names[before], names[i]) == 0);
        CHECK(rex_library_kernel(first, "plain__kernel__") != NULL);
        CHECK(rex_library_kernel(first, "plain__kernel__") != rex_library_kernel(second, "plain__kernel__"));
        CHECK(rex_library_kernel(first, "plane__kernel__") == NULL);
        CHECK(strcmp(rex_last_error(), "device image " FAKE("host.so") " has no kernel \"plane__kernel__\"; the nearest name in it is "
                                       "\"plain__kernel__\"") == 0);
        CHECK(rex_library_kernel(second, "nothing_like_it") == NULL);
        CHECK(strcmp(rex_last_error(), "device image longer has no kernel \"nothing_like_it\"; it has \"env__kernel__\", \"none__kernel__\", \"plain__kernel__\"") == 0);
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
        for (size_t at = 0; (section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) && at < section.sh_size; at += sizeof(Elf64_Sym))
            memset(bytes + section.sh_offset + at + offsetof(Elf64_Sym, st_size), 0, sizeof(Elf64_Xword));
    }
    CHECK_EQUAL(rex_library_load(&library, 0, bytes, size, "bare"), REX_ENOKERNEL);
    CHECK(strcmp(rex_last_error(), "device image bare has no kernel") == 0);
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
        CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, FAKE("host.so")), REX_ERUNTIME);
        CHECK(library == NULL);
        CHECK_EQUAL(the_record()->registered, 0);
        check_ended(1);
    }
    the_record()->devices = 1;
    without_symbols();
    library = load(FAKE("host.so"));
    CHECK_EQUAL(the_record()->registered, 1);
    CHECK_EQUAL(rex_library_load(&library, 9, NULL, 0, FAKE("host.so")), REX_EDEVICE);
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
        CHECK_EQUAL(rex_library_unload(load(FAKE("host.so"))), REX_OK); /* what a graph has held is used again */
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
    const char *output = in_child(held_by_graphs, NULL);
    assert_int_equal(occurrences(output, "librex: warning: " FAKE("host.so") " stays: a module: a module is neither registered nor ended "), 1);
    assert_int_equal(occurrences(output, " stays: "), 1);
}

/* ---- each call of the driver --------------------------------------------------------------------------------------------------------- */

struct fault {
    const char *function;
    int number;
    int silent; /* nobody is told */
};

/* 1 where CODE says that the broken function failed; a call may fail for nothing else. */
static int failed(int code, const char *broken)
{
    if (code == REX_OK)
        return 0;
    CHECK_EQUAL(code, REX_ECUDA);
    CHECK_MENTIONS(rex_last_error(), broken);
    return 1;
}

static int use_all(const char *broken)
{
    struct rex_library *library = NULL;
    struct rex_queue *queue = NULL;
    struct rex_graph *graph = NULL;
    void *address;
    size_t size;
    int failures = failed(rex_library_load(&library, 0, NULL, 0, CUBIN), broken);
    if (library == NULL)
        return failures;
    failures += failed(rex_library_global(&address, &size, library, 0, "table"), broken);
    failures += failed(rex_module_queue_create(&queue, &nothing, 0, "faults", 0, NULL), broken);
    if (queue != NULL) {
        failures += failed(put_plain(queue, library), broken);
        CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
        failures += failed(put_plain(queue, library), broken);
        failures += failed(rex_graph_end(&graph, queue), broken);
        if (graph != NULL)
            failures += failed(rex_graph_launch(graph, queue), broken);
    }
    rex_graph_destroy(graph);
    failures += failed(rex_queue_destroy(queue), broken);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    return failures;
}

static const struct fault faults[] = {
    {"cuPointerGetAttribute", 1, 0},  {"cuPointerGetAttribute", 2, 0},
    {"cuModuleLoadData", 1, 0},       {"cuModuleGetGlobal", 1, 0},
    {"cuModuleGetFunction", 0, 0},    {"cuFuncLoad", 0, 0},
    {"cuLaunchKernel", 1, 0},         {"cuLaunchKernel", 2, 0},
    {"cuStreamGetCaptureInfo", 1, 0}, {"cuGraphInstantiate", 1, 0},
    {"cuGraphLaunch", 1, 0},          {"cuCtxSynchronize", 0, 1},
    {"cuModuleUnload", 1, 1},         {"cuFuncLoad", 1, 1},
    {"cuModuleGetFunction", 1, 1},
};

TEST_FOR_EACH(break_one, fault, faults)
{
    char setting[80];
    snprintf(setting, sizeof setting, "%s:719:%d", fault->function, fault->number);
    use_gpu(90);
    use_release(22);
    setenv("FAKE_CUDA_BREAKS", setting, 1);
    CHECK_EQUAL(use_all(fault->function) > 0, !fault->silent);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(use_all("nothing"), 0);
    CHECK_EQUAL(driver_objects(), 0);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_current"), 0);
}
