/*
 * fatbin.c - files with several images: real fatbins of nvcc 13, as they are and compressed in both ways, a real OffloadBinary, and what is
 * damaged.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>

#include "bound.h"
#include "image/open.h"
#include "rex/inspect.h"
#include "image/view.h"

static const char *const files[] = {"tests/data/three.fatbin",   "tests/data/three_zstd.fatbin", "tests/data/three_lz4.fatbin",
                                    "tests/data/special.fatbin", "tests/data/two.offload",       "tests/data/sm_90.fatbin"};

/* Places in the first member's header of a fatbin, and in the fatbin's own. */
enum { VERSION = 4, HEADER_SIZE = 6, SIZE = 8, MEMBER = 16, MEMBER_SIZE = MEMBER + 4, PAYLOAD = MEMBER + 8, PACKED = MEMBER + 16,
       FLAGS = MEMBER + 40, UNPACKED = MEMBER + 56, FIRST_PAYLOAD = MEMBER + 64 };

/* ---- what is in them --------------------------------------------------------------------------------------------------- */

struct expected {
    enum rex_image_kind kind;
    unsigned architecture;
    char suffix;
    bool compressed;
    const char *same_as; /* a file with the same bytes */
};

static void check_item(const struct rex_image_list *list, size_t index, const struct expected *expected)
{
    const struct rex_image_item *item = rex_image_list_item(list, index);
    unsigned char *bytes;
    size_t size, wanted_size;
    assert_non_null(item);
    assert_int_equal(item->kind, expected->kind);
    assert_int_equal(item->architecture, expected->architecture);
    assert_int_equal(item->suffix, expected->suffix);
    if (item->kind == REX_IMAGE_OTHER)
        return;
    assert_int_equal(item->compressed, expected->compressed);
    assert_int_equal(rex_list_bytes(list, index, "x.fatbin", &bytes, &size), 0);
    assert_int_equal(size, item->size);
    assert_int_equal(bytes[size], 0);
    if (expected->same_as != NULL) {
        unsigned char *wanted = read_bytes(expected->same_as, &wanted_size);
        assert_int_equal(size, wanted_size);
        assert_memory_equal(bytes, wanted, size);
        free(wanted);
    }
    free(bytes);
}

static void check_file(const char *file, const struct expected *expected, size_t count)
{
    struct rex_image_list *list = NULL;
    size_t size;
    unsigned char *bytes = read_bytes(file, &size);
    assert_int_equal(rex_image_list_open(&list, bytes, size, file), 0);
    for (size_t i = 0; i < count; i++)
        check_item(list, i, &expected[i]);
    assert_null(rex_image_list_item(list, count));
    rex_image_list_close(list);
    free(bytes);
}

static void test_members(void **state)
{
    (void)state;
    for (int packed = 0; packed < 3; packed++) {
        const struct expected three[] = {{REX_IMAGE_CUBIN, 80, 0, packed, "tests/data/sm_80.cubin"},
                                         {REX_IMAGE_CUBIN, 90, 0, packed, "tests/data/sm_90.cubin"},
                                         {REX_IMAGE_PTX, 90, 0, packed, NULL}};
        check_file(files[packed], three, 3);
    }
    static const struct expected special[] = {{REX_IMAGE_CUBIN, 90, 'a', true, NULL},  {REX_IMAGE_PTX, 90, 'a', true, NULL},
                                              {REX_IMAGE_CUBIN, 100, 'f', true, NULL}, {REX_IMAGE_PTX, 100, 'f', true, NULL},
                                              {REX_IMAGE_CUBIN, 75, 0, true, "tests/data/limits_sm_75.cubin"},
                                              {REX_IMAGE_OTHER, 75, 0, false, NULL}}; /* for the linker alone */
    static const struct expected two[] = {{REX_IMAGE_CUBIN, 80, 0, false, "tests/data/sm_80.cubin"},
                                          {REX_IMAGE_CUBIN, 80, 0, true, "tests/data/sm_80.cubin"},
                                          {REX_IMAGE_CUBIN, 90, 0, true, "tests/data/sm_90.cubin"},
                                          {REX_IMAGE_PTX, 90, 0, true, NULL}};
    static const struct expected one[] = {{REX_IMAGE_CUBIN, 90, 0, false, "tests/data/sm_90.cubin"}};
    static const struct expected ptx[] = {{REX_IMAGE_PTX, 90, 0, false, "tests/data/sm_90.ptx"}};
    static const struct expected host[] = {{REX_IMAGE_HOST, 0, 0, false, FAKE("host.so")}};
    check_file("tests/data/two.offload", two, COUNT(two));
    check_file("tests/data/sm_90.cubin", one, 1);
    check_file("tests/data/sm_90.ptx", ptx, 1);
    check_file(FAKE("host.so"), host, 1);

    check_file("tests/data/special.fatbin", special, COUNT(special));
}

/* Views of members say what views of the same images in files say; and they outlive the list. */
static void test_views(void **state)
{
    (void)state;
    for (size_t file = 0; file < 3; file++) {
        struct rex_image_list *list;
        struct rex_image_view *views[3];
        size_t size;
        unsigned char *bytes = read_bytes(files[file], &size);
        assert_int_equal(rex_image_list_open(&list, bytes, size, files[file]), 0);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(rex_image_list_view(&views[i], list, i, "member"), 0);
        rex_image_list_close(list);
        for (size_t i = 0; i < 3; i++) {
            const struct rex_image_symbol *narrow = rex_image_view_find(views[i], "narrow__kernel__");
            assert_int_equal(rex_image_view_kind(views[i]), i < 2 ? REX_IMAGE_CUBIN : REX_IMAGE_PTX);
            assert_int_equal(rex_image_view_architecture(views[i]), i == 0 ? 80 : 90);
            assert_non_null(narrow);
            assert_int_equal(narrow->parameters, 4);
            assert_int_equal(narrow->odd_index, 1);
            assert_int_equal(rex_image_view_parameter(views[i], narrow, 3)->offset, 16);
            assert_int_equal(rex_image_view_find(views[i], "table")->size, 32);
            rex_image_view_close(views[i]);
        }
        free(bytes);
    }
}

static void test_arguments(void **state)
{
    struct rex_image_list *list = NULL;
    struct rex_image_view *view = NULL;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    (void)state;
    assert_int_equal(rex_image_list_open(NULL, bytes, size, "x"), REX_EINVAL);
    assert_int_equal(rex_image_list_open(&list, NULL, size, "x"), REX_EINVAL);
    assert_int_equal(rex_image_list_open(&list, bytes, size, NULL), REX_EINVAL);
    assert_int_equal(rex_image_list_open(&list, bytes, 0, "x"), REX_EIMAGE);
    assert_int_equal(rex_image_list_open(&list, "text", 4, "x"), REX_EIMAGE);
    assert_null(list);
    assert_int_equal(rex_image_list_open(&list, bytes, size, "x"), 0);
    assert_int_equal(rex_image_list_view(&view, list, 1, "x"), REX_EINVAL);
    assert_int_equal(rex_image_list_view(&view, list, 0, NULL), REX_EINVAL);
    assert_int_equal(rex_image_list_view(&view, NULL, 0, "x"), REX_EINVAL);
    assert_null(view);
    assert_int_equal(rex_image_list_view(&view, list, 0, "x"), 0);
    rex_image_view_close(view);
    rex_image_list_close(list);
    rex_image_list_close(NULL);
    free(bytes);
}

/* ---- what is refused, and in which words ------------------------------------------------------------------------------- */

static void put(unsigned char *bytes, size_t at, uint64_t value, size_t size)
{
    memcpy(bytes + at, &value, size);
}

/* The file with SIZE bytes at AT changed to VALUE is refused, either when it is opened or when its first image is unpacked. */
static void refused(const char *file, size_t at, uint64_t value, size_t value_size, const char *because)
{
    struct rex_image_list list;
    unsigned char *unpacked;
    size_t size;
    unsigned char *bytes = read_bytes(file, &size);
    put(bytes, at, value, value_size);
    int result = rex_list_open(&list, bytes, size, "x.fatbin");
    if (result == 0) {
        result = rex_list_bytes(&list, 0, "x.fatbin", &unpacked, &size);
        rex_list_close(&list);
    }
    assert_int_equal(result, REX_EIMAGE);
    if (strstr(rex_last_error(), because) == NULL || strstr(rex_last_error(), "x.fatbin") == NULL)
        fail_msg("no \"%s\" in \"%s\"", because, rex_last_error());
    free(bytes);
}

static void test_refused(void **state)
{
    (void)state;
    const char *plain = files[0], *zstd = files[1], *lz4 = files[2];
    refused(plain, VERSION, 2, 2, "of a form that is not known");
    refused(plain, HEADER_SIZE, 8, 2, "of a form that is not known");
    refused(plain, SIZE, UINT64_MAX, 8, "ends before its last member");
    refused(plain, SIZE, 26409, 8, "ends before its last member");
    refused(plain, SIZE, 0, 8, "a fatbin without a member");
    refused(plain, SIZE, 40, 8, "member at byte 16 of the fatbin is truncated inside its header");
    refused(plain, SIZE, 80, 8, "member at byte 16 of the fatbin does not end inside it");
    refused(plain, MEMBER_SIZE, 32, 4, "does not end inside it");
    refused(plain, MEMBER_SIZE, UINT32_MAX, 4, "does not end inside it");
    refused(plain, PAYLOAD, UINT64_MAX, 8, "does not end inside it");
    refused(plain, FLAGS, 0x8011, 8, "does not unpack to the");
    refused(zstd, PACKED, 0, 4, "no size that can be");
    refused(zstd, PACKED, UINT32_MAX, 4, "no size that can be");
    refused(zstd, UNPACKED, 0, 8, "no size that can be");
    refused(zstd, UNPACKED, ((uint64_t)1 << 30) + 1, 8, "unpacks to more than a GiB");
    refused(zstd, UNPACKED, 11487, 8, "does not unpack to the 11487 bytes that its header says");
    refused(zstd, UNPACKED, (uint64_t)16 << 20, 8, "does not unpack to the 16777216 bytes");
    refused(zstd, UNPACKED, (uint64_t)17 << 20, 8, "would unpack to 17825792 bytes, of a file of 3872 bytes");
    refused(zstd, FIRST_PAYLOAD + 7, UINT64_MAX, 8, "its Zstandard data is damaged");
    refused(zstd, FLAGS, 0x2011, 8, "its LZ4 data is damaged");
    refused(lz4, UNPACKED, (uint64_t)16 << 20, 8, "does not unpack to the 16777216 bytes");
    refused(lz4, UNPACKED, 11487, 8, "its LZ4 data is damaged");
    refused(lz4, FIRST_PAYLOAD, 0xff, 1, "its LZ4 data is damaged");
    refused("tests/data/two.offload", 16, 1u << 20, 8, "its OffloadBinary is truncated");
    refused("tests/data/two.offload", 4, 3, 4, "of a version that is not known");
}

/* Two fatbins in one file hold the kernels of two sources. */
static void test_two_in_a_row(void **state)
{
    struct rex_image_list list;
    size_t size;
    unsigned char *bytes = read_bytes(files[1], &size), *twice = malloc(2 * size);
    (void)state;
    assert_non_null(twice);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    assert_int_equal(rex_list_open(&list, twice, 2 * size, "x"), REX_EIMAGE);
    assert_non_null(strstr(rex_last_error(), "several fatbins lie one behind the other"));
    free(bytes);
    free(twice);
}

static void without(const char *library, const char *file, const char *part)
{
    char path[PATH_MAX];
    struct rex_image_list list;
    unsigned char *unpacked = NULL;
    size_t size, unpacked_size = 0;
    unsigned char *bytes = read_bytes(file, &size);
    snprintf(path, sizeof path, FAKE("empty/%s"), library);
    CHECK(dlopen(path, RTLD_NOW) != NULL);
    CHECK_EQUAL(rex_list_open(&list, bytes, size, "x.fatbin"), 0);
    CHECK_EQUAL(rex_list_bytes(&list, 0, "x.fatbin", &unpacked, &unpacked_size), REX_EUNSUPPORTED);
    CHECK(unpacked == NULL && unpacked_size == 0);
    CHECK_MENTIONS(rex_last_error(), part);
    CHECK_MENTIONS(rex_last_error(), "x.fatbin");
    CHECK_MENTIONS(rex_last_error(), "nvcc --no-compress");
    rex_list_close(&list);
    free(bytes);
}

static void without_zstd(const void *context)
{
    (void)context;
    without("libzstd.so.1", files[1], "libzstd.so.1 (package libzstd1)");
}

static void without_lz4(const void *context)
{
    (void)context;
    without("liblz4.so.1", files[2], "liblz4.so.1 (package liblz4-1)");
}

static void test_missing_libraries(void **state)
{
    (void)state;
    in_child(without_zstd, NULL);
    in_child(without_lz4, NULL);
}

/* ---- damaged files never do harm --------------------------------------------------------------------------------------- */

/* Everything that can be done with the bytes, which lie in memory of exactly that size. Whether they were taken. */
static bool use(const unsigned char *bytes, size_t size)
{
    struct rex_image_list *list;
    const struct rex_image_item *item;
    struct rex_image_view *view;
    unsigned char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    bool taken = rex_image_list_open(&list, exact, size, "damaged") == 0;
    for (size_t i = 0; taken && (item = rex_image_list_item(list, i)) != NULL; i++) {
        assert_true(item->offset <= size && item->stored <= size - item->offset);
        if (rex_image_list_view(&view, list, i, "damaged") == 0)
            rex_image_view_close(view);
    }
    if (taken)
        rex_image_list_close(list);
    free(exact);
    return taken;
}

static void quiet(void)
{
    assert_int_equal(rex_configure(REX_OPTION_LOG, "off"), 0);
}

static void test_every_truncation(void **state)
{
    (void)state;
    quiet();
    for (size_t file = 1; file < COUNT(files); file++) { /* the first is the second one, larger */
        size_t size, taken = 0;
        unsigned char *bytes = read_bytes(files[file], &size);
        for (size_t length = 0; length < size; length++)
            taken += use(bytes, length);
        /* What follows the first of two containers may be padding. */
        assert_true(strstr(files[file], ".offload") != NULL ? taken < 100 : taken == 0);
        free(bytes);
    }
    rex_configure(REX_OPTION_LOG, NULL);
}

#define MUTATIONS 4000

static void test_mutations(void **state)
{
    uint64_t random = 1;
    size_t taken = 0;
    (void)state;
    quiet();
    for (size_t file = 1; file < COUNT(files); file++) {
        size_t size;
        unsigned char *bytes = read_bytes(files[file], &size);
        for (size_t i = 0; i < MUTATIONS; i++) {
            unsigned char saved[8], changes = (unsigned char)(1 + i % 4);
            size_t at[4];
            for (unsigned char j = 0; j < changes; j++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                /* Every other one into the headers, where a byte means most. */
                at[j] = (size_t)(random >> 33) % (j % 2 == 0 ? 96 : size);
                saved[j] = bytes[at[j]];
                bytes[at[j]] = (unsigned char)(random >> 25);
            }
            taken += use(bytes, size);
            for (unsigned char j = changes; j-- > 0;)
                bytes[at[j]] = saved[j];
        }
        free(bytes);
    }
    rex_configure(REX_OPTION_LOG, NULL);
    print_message("of %zu mutations %zu were taken\n", (COUNT(files) - 1) * MUTATIONS, taken);
    assert_in_range(taken, MUTATIONS / 10, (COUNT(files) - 2) * MUTATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_libraries), /* before the real ones are in this process */
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_two_in_a_row),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
