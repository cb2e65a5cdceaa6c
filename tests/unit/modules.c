/*
 * modules.c - modules that cannot be registered, each with one error that names the entry
 * (tests/golden/messages/offload.txt), and what is taken of the others; by which name a module is
 * registered, and when not. libomptarget never hears of the former.
 *
 * The driver and libomptarget are fakes. runtime/register, runtime/modules and runtime/reregister
 * are tests on real ones.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "image/view.h"
#include "module/registry.h"
#include "module/registration.h"
#include "module/table.h"
#include "rex/launch.h"
#include "support/messages.h"

MESSAGES("offload");

#define SM_90 "tests/data/sm_90.cubin"
#define HOST_IMAGE FAKE("host.so")
#define NAME(text) ((char *)(uintptr_t)(text))

static char keys[6];
static double table[4];
static struct __tgt_offload_entry first_entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                     {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
static struct rex_module first = {.struct_size = sizeof first,
                                  .entries_begin = first_entries,
                                  .entries_end = first_entries + 2,
                                  .image_name = SM_90};

static void start(int sm, int release)
{
    use_gpu(sm);
    use_release(release);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"), 0);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
}

/* Register ENTRIES, COUNT of them, as a module of its own. */
static int registered(struct rex_module *module, struct __tgt_offload_entry *entries, size_t count)
{
    *module = (struct rex_module){.struct_size = sizeof *module,
                                  .entries_begin = entries,
                                  .entries_end = entries + count,
                                  .image_name = SM_90};
    return rex_module_register(module, NULL);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Data calls need a device, and no kernel of their own module. */
TEST_IN_CHILD(data_without_kernels)
{
    static struct rex_module kernelless = {.struct_size = sizeof kernelless};
    char bytes[8] = "";
    REX_MAP(map, REX_TO(bytes, 8));
    start(90, 22);
    void *library = dlopen(FAKE("module.so"), RTLD_NOW);
    REFUSED(rex_module_data_enter(&kernelless, 0, &map));
    CHECK_EQUAL(the_record()->count, 0);
    CHECK_EQUAL(dlclose(library), 0); /* which was looked at, and is not kept */
    CHECK(dlopen(FAKE("module.so"), RTLD_NOW | RTLD_NOLOAD) == NULL);
    REFUSED(rex_module_launch(&kernelless, 0, 1, 1, &keys[0], NULL));
}

#define PLAIN                                                                                      \
    {                                                                                              \
        &keys[0], NAME("plain__kernel__"), 0, 0, 0                                                 \
    }

static const struct {
    const char *what;
    struct __tgt_offload_entry entries[2];
} tables[] = {
    /* 20 and later would take the table for one of another layout */
    {"no key of the first",
     {{NULL, NAME("plain__kernel__"), 0, 0, 0}, {&keys[1], NAME("env__kernel__"), 0, 0, 0}}},
    {"no key of the second", {PLAIN, {NULL, NAME("env__kernel__"), 0, 0, 0}}},
    {"one key", {PLAIN, {&keys[0], NAME("env__kernel__"), 0, 0, 0}}},
    {"no name", {PLAIN, {&keys[1], NULL, 0, 0, 0}}},
    {"an empty name", {PLAIN, {&keys[1], NAME(""), 0, 0, 0}}},
    {"a wrong name", {PLAIN, {&keys[1], NAME("evn__kernel__"), 0, 0, 0}}},
    {"a name like no other", {PLAIN, {&keys[1], NAME("nothing_like_it"), 0, 0, 0}}},
    {"a name of clang's", {PLAIN, {&keys[1], NAME("__omp_offloading_10_2a_main_l7"), 0, 0, 0}}},
    {"a global's name", {PLAIN, {&keys[1], NAME("table"), 0, 0, 0}}},
    {"a smaller global", {PLAIN, {table, NAME("table"), sizeof table - 8, 0, 0}}},
    {"a global's wrong name", {PLAIN, {table, NAME("tabel"), sizeof table, 0, 0}}},
    {"a kernel's name", {PLAIN, {table, NAME("none__kernel__"), 8, 0, 0}}},
    {"a global", {PLAIN, {table, NAME("table"), sizeof table, 0, 0}}},
    /* a link's symbol in the image has another name */
    {"a link of another size", {PLAIN, {table, NAME("table"), 8, 1, 0}}},
    {"a link", {PLAIN, {table, NAME("absent"), 1, 1, 0}}},
    {"no link", {PLAIN, {table, NAME("absent"), 8, 0, 0}}},
    /* LLVM 14 calls entries with other flags when it loads the image */
    {"another flag", {PLAIN, {table, NAME("table"), sizeof table, 2, 0}}},
    {"a link to a kernel", {PLAIN, {&keys[1], NAME("env__kernel__"), 0, 1, 0}}},
    {"all flags", {PLAIN, {&keys[1], NAME("env__kernel__"), 0, -1, 0}}},
};

/* They are refused again, and not half registered. The end of a module is that of its global's mapping. */
TEST_IN_CHILD(bad_tables)
{
    static struct rex_module modules[COUNT(tables)];
    static struct __tgt_offload_entry entries[COUNT(tables)][2];
    start(90, 22);
    for (size_t i = 0; i < COUNT(tables); i++) {
        memcpy(entries[i], tables[i].entries, sizeof entries[i]);
        int result = registered(&modules[i], entries[i], 2);
        if (result == REX_OK)
            says("%s is taken", tables[i].what);
        else {
            refuses(result, "%s", tables[i].what);
            CHECK_EQUAL(rex_module_register(&modules[i], NULL), result);
        }
        CHECK_EQUAL(the_record()->registered, result == REX_OK);
        the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)table, sizeof table, 0x10000000};
        CHECK_EQUAL(rex_module_fini(&modules[i]), 0);
        CHECK_EQUAL(the_record()->mappings[0].size == 0, result == REX_OK);
        CHECK(strcmp(rex_module_image_path(&modules[i]), "") == 0);
    }
}

/* Pointers that are no table: nowhere, empty, turned round, not aligned, not a whole number of
 * entries. Looking for a key does not run past their ends. */
TEST_IN_CHILD(bad_bounds)
{
    static const struct {
        bool begins, ends;
        ptrdiff_t begin, end;
    } bounds[] = {{true, true, 0, 0},  {false, false, 0, 0}, {true, false, 0, 0},
                  {false, true, 0, 0}, {true, true, 32, 0},  {true, true, 0, 40},
                  {true, true, 4, 36}, {true, true, 0, (ptrdiff_t)32 << 30}};
    static struct rex_module modules[COUNT(bounds)];
    char *entries = (char *)first_entries;
    start(90, 22);
    for (size_t i = 0; i < COUNT(bounds); i++) {
        void *from = bounds[i].begins ? entries + bounds[i].begin : NULL,
             *to = bounds[i].ends ? entries + bounds[i].end : NULL;
        modules[i] = (struct rex_module){.struct_size = sizeof modules[i], .image_name = SM_90};
        memcpy(&modules[i].entries_begin, &from, sizeof from);
        memcpy(&modules[i].entries_end, &to, sizeof to);
        REFUSED(rex_module_register(&modules[i], NULL));
    }
    first.struct_size = 8;
    REFUSED(rex_module_register(&first, NULL));
    first.struct_size = sizeof first;
    CHECK_EQUAL(the_record()->count, 0);
    modules[COUNT(bounds) - 1].entries_begin = NULL; /* there is no such memory */
    CHECK(rex_kernel_name(&keys[3]) == NULL);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    REFUSED(rex_module_launch(&first, 0, 1, 1, &keys[3],
                              &(struct __tgt_kernel_arguments){.Version = 3}));
}

/* A table that is built again has the keys of now and no others, and as many. */
TEST_IN_CHILD(build_again)
{
    static const struct {
        int keys[3], count;
    } built[] = {{{0, 1}, 2}, {{0, 1}, 2}, {{2, 1}, 2}, {{2, 3}, 2}, {{0, 1, 2}, 3}, {{2}, 1}};
    struct __tgt_offload_entry entries[] = {PLAIN, PLAIN, PLAIN};
    struct rex_module module = first;
    struct rex_table made = {.count = 0};
    module.entries_begin = entries;
    for (size_t i = 0; i < COUNT(built); i++) {
        int found = 0;
        module.entries_end = entries + built[i].count;
        for (int j = 0; j < built[i].count; j++)
            entries[j].addr = &keys[built[i].keys[j]];
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        for (int j = 0; j < built[i].count; j++)
            CHECK(rex_table_find(&made, entries[j].addr) == &made.kernels[j]);
        for (size_t j = 0; j < COUNT(keys); j++)
            found += rex_table_find(&made, &keys[j]) != NULL;
        CHECK(found == built[i].count && made.count == (uint32_t)found);
    }
    for (int is_empty = 0; is_empty < 2; is_empty++) {
        entries[0].name = is_empty ? NAME("") : NULL;
        CHECK_EQUAL(rex_table_build(&made, &module), REX_EENTRIES);
    }
    rex_table_free(&made);
}

/* ---- launches of what was not checked -------------------------------------------------------- */

/* Log lines of the matching of a table, but for errors. */
static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    if (level != REX_LOG_ERROR && strncmp(message, "kernel ", 7) == 0)
        says("    %s", message);
}

static int launch_rows(struct rex_module *module, void *key, int32_t rows, int32_t threads)
{
    void *base[4] = {0};
    int64_t sizes[4] = {8, 8, 8, 8}, types[4] = {0x120, 0x120, 0x120, 0x120};
    struct __tgt_kernel_arguments packet = {.NumArgs = rows,
                                            .ArgsBase = base,
                                            .Args = base,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types};
    return rex_module_launch(module, 0, 1, threads, key, &packet);
}

static uint32_t version_sent(struct rex_module *module, void *key, int32_t rows)
{
    CHECK_EQUAL(launch_rows(module, key, rows, 1), 0);
    return last_call(FAKE_KERNEL)->packet.version;
}

/* REX_CHECK=off: the registration looks at no entry; the first launch of a kernel does, and says
 * what the registration would have said. */
TEST_IN_CHILD(checked_late)
{
    static struct rex_module module;
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                   {&keys[1], NAME("evn__kernel__"), 0, 0, 0},
                                                   {table, NAME("table"), sizeof table, 0, 0},
                                                   {&keys[2], NAME("narrow__kernel__"), 0, 0, 0},
                                                   {&keys[3], NAME("env__kernel__"), 0, 0, 0}};
    start(90, 22);
    REFUSED(registered(&module, entries, 5));
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "OFF"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    REFUSED(launch_rows(&module, &keys[1], 2, 1));
    REFUSED(launch_rows(&module, table, 2, 1));
    REFUSED(launch_rows(&module, in_driver("fake_cuda_busy"), 2, 1));
    CHECK_EQUAL(version_sent(&module, &keys[0], 2), 2);
    CHECK_EQUAL(version_sent(&module, &keys[3], 2), 3);
    REFUSED(launch_rows(&module, &keys[3], 0, 1));
    REFUSED(launch_rows(&module, &keys[0], 2, 2048));
    REFUSED(launch_rows(&module, &keys[2], 2, 1));
    REFUSED(launch_rows(&module, &keys[2], 2, 1));
    CHECK_EQUAL(rex_module_fini(&module), 0);
    REFUSED(rex_configure(REX_OPTION_CHECK, "sometimes"));
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "on"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENOKERNEL);
}

/* A kernel with a signature takes its own number of rows alone; without one, one row too few for a
 * plain kernel looks like an env one's. */
TEST_OF_EACH(kernels_with_signatures, const char *, file, "tests/data/typed_sm_90.cubin",
             "tests/data/typed_rdc_sm_90.cubin", SM_90)
{
    bool has_signature = strstr(file, "typed") != NULL;
    start(90, 22);
    first.image_name = file;
    for (int late = 0; late < 2; late++) {
        CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, late ? "off" : "on"), 0);
        CHECK_EQUAL(rex_module_register(&first, NULL), 0);
        if (has_signature) {
            REFUSED(launch_rows(&first, &keys[0], 1, 1));
            CHECK_EQUAL(version_sent(&first, &keys[0], 2), 2);
            REFUSED(launch_rows(&first, &keys[1], 3, 1));
            CHECK_EQUAL(version_sent(&first, &keys[1], 2), 3);
        } else
            CHECK_EQUAL(version_sent(&first, &keys[0], 1), 3);
        CHECK_EQUAL(rex_module_fini(&first), 0);
    }
}

/* ---- entries against an image ---------------------------------------------------------------- */

/* Threads of a block, by the registers of a thread, of which a warp gets them by 256, and by what
 * the kernel itself allows. */
TEST_IN_CHILD(most_threads)
{
    static const struct {
        uint32_t registers, allowed;
        uint64_t threads;
        enum rex_image_kind kind;
    } limits[] = {{0, 96, 96, REX_IMAGE_CUBIN},      {0, 2000, 1024, REX_IMAGE_CUBIN},
                  {64, 0, 1024, REX_IMAGE_CUBIN},    {65, 0, 896, REX_IMAGE_CUBIN},
                  {73, 0, 768, REX_IMAGE_CUBIN},     {255, 0, 256, REX_IMAGE_CUBIN},
                  {256, 0, 1024, REX_IMAGE_CUBIN}, /* more than there are */
                  {128, 513, 512, REX_IMAGE_CUBIN},  {64, 96, INT32_MAX, REX_IMAGE_HOST}};
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct rex_view view = {.kind = limits[i].kind, .architecture = 90, .most = SIZE_MAX};
        struct rex_image_symbol kernel = {.name = "plain__kernel__",
                                          .kernel = true,
                                          .registers = limits[i].registers,
                                          .max_threads = limits[i].allowed};
        struct rex_table made = {.count = 0};
        rex_view_add(&view, &kernel);
        CHECK_EQUAL(rex_view_index(&view), 0);
        CHECK_EQUAL(rex_table_build(&made, &first), REX_OK);
        CHECK_EQUAL(rex_kernel_match(&made, &made.kernels[0], &view, "an.image", rex_release_row(19)), REX_OK);
        CHECK_EQUAL(made.kernels[0].most_threads, limits[i].threads);
        rex_table_free(&made);
        rex_view_close(&view);
    }
}

/* Of each name that an image has instead as much is said as there is room for. */
TEST_IN_CHILD(long_names)
{
    static char names[6][200];
    struct rex_view view = {.kind = REX_IMAGE_CUBIN, .architecture = 90, .most = SIZE_MAX};
    for (int i = 0; i < 6; i++) {
        memset(names[i], 'a' + i, sizeof names[i] - 1);
        struct rex_image_symbol symbol = {.name = names[i], .kernel = i < 5};
        rex_view_add(&view, &symbol);
    }
    CHECK_EQUAL(rex_view_index(&view), 0);
    REFUSED(rex_table_lacks(NULL, &view, "an.image", "kernel", true));
    REFUSED(rex_table_lacks(NULL, &view, "an.image", "global", false));
    view.count = 0;
    REFUSED(rex_table_lacks(NULL, &view, "an.image", "kernel", true));
    rex_view_close(&view);
}

/* Where the image has no row for an entry, or has it once and the program twice, it is said. */
TEST_ON_FAKES(rows_that_lack, 14, 15)
{
    static struct __tgt_offload_entry absent[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                  {&keys[1], NAME("nonesuch__kernel__"), 0, 0, 0}},
                                      twice[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                 {&keys[1], NAME("plain__kernel__"), 0, 0, 0}};
    static struct rex_module modules[2];
    use_gpu(0);
    use_release(release);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), 0);
    for (int i = 0; i < 2; i++) {
        struct __tgt_offload_entry *entries = i == 0 ? absent : twice;
        modules[i] = (struct rex_module){.struct_size = sizeof modules[i],
                                         .entries_begin = entries,
                                         .entries_end = entries + 2,
                                         .image_name = HOST_IMAGE};
        REFUSED(rex_module_register(&modules[i], NULL));
        CHECK_EQUAL(the_record()->registered, 0);
    }
}

/* The rows of an image are looked through from the last that was taken on, and around. */
TEST_IN_CHILD(rows_in_turn)
{
    static const char *rows[] = {"env__kernel__", "other", "plain__kernel__"};
    static struct rex_module_image image = {
        .view = {.kind = REX_IMAGE_HOST, .positions = rows, .position_count = 3}};
    static struct rex_descriptor *descriptor;
    struct rex_registration registration = {
        .release = &(struct rex_release){.entries_by_position = true},
        .table = {first_entries, .count = 2}};
    CHECK_EQUAL(rex_descriptor_new(&registration, &image, false, &descriptor), REX_OK);
    CHECK(descriptor->entries[0].addr == &keys[1] && descriptor->entries[2].addr == &keys[0]);
}

/* ---- by which name, and when ----------------------------------------------------------------- */

/* A module's own name, however it is written, asks for no other image: the host's may take its
 * place. */
TEST_IN_CHILD(own_names)
{
    static const struct {
        const char *own, *name;
        bool is_own;
    } cases[] = {
        {"tests/data/none.cubin", "tests/data/none.cubin", true},
        {"tests/data/none.cubin", "./tests/data/none.cubin", true},
        {"tests/data/none.cubin", ".//./tests//data/./none.cubin", true},
        {"none.cubin", "./none.cubin", true},
        {"/none.cubin", "//none.cubin", true},
        {"/none.cubin", "none.cubin", false},
        {"none.cubin", "none.cubi", false},
        {"none.cubin", "none.cubins", false},
        {".none.cubin", "none.cubin", false},
        {"a/none.cubin", "anone.cubin", false},
        {"a/none.cubin", "a/.none.cubin", false},
        {"none.cubin", "none.cubin/", false},
        {"none/.", "none/", true},
        {NULL, "none.cubin", false},
    };
    start(0, 22);
    first.host_image_name = HOST_IMAGE;
    for (size_t i = 0; i < COUNT(cases); i++) {
        first.image_name = cases[i].own;
        bool is_registered = rex_module_register(&first, cases[i].name) == 0;
        if (is_registered != cases[i].is_own)
            fprintf(stderr, "\"%s\" and \"%s\"\n", cases[i].own, cases[i].name);
        CHECK_EQUAL(is_registered, cases[i].is_own);
        CHECK(strcmp(rex_module_image_path(&first), is_registered ? HOST_IMAGE : "") == 0);
        CHECK_EQUAL(rex_module_fini(&first), REX_OK);
    }
}

/* The log's function registers and ends nothing meanwhile (inside of calls: runtime/inflight). */
static void ask_for_it(enum rex_log_level level, const char *message, void *context)
{
    (void)level;
    if (strncmp(message, "registered ", 11) != 0)
        return;
    ++*(int *)context;
    REFUSED(rex_module_register(&first, NULL));
    REFUSED(rex_module_init(&first));
    CHECK_EQUAL(rex_module_fini(&first), REX_OK); /* it is not registered yet */
}

TEST_IN_CHILD(while_registering)
{
    int times = 0;
    start(90, 22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(ask_for_it, &times);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_OK);
    CHECK_EQUAL(times, 1);
}

/* ---- shared objects -------------------------------------------------------------------------- */

/* One that could be closed stays, as its module does; where that cannot be had, it is said. */
static void pinned(const void *context)
{
    bool is_apart = *(const int *)context; /* in a namespace of the loader's own */
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), REX_OK);
    void *library = is_apart ? dlmopen(LM_ID_NEWLM, FAKE("module.so"), RTLD_NOW)
                             : dlopen(FAKE("module.so"), RTLD_NOW);
    struct rex_module *module = library != NULL ? dlsym(library, "fake_module") : NULL;
    CHECK(module != NULL);
    *module = first;
    CHECK_EQUAL(rex_module_add(module), REX_OK);
    lasting(module->registration); /* who looks for lost memory sees nothing of that namespace */
    CHECK_EQUAL(dlclose(library), 0);
    if (!is_apart)
        CHECK(dlopen(FAKE("module.so"), RTLD_NOW | RTLD_NOLOAD) == library);
}

TEST(test_pinned)
{
    static const int is_apart[] = {0, 1};
    assert_string_equal(in_child(pinned, &is_apart[0]), "");
    const char *output = in_child(pinned, &is_apart[1]);
    assert_int_equal(
        occurrences(output, "/tests/fake/module.so with dlclose(): it has a module of librex, and the loader could not mark it to stay loaded\n"), 1);
    assert_int_equal(occurrences(output, "librex: "), 1);
}
