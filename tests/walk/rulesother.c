/*
 * rulesother.c - modules, settings, images, pinned memory, cursors, and what is known of this machine.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/* ---- what there is
 * -------------------------------------------------------------------------------------------------------------------------- */

static char ids[KERNELS], bump_id, share_ids[2], unknown_id;
static int64_t walk_global = 7;
static struct __tgt_offload_entry entries[KERNELS + 2], global_entries[2];
struct rex_module walk_modules[4];
static struct {
    unsigned char *bytes;
    size_t size;
} files[6];

static void name_entries(void)
{
    static char *const names[KERNELS] = {"walk_add__kernel__", "walk_set__kernel__",
                                         "walk_nothing__kernel__", "walk_sum__kernel__",
                                         "walk_object__kernel__"};
    for (int i = 0; i < KERNELS; i++)
        entries[i] = (struct __tgt_offload_entry){&ids[i], names[i], 0, 0, 0};
    entries[KERNELS] = (struct __tgt_offload_entry){&share_ids[0], "walk_share__kernel__", 0, 0, 0};
    entries[KERNELS + 1] = (struct __tgt_offload_entry){&share_ids[1], "walk_share_record__kernel__", 0, 0, 0};
    global_entries[0] = (struct __tgt_offload_entry){&bump_id, "walk_bump__kernel__", 0, 0, 0};
    global_entries[1] =
        (struct __tgt_offload_entry){&walk_global, "walk_global", sizeof walk_global, 0, 0};
}

static void read_file(int number, const char *path)
{
    FILE *file = fopen(path, "rb");
    files[number].bytes = malloc(1 << 21);
    if (file == NULL || files[number].bytes == NULL) {
        fprintf(stderr, "walk: %s cannot be read\n", path);
        exit(2);
    }
    files[number].size = fread(files[number].bytes, 1, 1 << 21, file);
    fclose(file);
}

static void read_files(void)
{
    char path[4096];
    static unsigned char text[] = "no image", nothing[1];
    read_file(0, walk_settings.image);
    read_file(1, walk_settings.cubin);
    snprintf(path, sizeof path, "%.*sfatbin", (int)strlen(walk_settings.cubin) - 5, walk_settings.cubin);
    read_file(2, path);
    files[3].bytes = text;
    files[3].size = sizeof text;
    files[4].bytes = files[1].bytes;
    files[4].size = files[1].size / 2;
    files[5].bytes = nothing;
}

static struct rex_module module_of(struct __tgt_offload_entry *begin, int count, const char *image)
{
    return (struct rex_module){.struct_size = sizeof(struct rex_module),
                               .entries_begin = begin,
                               .entries_end = begin + count,
                               .image_name = image,
                               .host_image_name = walk_settings.gpu ? NULL : image};
}

void walk_begin(void)
{
    name_entries();
    read_files();
    walk_modules[0] = module_of(entries, KERNELS + 2, walk_settings.image);
    walk_modules[1] = module_of(entries, 1, "/nowhere/nothing.cubin");
    walk_modules[3] = module_of(global_entries, 2, walk_settings.globals);
}

void walk_begin_thread(int thread)
{
    memset(&walk_now, 0, sizeof walk_now);
    walk_now.thread = thread;
    for (int i = 0; i < MAPS; i++) {
        struct walk_map *map = &walk_now.map[i];
        map->memory = -1;
        map->map = (struct rex_map){0, map->base, map->begin, map->sizes, map->types, NULL, NULL};
    }
    for (int i = 0; i < PACKETS; i++)
        walk_now.packet[i].map = -1;
    model_reset();
}

const void *walk_image(const struct call *call, int argument, size_t *size)
{
    int number = walk_variable(call, argument);
    *size = number >= 0 ? files[number].size : 8;
    return number >= 0 ? files[number].bytes : NULL;
}

static void end_libraries(void)
{
    for (int i = 0; i < 2; i++)
        if (rex_library_unload(walk_now.library[i]) != REX_OK)
            walk_found("at the end a library cannot be unloaded: %s", rex_last_error());
}

static void end_queues(void)
{
    for (int i = 0; i < QUEUES; i++) {
        struct rex_graph *graph = NULL;
        if (walk_now.queue[i].queue != NULL &&
            rex_graph_end(&graph, walk_now.queue[i].queue) == REX_OK)
            rex_graph_destroy(graph);
    }
    for (int i = 0; i < GRAPHS; i++)
        rex_graph_destroy(walk_now.graph[i]);
    for (int i = 0; i < QUEUES; i++) {
        if (rex_queue_destroy(walk_now.queue[i].queue) != REX_OK)
            walk_found("at the end a queue cannot be destroyed: %s", rex_last_error());
        walk_now.queue[i].queue = NULL;
        walk_wait_for_queue(i);
    }
    for (int i = 0; i < EVENTS; i++)
        rex_event_destroy(walk_now.event[i].event);
    for (int i = 0; i < QUEUES; i++)
        rex_event_destroy(walk_now.between[i].event);
}

/* Until nothing of the place is mapped: what goes back to the host is compared, too. */
static void end_mapping(int device, int host)
{
    int begin, size;
    for (int turn = 0; model_mapping(device, host, &begin, &size) != NULL; turn++) {
        int64_t which = turn % 2 == 0 ? REX_MAP_DELETE : REX_MAP_OMPX_HOLD;
        walk_peek(device, host);
        struct rex_row rows[] = {rex_row_of((char *)model_address(host) + begin,
                                            (char *)model_address(host) + begin, size,
                                            REX_MAP_FROM | which)};
        struct walk_map end = {.memory = -1};
        end.map = rex_map_of(rows, 1, end.base, end.begin, end.sizes, end.types, NULL);
        end.part[0] = (struct part){host, begin, size, rows[0].type, 0};
        if (rex_module_data_exit(&walk_modules[0], device, &end.map) != REX_OK)
            walk_found("at the end a mapping cannot be ended: %s", rex_last_error());
        model_end(device, &end);
    }
}

void walk_end_thread(void)
{
    walk_share_leave();
    end_queues();
    for (int i = 0; i < MEMORIES; i++)
        rex_device_free(walk_now.memory[i].address, walk_now.memory[i].device);
    for (int device = 0; device < DEVICES; device++)
        for (int host = 0; host < PLACES; host++)
            end_mapping(device, host);
    for (int host = 0; host < PLACES; host++)
        walk_compare_presence(model_address(host), (size_t)model_size(host));
    const char *differs = model_compare(true);
    if (differs != NULL)
        walk_found("%s", differs);
    for (int i = 0; i < MAPS; i++)
        if (walk_now.map[i].built)
            rex_map_free(&walk_now.map[i].map);
    for (int i = 0; i < PINNED; i++)
        if (walk_now.pinned[i].live && rex_host_free(walk_now.pinned[i].address) != REX_OK)
            walk_found("at the end pinned memory cannot be freed: %s", rex_last_error());
    for (int i = 0; i < ARRAYS; i++)
        rex_host_unregister(walk_array[i]);
    for (int i = 0; i < 2; i++) {
        rex_image_view_close(walk_now.view[i]);
        rex_image_list_close(walk_now.list[i]);
    }
    end_libraries();
    model_end_all();
}

void walk_end(void)
{
    rex_set_log_callback(NULL, NULL);
    for (int i = 3; i >= 0; i -= 3)
        if (rex_module_fini(&walk_modules[i]) != REX_OK)
            walk_found("at the end module %d cannot be ended: %s", i, rex_last_error());
    for (int i = 0; i < 3; i++)
        free(files[i].bytes);
}

const void *walk_key(int number)
{
    const void *const others[] = {&bump_id, &walk_global, &unknown_id};
    return number < 0 ? NULL : number < KERNELS ? &ids[number] : others[number - KERNELS];
}

const void *walk_share_key(bool of_record)
{
    return &share_ids[of_record];
}

/* ---- modules
 * ---------------------------------------------------------------------------------------------------------------------------------- */

static bool has_ended; /* the module, once. LLVM 18 may not load it again, or after a library */

static enum verdict verdict_of_module(const struct call *call, int argument)
{
    const struct rex_module *module = walk_module(call, argument);
    if (module == &walk_modules[3])
        return EITHER; /* LLVM 18 loads no image after a device was used */
    return module != &walk_modules[0] ? MUST_FAIL
           : walk_is_registered() || (!has_ended && rex_runtime_release() != 18) ? MUST_WORK
                                                                                 : EITHER;
}

RULE(rex_module_init, "m", 2)
{
    enum verdict verdict = verdict_of_module(call, 0);
    walk_before();
    walk_judge_int(call, rex_module_init(walk_module(call, 0)), verdict);
}

RULE(rex_module_add, "m", 1)
{
    struct rex_module *module = walk_module(call, 0);
    walk_before();
    walk_judge_int(call, rex_module_add(module), module == NULL || module == &walk_modules[2] ? MUST_FAIL : MUST_WORK);
}

/* Data regions must have ended before, and device memory is the runtime's. */
RULE(rex_module_fini, "m", 2)
{
    struct rex_module *module = walk_module(call, 0);
    if (!walk_is_alone || model_any_mapping())
        return;
    for (int i = 0; i < MEMORIES; i++)
        if (walk_now.memory[i].address != NULL)
            return;
    for (int i = 0; i < QUEUES; i++)
        if (walk_now.queue[i].queue != NULL)
            return;
    has_ended = has_ended || module == &walk_modules[0];
    walk_before();
    walk_judge_int(call, rex_module_fini(module), module == NULL || module == &walk_modules[2] ? MUST_FAIL : EITHER);
}

RULE(rex_module_register, "mN", 3)
{
    const char *image = walk_string(call, 1);
    enum verdict verdict =
        image == NULL || walk_is_registered() ? verdict_of_module(call, 0) : EITHER;
    walk_before();
    walk_judge_int(call, rex_module_register(walk_module(call, 0), image), verdict);
}

RULE(rex_module_image_path, "m", 1)
{
    walk_before();
    if (rex_module_image_path(walk_module(call, 0)) == NULL)
        walk_found("it returns NULL");
    walk_judge(call, walk_module(call, 0) == NULL, 0, EITHER);
}

RULE(rex_module_on_host, "m", 1)
{
    walk_before();
    bool on_host = rex_module_on_host(walk_module(call, 0));
    walk_judge(call, walk_module(call, 0) == NULL, 0, EITHER);
    if (on_host && (walk_settings.gpu || !walk_is_registered()))
        walk_found("it says that the image is for the host");
}

/* ---- the process's settings ------------------------------------------------------------------------ */

/* The first step, before librex is used: how the fake GPU works, and who launches and copies. */
OWN_RULE(settings, "123456789", 0)
{
    static const char *const variables[] = {"FAKE_CUDA_ORDER", "FAKE_CUDA_DEVICES",
                                            "REX_LAUNCH_BY", "REX_COPY_THREADS", "REX_UNFINISHED",
                                            "REX_TRACE", "FAKE_CUDA_MEMORY", "REX_CHECK",
                                            "REX_LOG"};
    static bool is_over;
    for (int i = 0; i < 9 && !is_over; i++) {
        const char *value = walk_value_text(call->rule->kinds[i], call->step->argument[i]);
        if (strcmp(value, "default") == 0 || (walk_settings.is_real && strncmp(variables[i], "FAKE_", 5) == 0))
            unsetenv(variables[i]);
        else
            setenv(variables[i], value, 1);
    }
    /* This one was read when the process began. */
    const char *trace = getenv("REX_TRACE");
    if (!is_over && trace != NULL && rex_configure(REX_OPTION_TRACE, trace) != REX_OK)
        walk_found("nothing can be traced: %s", rex_last_error());
    is_over = true;
}

/* ---- settings and errors
 * ---------------------------------------------------------------------------------------------------------------------- */

/* Another libomptarget or image before there is one would make the rest of the sequence errors. */
RULE(rex_configure, "ou", 1)
{
    int64_t option = walk_integer(call, 0);
    const char *value = walk_string(call, 1);
    if ((option == REX_OPTION_OMPTARGET || option == REX_OPTION_CUBIN) && value != NULL && *value != '\0')
        return;
    /* Who launches is the sequence's to say: settings(). */
    if (option == REX_OPTION_LAUNCH_BY || option == REX_OPTION_REQUIRE_GPU)
        return;
    walk_before();
    walk_judge_int(call, rex_configure((enum rex_option)option, value), option < 0 || option > REX_OPTION_LAUNCH_BLOCKING ? MUST_FAIL : EITHER);
}

static void a_log(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    if (message == NULL || context != walk_modules)
        walk_found("the log's function is called with %p", context);
}

RULE(rex_set_log_callback, "F", 1)
{
    walk_before();
    rex_set_log_callback(walk_variable(call, 0) >= 0 ? a_log : NULL, walk_modules);
    walk_judge(call, false, 0, MUST_WORK);
}

#define TEXT_OF(name, type)                                   \
    RULE(name, "r", 1)                                        \
    {                                                         \
        walk_before();                                        \
        const char *text = name((type)walk_integer(call, 0)); \
        if (text == NULL || *text == '\0')                    \
            walk_found("it returns no text");                 \
        walk_judge(call, false, 0, MUST_WORK);                \
    }
TEXT_OF(rex_error_name, int)
TEXT_OF(rex_kind_name, unsigned)

#define STRING(name, kinds, weight)            \
    RULE(name, kinds, weight)                  \
    {                                          \
        walk_before();                         \
        if (name() == NULL)                    \
            walk_found("it returns NULL");     \
        walk_judge(call, false, 0, MUST_WORK); \
    }
STRING(rex_runtime_path, "", 1)
STRING(rex_version, "", 1)

RULE(rex_last_error, "", 1)
{
    walk_before();
    if (!walk_is_untouched())
        walk_found("it is \"%s\"", rex_last_error());
    (void)call;
}

RULE(rex_last_error_code, "", 1)
{
    walk_before();
    if (rex_last_error_code() != REX_EINVAL)
        walk_found("it is %d", rex_last_error_code());
    (void)call;
}

RULE(rex_literal_error, "hz", 1)
{
    walk_before();
    walk_judge(call, rex_literal_error(walk_host_of(call, 0), (size_t)walk_integer(call, 1)) == NULL, 0, MUST_FAIL);
}

/* ---- this machine
 * ----------------------------------------------------------------------------------------------------------------------------- */

#define NUMBER(name, kinds, weight, verdict)   \
    RULE(name, kinds, weight)                  \
    {                                          \
        walk_before();                         \
        walk_judge_int(call, name(), verdict); \
    }
NUMBER(rex_device_count, "", 1, MUST_WORK)
NUMBER(rex_device_for_rank, "", 1, MUST_WORK)
NUMBER(rex_runtime_bind, "", 1, MUST_WORK)
NUMBER(rex_runtime_release, "", 1, MUST_WORK)

RULE(rex_gpu_count, "", 1)
{
    walk_before();
    int count = rex_gpu_count();
    walk_judge(call, false, 0, MUST_WORK);
    const char *gpus = getenv("FAKE_CUDA_DEVICES");
    if (count != (walk_settings.gpu ? gpus != NULL ? atoi(gpus) : 1 : 0))
        walk_found("it says %d", count);
}

RULE(rex_gpu_get, "SzC", 1)
{
    struct {
        struct rex_gpu gpu;
        char behind[1024];
    } got, untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    got = untouched;
    size_t size = (size_t)walk_integer(call, 1);
    bool wrong = walk_variable(call, 0) < 0 || size == 0 || size > sizeof got.gpu;
    walk_before();
    int result = rex_gpu_get(walk_variable(call, 0) >= 0 ? &got.gpu : NULL, size, (int)walk_integer(call, 2));
    size_t written = walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER) ? size : 0;
    if (memcmp((char *)&got + written, (char *)&untouched + written, sizeof got - written) != 0)
        walk_found("it has written behind the %zu bytes", written);
}

RULE(rex_device_gpu, "d", 1)
{
    walk_before();
    walk_judge_int(call, rex_device_gpu(walk_integer(call, 0)), EITHER);
}

RULE(rex_mappings_changed, "", 1)
{
    walk_before();
    rex_mappings_changed();
    walk_judge(call, false, 0, MUST_WORK);
}

RULE(rex_runtime_tell, "H", 1)
{
    walk_before();
    walk_judge_int(call, rex_runtime_tell(walk_string(call, 0)), walk_variable(call, 0) == 0 ? EITHER : MUST_FAIL);
}

static void an_info(const char *group, const char *name, const char *value, void *context)
{
    if (group == NULL || name == NULL || value == NULL || context != walk_modules)
        walk_found("a row of it is NULL");
}

RULE(rex_info, "rA", 1)
{
    int64_t release = walk_integer(call, 0);
    bool wrong = walk_variable(call, 1) < 0 || (release != 0 && (release < 14 || release > 24));
    walk_before();
    int result = rex_info((int)release, walk_variable(call, 1) >= 0 ? an_info : NULL, walk_modules);
    if (result != REX_OK || release != 0 || wrong) /* where there is no libomptarget, the message of that stays */
        walk_judge_int(call, result, wrong ? MUST_FAIL : MUST_WORK);
}

/* ---- pinned memory
 * ---------------------------------------------------------------------------------------------------------------------------- */

RULE(rex_host_alloc, "pz", 2)
{
    int number = walk_variable(call, 0);
    int64_t size = walk_integer(call, 1);
    if (number < 0 || walk_now.pinned[number].live)
        return;
    walk_before();
    void *memory = rex_host_alloc((size_t)size);
    if (!walk_judge(call, memory == NULL, 0, size == 0 || size < 0 ? MUST_FAIL : size < 5000 ? MUST_WORK : EITHER))
        return;
    if ((uintptr_t)memory % 4096 != 0 && !walk_settings.gpu)
        walk_found("it is not aligned to a page");
    memset(memory, 0x77, size < 5000 ? (size_t)size : 1);
    walk_now.pinned[number].address = memory;
    walk_now.pinned[number].live = true;
}

/* What is freed a second time is an error that is promised. */
RULE(rex_host_free, "p", 2)
{
    int number = walk_variable(call, 0);
    void *address = number >= 0 ? walk_now.pinned[number].address : NULL;
    bool live = number >= 0 && walk_now.pinned[number].live;
    for (int i = 0; i < PINNED; i++)
        if (i != number && walk_now.pinned[i].live && walk_now.pinned[i].address == address)
            return; /* it came again */
    walk_before();
    walk_judge_int(call, rex_host_free(address), live || address == NULL ? MUST_WORK : MUST_FAIL);
    if (live)
        walk_now.pinned[number].live = false;
}

RULE(rex_host_register, "hz", 2)
{
    int64_t size = walk_integer(call, 1);
    int host = walk_variable(call, 0);
    /* The driver refuses copies of memory that is pinned in part. */
    if (walk_settings.is_real && host >= 0 && size > 0 && size != model_size(host))
        return;
    walk_before();
    walk_judge_int(call, rex_host_register(walk_host_of(call, 0), (size_t)size),
                   walk_variable(call, 0) < 0 || size == 0 || size == -1 || size == -8 ? MUST_FAIL : EITHER);
}

RULE(rex_host_unregister, "h", 2)
{
    walk_before();
    walk_judge_int(call, rex_host_unregister(walk_host_of(call, 0)), walk_variable(call, 0) < 0 ? MUST_FAIL : EITHER);
}

/* ---- images
 * ----------------------------------------------------------------------------------------------------------------------------------- */

static struct rex_image_view *view_of(const struct call *call)
{
    int number = walk_variable(call, 0);
    return number >= 0 ? walk_now.view[number] : NULL;
}

static struct rex_image_list *list_of(const struct call *call, int argument)
{
    int number = walk_variable(call, argument);
    return number >= 0 ? walk_now.list[number] : NULL;
}

RULE(rex_image_list_open, "LBN", 3)
{
    int number = walk_variable(call, 0), file = walk_variable(call, 1);
    struct rex_image_list *list = NULL;
    if (number >= 0 && walk_now.list[number] != NULL)
        return;
    const char *name = walk_string(call, 2);
    bool null = number < 0 || file < 0 || name == NULL;
    walk_before();
    int result =
        rex_image_list_open(number >= 0 ? &list : NULL, file >= 0 ? files[file].bytes : NULL, file >= 0 ? files[file].size : 8, name);
    if (walk_judge_int(call, result, null || file == 5 ? MUST_FAIL : file < 3 ? MUST_WORK : EITHER))
        walk_now.list[number] = list, walk_now.list_file[number] = file;
    else if (list != NULL)
        walk_found("it fails, and has stored a list");
}

RULE(rex_image_view_open, "VlIN", 3)
{
    int number = walk_variable(call, 0);
    struct rex_image_view *view = NULL;
    if (number >= 0 && walk_now.view[number] != NULL)
        return;
    const struct rex_image_list *list = list_of(call, 1);
    size_t index = (size_t)walk_integer(call, 2);
    bool bad = number < 0 || list == NULL || walk_string(call, 3) == NULL || index >= list->count;
    bool good = !bad && walk_now.list_file[walk_variable(call, 1)] < 3;
    walk_before();
    int result = rex_image_view_open(number >= 0 ? &view : NULL, list, index, walk_string(call, 3));
    if (walk_judge_int(call, result, bad ? MUST_FAIL : good ? MUST_WORK : EITHER))
        walk_now.view[number] = view;
}

RULE(rex_image_view_close, "v", 1)
{
    walk_before();
    rex_image_view_close(view_of(call));
    walk_judge(call, false, 0, MUST_WORK);
    if (walk_variable(call, 0) >= 0)
        walk_now.view[walk_variable(call, 0)] = NULL;
}

RULE(rex_image_list_close, "l", 1)
{
    walk_before();
    rex_image_list_close(list_of(call, 0));
    walk_judge(call, false, 0, MUST_WORK);
    if (walk_variable(call, 0) >= 0)
        walk_now.list[walk_variable(call, 0)] = NULL;
}

/* A question about something that is NULL is an error; an answer is none, whatever it is. */
RULE(rex_image_view_find, "vN", 1)
{
    const char *name = walk_string(call, 1);
    walk_before();
    rex_image_view_find(view_of(call), name);
    walk_judge(call, view_of(call) == NULL || name == NULL, 0, EITHER);
}

RULE(rex_nearest_name, "NNI", 1)
{
    const char *names[] = {walk_string(call, 1), "walk_set__kernel__"};
    const char *name = walk_string(call, 0);
    size_t count = (size_t)walk_integer(call, 2);
    if (names[0] == NULL && count > 0 && count <= 2)
        return;
    bool none = names[0] == NULL;
    if (!none && count > 2)
        count = 2;
    walk_before();
    rex_nearest_name(name, none ? NULL : names, count);
    walk_judge(call, name == NULL || (none && count > 0), 0, EITHER);
}

/* ---- builders ----------------------------------------------------------------------------------- */

/* A builder is there while rex_map_build() calls the function that has to push rows. */
struct pushes {
    struct call *call;
    int (*push)(const struct call *call, struct rex_map_builder *builder);
    int32_t next; /* the builder's next row after it; -1: it was not called, or has failed */
};

static int push_rows(struct rex_map_builder *builder, void *context)
{
    struct pushes *pushes = context;
    int result = pushes->push(pushes->call, builder);
    pushes->next = result < 0 ? -1 : rex_map_next_row(builder);
    return result < 0 ? result : rex_map_add(builder, REX_TO(walk_array[1], 1));
}

/* The push in a builder of its own; VERDICT is on the push. */
static void build(struct call *call, int (*push)(const struct call *, struct rex_map_builder *))
{
    struct pushes pushes = {call, push, -1};
    struct rex_map map = {.count = 77};
    if (walk_variable(call, 0) < 0) {
        push(call, NULL);
        return;
    }
    int result = rex_map_build(&map, NULL, push_rows, &pushes, NULL);
    if ((result == REX_OK) != (pushes.next >= 0))
        walk_found("rex_map_build() returns %d", result);
    if (result == REX_OK && map.count != pushes.next + 1)
        walk_found("the map has %d rows, and the builder had %d", map.count, pushes.next);
    if (result == REX_OK)
        rex_map_free(&map);
}

static int64_t type_of(const struct call *call, int argument)
{
    static const int64_t types[] = {REX_MAP_TO,
                                    REX_MAP_FROM,
                                    REX_MAP_TOFROM,
                                    REX_MAP_ALLOC,
                                    REX_MAP_MEMBER_OF(0),
                                    REX_MAP_MEMBER_OF(5000),
                                    REX_MAP_MEMBER_OF_MASK,
                                    REX_MAP_LITERAL,
                                    REX_MAP_PRIVATE,
                                    REX_MAP_PTR_AND_OBJ,
                                    INT64_MIN};
    return types[call->step->argument[argument] % (sizeof types / sizeof *types)];
}

static int next_row(const struct call *call, struct rex_map_builder *builder)
{
    walk_before();
    int row = rex_map_next_row(builder);
    walk_judge_int(call, row, builder == NULL ? MUST_FAIL : MUST_WORK);
    return row;
}

RULE(rex_map_next_row, "U", 1)
{
    build(call, next_row);
}

static int add_row(const struct call *call, struct rex_map_builder *builder)
{
    int64_t size = walk_integer(call, 3);
    int32_t row = builder != NULL ? rex_map_next_row(builder) : 0;
    walk_before();
    int result = rex_map_add(
        builder, rex_row_of(walk_host_of(call, 2), walk_host_of(call, 2), size, type_of(call, 1)));
    bool worked =
        walk_judge_int(call, result, builder == NULL || size < 0 ? MUST_FAIL : EITHER);
    if (worked && rex_map_next_row(builder) != row + 1)
        walk_found("the builder goes from row %d to %d", row, rex_map_next_row(builder));
    return result;
}

RULE(rex_map_add, "Uchz", 2)
{
    build(call, add_row);
}

static int map_element(struct rex_map_builder *builder, void *element)
{
    return rex_map_add(builder, rex_row_of(element, element, 1, REX_MAP_TOFROM));
}

static int map_without_end(struct rex_map_builder *builder, void *element)
{
    return rex_map_add_mapped(builder, map_without_end,
                              rex_row_of(element, element, 8, REX_MAP_TOFROM), 8);
}

static rex_mapper *const mappers[] = {map_element, map_without_end};

static int add_mapped(const struct call *call, struct rex_map_builder *builder)
{
    int mapper = walk_variable(call, 1);
    int64_t size = walk_integer(call, 4), element = walk_integer(call, 5);
    bool wrong = builder == NULL || mapper < 0 || element <= 0 || (mapper == 1 && size > 0);
    walk_before();
    int result = rex_map_add_mapped(
        builder, mapper >= 0 ? mappers[mapper] : NULL,
        rex_row_of(walk_host_of(call, 3), walk_host_of(call, 3), size, type_of(call, 2)), element);
    walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER);
    return result;
}

RULE(rex_map_add_mapped, "UAchsa", 2)
{
    build(call, add_mapped);
}

/* Of a handle only libomptarget knows what it is: without one, or without a mapper. */
RULE(rex_map_for_runtime, "Aahz", 1)
{
    int mapper = walk_variable(call, 0);
    char handle;
    walk_before();
    rex_map_for_runtime(mapper >= 0 ? map_element : NULL, walk_integer(call, 1),
                        mapper >= 0 ? NULL : &handle, walk_host_of(call, 2), walk_host_of(call, 2),
                        walk_integer(call, 3), REX_MAP_TO);
    walk_judge(call, true, REX_EINVAL, MUST_FAIL);
}

static int add_strided(const struct call *call, struct rex_map_builder *builder)
{
    static const struct rex_dimension kinds[] = {{CELLS, 0, CELLS, 1},
                                                 {CELLS, 0, 4, 2},
                                                 {8, 2, 4, 1},
                                                 {INT64_C(1) << 40, 0, INT64_C(1) << 40, 1},
                                                 {INT64_C(1) << 40, 0, INT64_C(1) << 38, 2},
                                                 {-1, INT64_MIN, INT64_MAX, 0}};
    int kind = walk_variable(call, 4), count = (int)walk_integer(call, 3);
    struct rex_dimension dimensions[10];
    for (int i = 0; i < 10; i++)
        dimensions[i] = kinds[kind >= 0 ? kind : 0];
    bool wrong = builder == NULL || kind < 0 || kind == 5 || walk_variable(call, 1) < 0 ||
                 count < 1 || count > 8 || walk_integer(call, 2) <= 0;
    /* More rows than a map may have: to count them is right, and to fill them takes long. */
    if (!wrong && (kind > 2 || count > 2))
        return REX_EINVAL;
    walk_before();
    int result = rex_map_add_strided(builder, walk_host_of(call, 1), walk_integer(call, 2),
                                     kind >= 0 ? dimensions : NULL, count, type_of(call, 5));
    walk_judge_int(call, result, wrong ? MUST_FAIL : EITHER);
    return result;
}

RULE(rex_map_add_strided, "UhaCDc", 3)
{
    build(call, add_strided);
}
