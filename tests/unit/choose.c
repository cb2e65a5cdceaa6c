/*
 * choose.c - which image is taken: from lists of files, fatbins and an OffloadBinary, for each GPU
 * and for none; and PTX, which a driver's linker compiles. Real images; the driver is a fake one,
 * which gives the GPU its number and tells the linker's faults. libomptarget is a fake, too.
 * tests/golden/messages/library.txt has what is taken, what is logged of it, and each refusal.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <elf.h>
#include <time.h>

#include "module/chooseimage.h"
#include "rex/library.h"
#include "support/messages.h"

MESSAGES("library");

#define DATA "tests/data/"
#define HOST FAKE("host.so")
#define THREE DATA "three_zstd.fatbin"
#define EVERY DATA "sm_75.cubin:" DATA "sm_80.cubin:" DATA "sm_90.cubin:" DATA "sm_100.cubin"

/* ---- loads, and what is logged meanwhile ----------------------------------------------------- */

static void note(enum rex_log_level level, const char *message, void *context)
{
    static const char *const parts[] = {"device image ", "kernels run on ", "images to choose from"};
    (void)context;
    for (size_t i = 0; i < COUNT(parts) && level != REX_LOG_ERROR; i++)
        if (strncmp(message, parts[i], strlen(parts[i])) == 0)
            says("    %s", message);
}

/* The GPUs of these architectures, with commas between; "": none; with "!" one is required. */
static void start(const char *gpus)
{
    char number[16];
    int count = *gpus != '\0';
    bool required = strchr(gpus, '!') != NULL;
    for (const char *at = gpus; *at != '\0'; at++)
        count += *at == ',';
    use_gpu(90);
    snprintf(number, sizeof number, "%d", count);
    setenv("FAKE_CUDA_DEVICES", number, 1);
    setenv("FAKE_CUDA_SM", gpus, 1); /* which ends where a number does */
    use_release(22);
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_REQUIRE_GPU, required ? "on" : "off"), REX_OK);
}

/* NAMES as a library; what it is, or why not. */
static void load(const char *names)
{
    struct rex_library *library;
    int result = rex_library_load(&library, -1, NULL, 0, names);
    if (result != REX_OK) {
        refuses(result, "%s", names);
        return;
    }
    const struct rex_image_view *view = rex_library_view(library);
    says("%s: a %s for %u", names, view->kind == REX_IMAGE_HOST ? "host image" : "CUBIN",
         view->architecture);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct pick {
    const char *gpus, *names;
};

static const struct pick picks[] = {
    /* files: the exact one, else the newest of the major number */
    {"90", EVERY},
    {"80", EVERY},
    {"89", EVERY},
    {"103", EVERY},
    {"120", "./no.cubin:" EVERY},
    {"", EVERY},
    {"90", DATA "sm_90.ptx:" DATA "sm_90.cubin"}, /* a CUBIN comes before PTX */
    /* an image for the CPU */
    {"", EVERY ":" HOST},
    {"90", HOST ":" EVERY},
    {"90", HOST},
    {"90!", HOST}, /* a GPU is required */
    {"120", HOST ":" EVERY},
    /* files that do not exist are passed over, what cannot be used is not */
    {"90", "no.cubin:./none.cubin:" DATA "sm_90.cubin"},
    {"90", "./no.cubin:./none.cubin"},
    {"90", DATA "sm_90.cubin:" DATA "kernels.cu"},
    {"90", DATA "sm_90.cubin:tests"},
    {"90", ":" DATA "sm_90.cubin:"},
    /* one file: the messages are those of that file; for several GPUs it suits where it suits any
       of them */
    {"80", DATA "sm_90.cubin"},
    {"", DATA "sm_90.cubin"},
    {"80,75,90", DATA "sm_90.cubin"},
    /* fatbins, compressed or not */
    {"90", DATA "three.fatbin"},
    {"90", THREE},
    {"86", THREE},
    {"80", DATA "three_lz4.fatbin"},
    {"", THREE},
    {"", THREE ":" HOST},
    {"120", THREE}, /* its PTX, compiled */
    /* for one GPU, for one family, for the linker */
    {"90", DATA "special.fatbin"},
    {"103", DATA "special.fatbin"},
    {"120", DATA "special.fatbin"},
    /* an OffloadBinary, with a fatbin in it */
    {"90", DATA "two.offload"},
    {"80", DATA "two.offload"},
    {"120", DATA "sm_90.ptx"},
    {"80", DATA "sm_90.ptx"},
    {"80,120", DATA "sm_90.ptx"},
    {"", DATA "sm_90.ptx"},
};

TEST_FOR_EACH(picked, pick, picks)
{
    start(pick->gpus);
    says("GPUs %s:", pick->gpus);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), REX_OK);
    setenv("FAKE_LINK_CUBIN", DATA "sm_120.cubin", 1);
    load(pick->names);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Images in two files, two in the first. */
struct offer {
    int kind, architecture;
    char suffix;
};

struct choice {
    const char *gpus; /* "": none */
    struct offer offers[4];
    int chosen, gpu; /* -1: nothing is chosen; the CPU */
};

enum { CUBIN = 10, PTX, HOST_IMAGE, OTHER }; /* 0: the end */

static const struct choice choices[] = {
    /* code for one GPU or one family comes first, and what comes first stays */
    {"90", {{CUBIN, 90, 'a'}, {CUBIN, 90, 'f'}, {CUBIN, 90, 0}}, 0, 0},
    {"90", {{CUBIN, 90, 0}, {CUBIN, 90, 'f'}}, 1, 0},
    {"90", {{CUBIN, 80, 0}, {CUBIN, 100, 0}, {CUBIN, 120, 0}, {CUBIN, 90, 0}}, 3, 0},
    {"103", {{CUBIN, 100, 0}, {CUBIN, 100, 'a'}, {CUBIN, 100, 'f'}}, 2, 0},
    {"103", {{CUBIN, 103, 0}, {CUBIN, 100, 'f'}}, 0, 0},
    {"103", {{CUBIN, 100, 'a'}}, -1, 0},
    {"89", {{CUBIN, 80, 0}, {CUBIN, 86, 0}}, 1, 0},
    /* PTX after them, of a GPU that is no newer */
    {"89", {{PTX, 89, 0}, {CUBIN, 80, 0}}, 1, 0},
    {"90", {{PTX, 80, 0}, {PTX, 90, 0}}, 1, 0},
    {"90", {{PTX, 90, 'a'}, {PTX, 90, 0}}, 0, 0},
    {"90", {{PTX, 100, 0}}, -1, 0},
    {"103", {{PTX, 90, 0}, {PTX, 100, 'f'}}, 1, 0},
    {"103", {{PTX, 100, 'a'}, {PTX, 90, 'a'}, {PTX, 90, 'f'}}, -1, 0},
    {"90", {{OTHER, 90, 0}, {PTX, 75, 0}}, 1, 0},
    /* of several GPUs the first that has one */
    {"75,90", {{CUBIN, 90, 0}, {CUBIN, 75, 0}}, 1, 0},
    {"75,80,90", {{CUBIN, 90, 0}, {PTX, 80, 0}}, 1, 1},
    /* the CPU */
    {"90", {{HOST_IMAGE, 0, 0}, {OTHER, 90, 0}}, 0, -1},
    {"90", {{HOST_IMAGE, 0, 0}, {PTX, 100, 0}}, -1, 0},
    {"", {{CUBIN, 90, 0}, {PTX, 90, 0}, {HOST_IMAGE, 0, 0}, {HOST_IMAGE, 0, 0}}, 2, -1},
    {"", {{PTX, 90, 0}, {OTHER, 0, 0}}, -1, 0},
    {"", {{CUBIN, 0, 0}}, -1, 0},
};

TEST_FOR_EACH(chosen, choice, choices)
{
    static const enum rex_image_kind kinds[] = {REX_IMAGE_CUBIN, REX_IMAGE_PTX, REX_IMAGE_HOST,
                                                REX_IMAGE_OTHER};
    struct rex_image_entry entries[4];
    struct rex_source list[2];
    struct rex_sources sources = {.list = list};
    struct rex_choice made;
    bool has_host = false, has_gpu = false;
    start(choice->gpus);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), REX_OK);
    for (size_t i = 0; i < 4 && choice->offers[i].kind != 0; i++) {
        const struct offer *offer = &choice->offers[i];
        sources.count = i / 2 + 1;
        if (i % 2 == 0)
            list[i / 2] = (struct rex_source){.path = "a file", .list.entries = entries + i};
        list[i / 2].list.count = i % 2 + 1;
        entries[i] = (struct rex_image_entry){
            .item = {.kind = kinds[offer->kind - CUBIN],
                     .architecture = (unsigned)offer->architecture,
                     .suffix = offer->suffix}};
        has_host |= offer->kind == HOST_IMAGE;
        has_gpu |= offer->kind == CUBIN || offer->kind == PTX;
    }
    CHECK_EQUAL(rex_choose(&sources, &made), choice->chosen < 0 ? REX_ENODEVICE : REX_OK);
    CHECK_EQUAL(rex_choose_lacks_gpu(&sources), *choice->gpus == '\0' && has_gpu && !has_host);
    CHECK(choice->chosen < 0 || made.source == &list[choice->chosen / 2]);
    CHECK(choice->chosen < 0 ||
          (made.index == (size_t)choice->chosen % 2 && made.gpu == choice->gpu));
}

/* ---- the host's image instead ---------------------------------------------------------------- */

/* Where the module's images are: "memory" is bytes; NULL is none. */
struct instead {
    const char *gpus, *image, *host, *configured, *failing;
};

static const struct instead instead_cases[] = {
    {"", "memory", "memory", NULL, NULL},
    {"", NULL, "memory", NULL, NULL},
    {"90", NULL, "memory", NULL, NULL},
    {"90", "memory", "memory", NULL, NULL},
    {"90", DATA "sm_90.cubin", HOST, NULL, "999"},
    {"", DATA "sm_90.cubin:" HOST, HOST, NULL, NULL},
    {"80", THREE ":" DATA "sm_75.cubin", "no.so:" HOST, NULL, NULL},
    {"", "./none.cubin", HOST, NULL, NULL},
    {"90", DATA "sm_90.cubin", HOST, NULL, NULL},
    {"", "./none.cubin", "./no.so", NULL, NULL},
    {"", NULL, "./no.so", NULL, NULL},
    {"90", NULL, NULL, NULL, NULL},
    {"", DATA "sm_90.cubin", "./no.so", NULL, NULL},
    {"", "memory", DATA "kernels.cu", NULL, NULL},
    /* what the user names is not replaced */
    {"", "./none.cubin", HOST, "./other.cubin", NULL},
    {"90", "./none.cubin", HOST, DATA "sm_90.cubin", NULL},
};

static char key;
static struct __tgt_offload_entry entry = {&key, (char *)(uintptr_t) "plain__kernel__", 0, 0, 0};
static struct rex_module module = {
    .struct_size = sizeof module, .entries_begin = &entry, .entries_end = &entry + 1};

TEST_FOR_EACH(opened, instead, instead_cases)
{
    size_t host_size, size;
    char *host = (char *)read_bytes(HOST, &host_size),
         *cubin = (char *)read_bytes(DATA "sm_90.cubin", &size);
    bool is_memory = instead->image != NULL && strcmp(instead->image, "memory") == 0,
         is_host_memory = instead->host != NULL && strcmp(instead->host, "memory") == 0;
    start(instead->gpus);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, instead->configured), REX_OK);
    if (instead->failing != NULL)
        setenv("FAKE_CUDA_FAILS", instead->failing, 1);
    module.image_name = is_memory ? NULL : instead->image;
    module.image = instead->image == NULL || is_memory ? cubin : NULL;
    module.image_end = is_memory ? cubin + size : module.image; /* none where both are the same */
    module.host_image_name = is_host_memory ? NULL : instead->host;
    module.host_image = host;
    module.host_image_end = is_host_memory ? host + host_size : host;
    says("GPUs %s, %s, host %s, REX_CUBIN %s:", instead->gpus, instead->image, instead->host,
         instead->configured);
    int result = rex_module_register(&module, NULL);
    if (result != REX_OK)
        refuses(result, "refused");
    else
        says("    taken is %s", rex_module_image_path(&module));
    if (result == REX_OK && rex_module_on_host(&module))
        CHECK_EQUAL(newest_call(FAKE_REGISTER)->image_size, host_size);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    free(host);
    free(cubin);
}

/*
 * One warning in a process if an image for GPUs finds no GPU, or a GPU no image. None if the user
 * wants no GPU, or the program names no image for one.
 */
struct warned {
    const char *gpus, *image, *offload, *configured;
};

static const struct warned warned_cases[] = {{"", DATA "sm_90.cubin", "default", NULL},
                                             {"", DATA "sm_90.cubin:" HOST, "default", NULL},
                                             {"", DATA "sm_90.cubin", "Disabled", NULL},
                                             {"", "./none.cubin", "default", NULL},
                                             {"", DATA "sm_90.cubin", "default", HOST},
                                             {"90", "./none.cubin", "default", NULL},
                                             {"90", "./none.cubin:" HOST, "default", NULL},
                                             {"90", "./none.cubin", "Disabled", NULL},
                                             {"90", "./none.cubin", "default", HOST},
                                             {"90", HOST, "default", NULL},
                                             {"90", NULL, "default", NULL}};

TEST_FOR_EACH(warned, given, warned_cases)
{
    start(given->gpus);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, given->configured), REX_OK);
    setenv("OMP_TARGET_OFFLOAD", given->offload, 1);
    module.image_name = given->image;
    module.host_image_name = HOST;
    says("GPUs %s, %s, OMP_TARGET_OFFLOAD=%s, REX_CUBIN=%s:", given->gpus, given->image,
         given->offload, given->configured);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
        CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    }
}

/* ---- PTX ------------------------------------------------------------------------------------- */

/* Faults of the linker, which may also give anything; a driver without one is said to be that. */
static const struct fault {
    const char *driver, *fails, *log, *product;
} faults[] = {
    {"cuda", "cuLinkCreate:2", "", ""},
    {"cuda", "cuLinkAddData:200",
     "ptxas application ptx input, line 7; fatal : Parsing error\nptxas fatal : aborted\n", ""},
    {"cuda", "cuLinkAddData:209", "\n\na \nb\n\nc", ""},
    {"cuda", "cuLinkAddData:218", "", ""},
    {"cuda", "cuLinkAddData:221", "", ""},
    {"cuda", "cuLinkComplete:218", "undefined function f", ""},
    {"cuda", "cuLinkAddData:222", "old", ""},
    {"cuda", "cuLinkComplete:719", "", ""},
    {"cuda", "cuDevicePrimaryCtxRetain:2:0", "", ""},
    {"cuda", "", "", DATA "kernels.cu"},
    {"cuda", "", "", DATA "sm_80.cubin"},
    {"cuda-old", "", "", ""},
};

TEST_FOR_EACH(faulty, fault, faults)
{
    use_gpu_of(fault->driver, 90); /* the first is the process's */
    start("90");
    setenv("FAKE_LINK_FAILS", fault->fails, 1);
    setenv("FAKE_CUDA_BREAKS", fault->fails, 1);
    setenv("FAKE_LINK_LOG", fault->log, 1);
    setenv("FAKE_LINK_CUBIN", fault->product, 1);
    load(DATA "sm_90.ptx");
    /* Nothing of the linker stays, and no context. */
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_linkers"), 0);
    CHECK_EQUAL(context_users(), 0);
}

/* The message has as much of a long log as fits; no byte behind it is written. */
TEST_IN_CHILD(long_log)
{
    static char log[4000];
    struct rex_library *library;
    start("90");
    memset(log, '!', sizeof log - 1);
    setenv("FAKE_LINK_FAILS", "cuLinkAddData:218", 1);
    setenv("FAKE_LINK_LOG", log, 1);
    CHECK_EQUAL(rex_library_load(&library, -1, NULL, 0, DATA "sm_90.ptx"), REX_EIMAGE);
    CHECK_EQUAL(occurrences(rex_last_error(), "!"),
                2048 - 2); /* the driver's NUL, and librex's own */
}

/* rules.mk leads these calls here: each takes 2.2 seconds. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    static int64_t milliseconds = 900;
    (void)clock;
    *now = (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
    milliseconds += 2200;
    return 0;
}

/*
 * The CUBIN that an older release gets has the header that it takes. Numbers of source lines are
 * kept where the PTX has any; the context that it was compiled in is there until the image is
 * registered. A folder that is gone by then is not trusted.
 */
TEST_IN_CHILD(compiled)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/lines.ptx", folder);
    copy_file(DATA "sm_90.ptx", path);
    FILE *file = fopen(path, "a");
    CHECK(file != NULL && fputs("\t.loc\t1 7 5\n", file) >= 0 && fclose(file) == 0);
    start("90");
    use_release(19);
    setenv("FAKE_LINK_CUBIN", DATA "sm_90.cubin", 1);
    const char *const files[] = {DATA "sm_90.ptx", path};
    for (int i = 0; i < 2; i++) {
        module.image_name = files[i];
        CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
        CHECK_EQUAL(newest_call(FAKE_REGISTER)->image[EI_OSABI], 0x33);
        CHECK_EQUAL(*(int *)in_driver("fake_cuda_links"), 1 + i);
        CHECK_EQUAL(*(int *)in_driver("fake_cuda_linkers"), 0);
        CHECK_EQUAL(*(int *)in_driver("fake_cuda_links_with_lines"), i);
        CHECK_EQUAL(context_users(), 1);
        CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    }
    remove_folder(folder);
    REFUSED(rex_source_check_owner(&(struct rex_source){.path = "gone/host.so"}));
}
