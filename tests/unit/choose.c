/*
 * choose.c - which image is taken: from lists of files, fatbins and an OffloadBinary, for each GPU and for none; and PTX, which a driver's
 * linker compiles. Real images; the driver is a fake one, which gives the GPU its number and tells the linker's faults.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <time.h>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "image/elf.h"
#include "image/open.h"
#include "module/choose.h"
#include "module/moduleimage.h"

#define DATA "tests/data/"
#define HOST FAKE("host.so")
#define THREE DATA "three_zstd.fatbin"

static struct rex_module module = {.struct_size = sizeof(struct rex_module)};

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

struct pick {
    int sm; /* of the GPU; 0: there is none */
    const char *names, *taken;
    unsigned architecture; /* of the image taken; 0: it is for the CPU */
    int error;
    const char *message; /* all its parts, separated by | */
};

static void check_message(const char *parts)
{
    char copy[1024], *rest = copy;
    snprintf(copy, sizeof copy, "%s", parts);
    if (*rest == '=') { /* the message begins so */
        rest++;
        CHECK_EQUAL(strncmp(rex_last_error(), rest, strcspn(rest, "|")), 0);
    }
    for (char *part; (part = strsep(&rest, "|")) != NULL;)
        CHECK_MENTIONS(rex_last_error(), part);
}

#define EVERY DATA "sm_75.cubin:" DATA "sm_80.cubin:" DATA "sm_90.cubin:" DATA "sm_100.cubin"

static const struct pick picks[] = {
    /* files: the exact one, else the newest of the major number */
    {90, EVERY, DATA "sm_90.cubin", 90, 0, NULL},
    {80, EVERY, DATA "sm_80.cubin", 80, 0, NULL},
    {89, EVERY, DATA "sm_80.cubin", 80, 0, NULL},
    {103, EVERY, DATA "sm_100.cubin", 100, 0, NULL},
    {75, EVERY, DATA "sm_75.cubin", 75, 0, NULL},
    {120, EVERY, NULL, 0, REX_ENODEVICE,
     "no device image suits the GPU, sm_120|sm_75.cubin is for sm_75; |sm_100.cubin is for sm_100; compile with nvcc -arch=sm_120 or rex-cc --arch=sm_120"},
    {0, EVERY, NULL, 0, REX_ENODEVICE,
     "no device image can be used|sm_80.cubin is for sm_80|no NVIDIA GPU: the CUDA driver reports no device"},
    {90, DATA "sm_90.ptx:" DATA "sm_90.cubin", DATA "sm_90.cubin", 90, 0, NULL}, /* a CUBIN comes before PTX, */
    {95, DATA "sm_90.ptx:" DATA "sm_90.cubin", DATA "sm_90.cubin", 90, 0, NULL}, /* also one that is not for exactly that GPU */
    /* an image for the CPU */
    {0, EVERY ":" HOST, HOST, 0, 0, NULL},
    {90, HOST ":" EVERY, DATA "sm_90.cubin", 90, 0, NULL},
    {90, HOST, HOST, 0, 0, NULL},
    {90, HOST ":no.cubin", HOST, 0, 0, NULL},
    {120, HOST ":" EVERY, NULL, 0, REX_ENODEVICE, "host.so is for the CPU; |sm_90.cubin is for sm_90"},
    /* files that do not exist are passed over, what cannot be used is not */
    {90, "no.cubin:./none.cubin:" DATA "sm_90.cubin", DATA "sm_90.cubin", 90, 0, NULL},
    {80, "./no.cubin:" DATA "sm_90.cubin", NULL, 0, REX_ENODEVICE, "sm_90.cubin is for sm_90; there is no ./no.cubin; compile with"},
    {90, "./no.cubin:./none.cubin", NULL, 0, REX_ENOIMAGE,
     "no device image ./no.cubin:./none.cubin; looked for ./no.cubin, ./none.cubin"},
    {90, DATA "sm_90.cubin:" DATA "kernels.cu", NULL, 0, REX_EIMAGE, "kernels.cu cannot be used: it is not an ELF file"},
    {90, DATA "sm_90.cubin:tests", NULL, 0, REX_EREAD, "tests cannot be read: it is a directory"},
    {90, ":" DATA "sm_90.cubin:", DATA "sm_90.cubin", 90, 0, NULL},
    /* one file: the messages are those of that file */
    {80, DATA "sm_90.cubin", NULL, 0, REX_ENODEVICE, "sm_90.cubin is for sm_90, and the GPU is sm_80: compile with nvcc -arch=sm_80 or rex-cc --arch=sm_80"},
    {0, DATA "sm_90.cubin", NULL, 0, REX_ENODEVICE, "sm_90.cubin is for an NVIDIA GPU (sm_90), and this process has none"},
    /* fatbins, compressed or not */
    {90, DATA "three.fatbin", DATA "three.fatbin", 90, 0, NULL},
    {90, THREE, THREE, 90, 0, NULL},
    {86, THREE, THREE, 80, 0, NULL},
    {80, DATA "three_lz4.fatbin", DATA "three_lz4.fatbin", 80, 0, NULL},
    {75, THREE, NULL, 0, REX_ENODEVICE, "three_zstd.fatbin is for sm_80, sm_90, compute_90 (PTX); compile with nvcc -arch=sm_75 or rex-cc --arch=sm_75"},
    {0, THREE, NULL, 0, REX_ENODEVICE, "three_zstd.fatbin is for sm_80, sm_90, compute_90 (PTX); this process has no NVIDIA GPU"},
    {0, THREE ":" HOST, HOST, 0, 0, NULL},
    {120, THREE, THREE, 120, 0, NULL}, /* its PTX, compiled */
    {120, THREE ":" DATA "sm_120.cubin", DATA "sm_120.cubin", 120, 0, NULL},
    /* for one GPU, for one family, for the linker */
    {90, DATA "special.fatbin", DATA "special.fatbin", 90, 0, NULL},
    {103, DATA "special.fatbin", DATA "special.fatbin", 100, 0, NULL},
    {120, DATA "special.fatbin", NULL, 0, REX_ENODEVICE,
     "sm_90a, compute_90a (PTX), sm_100f, compute_100f (PTX), sm_75, another runtime; compile"},
    /* an OffloadBinary, with a fatbin in it */
    {90, DATA "two.offload", DATA "two.offload", 90, 0, NULL},
    {80, DATA "two.offload", DATA "two.offload", 80, 0, NULL},
    {75, DATA "two.offload", NULL, 0, REX_ENODEVICE, "two.offload is for sm_80, sm_80, sm_90, compute_90 (PTX)"},
    /* PTX */
    {120, DATA "sm_90.ptx", DATA "sm_90.ptx", 120, 0, NULL},
    {80, DATA "sm_90.ptx", NULL, 0, REX_ENODEVICE,
     "no device image suits the GPU, sm_80: tests/data/sm_90.ptx is for compute_90 (PTX)"},
    {0, DATA "sm_90.ptx", NULL, 0, REX_ENODEVICE, "sm_90.ptx is for compute_90 (PTX); this process has no NVIDIA GPU"},
};

TEST_FOR_EACH(picked, pick, picks)
{
    struct rex_module_image image;
    use_gpu(pick->sm);
    rex_configure(REX_OPTION_CACHE, "off");
    setenv("FAKE_LINK_CUBIN", DATA "sm_120.cubin", 1);
    int result = rex_module_image_open(&image, &module, pick->names, rex_release_row(22));
    if (result != pick->error)
        fprintf(stderr, "%s on sm_%d: %s\n", pick->names, pick->sm, rex_last_error());
    CHECK_EQUAL(result, pick->error);
    if (pick->message != NULL)
        check_message(pick->message);
    if (result != 0)
        return;
    CHECK_EQUAL(image.view.architecture, pick->architecture);
    CHECK_EQUAL(image.view.kind, pick->architecture == 0 ? REX_IMAGE_HOST : REX_IMAGE_CUBIN);
    if (strcmp(image.path, pick->taken) != 0)
        fprintf(stderr, "%s: %s instead of %s\n", pick->names, image.path, pick->taken);
    CHECK(strcmp(image.path, pick->taken) == 0);
    rex_module_image_close(&image);
}

/* The program's own names and bytes: the host's image takes their place where there is no GPU. */
static void own_images(const void *context)
{
    struct rex_module own = {.struct_size = sizeof own, .image_name = THREE ":" DATA "sm_75.cubin", .host_image_name = "no.so:" HOST};
    struct rex_module_image image;
    size_t size;
    use_gpu(*(const int *)context);
    CHECK_EQUAL(rex_module_image_open(&image, &own, NULL, rex_release_row(22)), 0);
    CHECK_EQUAL(image.view.architecture, *(const int *)context);
    rex_module_image_close(&image);
    own.image = read_bytes(DATA "two.offload", &size);
    own.image_size = size;
    CHECK_EQUAL(rex_module_image_open(&image, &own, NULL, rex_release_row(22)), 0);
    CHECK_EQUAL(image.view.architecture, *(const int *)context);
    CHECK(strcmp(image.path, *(const int *)context > 0 ? "memory" : HOST) == 0);
    rex_module_image_close(&image);
    free((void *)(uintptr_t)own.image);
}

/* What was chosen is logged, and why. */
static void logged(const void *context)
{
    struct rex_module_image image;
    rex_configure(REX_OPTION_LOG, "info");
    use_gpu(*(const int *)context);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.cubin:" HOST, rex_release_row(22)), 0);
    rex_module_image_close(&image);
}

TEST(test_own_images)
{
    static const int gpus[] = {0, 80, 90};
    const char *output;
    for (size_t i = 0; i < COUNT(gpus); i++)
        in_child(own_images, &gpus[i]);
    output = in_child(logged, &gpus[0]);
    assert_int_equal(occurrences(output, "librex: warning: kernels run on the CPU: host image " HOST " is used: the CUDA driver reports no device\n"), 1);
    output = in_child(logged, &gpus[2]);
    assert_int_equal(occurrences(output, "librex: info: device image " DATA "sm_90.cubin: chosen is the one for sm_90\n"), 1);
}

/* ---- ranks --------------------------------------------------------------------------------------------------------------- */

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

static void make_sources(struct rex_sources *sources, struct rex_source list[2], struct rex_image_entry entries[4], const struct offer *offers)
{
    static const enum rex_image_kind kinds[] = {REX_IMAGE_CUBIN, REX_IMAGE_PTX, REX_IMAGE_HOST, REX_IMAGE_OTHER};
    *sources = (struct rex_sources){.list = list};
    for (size_t i = 0; i < 4 && offers[i].kind != 0; i++) {
        sources->count = i / 2 + 1;
        if (i % 2 == 0)
            list[i / 2] = (struct rex_source){.path = (char *)(uintptr_t)(i == 0 ? "one" : "two"), .list.entries = entries + i};
        list[i / 2].list.count = i % 2 + 1;
        entries[i] = (struct rex_image_entry){
            .item = {.kind = kinds[offers[i].kind - CUBIN], .architecture = (unsigned)offers[i].architecture, .suffix = offers[i].suffix}};
    }
}

static void use_gpus(const char *gpus)
{
    char number[16];
    int count = *gpus != '\0';
    for (const char *at = gpus; *at != '\0'; at++)
        count += *at == ',';
    use_gpu(90);
    snprintf(number, sizeof number, "%d", count);
    setenv("FAKE_CUDA_DEVICES", number, 1);
    setenv("FAKE_CUDA_SM", gpus, 1);
}

static void chosen(const void *context)
{
    const struct choice *choice = context;
    struct rex_sources sources;
    struct rex_source list[2];
    struct rex_image_entry entries[4];
    struct rex_choice made;
    use_gpus(choice->gpus);
    make_sources(&sources, list, entries, choice->offers);
    CHECK_EQUAL(rex_choose(&sources, &made), choice->chosen < 0 ? REX_ENODEVICE : REX_OK);
    bool has_host = false, has_gpu = false;
    for (size_t i = 0; i < 4; i++) {
        has_host |= choice->offers[i].kind == HOST_IMAGE;
        has_gpu |= choice->offers[i].kind == CUBIN || choice->offers[i].kind == PTX;
    }
    CHECK_EQUAL(rex_choose_lacks_gpu(&sources), *choice->gpus == '\0' && has_gpu && !has_host);
    if (choice->chosen < 0)
        return;
    CHECK(made.source == &list[choice->chosen / 2]);
    CHECK_EQUAL(made.index, choice->chosen % 2);
    CHECK_EQUAL(made.gpu, choice->gpu);
}

TEST(test_ranks)
{
    static const struct choice choices[] = {
        /* code for one GPU or one family comes first, and what comes first stays */
        {"90", {{CUBIN, 90, 0}, {CUBIN, 90, 0}}, 0, 0},
        {"90", {{CUBIN, 90, 0}, {CUBIN, 90, 'a'}}, 1, 0},
        {"90", {{CUBIN, 90, 'a'}, {CUBIN, 90, 'f'}, {CUBIN, 90, 0}}, 0, 0},
        {"90", {{CUBIN, 90, 0}, {CUBIN, 90, 'f'}}, 1, 0},
        {"90", {{CUBIN, 80, 0}, {CUBIN, 100, 0}, {CUBIN, 120, 0}, {CUBIN, 90, 0}}, 3, 0},
        {"103", {{CUBIN, 100, 0}, {CUBIN, 100, 'a'}, {CUBIN, 100, 'f'}}, 2, 0},
        {"103", {{CUBIN, 103, 0}, {CUBIN, 100, 'f'}}, 0, 0},
        {"103", {{CUBIN, 100, 'a'}}, -1, 0},
        {"89", {{CUBIN, 80, 0}, {CUBIN, 86, 0}}, 1, 0},
        {"89", {{CUBIN, 86, 0}, {CUBIN, 80, 0}, {CUBIN, 90, 0}}, 0, 0},
        /* PTX after them, of a GPU that is no newer */
        {"89", {{PTX, 89, 0}, {CUBIN, 80, 0}}, 1, 0},
        {"90", {{PTX, 80, 0}, {PTX, 90, 0}}, 1, 0},
        {"90", {{PTX, 90, 'a'}, {PTX, 90, 0}}, 0, 0},
        {"90", {{PTX, 100, 0}}, -1, 0},
        {"90", {{PTX, 70, 0}}, 0, 0},
        {"103", {{PTX, 90, 0}, {PTX, 100, 'f'}}, 1, 0},
        {"103", {{PTX, 100, 'a'}, {PTX, 90, 'a'}, {PTX, 90, 'f'}}, -1, 0},
        {"103", {{PTX, 103, 'a'}}, 0, 0},
        {"90", {{OTHER, 90, 0}}, -1, 0},
        {"90", {{OTHER, 90, 0}, {PTX, 75, 0}}, 1, 0},
        /* of several GPUs the first that has one */
        {"75,90", {{CUBIN, 90, 0}}, 0, 1},
        {"75,90", {{CUBIN, 90, 0}, {CUBIN, 75, 0}}, 1, 0},
        {"75,80,90", {{CUBIN, 90, 0}, {PTX, 80, 0}}, 1, 1},
        {"75,80", {{CUBIN, 90, 0}}, -1, 0},
        /* the CPU */
        {"90", {{HOST_IMAGE, 0, 0}, {CUBIN, 90, 0}}, 1, 0},
        {"90", {{HOST_IMAGE, 0, 0}, {OTHER, 90, 0}}, 0, -1},
        {"90", {{HOST_IMAGE, 0, 0}, {CUBIN, 80, 0}}, -1, 0},
        {"90", {{HOST_IMAGE, 0, 0}, {PTX, 100, 0}}, -1, 0},
        {"", {{CUBIN, 90, 0}, {PTX, 90, 0}, {HOST_IMAGE, 0, 0}, {HOST_IMAGE, 0, 0}}, 2, -1},
        {"", {{CUBIN, 90, 0}}, -1, 0},
        {"", {{PTX, 90, 0}, {OTHER, 0, 0}}, -1, 0},
        {"", {{OTHER, 0, 0}}, -1, 0},
        {"", {{HOST_IMAGE, 0, 0}}, 0, -1},
    };
    for (size_t i = 0; i < COUNT(choices); i++) {
        struct child child = run_child(chosen, &choices[i]);
        if (child.status != 0)
            fail_msg("choice %zu: %s", i, child.output);
    }
}

/* What is the one image and as it is, is taken whatever it is for. */
TEST_IN_CHILD(taken_as_it_is)
{
    static const struct offer offers[2][4] = {{{CUBIN, 80, 0}}, {{PTX, 100, 0}}};
    struct rex_sources sources;
    struct rex_source list[2];
    struct rex_image_entry entries[4];
    struct rex_choice made;
    use_gpu(90);
    for (int is_ptx = 0; is_ptx < 2; is_ptx++) {
        make_sources(&sources, list, entries, offers[is_ptx]);
        CHECK_EQUAL(rex_choose(&sources, &made), REX_ENODEVICE);
        list[0].list.plain = true;
        CHECK_EQUAL(rex_choose(&sources, &made), is_ptx ? REX_ENODEVICE : REX_OK);
        CHECK(made.source == list && made.index == 0 && made.gpu == -1);
        rex_report_add(&sources.missing, "no.cubin");
        CHECK_EQUAL(rex_choose(&sources, &made), REX_ENODEVICE);
        CHECK(strcmp(rex_last_error(), is_ptx ? "no device image suits the GPU, sm_90: one is for compute_100 (PTX); there is no no.cubin; compile "
                                                "with nvcc -arch=sm_90 or rex-cc --arch=sm_90"
                                              : "no device image suits the GPU, sm_90: one is for sm_80; there is no no.cubin; compile with "
                                                "nvcc -arch=sm_90 or rex-cc --arch=sm_90") == 0);
    }
}

/* All that there is is told, file by file, with what was taken. */
static void told(const void *context)
{
    static const struct offer offers[4] = {{PTX, 90, 'a'}, {CUBIN, 90, 0}, {CUBIN, 100, 'f'}, {HOST_IMAGE, 0, 0}};
    struct rex_sources sources;
    struct rex_source list[2];
    struct rex_image_entry entries[4];
    struct rex_choice made;
    use_gpus(context);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), REX_OK);
    make_sources(&sources, list, entries, offers);
    CHECK_EQUAL(rex_choose(&sources, &made), REX_OK);
}

TEST(test_told)
{
    static const char all[] = "librex: debug: to choose from: one is for compute_90a (PTX), sm_90; two is for sm_100f, the CPU\n";
    const char *output = in_child(told, "90");
    assert_non_null(strstr(output, all));
    assert_non_null(strstr(output, "librex: info: device image one: chosen is the one for sm_90\n"));
    output = in_child(told, "");
    assert_non_null(strstr(output, all));
    assert_non_null(strstr(output, "librex: warning: kernels run on the CPU: host image two is used: the CUDA driver reports no device\n"));
    output = in_child(told, "100,90");
    assert_non_null(strstr(output, "librex: info: device image two: chosen is the one for sm_100f\n"));
}

/* ---- the host's image instead ----------------------------------------------------------------------------------------------- */

/* Where the module's images are: "memory" is bytes, and a size of 0 there are none. */
struct instead {
    int sm;
    const char *image, *host, *configured;
    const char *taken, *said; /* the path, and a line of the log; or NULL and the whole error */
};

static unsigned char *host_bytes;
static size_t host_size, cubin_size;

static void opened_instead(const void *context)
{
    const struct instead *instead = context;
    struct rex_module own = {.struct_size = sizeof own};
    struct rex_module_image image;
    use_gpu(instead->sm);
    rex_configure(REX_OPTION_LOG, "info");
    rex_configure(REX_OPTION_CUBIN, instead->configured);
    host_bytes = read_bytes(HOST, &host_size);
    unsigned char *cubin = read_bytes(DATA "sm_90.cubin", &cubin_size);
    bool has_bytes = instead->image != NULL && strcmp(instead->image, "memory") == 0;
    own.image_name = has_bytes ? NULL : instead->image;
    own.image = instead->image == NULL || has_bytes ? cubin : NULL;
    own.image_end = has_bytes ? cubin + cubin_size : own.image; /* none where both are the same */
    if (instead->host != NULL && strcmp(instead->host, "memory") == 0) {
        own.host_image = host_bytes;
        own.host_image_end = host_bytes + host_size;
    } else {
        own.host_image_name = instead->host;
        own.host_image = own.host_image_end = host_bytes;
    }
    int result = rex_module_image_open(&image, &own, NULL, rex_release_row(22));
    CHECK_EQUAL(result == REX_OK, instead->taken != NULL);
    if (result == REX_OK) {
        CHECK(strcmp(image.path, instead->taken) == 0);
        CHECK_EQUAL(image.size, image.view.kind == REX_IMAGE_HOST ? host_size : cubin_size);
        rex_module_image_close(&image);
    } else if (strcmp(rex_last_error(), instead->said) != 0) {
        fprintf(stderr, "\"%s\", not \"%s\"\n", rex_last_error(), instead->said);
        _exit(99);
    }
    free(host_bytes);
    free(cubin);
}

TEST(test_instead)
{
    static const struct instead cases[] = {
        {0, "memory", "memory", NULL, "memory", "librex: warning: kernels run on the CPU: the host image in memory is used: the CUDA driver reports no device\n"},
        {0, NULL, "memory", NULL, "memory", "librex: info: kernels run on the CPU: the host image in memory is used: there is no other\n"},
        {90, NULL, "memory", NULL, "memory", "librex: info: kernels run on the CPU: the host image in memory is used: there is no other\n"},
        {90, "memory", "memory", NULL, "memory", NULL},
        {0, "memory", HOST, NULL, HOST, "librex: warning: kernels run on the CPU: host image " HOST " instead of a CUBIN: the CUDA driver reports no device\n"},
        {0, DATA "sm_90.cubin", HOST, NULL, HOST,
         "librex: warning: kernels run on the CPU: host image " HOST " instead of " DATA "sm_90.cubin: the CUDA driver reports no device\n"},
        {0, "./none.cubin", HOST, NULL, HOST, "librex: info: kernels run on the CPU: host image " HOST " instead of ./none.cubin: which does not exist\n"},
        {90, DATA "sm_90.cubin", HOST, NULL, DATA "sm_90.cubin", NULL},
        {0, NULL, HOST, NULL, HOST, NULL},
        {0, "./none.cubin", "./no.so", NULL, NULL, "no device image ./none.cubin; looked for ./none.cubin, ./no.so"},
        {0, "./none.cubin", NULL, NULL, NULL, "no device image ./none.cubin; looked for ./none.cubin"},
        {0, NULL, "./no.so", NULL, NULL, "no device image ./no.so; looked for ./no.so, ./no.so"},
        {90, NULL, NULL, NULL, NULL, "the module names no device image"},
        {0, DATA "sm_90.cubin", "./no.so", NULL, NULL,
         "device image " DATA "sm_90.cubin is for an NVIDIA GPU (sm_90), and this process has none: the CUDA driver reports no device"},
        {0, "memory", DATA "kernels.cu", NULL, NULL, "device image " DATA "kernels.cu cannot be used: it is not an ELF file; "
         "a device image is a CUBIN, a fatbin, PTX, an OffloadBinary or a shared object"},
        /* what the user names is not replaced */
        {0, "./none.cubin", HOST, "./other.cubin", NULL, "no device image ./other.cubin, which REX_CUBIN names; looked for ./other.cubin"},
        {90, "./none.cubin", HOST, DATA "sm_90.cubin", DATA "sm_90.cubin", NULL},
        {0, "./none.cubin", HOST, DATA "sm_90.cubin", NULL,
         "device image " DATA "sm_90.cubin is for an NVIDIA GPU (sm_90), and this process has none: the CUDA driver reports no device"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct child child = run_child(opened_instead, &cases[i]);
        if (child.status != 0)
            fail_msg("case %zu: %d\n%s", i, child.status, child.output);
        if (cases[i].taken != NULL && cases[i].said != NULL)
            assert_non_null(strstr(child.output, cases[i].said));
        else if (cases[i].taken != NULL)
            assert_null(strstr(child.output, "instead"));
    }
}

/* The host image in place of one for a GPU is worth a warning; where a GPU is required it is an error. */
static void out_of_order(const void *context)
{
    struct rex_module own = {.struct_size = sizeof own, .image_name = DATA "sm_90.cubin", .host_image_name = HOST};
    struct rex_module_image image;
    use_gpu(90);
    rex_configure(REX_OPTION_LOG, "warn");
    setenv("FAKE_CUDA_FAILS", "999", 1);
    if (context != NULL)
        own = (struct rex_module){.struct_size = sizeof own, .image_name = DATA "sm_90.cubin:" HOST};
    CHECK_EQUAL(rex_module_image_open(&image, &own, NULL, rex_release_row(22)), REX_OK);
    rex_module_image_close(&image);
    rex_configure(REX_OPTION_REQUIRE_GPU, "on");
    CHECK_EQUAL(rex_module_image_open(&image, &module, HOST, rex_release_row(22)), REX_ENODEVICE);
    CHECK(strcmp(rex_last_error(), "device image " HOST " is for the host, and REX_REQUIRE_GPU is on") == 0);
}

/* One image for several GPUs suits where it suits any of them. */
TEST_IN_CHILD(for_any)
{
    struct rex_module_image image;
    use_gpus("80,75,90");
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.cubin", rex_release_row(22)), REX_OK);
    rex_module_image_close(&image);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_120.cubin", rex_release_row(22)), REX_ENODEVICE);
    CHECK(strcmp(rex_last_error(), "device image " DATA "sm_120.cubin is for sm_120, and the GPU is sm_80: compile with nvcc -arch=sm_80 or "
                                   "rex-cc --arch=sm_80") == 0);
}

/* One warning in a process, and none where the user wants no GPU, or the program has no image for one. */
struct warned {
    const char *image, *offload, *configured;
    int warnings;
};

static void warned(const void *context)
{
    const struct warned *given = context;
    struct rex_module own = {.struct_size = sizeof own, .image_name = given->image, .host_image_name = HOST};
    struct rex_module_image image;
    rex_configure(REX_OPTION_LOG, "warn");
    rex_configure(REX_OPTION_CUBIN, given->configured);
    setenv("OMP_TARGET_OFFLOAD", given->offload, 1);
    use_gpu(0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_image_open(&image, &own, NULL, rex_release_row(22)), REX_OK);
        rex_module_image_close(&image);
    }
}

TEST(test_warned)
{
    static const struct warned cases[] = {{DATA "sm_90.cubin", "default", NULL, 1},
                                          {DATA "sm_90.cubin:" HOST, "default", NULL, 1},
                                          {DATA "sm_90.cubin", "Disabled", NULL, 0},
                                          {"./none.cubin", "default", NULL, 0},
                                          {DATA "sm_90.cubin", "default", HOST, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *output = in_child(warned, &cases[i]);
        assert_int_equal(occurrences(output, "\n"), cases[i].warnings);
        assert_int_equal(occurrences(output, "librex: warning: kernels run on the CPU: host image " HOST " "), cases[i].warnings);
    }
}

/* What the release refuses is not opened. */
TEST_IN_CHILD(refused_header)
{
    struct rex_module_image image;
    use_gpu(100);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_100.cubin", rex_release_row(19)), REX_EUNSUPPORTED);
    CHECK(strcmp(rex_last_error(), "device image " DATA "sm_100.cubin: LLVM 19 refuses CUDA 13's CUBIN header, and sm_100 has no older form; LLVM "
                                   "21.1.2 or later takes it") == 0);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_100.cubin", rex_release_row(21)), REX_OK);
    CHECK_EQUAL(image.bytes[EI_OSABI], 0x41);
    rex_module_image_close(&image);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_100.cubin", rex_release_row(22)), REX_OK);
    rex_module_image_close(&image);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "kernels.cu", rex_release_row(17)), REX_EIMAGE); /* which looks inside first */
}

TEST(test_out_of_order)
{
    assert_non_null(strstr(in_child(out_of_order, NULL), "librex: warning: kernels run on the CPU: host image " HOST " instead of " DATA "sm_90.cubin: cuInit: CUDA_ERROR_UNKNOWN"));
    assert_non_null(strstr(in_child(out_of_order, ""), "librex: warning: kernels run on the CPU: host image " HOST " is used: cuInit: CUDA_ERROR_UNKNOWN"));
}

/* In a child of fork there is no GPU any more, and that is the reason. */
TEST_IN_CHILD(after_a_fork)
{
    struct rex_module_image image;
    int status;
    use_gpu(90);
    CHECK_EQUAL(rex_cuda_devices(), 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.cubin", rex_release_row(22)), REX_EFORK);
        check_message("=device image tests/data/sm_90.cubin is for an NVIDIA GPU (sm_90), and this process has none: ");
        CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.cubin:" DATA "sm_80.cubin", rex_release_row(22)), REX_EFORK);
        check_message("=no device image can be used: tests/data/sm_90.cubin is for sm_90; tests/data/sm_80.cubin is for sm_80; this process has no "
                      "NVIDIA GPU: ");
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* ---- PTX --------------------------------------------------------------------------------------------------------------- */

struct fault {
    const char *fails, *log;
    int error;
    const char *message;
};

#define PTX_FAILS "device image tests/data/sm_90.ptx: the CUDA driver cannot compile the PTX: "

static const struct fault faults[] = {
    {"cuLinkCreate:2", "", REX_ECUDA, PTX_FAILS "cuLinkCreate: CUDA_ERROR_OUT_OF_MEMORY"},
    {"cuLinkAddData:200", "ptxas application ptx input, line 7; fatal : Parsing error\nptxas fatal : aborted\n", REX_EIMAGE,
     PTX_FAILS "cuLinkAddData: CUDA_ERROR_INVALID_IMAGE: ptxas application ptx input, line 7; fatal : Parsing error ptxas fatal : aborted"},
    {"cuLinkAddData:209", "\n\na \nb\n\nc", REX_EIMAGE, PTX_FAILS "cuLinkAddData: CUDA_ERROR_UNKNOWN: a b c"},
    {"cuLinkAddData:218", "", REX_EIMAGE, PTX_FAILS "cuLinkAddData: CUDA_ERROR_INVALID_PTX"},
    {"cuLinkComplete:218", "undefined function f", REX_EIMAGE, PTX_FAILS "cuLinkComplete: CUDA_ERROR_INVALID_PTX: undefined function f"},
    {"cuLinkAddData:222", "old", REX_EIMAGE,
     PTX_FAILS "cuLinkAddData: CUDA_ERROR_UNSUPPORTED_PTX_VERSION: old; the PTX is newer than the driver: compile it with an older nvcc, or "
               "make a CUBIN"},
    {"cuLinkAddData:221", "", REX_ECUDA,
     "device image tests/data/sm_90.ptx is PTX, and the CUDA driver's compiler, libnvidia-ptxjitcompiler.so.1, is not installed"},
    {"cuLinkComplete:719", "", REX_ECUDA, PTX_FAILS "cuLinkComplete: CUDA_ERROR_LAUNCH_FAILED"},
};

TEST_FOR_EACH(faulty, fault, faults)
{
    struct rex_module_image image;
    use_gpu(90);
    rex_configure(REX_OPTION_CACHE, "off");
    setenv("FAKE_LINK_FAILS", fault->fails, 1);
    setenv("FAKE_LINK_LOG", fault->log, 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), fault->error);
    if (strcmp(rex_last_error(), fault->message) != 0)
        fprintf(stderr, "not \"%s\"\n", fault->message);
    CHECK(strcmp(rex_last_error(), fault->message) == 0);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_linkers"), 0);
    CHECK_EQUAL(context_users(), 0);
}

static int (*function_of_driver(const char *name))(void *)
{
    int (*function)(void *);
    void *address = in_driver(name);
    memcpy(&function, &address, sizeof function);
    return function;
}

/* Of a long log there is as much as fits, and no byte behind it is written. */
TEST_IN_CHILD(long_log)
{
    static char log[4000];
    struct rex_module_image image;
    use_gpu(90);
    rex_configure(REX_OPTION_CACHE, "off");
    memset(log, '!', sizeof log - 1);
    setenv("FAKE_LINK_FAILS", "cuLinkAddData:218", 1);
    setenv("FAKE_LINK_LOG", log, 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_EIMAGE);
    CHECK_EQUAL(occurrences(rex_last_error(), "!"), 2048 - 2); /* the driver's NUL, and librex's own */
}

/* A context that cannot be entered is not left either: the program's own stays the thread's. */
TEST_IN_CHILD(not_entered)
{
    struct rex_module_image image;
    void *theirs, *current = NULL;
    use_gpu(90);
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    rex_configure(REX_OPTION_CACHE, "off");
    CHECK_EQUAL(rex_context_retain(1, &theirs), 0);
    CHECK_EQUAL(function_of_driver("cuCtxPushCurrent_v2")(theirs), 0);
    setenv("FAKE_CUDA_BREAKS", "cuCtxPushCurrent:800:0", 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "device image " DATA "sm_90.ptx: GPU 0, for compiling the PTX: cuCtxPushCurrent: CUDA_ERROR_NOT_PERMITTED") == 0);
    CHECK_EQUAL(function_of_driver("cuCtxGetCurrent")(&current), 0);
    CHECK(current == theirs);
    CHECK_EQUAL(context_users(), 1);
}

/* Nor is one that is not given; and of several GPUs it is the one that the PTX is for. */
TEST_IN_CHILD(not_retained)
{
    struct rex_module_image image;
    use_gpus("80,120");
    rex_configure(REX_OPTION_CACHE, "off");
    rex_configure(REX_OPTION_WAIT, "runtime");
    setenv("FAKE_LINK_CUBIN", DATA "sm_120.cubin", 1);
    setenv("FAKE_CUDA_BREAKS", "cuDevicePrimaryCtxRetain:719:0", 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "device image " DATA "sm_90.ptx: GPU 1, for compiling the PTX: cuDevicePrimaryCtxRetain: "
                                   "CUDA_ERROR_LAUNCH_FAILED") == 0);
    CHECK_EQUAL(context_users(), 0);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_OK);
    CHECK_EQUAL(((int *)in_driver("fake_cuda_starts"))[1], 1);
    CHECK_EQUAL(context_users(), 0);
    rex_module_image_close(&image);
    CHECK_EQUAL(context_users(), 0);
}

/* A driver without a linker is said to be one. */
TEST_IN_CHILD(without_linker)
{
    struct rex_module_image image;
    CHECK(dlopen(FAKE("cuda-old/libcuda.so.1"), RTLD_NOW) != NULL);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_ECUDA);
    CHECK(strcmp(rex_last_error(), "device image " DATA "sm_90.ptx is PTX: the CUDA driver is too old: it has no cuLinkCreate_v2, which came with "
                                   "CUDA 6.5, and is one of CUDA 13.0") == 0);
}

/* What the linker gives may be anything. */
TEST_IN_CHILD(wrong_product)
{
    struct rex_module_image image;
    use_gpu(90);
    rex_configure(REX_OPTION_CACHE, "off");
    setenv("FAKE_LINK_CUBIN", DATA "kernels.cu", 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_EIMAGE);
    setenv("FAKE_LINK_CUBIN", DATA "sm_80.cubin", 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(22)), REX_ENODEVICE);
    CHECK_EQUAL(context_users(), 0);
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

/* The CUBIN gets the header that an older release takes; the context that it was compiled in is there until the image is registered. */
static void compiled(const void *context)
{
    struct rex_module_image image;
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    use_gpu(90);
    rex_configure(REX_OPTION_CACHE, "off");
    setenv("FAKE_LINK_CUBIN", DATA "sm_90.cubin", 1);
    CHECK_EQUAL(rex_module_image_open(&image, &module, DATA "sm_90.ptx", rex_release_row(19)), 0);
    CHECK_EQUAL(image.bytes[EI_OSABI], 0x33);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_links"), 1);
    CHECK_EQUAL(*(int *)in_driver("fake_cuda_linkers"), 0);
    CHECK_EQUAL(context_users(), 1);
    rex_context_activate(90, false);
    rex_module_image_close(&image);
    CHECK(!image.holds_context && image.bytes == NULL);
    CHECK_EQUAL(context_users(), 1);
    rex_context_unhold();
    CHECK_EQUAL(context_users(), 0);
}

/* Numbers of source lines are kept where the PTX has any. */
TEST_IN_CHILD(lines)
{
    struct rex_module_image image;
    char path[256];
    snprintf(path, sizeof path, "%s/lines.ptx", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    copy_file(DATA "sm_90.ptx", path);
    FILE *file = fopen(path, "a");
    CHECK(file != NULL && fputs("\t.loc\t1 7 5\n", file) >= 0 && fclose(file) == 0);
    use_gpu(90);
    rex_configure(REX_OPTION_CACHE, "off");
    setenv("FAKE_LINK_CUBIN", DATA "sm_90.cubin", 1);
    const char *const files[] = {DATA "sm_90.ptx", path};
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_image_open(&image, &module, files[i], rex_release_row(22)), 0);
        rex_module_image_close(&image);
        rex_context_unhold();
        CHECK_EQUAL(*(int *)in_driver("fake_cuda_links_with_lines"), i);
    }
    remove(path);
}

TEST(test_compiled)
{
    const char *output = in_child(compiled, NULL);
    assert_int_equal(occurrences(output, "librex: info: device image " DATA "sm_90.ptx: PTX compiled for sm_90 in 2200 ms\n"), 1);
}
