/*
 * Registering again, two hundred times, and in `make check-all` a thousand: with the same image, with another, with another module in between. libomptarget keeps tables by
 * the addresses of descriptors and entries and never clears them, so each of these goes wrong where an address is used twice.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

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

/* From round SETTLED on: at most 32 bytes for an entry and 256 for a registration. */
static void check_growth(int round, int rounds, int entries)
{
    static size_t settled;
    if (!heap_is_counted())
        return;
    if (round == SETTLED)
        settled = heap_of_librex();
    if (round == rounds && rounds > SETTLED) {
        double growth = (double)(heap_of_librex() - settled) / (rounds - SETTLED);
        printf("librex grows by %.1f bytes a round, for %d entries\n", growth, entries);
        assert_true(heap_of_librex() > settled || !loads_late()); /* else nothing was counted */
        assert_true(growth <= 32 * entries + 256);
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
        check_growth(round, rounds, ENTRIES);
    }
}

TEST(with_the_same_image)
{
    check_again(NULL);
}

/* LLVM 18 takes no registration back. */
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
    assert_non_null(strstr(rex_last_error(), "LLVM 18 takes no registration back"));
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
        check_growth(round, rounds, 3 * ENTRIES);
    }
}
