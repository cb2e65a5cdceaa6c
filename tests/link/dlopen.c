/*
 * dlopen.c PLUGIN LAUNCHES - in a thread and in main, an error and, unless LAUNCHES is 0, a launch; the thread ends after dlclose().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static int (*fails)(void);
static int (*shift)(double *x, int64_t count, double amount);
static int launches;

static void *use(void *unused)
{
    double x[10];
    if (fails() != 0 || (launches && shift(x, 10, 0.5) != 0))
        exit(2);
    return unused;
}

static void *run_thread(void *unused)
{
    use(unused);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(int count, char **argument)
{
    pthread_t thread;
    void *plugin = count == 3 ? dlopen(argument[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    launches = atoi(argument[2]);
    *(void **)&fails = dlsym(plugin, "fails");
    *(void **)&shift = dlsym(plugin, "shift");
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run_thread, NULL);
    pthread_barrier_wait(&barrier);
    use(NULL);
    dlclose(plugin);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    puts("good");
    return 0;
}
