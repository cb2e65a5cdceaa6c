/*
 * processors.c - how many processors the process may use: its binding, limits of control groups of both kinds, its share of a job.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <sched.h>

#include "base/processors.h"

static char root[PATH_MAX];
static int bound; /* processors of this process */

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_MAX], command[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", path);
    assert_int_equal(system(command), 0);
    write_bytes(path, text, strlen(text));
}

static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE",
                                        "SLURM_STEP_TASKS_PER_NODE"};

static void begin(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    bound = CPU_COUNT(&set);
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    make_folder(root);
}

/* Whatever the limit: no more than the process is bound to, and at least 1. */
#define EXPECT(limit) assert_int_equal(rex_processors(root), (limit) < bound ? (limit) : bound)

TEST(test_nothing_known)
{
    begin();
    EXPECT(bound);
    remove_folder(root);
}

/* Limits of the group itself and of all that it is in; the smallest counts. */
TEST(test_groups)
{
    begin();
    write_file("/proc/self/cgroup", "0::/job/step/task\n");
    write_file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    EXPECT(bound);
    write_file("/sys/fs/cgroup/job/step/cpu.max", "100000\n"); /* of which period nobody knows */
    EXPECT(bound);
    write_file("/sys/fs/cgroup/job/cpu.max", "100000 100000\n");
    EXPECT(1);
    write_file("/sys/fs/cgroup/job/cpu.max", "100001 100000\n");
    EXPECT(2);
    write_file("/sys/fs/cgroup/job/step/task/cpuset.cpus.effective", "7\n");
    EXPECT(1);
    write_file("/sys/fs/cgroup/job/step/task/cpuset.cpus.effective", "0-1,5,7-8\n");
    EXPECT(2);
    write_file("/sys/fs/cgroup/job/step/task/cpuset.cpus.effective", "0,8\n");
    EXPECT(2);
    write_file("/sys/fs/cgroup/job/step/task/cpuset.cpus.effective", "3-1,8\n");
    EXPECT(1);
    write_file("/sys/fs/cgroup/job/step/task/cpuset.cpus.effective", "0-1\n");
    write_file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT(1);
    remove_folder(root);
}

/* A group whose files' names would be too long is passed over, and no group with a shorter name is taken for it. */
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
        EXPECT(longer ? bound : 1);
    }
    snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "0::/job\n");
    write_file("/proc/self/cgroup", lines);
    EXPECT(1);
    remove_folder(root);
}

TEST(test_older_groups)
{
    begin();
    write_file("/proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/docker/1\nnonsense\n");
    write_file("/sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "100\n");
    write_file("/sys/fs/cgroup/cpu/other/cpu.cfs_period_us", "100\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT(bound);
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "90000\n");
    EXPECT(1);
    static const char *const with_cpu[] = {"cpu", "cpuacct,cpu", "cpuset,cpu,cpuacct"}, *const without[] = {"cpuset", "cpuacct", "cp", "cpuset,cp"};
    for (size_t i = 0; i < COUNT(with_cpu) + COUNT(without); i++) {
        char line[64];
        snprintf(line, sizeof line, "4:%s:/\n", i < COUNT(with_cpu) ? with_cpu[i] : without[i - COUNT(with_cpu)]);
        write_file("/proc/self/cgroup", line);
        EXPECT(i < COUNT(with_cpu) ? 1 : bound);
    }
    remove_folder(root);
}

/* What the machine has is divided, not what the process is bound to. */
TEST(test_jobs)
{
    begin();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file("/sys/fs/cgroup/cpuset.cpus.effective", "0-15\n");
    long all = sysconf(_SC_NPROCESSORS_ONLN) < 16 ? sysconf(_SC_NPROCESSORS_ONLN) : 16;
    setenv("SLURM_STEP_TASKS_PER_NODE", "2(x3),1", 1);
    EXPECT(all / 2);
    setenv("PMI_LOCAL_SIZE", "1", 1);
    EXPECT(all);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4294967297", 1);
    EXPECT(1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "-3", 1);
    EXPECT(all);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "none", 1);
    EXPECT(all);
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    for (size_t i = 0; i < COUNT(variables); i++) {
        setenv(variables[i], "64", 1);
        EXPECT(1);
        unsetenv(variables[i]);
        EXPECT(all);
    }
    remove_folder(root);
}
