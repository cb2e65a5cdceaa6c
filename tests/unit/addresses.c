/*
 * addresses.c - device addresses that are remembered: as long as no mapping has ended, and no longer.
 *
 * libomptarget is a fake whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "omp/forward.h"
#include "omp/mappingend.h"
#include "rex/entry.h"
#include "rex_kmp.h"
#include "rex/queue.h"
#include "memory/addresses.h"

REX_KERNEL(plain);

/* Exported beside those that rex_kmp.h declares. */
void data_end_mapper(void *place, int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types, void **names,
                     void **mappers) __asm__("__tgt_target_data_end_mapper");

static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

enum { BYTES = 4096, DEVICE = 0x10000000 };
static char memory[16][BYTES];
static struct rex_addresses addresses;

/* Looks that did not end at the section that was found last. */
static int looks;
uintptr_t __real_rex_addresses_look_up(struct rex_addresses *of, uintptr_t begin, size_t size, int number, uint64_t generation);
uintptr_t __wrap_rex_addresses_look_up(struct rex_addresses *of, uintptr_t begin, size_t size, int number, uint64_t generation);
uintptr_t __wrap_rex_addresses_look_up(struct rex_addresses *of, uintptr_t begin, size_t size, int number, uint64_t generation)
{
    looks++;
    return __real_rex_addresses_look_up(of, begin, size, number, generation);
}

static void start(void)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    memset(the_record()->mappings, 0, sizeof the_record()->mappings);
}

/* Memory NUMBER is mapped, to device address DEVICE + OFFSET; 0 bytes of it: not at all. */
static void map(int number, size_t bytes, uintptr_t offset)
{
    the_record()->mappings[number] = (struct fake_mapping){(uintptr_t)memory[number], bytes, DEVICE + offset};
}

static uintptr_t find(const char *begin, size_t size)
{
    return rex_addresses_find(&addresses, begin, size, 0, rex_addresses_generation(true));
}

/* Looks up, and what libomptarget was asked meanwhile: whether anything. */
#define ASKED(begin, size, expected)                                                                                   \
    __extension__({                                                                                                    \
        uint32_t before_ = the_record()->lookups;                                                                      \
        CHECK_EQUAL(find((begin), (size)), (expected));                                                                \
        the_record()->lookups != before_;                                                                              \
    })

/* The end of some mapping, as a raw call of generated code. */
static void end_something(void)
{
    __rex_real___tgt_target_data_end(0, 0, NULL, NULL, NULL, NULL);
}

static void remember(const void *context)
{
    (void)context;
    start();
    CHECK(rex_forward_first());
    map(0, BYTES, 0);
    CHECK(ASKED(memory[0], BYTES, DEVICE));
    CHECK(!ASKED(memory[0], BYTES, DEVICE));
    CHECK(!ASKED(memory[0] + 100, 50, DEVICE + 100)); /* a part */
    CHECK(!ASKED(memory[0] + 100, 50, DEVICE + 100));
    CHECK(ASKED(memory[0] + 100, BYTES, 0)); /* goes beyond it */
    CHECK(ASKED(memory[1], 1, 0));
    /* Begun, and nothing ended: what is known stays. */
    __rex_real___tgt_target_data_begin(0, 0, NULL, NULL, NULL, NULL);
    CHECK(!ASKED(memory[0], BYTES, DEVICE));
    /* Ended, and mapped elsewhere. */
    map(0, BYTES, 0x5000);
    end_something();
    CHECK(ASKED(memory[0], BYTES, DEVICE + 0x5000));
    CHECK(!ASKED(memory[0] + 100, 50, DEVICE + 0x5064));
    /* Ended for good. */
    map(0, 0, 0);
    end_something();
    CHECK(ASKED(memory[0], BYTES, 0));
    CHECK(ASKED(memory[0] + 100, 50, 0));
}

/* What was found last is found at once; what was in the same slot before says nothing of what is there now. */
static void replace(const void *context)
{
    size_t at = BYTES;
    (void)context;
    start();
    map(0, BYTES, 0);
    CHECK_EQUAL(find(memory[0], BYTES), DEVICE);
    looks = 0;
    CHECK_EQUAL(find(memory[0], BYTES), DEVICE);
    CHECK_EQUAL(find(memory[0], 1), DEVICE);
    CHECK_EQUAL(looks, 0);
    while (at % BYTES > BYTES - 64 || rex_addresses_slot((uintptr_t)memory[0] + at) != rex_addresses_slot((uintptr_t)memory[0]))
        at += 16;
    CHECK(at < sizeof memory);
    const char *other = memory[0] + at;
    map((int)(at / BYTES), at % BYTES + 64, 0x5000);
    CHECK_EQUAL(find(other, 64), DEVICE + 0x5000 + at % BYTES);
    CHECK_EQUAL(find(other, BYTES), 0);
    CHECK_EQUAL(find(memory[0], BYTES), DEVICE);
}

/* Each call that may end a mapping, or that says so. */
static void forget(const void *context)
{
    (void)context;
    start();
    map(0, BYTES, 0);
    REX_MAP(region, REX_TO(memory[0], BYTES));
    for (int i = 0; i < 6; i++) {
        CHECK(ASKED(memory[0], BYTES, DEVICE));
        CHECK(!ASKED(memory[0], BYTES, DEVICE));
        switch (i) {
        case 0: CHECK_EQUAL(rex_module_region_end(&module, 0, &region), 0); break;
        case 1: CHECK_EQUAL(rex_module_data_exit(&module, 0, &region), 0); break;
        case 2: rex_mappings_changed(); break;
        case 3: end_something(); break;
        case 4: data_end_mapper(NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL); break;
        default: CHECK_EQUAL(rex_module_fini(&module), 0); CHECK_EQUAL(rex_module_register(&module, NULL), 0);
        }
    }
    CHECK(ASKED(memory[0], BYTES, DEVICE));
}

/* What a data call has mapped is asked for as a whole, so that its parts are known afterwards. */
static void take_whole(const void *context)
{
    (void)context;
    start();
    REX_MAP(region, REX_TO(memory[0], BYTES));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), 0);
    map(0, BYTES, 0);
    CHECK(ASKED(memory[0] + 10, 10, DEVICE + 10));
    CHECK(!ASKED(memory[0] + 500, 10, DEVICE + 500));
    CHECK(!ASKED(memory[0], BYTES, DEVICE));
    /* It has gone behind librex's back, or a part of it has, and the program says so. */
    map(0, 100, 0x700);
    rex_mappings_changed();
    CHECK(ASKED(memory[0] + 10, 10, DEVICE + 0x70a));
    CHECK(ASKED(memory[0] + 500, 10, 0));
}

/* Two mappings whose device memory is side by side are not one, as long as librex knows where the first of them ends. */
static void divide(const void *context)
{
    (void)context;
    start();
    REX_MAP(region, REX_TO(memory[0], BYTES));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), 0);
    map(0, BYTES, 0);
    map(1, BYTES, BYTES);
    CHECK(ASKED(memory[0], BYTES, DEVICE));
    CHECK(ASKED(memory[1], BYTES, DEVICE + BYTES));
    CHECK(ASKED(memory[0], 2 * BYTES, 0));
    CHECK(ASKED(memory[0] + 10, BYTES, 0));
    CHECK(!rex_target_is_present(memory[0], 2 * BYTES, 0));
    /* After an end that librex has not seen it might be one. */
    end_something();
    CHECK(!rex_target_is_present(memory[0], 2 * BYTES, 0));
    rex_mappings_changed();
    CHECK(rex_target_is_present(memory[0], 2 * BYTES, 0));
    CHECK(ASKED(memory[0], 2 * BYTES, DEVICE));
}

static void map_at_load(enum fake_function function)
{
    if (function == FAKE_BEGIN)
        map(0, BYTES, 0x6000);
}

/* A global is mapped when its image is loaded, which the look for it has done; what is mapped in part is not looked for again. */
static void find_after_load(const void *context)
{
    (void)context;
    start();
    the_record()->on_data = map_at_load;
    uint32_t begins = the_record()->counts[FAKE_BEGIN];
    CHECK_EQUAL(find(memory[0] + 8, 16), DEVICE + 0x6008);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begins + 1);
    CHECK_EQUAL(the_record()->looked_at, 0);
    map(1, BYTES / 2, 0x8000);
    CHECK_EQUAL(find(memory[1], BYTES), 0);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begins + 1);
    CHECK_EQUAL(find(memory[2], 1), 0);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begins + 2);
}

static void never_remember(const void *context)
{
    (void)context;
    start();
    map(0, BYTES, 0);
    for (int i = 0; i < 3; i++) {
        uint32_t before = the_record()->lookups;
        CHECK_EQUAL(rex_addresses_find(&addresses, memory[0], BYTES, 0, rex_addresses_generation(false)), DEVICE);
        CHECK(the_record()->lookups != before);
    }
}

static void know_use(const void *context)
{
    (void)context;
    start();
    for (int i = 0; i < 4; i++)
        map(i, BYTES, (uintptr_t)i * 0x2000);
    CHECK(find(memory[0], BYTES) != 0 && find(memory[2] + 100, 10) != 0);
    CHECK(rex_addresses_in_use(&addresses, memory[0] + BYTES - 1, 1, 0));
    CHECK(rex_addresses_in_use(&addresses, memory[2], 101, 0));
    CHECK(rex_addresses_in_use(&addresses, NULL, 0, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[1], BYTES, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[2], 100, 0));
    rex_addresses_unmark(&addresses);
    CHECK(!rex_addresses_in_use(&addresses, NULL, 0, 0));
    CHECK(find(memory[0] + 5, 5) != 0); /* known, and used again */
    CHECK(rex_addresses_in_use(&addresses, memory[0], 1, 0));
    struct rex_addresses other = {.next = 0};
    rex_addresses_use_all(&other, &addresses);
    CHECK(rex_addresses_in_use(&other, memory[0], 1, 0));
    /* And where it is known already: that alone is used again. */
    rex_addresses_unmark(&other);
    rex_addresses_use_all(&other, &addresses);
    CHECK(rex_addresses_in_use(&other, memory[0], 1, 0));
    CHECK(!rex_addresses_in_use(&other, memory[1], 1, 0));
    /* Beside what is known of other memory, which is not used by that. */
    struct rex_addresses third = {.next = 0};
    CHECK(rex_addresses_find(&third, memory[1], BYTES, 0, rex_addresses_generation(true)) != 0);
    CHECK(rex_addresses_find(&third, memory[3], BYTES, 0, rex_addresses_generation(true)) != 0);
    rex_addresses_unmark(&third);
    rex_addresses_use_all(&third, &addresses);
    CHECK(rex_addresses_in_use(&third, memory[0], 1, 0));
    CHECK(!rex_addresses_in_use(&third, memory[1], BYTES, 0) && !rex_addresses_in_use(&third, memory[3], BYTES, 0));
    /* Who works with it uses it, whether it was marked there or not. */
    struct rex_addresses fourth = {.next = 0};
    rex_addresses_unmark(&addresses);
    rex_addresses_use_all(&fourth, &addresses);
    CHECK(rex_addresses_in_use(&fourth, memory[0], 1, 0) && !rex_addresses_in_use(&addresses, memory[0], 1, 0));
    /* Nothing is at address 0 of a device. */
    the_record()->mappings[5] = (struct fake_mapping){(uintptr_t)memory[5], BYTES, 0};
    CHECK_EQUAL(find(memory[5], BYTES), 0);
    CHECK(!rex_addresses_in_use(&addresses, memory[5], BYTES, 0));
    /* What was found last is marked where it lies. */
    rex_addresses_unmark(&third);
    looks = 0;
    CHECK(rex_addresses_find(&third, memory[3], BYTES, 0, rex_addresses_generation(true)) != 0);
    CHECK_EQUAL(looks, 0);
    CHECK(rex_addresses_in_use(&third, memory[3], 1, 0) && !rex_addresses_in_use(&third, memory[1], BYTES, 0));
}

static void is_range(uint32_t i, uint64_t begin, uint64_t end)
{
    CHECK_EQUAL(addresses.range[i].begin, begin);
    CHECK_EQUAL(addresses.range[i].end, end);
}

/* Device memory that a program names by its address. */
static void know_ranges(const void *context)
{
    static const uint64_t first = DEVICE + 1000, far = DEVICE + 0x100000;
    (void)context;
    start();
    rex_addresses_use_range(&addresses, first, 0);
    CHECK_EQUAL(addresses.ranges, 0);
    rex_addresses_use_range(&addresses, first, 100);
    is_range(0, first, first + 100);
    rex_addresses_use_range(&addresses, first - 100, 100);
    is_range(0, first - 100, first + 100);
    rex_addresses_use_range(&addresses, first + 100, 100);
    is_range(0, first - 100, first + 200);
    rex_addresses_use_range(&addresses, first + 50, 10);
    is_range(0, first - 100, first + 200);
    CHECK_EQUAL(addresses.ranges, 1);
    rex_addresses_use_range(&addresses, first + 201, 50); /* a byte apart */
    is_range(1, first + 201, first + 251);
    rex_addresses_use_range(&addresses, first + 240, 50);
    is_range(1, first + 201, first + 290);
    CHECK_EQUAL(addresses.ranges, 2);
    for (uint32_t i = 2; i < REX_DEVICE_RANGES; i++)
        rex_addresses_use_range(&addresses, far * i, 100);
    is_range(REX_DEVICE_RANGES - 1, far * (REX_DEVICE_RANGES - 1), far * (REX_DEVICE_RANGES - 1) + 100);
    CHECK_EQUAL(addresses.ranges, REX_DEVICE_RANGES);
    rex_addresses_use_range(&addresses, far * 5 - 1000, 100); /* no room: with the nearest */
    CHECK_EQUAL(addresses.ranges, REX_DEVICE_RANGES);
    is_range(4, far * 4, far * 4 + 100);
    is_range(5, far * 5 - 1000, far * 5 + 100);
    is_range(6, far * 6, far * 6 + 100);
    rex_addresses_use_range(&addresses, far * 6 + 110, far - 170); /* between two, with the one that grows less */
    is_range(6, far * 6, far * 7 - 60);
    is_range(7, far * 7, far * 7 + 100);

    /* The host's memory that is mapped there. */
    map(0, BYTES, 0);
    CHECK(!rex_addresses_in_use(&addresses, memory[0], 900, 0));
    CHECK(rex_addresses_in_use(&addresses, memory[0], 901, 0));
    CHECK(rex_addresses_in_use(&addresses, memory[0] + 1199, 1, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[0] + 1200, 1, 0));
    CHECK(rex_addresses_in_use(&addresses, memory[0] + 1200, 2, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[0] + 1290, 1, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[1], 1, 0));
    CHECK(rex_addresses_in_use(&addresses, NULL, 0, 0));
    struct rex_addresses other = {.next = 0};
    rex_addresses_use_all(&other, &addresses);
    CHECK_EQUAL(other.ranges, REX_DEVICE_RANGES);
    CHECK(other.range[0].begin == first - 100 && other.range[0].end == first + 200);
    rex_addresses_unmark(&addresses);
    CHECK(!rex_addresses_in_use(&addresses, NULL, 0, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[0] + 1000, 1, 0));
}

/* What a graph of another generation works with takes the place of what was known and not used: a section of that is not marked as this one. */
static void take_over(const void *context)
{
    (void)context;
    start();
    struct rex_addresses fresh = {.next = 0};
    map(0, BYTES, 0);
    map(1, BYTES, 0x3000);
    CHECK(find(memory[0], BYTES) != 0);
    rex_addresses_unmark(&addresses);
    CHECK(rex_addresses_find(&fresh, memory[1], BYTES, 0, rex_addresses_generation(false)) != 0);
    rex_addresses_use_all(&addresses, &fresh);
    rex_addresses_unmark(&addresses);
    CHECK(find(memory[0], BYTES) != 0);
    CHECK(rex_addresses_in_use(&addresses, memory[0], 1, 0));
    CHECK(!rex_addresses_in_use(&addresses, memory[1], 1, 0));
}

/* More mappings than there are places: nothing is wrong, and everything counts as used. */
static void overflow(const void *context)
{
    static char many[REX_FOUND_MAPPINGS + 20][64];
    (void)context;
    start();
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < REX_FOUND_MAPPINGS + 20; i++) {
            the_record()->mappings[i] = (struct fake_mapping){(uintptr_t)many[i], 32, DEVICE + (uintptr_t)i * 64};
            CHECK_EQUAL(find(many[i], 32), DEVICE + (uintptr_t)i * 64);
            CHECK_EQUAL(find(many[i] + 8, 8), DEVICE + (uintptr_t)i * 64 + 8);
        }
    CHECK(rex_addresses_in_use(&addresses, memory[0], 1, 0));
    /* So does it for who takes that over, and goes on to. */
    static struct rex_addresses other, none;
    rex_addresses_use_all(&other, &addresses);
    CHECK(rex_addresses_in_use(&other, memory[0], 1, 0));
    rex_addresses_use_all(&other, &none);
    CHECK(rex_addresses_in_use(&other, memory[0], 1, 0));
    rex_addresses_unmark(&addresses);
    CHECK(!rex_addresses_in_use(&addresses, memory[0], 1, 0));
}

/* What works with nothing takes no place. */
static void take_nothing_over(const void *context)
{
    static char many[REX_FOUND_MAPPINGS][64];
    const struct rex_addresses none = {.next = 0};
    (void)context;
    start();
    for (int i = 0; i < REX_FOUND_MAPPINGS; i++) {
        the_record()->mappings[i] = (struct fake_mapping){(uintptr_t)many[i], 64, DEVICE + (uintptr_t)i * 64};
        CHECK(find(many[i], 64) != 0);
    }
    rex_addresses_unmark(&addresses);
    rex_addresses_use_all(&addresses, &none);
    CHECK(!rex_addresses_in_use(&addresses, NULL, 0, 0));
    for (int i = 0; i < REX_FOUND_MAPPINGS; i++)
        CHECK(!ASKED(many[i], 64, DEVICE + (uintptr_t)i * 64));
}

static void renew(const void *context)
{
    (void)context;
    start();
    map(0, BYTES, 0);
    map(1, BYTES, 0x3000);
    CHECK(find(memory[0], BYTES) != 0 && find(memory[1], BYTES) != 0);
    rex_mappings_changed();
    CHECK_EQUAL(rex_addresses_renew(&addresses, 0, rex_addresses_generation(true)), REX_ADDRESSES_SAME);
    CHECK_EQUAL(find(memory[1], BYTES), DEVICE + 0x3000);
    map(1, BYTES, 0x4000);
    rex_mappings_changed();
    CHECK_EQUAL(rex_addresses_renew(&addresses, 0, rex_addresses_generation(true)), REX_ADDRESSES_MOVED);
    map(1, BYTES / 2, 0x3000);
    rex_mappings_changed();
    CHECK_EQUAL(rex_addresses_renew(&addresses, 0, rex_addresses_generation(true)), REX_ADDRESSES_GONE);
}

#define TEST_OF(name) \
    TEST(test_##name) \
    { \
        in_child(name, NULL); \
    }
TEST_OF(remember)
TEST_OF(replace)
TEST_OF(forget)
TEST_OF(take_whole)
TEST_OF(divide)
TEST_OF(find_after_load)
TEST_OF(never_remember)
TEST_OF(know_use)
TEST_OF(know_ranges)
TEST_OF(take_over)
TEST_OF(take_nothing_over)
TEST_OF(overflow)
TEST_OF(renew)
