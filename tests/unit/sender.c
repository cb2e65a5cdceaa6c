/*
 * sender.c - who sends launches to a GPU: each thing of the process that stands against the driver, and what it says.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "memory/mappings.h"
#include "omp/forward.h"
#include "omp/sender.h"
#include "rex/entry.h"

/* ---- the process ----------------------------------------------------------------------------------------------------------------- */

struct process {
    const char *variable, *value, *other, *other_value;
    unsigned against;
    const char *text; /* NULL: nothing */
};

static void ask_process(const void *context)
{
    const struct process *process = context;
    char text[REX_REASON_MAX];
    setenv(process->variable, process->value, 1);
    if (process->other != NULL)
        setenv(process->other, process->other_value, 1);
    use_gpu(90);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_UNSEEN_CALLS);
    rex_sender_bind(true, false);
    CHECK_EQUAL(rex_against_all(), process->against);
    rex_reason_text((struct rex_reason){process->against, NULL}, text);
    if (process->text != NULL)
        CHECK(strcmp(text, process->text) == 0);
}

#define OBEYED(name)                                                                            \
    {name, "1", NULL, NULL, REX_AGAINST_ENVIRONMENT, name " is set, which libomptarget obeys"}, \
    {                                                                                           \
        name, "", NULL, NULL, 0, NULL                                                           \
    }
#define TOOL REX_AGAINST_TOOL, "an OMPT tool is loaded"

TEST(test_process)
{
    static const struct process all[] = {
        OBEYED("LIBOMPTARGET_INFO"),
        OBEYED("LIBOMPTARGET_PROFILE"),
        OBEYED("LIBOMPTARGET_RECORD"),
        OBEYED("LIBOMPTARGET_SHARED_MEMORY_SIZE"),
        OBEYED("OMP_TEAM_LIMIT"),
        OBEYED("OMP_TEAMS_THREAD_LIMIT"),
        OBEYED("OMP_NUM_TEAMS"),
        {"LIBOMPTARGET_INFO", "", "OMP_NUM_TEAMS", "2", REX_AGAINST_ENVIRONMENT, "OMP_NUM_TEAMS is set, which libomptarget obeys"},
        {"OMP_TOOL_LIBRARIES", "/x.so", NULL, NULL, TOOL},
        {"OMP_TOOL_LIBRARIES", "", NULL, NULL, 0, NULL},
        {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "enabled", TOOL},
        {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "disabled", 0, NULL},
        {"OMP_TOOL_LIBRARIES", "/x.so", "OMP_TOOL", "Disabled", 0, NULL},
        {"REX_LAUNCH_BY", "runtime", NULL, NULL, REX_AGAINST_ASKED, "REX_LAUNCH_BY=runtime"},
        {"REX_LAUNCH_BY", "auto", NULL, NULL, 0, NULL},
        {"REX_LAUNCH_BY", "driver", NULL, NULL, 0, NULL},
        {"REX_LAUNCH_BY", "runtime", "OMP_NUM_TEAMS", "2", REX_AGAINST_ASKED | REX_AGAINST_ENVIRONMENT, "REX_LAUNCH_BY=runtime"},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct child child = run_child(ask_process, &all[i]);
        if (child.status != 0)
            fail_msg("%s=%s: %d\n%s", all[i].variable, all[i].value, child.status, child.output);
    }
}

/* What libomp is asked for a tool is found in the library at PATH. */
static void ask_tool(const void *path)
{
    use_gpu(90);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL && dlsym(RTLD_DEFAULT, "ompt_start_tool") != NULL);
    rex_sender_bind(true, false);
    printf("%d", rex_against_all() == REX_AGAINST_TOOL);
}

/* libomp and archer have the function of tools, and are none. */
TEST(test_tools)
{
    static const struct {
        const char *name;
        bool is_tool;
    } libraries[] = {{"libomp.so.5", false}, {"libiomp5.so", false}, {"libarcher.so", false}, {"libtool.so", true},
                     {"libom.so", true},       {"libiom.so", true},     {"libarche.so", true},   {"a_libomp.so", true}};
    char folder[PATH_MAX], path[PATH_MAX + 64];
    make_folder(folder);
    /* the folder's name says nothing */
    snprintf(path, sizeof path, "%s/libomp", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < COUNT(libraries); i++) {
        snprintf(path, sizeof path, "%s/libomp/%s", folder, libraries[i].name);
        copy_file(FAKE("19/libomp.so.5"), path);
        assert_string_equal(in_child(ask_tool, path), libraries[i].is_tool ? "1" : "0");
    }
    remove_folder(folder);
}

TEST_IN_CHILD(bind_otherwise)
{
    use_gpu(0);
    rex_sender_bind(false, true);
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_UNSEEN_CALLS | REX_AGAINST_NO_DRIVER | REX_AGAINST_DISABLED);
    rex_stand_against_all(REX_AGAINST_UNIFIED);
    CHECK(rex_against_all() & REX_AGAINST_UNIFIED);
    CHECK(!rex_driver_is_demanded());
}

TEST_IN_CHILD(demand)
{
    setenv("REX_LAUNCH_BY", "driver", 1);
    use_gpu(90);
    rex_sender_bind(true, false);
    CHECK(rex_driver_is_demanded() && rex_against_all() == 0);
}

/* A program whose forwarders are not in front, as this one's are not: calls go by librex unseen, and the index of mappings stays empty. */
TEST_IN_CHILD(bind_behind)
{
    static char key, memory[8];
    static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0}};
    static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                       .entries_begin = entry,
                                       .entries_end = entry + 1,
                                       .image_name = "tests/data/stateless_sm_90.cubin"};
    struct rex_mapping found, made = {(uintptr_t)memory, (uintptr_t)memory + sizeof memory, 0, 0};
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK(!rex_forward_first());
    CHECK_EQUAL(rex_against_all(), REX_AGAINST_UNSEEN_CALLS);
    rex_mappings_add(&made, 1);
    CHECK(!rex_mapping_find(memory, 1, 0, &found));
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
    assert_string_equal(text_of(REX_AGAINST_OVERLAP, "x"), "rows that are mapped for the launch overlap");
    assert_string_equal(text_of(REX_AGAINST_MAPPER | REX_AGAINST_OVERLAP, NULL), "a row has a mapper");
    assert_string_equal(text_of(REX_AGAINST_DEVICE_LIBRARY, "malloc"), "its module calls malloc on the device");
    assert_string_equal(text_of(REX_AGAINST_GLOBALS | REX_AGAINST_NOWAIT, "sum"),
                        "its module has device globals, \"sum\" for one, which a second load would have again");
    assert_string_equal(text_of(REX_AGAINST_DEVICE_RUNTIME, NULL), "its module uses LLVM's device runtime: ");
    assert_string_equal(text_of(REX_AGAINST_CALLED, NULL), "the program calls libomptarget itself");
    assert_string_equal(text_of(REX_AGAINST_CALLED | REX_AGAINST_OVERLAP, NULL), "rows that are mapped for the launch overlap");
    assert_string_equal(text_of(REX_AGAINST_NO_DRIVER | REX_AGAINST_CALLED, NULL), "there is no NVIDIA GPU, or its driver is too old");
}
