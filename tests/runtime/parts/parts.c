/*
 * A module with several images in memory, as static libraries bring them: which entries each has, what is registered, what ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(alpha);
REX_KERNEL(beta);

static struct rex_image_row rows[4];
static struct bytes images[4];

/* The images of NAMES, with a blank between them, are those of this binary. */
static void embed(const char *names)
{
    char copy[64], cubin[80], host[80], *rest = copy;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", names);
    for (const char *name; (name = strsep(&rest, " ")) != NULL; count++) {
        snprintf(cubin, sizeof cubin, "%s.cubin", name);
        snprintf(host, sizeof host, "%s_host.so", name);
        struct path path = image_file(cubin, host);
        images[count] = read_bytes(path.text);
        rows[count] = (struct rex_image_row){images[count].bytes, images[count].bytes + images[count].size,
                                             strstr(path.text, "_host.so") != NULL};
    }
    rex_this_module.images_begin = rows;
    rex_this_module.images_end = rows + count;
}

static int64_t run(void *key, int result)
{
    int64_t value = 7, product = -1;
    struct rows packed = rows_of(&value, &product);
    struct __tgt_kernel_arguments packet = packet_of(&packed, 1, 1);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, key, &packet), result);
    return product;
}

static void check_both(void)
{
    int64_t value = 5, product = -1;
    assert_int_equal(run(REX_KERNEL_ID(beta), 0), 21);
    assert_int_equal(run(REX_KERNEL_ID(alpha), 0), 14);
    assert_int_equal(REX_LAUNCH(alpha, 1, 1, REX_VALUE(value), REX_FROM(&product, 1)), 0);
    assert_int_equal(product, 10);
    assert_int_equal(REX_LAUNCH(beta, 1, 1, REX_VALUE(value), REX_FROM(&product, 1)), 0);
    assert_int_equal(product, 15);
}

/* Whether the descriptor is that of an image which has one entry, NAME. */
static void check_descriptor(const char *name)
{
    assert_non_null(__cubin_desc);
    ptrdiff_t count = __cubin_desc->HostEntriesEnd - __cubin_desc->HostEntriesBegin;
    bool found = false;
    for (ptrdiff_t i = 0; i < count; i++)
        found |= strstr(__cubin_desc->HostEntriesBegin[i].name, name) != NULL;
    assert_int_equal(count, 1);
    assert_true(found);
}

TEST(each_kernel_from_its_image)
{
    embed("alpha beta");
    assert_int_equal(rex_offload_init(), 0);
    check_descriptor("alpha");
    assert_string_equal(rex_module_image_path(&rex_this_module), "memory 1");
    check_both();
}

/* The first launch registers all; the order of images does not matter, nor an image without an entry. */
TEST(first_launch)
{
    embed("gamma beta alpha");
    check_both();
    check_descriptor("beta");
    assert_string_equal(rex_module_image_path(&rex_this_module), "memory 2");
}

/* Without a GPU the images for the CPU stand in for all. */
TEST(host_images_instead, .gpu = ON_HOST_DEVICE)
{
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
    struct rex_image_row for_gpu = {ptx, ptx + sizeof ptx, 0};
    embed("alpha beta");
    rows[3] = rows[1];
    rows[1] = rows[0];
    rows[0] = rows[2] = for_gpu;
    rex_this_module.images_end = rows + 4;
    check_both();
    assert_true(rex_module_on_host(&rex_this_module));
}

TEST(in_a_queue)
{
    int64_t value = 5, product = -1;
    embed("alpha beta");
    struct rex_queue *queue = NULL;
    assert_int_equal(rex_queue_create(&queue, -1, "parts", 0), 0);
    struct rex_launch_config config = rex_launch_config_of(NULL, 1, 1);
    config.queue = queue;
    REX_MAP(map, REX_FROM(&product, 1));
    assert_int_equal(rex_data_enter(-1, &map), 0);
    assert_int_equal(REX_LAUNCH_WITH(beta, config, REX_VALUE(value), REX_FROM(&product, 1)), 0);
    assert_int_equal(rex_queue_sync(queue), 0);
    assert_int_equal(rex_data_exit(-1, &map), 0);
    assert_int_equal(product, 15);
    rex_queue_destroy(queue);
    assert_int_equal(rex_offload_fini(), 0);
}

TEST(ended_and_again)
{
    embed("alpha beta");
    for (int i = 0; i < 3; i++) {
        check_both();
        assert_int_equal(rex_offload_fini(), 0);
        assert_null(__cubin_desc);
    }
}

/* Code without the header finds the module by either key. */
TEST(exported_wrapper)
{
    int (*wrapper)(int64_t, int32_t, int32_t, void *, struct __tgt_kernel_arguments *);
    int64_t value = 7, product = -1;
    struct rows packed = rows_of(&value, &product);
    struct __tgt_kernel_arguments packet = packet_of(&packed, 1, 1);
    embed("alpha beta");
    find_wrapper("target_kernel", &wrapper);
    assert_int_equal(rex_module_add(&rex_this_module), 0);
    assert_int_equal(wrapper(-1, 1, 1, REX_KERNEL_ID(beta), &packet), 0);
    assert_int_equal(product, 21);
    assert_int_equal(wrapper(-1, 1, 1, REX_KERNEL_ID(alpha), &packet), 0);
    assert_int_equal(product, 14);
}

TEST(one_name_in_two_images)
{
    embed("alpha beta alpha");
    assert_int_equal(rex_offload_init(), REX_EKEY);
    assert_non_null(strstr(rex_last_error(), "memory 1 and memory 3"));
    assert_null(__cubin_desc);
    embed("alpha beta"); /* the next attempt looks again */
    check_both();
}

TEST(a_name_in_no_image)
{
    embed("alpha gamma");
    assert_int_equal(rex_offload_init(), REX_ENOKERNEL);
    assert_non_null(strstr(rex_last_error(), "none of the 2 images in memory has kernel \"beta__kernel__\""));
    assert_null(__cubin_desc);
}

/* An image of a file has all entries, or is refused. */
TEST(another_image_after_the_end, .on = LOADS_LATE)
{
    struct path path = image_file("alpha.cubin", "alpha_host.so");
    embed("alpha beta");
    check_both();
    assert_int_equal(rex_offload_fini(), 0);
    assert_null(register_cubin(path.text));
    assert_int_equal(rex_last_error_code(), REX_ENOKERNEL);
    check_both();
}
