/*
 * entries.c - tables of entries that cannot be registered, each with one error that names the entry
 * (tests/golden/messages/offload.txt), and what is taken of the others. libomptarget never hears of
 * the former.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex_kmp.h"
#include "image/view.h"
#include "module/tablematch.h"
#include "rex/launch.h"
#include "support/messages.h"

MESSAGES("offload");

#define SM_90 "tests/data/sm_90.cubin"
#define NAME(text) ((char *)(uintptr_t)(text))

static char keys[40];
static double table[4];

/* Register ENTRIES, COUNT of them, as a module of its own. */
static int registered(struct rex_module *module, struct __tgt_offload_entry *entries, size_t count)
{
    *module = (struct rex_module){.struct_size = sizeof *module,
                                  .entries_begin = entries,
                                  .entries_end = entries + count,
                                  .image_name = SM_90};
    return rex_module_register(module, NULL);
}

static void bind(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"), 0);
    CHECK_EQUAL(rex_runtime_bind(), 0);
}

static struct rex_module kernelless = {.struct_size = sizeof kernelless};

/* Data calls need a device, and no kernel of their own module. */
TEST_IN_CHILD(data_without_kernels)
{
    static struct rex_module module;
    char bytes[8] = "";
    struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
    REX_MAP(map, REX_TO(bytes, 8));
    bind();
    REFUSED(rex_module_data_enter(&kernelless, 0, &map));
    CHECK(rex_device_alloc(8, 0) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_EQUAL(the_record()->count, 0);
    /* A module that is known is registered for them, and what failed before leaves no error. */
    module = (struct rex_module){.struct_size = sizeof module,
                                 .entries_begin = entries,
                                 .entries_end = entries + 1,
                                 .image_name = SM_90};
    CHECK_EQUAL(rex_module_add(&module), 0);
    CHECK_EQUAL(rex_module_data_enter(&kernelless, 0, &map), 0);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_EQUAL(rex_module_region_end(&kernelless, 0, &map), 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK(rex_device_alloc(8, 0) != NULL);
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
    {"a global's name", {PLAIN, {&keys[1], NAME("table"), 0, 0, 0}}},
    {"a smaller global", {PLAIN, {table, NAME("table"), sizeof table - 8, 0, 0}}},
    {"a global's wrong name", {PLAIN, {table, NAME("tabel"), sizeof table, 0, 0}}},
    {"a kernel's name", {PLAIN, {table, NAME("none__kernel__"), 8, 0, 0}}},
    {"a global", {PLAIN, {table, NAME("table"), sizeof table, 0, 0}}},
    /* a link's symbol in the image has another name */
    {"a link of another size", {PLAIN, {table, NAME("table"), 8, 1, 0}}},
    {"a link", {PLAIN, {table, NAME("absent"), 8, 1, 0}}},
    {"no link", {PLAIN, {table, NAME("absent"), 8, 2, 0}}},
};

/* They are refused again, and not half registered. */
TEST_IN_CHILD(bad_tables)
{
    static struct rex_module modules[COUNT(tables)];
    static struct __tgt_offload_entry entries[COUNT(tables)][2];
    bind();
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
        CHECK_EQUAL(rex_module_fini(&modules[i]), 0);
        CHECK(strcmp(rex_module_image_path(&modules[i]), "") == 0);
    }
}

TEST_IN_CHILD(no_tables)
{
    static struct __tgt_offload_entry entries[1] = {PLAIN};
    static struct rex_module modules[4];
    bind();
    REFUSED(registered(&modules[0], entries, 0));
    REFUSED(registered(&modules[1], NULL, 0));
    modules[2] = (struct rex_module){
        .struct_size = sizeof modules[2], .image_name = SM_90, .entries_begin = entries};
    REFUSED(rex_module_register(&modules[2], NULL));
    modules[3] = (struct rex_module){
        .struct_size = sizeof modules[3], .image_name = SM_90, .entries_end = entries};
    REFUSED(rex_module_register(&modules[3], NULL));
    CHECK_EQUAL(the_record()->count, 0);
}

/* Keys that are those of no kernel. */
TEST_IN_CHILD(wrong_keys)
{
    static struct rex_module good;
    static struct __tgt_offload_entry entries[] = {PLAIN,
                                                   {table, NAME("table"), sizeof table, 0, 0}};
    struct __tgt_kernel_arguments packet = {.Version = 3};
    bind();
    REFUSED(rex_configure(REX_OPTION_CHECK, "sometimes"));
    CHECK_EQUAL(registered(&good, entries, 2), 0);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL); /* of before: success changes nothing */
    REFUSED(rex_module_launch(&good, 0, 1, 1, table, &packet));
    REFUSED(rex_module_launch(&good, 0, 1, 1, (void *)(uintptr_t)getenv, &packet));
    REFUSED(rex_module_launch(&good, 0, 1, 1, &packet, &packet));
    REFUSED(rex_module_launch(&good, 99, 1, 1, entries[0].addr, &packet));
}

/* A launch of a module that is not registered says why, whichever way it comes. */
TEST_IN_CHILD(launch_unregistered)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("evn__kernel__"), 0, 0, 0}};
    static struct rex_module unusable;
    struct __tgt_kernel_arguments packet = {.Version = 3};
    struct rex_launch_config launch = rex_launch_config_of(&keys[0], 1, 1);
    bind();
    REFUSED(registered(&unusable, entries, 1));
    REFUSED(rex_module_launch_map(&unusable, &launch, NULL));
    REFUSED(rex_module_launch(&unusable, 0, 1, 1, &keys[0], &packet));
    REFUSED(rex_module_launch_map(&unusable, NULL, NULL));
    REFUSED(rex_module_launch_map(NULL, &launch, NULL));
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL], 0);
}

/* Pointers that are no table: turned round, not aligned, not a whole number of entries. */
TEST_IN_CHILD(bad_bounds)
{
    struct __tgt_offload_entry entries[3] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
    char *begin = (char *)entries;
    static const struct {
        ptrdiff_t begin, end;
    } bounds[] = {{32, 0}, {0, 40}, {4, 36}, {0, (ptrdiff_t)32 << 30}};
    static struct rex_module modules[COUNT(bounds)];
    bind();
    for (size_t i = 0; i < COUNT(bounds); i++) {
        void *from = begin + bounds[i].begin, *to = begin + bounds[i].end;
        modules[i] = (struct rex_module){.struct_size = sizeof modules[i], .image_name = SM_90};
        memcpy(&modules[i].entries_begin, &from, sizeof from);
        memcpy(&modules[i].entries_end, &to, sizeof to);
        REFUSED(rex_module_register(&modules[i], NULL));
    }
    modules[3].entries_begin = NULL; /* there is no memory that could be looked through */
    /* They stay known; looking for a key does not run past their ends. */
    static struct __tgt_offload_entry plain[] = {PLAIN};
    static struct rex_module good;
    CHECK_EQUAL(registered(&good, plain, 1), REX_OK);
    REFUSED(rex_module_launch(&good, 0, 1, 1, &keys[3],
                              &(struct __tgt_kernel_arguments){.Version = 3}));
}

/* The image's bytes from memory, which librex copies. */
TEST_IN_CHILD(image_in_memory)
{
    static struct rex_module module;
    static struct __tgt_offload_entry one[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
    size_t size;
    unsigned char *bytes = read_bytes(SM_90, &size);
    bind();
    module = (struct rex_module){
        .struct_size = sizeof module, .entries_begin = one, .entries_end = one + 1, .image = bytes};
    REFUSED(rex_module_register(&module, NULL));
    module.image_size = size - 64;
    REFUSED(rex_module_register(&module, NULL));
    module.image_size = size;
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    CHECK(strcmp(rex_module_image_path(&module), "memory") == 0);
    const struct fake_call *call = &the_record()->calls[0];
    CHECK(call->image != bytes);
    unsigned char *kept = malloc(size);
    memcpy(kept, bytes, size);
    memset(bytes, 0, size);
    CHECK(memcmp(call->image, kept, size) == 0);
    free(kept);
}

/* Log lines of the matching of a table, but for errors. */
static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    if (level != REX_LOG_ERROR && strncmp(message, "kernel ", 7) == 0)
        says("    %s", message);
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
    void *base[3] = {0};
    int64_t sizes[3] = {8, 8, 8}, types[3] = {0x120, 0x120, 0x120};
    struct __tgt_kernel_arguments packet = {
        .NumArgs = 2, .ArgsBase = base, .Args = base, .ArgSizes = sizes, .ArgTypes = types};
    bind();
    REFUSED(registered(&module, entries, 5));
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "OFF"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    for (int i = 0; i < 2; i++) {
        REFUSED(rex_module_launch(&module, 0, 1, 1, &keys[1], &packet));
        REFUSED(rex_module_launch(&module, 0, 1, 1, table, &packet));
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[0], &packet), 0);
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, 2);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[3], &packet), 0);
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, 3);
        REFUSED(rex_module_launch(&module, 0, 1, 1, &keys[3],
                                  &(struct __tgt_kernel_arguments){.NumArgs = 0}));
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[3], &packet), 0);
        REFUSED(rex_module_launch(&module, 0, 1, 2048, &keys[0], &packet));
        for (int twice = 0; twice < 2; twice++) {
            REFUSED(rex_module_launch(&module, 0, 1, 1, &keys[2], &packet));
        }
        /* Registered again. */
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    }
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "on"), 0);
    REFUSED(rex_module_register(&module, NULL));
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void launch_rows(struct rex_module *module, void *key, uint32_t rows, int result)
{
    void *base[4] = {0};
    int64_t sizes[4] = {8, 8, 8, 8}, types[4] = {0x120, 0x120, 0x120, 0x120};
    struct __tgt_kernel_arguments packet = {.NumArgs = (int32_t)rows,
                                            .ArgsBase = base,
                                            .Args = base,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types};
    CHECK_EQUAL(rex_module_launch(module, 0, 1, 1, key, &packet), result);
    if (result == 0)
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, key == &keys[0] ? 2 : 3);
}

/* A marked kernel takes its own number of rows alone; without a mark, one row too few for a plain
 * kernel looks like an env one's. */
TEST_OF_EACH(marked_kernels, const char *, file, "tests/data/marked_sm_90.cubin",
             "tests/data/marked_rdc_sm_90.cubin", SM_90)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                   {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    static struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
    bool marked = strstr(file, "marked") != NULL;
    bind();
    module.image_name = file;
    for (int late = 0; late < 2; late++) {
        CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, late ? "off" : "on"), 0);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        if (marked) {
            launch_rows(&module, &keys[0], 1, REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(), "kernel \"plain__kernel__\" has 2 parameters, none of "
                                             "them the runtime's, and the launch 1 rows");
            launch_rows(&module, &keys[0], 2, 0);
            launch_rows(&module, &keys[1], 3, REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(), "kernel \"env__kernel__\" has 3 parameters, the first "
                                             "of them the runtime's, and the launch 3 rows");
            launch_rows(&module, &keys[1], 2, 0);
        } else {
            struct __tgt_kernel_arguments one = {.NumArgs = 1,
                                                 .ArgsBase = (void *[]){NULL},
                                                 .Args = (void *[]){NULL},
                                                 .ArgSizes = (int64_t[]){8},
                                                 .ArgTypes = (int64_t[]){0x120}};
            CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[0], &one), 0);
            CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, 3);
        }
        CHECK_EQUAL(rex_module_fini(&module), 0);
    }
}

/* ---- entries against an image ---------------------------------------------------------------- */

/* Facts of a kernel in an image, and the release that is to launch it; 0: none. */
#define CUBIN REX_IMAGE_CUBIN
#define HOST REX_IMAGE_HOST
#define UNKNOWN REX_PARAMETERS_UNKNOWN
#define ON_GPU(...)                                                                                \
    {                                                                                              \
        .kernel = true, __VA_ARGS__                                                                \
    }

static const struct match {
    const char *what;
    struct rex_image_symbol kernel;
    int release;
    enum rex_image_kind kind;
} matches[] = {
    {"plain", ON_GPU(.parameters = 3, .plain = true), 19, CUBIN},
    {"env", ON_GPU(.parameters = 3, .env = true), 19, CUBIN},
    {"neither", ON_GPU(.parameters = 3), 19, CUBIN},
    {"both", ON_GPU(.parameters = 3, .env = true, .plain = true), 19, CUBIN},
    {"not told", ON_GPU(.parameters = UNKNOWN), 19, HOST},
    {"not told, env", ON_GPU(.parameters = UNKNOWN, .env = true), 22, HOST},
    {"no release", ON_GPU(.parameters = 3, .odd_size = 16, .environment_size = 1), 0, CUBIN},
    /* widths */
    {"narrow", ON_GPU(.parameters = 3, .odd_size = 4), 19, CUBIN},
    {"in slots", ON_GPU(.parameters = 3, .odd_size = 4, .odd_index = 1), 23, CUBIN},
    {"a wide one", ON_GPU(.parameters = 3, .odd_size = 9, .odd_index = 2), 23, CUBIN},
    {"as wide as usual", ON_GPU(.parameters = 3, .odd_size = 8, .odd_index = 2), 23, CUBIN},
    {"the widest", ON_GPU(.parameters = 3, .odd_size = 65536, .odd_index = 1), 17, CUBIN},
    /* threads of a block */
    {"bounded", ON_GPU(.max_threads = 96), 19, CUBIN},
    {"wide bounds", ON_GPU(.max_threads = 2000), 19, CUBIN},
    {"few registers", ON_GPU(.registers = 40), 19, CUBIN},
    {"64 registers", ON_GPU(.registers = 64), 19, CUBIN},
    {"65 registers", ON_GPU(.registers = 65), 19, CUBIN},
    {"73 registers", ON_GPU(.registers = 73), 19, CUBIN},
    {"most registers", ON_GPU(.registers = 255), 19, CUBIN},
    {"more than there are", ON_GPU(.registers = 256), 19, CUBIN},
    {"both limits", ON_GPU(.registers = 128, .max_threads = 513), 19, CUBIN},
    {"on the host", ON_GPU(.registers = 128, .max_threads = 513), 22, HOST},
    /* clang's kernels */
    {"not looked at", ON_GPU(.environment_size = 7, .environment_mode = 1), 17, CUBIN},
    {"generic", ON_GPU(.environment_size = 48, .environment_mode = 3), 22, CUBIN},
    {"not generic", ON_GPU(.environment_size = 48, .environment_mode = 2), 22, CUBIN},
    {"exact", ON_GPU(.environment_size = 40, .environment_mode = 1), 23, CUBIN},
    {"another size", ON_GPU(.environment_size = 41), 24, CUBIN},
    {"another's size", ON_GPU(.environment_size = 40), 18, CUBIN},
    /* calls of the host device */
    {"called", ON_GPU(.call = "rex_call_k"), 23, HOST},
    {"not called there", ON_GPU(.call = "rex_call_k"), 22, HOST},
    {"not called on a GPU", ON_GPU(.call = "rex_call_k"), 23, CUBIN},
    {"by hand", ON_GPU(.parameters = 1), 18, HOST},
    {"one array", ON_GPU(.parameters = 1), 24, HOST},
    {"no kernel", {.kernel = false}, 22, CUBIN},
};

/* The facts that librex keeps of it. It is the second of two entries, behind a global that is not
 * matched. */
TEST_FOR_EACH(matched, match, matches)
{
    struct __tgt_offload_entry entries[] = {{&keys[0], NAME("absent"), 8, 0, 0},
                                            {&keys[1], NAME("k__kernel__"), 0, 0, 0}};
    const struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
    struct rex_view view = {.kind = match->kind, .architecture = 90, .most = SIZE_MAX};
    struct rex_image_symbol kernel = match->kernel;
    struct rex_table made = {.count = 0};
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_set_log_callback(note, NULL);
    kernel.name = "k__kernel__";
    kernel.shared_memory = 1024 + 40;
    CHECK_EQUAL(rex_view_add(&view, &kernel), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    int result = rex_table_match(&made, 1, 1, &view, "an.image",
                                 match->release == 0 ? NULL : rex_release_row(match->release));
    const struct rex_kernel_facts facts = rex_table_facts(&made, 1);
    if (result != REX_OK)
        refuses(result, "%s", match->what);
    else
        says("%s: %u parameters, form %u, flags %#x, %llu threads, %llu bytes, misfit %u of %u",
             match->what, facts.parameters, facts.form, facts.flags,
             (unsigned long long)made.launched[1].most_threads,
             (unsigned long long)made.launched[1].shared_memory, made.misfit[1].index,
             made.misfit[1].size);
    CHECK(facts.checked == 0 && rex_table_facts(&made, 0).flags == 0);
    rex_table_free(&made);
    rex_view_close(&view);
}

/* Kernels of rex/kernel.h, of which an image has a table, and without functions by which a later
 * host device calls it. */
TEST_ON_FAKES(of_an_older_header, 18, 23, 24)
{
    struct __tgt_offload_entry entry = {&keys[0], NAME("k__kernel__"), 0, 0, 0};
    const struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};
    const char *positions[] = {"other__kernel__", "k__kernel__"};
    struct rex_view view = {.kind = REX_IMAGE_HOST, .most = SIZE_MAX, .positions = positions};
    struct rex_table made = {.count = 0};
    CHECK_EQUAL(
        rex_view_add(&view, &(struct rex_image_symbol){.name = "k__kernel__", .kernel = true}), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    for (view.position_count = 1; view.position_count <= 2; view.position_count++) {
        bool is_own = view.position_count == 2;
        int result = rex_table_match(&made, 0, 1, &view, "an.image", rex_release_row(release));
        CHECK_EQUAL(result, is_own || release > 18 ? REX_EUNSUPPORTED : REX_OK);
        if (result != REX_OK)
            refuses(result, "LLVM %d, %zu rows", release, view.position_count);
    }
    view.positions = NULL; /* of this function */
    rex_table_free(&made);
    rex_view_close(&view);
}

/* COUNT kernels of 0, 1, 2 ... parameters, in turn. */
static void describe_kernels(struct rex_view *view, struct __tgt_offload_entry *entries,
                             uint16_t count, uint16_t kinds)
{
    static char names[40][16];
    for (uint16_t i = 0; i < count; i++) {
        uint16_t parameters = i % kinds;
        struct rex_image_symbol kernel = {.name = names[i],
                                          .kernel = true,
                                          .signature = true,
                                          .plain = true,
                                          .parameters = parameters};
        snprintf(names[i], sizeof names[i], "k%02u__kernel__", (unsigned)i);
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
        CHECK_EQUAL(rex_view_add_parameters(view, parameters, &kernel.first), 0);
        CHECK_EQUAL(rex_view_add(view, &kernel), 0);
    }
    CHECK_EQUAL(rex_view_index(view), 0);
}

/* Kernels of the same parameters share a signature, as long as no more than 16 of them take turns.
 */
TEST_IN_CHILD(shares_signatures)
{
    struct __tgt_offload_entry entries[40];
    struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 40};
    for (uint16_t kinds = 1; kinds <= 17; kinds = (uint16_t)(kinds + 8)) {
        struct rex_view view = {.kind = REX_IMAGE_CUBIN, .most = SIZE_MAX};
        struct rex_table made = {.count = 0};
        describe_kernels(&view, entries, 40, kinds);
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        CHECK_EQUAL(rex_table_match(&made, 0, 40, &view, "an.image", NULL), REX_OK);
        rex_view_close(&view);
        uint16_t held = 0;
        for (const struct rex_signature *one = made.signatures; one != NULL; one = one->older)
            held++;
        CHECK_EQUAL(held, kinds <= 16 ? kinds : 40);
        for (uint16_t i = 0; i < 40; i++)
            CHECK_EQUAL(made.signature[i]->count, i % kinds);
        rex_table_free(&made);
    }
}

/* A signature is kept without what is the runtime's; matched again, another takes its place. */
TEST_IN_CHILD(keeps_signatures)
{
    struct __tgt_offload_entry entry = {&keys[0], NAME("k__kernel__"), 0, 0, 0};
    const struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};
    struct rex_table made = {.count = 0};
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    for (uint16_t count = 1; count <= 4; count++) {
        struct rex_view view = {.kind = REX_IMAGE_CUBIN, .most = SIZE_MAX};
        struct rex_image_symbol kernel = {.name = "k__kernel__",
                                          .kernel = true,
                                          .signature = true,
                                          .parameters = count,
                                          .env = count != 3};
        uint32_t unused;
        CHECK_EQUAL(rex_view_add_parameters(&view, 5, &unused), 0);
        CHECK_EQUAL(rex_view_add_parameters(&view, count, &kernel.first), 0);
        for (uint32_t i = 0; i < view.parameter_count; i++)
            view.parameters[i].size = (uint16_t)(100 + i);
        CHECK_EQUAL(rex_view_add(&view, &kernel), 0);
        CHECK_EQUAL(rex_view_index(&view), 0);
        CHECK_EQUAL(rex_table_match(&made, 0, 1, &view, "an.image", NULL), REX_OK);
        rex_view_close(&view);
        CHECK_EQUAL(made.signature[0]->count, count - kernel.env);
        for (uint32_t i = 0; i < made.signature[0]->count; i++)
            CHECK_EQUAL(made.signature[0]->parameter[i].size, 105 + kernel.env + i);
    }
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    CHECK(made.signature[0] == NULL);
    rex_table_free(&made);
}

/* Nothing is left of an image, or of launches, where entries are registered again; other entries in
 * their place are found. */
TEST_IN_CHILD(begins_anew)
{
    struct __tgt_offload_entry first[] = {{&keys[0], NAME("a"), 0, 0, 0},
                                          {&keys[1], NAME("b"), 0, 0, 0}},
                               second[] = {{&keys[2], NAME("c"), 0, 0, 0},
                                           {&keys[3], NAME("d"), 0, 0, 0}};
    struct rex_table made = {.count = 0};
    for (int round = 0; round < 4; round++) {
        struct __tgt_offload_entry *entries = round < 2 ? first : second;
        struct rex_module module = {
            .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        for (int64_t i = 0; i < 2; i++) {
            CHECK_EQUAL(rex_table_find(&made, entries[i].addr), i);
            CHECK_EQUAL(rex_table_find(&made, round < 2 ? second[i].addr : first[i].addr), -1);
            CHECK_EQUAL(made.facts[i], 0);
            CHECK(made.launched[i].key == NULL && made.misfit[i].index == 0 &&
                  made.misfit[i].size == 0);
            struct rex_kernel_facts none = {.parameters = 0};
            CHECK(rex_table_change_facts(&made, i, &none,
                                         (struct rex_kernel_facts){.parameters = 1, .checked = 2}));
            made.misfit[i] = (struct rex_misfit){3, 4};
            for (uint32_t twice = 0; twice < 2; twice++) {
                const struct rex_launched *launched = rex_table_launched(&made, i, 2 + twice,
                                                                         7 + twice);
                CHECK(launched == &made.launched[i] && launched->key == entries[i].addr);
                CHECK(launched->version == 2 && launched->rows == 7);
            }
        }
        entries[0].name = round < 3 ? entries[0].name : NULL;
        CHECK_EQUAL(rex_table_build(&made, &module), round < 3 ? REX_OK : REX_EENTRIES);
    }
    rex_table_free(&made);
}

/* However many keys there are, each is found, and no other. */
TEST_IN_CHILD(all_keys)
{
    static char many[200];
    static struct __tgt_offload_entry entries[COUNT(many)];
    struct rex_table made = {.count = 0};
    for (size_t i = 0; i < COUNT(many); i++)
        entries[i] = (struct __tgt_offload_entry){&many[i], NAME("a"), 0, 0, 0};
    for (size_t count = 1; count <= COUNT(many); count++) {
        struct rex_module module = {
            .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + count};
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        for (size_t i = 0; i < COUNT(many); i++)
            CHECK_EQUAL(rex_table_find(&made, &many[i]), i < count ? (int64_t)i : -1);
    }
    rex_table_free(&made);
}

/* ---- images of two kinds --------------------------------------------------------------------- */

static struct __tgt_offload_entry gpu_entry[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
static struct __tgt_offload_entry host_entry[] = {{&keys[1], NAME("plain__kernel__"), 0, 0, 0}};
static struct rex_module on_gpu = {.struct_size = sizeof on_gpu,
                                   .entries_begin = gpu_entry,
                                   .entries_end = gpu_entry + 1,
                                   .image_name = SM_90};
static struct rex_module on_cpu = {.struct_size = sizeof on_cpu,
                                   .entries_begin = host_entry,
                                   .entries_end = host_entry + 1,
                                   .image_name = FAKE("host.so")};

/* Either the one or the other, in either order, and each when the other is gone. */
TEST_ON_FAKES(one_kind, 14, 15, 16, 17, 19, 20, 21, 22)
{
    struct rex_module *modules[2] = {&on_gpu, &on_cpu};
    use_gpu(90);
    use_release(release);
    for (int i = 0; i < 4; i++) {
        struct rex_module *first = modules[i % 2], *second = modules[1 - i % 2];
        CHECK_EQUAL(rex_module_register(first, NULL), 0);
        uint32_t before = the_record()->counts[FAKE_REGISTER];
        CHECK_EQUAL(rex_module_register(second, NULL), REX_EUNSUPPORTED);
        if (release == 22)
            refuses(REX_EUNSUPPORTED, "%s beside %s", second->image_name, first->image_name);
        CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], before);
        CHECK(strcmp(rex_module_image_path(second), "") == 0);
        CHECK_EQUAL(rex_module_init(first), 0); /* and a device is used */
        CHECK_EQUAL(rex_module_fini(first), 0);
    }
    /* Where no device is used there is nothing to agree on. */
    setenv("OMP_TARGET_OFFLOAD", "disabled", 1);
    CHECK_EQUAL(rex_module_register(&on_gpu, NULL), 0);
    CHECK_EQUAL(rex_module_register(&on_cpu, NULL), 0);
}

/* LLVM 14 and 15 find a kernel by its row in the host image: each order of the program's rows
 * becomes the image's. */
TEST_ON_FAKES(rows_of_the_image, 14, 15)
{
    struct __tgt_offload_entry entries[] = {{&keys[2], NAME("none__kernel__"), 0, 0, 0},
                                            {&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                            {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    use_gpu(0);
    use_release(release);
    for (size_t count = 1; count <= COUNT(entries); count++)
        for (size_t first = 0; first + count <= COUNT(entries); first++) {
            static struct rex_module modules[6], *module = modules;
            *module = (struct rex_module){.struct_size = sizeof *module,
                                          .entries_begin = &entries[first],
                                          .entries_end = &entries[first + count],
                                          .image_name = FAKE("host.so")};
            CHECK_EQUAL(rex_module_register(module, NULL), 0);
            const struct fake_call *call = newest_call(FAKE_REGISTER);
            size_t named = 0;
            for (size_t i = 0; i < call->entry_count; i++) {
                const struct __tgt_offload_entry *of = NULL;
                for (size_t j = first; j < first + count; j++)
                    of = strcmp(entries[j].name, call->entries[i].name) == 0 ? &entries[j] : of;
                named += of != NULL;
                CHECK(of != NULL ? call->entries[i].address == of->addr
                                 : call->entries[i].address == (const void *)&call->entries[i]);
            }
            CHECK_EQUAL(named, count);
            CHECK_EQUAL(call->entry_count, 4);
            CHECK_EQUAL(rex_module_fini(module++), 0);
        }
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
                                         .image_name = FAKE("host.so")};
        REFUSED(rex_module_register(&modules[i], NULL));
        CHECK_EQUAL(the_record()->registered, 0);
    }
}

/* The names that libomptarget gets are the image's functions where the host device calls those; the
 * program's own table stays. */
TEST_ON_FAKES(names_of_calls, 16, 18, 22, 23, 24)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                   {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    static struct rex_module module = {.struct_size = sizeof module,
                                       .entries_begin = entries,
                                       .entries_end = entries + 2,
                                       .image_name = FAKE("host.so")};
    bool calls = rex_release_row(release)->host.version != 0;
    const struct fake_entry *before = NULL;
    use_gpu(0);
    use_release(release);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        const struct fake_call *call = newest_call(FAKE_REGISTER);
        CHECK_EQUAL(call->entry_count, 2);
        CHECK(call->images[0].begin == call->entries && call->images[0].stop == call->entries + 2);
        CHECK(strcmp(call->entries[0].name,
                     calls ? "rex_call_plain__kernel__" : "plain__kernel__") == 0);
        CHECK(strcmp(call->entries[1].name, calls ? "rex_call_env__kernel__" : "env__kernel__") ==
              0);
        CHECK(call->entries[0].address == &keys[0] && call->entries[1].address == &keys[1]);
        /* A table is given once; LLVM 18 gets nothing the second time. */
        CHECK_EQUAL((const void *)call->entries == (const void *)entries, !calls && i == 0);
        CHECK(call->entries != before || release == 18);
        before = call->entries;
        CHECK(strcmp(entries[0].name, "plain__kernel__") == 0);
        CHECK_EQUAL(rex_module_fini(&module), 0);
    }
}
