/*
 * Descriptors as other compilers make them, registered through librex on the real runtime: in memory that cannot be written, in containers
 * and with entries of either form, each of which some release refuses by itself; gone after they are unregistered, and back again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <sys/mman.h>

#include "support/offload.h"

enum { N = 300 };

/* An entry of clang 20 and later. */
struct new_entry {
    uint64_t zero;
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

/* What a program has in its read-only sections. */
struct program {
    struct __tgt_bin_desc descriptor;
    struct __tgt_device_image image;
    struct __tgt_offload_entry old_entry;
    struct new_entry new_entry;
    unsigned char bytes[];
};

static char key;
static char name[] = "rex_call_add__kernel__";

/* As the release's own compiler would name what it calls: 18, 23 and 24 call kernels of the host device in ways of their own. */
static char *called_name(void)
{
    bool stands = !gpu_present() && (release_of_test() == 18 || calls_with_array());
    return stands ? name : name + strlen("rex_call_");
}

struct form {
    uint32_t container; /* its version; 0: none */
    int new_entries;
};

static size_t size_with(const struct bytes *image)
{
    return sizeof(struct program) + offload_size(image->size, 1);
}

static struct program *make_program(const struct form *form, const struct bytes *image)
{
    struct program *program = mmap(NULL, size_with(image), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(program != MAP_FAILED);
    size_t size = form->container > 0 ? offload_size(image->size, 1) : image->size;
    if (form->container > 0)
        offload_make(program->bytes, form->container, image->bytes, image->size, 1);
    else
        memcpy(program->bytes, image->bytes, image->size);
    program->old_entry = (struct __tgt_offload_entry){&key, called_name(), 0, 0, 0};
    program->new_entry = (struct new_entry){0, 1, 1, 0, &key, called_name(), 0, 0, NULL};
    void *begin = &program->old_entry, *end = &program->old_entry + 1;
    if (form->new_entries)
        begin = &program->new_entry, end = &program->new_entry + 1;
    program->image = (struct __tgt_device_image){program->bytes, program->bytes + size, begin, end};
    program->descriptor = (struct __tgt_bin_desc){1, &program->image, begin, end};
    assert_int_equal(mprotect(program, size_with(image), PROT_READ), 0);
    return program;
}

/* As another compiler's code has it, which has CUBINs alone. */
static struct bytes adoptable_image(void)
{
    struct bytes image = read_bytes(default_image().text);
    if (memcmp(image.bytes, "\177ELF", 4) != 0)
        leave_out("adopted code: clang has made PTX, where there is no nvcc");
    return image;
}

/* ---- the tests ----------------------------------------------------------------------------------------------------------------- */

/* As a compiler's code launches a kernel without the runtime's parameter. */
static void launch(double amount)
{
    static double x[N], y[N];
    int64_t n = N;
    struct rows rows = {0};
    for (int i = 0; i < N; i++)
        x[i] = i, y[i] = -1;
    add_literal(&rows, &n, sizeof n);
    add_literal(&rows, &amount, sizeof amount);
    add_row(&rows, x, sizeof x, PARAMETER | TO);
    add_row(&rows, y, sizeof y, PARAMETER | FROM);
    if (calls_with_array())
        add_literal(&rows, &n, sizeof n); /* libomptarget writes over it */
    struct __tgt_kernel_arguments packet = packet_of(&rows, 2, 64);
    packet.Version = calls_with_array() ? 5 : 2;
    assert_int_equal(__rex_real___tgt_target_kernel(NULL, -1, 2, 64, &key, &packet), 0);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == i + amount);
}

static void check(const struct form *form)
{
    struct bytes image = adoptable_image();
    assert_int_equal(rex_configure(REX_OPTION_ADOPT, "on"), 0);
    for (int round = 0; round < (loads_late() ? 3 : 1); round++) {
        struct program *program = make_program(form, &image);
        __rex_real___tgt_register_lib(&program->descriptor);
        launch(round + 0.5);
        __rex_real___tgt_unregister_lib(&program->descriptor);
        /* As dlclose() does; LLVM 15 to 20 look at every image again when the next one comes. */
        assert_int_equal(munmap(program, size_with(&image)), 0);
    }
    free(image.bytes);
}

#define FORM(name, container, new_entries)           \
    TEST(name)                                       \
    {                                                \
        check(&(struct form){container, new_entries}); \
    }
FORM(raw, 0, 0)
FORM(in_container, 1, 0)
FORM(with_all, 2, 1)

/* A module of librex beside the adopted code: each finds its own kernels. */
REX_KERNEL(add);

TEST(beside_a_module)
{
    struct bytes image = adoptable_image();
    double x = 1, y = 0, amount = 41;
    int64_t n = 1;
    struct rows rows = {0};
    assert_int_equal(rex_configure(REX_OPTION_ADOPT, "on"), 0);
    struct program *program = make_program(&(struct form){1, 0}, &image);
    __rex_real___tgt_register_lib(&program->descriptor);
    add_literal(&rows, &n, sizeof n);
    add_literal(&rows, &amount, sizeof amount);
    add_row(&rows, &x, sizeof x, PARAMETER | TO);
    add_row(&rows, &y, sizeof y, PARAMETER | FROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex___tgt_target_kernel(-1, 1, 1, REX_KERNEL_ID(add), &packet), 0);
    assert_true(y == 42);
    launch(7);
    assert_int_equal(rex_offload_fini(), 0);
    launch(8);
    __rex_real___tgt_unregister_lib(&program->descriptor);
    free(image.bytes);
}
