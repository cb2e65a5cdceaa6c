/*
 * librex.c - the functions of librex that the example programs call, without librex. See peer.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "calls/forward.h"
#include "peer.h"
#include "rex/queue.h"

static char message[512] = "";

int peer_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", peer_name(), message);
    return -1;
}

/* ---- what librex's own sources that are linked here call (map.c, section.c) ------------------ */

int rex_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return code;
}

int rex_fail_memory(size_t size, const char *what)
{
    return rex_fail(REX_ENOMEM, "no %zu bytes for %s", size, what);
}

int rex_last_error_code(void)
{
    return REX_EINVAL;
}

const char *rex_error_name(int error)
{
    return error == REX_OK ? "REX_OK" : "error";
}

/* For mappers that the runtime calls; the programs have none. */
struct rex_entry_points rex_real;

const char *rex_last_error(void)
{
    return message;
}

/* Programs destroy the queue and the graph that they did not make. */
int rex_queue_destroy(struct rex_queue *queue)
{
    (void)queue;
    return 0;
}

void rex_graph_destroy(struct rex_graph *graph)
{
    (void)graph;
}

/* ---- start ----------------------------------------------------------------------------------- */

static FILE *open_image(const char *name, char *path, size_t room)
{
    const char *given = getenv("PEER_IMAGE");
    ssize_t length = readlink("/proc/self/exe", path, room - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    snprintf(path + (given == NULL ? folder : 0), room - folder, "%s",
             given != NULL ? given : name);
    return fopen(path, "rb");
}

void *peer_image(const struct rex_module *module, size_t *size)
{
    enum { MOST = 64 << 20 };
    char path[4096];
    FILE *file = open_image(module->image_name, path, sizeof path);
    void *bytes = file != NULL ? malloc(MOST) : NULL;
    *size = bytes != NULL ? fread(bytes, 1, MOST, file) : 0;
    if (*size == 0)
        peer_fail("no image %s", path);
    if (file != NULL)
        fclose(file);
    return *size > 0 ? bytes : NULL;
}

int rex_module_init(struct rex_module *module)
{
    if (module->packet_rules == 0 && peer_open(module) != 0)
        return -1;
    module->packet_rules = 1;
    return 0;
}

int rex_module_fini(struct rex_module *module)
{
    (void)module;
    return 0;
}

int rex_device_count(void)
{
    return 1;
}

bool rex_module_on_host(const struct rex_module *module)
{
    (void)module;
    return false;
}

const char *rex_module_image_path(const struct rex_module *module)
{
    return module->image_name;
}

int rex_runtime_release(void)
{
    return 0;
}

const char *rex_runtime_path(void)
{
    return peer_name();
}

/* ---- launches and data ----------------------------------------------------------------------- */

static struct peer_rows rows_of(const struct rex_map *map)
{
    return map != NULL ? (struct peer_rows){map->count, map->base,  map->begin,
                                            map->sizes, map->types, map->mappers}
                       : (struct peer_rows){0};
}

int rex_module_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                          const struct rex_map *map)
{
    enum {
        RESIDENT = 2112
    }; /* blocks of 128 threads that an H200 keeps at once: what librex chooses there */
    struct peer_rows rows = rows_of(map);
    uint64_t needed = (launch->trip_count + 127) / 128,
             chosen = needed < RESIDENT ? needed : RESIDENT;
    uint32_t teams[3] = {launch->teams[0] > 0 ? launch->teams[0]
                         : chosen > 0         ? (uint32_t)chosen
                                              : 1,
                         1, 1};
    uint32_t threads[3] = {launch->threads[0] > 0 ? launch->threads[0] : 128, 1, 1};
    (void)module;
    return peer_launch(launch->key, teams, threads, launch->dynamic_memory, launch->trip_count,
                       &rows);
}

#define DATA(name, what)                                                                           \
    int rex_module_##name(struct rex_module *module, int64_t device, const struct rex_map *map)    \
    {                                                                                              \
        struct peer_rows rows = rows_of(map);                                                      \
        (void)module, (void)device;                                                                \
        return peer_data(what, &rows);                                                             \
    }
DATA(data_enter, PEER_BEGIN)
DATA(data_exit, PEER_END)
DATA(region_end, PEER_END)
DATA(data_update, PEER_UPDATE)
