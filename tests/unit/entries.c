/*
 * entries.c - tables of entries that cannot be registered, each with one error that names the entry. libomptarget never
 * hears of them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex_kmp.h"
#include "base/error.h"
#include "image/view.h"
#include "module/modules.h"
#include "module/tablematch.h"
#include "rex/launch.h"

#define SM_90 "tests/data/sm_90.cubin"
#define NAME(text) ((char *)(uintptr_t)(text))

static char keys[40];
static double table[4];

/* Register ENTRIES, COUNT of them, as a module of its own. */
static int registered(struct rex_module *module, struct __tgt_offload_entry *entries, size_t count)
{
    *module = (struct rex_module){
        .struct_size = sizeof *module, .entries_begin = entries, .entries_end = entries + count, .image_name = SM_90};
    return rex_module_register(module, NULL);
}

static void refused(struct __tgt_offload_entry *entries, size_t count, int error, const char *part)
{
    static struct rex_module modules[32];
    static size_t used;
    struct rex_module *module = &modules[used++];
    CHECK(used < COUNT(modules));
    CHECK_EQUAL(registered(module, entries, count), error);
    CHECK_EQUAL(rex_last_error_code(), error);
    CHECK_MENTIONS(rex_last_error(), part);
    CHECK_EQUAL(the_record()->count, 0);
    /* Still refused, and not half registered. */
    CHECK_EQUAL(rex_module_register(module, NULL), error);
    CHECK_EQUAL(rex_module_fini(module), 0);
    CHECK(strcmp(rex_module_image_path(module), "") == 0);
}

static void bind(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LAUNCH_BY, "runtime"), 0);
    CHECK_EQUAL(rex_runtime_bind(), 0);
}

static void ends_nowhere(struct __tgt_offload_entry *entries)
{
    static struct rex_module module = {.struct_size = sizeof module, .image_name = SM_90};
    module.entries_begin = entries;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EENTRIES);
    CHECK_MENTIONS(rex_last_error(), "is empty");
    module.entries_begin = NULL;
    module.entries_end = entries;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EENTRIES);
    CHECK_MENTIONS(rex_last_error(), "is empty");
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
    CHECK_EQUAL(rex_module_data_enter(&kernelless, 0, &map), REX_EENTRIES);
    CHECK_MENTIONS(rex_last_error(), "data begin: the table of offload entries is empty in each binary that librex knows");
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
    CHECK_EQUAL(rex_module_launch(&kernelless, 0, 1, 1, &keys[0], NULL), REX_EENTRIES);
    CHECK_EQUAL(rex_last_error_code(), REX_EENTRIES);
}

TEST_IN_CHILD(bad_tables)
{
    struct __tgt_offload_entry entries[3] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                             {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    bind();
    refused(entries, 0, REX_EENTRIES, "the table of offload entries is empty");
    CHECK_MENTIONS(rex_last_error(), "no entry was compiled into this binary");
    CHECK_MENTIONS(rex_last_error(), "-z,nostart-stop-gc");
    CHECK_MENTIONS(rex_last_error(), "gcc -flto dropped entries without __attribute__((used)) (add it, or link with -rdynamic)");
    refused(NULL, 0, REX_EENTRIES, "is empty");
    ends_nowhere(entries);
    entries[0].addr = NULL; /* 20 and later would take the table for one of another layout */
    refused(entries, 2, REX_EENTRIES, "offload entry 0 (\"plain__kernel__\") has no host key");
    entries[0].addr = &keys[0];
    entries[1].addr = NULL;
    refused(entries, 2, REX_EENTRIES, "offload entry 1 (\"env__kernel__\") has no host key");
    entries[1].addr = &keys[0];
    refused(entries, 2, REX_EKEY, "0 (\"plain__kernel__\") and 1 (\"env__kernel__\") have the same host key");
    entries[1].addr = &keys[1];
    entries[1].name = NULL;
    refused(entries, 2, REX_EENTRIES, "offload entry 1 has no name");
    entries[1].name = NAME("");
    refused(entries, 2, REX_EENTRIES, "offload entry 1 has no name");
    entries[1].name = NAME("evn__kernel__");
    refused(entries, 2, REX_ENOKERNEL, "no kernel \"evn__kernel__\"; the nearest name in it is \"env__kernel__\"");
    CHECK_MENTIONS(rex_last_error(), SM_90);
    entries[1].name = NAME("nothing_like_it");
    refused(entries, 2, REX_ENOKERNEL, "no kernel \"nothing_like_it\"; it has \"wide__kernel__\", "
            "\"narrow_first__kernel__\", \"narrow__kernel__\", \"none__kernel__\" and 2 more");
    entries[1].name = NAME("table");
    refused(entries, 2, REX_ENOKERNEL, "no kernel \"table\"");
    entries[1] = (struct __tgt_offload_entry){table, NAME("table"), sizeof table - 8, 0, 0};
    refused(entries, 2, REX_ENOKERNEL, "global \"table\" has 24 bytes in the program and 32 in device image");
    entries[1] = (struct __tgt_offload_entry){table, NAME("tabel"), sizeof table, 0, 0};
    refused(entries, 2, REX_ENOKERNEL, "no global \"tabel\"; the nearest name in it is \"table\"");
    /* And the same table without a fault is taken. */
    static struct rex_module good;
    entries[1].name = NAME("table");
    CHECK_EQUAL(registered(&good, entries, 2), 0);
    CHECK_EQUAL(rex_last_error_code(), REX_ENOKERNEL); /* of before: success changes nothing */
    struct __tgt_kernel_arguments packet = {.Version = 3};
    CHECK_EQUAL(rex_module_launch(&good, 0, 1, 1, table, &packet), REX_EKEY);
    CHECK_MENTIONS(rex_last_error(), "that of global \"table\", not of a kernel");
    char said[128];
    snprintf(said, sizeof said, "host key %p (getenv) is in no registered table of offload entries", (void *)(uintptr_t)getenv);
    CHECK_EQUAL(rex_module_launch(&good, 0, 1, 1, (void *)(uintptr_t)getenv, &packet), REX_EKEY);
    CHECK_MENTIONS(rex_last_error(), said);
    snprintf(said, sizeof said, "host key %p is in no registered table of offload entries", (void *)said);
    CHECK_EQUAL(rex_module_launch(&good, 0, 1, 1, said, &packet), REX_EKEY);
    CHECK_MENTIONS(rex_last_error(), said);
    CHECK_EQUAL(rex_module_launch(&good, 99, 1, 1, entries[0].addr, &packet), REX_EDEVICE);
    CHECK_EQUAL(rex_last_error_code(), REX_EDEVICE);
}

/* A launch of a module that is not registered says why, whichever way it comes. */
TEST_IN_CHILD(launch_unregistered)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("evn__kernel__"), 0, 0, 0}};
    static struct rex_module unusable;
    struct __tgt_kernel_arguments packet = {.Version = 3};
    struct rex_launch_config launch = rex_launch_config_of(&keys[0], 1, 1);
    bind();
    CHECK_EQUAL(registered(&unusable, entries, 1), REX_ENOKERNEL);
    CHECK_EQUAL(rex_module_launch_map(&unusable, &launch, NULL), REX_ENOKERNEL);
    CHECK_MENTIONS(rex_last_error(), "no kernel \"evn__kernel__\"");
    rex_fail_again(REX_OK, "");
    CHECK_EQUAL(rex_module_launch(&unusable, 0, 1, 1, &keys[0], &packet), REX_ENOKERNEL);
    CHECK_EQUAL(rex_last_error_code(), REX_ENOKERNEL);
    CHECK_EQUAL(rex_module_launch_map(&unusable, NULL, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "rex_launch: the launch is NULL");
    CHECK_EQUAL(rex_module_launch_map(NULL, &launch, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "the module is NULL");
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
    char said[128];
    bind();
    for (size_t i = 0; i < COUNT(bounds); i++) {
        void *from = begin + bounds[i].begin, *to = begin + bounds[i].end;
        modules[i] = (struct rex_module){.struct_size = sizeof modules[i], .image_name = SM_90};
        memcpy(&modules[i].entries_begin, &from, sizeof from);
        memcpy(&modules[i].entries_end, &to, sizeof to);
        CHECK_EQUAL(rex_module_register(&modules[i], NULL), REX_EENTRIES);
        if (i < 3)
            snprintf(said, sizeof said, "the table of offload entries, %p to %p, is no array of entries of 32 bytes", from, to);
        else
            snprintf(said, sizeof said, "the table has 1073741824 entries, more than librex can index");
        CHECK(strcmp(rex_last_error(), said) == 0);
    }
    modules[3].entries_begin = NULL; /* there is no memory that could be looked through */
    /* They stay known; looking for a key does not run past their ends. */
    CHECK(rex_modules_find(&keys[3]) == NULL);
}

TEST_IN_CHILD(bad_modules)
{
    static struct rex_module module = {.struct_size = 8};
    bind();
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(rex_module_init(NULL), REX_EINVAL);
    CHECK_EQUAL(rex_module_fini(NULL), REX_EINVAL);
    CHECK_EQUAL(rex_module_add(NULL), REX_EINVAL);
    CHECK(rex_module_register(NULL, NULL) != 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "struct_size is 8");
    CHECK_EQUAL(rex_module_on_host(NULL), 0);
    CHECK(strcmp(rex_module_image_path(NULL), "") == 0);
}

/* Two binaries that define one key: a launch could not tell which kernel is meant. */
TEST_IN_CHILD(one_key_twice)
{
    static struct rex_module first, second;
    static struct __tgt_offload_entry one[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                               {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    static struct __tgt_offload_entry other[] = {{&keys[1], NAME("none__kernel__"), 0, 0, 0}};
    bind();
    CHECK_EQUAL(registered(&first, one, 2), 0);
    CHECK_EQUAL(registered(&second, other, 1), REX_EKEY);
    CHECK_MENTIONS(rex_last_error(), "\"env__kernel__\"");
    CHECK_MENTIONS(rex_last_error(), "\"none__kernel__\"");
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
    /* The key is free again when the first is gone. */
    CHECK_EQUAL(rex_module_fini(&first), 0);
    CHECK_EQUAL(rex_module_register(&second, NULL), 0);
    CHECK_EQUAL(rex_module_register(&first, NULL), REX_EKEY);
}

/* The image's bytes from memory, which librex copies. */
TEST_IN_CHILD(image_in_memory)
{
    static struct rex_module module;
    static struct __tgt_offload_entry one[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
    size_t size;
    unsigned char *bytes = read_bytes(SM_90, &size);
    bind();
    module =
        (struct rex_module){.struct_size = sizeof module, .entries_begin = one, .entries_end = one + 1, .image = bytes};
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EIMAGE);
    CHECK_MENTIONS(rex_last_error(), "in memory is empty");
    module.image_size = size - 64;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_EIMAGE);
    CHECK_MENTIONS(rex_last_error(), "device image memory cannot be used: it is truncated");
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

/* REX_CHECK=off: the registration looks at no entry; the first launch of a kernel does, and says what the registration would have said. */
static void checked_late(const void *context)
{
    static struct rex_module module;
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                   {&keys[1], NAME("evn__kernel__"), 0, 0, 0},
                                                   {table, NAME("table"), sizeof table, 0, 0},
                                                   {&keys[2], NAME("narrow__kernel__"), 0, 0, 0},
                                                   {&keys[3], NAME("env__kernel__"), 0, 0, 0}};
    void *base[3] = {0};
    int64_t sizes[3] = {8, 8, 8}, types[3] = {0x120, 0x120, 0x120};
    struct __tgt_kernel_arguments packet = {.NumArgs = 2, .ArgsBase = base, .Args = base, .ArgSizes = sizes, .ArgTypes = types};
    (void)context;
    bind();
    CHECK_EQUAL(registered(&module, entries, 5), REX_ENOKERNEL);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "sometimes"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "OFF"), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[1], &packet), REX_ENOKERNEL);
        CHECK_MENTIONS(rex_last_error(),
                       "device image " SM_90 " has no kernel \"evn__kernel__\"; the nearest name in it is \"env__kernel__\"");
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, table, &packet), REX_EKEY);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[0], &packet), 0);
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, 2);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[3], &packet), 0);
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, 3);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[3], &(struct __tgt_kernel_arguments){.NumArgs = 0}),
                    REX_EPARAMS);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[3], &packet), 0);
        CHECK_EQUAL(rex_module_launch(&module, 0, 1, 2048, &keys[0], &packet), REX_EINVAL);
        for (int twice = 0; twice < 2; twice++) {
            CHECK_EQUAL(rex_module_launch(&module, 0, 1, 1, &keys[2], &packet), REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(), "bytes wide");
        }
        /* Registered again. */
        CHECK_EQUAL(rex_module_fini(&module), 0);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    }
    CHECK_EQUAL(rex_module_fini(&module), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "on"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ENOKERNEL);
}

/* ---- marks ----------------------------------------------------------------------------------------------------------- */

static void launch_rows(struct rex_module *module, void *key, uint32_t rows, int result)
{
    void *base[4] = {0};
    int64_t sizes[4] = {8, 8, 8, 8}, types[4] = {0x120, 0x120, 0x120, 0x120};
    struct __tgt_kernel_arguments packet = {.NumArgs = (int32_t)rows, .ArgsBase = base, .Args = base, .ArgSizes = sizes, .ArgTypes = types};
    CHECK_EQUAL(rex_module_launch(module, 0, 1, 1, key, &packet), result);
    if (result == 0)
        CHECK_EQUAL(last_call(FAKE_KERNEL)->packet.version, key == &keys[0] ? 2 : 3);
}

/* A marked kernel takes its own number of rows alone; without a mark, one row too few for a plain kernel looks like an env one's. */
TEST_OF_EACH(marked_kernels, const char *, file, "tests/data/marked_sm_90.cubin", "tests/data/marked_rdc_sm_90.cubin", SM_90)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0},
                                                   {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
    bool marked = strstr(file, "marked") != NULL;
    bind();
    module.image_name = file;
    for (int late = 0; late < 2; late++) {
        CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, late ? "off" : "on"), 0);
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        if (marked) {
            launch_rows(&module, &keys[0], 1, REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(),
                           "kernel \"plain__kernel__\" has 2 parameters, none of them the runtime's, and the launch 1 rows");
            launch_rows(&module, &keys[0], 2, 0);
            launch_rows(&module, &keys[1], 3, REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(),
                           "kernel \"env__kernel__\" has 3 parameters, the first of them the runtime's, and the launch 3 rows");
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

/* ---- entries against an image -------------------------------------------------------------------------------------------------------- */

/* What an image may say of a kernel, with its name and what it is to be; and what librex makes of that for a release. */
struct match {
    const char *what;
    struct rex_image_symbol kernel;
    int release; /* 0: none is to launch it */
    enum rex_image_kind kind;
    struct rex_kernel_facts facts;
    struct rex_misfit misfit;
    uint64_t most_threads;
    int result;
    const char *said; /* of an error, the whole message; else a line of the log; NULL: nothing */
};

#define UNKNOWN REX_PARAMETERS_UNKNOWN
#define MATCHED REX_FACT_MATCHED
#define MANAGED (REX_FACT_MATCHED | REX_FACT_MANAGED)
#define FIRST (REX_FACT_MATCHED | REX_FACT_NARROW_FIRST)
#define CALLED (REX_FACT_MATCHED | REX_FACT_CALLED)
#define ON_GPU(...) {.kernel = true, __VA_ARGS__}
#define WIDE(number, bytes, release)                                                                                              \
    "librex: info: kernel \"k__kernel__\" in an.image: parameter " number " is " bytes " bytes wide: only the CUDA driver can launch it, not LLVM " \
    release "\n"
#define ENVIRONMENT(bytes, release, wanted)                                                                                               \
    "kernel \"k__kernel__\" in an.image: its symbol k__kernel___kernel_environment is " bytes " bytes, and LLVM " release " aborts unless " \
    "it is " wanted
#define GENERIC(release) "librex: info: kernel \"k__kernel__\" in an.image: its environment is generic: LLVM " release " adds 32 threads to each block\n"

static const struct match matches[] = {
    {"plain", ON_GPU(.parameters = 3, .plain = true), 19, REX_IMAGE_CUBIN, {3, REX_FORM_PLAIN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"env", ON_GPU(.parameters = 3, .env = true), 19, REX_IMAGE_CUBIN, {3, REX_FORM_ENV, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"neither", ON_GPU(.parameters = 3), 19, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"both", ON_GPU(.parameters = 3, .env = true, .plain = true), 19, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"not told", ON_GPU(.parameters = UNKNOWN), 19, REX_IMAGE_HOST, {UNKNOWN, REX_FORM_PLAIN, MATCHED, 0}, {0, 0}, INT32_MAX, 0, NULL},
    {"not told, env", ON_GPU(.parameters = UNKNOWN, .env = true), 22, REX_IMAGE_HOST, {UNKNOWN, REX_FORM_ENV, MATCHED, 0}, {0, 0}, INT32_MAX, 0,
     NULL},
    {"no release", ON_GPU(.parameters = 3, .odd_size = 16, .environment_size = 1), 0, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, FIRST, 0}, {0, 0},
     1024, 0, NULL},
    /* widths */
    {"narrow", ON_GPU(.parameters = 3, .odd_size = 4), 19, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, FIRST, 0}, {0, 4}, 1024, 0, WIDE("0", "4", "19")},
    {"in slots", ON_GPU(.parameters = 3, .odd_size = 4, .odd_index = 1), 23, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0,
     NULL},
    {"a wide one", ON_GPU(.parameters = 3, .odd_size = 9, .odd_index = 2), 23, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {2, 9}, 1024, 0,
     WIDE("2", "9", "23")},
    {"as wide as usual", ON_GPU(.parameters = 3, .odd_size = 8, .odd_index = 2), 23, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024,
     0, NULL},
    {"the widest", ON_GPU(.parameters = 3, .odd_size = 65536, .odd_index = 1), 17, REX_IMAGE_CUBIN, {3, REX_FORM_UNKNOWN, MATCHED, 0}, {1, 65535},
     1024, 0, WIDE("1", "65536", "17")},
    /* threads of a block */
    {"bounded", ON_GPU(.max_threads = 96), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 96, 0, NULL},
    {"wide bounds", ON_GPU(.max_threads = 2000), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"few registers", ON_GPU(.registers = 40), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"64 registers", ON_GPU(.registers = 64), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"65 registers", ON_GPU(.registers = 65), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 896, 0, NULL},
    {"73 registers", ON_GPU(.registers = 73), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 768, 0, NULL},
    {"most registers", ON_GPU(.registers = 255), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 256, 0, NULL},
    {"more than there are", ON_GPU(.registers = 256), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"both limits", ON_GPU(.registers = 128, .max_threads = 513), 19, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 512, 0, NULL},
    {"on the host", ON_GPU(.registers = 128, .max_threads = 513), 22, REX_IMAGE_HOST, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, INT32_MAX, 0, NULL},
    /* clang's kernels */
    {"not looked at", ON_GPU(.environment_size = 7, .environment_mode = 1), 17, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0,
     NULL},
    {"generic", ON_GPU(.environment_size = 48, .environment_mode = 3), 22, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MANAGED, 0}, {0, 0}, 1024, 0,
     GENERIC("22")},
    {"not generic", ON_GPU(.environment_size = 48, .environment_mode = 2), 22, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MANAGED, 0}, {0, 0}, 1024, 0,
     NULL},
    {"exact", ON_GPU(.environment_size = 40, .environment_mode = 1), 23, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MANAGED, 0}, {0, 0}, 1024, 0, NULL},
    {"another size", ON_GPU(.environment_size = 41), 24, REX_IMAGE_CUBIN, {0, 0, 0, 0}, {0, 0}, 0, REX_EIMAGE, ENVIRONMENT("41", "24", "40")},
    {"another's size", ON_GPU(.environment_size = 40), 18, REX_IMAGE_CUBIN, {0, 0, 0, 0}, {0, 0}, 0, REX_EIMAGE, ENVIRONMENT("40", "18", "48")},
    /* calls of the host device */
    {"called", ON_GPU(.call = "rex_call_k"), 23, REX_IMAGE_HOST, {0, REX_FORM_UNKNOWN, CALLED, 0}, {0, 0}, INT32_MAX, 0, NULL},
    {"not called there", ON_GPU(.call = "rex_call_k"), 22, REX_IMAGE_HOST, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, INT32_MAX, 0, NULL},
    {"not called on a GPU", ON_GPU(.call = "rex_call_k"), 23, REX_IMAGE_CUBIN, {0, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, 1024, 0, NULL},
    {"by hand", ON_GPU(.parameters = 1), 18, REX_IMAGE_HOST, {1, REX_FORM_UNKNOWN, MATCHED, 0}, {0, 0}, INT32_MAX, 0, NULL},
    {"one array", ON_GPU(.parameters = 1), 24, REX_IMAGE_HOST, {0, 0, 0, 0}, {0, 0}, 0, REX_EUNSUPPORTED,
     "device image an.image: the host device of LLVM 24 calls kernels with one array of arguments, which kernel \"k__kernel__\" does not take: "
     "write it with REX_DEVICE_KERNEL (rex/kernel.h)"},
    {"no kernel", {.kernel = false}, 22, REX_IMAGE_CUBIN, {0, 0, 0, 0}, {0, 0}, 0, REX_ENOKERNEL,
     "device image an.image has no kernel \"k__kernel__\"; it has none"},
};

/* It is the second of two entries, behind a global that is not matched. */
static void matched(const void *context)
{
    const struct match *match = context;
    struct __tgt_offload_entry entries[] = {{&keys[0], NAME("absent"), 8, 0, 0}, {&keys[1], NAME("k__kernel__"), 0, 0, 0}};
    const struct rex_module module = {.struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
    struct rex_view view = {.kind = match->kind, .architecture = 90, .most = SIZE_MAX};
    struct rex_image_symbol kernel = match->kernel;
    struct rex_table made = {.count = 0};
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    kernel.name = "k__kernel__";
    kernel.shared_memory = 1024 + 40;
    CHECK_EQUAL(rex_view_add(&view, &kernel), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    CHECK_EQUAL(rex_table_match(&made, 1, 1, &view, "an.image", match->release == 0 ? NULL : rex_release_row(match->release)), match->result);
    const struct rex_kernel_facts facts = rex_table_facts(&made, 1);
    CHECK_EQUAL(facts.parameters, match->facts.parameters);
    CHECK_EQUAL(facts.form, match->facts.form);
    CHECK_EQUAL(facts.flags, match->facts.flags);
    CHECK_EQUAL(facts.checked, 0);
    CHECK_EQUAL(rex_table_facts(&made, 0).flags, 0);
    CHECK_EQUAL(made.launched[1].most_threads, match->most_threads);
    CHECK_EQUAL(made.launched[1].shared_memory, match->result == REX_OK ? 40 : 0);
    CHECK_EQUAL(made.misfit[1].index, match->misfit.index);
    CHECK_EQUAL(made.misfit[1].size, match->misfit.size);
    CHECK(match->result == REX_OK || strcmp(rex_last_error(), match->said) == 0);
    rex_table_free(&made);
    rex_view_close(&view);
}

TEST(test_matches)
{
    for (size_t i = 0; i < COUNT(matches); i++) {
        struct child child = run_child(matched, &matches[i]);
        if (child.status != 0)
            fail_msg("%s: %d\n%s", matches[i].what, child.status, child.output);
        if (matches[i].result == REX_OK && strcmp(child.output, matches[i].said != NULL ? matches[i].said : "") != 0)
            fail_msg("%s says %s", matches[i].what, child.output);
    }
}

/* What rex/kernel.h has made, of which an image has a table; and without functions by which a later host device calls it. */
TEST_ON_FAKES(of_an_older_header, 18, 23, 24)
{
    struct __tgt_offload_entry entry = {&keys[0], NAME("k__kernel__"), 0, 0, 0};
    const struct rex_module module = {.struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};
    const char *positions[] = {"other__kernel__", "k__kernel__"};
    struct rex_view view = {.kind = REX_IMAGE_HOST, .most = SIZE_MAX, .positions = positions};
    struct rex_table made = {.count = 0};
    char said[256];
    CHECK_EQUAL(rex_view_add(&view, &(struct rex_image_symbol){.name = "k__kernel__", .kernel = true}), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    for (view.position_count = 1; view.position_count <= 2; view.position_count++) {
        bool is_own = view.position_count == 2;
        CHECK_EQUAL(rex_table_match(&made, 0, 1, &view, "an.image", rex_release_row(release)), is_own || release > 18 ? REX_EUNSUPPORTED : REX_OK);
        snprintf(said, sizeof said,
                 "device image an.image: kernel \"k__kernel__\" has no function by which the host device of LLVM %d calls it: the image was "
                 "compiled with an older rex/kernel.h; compile it again",
                 release);
        CHECK_EQUAL(strcmp(rex_last_error(), said) == 0, is_own);
    }
    view.positions = NULL; /* of this function */
    rex_table_free(&made);
    rex_view_close(&view);
}

/* COUNT kernels of 0, 1, 2 ... parameters, in turn. */
static void describe_kernels(struct rex_view *view, struct __tgt_offload_entry *entries, uint16_t count, uint16_t kinds)
{
    static char names[40][16];
    for (uint16_t i = 0; i < count; i++) {
        uint16_t parameters = i % kinds;
        struct rex_image_symbol kernel = {.name = names[i], .kernel = true, .signature = true, .plain = true, .parameters = parameters};
        snprintf(names[i], sizeof names[i], "k%02u__kernel__", (unsigned)i);
        entries[i] = (struct __tgt_offload_entry){&keys[i], names[i], 0, 0, 0};
        CHECK_EQUAL(rex_view_add_parameters(view, parameters, &kernel.first), 0);
        CHECK_EQUAL(rex_view_add(view, &kernel), 0);
    }
    CHECK_EQUAL(rex_view_index(view), 0);
}

/* Kernels of the same parameters share a signature, as long as no more than 16 of them take turns. */
TEST_IN_CHILD(shares_signatures)
{
    struct __tgt_offload_entry entries[40];
    struct rex_module module = {.struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 40};
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
    const struct rex_module module = {.struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};
    struct rex_table made = {.count = 0};
    CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
    for (uint16_t count = 1; count <= 4; count++) {
        struct rex_view view = {.kind = REX_IMAGE_CUBIN, .most = SIZE_MAX};
        struct rex_image_symbol kernel = {.name = "k__kernel__", .kernel = true, .signature = true, .parameters = count, .env = count != 3};
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

/* Nothing is left of an image, or of launches, where entries are registered again; other entries in their place are found. */
TEST_IN_CHILD(begins_anew)
{
    struct __tgt_offload_entry first[] = {{&keys[0], NAME("a"), 0, 0, 0}, {&keys[1], NAME("b"), 0, 0, 0}},
                               second[] = {{&keys[2], NAME("c"), 0, 0, 0}, {&keys[3], NAME("d"), 0, 0, 0}};
    struct rex_table made = {.count = 0};
    for (int round = 0; round < 4; round++) {
        struct __tgt_offload_entry *entries = round < 2 ? first : second;
        struct rex_module module = {.struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2};
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        CHECK_EQUAL(made.mask, 3);
        for (int64_t i = 0; i < 2; i++) {
            CHECK_EQUAL(rex_table_find(&made, entries[i].addr), i);
            CHECK_EQUAL(rex_table_find(&made, round < 2 ? second[i].addr : first[i].addr), -1);
            CHECK_EQUAL(made.facts[i], 0);
            CHECK(made.launched[i].key == NULL && made.misfit[i].index == 0 && made.misfit[i].size == 0);
            struct rex_kernel_facts none = {.parameters = 0};
            CHECK(rex_table_change_facts(&made, i, &none, (struct rex_kernel_facts){.parameters = 1, .checked = 2}));
            made.misfit[i] = (struct rex_misfit){3, 4};
            for (uint32_t twice = 0; twice < 2; twice++) {
                const struct rex_launched *launched = rex_table_launched(&made, i, 2 + twice, 7 + twice);
                CHECK(launched == &made.launched[i] && launched->key == entries[i].addr);
                CHECK(launched->version == 2 && launched->rows == 7);
            }
        }
        entries[0].name = round < 3 ? entries[0].name : NULL;
        CHECK_EQUAL(rex_table_build(&made, &module), round < 3 ? REX_OK : REX_EENTRIES);
    }
    rex_table_free(&made);
}

/* There is room for half as many keys again, and the slots' number is a power of 2. */
TEST_IN_CHILD(room_for_keys)
{
    static const struct {
        size_t count;
        uint32_t mask;
    } cases[] = {{1, 3}, {2, 3}, {4, 7}, {5, 7}, {6, 15}, {11, 15}, {12, 31}, {171, 255}, {172, 511}};
    static char many[200];
    static struct __tgt_offload_entry entries[COUNT(many)];
    struct rex_table made = {.count = 0};
    for (size_t i = 0; i < COUNT(many); i++)
        entries[i] = (struct __tgt_offload_entry){&many[i], NAME("a"), 0, 0, 0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_module module = {.struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + cases[i].count};
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        CHECK_EQUAL(made.mask, cases[i].mask);
        for (size_t j = 0; j < COUNT(many); j++)
            CHECK_EQUAL(rex_table_find(&made, &many[j]), j < cases[i].count ? (int64_t)j : -1);
    }
    rex_table_free(&made);
}

/* A link's symbol in the image has another name. */
TEST_IN_CHILD(globals)
{
    static const struct {
        const char *name;
        size_t size;
        int flags, result;
        const char *said;
    } cases[] = {
        {"cells", 24, 0, REX_OK, ""},
        {"cells", 32, 0, REX_ENOKERNEL, "global \"cells\" has 32 bytes in the program and 24 in device image an.image"},
        {"cells", 32, 1, REX_OK, ""},
        {"absent", 8, 1, REX_OK, ""},
        {"absent", 8, 2, REX_ENOKERNEL, "device image an.image has no global \"absent\"; it has \"cells\""},
        {"k__kernel__", 8, 0, REX_ENOKERNEL, "device image an.image has no global \"k__kernel__\"; it has \"cells\""},
    };
    struct rex_view view = {.kind = REX_IMAGE_CUBIN, .most = SIZE_MAX};
    CHECK_EQUAL(rex_view_add(&view, &(struct rex_image_symbol){.name = "k__kernel__", .kernel = true, .size = 8}), 0);
    CHECK_EQUAL(rex_view_add(&view, &(struct rex_image_symbol){.name = "cells", .size = 24}), 0);
    CHECK_EQUAL(rex_view_index(&view), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct __tgt_offload_entry entry = {&keys[0], NAME(cases[i].name), cases[i].size, cases[i].flags, 0};
        const struct rex_module module = {.struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};
        struct rex_table made = {.count = 0};
        CHECK_EQUAL(rex_table_build(&made, &module), REX_OK);
        rex_fail_again(REX_OK, "");
        CHECK_EQUAL(rex_table_match(&made, 0, 1, &view, "an.image", rex_release_row(22)), cases[i].result);
        CHECK(strcmp(rex_last_error(), cases[i].said) == 0);
        CHECK_EQUAL(rex_table_facts(&made, 0).flags, REX_FACT_GLOBAL | REX_FACT_MATCHED);
        rex_table_free(&made);
    }
    rex_view_close(&view);
}

/* ---- images of two kinds ------------------------------------------------------------------------------------------------------------- */

#define HOST TEST_BUILD "/tests/fake/host.so"

static struct __tgt_offload_entry gpu_entry[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}};
static struct __tgt_offload_entry host_entry[] = {{&keys[1], NAME("plain__kernel__"), 0, 0, 0}};
static struct rex_module on_gpu = {
    .struct_size = sizeof on_gpu, .entries_begin = gpu_entry, .entries_end = gpu_entry + 1, .image_name = SM_90};
static struct rex_module on_cpu = {
    .struct_size = sizeof on_cpu, .entries_begin = host_entry, .entries_end = host_entry + 1, .image_name = HOST};

#define IN_BOTH(kind)                                                                                                                       \
    ", of a module that is registered already, for " kind ": libomptarget would end the process at the first use of a device for which one " \
    "module has no image; give each module a CUBIN, or run all on the CPU (host images, and CUDA_VISIBLE_DEVICES= in the environment)"

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
        CHECK(strcmp(rex_last_error(), i % 2 == 0 ? "device image " HOST " is for the CPU, and " SM_90 IN_BOTH("a GPU")
                                                  : "device image " SM_90 " is for a GPU, and " HOST IN_BOTH("the CPU")) == 0);
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

/* What it is refused for: so does every release. */
static void both_kinds(const void *context)
{
    size_t size;
    char *bytes = (char *)read_bytes(HOST, &size);
    struct __tgt_device_image image = {bytes, bytes + size, host_entry, host_entry + 1};
    struct __tgt_bin_desc descriptor = {1, &image, host_entry, host_entry + 1};
    use_gpu(90);
    use_release(*(const int *)context);
    CHECK_EQUAL(rex_module_register(&on_gpu, NULL), 0);
    __rex_real___tgt_register_lib(&descriptor);
    rex_module_init(&on_gpu);
}

TEST(test_kinds)
{
    static const int releases[] = {14, 15, 16, 17, 19, 20, 21, 22};
    for (size_t i = 0; i < COUNT(releases); i++) {
        struct child child = run_child(both_kinds, &releases[i]);
        assert_int_equal(child.status, 128 + SIGABRT);
        assert_non_null(strstr(child.output, "no image loaded for device id"));
    }
}

/* LLVM 14 and 15 find a kernel by its row in the host image: each order of the program's rows becomes the image's. */
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
            const struct fake_call *call = &the_record()->calls[the_record()->count];
            while ((--call)->function != FAKE_REGISTER)
                ;
            size_t named = 0;
            for (size_t i = 0; i < call->entry_count; i++) {
                const struct __tgt_offload_entry *of = NULL;
                for (size_t j = first; j < first + count; j++)
                    of = strcmp(entries[j].name, call->entries[i].name) == 0 ? &entries[j] : of;
                named += of != NULL;
                CHECK(of != NULL ? call->entries[i].address == of->addr : call->entries[i].address == (const void *)&call->entries[i]);
            }
            CHECK_EQUAL(named, count);
            CHECK_EQUAL(call->entry_count, 4);
            CHECK_EQUAL(rex_module_fini(module++), 0);
        }
}

/* Where the image has no row for an entry, or has it once and the program twice, it is said. */
TEST_ON_FAKES(rows_that_lack, 14, 15)
{
    static struct __tgt_offload_entry absent[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}, {&keys[1], NAME("nonesuch__kernel__"), 0, 0, 0}},
                                      twice[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}, {&keys[1], NAME("plain__kernel__"), 0, 0, 0}};
    static struct rex_module modules[2];
    char said[512];
    use_gpu(0);
    use_release(release);
    CHECK_EQUAL(rex_configure(REX_OPTION_CHECK, "off"), 0);
    for (int i = 0; i < 2; i++) {
        struct __tgt_offload_entry *entries = i == 0 ? absent : twice;
        modules[i] = (struct rex_module){
            .struct_size = sizeof modules[i], .entries_begin = entries, .entries_end = entries + 2, .image_name = FAKE("host.so")};
        CHECK_EQUAL(rex_module_register(&modules[i], NULL), REX_ENOKERNEL);
        snprintf(said, sizeof said,
                 "host image " FAKE("host.so") " has no row for \"%s\" in its own section omp_offloading_entries, by which LLVM %d finds kernels: "
                 "write kernels with REX_DEVICE_KERNEL (rex/kernel.h)",
                 entries[1].name, release);
        CHECK(strcmp(rex_last_error(), said) == 0);
        CHECK_EQUAL(the_record()->registered, 0);
    }
}

/* The names that libomptarget gets are the image's functions where the host device calls those; the program's own table stays. */
TEST_ON_FAKES(names_of_calls, 16, 18, 22, 23, 24)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], NAME("plain__kernel__"), 0, 0, 0}, {&keys[1], NAME("env__kernel__"), 0, 0, 0}};
    static struct rex_module module = {
        .struct_size = sizeof module, .entries_begin = entries, .entries_end = entries + 2, .image_name = FAKE("host.so")};
    bool calls = rex_release_row(release)->host.version != 0;
    const struct fake_entry *before = NULL;
    use_gpu(0);
    use_release(release);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        const struct fake_call *call = &the_record()->calls[the_record()->count];
        while ((--call)->function != FAKE_REGISTER)
            ;
        CHECK_EQUAL(call->entry_count, 2);
        CHECK(call->images[0].begin == call->entries && call->images[0].stop == call->entries + 2);
        CHECK(strcmp(call->entries[0].name, calls ? "rex_call_plain__kernel__" : "plain__kernel__") == 0);
        CHECK(strcmp(call->entries[1].name, calls ? "rex_call_env__kernel__" : "env__kernel__") == 0);
        CHECK(call->entries[0].address == &keys[0] && call->entries[1].address == &keys[1]);
        /* What has been given once is not given again, but for LLVM 18, which is not given anything then. */
        CHECK_EQUAL((const void *)call->entries == (const void *)entries, !calls && i == 0);
        CHECK(call->entries != before || release == 18);
        before = call->entries;
        CHECK(strcmp(entries[0].name, "plain__kernel__") == 0);
        CHECK_EQUAL(rex_module_fini(&module), 0);
    }
}

TEST(test_tables)
{
    /* Each kernel is looked at once in a registration. */
    assert_int_equal(occurrences(in_child(checked_late, NULL), ": only the CUDA driver can launch it, not LLVM 22\n"), 2);
}
