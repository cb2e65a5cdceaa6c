/*
 * Several shared objects with kernels in one process, opened and closed in every order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(step);

static int64_t own_step(int64_t value)
{
    int64_t result = -1;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(__tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(step), &packet), 0);
    return result;
}

struct plugin {
    const char *name;
    int64_t factor;
    void *handle;
    int (*step)(int64_t value, int64_t *result);
    const char *(*image)(void);
    int (*add)(void);
    int (*init)(void);
    int (*fini)(void);
};

static void open_plugin(struct plugin *plugin)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib%s.so", own_folder(), plugin->name);
    plugin->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin->handle == NULL)
        fail_msg("%s", dlerror());
    find(plugin->handle, "plugin_step", &plugin->step);
    find(plugin->handle, "plugin_image", &plugin->image);
    find(plugin->handle, "plugin_add", &plugin->add);
    find(plugin->handle, "plugin_init", &plugin->init);
    find(plugin->handle, "plugin_fini", &plugin->fini);
}

static void check_step(struct plugin *plugin)
{
    int64_t result = -1;
    char image[64];
    assert_int_equal(plugin->step(7, &result), 0);
    assert_int_equal(result, 7 * plugin->factor);
    snprintf(image, sizeof image, "/%s%s", plugin->name, gpu_present() ? ".cubin" : "_host.so");
    assert_non_null(strstr(plugin->image(), image));
}

static int is_loaded(const struct plugin *plugin)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib%s.so", own_folder(), plugin->name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return handle != NULL;
}

/* LLVM 18 loads no image after the first use: there the modules are made known before. */
static void add_early(struct plugin *plugins, int count)
{
    if (loads_late())
        return;
    assert_int_equal(rex_module_add(&rex_this_module), 0);
    for (int i = 0; i < count; i++) {
        open_plugin(&plugins[i]);
        assert_int_equal(plugins[i].add(), 0);
    }
}

TEST(three_and_the_program)
{
    struct plugin plugins[] = {{.name = "twice", .factor = 2},
                               {.name = "thrice", .factor = 3},
                               {.name = "tenfold", .factor = 10}};
    for (int i = 0; i < 3; i++)
        open_plugin(&plugins[i]);
    add_early(plugins, 3);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(own_step(41), 42);
        for (int i = 0; i < 3; i++)
            check_step(&plugins[(i + again) % 3]);
    }
    assert_string_equal(rex_module_image_path(&rex_this_module), default_image().text);
}

TEST(plugins_first)
{
    struct plugin twice = {.name = "twice", .factor = 2}, thrice = {.name = "thrice", .factor = 3};
    add_early(&twice, 1);
    open_plugin(&thrice);
    assert_int_equal(thrice.init(), 0);
    check_step(&thrice);
    open_plugin(&twice);
    assert_int_equal(twice.init(), 0);
    check_step(&twice);
    assert_int_equal(rex_offload_init(), 0);
    assert_int_equal(own_step(1), 2);
    check_step(&thrice);
    /* Each module ends by itself. */
    assert_int_equal(thrice.fini(), 0);
    check_step(&twice);
    assert_int_equal(own_step(2), 3);
    check_step(&thrice); /* registers again */
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(twice.fini(), 0);
    check_step(&thrice);
}

TEST(opened_closed_and_opened_again)
{
    struct plugin twice = {.name = "twice", .factor = 2}, thrice = {.name = "thrice", .factor = 3};
    add_early(&twice, 1);
    add_early(&thrice, 1);
    assert_int_equal(own_step(5), 6);
    open_plugin(&thrice);
    open_plugin(&twice);
    check_step(&thrice);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dlclose(thrice.handle), 0);
        assert_true(is_loaded(&thrice)); /* libomptarget knows its addresses */
        check_step(&twice);
        open_plugin(&thrice);
        check_step(&thrice);
    }
    assert_int_equal(thrice.fini(), 0);
    assert_int_equal(dlclose(thrice.handle), 0);
    assert_int_equal(dlclose(twice.handle), 0);
    open_plugin(&thrice);
    check_step(&thrice);
    open_plugin(&twice);
    check_step(&twice);
    assert_int_equal(own_step(6), 7);
}

/* One that never got to librex goes away as usual. */
TEST(closed_before_any_use)
{
    struct plugin twice = {.name = "twice", .factor = 2};
    open_plugin(&twice);
    assert_int_equal(dlclose(twice.handle), 0);
    assert_false(is_loaded(&twice));
    add_early(&twice, 1);
    assert_int_equal(own_step(5), 6);
    open_plugin(&twice);
    check_step(&twice);
}

/* One whose registration failed is known to librex, which must not look for it where it was. */
TEST(closed_after_a_failure)
{
    struct plugin bare = {.name = "bare", .factor = 1}, twice = {.name = "twice", .factor = 2};
    int64_t result = 99;
    for (int i = 0; i < 3; i++) {
        open_plugin(&bare);
        assert_int_equal(bare.step(7, &result), REX_EHOST);
        assert_int_equal(rex_last_error_code(), REX_ENOIMAGE);
        assert_int_equal(result, 99);
        assert_int_equal(dlclose(bare.handle), 0);
    }
    assert_int_equal(rex_device_count(), 0);
    add_early(&twice, 1);
    open_plugin(&twice);
    check_step(&twice);
    assert_int_equal(own_step(5), 6);
    assert_true(rex_device_count() > 0);
}
