/*
 * The CUDA runtime API beside librex, in one process: used before rex_offload_init(), after it, and after rex_offload_fini().
 *
 * libcudart is opened, so that the program builds without the toolkit; without one the tests are skipped. On a GPU both work in the primary
 * context, and neither may end the other's memory. Without a GPU libcudart finds none, at each call, and that must not disturb librex.
 */
#include "runtime/runtime.h"

REX_KERNEL(add);

enum { VALUES = 1000, TO_DEVICE = 1, TO_HOST = 2 };

static struct {
    int (*cudaGetDeviceCount)(int *count);
    int (*cudaMalloc)(void **memory, size_t size);
    int (*cudaMemcpy)(void *to, const void *from, size_t size, int kind);
    int (*cudaFree)(void *memory);
    int (*cudaGetLastError)(void);
} cuda;

static bool open_cudart(void)
{
    static const char *const names[] = {"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                        "/usr/local/cuda/lib64/libcudart.so"};
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"cudaGetDeviceCount", &cuda.cudaGetDeviceCount},
        {"cudaMalloc", &cuda.cudaMalloc},
        {"cudaMemcpy", &cuda.cudaMemcpy},
        {"cudaFree", &cuda.cudaFree},
        {"cudaGetLastError", &cuda.cudaGetLastError},
    };
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library != NULL && i < sizeof functions / sizeof *functions; i++)
        find(library, functions[i].name, functions[i].slot);
    return library != NULL;
}

/* ---- both sides ------------------------------------------------------------------------------------------------------------------ */

static int64_t theirs[VALUES];
static void *memory; /* of libcudart, on the GPU: a copy of what is in `theirs` */

/* libcudart's memory holds what it was given; or there is no device for it, as before. */
static void check_cudart(void)
{
    int64_t back[VALUES];
    int count = -1, result = cuda.cudaGetDeviceCount(&count);
    if (!gpu_present()) {
        assert_int_not_equal(result, 0);
        assert_int_not_equal(cuda.cudaMalloc(&memory, sizeof theirs), 0);
        cuda.cudaGetLastError();
        return;
    }
    assert_int_equal(result, 0);
    assert_true(count > 0);
    if (memory == NULL) {
        for (int i = 0; i < VALUES; i++)
            theirs[i] = 3 * i;
        assert_int_equal(cuda.cudaMalloc(&memory, sizeof theirs), 0);
        assert_int_equal(cuda.cudaMemcpy(memory, theirs, sizeof theirs, TO_DEVICE), 0);
    }
    assert_int_equal(cuda.cudaMemcpy(back, memory, sizeof back, TO_HOST), 0);
    assert_memory_equal(back, theirs, sizeof back);
}

static void check_librex(int64_t value)
{
    int64_t count = VALUES, ours[VALUES];
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(add), 4, 64);
    REX_MAP(map, REX_VALUE(value), REX_TOFROM(ours, VALUES), REX_VALUE(count));
    for (int i = 0; i < VALUES; i++)
        ours[i] = i;
    assert_int_equal(rex_launch(&config, &map), 0);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(ours[i], i + value);
}

/* Their memory, as librex's kernel changes it: both share the context. */
static void check_shared(int64_t value)
{
    int64_t count = VALUES, back[VALUES];
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(add), 4, 64);
    REX_MAP(map, REX_VALUE(value), REX_IS_DEVICE_PTR(memory), REX_VALUE(count));
    assert_int_equal(rex_launch(&config, &map), 0);
    assert_int_equal(cuda.cudaMemcpy(back, memory, sizeof back, TO_HOST), 0);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(back[i], theirs[i] + value);
    memcpy(theirs, back, sizeof back);
}

static void both(bool cudart_first)
{
    if (cudart_first)
        check_cudart();
    for (int64_t round = 1; round <= 2; round++) {
        assert_int_equal(rex_offload_init(), 0);
        assert_int_equal(rex_module_on_host(&rex_this_module), !gpu_present());
        check_librex(round);
        check_cudart();
        if (memory != NULL)
            check_shared(-round);
        assert_int_equal(rex_offload_fini(), 0);
        check_cudart();
    }
    if (memory != NULL)
        assert_int_equal(cuda.cudaFree(memory), 0);
}

TEST(cudart_first)
{
    both(true);
}

TEST(librex_first)
{
    both(false);
}

int before_tests(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (!open_cudart()) {
        puts("skip: no libcudart");
        return 77;
    }
    if (argc == 1 && !gpu_present())
        puts("no GPU: libcudart finds none, and must not disturb librex");
    return -1;
}
