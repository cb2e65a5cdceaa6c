/*
 * fatbin.c - files with several images: real fatbins of nvcc 13, as they are and compressed in both
 * ways, a real OffloadBinary, small ones, and what is damaged.
 * tests/golden/messages/inspect.txt has what is found in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"
#include "image/fatbin.h"
#include "images.h"
#include "support/offload.h"

MESSAGES("inspect");

#define PLAIN "tests/data/three.fatbin"
#define ZSTD "tests/data/three_zstd.fatbin"
#define LZ4 "tests/data/three_lz4.fatbin"
#define OFFLOAD "tests/data/two.offload"

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
    told_file("tests/fuzz/corpus/fatbin/two_files");
    told_file("tests/fuzz/corpus/container/two_small");
    told_file("tests/fuzz/corpus/container/two_and_padding");
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
    REFUSED(rex_image_view_open(&views[0], list, COUNT(views), "member"));
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
    tell_changes("tests/data/changes/fatbin.txt");
}

/* As many images as any file has, and one more. */
TEST(test_many_images)
{
    enum { MOST = 65536 };
    struct offload_header header = {
        {0x10, 0xff, 0x10, 0xad}, 2, offload_size(0, MOST + 1), sizeof header, MOST};
    unsigned char *many = calloc(1, header.size);
    assert_non_null(many);
    for (; header.entries_word <= MOST + 1; header.entries_word++) {
        memcpy(many, &header, sizeof header);
        told(header.entries_word == MOST ? "as many images as can be" : "one more", many, header.size);
    }
    free(many);
}
