/*
 * raw.c - what libomptarget itself does with a mistake: no librex, its functions are called as a code generator without one would.
 *
 * usage: raw MISTAKE IMAGE, with the library's path in REX_OMPTARGET. IMAGE is registered for one kernel, add__kernel__, which is there or not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex/abi.h>

#define TO 0x1
#define TOFROM 0x3
#define PARAMETER 0x20
#define PRESENT 0x1000

typedef void data_function(int64_t, int32_t, void **, void **, int64_t *, int64_t *);

static void (*register_lib)(struct __tgt_bin_desc *);
static void (*unregister_lib)(struct __tgt_bin_desc *);
static int (*target_teams)(int64_t, void *, int32_t, void **, void **, int64_t *, int64_t *, int32_t, int32_t);
static data_function *data_begin, *data_end, *data_update;

static char key, stranger;
static int64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static struct __tgt_offload_entry entry = {&key, (char *)"add__kernel__", 0, 0, 0};
static struct __tgt_device_image image;
static struct __tgt_bin_desc descriptor = {1, &image, &entry, &entry + 1};

static void find(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    if (address == NULL)
        exit(fprintf(stderr, "raw: no %s\n", name) != 0 ? 2 : 2);
    memcpy(slot, &address, sizeof address);
}

static void open_library(void)
{
    dlopen("libomp.so.5", RTLD_NOW | RTLD_GLOBAL);
    void *library = dlopen(getenv("REX_OMPTARGET"), RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        exit(fprintf(stderr, "raw: %s\n", dlerror()) != 0 ? 2 : 2);
    find(library, "__tgt_register_lib", &register_lib);
    find(library, "__tgt_unregister_lib", &unregister_lib);
    find(library, "__tgt_target_teams", &target_teams);
    find(library, "__tgt_target_data_begin", &data_begin);
    find(library, "__tgt_target_data_end", &data_end);
    find(library, "__tgt_target_data_update", &data_update);
}

static void read_image(const char *path)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        exit(2);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    image = (struct __tgt_device_image){bytes, bytes + size, &entry, &entry + 1};
}

/* FUNCTION for COUNT of the values from FIRST on. */
static void data(data_function *function, int first, int64_t count, int64_t type)
{
    void *address[] = {&values[first]};
    int64_t size[] = {count * (int64_t)sizeof *values};
    function(-1, 1, address, address, size, &type);
}

static int launch(int64_t device, void *host_key)
{
    void *address[] = {values};
    int64_t size[] = {sizeof values}, type[] = {PARAMETER | TOFROM};
    return target_teams(device, host_key, 1, address, address, size, type, 1, 1);
}

static void make(const char *mistake)
{
    if (strcmp(mistake, "none") == 0) {
        int result = launch(-1, &key);
        printf("the launch returned %d, the value is %lld\n", result, (long long)values[0]);
    } else if (strcmp(mistake, "key") == 0)
        launch(-1, &stranger);
    else if (strcmp(mistake, "device") == 0)
        launch(99, &key);
    else if (strcmp(mistake, "present") == 0)
        data(data_begin, 0, 8, TO | PRESENT);
    else if (strcmp(mistake, "overlap") == 0) {
        data(data_begin, 2, 4, TO);
        data(data_begin, 0, 8, TO);
    } else if (strcmp(mistake, "update") == 0) {
        data(data_update, 0, 8, TO);
        puts("the update of what is not mapped returned");
    } else if (strcmp(mistake, "ended") == 0) {
        unregister_lib(&descriptor);
        data(data_end, 0, 8, TO);
    }
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    open_library();
    read_image(arguments[2]);
    if (strcmp(arguments[1], "before") == 0)
        return launch(-1, &key);
    register_lib(&descriptor);
    make(arguments[1]);
    return 0;
}
