/*
 * fatbin.c - files with several images: real fatbins of nvcc 13, as they are and compressed in both
 * ways, a real OffloadBinary, ones that are made here, and what is damaged.
 * tests/golden/messages/inspect.txt has what is found in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"
#include "image/fatbin.h"
#include "images.h"

MESSAGES("inspect");

#define PLAIN "tests/data/three.fatbin"
#define ZSTD "tests/data/three_zstd.fatbin"
#define LZ4 "tests/data/three_lz4.fatbin"
#define OFFLOAD "tests/data/two.offload"

/* Places in the first member's header of a fatbin, and in the fatbin's own. */
enum { VERSION = 4, HEADER_SIZE = 6, SIZE = 8, MEMBER = 16, MEMBER_SIZE = MEMBER + 4 };
enum { PAYLOAD = MEMBER + 8, PACKED = MEMBER + 16, FLAGS = MEMBER + 40, UNPACKED = MEMBER + 56 };
enum { FIRST_PAYLOAD = MEMBER + 64 };

static const uint64_t MiB = 1 << 20;

/* ---- files ----------------------------------------------------------------------------------- */

/* Without a library that unpacks. In a process of its own, since another test may have loaded it.
 */
static void without(const void *library)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, FAKE("empty/%s"), (const char *)library);
    CHECK(dlopen(path, RTLD_NOW) != NULL);
    told_file(strstr(library, "zstd") != NULL ? ZSTD : LZ4);
}

TEST(test_files)
{
    in_child(without, "libzstd.so.1");
    in_child(without, "liblz4.so.1");
    told_file(PLAIN);
    told_beside(ZSTD, PLAIN);
    told_beside(LZ4, PLAIN);
    told_file("tests/data/special.fatbin"); /* one image is for the linker alone */
    told_file(OFFLOAD);
    told_beside("tests/data/sm_90.fatbin", "tests/data/sm_90.cubin");
}

/* Views outlive the list. */
TEST(test_views)
{
    struct rex_image_list *list;
    struct rex_image_view *views[3];
    size_t size;
    unsigned char *bytes = read_bytes(ZSTD, &size);
    assert_int_equal(rex_image_list_open(&list, bytes, size, ZSTD), 0);
    for (size_t i = 0; i < COUNT(views); i++)
        assert_int_equal(rex_image_view_open(&views[i], list, i, "member"), 0);
    rex_image_list_close(list);
    for (size_t i = 0; i < COUNT(views); i++) {
        assert_int_equal(rex_image_view_find(views[i], "narrow__kernel__")->parameter[3].offset,
                         16);
        rex_image_view_close(views[i]);
    }
    free(bytes);
}

/* ---- damaged ones ---------------------------------------------------------------------------- */

TEST(test_changes)
{
    tell_changes("tests/unit/fatbin.txt");
}

/* Two fatbins in one file hold the kernels of two sources. */
TEST(test_two_in_a_row)
{
    size_t size;
    unsigned char *bytes = read_bytes(ZSTD, &size), *twice = malloc(2 * size);
    assert_non_null(twice);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    told("two fatbins", twice, 2 * size);
    free(bytes);
    free(twice);
}

/* ---- fatbins that are made here -------------------------------------------------------------- */

/* WIDTH bytes at AT become VALUE; a width of 0 changes nothing. */
struct patch {
    size_t at, width;
    uint64_t value;
};

static void put(unsigned char *bytes, size_t at, size_t width, uint64_t value)
{
    memcpy(bytes + at, &value, width);
}

/* A fatbin of SIZE bytes with one member, whose payload is PAYLOAD bytes. */
static void make_fatbin(unsigned char *bytes, size_t size, uint64_t payload)
{
    memset(bytes, 0, size);
    put(bytes, 0, 4, 0xba55ed50);
    put(bytes, VERSION, 2, 1);
    put(bytes, HEADER_SIZE, 2, MEMBER);
    put(bytes, SIZE, 8, size - MEMBER);
    put(bytes, MEMBER, 2, REX_FATBIN_CUBIN);
    put(bytes, MEMBER_SIZE, 4, 64);
    put(bytes, PAYLOAD, 8, payload);
}

TEST(test_limits)
{
    enum { ROOM = 100, WHOLE = FIRST_PAYLOAD + ROOM, LZ4_FLAG = 0x2000, ZSTD_FLAG = 0x8000 };
    static const struct {
        struct patch patches[3];
        size_t size; /* of the file; 0: WHOLE */
    } cases[] = {
        {{{0, 0, 0}}, 0},
        {{{0, 0, 0}}, MEMBER - 1},
        {{{0, 4, 0xba55ed51}}, 0},
        {{{VERSION, 2, 2}}, 0},
        {{{SIZE, 8, UINT64_MAX}}, 0},
        {{{MEMBER_SIZE, 4, UINT32_MAX}}, 0},
        {{{PAYLOAD, 8, UINT64_MAX}}, 0},
        {{{0, 0, 0}}, 3},
        {{{SIZE, 8, 0}}, MEMBER},
        {{{HEADER_SIZE, 2, MEMBER - 1}}, 0},
        {{{HEADER_SIZE, 2, WHOLE + 1}}, 0},
        {{{HEADER_SIZE, 2, WHOLE}}, 0},
        {{{SIZE, 8, WHOLE - MEMBER + 1}}, 0},
        {{{SIZE, 8, 64}}, 0},
        {{{SIZE, 8, 63}}, 0},
        {{{MEMBER_SIZE, 4, 63}}, 0},
        {{{MEMBER_SIZE, 4, 64 + ROOM}}, 0},
        {{{MEMBER_SIZE, 4, 72}, {PAYLOAD, 8, ROOM - 8}}, 0},
        {{{PAYLOAD, 8, ROOM + 1}}, 0},
        {{{PAYLOAD, 8, ROOM - 64}}, 0}, /* another header of zeroes */
        {{{PAYLOAD, 8, ROOM - 63}}, 0},
        {{{SIZE, 8, 64}, {PAYLOAD, 8, 0}}, FIRST_PAYLOAD},
        {{{FLAGS, 8, ZSTD_FLAG}}, 0}, /* of 0 bytes, packed and unpacked */
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, ROOM}, {UNPACKED, 8, 1 << 30}}, 0},
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, ROOM}, {UNPACKED, 8, (1 << 30) + 1}}, 0},
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, ROOM}, {UNPACKED, 8, 1}}, 0},
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, ROOM + 1}, {UNPACKED, 8, 1}}, 0},
        /* LZ4 can make 255 bytes of each, and no more: then its bytes are not looked at */
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, 4}, {UNPACKED, 8, 4 * 255}}, 0},
        {{{FLAGS, 8, LZ4_FLAG}, {PACKED, 4, 4}, {UNPACKED, 8, 4 * 255 + 255}}, 0},
    };
    unsigned char bytes[WHOLE];
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_fatbin(bytes, WHOLE, ROOM);
        char what[100] = "";
        for (size_t j = 0; j < COUNT(cases[i].patches) && cases[i].patches[j].width > 0; j++) {
            const struct patch *patch = &cases[i].patches[j];
            put(bytes, patch->at, patch->width, patch->value);
            sprintf(what + strlen(what), "%zu is %llu, ", patch->at,
                    (unsigned long long)patch->value);
        }
        size_t size = cases[i].size > 0 ? cases[i].size : WHOLE;
        sprintf(what + strlen(what), "%zu bytes", size);
        told(what, bytes, size);
    }
}

/* Bytes that a few would unpack to: each image by itself, and all whose views may be open at a
 * time. */
TEST(test_unpacks_to_much)
{
    enum { ONE = 64 + 8, WHOLE = MEMBER + 2 * ONE };
    unsigned char made[WHOLE];
    const uint64_t most = rex_unpack_most(WHOLE);
    for (uint64_t more = 0; more < 2; more++) {
        make_fatbin(made, WHOLE, 8);
        put(made, FLAGS, 8, 0x8000);
        put(made, PACKED, 4, 8);
        memcpy(made + MEMBER + ONE, made + MEMBER, ONE);
        put(made, UNPACKED, 8, 5 * MiB);
        put(made, UNPACKED + ONE, 8, most - 5 * MiB - 2 * REX_UNPACK_EACH + more);
        told(more > 0 ? "two, a byte too much" : "two, as much as can be", made, WHOLE);
        put(made, UNPACKED, 8, most - REX_UNPACK_EACH + more);
        told(more > 0 ? "one, a byte too much" : "one, as much as can be", made, WHOLE);
    }
}

/* ---- OffloadBinaries that are made here ------------------------------------------------------ */

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

#define AT(member) offsetof(struct container, member), sizeof((struct container *)NULL)->member

/* Images that lie over each other take no more bytes than the container. */
TEST(test_containers)
{
    enum { ALL = sizeof(struct container), IMAGES = offsetof(struct container, images) };
    static const struct {
        const char *what;
        struct patch patches[2];
        bool is_empty; /* its images have no bytes */
    } cases[] = {
        {"version 0", {{AT(version), 0}}, false},
        {"version 1", {{AT(version), 1}}, false},
        {"version 2", {{AT(version), 2}}, false},
        {"version 3", {{AT(version), 3}}, false},
        {"no magic", {{3, 1, 0}}, false},
        {"smaller than its header", {{AT(size), 31}}, true},
        {"larger than the file", {{AT(size), ALL + 1}}, true},
        {"room for two", {{AT(size), IMAGES}}, true},
        {"a byte less", {{AT(size), IMAGES - 1}}, true},
        {"room for one", {{AT(size), IMAGES - 1}, {AT(entries_count), 1}}, true},
        {"no entries", {{AT(entries_count), 0}}, true},
        {"entries at the end", {{AT(entries_offset), ALL}, {AT(entries_count), 1}}, true},
        {"entries behind it", {{AT(entries_offset), ALL + 1}, {AT(entries_count), 1}}, true},
        {"a byte too many", {{AT(entries[1].image_size), 25}}, false},
        {"nothing at the end", {{AT(entries[1].image_offset), ALL}}, true},
        {"nothing behind", {{AT(entries[1].image_offset), ALL + 1}}, true},
        {"overlapping",
         {{AT(entries[0].image_offset), 24}, {AT(entries[0].image_size), ALL - 24}},
         false},
        {"too much",
         {{AT(entries[0].image_offset), 23}, {AT(entries[0].image_size), ALL - 23}},
         false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct container made = make_container(2);
        if (cases[i].is_empty)
            made.entries[0].image_size = made.entries[1].image_size = made.entries[0].image_offset =
                made.entries[1].image_offset = 0;
        for (size_t j = 0; j < 2; j++)
            put((unsigned char *)&made, cases[i].patches[j].at, cases[i].patches[j].width,
                cases[i].patches[j].value);
        told(cases[i].what, &made, ALL);
    }
    struct container made = make_container(2);
    told("a part of its header", &made, offsetof(struct container, entries) - 1);
}

/* One behind the other; what is behind the last one is padding. As many images as any file has, and
 * one more. */
TEST(test_rows_of_containers)
{
    struct container three[3] = {make_container(2), make_container(1), {.version = 0}};
    told("two and padding", three, sizeof three);
    three[1].size = sizeof *three * 2 + 1;
    told("the second one too long", three, sizeof three);
    three[1] = make_container(3);
    told("the second one of another version", three, sizeof three);
    enum { MOST = 65536 };
    size_t size = 32 + (MOST + 1) * sizeof three[0].entries[0];
    unsigned char *many = calloc(1, size);
    assert_non_null(many);
    for (uint64_t count = MOST; count <= MOST + 1; count++) {
        three[0] = make_container(2);
        three[0].entries_count = count;
        three[0].size = size;
        memcpy(many, three, 32);
        told(count == MOST ? "as many images as can be" : "one more", many, size);
    }
    free(many);
}
