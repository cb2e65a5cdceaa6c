/*
 * process.c - the process: its shared objects, its place in a job, its processors, its threads and
 * its forks.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/process.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- shared objects -------------------------------------------------------------------------- */

/*
 * Returns false if the program is linked with -static. In such a program the C library is part of
 * the program, and so is the string that gnu_get_libc_version() returns.
 */
bool rex_can_open_libraries(void)
{
    char path[PATH_MAX];
    return !rex_in_program(gnu_get_libc_version(), path);
}

bool rex_in_program(const void *address, char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *map = NULL;
    int found = dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP);
    snprintf(path, PATH_MAX, "%s", found != 0 ? map->l_name : "");
    return path[0] == '\0';
}

bool rex_keep_loaded(const void *address, char path[PATH_MAX])
{
    return rex_in_program(address, path) ||
           dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}

/* ---- launchers of jobs ----------------------------------------------------------------------- */

/*
 * Before a job's program starts, launchers such as mpirun and srun set the environment variables
 * that rex_launcher_device() reads. So MPI_Init() is not needed. If launcher A may start launcher
 * B, the variable of B comes before the variable of A. Example: Slurm sets SLURM_LOCALID to 0 in a
 * batch script, and all processes that mpirun starts in the script inherit the 0. So the variables
 * that mpirun sets come before SLURM_LOCALID.
 */

int rex_number_in_text(const char *text)
{
    char *end = NULL;
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    long number = strtol(text, &end, 10);
    return *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

int rex_launcher_device(int count)
{
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
        "MVP_COMM_WORLD_LOCAL_RANK",  /* MVAPICH 3 and later */
        "MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH 2 */
        "MPI_LOCALRANKID",            /* hydra: MPICH and Intel MPI */
        "PALS_LOCAL_RANKID",          /* Cray's mpiexec */
        "PMI_LOCAL_RANK",             /* Cray's PMI */
        "FLUX_TASK_LOCAL_ID",         /* Flux */
        "PMIX_LOCAL_RANK",            /* some launchers with PMIx */
        "SLURM_LOCALID",              /* srun */
        "PMIX_RANK", /* PMIx: the rank in the whole job, right only on one machine */
    };
    int chosen = rex_number_in_text(secure_getenv("OMP_DEFAULT_DEVICE"));
    if (chosen >= 0)
        return chosen;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && count > 0; i++) {
        int rank = rex_number_in_text(secure_getenv(variables[i]));
        if (rank >= 0)
            return rank % count;
    }
    return 0;
}

/* ---- processors ------------------------------------------------------------------------------ */

/*
 * The processors to which the process was bound when librex was loaded. OpenMP may later bind
 * threads to one core. A thread inherits the binding of the thread that started it. The set is
 * empty if sched_getaffinity() failed, for example if the machine has more processors than a
 * cpu_set_t has bits.
 */
static cpu_set_t at_load;

void rex_processors_unbind(void)
{
    /* If this fails, for example because at_load is empty, the thread stays bound. */
    sched_setaffinity(0, sizeof at_load, &at_load);
}

static int at_most(int count, long most)
{
    return most > 0 && most < count ? (int)most : count;
}

/* Buffers. The struct is allocated, because a thread may have little stack. */
struct texts {
    char mount[PATH_MAX], line[PATH_MAX];
    char folder[PATH_MAX], path[PATH_MAX], text[PATH_MAX + 2];
};

/*
 * Reads the first line of the file NAME of a control group into TEXTS->text. Returns false if the
 * file cannot be opened, or if it is empty.
 */
static bool read_group_file(struct texts *texts, const char *name)
{
    int length = snprintf(texts->path, sizeof texts->path, "%s/%s", texts->folder, name);
    FILE *file = length < (int)sizeof texts->path ? fopen(texts->path, "re") : NULL;
    bool has_line = file != NULL && fgets(texts->text, sizeof texts->text, file) != NULL;
    if (file != NULL)
        fclose(file);
    return has_line;
}

/*
 * Returns the quota in TEXT as a number of processors, rounded up. A result of 0 or less means that
 * there is no limit. "200000 100000" is a quota of 200000 microseconds in each period of 100000. If
 * TEXT has no period, PERIOD is the period.
 */
static long quota_of(const char *text, long period)
{
    char *end;
    long quota = strtol(text, &end, 10);
    if (*end == ' ')
        period = strtol(end, NULL, 10);
    return period > 0 ? (quota + period - 1) / period : 0;
}

/* Returns the number of processors in a list such as "0-3,8". */
static long count_list(const char *text)
{
    long count = 0;
    for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
        long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += last >= first ? last - first + 1 : 0;
    }
    return count;
}

/*
 * Returns COUNT, reduced to the limits of the process's control groups and of all their parents. A
 * line of /proc/self/cgroup is "0::/group" (version 2) or "4:cpu,cpuacct:/group" (version 1). Skips
 * the cpuset line of version 1, because the binding of the process already has that limit.
 */
static int limit_by_control_groups(int count, const char *root, struct texts *texts)
{
    char *folder = texts->folder;
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
        snprintf(texts->text, sizeof texts->text, ",%s,", controllers + 1);
        if (!has_all && strstr(texts->text, ",cpu,") == NULL)
            continue;
        int length = snprintf(folder, sizeof texts->folder, "%s%s", texts->mount, group);
        if (length >= (int)sizeof texts->folder)
            continue;
        while (strlen(folder) >= strlen(texts->mount)) {
            if (read_group_file(texts, "cpu.max"))
                count = at_most(count, quota_of(texts->text, 0));
            long period =
                read_group_file(texts, "cpu.cfs_period_us") ? strtol(texts->text, NULL, 10) : 0;
            if (read_group_file(texts, "cpu.cfs_quota_us"))
                count = at_most(count, quota_of(texts->text, period));
            if (read_group_file(texts, "cpuset.cpus.effective"))
                count = at_most(count, count_list(texts->text));
            *strrchr(folder, '/') = '\0';
        }
    }
    if (file != NULL)
        fclose(file);
    return count;
}

/*
 * The processors that the control groups allow are divided by the number of the job's processes on
 * this machine. A binding (at_load) belongs to one process, and is not divided.
 */
int rex_processors(const char *root)
{
    /* Launchers set these variables to the number of the job's processes on this machine. */
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_LOCAL_SIZE",  "PMI_LOCAL_SIZE",
        "SLURM_STEP_TASKS_PER_NODE", /* such as "4(x2),3": the first number is the largest */
    };
    long processes = 0;
    int all = at_most(INT_MAX, sysconf(_SC_NPROCESSORS_ONLN));
    struct texts *texts = malloc(sizeof *texts);
    if (texts != NULL)
        all = limit_by_control_groups(all, root, texts);
    free(texts);
    for (size_t i = 0; i < sizeof variables / sizeof *variables && processes <= 0; i++) {
        const char *value = secure_getenv(variables[i]);
        processes = value != NULL ? strtol(value, NULL, 10) : 0;
    }
    int share = processes > 0 ? (int)(all / processes) : all;
    share = at_most(share, CPU_COUNT(&at_load));
    return share > 0 ? share : 1;
}

int rex_processors_known(void)
{
    static int known;
    /* Relaxed: no other data depend on the number; a thread that reads 0 counts again. */
    int count = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (count == 0) {
        count = rex_processors("");
        /* Relaxed: no other data depend on the number. */
        __atomic_store_n(&known, count, __ATOMIC_RELAXED);
    }
    return count;
}

/*
 * The new thread inherits the signal mask of the calling thread. So this function blocks all
 * signals before it starts the thread, except signals for faults such as SIGSEGV.
 */
bool rex_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&others, faults[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

/* Stays 0: the calls of a thread that has not called libomptarget. */
static struct rex_calls rex_no_calls;
__thread struct rex_thread rex_thread = {.calls = &rex_no_calls};

/* ---- the list of threads --------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_listed *all;

void rex_threads_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rex_threads_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool rex_threads_are_inside(bool paused_too)
{
    for (const struct rex_listed *thread = all; thread != NULL; thread = thread->next)
        if (thread != rex_thread.listed &&
            (__atomic_load_n(&thread->calls.inside, __ATOMIC_SEQ_CST) > 0 ||
             (paused_too && __atomic_load_n(&thread->calls.paused, __ATOMIC_SEQ_CST) > 0)))
            return true;
    return false;
}

static void list_forking_thread(void)
{
    all = rex_thread.listed;
    if (all != NULL)
        all->next = NULL;
}

REX_FORK_TAKEN(95, list_forking_thread);

/* ---- parts ----------------------------------------------------------------------------------- */

static unsigned key; /* the key plus 1; 0: no key yet; atomic */

/*
 * The destructor of `key`. Destructors of other keys may run afterwards, and use librex again.
 * After such a use the C library calls this destructor again in its next round of destructors.
 * There are at most PTHREAD_DESTRUCTOR_ITERATIONS rounds.
 */
static void free_parts(void *unused)
{
    (void)unused;
    struct rex_listed *own = rex_thread.listed;
    rex_threads_lock();
    struct rex_listed **link = &all;
    while (*link != own) {
        REX_ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = own->next;
    rex_threads_unlock();
    rex_thread.calls = &rex_no_calls;
    rex_thread.listed = NULL;
    for (size_t i = 0; i < REX_PARTS; i++)
        free(own->part[i]);
    free(own);
    rex_thread.ends++;
}

/*
 * Returns the key plus 1, or 0 if the process has no free key. In that case each new thread tries
 * again.
 */
static unsigned make_thread_key(void)
{
    unsigned none = 0;
    pthread_key_t made;
    if (__atomic_load_n(&key, __ATOMIC_ACQUIRE) == 0 &&
        pthread_key_create(&made, free_parts) == 0 &&
        !__atomic_compare_exchange_n(&key, &none, made + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        pthread_key_delete(made);
    return __atomic_load_n(&key, __ATOMIC_ACQUIRE);
}

bool rex_thread_list(void)
{
    REX_ASSERT(rex_thread.listed == NULL);
    unsigned made = rex_thread_is_over() ? 0 : make_thread_key();
    struct rex_listed *own = made != 0 ? calloc(1, sizeof *own) : NULL;
    if (own == NULL || pthread_setspecific(made - 1, own) != 0) {
        free(own);
        rex_thread.calls = &rex_thread.own;
        return false;
    }
    own->calls = *rex_thread.calls;
    rex_thread.calls = &own->calls;
    rex_thread.listed = own;
    rex_threads_lock();
    own->next = all;
    all = own;
    rex_threads_unlock();
    return true;
}

void *rex_part_new(enum rex_part part, size_t size)
{
    if (rex_thread.listed == NULL && !rex_thread_list())
        return NULL;
    void **own = rex_thread.listed->part;
    if (own[part] == NULL)
        own[part] = calloc(1, size);
    return own[part];
}

/* The key's destructor may run when any thread ends, so dlclose() must not unload librex. */
__attribute__((constructor(1001))) static void keep_thread_key(void)
{
    char path[PATH_MAX];
    make_thread_key();
    rex_keep_loaded(&key, path);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/*
 * A child has only the thread that forked. If another thread was changing data, the data remain
 * half-written. If another thread held a lock, the lock remains locked for ever. So each file with
 * a lock registers a handler.
 */

/* NULL: no source file has this rank */
static const struct rex_fork_handler *handlers[REX_FORK_RANKS];
unsigned rex_fork_count;

void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler)
{
    REX_ASSERT(rank < REX_FORK_RANKS && handlers[rank] == NULL);
    REX_ASSERT(handler->taken != NULL || handler->in_child != NULL);
    handlers[rank] = handler;
}

static void take_all_locks(void)
{
    for (size_t i = 0; i < REX_FORK_RANKS; i++) {
        if (handlers[i] != NULL && handlers[i]->taken != NULL)
            pthread_mutex_lock(handlers[i]->taken);
        if (handlers[i] != NULL && handlers[i]->before != NULL)
            handlers[i]->before();
    }
}

static void unlock_all_in_parent(void)
{
    for (size_t i = REX_FORK_RANKS; i-- > 0;) {
        if (handlers[i] != NULL && handlers[i]->after != NULL)
            handlers[i]->after();
        if (handlers[i] != NULL && handlers[i]->taken != NULL)
            pthread_mutex_unlock(handlers[i]->taken);
    }
}

static void renew_locks_in_child(void)
{
    rex_fork_count++;
    for (size_t i = 0; i < REX_FORK_RANKS; i++)
        if (handlers[i] != NULL && handlers[i]->taken == NULL)
            handlers[i]->in_child();
    for (size_t i = REX_FORK_RANKS; i-- > 0;) {
        if (handlers[i] == NULL || handlers[i]->taken == NULL)
            continue;
        if (handlers[i]->in_child != NULL)
            handlers[i]->in_child();
        pthread_mutex_unlock(handlers[i]->taken);
    }
}

bool rex_fork_is_watched(void)
{
    static bool is_watched;
    is_watched = is_watched ||
                 pthread_atfork(take_all_locks, unlock_all_in_parent, renew_locks_in_child) == 0;
    return is_watched;
}

__attribute__((constructor)) static void watch_process(void)
{
    /* If this fails, at_load stays empty. */
    sched_getaffinity(0, sizeof at_load, &at_load);
    rex_fork_is_watched();
}
