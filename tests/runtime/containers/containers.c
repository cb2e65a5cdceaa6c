/*
 * One image out of several: lists of files, fatbins, OffloadBinaries, in files and in memory, PTX. Each image's kernel multiplies by a
 * number of its own. Where there is no GPU the images for one are there to be passed over.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <elf.h>
#include <sys/stat.h>

#include "support/offload.h"

REX_KERNEL(multiply);

static int multiply(int64_t value, int64_t *product)
{
    struct rows rows = rows_of(&value, product);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 32);
    return rex_direct___tgt_target_kernel(-1, 1, 32, REX_KERNEL_ID(multiply), &packet);
}

static void check_factor(int64_t factor)
{
    int64_t product = -1;
    assert_int_equal(multiply(7, &product), 0);
    assert_int_equal(product, 7 * factor);
    assert_int_equal(__cubin_desc->NumDeviceImages, 1);
    assert_int_equal(rex_module_on_host(&rex_this_module), !gpu_present());
}

static struct path in_folder(const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s", own_folder(), name);
    return path;
}

/* Registers the list NAMES, of which TAKEN is the one for here, and ends it. */
static void check_list(const char *names, const char *taken, int64_t factor)
{
    static int64_t before;
    if (!loads_late() && before != 0 && before != factor) {
        assert_int_not_equal(rex_module_register(&rex_this_module, names), 0);
        assert_int_equal(rex_last_error_code(), REX_EUNSUPPORTED);
        assert_non_null(strstr(rex_last_error(), "it cannot use another image"));
        return;
    }
    before = factor;
    assert_int_equal(rex_module_register(&rex_this_module, names), 0);
    assert_string_equal(rex_module_image_path(&rex_this_module), taken);
    check_factor(factor);
    assert_int_equal(rex_offload_fini(), 0);
}

struct list {
    char text[3 * sizeof(struct path) + 4];
};

static struct list listed(const char *first, const char *second, const char *third)
{
    struct list list;
    snprintf(list.text, sizeof list.text, "%s:%s:%s", first, second, third);
    return list;
}

#define FOREIGN "tests/data/sm_75.cubin" /* for a GPU, and without this kernel */

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

TEST(list_in_the_environment)
{
    const struct path taken = image_file("zstd.fatbin", "other_host.so");
    setenv("REX_CUBIN", listed("./missing.cubin", gpu_present() ? in_folder("other.cubin").text : FOREIGN, taken.text).text, 1);
    assert_int_equal(rex_offload_init(), 0);
    assert_string_equal(rex_module_image_path(&rex_this_module), taken.text);
    check_factor(gpu_present() ? 4 : 2);
}

/* Bare names are looked for one by one. */
TEST(list_of_bare_names)
{
    check_list("missing.cubin:rex_lib_nvidia.cubin:rex_lib_host.so", default_image().text, 1);
}

/* ---- an OffloadBinary, as clang-offload-packager writes it: one for each image, one behind the other ------------------- */

static void append(struct bytes *container, const void *image, size_t size)
{
    const size_t whole = offload_size(size, 1);
    unsigned char *at = realloc(container->bytes, container->size + whole);
    assert_non_null(at);
    container->bytes = at;
    memset(at + container->size, 0, whole);
    offload_make(at + container->size, 1, image, size, 1);
    container->size += whole;
}

static void append_file(struct bytes *container, const char *path, int machine)
{
    struct bytes file = read_bytes(path);
    if (machine != 0)
        file.bytes[offsetof(Elf64_Ehdr, e_machine)] = (unsigned char)machine;
    append(container, file.bytes, file.size);
    free(file.bytes);
}

/* For another maker's GPU, for another of this one's, then what is for here. */
static struct bytes container_of(const char *taken)
{
    struct bytes container = {NULL, 0};
    append_file(&container, in_folder("rex_lib_host.so").text, 224 /* EM_AMDGPU */);
    append_file(&container, gpu_present() ? in_folder("other.cubin").text : FOREIGN, 0);
    append_file(&container, taken, 0);
    return container;
}

TEST(container_in_memory)
{
    struct bytes container = container_of(image_file("lz4.fatbin", "other_host.so").text);
    rex_this_module.image = container.bytes;
    rex_this_module.image_size = container.size;
    rex_this_module.image_end = NULL;
    assert_int_equal(rex_offload_init(), 0);
    assert_string_equal(rex_module_image_path(&rex_this_module), "memory");
    memset(container.bytes, 0, container.size);
    check_factor(gpu_present() ? 5 : 2);
    assert_int_equal(rex_offload_fini(), 0);
    free(container.bytes);
}

/* Code for the CPU is not taken from where others can put it, also out of a container; code for a GPU is. */
TEST(container_that_others_can_write)
{
    const struct path folder = temporary_file("open");
    char file[sizeof folder.text + 32];
    struct bytes container = container_of(default_image().text);
    assert_int_equal(mkdir(folder.text, 0700), 0);
    assert_int_equal(chmod(folder.text, 0777), 0);
    snprintf(file, sizeof file, "%s/images.offload", folder.text);
    write_bytes(file, container.bytes, container.size);
    setenv("REX_CUBIN_PATH", folder.text, 1);
    if (!gpu_present()) {
        assert_int_not_equal(rex_module_register(&rex_this_module, "images.offload"), 0);
        assert_int_equal(rex_last_error_code(), REX_EUNSAFE);
    } else
        check_list("images.offload", file, 1);
    assert_int_equal(chmod(folder.text, 0755), 0);
    check_list("images.offload", file, 1);
    unlink(file);
    rmdir(folder.text);
    free(container.bytes);
}

/* ---- for a GPU --------------------------------------------------------------------------------------------------------- */

TEST(fatbins, .gpu = ON_GPU)
{
    check_list(in_folder("plain.fatbin").text, in_folder("plain.fatbin").text, 3);
    check_list(in_folder("zstd.fatbin").text, in_folder("zstd.fatbin").text, 4);
    check_list(in_folder("lz4.fatbin").text, in_folder("lz4.fatbin").text, 5);
}

TEST(ptx, .gpu = ON_GPU)
{
    check_list(in_folder("portable.ptx").text, in_folder("portable.ptx").text, 6);
    check_list(in_folder("portable.fatbin").text, in_folder("portable.fatbin").text, 7);
    /* A CUBIN comes before PTX. */
    check_list(listed(in_folder("portable.ptx").text, default_image().text, "").text, default_image().text, 1);
}

int before_tests(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (gpu_present() && access(in_folder("plain.fatbin").text, F_OK) != 0) {
        puts("skip: there is no nvcc, which alone makes fatbins");
        return 77;
    }
    return -1;
}
