/*
 * processors.c - the processors that the process may use.
 *
 * A thread inherits the binding of the one that started it, as OpenMP's to one core, which says
 * nothing about the process: so the process's own is looked at when librex is loaded, before
 * anybody binds threads.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"

/* All zeros where the kernel did not say, or there are more than such a set can have. */
static cpu_set_t at_load;

__attribute__((constructor)) static void look_at_binding(void)
{
    /* where it fails nothing is written */
    sched_getaffinity(0, sizeof at_load, &at_load);
}

void rex_processors_unbind(void)
{
    /* where it fails, as for no processor at all, the thread stays bound */
    sched_setaffinity(0, sizeof at_load, &at_load);
}

static int at_most(int count, long most)
{
    return most > 0 && most < count ? (int)most : count;
}

/* ---- control groups -------------------------------------------------------------------------- */

/* The first line of the file, in TEXT; false where there is none. */
static bool read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    bool has_line = file != NULL && fgets(text, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    return has_line;
}

/* Allocated, since threads may have little stack. */
struct texts {
    char mount[PATH_MAX], line[PATH_MAX]; /* of /proc/self/cgroup */
    char folder[PATH_MAX], path[PATH_MAX], text[4096];
};

/* The line in the file NAME of a control group, in TEXTS->text. */
static bool read_in(struct texts *texts, const char *name)
{
    return snprintf(texts->path, sizeof texts->path, "%s/%s", texts->folder, name) <
               (int)sizeof texts->path &&
           read_line(texts->path, texts->text, sizeof texts->text);
}

/* "200000 100000": so many microseconds of processors in each so many; 0 or less: no limit. */
static long quota_of(const char *text, long period)
{
    char *end;
    long quota = strtol(text, &end, 10);
    if (*end == ' ')
        period = strtol(end, NULL, 10);
    return period > 0 ? (quota + period - 1) / period : 0;
}

/* How many processors "0-3,8" are. */
static long count_list(const char *text)
{
    long count = 0;
    for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += last >= first ? last - first + 1 : 0;
    }
    return count;
}

/* COUNT, or what the group whose folder it is leaves of it. */
static int limit_by_folder(int count, struct texts *texts)
{
    if (read_in(texts, "cpu.max"))
        count = at_most(count, quota_of(texts->text, 0));
    long period = read_in(texts, "cpu.cfs_period_us") ? strtol(texts->text, NULL, 10) : 0;
    if (period > 0 && read_in(texts, "cpu.cfs_quota_us"))
        count = at_most(count, quota_of(texts->text, period));
    if (read_in(texts, "cpuset.cpus.effective"))
        count = at_most(count, count_list(texts->text));
    return count;
}

/* The same of GROUP and of all groups around it, below the mount: the limits of each hold. */
static int limit_by_groups(int count, struct texts *texts, const char *group)
{
    char *folder = texts->folder;
    if (snprintf(folder, sizeof texts->folder, "%s%s", texts->mount, group) >=
        (int)sizeof texts->folder)
        return count;
    while (strlen(folder) >= strlen(texts->mount)) {
        char *slash = strrchr(folder, '/');
        count = limit_by_folder(count, texts);
        *slash = '\0';
    }
    return count;
}

/* A list as "cpuacct,cpu". That of cpusets has nothing that the binding does not say. */
static bool names_cpu(const char *controllers)
{
    for (;;) {
        size_t length = strcspn(controllers, ",");
        if (length == strlen("cpu") && strncmp(controllers, "cpu", length) == 0)
            return true;
        if (controllers[length] == '\0')
            return false;
        controllers += length + 1;
    }
}

/* Lines of /proc/self/cgroup: "0::/group", or "4:cpu,cpuacct:/group" of the older kind. */
static int limit_by_control_groups(int count, const char *root, struct texts *texts)
{
    snprintf(texts->path, sizeof texts->path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(texts->path, "re");
    while (file != NULL && fgets(texts->line, sizeof texts->line, file) != NULL) {
        char *controllers = strchr(texts->line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool has_all = controllers[1] == '\0';
        snprintf(texts->mount, sizeof texts->mount, "%s/sys/fs/cgroup%s", root,
                 has_all ? "" : "/cpu");
        if (has_all || names_cpu(controllers + 1))
            count = limit_by_groups(count, texts, group);
    }
    if (file != NULL)
        fclose(file);
    return count;
}

/* ---- the count ------------------------------------------------------------------------------- */

/*
 * Processes of a job share what the job has. A binding of a process is its own already, and is not
 * divided.
 */
int rex_processors(const char *root)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int all = online > 0 && online < INT_MAX ? (int)online : 1;
    struct texts *texts = malloc(sizeof *texts);
    if (texts != NULL)
        all = limit_by_control_groups(all, root, texts);
    free(texts);
    int share = at_most(all / rex_launcher_local_processes(), CPU_COUNT(&at_load));
    return share > 0 ? share : 1;
}
