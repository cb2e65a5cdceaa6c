/*
 * Registering again, two hundred times, and in `make check-all` a thousand: with the same image, with others, with another module in between, as a library. libomptarget
 * keeps tables by the addresses of descriptors or entries and never clears them, so each of these goes wrong where an address is used twice. What it reads no more is freed,
 * so that memory is bounded where the release allows that (librex(7)).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <rex/library.h>

#include "heap.h"
#include "kernels.h"

#define ENTRY(n) REX_KERNEL(k##n);
KERNELS(ENTRY)

enum {
    ENTRIES = 200,
    FACTOR_OF_DEFAULT = 3,
    FACTOR_OF_OTHER = 5,
    SETTLED = 10 /* rounds after which all that is made once has been made */
};

/* Another module, with keys of its own, for kernels of the same image files. */
static char other_keys[2];
static char name_of_k150[] = "k150__kernel__", name_of_k250[] = "k250__kernel__";
static struct __tgt_offload_entry other_entries[] = {{&other_keys[0], name_of_k250, 0, 0, 0},
                                                     {&other_keys[1], name_of_k150, 0, 0, 0}};
static struct rex_module other_module = {.struct_size = sizeof other_module,
                                         .entries_begin = other_entries,
                                         .entries_end = other_entries + 2};

/* Sanitizers and GPUs get a fraction of it (registrations_of()). */
static int wanted_rounds(void)
{
    const char *all = getenv("TEST_ALL");
    return SANITIZED || (all != NULL && *all != '\0') ? 1000 : 200;
}

static struct path other_image(void)
{
    return image_file("other.cubin", "other_host.so");
}

/* One launch of KEY, kernel number NUMBER, by MODULE; fails unless the image with FACTOR ran it. */
static void check_launch(int line, struct rex_module *module, void *key, int number, int64_t factor)
{
    static int64_t value = 1;
    int64_t result = -1, expected = ++value * factor + number;
    struct rows rows = rows_of(&value, &result);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_module_launch(module, -1, 1, 1, key, &packet), 0);
    if (result != expected)
        fail_msg("line %d: kernel %d gave %lld, not %lld", line, number, (long long)result, (long long)expected);
}
#define CHECK(module, key, number, factor) check_launch(__LINE__, module, key, number, factor)

static void check_own(int64_t factor)
{
    CHECK(&rex_this_module, REX_KERNEL_ID(k100), 100, factor);
    CHECK(&rex_this_module, REX_KERNEL_ID(k299), 299, factor);
}

/* Which releases read no more, after a registration has ended, its entries or its image. */
static bool entries_end(void)
{
    return release_of_test() >= 20;
}

static bool images_end(void)
{
    return release_of_test() == 14 || release_of_test() >= 22;
}

/*
 * From round SETTLED on: at most 256 bytes for a registration. 32 more for each of ENTRIES, and the SIZE of an image, where they stay.
 * SIZE 0: no image is new.
 */
static void check_growth(int round, int rounds, int entries, size_t size)
{
    static size_t settled;
    if (!heap_is_counted())
        return;
    if (round == SETTLED)
        settled = heap_of_librex();
    if (round == rounds && rounds > SETTLED) {
        double growth = (double)(heap_of_librex() - settled) / (rounds - SETTLED);
        double stays = (entries_end() ? 0 : 32 * entries) + (images_end() ? 0 : (double)size);
        printf("librex grows by %.1f bytes a round, for %d entries\n", growth, entries);
        assert_true(heap_of_librex() > settled || !loads_late()); /* else nothing was counted */
        assert_true(growth <= stays + 256);
        assert_true(images_end() || growth >= (double)size * 0.9); /* they are still read */
    }
    if (round % 50 == 0)
        remove_temporary_images();
}

static void check_again(const char *other)
{
    int rounds = registrations_of(wanted_rounds());
    heap_is_counted();
    for (int round = 1; round <= rounds; round++) {
        bool is_other = other != NULL && round % 2 == 0;
        assert_non_null(register_cubin(is_other ? other : NULL));
        check_own(is_other ? FACTOR_OF_OTHER : FACTOR_OF_DEFAULT);
        assert_int_equal(rex_offload_fini(), 0);
        check_growth(round, rounds, ENTRIES, 0);
    }
}

TEST(with_the_same_image)
{
    check_again(NULL);
}

/* LLVM 18 cannot end a registration. */
TEST(with_another_image)
{
    struct path other = other_image();
    if (loads_late()) {
        check_again(other.text);
        return;
    }
    assert_non_null(register_cubin(NULL));
    assert_int_equal(rex_offload_fini(), 0);
    assert_null(register_cubin(other.text));
    assert_int_equal(rex_last_error_code(), REX_EUNSUPPORTED);
    assert_non_null(strstr(rex_last_error(), "LLVM 18 cannot end a registration"));
}

/* Each round has an image of its own: the number of the round is behind the default one. */
TEST(with_images_that_differ)
{
    int rounds = registrations_of(wanted_rounds());
    struct bytes image = read_bytes(default_image().text);
    struct path own = temporary_file("own");
    if (!loads_late())
        leave_out("LLVM 18 cannot end a registration");
    image.bytes = realloc(image.bytes, image.size + 8);
    assert_non_null(image.bytes);
    heap_is_counted();
    for (int round = 1; round <= rounds; round++) {
        memset(image.bytes + image.size, 0, 8);
        memcpy(image.bytes + image.size, &round, sizeof round);
        write_bytes(own.text, image.bytes, image.size + 8);
        assert_non_null(register_cubin(own.text));
        check_own(FACTOR_OF_DEFAULT);
        assert_int_equal(rex_offload_fini(), 0);
        check_growth(round, rounds, ENTRIES, image.size);
    }
    unlink(own.text);
    free(image.bytes);
}

/* One that is registered: images for GPUs are the driver's alone. Its names are copies, too. */
TEST(of_a_library, .gpu = ON_HOST_DEVICE)
{
    enum { NAME = sizeof "k100__kernel__" + 1 };
    int rounds = registrations_of(wanted_rounds());
    struct path other = other_image();
    if (!loads_late())
        leave_out("LLVM 18 cannot end a registration");
    heap_is_counted();
    for (int round = 1; round <= rounds; round++) {
        struct rex_library *library = NULL;
        struct rex_queue *queue = NULL;
        const char *path = round % 2 == 0 ? other.text : default_image().text;
        int64_t value = round, result = -1, *to = &result;
        assert_int_equal(rex_library_load(&library, -1, NULL, 0, path), 0);
        assert_int_equal(rex_queue_create(&queue, -1, "named", 0), 0);
        to = rex_device_alloc(sizeof result, -1);
        struct rex_launch_config launch = rex_launch_config_of(rex_library_kernel(library, "k150__kernel__"), 1, 1);
        void *arguments[] = {&value, &to};
        assert_int_equal(launch_library_in(queue, library, &launch, arguments, 2), 0);
        assert_int_equal(rex_queue_copy_from(queue, &result, to, sizeof result), 0);
        assert_int_equal(rex_queue_sync(queue), 0);
        assert_int_equal(result, round * (round % 2 == 0 ? FACTOR_OF_OTHER : FACTOR_OF_DEFAULT) + 150);
        rex_device_free(to, -1);
        assert_int_equal(rex_queue_destroy(queue), 0);
        assert_int_equal(rex_library_unload(library), 0);
        check_growth(round, rounds, ENTRIES + ENTRIES * (32 + NAME) / 32, 0);
    }
}

TEST(with_another_module_between)
{
    static struct path other;
    int rounds = registrations_of(wanted_rounds());
    other = other_image();
    other_module.image_name = other.text;
    assert_int_equal(rex_module_add(&other_module), 0); /* LLVM 18 registers both at once */
    heap_is_counted();
    for (int round = 1; round <= rounds; round++) {
        assert_int_equal(rex_offload_init(), 0);
        check_own(FACTOR_OF_DEFAULT);
        assert_int_equal(rex_offload_fini(), 0);
        assert_int_equal(rex_module_init(&other_module), 0);
        CHECK(&other_module, &other_keys[0], 250, FACTOR_OF_OTHER);
        /* Now and then both are registered at once. */
        if (round % 3 == 0) {
            assert_int_equal(rex_offload_init(), 0);
            check_own(FACTOR_OF_DEFAULT);
            assert_int_equal(rex_offload_fini(), 0);
        }
        CHECK(&other_module, &other_keys[1], 150, FACTOR_OF_OTHER);
        assert_int_equal(rex_module_fini(&other_module), 0);
        /* 14 and 15 register rows for all kernels of a host image: as many as this module has entries. */
        check_growth(round, rounds, 3 * ENTRIES, 0);
    }
}
