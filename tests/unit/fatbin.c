/*
 * fatbin.c - files with several images: real fatbins of nvcc 13, as they are and compressed in both ways, a real OffloadBinary, and what is
 * damaged.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>

#include "bound.h"
#include "image/elf.h"
#include "image/fatbin.h"
#include "image/list.h"
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
    const struct rex_image_item *item = &list->items[index];
    unsigned char *bytes;
    size_t size, wanted_size;
    assert_int_equal(item->kind, expected->kind);
    assert_int_equal(item->architecture, expected->architecture);
    assert_int_equal(item->suffix, expected->suffix);
    if (item->kind == REX_IMAGE_OTHER)
        return;
    assert_int_equal(item->compressed, expected->compressed);
    assert_int_equal(rex_list_bytes((const struct rex_list *)list, index, "x.fatbin", &bytes, &size), 0);
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
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        check_item(list, i, &expected[i]);
    rex_image_list_close(list);
    free(bytes);
}

/* First of all: what another test has loaded stays. */
static void without(const char *library, const char *file, const char *part)
{
    char path[PATH_MAX];
    struct rex_list list;
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

TEST_IN_CHILD(without_zstd)
{
    without("libzstd.so.1", files[1], "libzstd.so.1 (package libzstd1)");
}

TEST_IN_CHILD(without_lz4)
{
    without("liblz4.so.1", files[2], "liblz4.so.1 (package liblz4-1)");
}

TEST(test_members)
{
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
TEST(test_views)
{
    for (size_t file = 0; file < 3; file++) {
        struct rex_image_list *list;
        struct rex_image_view *views[3];
        size_t size;
        unsigned char *bytes = read_bytes(files[file], &size);
        assert_int_equal(rex_image_list_open(&list, bytes, size, files[file]), 0);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(rex_image_view_open(&views[i], list, i, "member"), 0);
        rex_image_list_close(list);
        for (size_t i = 0; i < 3; i++) {
            const struct rex_image_symbol *narrow = rex_image_view_find(views[i], "narrow__kernel__");
            assert_int_equal(views[i]->kind, i < 2 ? REX_IMAGE_CUBIN : REX_IMAGE_PTX);
            assert_int_equal(views[i]->architecture, i == 0 ? 80 : 90);
            assert_non_null(narrow);
            assert_int_equal(narrow->parameters, 4);
            assert_int_equal(narrow->odd_index, 1);
            assert_int_equal(narrow->parameter[3].offset, 16);
            assert_int_equal(rex_image_view_find(views[i], "table")->size, 32);
            rex_image_view_close(views[i]);
        }
        free(bytes);
    }
}

TEST(test_arguments)
{
    struct rex_image_list *list = NULL;
    struct rex_image_view *view = NULL;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    assert_int_equal(rex_image_list_open(NULL, bytes, size, "x"), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_list_open: the list is NULL");
    assert_int_equal(rex_image_list_open(&list, NULL, size, "x"), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_list_open: the bytes is NULL");
    assert_int_equal(rex_image_list_open(&list, bytes, size, NULL), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_list_open: the name is NULL");
    assert_int_equal(rex_image_list_open(&list, bytes, 0, "x"), REX_EIMAGE);
    assert_int_equal(rex_image_list_open(&list, "text", 4, "x"), REX_EIMAGE);
    assert_null(list);
    assert_int_equal(rex_image_list_open(&list, bytes, size, "x"), 0);
    assert_int_equal(rex_image_view_open(&view, list, 1, "x"), REX_EINVAL);
    assert_int_equal(rex_image_view_open(&view, list, 0, NULL), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_view_open: the name is NULL");
    assert_int_equal(rex_image_view_open(&view, NULL, 0, "x"), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_view_open: the list is NULL");
    assert_int_equal(rex_image_view_open(NULL, list, 0, "x"), REX_EINVAL);
    assert_string_equal(rex_last_error(), "rex_image_view_open: the view is NULL");
    assert_null(view);
    assert_int_equal(rex_image_view_open(&view, list, 0, "x"), 0);
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
    struct rex_list list;
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

TEST(test_refused)
{
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
TEST(test_two_in_a_row)
{
    struct rex_list list;
    size_t size;
    unsigned char *bytes = read_bytes(files[1], &size), *twice = malloc(2 * size);
    assert_non_null(twice);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    assert_int_equal(rex_list_open(&list, twice, 2 * size, "x"), REX_EIMAGE);
    assert_non_null(strstr(rex_last_error(), "several fatbins lie one behind the other"));
    free(bytes);
    free(twice);
}

/* ---- exactly how long ---------------------------------------------------------------------------------------------- */

/* A fatbin of SIZE bytes with one member, whose payload is PAYLOAD bytes. */
static void make_fatbin(unsigned char *bytes, size_t size, uint64_t payload)
{
    memset(bytes, 0, size);
    put(bytes, 0, 0xba55ed50, 4);
    put(bytes, VERSION, 1, 2);
    put(bytes, HEADER_SIZE, MEMBER, 2);
    put(bytes, SIZE, size - MEMBER, 8);
    put(bytes, MEMBER, REX_FATBIN_CUBIN, 2);
    put(bytes, MEMBER_SIZE, 64, 4);
    put(bytes, PAYLOAD, payload, 8);
}

/* What rex_fatbin_next() says of the bytes, and how many members there are. */
static int walk(const unsigned char *bytes, size_t size, char why[160])
{
    struct rex_fatbin fatbin = {.bytes = bytes, .size = size};
    struct rex_fatbin_member member;
    int members = 0, more;
    while ((more = rex_fatbin_next(&fatbin, &member)) > 0) {
        members++;
        assert_true(member.payload >= bytes && member.stored <= size - (size_t)(member.payload - bytes));
    }
    snprintf(why, 160, "%s", fatbin.why);
    return more < 0 ? more : members;
}

TEST(test_limits)
{
    enum { ROOM = 100, WHOLE = FIRST_PAYLOAD + ROOM };
    static const struct {
        size_t at, width;
        uint64_t value;
        size_t size;     /* of the file */
        int members;     /* -1: refused */
        const char *why; /* "" where it is not */
    } cases[] = {
        {VERSION, 2, 1, WHOLE, 1, ""},
        {VERSION, 2, 1, MEMBER - 1, -1, "the fatbin is truncated inside its header"},
        {SIZE, 8, 0, MEMBER, 0, ""},
        {0, 4, 0xba55ed51, WHOLE, -1, "it is no fatbin"},
        {HEADER_SIZE, 2, MEMBER - 1, WHOLE, -1, "the fatbin is of a form that is not known"},
        {HEADER_SIZE, 2, WHOLE + 1, WHOLE, -1, "the fatbin is of a form that is not known"},
        {HEADER_SIZE, 2, WHOLE, WHOLE, -1, "the fatbin is truncated: it ends before its last member"},
        {SIZE, 8, WHOLE - MEMBER + 1, WHOLE, -1, "the fatbin is truncated: it ends before its last member"},
        {SIZE, 8, 64, WHOLE, -1, "the member at byte 16 of the fatbin does not end inside it"},
        {SIZE, 8, 63, WHOLE, -1, "the member at byte 16 of the fatbin is truncated inside its header"},
        {MEMBER_SIZE, 4, 63, WHOLE, -1, "the member at byte 16 of the fatbin does not end inside it"},
        {MEMBER_SIZE, 4, 64 + ROOM, WHOLE, -1, "the member at byte 16 of the fatbin does not end inside it"},
        {PAYLOAD, 8, ROOM + 1, WHOLE, -1, "the member at byte 16 of the fatbin does not end inside it"},
        {PAYLOAD, 8, ROOM - 64, WHOLE, -1, "the member at byte 116 of the fatbin does not end inside it"}, /* another header of zeroes */
        {PAYLOAD, 8, ROOM - 63, WHOLE, -1, "the member at byte 117 of the fatbin is truncated inside its header"},
        {FLAGS, 8, 0x8000, WHOLE, 1, ""}, /* of 0 bytes, packed and unpacked */
    };
    unsigned char bytes[WHOLE + 16];
    char why[160];
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_fatbin(bytes, WHOLE, ROOM);
        memset(bytes + WHOLE, 0, 16);
        put(bytes, cases[i].at, cases[i].value, cases[i].width);
        int members = walk(bytes, cases[i].size, why);
        if (members != cases[i].members || strcmp(why, cases[i].why) != 0)
            fail_msg("case %zu: %d, \"%s\"", i, members, why);
    }
    /* A header of 64 bytes and no payload; one that is longer; and packed sizes that just can be. */
    make_fatbin(bytes, FIRST_PAYLOAD, 0);
    assert_int_equal(walk(bytes, FIRST_PAYLOAD, why), 1);
    make_fatbin(bytes, WHOLE, ROOM - 8);
    put(bytes, MEMBER_SIZE, 72, 4);
    assert_int_equal(walk(bytes, WHOLE, why), 1);
    for (uint64_t more = 0; more < 2; more++) {
        make_fatbin(bytes, WHOLE, ROOM);
        put(bytes, FLAGS, 0x2000, 8);
        put(bytes, PACKED, ROOM, 4);
        put(bytes, UNPACKED, ((uint64_t)1 << 30) + more, 8);
        assert_int_equal(walk(bytes, WHOLE, why), more == 0 ? 1 : -1);
        put(bytes, UNPACKED, 1, 8);
        put(bytes, PACKED, ROOM + more, 4);
        assert_int_equal(walk(bytes, WHOLE, why), more == 0 ? 1 : -1);
    }
    assert_string_equal(why, "the member at byte 16 of the fatbin has no size that can be");
    /* Its beginning alone, and how long the whole one is. */
    make_fatbin(bytes, WHOLE, ROOM);
    assert_true(rex_fatbin_is(bytes, 4) && !rex_fatbin_is(bytes, 3));
    assert_int_equal(rex_fatbin_extent(bytes, MEMBER), WHOLE + 4);
    assert_int_equal(rex_fatbin_extent(bytes, MEMBER - 1), 0);
    put(bytes, SIZE, UINT64_MAX - MEMBER - 4, 8);
    assert_true(rex_fatbin_extent(bytes, MEMBER) == UINT64_MAX);
    put(bytes, SIZE, UINT64_MAX - 2, 8);
    assert_true(rex_fatbin_extent(bytes, MEMBER) == UINT64_MAX);
    put(bytes, VERSION, 2, 2);
    assert_int_equal(rex_fatbin_extent(bytes, MEMBER), 0);
    make_fatbin(bytes, WHOLE, ROOM);
    put(bytes, 0, 0, 4);
    assert_int_equal(rex_fatbin_extent(bytes, MEMBER), 0);
}

/* LZ4 can make 255 bytes of each, and no more: then its bytes are not looked at. */
TEST(test_most_of_lz4)
{
    unsigned char packed[4] = {0}, *bytes = NULL;
    assert_int_equal(rex_unpack(REX_PACKED_LZ4, packed, sizeof packed, 255 * sizeof packed, &bytes, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x cannot be unpacked: its LZ4 data is damaged");
    assert_int_equal(rex_unpack(REX_PACKED_LZ4, packed, sizeof packed, 255 * sizeof packed + 255, &bytes, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x is compressed with LZ4, and does not unpack to the 1275 bytes that its header says");
    assert_null(bytes);
}

/* ---- OffloadBinaries that were made here ------------------------------------------------------------------------------- */

struct container {
    unsigned char magic[4];
    uint32_t version;
    uint64_t size, entries_offset, entries_count;
    struct {
        uint16_t image_kind, producer;
        uint32_t flags;
        uint64_t strings_offset, strings_count, image_offset, image_size;
    } entries[2];
    unsigned char images[64];
};

static struct container make_container(uint32_t version)
{
    struct container made = {.magic = {0x10, 0xff, 0x10, 0xad},
                             .version = version,
                             .size = sizeof made,
                             .entries_offset = offsetof(struct container, entries),
                             .entries_count = version == 1 ? sizeof made.entries[0] : 2};
    for (size_t i = 0; i < 2; i++) {
        made.entries[i].image_offset = offsetof(struct container, images) + 40 * i;
        made.entries[i].image_size = i == 0 ? 40 : 24;
    }
    return made;
}

static size_t images_of(const struct container *container, size_t size)
{
    return rex_container_images((const unsigned char *)container, size);
}

TEST(test_containers)
{
    struct rex_span span;
    struct container made = make_container(2);
    const unsigned char *bytes = (const unsigned char *)&made;
    const size_t entries = offsetof(struct container, entries), two = entries + sizeof made.entries;
    for (uint32_t version = 0; version < 4; version++) {
        made = make_container(version);
        assert_int_equal(images_of(&made, sizeof made), version == 1 || version == 2 ? version : 0);
        assert_int_equal(rex_container_version(bytes, REX_CONTAINER_HEADER), version);
    }
    made = make_container(2);
    assert_int_equal(rex_container_version(bytes, REX_CONTAINER_HEADER - 1), 0);
    /* Room for two entries, and a byte less; a table at the end, and behind it. */
    assert_int_equal(images_of(&made, two), 2);
    assert_int_equal(images_of(&made, two - 1), 0);
    made.entries_count = 1;
    assert_int_equal(images_of(&made, two - 1), 1);
    made.entries_count = 0;
    assert_int_equal(images_of(&made, sizeof made), 0);
    made.entries_count = 1;
    made.entries_offset = sizeof made;
    assert_int_equal(images_of(&made, sizeof made), 0);
    made.entries_offset = sizeof made + 1;
    assert_int_equal(images_of(&made, sizeof made), 0);
    made = make_container(2);
    assert_int_equal(rex_container_image(bytes, sizeof made, 2, &span), -1);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rex_container_image(bytes, sizeof made, i, &span), 0);
        assert_int_equal(span.offset, made.entries[i].image_offset);
        assert_int_equal(span.size, made.entries[i].image_size);
    }
    made.entries[1].image_size++;
    assert_int_equal(rex_container_image(bytes, sizeof made, 1, &span), -1);
    made.entries[1].image_offset = sizeof made;
    made.entries[1].image_size = 0;
    assert_int_equal(rex_container_image(bytes, sizeof made, 1, &span), 0);
    made.entries[1].image_offset++;
    assert_int_equal(rex_container_image(bytes, sizeof made, 1, &span), -1);
    /* How long it says that it is. */
    static const struct {
        uint64_t says;
        bool can_be;
    } sizes[] = {{REX_CONTAINER_HEADER - 1, false}, {REX_CONTAINER_HEADER, true}, {sizeof made, true}, {sizeof made + 1, false}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        made.size = sizes[i].says;
        assert_int_equal(rex_container_size(bytes, sizeof made), sizes[i].can_be ? sizes[i].says : 0);
    }
    made.magic[3] = 0;
    assert_int_equal(rex_container_size(bytes, sizeof made), 0);
    assert_int_equal(rex_container_version(bytes, sizeof made), 0);
    assert_int_equal(images_of(&made, sizeof made), 0);
    /* As many images as any file has, and one more. */
    enum { MOST = 65536, ENTRY = sizeof made.entries[0] };
    size_t size = REX_CONTAINER_HEADER + (MOST + 1) * ENTRY;
    unsigned char *many = calloc(1, size);
    assert_non_null(many);
    for (uint64_t count = MOST; count <= MOST + 1; count++) {
        made = make_container(2);
        made.entries_count = count;
        memcpy(many, &made, REX_CONTAINER_HEADER);
        assert_int_equal(rex_container_images(many, size), count == MOST ? MOST : 0);
    }
    free(many);
}

static void check_list(const void *bytes, size_t size, size_t count, const size_t *offsets)
{
    struct rex_list list;
    assert_int_equal(rex_list_open(&list, bytes, size, "x.offload"), 0);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list.entries[i].item.offset, offsets[i]);
        assert_int_equal(list.entries[i].item.kind, REX_IMAGE_OTHER);
        assert_int_equal(list.entries[i].item.size, list.entries[i].item.stored);
    }
    assert_false(list.plain);
    rex_list_close(&list);
}

/* Images that lie over each other take no more bytes than the container; what is behind the last container is padding. */
TEST(test_listed_containers)
{
    static const char wrong[] = "device image x.offload cannot be used: its OffloadBinary is truncated, or of a version that is not known, "
                                "or its images overlap";
    struct container two[3] = {make_container(2), make_container(1), {.version = 0}};
    struct rex_list list;
    const size_t first = offsetof(struct container, images);
    check_list(two, sizeof two, 3, (const size_t[]){first, first + 40, sizeof *two + first});
    two[0].entries[0].image_size = sizeof *two - 24;
    two[0].entries[0].image_offset = 24;
    check_list(two, sizeof *two, 2, (const size_t[]){24, first + 40});
    two[0].entries[0].image_size++;
    two[0].entries[0].image_offset--;
    assert_int_equal(rex_list_open(&list, two, sizeof *two, "x.offload"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), wrong);
    two[0] = make_container(2);
    two[1].size = sizeof *two * 2 + 1;
    assert_int_equal(rex_list_open(&list, two, sizeof two, "x.offload"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), wrong);
    two[1] = make_container(3);
    assert_int_equal(rex_list_open(&list, two, sizeof two, "x.offload"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), wrong);
}

/* A CUBIN whose header names no architecture is known by what is in it. */
TEST(test_no_architecture)
{
    struct rex_list list;
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/sm_90.cubin", &size);
    put(bytes, 48, 0, 4);
    assert_int_equal(rex_list_open(&list, bytes, size, "x"), 0);
    assert_true(list.plain && list.count == 1);
    assert_int_equal(list.entries[0].item.kind, REX_IMAGE_CUBIN);
    assert_int_equal(list.entries[0].item.architecture, 0);
    rex_list_close(&list);
    free(bytes);
}

/* What the first bytes tell is not looked at further; what they do not, whoever reads it says. */
TEST(test_first_bytes)
{
    unsigned char bytes[sizeof(Elf64_Ehdr)] = {0};
    struct rex_list list;
    size_t size;
    unsigned char *cubin = read_bytes("tests/data/sm_90.cubin", &size);
    bytes[offsetof(Elf64_Ehdr, e_machine)] = REX_HOST_MACHINE & 0xff;
    assert_int_equal(rex_list_open(&list, bytes, sizeof bytes, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x cannot be used: it is not an ELF file; "
         "a device image is a CUBIN, a fatbin, PTX, an OffloadBinary or a shared object");
    memcpy(bytes, ELFMAG, SELFMAG);
    assert_int_equal(rex_list_open(&list, bytes, sizeof bytes, "x"), 0);
    assert_int_equal(list.entries[0].item.kind, REX_IMAGE_HOST);
    rex_list_close(&list);
    assert_int_equal(rex_list_open(&list, bytes, sizeof bytes - 1, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x cannot be used: it is truncated inside the ELF header");
    assert_int_equal(rex_list_open(&list, bytes, 1, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x cannot be used: it is not an ELF file; "
         "a device image is a CUBIN, a fatbin, PTX, an OffloadBinary or a shared object");
    assert_int_equal(rex_list_open(&list, bytes, 0, "x"), REX_EIMAGE);
    assert_string_equal(rex_last_error(), "device image x is empty");
    assert_int_equal(rex_list_open(&list, cubin, 100, "x"), 0);
    assert_int_equal(list.entries[0].item.kind, REX_IMAGE_CUBIN);
    assert_true(list.plain && list.entries[0].item.size == 100 && list.entries[0].item.stored == 100);
    rex_list_close(&list);
    free(cubin);
}

/* What a few bytes would unpack to: each image by itself, and all whose views may be open at a time. */
TEST(test_unpacks_to_much)
{
    enum { ONE = 64 + 8, WHOLE = MEMBER + 2 * ONE };
    unsigned char made[WHOLE], *bytes;
    char much[160];
    const uint64_t most = rex_unpack_most(WHOLE);
    for (uint64_t more = 0; more < 2; more++) {
        struct rex_image_list *list;
        struct rex_image_view *view = NULL;
        size_t size;
        make_fatbin(made, WHOLE, 8);
        put(made, FLAGS, 0x8000, 8);
        put(made, PACKED, 8, 4);
        memcpy(made + MEMBER + ONE, made + MEMBER, ONE);
        put(made, UNPACKED, 5 << 20, 8);
        put(made, UNPACKED + ONE, most - (5 << 20) - 2 * REX_UNPACK_EACH + more, 8);
        snprintf(much, sizeof much, "device image x would unpack to %llu bytes, of a file of %d bytes: build it with nvcc --no-compress",
                 (unsigned long long)most + 1, WHOLE);
        assert_int_equal(rex_image_list_open(&list, made, WHOLE, "x"), 0);
        assert_int_equal(rex_image_view_open(&view, list, 0, "x"), REX_EIMAGE);
        assert_non_null(strstr(rex_last_error(), "does not unpack to the 5242880 bytes"));
        assert_int_equal(rex_image_view_open(&view, list, 1, "x"), REX_EIMAGE);
        assert_int_equal(strcmp(rex_last_error(), much) == 0, more > 0);
        assert_true(more > 0 || strstr(rex_last_error(), "does not unpack to the ") != NULL);
        assert_null(view);
        assert_int_equal(rex_list_view_most((const struct rex_list *)list, 0), 2 * ((5 << 20) + REX_UNPACK_EACH));
        assert_int_equal(rex_image_view_open(&view, list, 2, "x"), REX_EINVAL);
        assert_string_equal(rex_last_error(), "rex_image_view_open: there is no image 2");
        rex_image_list_close(list);
        put(made, UNPACKED, most - REX_UNPACK_EACH + more, 8);
        assert_int_equal(rex_image_list_open(&list, made, WHOLE, "x"), 0);
        assert_int_equal(rex_list_bytes((const struct rex_list *)list, 0, "x", &bytes, &size), REX_EIMAGE);
        assert_int_equal(strstr(rex_last_error(), "does not unpack to the ") != NULL, more == 0);
        assert_int_equal(strstr(rex_last_error(), "device image x would unpack to ") != NULL, more > 0);
        rex_image_list_close(list);
    }
    struct rex_list plain = {.entries = &(struct rex_image_entry){.packed = 0}};
    assert_true(rex_list_view_most(&plain, 0) == SIZE_MAX);
}

TEST(test_targets)
{
    static const struct {
        struct rex_image_item item;
        const char *target;
    } cases[] = {{{.kind = REX_IMAGE_CUBIN, .architecture = 90}, "sm_90"},
                 {{.kind = REX_IMAGE_CUBIN, .architecture = 100, .suffix = 'f'}, "sm_100f"},
                 {{.kind = REX_IMAGE_PTX, .architecture = 75}, "compute_75 (PTX)"},
                 {{.kind = REX_IMAGE_PTX, .architecture = 90, .suffix = 'a'}, "compute_90a (PTX)"},
                 {{.kind = REX_IMAGE_HOST}, "the CPU"},
                 {{.kind = REX_IMAGE_OTHER, .architecture = 90}, "another runtime"}};
    char target[REX_TARGET_MAX];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_ptr_equal(rex_item_target(&cases[i].item, target), target);
        assert_string_equal(target, cases[i].target);
    }
}

/* ---- damaged files never do harm --------------------------------------------------------------------------------------- */

/* Everything that can be done with the bytes, which lie in memory of exactly that size. Whether they were taken. */
static bool use(const unsigned char *bytes, size_t size)
{
    struct rex_image_list *list;
    struct rex_image_view *view;
    unsigned char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    bool taken = rex_image_list_open(&list, exact, size, "damaged") == 0;
    for (size_t i = 0; taken && i < list->count; i++) {
        const struct rex_image_item *item = &list->items[i];
        assert_true(item->offset <= size && item->stored <= size - item->offset);
        if (rex_image_view_open(&view, list, i, "damaged") == 0)
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

TEST(test_every_truncation)
{
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

TEST(test_mutations)
{
    uint64_t random = 1;
    size_t taken = 0;
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
