/*
 * real.c - the real libraries of LLVM 14, 15, 16, 19 and 22 bind, and two OpenMP
 * runtimes never meet.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>

#include "common.h"

#include "rex/configure.h"

static const int releases[] = {14, 15, 16, 19, 22};

/* Relative paths: tests run in the top directory. */
static const char *library_of(int release)
{
    return release == 14   ? "build/llvm/14/usr/lib/llvm-14/lib/libomptarget.so"
           : release == 15 ? "build/llvm/15/usr/lib/llvm-15/lib/libomptarget.so.15"
           : release == 16 ? "build/llvm/16/usr/lib/llvm-16/lib/libomptarget.so.16"
           : release == 19 ? "build/llvm/19/usr/lib/llvm-19/lib/libomptarget.so.19.1"
                           : "build/llvm/22/usr/lib/llvm-22/lib/libomptarget.so.22.1";
}

static const char *openmp_of(int release)
{
    return release == 14   ? "build/llvm/14/usr/lib/llvm-14/lib/libomp.so.5"
           : release == 15 ? "build/llvm/15/usr/lib/llvm-15/lib/libomp.so.5"
           : release == 16 ? "build/llvm/16/usr/lib/llvm-16/lib/libomp.so.5"
                           : "build/llvm/19/usr/lib/llvm-19/lib/libomp.so.5"; /* Debian's 22 uses it too */
}

/* ---- what a child needs, which the loader reads when a program starts: it runs this program again ---------------- */

static const char *program;

struct order {
    int release, other;
};

static void start_again(const void *context)
{
    const struct order *order = context;
    char release[16], other[16];
    snprintf(release, sizeof release, "%d", order->release);
    snprintf(other, sizeof other, "%d", order->other);
    unsetenv("OMP_TARGET_OFFLOAD");
    execl("tests/llvm", "llvm", release, program, release, other, (char *)NULL);
    _exit(98);
}

static int openmp_runtimes(void)
{
    char line[PATH_MAX + 128], first[PATH_MAX] = "";
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        const char *path = strchr(line, '/'), *name = path != NULL ? strrchr(path, '/') + 1 : "";
        /* The file itself: libomp.so.5 of a release, or what the link leads to. */
        if (strncmp(name, "libomp.so", 9) != 0 && strncmp(name, "libomp-", 7) != 0 && strncmp(name, "libiomp5", 8) != 0)
            continue;
        if (strcmp(first, path) != 0)
            count++;
        snprintf(first, sizeof first, "%s", path);
    }
    fclose(maps);
    return count;
}

static void bind_only(int release)
{
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), release);
    CHECK_EQUAL(openmp_runtimes(), 1);
}

/* OTHER's libomp is in the process before RELEASE is bound. */
static void bind_with_other_openmp(int release, int other)
{
    int (*threads)(void);
    void *openmp = dlopen(openmp_of(other), RTLD_NOW | RTLD_LOCAL);
    CHECK(openmp != NULL);
    void *address = dlsym(openmp, "omp_get_max_threads");
    CHECK(address != NULL);
    memcpy(&threads, &address, sizeof threads);
    CHECK(threads() > 0); /* it has started: a second one would abort */
    if (release == 22 && other < 16) {
        /* 22 calls a function that libomp has since 16. An error, and still no second libomp. */
        CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
        CHECK_MENTIONS(rex_last_error(), "__kmpc_omp_has_task_team");
        CHECK_EQUAL(openmp_runtimes(), 1);
    } else
        bind_only(release);
    CHECK(threads() > 0);
}

static int as_child(char **arguments)
{
    alarm(60);
    bind_with_other_openmp(atoi(arguments[1]), atoi(arguments[2]));
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Each with its own libomp, too. */
TEST(test_one_openmp)
{
    for (size_t i = 0; i < COUNT(releases); i++)
        for (size_t j = 0; j < COUNT(releases); j++) {
            struct order order = {releases[i], releases[j]};
            assert_null(strstr(in_child(start_again, &order), "OMP: Error"));
        }
}

int before_tests(int argc, char **argv)
{
    if (argc == 3)
        return as_child(argv);
    program = argv[0];
    for (size_t i = 0; i < COUNT(releases); i++)
        if (access(library_of(releases[i]), R_OK) != 0) {
            printf("skip: LLVM %d is not unpacked under build/llvm (tests/llvm)\n", releases[i]);
            return getenv("CI") != NULL ? 1 : 77;
        }
    return -1;
}
