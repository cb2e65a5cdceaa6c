/*
 * Teams that share memory, and reductions: by one thread of the CPU, by OpenMP's threads, of which several run teams, and on a GPU. All compute the same.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <rex/library.h>

#include "teams.h"

enum { PARTS = 5000, TEAMS = 24, THREADS = 64, MOST_WORKERS = 64 };

static int64_t numbers[PARTS * PART], results[PARTS];
static int notes[PARTS];
static struct rex_library *library;
static struct rex_queue *queue;
static int64_t *device_numbers, *device_results;
static int *device_notes;

static void *allocated(size_t bytes)
{
    void *memory = rex_device_alloc(bytes, -1);
    assert_non_null(memory);
    return memory;
}

static void start(const char *image)
{
    assert_int_equal(rex_library_load(&library, -1, NULL, 0, image), 0);
    assert_int_equal(rex_queue_create(&queue, -1, NULL, 0), 0);
    device_numbers = allocated(sizeof numbers);
    device_results = allocated(sizeof results);
    device_notes = allocated(sizeof notes);
    for (int64_t i = 0; i < PARTS * PART; i++)
        numbers[i] = i % 11 == 0 ? -1 : i * 7 % 1000;
    memset(results, -1, sizeof results);
    memset(notes, -1, sizeof notes);
    assert_int_equal(rex_queue_copy_to(queue, device_numbers, numbers, sizeof numbers), 0);
    assert_int_equal(rex_queue_copy_to(queue, device_results, results, sizeof results), 0);
    assert_int_equal(rex_queue_copy_to(queue, device_notes, notes, sizeof notes), 0);
}

/* Launches the kernel called @name, and gets what it wrote, but for the numbers. */
static void run(const char *name, uint32_t dynamic_memory, void **arguments, size_t count)
{
    struct rex_launch_config launch = rex_launch_config_of(rex_library_kernel(library, name), TEAMS, THREADS);
    launch.dynamic_memory = dynamic_memory;
    launch.queue = queue;
    assert_int_equal(rex_library_launch(library, &launch, arguments, count), 0);
    assert_int_equal(rex_queue_copy_from(queue, results, device_results, sizeof results), 0);
    assert_int_equal(rex_queue_copy_from(queue, notes, device_notes, sizeof notes), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
}

static void end(void)
{
    rex_device_free(device_numbers, -1);
    rex_device_free(device_results, -1);
    rex_device_free(device_notes, -1);
    assert_int_equal(rex_queue_destroy(queue), 0);
    assert_int_equal(rex_library_unload(library), 0);
}

/* Returns how many threads ran indices. */
static int check_sums(int64_t parts)
{
    bool ran[MOST_WORKERS] = {false};
    int workers = 0;
    void *arguments[] = {&parts, &device_numbers, &device_results, &device_notes};
    run("sums__kernel__", 0, arguments, 4);
    for (int part = 0; part < parts; part++) {
        int64_t sum = 0;
        for (int i = 0; i < PART; i++)
            sum += numbers[part * PART + i];
        assert_int_equal(results[part], sum);
        assert_in_range(notes[part], 0, MOST_WORKERS - 1);
        workers += !ran[notes[part]];
        ran[notes[part]] = true;
    }
    return workers;
}

/* Rows of @length numbers, whose memory all at once were more than a stack has. */
static void check_turned(int64_t length)
{
    int64_t rows = PARTS * PART / length;
    void *arguments[] = {&rows, &length, &device_numbers, &device_notes};
    run("turned__kernel__", (uint32_t)(length * 8), arguments, 4);
    static int64_t turned[PARTS * PART];
    assert_int_equal(rex_queue_copy_from(queue, turned, device_numbers, sizeof turned), 0);
    assert_int_equal(rex_queue_copy_to(queue, device_numbers, numbers, sizeof numbers), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < length; i++)
            assert_int_equal(turned[row * length + i], numbers[row * length + length - 1 - i]);
        assert_int_equal(notes[row], 0);
    }
}

/* Of the first numbers, whose sum each type has exactly. */
#define CHECK_REDUCED(name, type)                                                               \
    do {                                                                                        \
        int64_t n = 20000;                                                                      \
        type wanted[6] = {0, 100, 0, 0, 100, 0}, found[6];                                      \
        void *arguments[] = {&n, &device_numbers, &device_results};                             \
        assert_int_equal(rex_queue_copy_to(queue, device_results, wanted, sizeof wanted), 0);   \
        run(name "__kernel__", 0, arguments, 3);                                                \
        for (int64_t i = 0; i < n; i++) {                                                       \
            type x = (type)numbers[i];                                                          \
            wanted[0] = wanted[3] = (type)(wanted[0] + x);                                      \
            wanted[1] = wanted[4] = x < wanted[1] ? x : wanted[1];                              \
            wanted[2] = wanted[5] = x > wanted[2] ? x : wanted[2];                              \
        }                                                                                       \
        memcpy(found, results, sizeof found);                                                   \
        assert_memory_equal(found, wanted, sizeof wanted);                                      \
    } while (0)

static void check_reduced(void)
{
    CHECK_REDUCED("reduced_int", int32_t);
    CHECK_REDUCED("reduced_unsigned", uint32_t);
    CHECK_REDUCED("reduced_long", int64_t);
    CHECK_REDUCED("reduced_unsigned_long", uint64_t);
    CHECK_REDUCED("reduced_float", float);
    CHECK_REDUCED("reduced_double", double);
}

static void check(const char *image, int fewest, int most)
{
    start(image);
    check_reduced();
    assert_in_range(check_sums(PARTS), fewest, most);
    check_turned(257);
    check_turned(500);
    check_turned(4000);
    end();
}

TEST(one_image)
{
    bool gpu = gpu_is_real();
    check("rex_lib_nvidia.cubin:rex_lib_host.so", gpu ? TEAMS : 1, gpu ? TEAMS : 1);
}

/* ---- by OpenMP ----------------------------------------------------------------------------------------------------------------- */

static const char *openmp_image(void)
{
    static struct path image;
    image = image_file("", "openmp.so");
    if (access(image.text, R_OK) != 0)
        leave_out("teams by OpenMP: the compiler has no library of OpenMP");
    return image.text;
}

/* Of this process, and 2. */
static long threads(void)
{
    struct stat tasks;
    assert_int_equal(stat("/proc/self/task", &tasks), 0);
    return (long)tasks.st_nlink;
}

/* OMP_NUM_THREADS counts, whatever share of the machine a job has. LLVM 21 and later close an image that is unloaded; 18 loads no other. */
TEST(openmp, .gpu = ON_HOST_DEVICE)
{
    for (int i = 0; i < (release_of_test() == 18 ? 1 : 10); i++)
        check(openmp_image(), 2, 4);
}

TEST(few_indices, .gpu = ON_HOST_DEVICE)
{
    start(openmp_image());
    long before = threads();
    assert_int_equal(check_sums(64), 1);
    assert_int_equal(threads(), before);
    assert_in_range(check_sums(PARTS), 2, 4);
    assert_true(threads() > before);
    pid_t child = fork();
    if (child == 0)
        _exit(check_sums(PARTS) == 1 ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_in_range(check_sums(PARTS), 2, 4);
    end();
}

#define ONE_THREAD(name, setting)        \
    TEST(name, .gpu = ON_HOST_DEVICE)    \
    {                                    \
        unsetenv("OMP_NUM_THREADS");     \
        assert_int_equal(setting, 0);    \
        check(openmp_image(), 1, 1);     \
    }
static int bind_to_one(void)
{
    cpu_set_t one = {{0}};
    CPU_SET((size_t)sched_getcpu(), &one);
    return unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE") + sched_setaffinity(0, sizeof one, &one);
}
ONE_THREAD(one_thread, setenv("OMP_NUM_THREADS", "1", 1))
ONE_THREAD(one_processor, bind_to_one())
/* More threads than OMP_THREAD_LIMIT allows would be a warning of libomp's at each run. */
TEST(limited_threads, .gpu = ON_HOST_DEVICE)
{
    char text[4096] = "";
    int said = memfd_create("said", 0), error = dup(STDERR_FILENO);
    assert_int_equal(unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE") + unsetenv("OMP_NUM_THREADS") + setenv("OMP_THREAD_LIMIT", "1", 1), 0);
    dup2(said, STDERR_FILENO);
    check(openmp_image(), 1, 1);
    dup2(error, STDERR_FILENO);
    assert_true(pread(said, text, sizeof text - 1, 0) >= 0);
    if (strstr(text, "Cannot form a team") != NULL)
        fail_msg("%s", text);
}
/* Less than a processor; the limit of a control group comes by the same way (unit/processors). */
ONE_THREAD(one_share, 0)

int before_tests(int argc, char **argv)
{
    setenv("OMP_NUM_THREADS", "4", 1);
    setenv("OMP_DYNAMIC", "false", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1000", 1);
    (void)argc, (void)argv;
    return -1;
}
