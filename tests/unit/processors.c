/*
 * processors.c - how many processors the process may use: its binding, limits of control groups of
 * both kinds, its share of a job.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <sched.h>

#include "base/process.h"

static char root[PATH_MAX];

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_MAX], command[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", path);
    assert_int_equal(system(command), 0);
    write_bytes(path, text, strlen(text));
}

static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE",
                                        "SLURM_STEP_TASKS_PER_NODE"};

/* Whatever the LIMIT, 0 for none: no more than the process is bound to, and at least 1. */
static void expect(int limit)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    int bound = CPU_COUNT(&set);
    assert_int_equal(rex_processors(root), limit > 0 && limit < bound ? limit : bound);
}

static void begin(void)
{
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    make_folder(root);
}

struct step {
    const char *file, *text;
    int limit; /* from then on */
};

#define STEPS(...)                                                                                 \
    take_steps((const struct step[]){__VA_ARGS__}, COUNT(((const struct step[]){__VA_ARGS__})))
static void take_steps(const struct step *steps, size_t count)
{
    begin();
    int lowest = lowest_descriptor();
    expect(0);
    for (size_t i = 0; i < count; i++) {
        write_file(steps[i].file, steps[i].text);
        expect(steps[i].limit);
    }
    assert_int_equal(lowest_descriptor(), lowest);
    remove_folder(root);
}

#define OF_TASK "/sys/fs/cgroup/job/step/task/cpuset.cpus.effective"

/* Limits of the group itself and of all that it is in; the smallest counts. */
TEST(test_groups)
{
    STEPS({"/proc/self/cgroup", "0::/job/step/task\n", 0},
          {"/sys/fs/cgroup/job/step/cpu.max", "max 100000\n", 0},
          {"/sys/fs/cgroup/job/step/cpu.max", "100000\n" /* of which period nobody knows */, 0},
          {"/sys/fs/cgroup/job/cpu.max", "1 1\n", 1},
          {"/sys/fs/cgroup/job/cpu.max", "100000 100000\n", 1},
          {"/sys/fs/cgroup/job/cpu.max", "100001 100000\n", 2}, {OF_TASK, "7\n", 1},
          {OF_TASK, "0-1,5,7-8\n", 2}, {OF_TASK, "0,8\n", 2}, {OF_TASK, "3-1,9\n", 1},
          {OF_TASK, "0-1\n", 2}, {"/sys/fs/cgroup/cpu.max", "50000 100000\n", 1});
}

TEST(test_older_groups)
{
    STEPS({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1\n" /* of which period nobody knows */, 0},
          {"/proc/self/cgroup", "4:cpu:/\n", 0},
          {"/sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "100\n", 0},
          {"/sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100\n", 0},
          {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n", 0},
          {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n", 0},
          {"/proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/docker/1\nnonsense\n", 0},
          {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "90000\n", 1},
          {"/proc/self/cgroup", "4:cpu:/\n", 1},
          {"/proc/self/cgroup", "4:cpuset,cpu,cpuacct:/\n", 1},
          {"/proc/self/cgroup", "4:cpuset,cp:/\n", 0},
          {"/proc/self/cgroup", "4:cpuacct,cpu:/\n", 1}, {"/proc/self/cgroup", "4:cpuacct:/\n", 0});
}

/* A group whose files' names would be too long is passed over, and no group with a shorter name is
 * taken for it. */
TEST(test_long_names)
{
    char group[PATH_MAX], lines[2 * PATH_MAX];
    begin();
    size_t most = PATH_MAX - 1 - strlen(root) - strlen("/sys/fs/cgroup");
    write_file("/sys/fs/cgroup/job/cpu.max", "100000 100000\n");
    for (size_t longer = 0; longer < 2; longer++) {
        memset(group, '/', sizeof group);
        memcpy(group, "/job", strlen("/job"));
        group[most + longer] = '\0';
        snprintf(lines, sizeof lines, "0::%s\n", group);
        write_file("/proc/self/cgroup", lines);
        expect(longer ? 0 : 1);
    }
    snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "0::/job\n");
    write_file("/proc/self/cgroup", lines);
    expect(1);
    remove_folder(root);
}

/* The process itself is bound when it starts. */
TEST_IN_CHILD(bound_at_load)
{
    cpu_set_t one = {{0}};
    CPU_SET((size_t)sched_getcpu(), &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQUAL(execl("/proc/self/exe", "processors", "test_groups", NULL), 0);
}

/* What the machine has is divided, not what the process is bound to. */
TEST(test_jobs)
{
    static const struct {
        const char *variable, *value;
        int share; /* 0: all */
    } steps[] = {{"SLURM_STEP_TASKS_PER_NODE", "2(x3),1", 2},
                 {"PMI_LOCAL_SIZE", "1", 0},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4294967297", 1000},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "-3", 0},
                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "none", 0}};
    begin();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file("/sys/fs/cgroup/cpuset.cpus.effective", "0-15\n");
    int all = sysconf(_SC_NPROCESSORS_ONLN) < 16 ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 16;
    for (size_t i = 0; i < COUNT(steps); i++) {
        setenv(steps[i].variable, steps[i].value, 1);
        int share = steps[i].share > 0 ? all / steps[i].share : all;
        expect(share > 0 ? share : 1);
    }
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    for (size_t i = 0; i < COUNT(variables); i++) {
        setenv(variables[i], "64", 1);
        expect(1);
        unsetenv(variables[i]);
        expect(all);
    }
    remove_folder(root);
}
