/*
 * sender.c - who sends launches to a GPU: each thing of the process that stands against the driver, and what it says.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "module/registry.h"
#include "module/registration.h"
#include "omp/backend.h"
#include "rex/inspect.h"

/* ---- the process ------------------------------------------------------------------------------------------------- */

static char launched_by[512];

static void keep_sender(const char *group, const char *name, const char *value, void *context)
{
    (void)name, (void)context;
    if (strcmp(group, "launch") == 0)
        snprintf(launched_by, sizeof launched_by, "%s", value);
}

/* Why the log says that nothing is hidden from libomptarget; "": it does not. */
static char told[512];

static void keep_told(enum rex_log_level level, const char *message, void *context)
{
    const char *why = strstr(message, "except those in queues: ");
    (void)level, (void)context;
    if (why != NULL)
        snprintf(told, sizeof told, "libomptarget: %s", strchr(why, ':') + 2);
}

/* Whom rex_info() names, once libomptarget is bound. */
static void expect_sender(const char *expected)
{
    use_release(22);
    CHECK_EQUAL(rex_info(0, keep_sender, NULL), REX_OK);
    if (strcmp(launched_by, expected) == 0)
        return;
    fprintf(stderr, "%s, and not %s\n", launched_by, expected);
    _exit(99);
}

#define THE_DRIVER "the CUDA driver"
#define OBEYED(name)                                                            \
    {name, "1", NULL, NULL, "libomptarget: " name " is set, which libomptarget obeys"}, \
    {                                                                           \
        name, "", NULL, NULL, THE_DRIVER                                        \
    }
#define TOOL "libomptarget: an OMPT tool is loaded"

static const struct process {
    const char *variable, *value, *other, *other_value, *sender;
} processes[] = {
    OBEYED("LIBOMPTARGET_INFO"),
    OBEYED("LIBOMPTARGET_PROFILE"),
    OBEYED("LIBOMPTARGET_RECORD"),
    OBEYED("LIBOMPTARGET_SHARED_MEMORY_SIZE"),
    OBEYED("OMP_TEAM_LIMIT"),
    OBEYED("OMP_TEAMS_THREAD_LIMIT"),
    OBEYED("OMP_NUM_TEAMS"),
    {"LIBOMPTARGET_INFO", "", "OMP_NUM_TEAMS", "2", "libomptarget: OMP_NUM_TEAMS is set, which libomptarget obeys"},
    {"OMP_TOOL_LIBRARIES", "/x.so", NULL, NULL, TOOL},
    {"OMP_TOOL_LIBRARIES", "", NULL, NULL, THE_DRIVER},
    {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "enabled", TOOL},
    {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "disabled", THE_DRIVER},
    {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "Disabled", THE_DRIVER},
    {"REX_LAUNCH_BY", "runtime", NULL, NULL, "libomptarget: REX_LAUNCH_BY=runtime"},
    {"REX_LAUNCH_BY", "auto", NULL, NULL, THE_DRIVER},
    {"REX_LAUNCH_BY", "driver", NULL, NULL, THE_DRIVER},
    {"REX_LAUNCH_BY", "runtime", "OMP_NUM_TEAMS", "2", "libomptarget: REX_LAUNCH_BY=runtime"},
    {"REX_LAUNCH_BY", "driver", "OMP_NUM_TEAMS", "2",
     "nothing, because REX_LAUNCH_BY=driver, and only libomptarget can launch: OMP_NUM_TEAMS is set, which libomptarget obeys"},
    {"FAKE_CUDA_DEVICES", "0", NULL, NULL, "libomptarget: there is no NVIDIA GPU, or its driver is too old"},
    {"FAKE_CUDA_DEVICES", "0", "REX_LAUNCH_BY", "driver", "libomptarget: there is no NVIDIA GPU, or its driver is too old"},
};

TEST_FOR_EACH(process, given, processes)
{
    use_gpu(90);
    setenv(given->variable, given->value, 1);
    if (given->other != NULL)
        setenv(given->other, given->other_value, 1);
    setenv("REX_LOG", "info", 1);
    rex_set_log_callback(keep_told, NULL);
    expect_sender(given->sender);
    bool reports = strcmp(given->sender, TOOL) == 0 || strncmp(given->sender, "libomptarget: LIB", 17) == 0 ||
                   strncmp(given->sender, "libomptarget: OMP", 17) == 0;
    CHECK(strcmp(told, reports ? given->sender : "") == 0 || strstr(given->sender, "=runtime") != NULL);
}

TEST_OF_EACH(old_driver, bool, demanded, false, true)
{
    use_gpu_of("cuda-old", 90);
    setenv("REX_LAUNCH_BY", demanded ? "driver" : "auto", 1);
    expect_sender(demanded ? "nothing, because REX_LAUNCH_BY=driver, and only libomptarget can launch: the CUDA driver is older than CUDA 11.4"
                           : "libomptarget: the CUDA driver is older than CUDA 11.4");
}

/* OMP_TARGET_OFFLOAD=disabled, which use_release() would take back. */
TEST_IN_CHILD(disabled)
{
    use_gpu(90);
    use_release(22);
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    CHECK_EQUAL(rex_info(0, keep_sender, NULL), REX_OK);
    CHECK(strcmp(launched_by, "libomptarget: offloading is disabled") == 0);
}

void __tgt_register_requires(int64_t flags);

/* The first module that requires unified shared memory decides it for the process. */
TEST_IN_CHILD(unified)
{
    use_gpu(90);
    expect_sender(THE_DRIVER);
    __tgt_register_requires(1);
    expect_sender(THE_DRIVER);
    __tgt_register_requires(8);
    expect_sender("libomptarget: a module requires unified shared memory");
    expect_sender("libomptarget: a module requires unified shared memory");
}

void __tgt_register_lib(struct __tgt_bin_desc *descriptor);

/* A module's entries say the same, in either form: a row of that kind, and no other. */
TEST_OF_EACH(unified_by_entry, bool, is_new, false, true)
{
    static const int rows[][2] = {{0, 8}, {0x10, 7}, {0x10, 9}, {0x10, 7}}; /* flags and data */
    struct __tgt_offload_entry old[4];
    struct rex_new_entry new[4];
    use_gpu(90);
    expect_sender(THE_DRIVER); /* binds the fake: a machine may have a libomptarget */
    for (int i = 0; i < 4; i++) {
        old[i] = (struct __tgt_offload_entry){old, (char *)new, 0, rows[i][0], rows[i][1]};
        new[i] = (struct rex_new_entry){.version = 1,
                                        .kind = REX_ENTRY_KIND_OPENMP,
                                        .flags = (uint32_t)rows[i][0],
                                        .address = old,
                                        .name = (char *)new,
                                        .data = (uint64_t)rows[i][1]};
    }
    for (int count = 0; count <= 4; count += 2) {
        struct __tgt_bin_desc descriptor = {0, NULL, is_new ? (void *)new : old,
                                            is_new ? (void *)(new + count) : old + count};
        __tgt_register_lib(&descriptor);
        expect_sender(count < 4 ? THE_DRIVER
                                : "libomptarget: a module requires unified shared memory");
    }
}

/* Exported beside those that rex_kmp.h declares. */
void begin_nowait(ident_t *place, int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types,
                  void **names, void **mappers, int32_t all, void *list, int32_t others,
                  void *other_list) __asm__("__tgt_target_data_begin_nowait_mapper");
int target_nowait(ident_t *place, int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes,
                  int64_t *types, void **names, void **mappers, int32_t all, void *list, int32_t others,
                  void *other_list) __asm__("__tgt_target_nowait_mapper");

/* The program's own calls that are not waited for: only libomptarget knows what those with a mapper use. */
TEST_OF_EACH(not_waited, bool, launches, false, true)
{
    static char key;
    void *base[] = {&key}, *mappers[] = {NULL};
    int64_t sizes[] = {1}, types[] = {1};
    use_gpu(90);
    for (int i = 0; i < 2; i++) {
        expect_sender(THE_DRIVER);
        mappers[0] = i == 0 ? NULL : &key;
        if (launches)
            target_nowait(NULL, 0, &key, 1, base, base, sizes, types, NULL, mappers, 0, NULL, 0, NULL);
        else
            begin_nowait(NULL, 0, 1, base, base, sizes, types, NULL, mappers, 0, NULL, 0, NULL);
    }
    expect_sender("libomptarget: the program has made asynchronous (nowait) calls with mappers");
}

static const struct library {
    const char *name;
    bool is_tool;
} libraries[] = {{"libomp.so.5", false}, {"libiomp5.so", false}, {"libarcher.so", false}, {"libtool.so", true},
                 {"libom.so", true},     {"libiom.so", true},    {"libarche.so", true},   {"a_libomp.so", true}};

/* The program looks for a tool as libomp does. libomp and archer have the function of tools, and are none; the folder's name says nothing. */
TEST_FOR_EACH(tools, library, libraries)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libomp", folder);
    CHECK_EQUAL(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/libomp/%s", folder, library->name);
    copy_file(FAKE("19/libomp.so.5"), path);
    use_gpu(90);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL && dlsym(RTLD_DEFAULT, "ompt_start_tool") != NULL);
    expect_sender(library->is_tool ? TOOL : THE_DRIVER);
    remove_folder(folder);
}

/* ---- in words --------------------------------------------------------------------------------------------------------------------- */

static const char *text_of(unsigned against, const char *about)
{
    static char text[REX_REASON_MAX];
    rex_reason_text((struct rex_reason){against, about}, text);
    return text;
}

/* The first reason speaks, and says what it is about. */
TEST(test_texts)
{
    assert_string_equal(text_of(REX_REASON_OVERLAP, "x"), "the launch would map rows that overlap");
    assert_string_equal(text_of(REX_REASON_MAPPER | REX_REASON_OVERLAP, NULL), "a row has a mapper");
    assert_string_equal(text_of(REX_REASON_DEVICE_LIBRARY, "malloc"), "the kernel's module calls malloc on the device");
    assert_string_equal(text_of(REX_REASON_GLOBALS | REX_REASON_NOWAIT, "sum"),
                        "the kernel's module has device globals, such as \"sum\", and the CUDA driver would load a second copy of them");
    assert_string_equal(text_of(REX_REASON_DEVICE_RUNTIME, NULL), "the kernel's module uses LLVM's device runtime: ");
    assert_string_equal(text_of(REX_REASON_CALLED, NULL), "the program calls libomptarget itself");
    assert_string_equal(text_of(REX_REASON_CALLED | REX_REASON_OVERLAP, NULL), "the launch would map rows that overlap");
    assert_string_equal(text_of(REX_REASON_NO_DRIVER | REX_REASON_CALLED, NULL), "there is no NVIDIA GPU, or its driver is too old");
}
