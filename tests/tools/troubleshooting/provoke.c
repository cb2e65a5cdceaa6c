/*
 * provoke.c - a program that makes the mistake that it is told to make, so that librex says what it says then.
 *
 * usage: provoke MISTAKE. Its kernels are those of tests/data/kernels.cu. With NO_KERNEL it has none; with NARROW, one whose parameters are of 4
 * bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <rex.h>
#include <rex/device.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NARROW
REX_KERNEL(narrow);
#define KEY REX_KERNEL_ID(narrow)
#elif !defined(NO_KERNEL)
REX_KERNEL(plain);
#define KEY REX_KERNEL_ID(plain)
#else
#define KEY NULL
#endif

char stranger_id__; /* exported, so that the message has its name */
static uint64_t values[8];

static int launch(void *key, int64_t device)
{
    uint64_t value = 7;
    REX_MAP(rows, REX_VALUE(value), REX_TOFROM(values, 8));
    struct rex_launch_config description = rex_launch_config_of(key, 1, 1);
    description.device = device;
    return rex_launch(&description, &rows);
}

static int launch_with_a_row_less(void)
{
    REX_MAP(rows, REX_TOFROM(values, 8), REX_VALUE(values[0]), REX_VALUE(values[1]));
    struct rex_launch_config description = rex_launch_config_of(KEY, 1, 1);
    rows.count = 3;
    return rex_launch(&description, &rows) == REX_EPARAMS ? REX_EPARAMS : 0;
}

/* Half of the values are mapped; CALL is for all of them. */
static int overlap(int (*call)(int64_t, const struct rex_map *))
{
    REX_MAP(half, REX_TOFROM(values, 4));
    REX_MAP(whole, REX_TOFROM(values, 8));
    int result = rex_data_enter(-1, &half);
    return result == 0 ? call(-1, &whole) : result;
}

static int begin(int64_t device, const struct rex_map *map)
{
    return rex_data_enter(device, map);
}

static int update(int64_t device, const struct rex_map *map)
{
    return rex_data_update(device, map);
}

static int forked(void)
{
    int status;
    if (fork() == 0)
        _exit(rex_offload_init() == REX_EFORK ? 0 : 1);
    wait(&status);
    return status;
}

/* As another library would that uses the GPU first. */
static void activate_context(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    void *address = driver != NULL ? dlsym(driver, "cuDevicePrimaryCtxRetain") : NULL;
    int (*retain)(void **, int);
    memcpy(&retain, &address, sizeof retain);
    if (address != NULL)
        retain(&context, 0);
}

static int make(const char *mistake)
{
    REX_MAP(whole, REX_TOFROM(values, 8));
    REX_MAP(present, REX_PRESENT(REX_TOFROM(values, 8)));
    if (strcmp(mistake, "key") == 0)
        return launch(&stranger_id__, -1);
    if (strcmp(mistake, "device") == 0)
        return launch(KEY, 99);
    if (strcmp(mistake, "rows") == 0)
        return launch_with_a_row_less();
    if (strcmp(mistake, "update") == 0)
        return rex_data_update(-1, &whole);
    if (strcmp(mistake, "update part") == 0)
        return overlap(update);
    if (strcmp(mistake, "overlap") == 0)
        return overlap(begin);
    if (strcmp(mistake, "present") == 0)
        return rex_data_enter(-1, &present);
    if (strcmp(mistake, "no end") == 0)
        return rex_data_enter(-1, &whole);
    if (strcmp(mistake, "fork") == 0)
        return forked();
    return launch(KEY, -1);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "context") == 0)
        activate_context();
    if (count > 1 && strcmp(arguments[1], "count and fork") == 0)
        return rex_gpu_count() > 0 ? forked() : 1;
    int result = rex_offload_init();
    if (result == REX_OK && count > 1)
        result = make(arguments[1]);
    if (result == REX_EHOST) /* which librex does not print */
        printf("librex: %s\n", rex_last_error());
    return result == REX_OK ? 0 : 1;
}
