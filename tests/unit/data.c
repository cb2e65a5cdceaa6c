/*
 * data.c - regions, their ends and updates, as libomptarget gets them; device addresses that it writes into a map; and device memory.
 *
 * libomptarget is a fake of four devices, of which the last is the host, and whose mappings the test makes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "memory/data.h"
#include "memory/devicememory.h"
#include "memory/rowcheck.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/interop.h"
#include "rex/queue.h"
#include "rex_kmp.h"

static char plain_id;
static struct __tgt_offload_entry entry[] = {{&plain_id, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};
static struct rex_module unknown = {.struct_size = sizeof(struct rex_module)};

enum { DEVICES = 3, BYTES = 256, AWAY = 0x1000 };
static char bytes[BYTES] __attribute__((aligned(64)));

/* The address by so much later, which may be none of the bytes. */
static void *after(const void *address, uintptr_t distance)
{
    return (void *)((uintptr_t)address + distance);
}

static void start(int release)
{
    setenv("REX_LOG", "off", 1);
    use_gpu(90);
    use_release(release);
    setenv("FAKE_DEVICES", "3", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(the_record()->devices, DEVICES);
}

static void map_bytes(int slot, int at, size_t size, uintptr_t device)
{
    the_record()->mappings[slot] = (struct fake_mapping){(uintptr_t)bytes + (uintptr_t)at, size, device};
}

static uint32_t calls(enum fake_function function)
{
    return the_record()->counts[function];
}

/* ---- the calls ------------------------------------------------------------------------------------------------------------------------ */

enum { BEGIN, END, EXIT, UPDATE, WAYS };

static int call(int way, int64_t device, const struct rex_map *map)
{
    return way == BEGIN  ? rex_module_data_enter(&module, device, map)
           : way == END  ? rex_module_region_end(&module, device, map)
           : way == EXIT ? rex_module_data_exit(&module, device, map)
                         : rex_module_data_update(&module, device, map);
}

static const char *const words[] = {"data begin", "data end", "data exit", "data update"};

/* The rows as they are, on the device that is named; what is wrong is refused under the call's name. */
TEST_IN_CHILD(each_call)
{
    static const enum fake_function functions[] = {FAKE_BEGIN, FAKE_END, FAKE_END, FAKE_UPDATE};
    start(22);
    REX_MAP(map, REX_TO(bytes, 8), REX_FROM(bytes + 8, 16));
    REX_MAP(wrong, REX_TO(bytes, 8), REX_FROM(bytes + 8, -1));
    map_bytes(0, 0, 24, 0x10000000);
    for (int way = 0; way < WAYS; way++) {
        REFUSED(call(way, 1, NULL), REX_EINVAL, "%s: the map is NULL", words[way]);
        REFUSED(call(way, 1, &wrong), REX_EINVAL, "%s: map row 1 has a negative size (base %p, begin %p, -1 bytes, type 0x22); row 1 is %s",
                words[way], (void *)(bytes + 8), (void *)(bytes + 8), "REX_FROM(bytes + 8, -1)");
        REFUSED(call(way, DEVICES + 1, &map), REX_EDEVICE, "device number %d: there are 3 devices, 0 to 2; 3 is the host", DEVICES + 1);
        CHECK_EQUAL(calls(functions[way]), way == EXIT);
        CHECK_EQUAL(call(way, DEVICES, &map), REX_OK); /* the host has no copy */
        CHECK_EQUAL(calls(functions[way]), way == EXIT);
        CHECK_EQUAL(call(way, 1, &map), REX_OK);
        const struct fake_call *last = last_call(functions[way]);
        CHECK(last->device == 1 && last->packet.rows == 2);
        for (int i = 0; i < 2; i++)
            CHECK(last->base[i] == map.base[i] && last->begin[i] == map.begin[i] && last->sizes[i] == map.sizes[i] &&
                  last->types[i] == map.types[i]);
    }
}

static int sum(int one, int other)
{
    return one + other;
}

#define OWN_ROW(at) REX_TO(bytes + (at), 8)

/* Messages quote a row as the program wrote it: brackets, strings and commas in it, and rows of the program's own macros. */
TEST_IN_CHILD(quote_rows)
{
    start(22);
    REX_MAP(map, REX_TO(bytes + ("(,\"")[3], 8), REX_FROM(bytes + sum(40, ','), 8), OWN_ROW(80),
                 REX_TO(bytes + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0, 8));
    char text[REX_ROW_TEXT];
    CHECK(strcmp(rex_row_text(&map, 0, text), "; row 0 is REX_TO(bytes + (\"(,\\\"\")[3], 8)") == 0);
    CHECK(strcmp(rex_row_text(&map, 1, text), "; row 1 is REX_FROM(bytes + sum(40, ','), 8)") == 0);
    CHECK(strcmp(rex_row_text(&map, 2, text), "") == 0);
    CHECK(strncmp(rex_row_text(&map, 3, text), "; row 3 is REX_TO(bytes + 0", 27) == 0 && strlen(text) < REX_ROW_TEXT);
    CHECK(strcmp(rex_row_text(&map, 4, text), "") == 0 && strcmp(rex_row_text(NULL, 0, text), "") == 0);
    map.storage = &map;
    CHECK(strcmp(rex_row_text(&map, 0, text), "") == 0);
}

/* What has to be there when a region begins need not be at its end. */
TEST_IN_CHILD(end_without_presence)
{
    start(22);
    REX_MAP(map, REX_TO(bytes, 8), REX_PRESENT(REX_FROM(bytes + 8, 16)));
    REFUSED(rex_module_data_enter(&module, 0, &map), REX_EABSENT, "data begin: map row 1, 16 bytes at %p, is not mapped on device 0; row 1 is %s",
            (void *)(bytes + 8), "REX_PRESENT(REX_FROM(bytes + 8, 16))");
    REFUSED(rex_module_data_exit(&module, 0, &map), REX_EABSENT, "data exit: map row 1, 16 bytes at %p, is not mapped on device 0; row 1 is %s",
            (void *)(bytes + 8), "REX_PRESENT(REX_FROM(bytes + 8, 16))");
    CHECK_EQUAL(rex_module_region_end(&module, 0, &map), REX_OK);
    const struct fake_call *last = last_call(FAKE_END);
    CHECK(last->types[0] == map.types[0] && last->types[1] == (map.types[1] & ~REX_MAP_PRESENT) && last->begin[1] == bytes + 8);
    CHECK(map.types[1] & REX_MAP_PRESENT);
    /* Columns that are none are refused as ever. */
    struct rex_map none = map;
    none.types = NULL;
    REFUSED(rex_module_region_end(&module, 0, &none), REX_EINVAL, "data end: a map of 2 rows with a column that is NULL");
}

/* LLVM 18 loads no image once a device was used, by whatever call. */
static void use_device(const void *context)
{
    static char key;
    static struct __tgt_offload_entry own[] = {{&key, (char *)(uintptr_t)"none__kernel__", 0, 0, 0}};
    static struct rex_module late = {
        .struct_size = sizeof(struct rex_module), .entries_begin = own, .entries_end = own + 1, .image_name = "tests/data/sm_90.cubin"};
    const int way = *(const int *)context;
    start(18);
    REX_MAP(map, REX_TO(bytes, 8));
    map_bytes(0, 0, 8, 0x10000000);
    CHECK_EQUAL(way < WAYS ? call(way, 0, &map) : rex_module_check_map(&module, 0, 1, map.base, map.begin, map.sizes, map.types), REX_OK);
    CHECK_EQUAL(rex_module_register(&late, NULL), REX_EUNSUPPORTED);
}

/* LLVM 14 is asked for an address by a row. That of the second mapping is not behind the first's. */
static void tell_address(enum fake_function function)
{
    const struct fake_packet *packet = &the_record()->calls[the_record()->count - 1].packet;
    if (function == FAKE_BEGIN && packet->rows == 1 && packet->types[0] == REX_MAP_RETURN_PARAM)
        packet->base[0] = after(packet->base[0], (char *)packet->base[0] < bytes + 64 ? AWAY : 2 * AWAY);
}

/* Two rows of one mapping, whatever lies between them in the map; neighbours that have one each are two. LLVM 14 ends one a call. */
TEST_IN_CHILD(end_apart)
{
    start(14);
    the_record()->on_data = tell_address;
    map_bytes(0, 0, 64, 0x10000000);
    map_bytes(1, 64, 8, 0x20000000);
    map_bytes(2, 128, 8, 0x30000000);
    REX_MAP(around, REX_TO(bytes + 16, 8), REX_TO(bytes + 128, 8), REX_TO(bytes, 8), REX_TO(bytes + 72, 8));
    REX_MAP(beside, REX_TO(bytes + 56, 8), REX_TO(bytes + 64, 8));
    int32_t ended[] = {0, 0, 0};
    around.count = 3; /* behind which there is another row */
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &around), REX_OK);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &beside), REX_OK);
    for (uint32_t i = 0; i < the_record()->count; i++) {
        const struct fake_call *each = &the_record()->calls[i];
        if (each->function != FAKE_END || each->sizes[0] == 0) /* a look-up */
            continue;
        ended[each->packet.rows]++;
        CHECK(each->begin[0] != bytes + 72);
    }
    CHECK(the_record()->count <= FAKE_CALLS && ended[1] == 3 && ended[2] == 1);
    REX_MAP(whole, REX_TO(bytes, 8));
    CHECK_EQUAL(rex_unmap_after_launch(0, &whole), REX_OK);
    CHECK_EQUAL(last_call(FAKE_END)->begin[0] == bytes, true);
}

TEST_IN_CHILD(check_raw_calls)
{
    void *base[] = {bytes, bytes}, *begin[] = {bytes, bytes};
    int64_t sizes[] = {8, 8}, types[] = {REX_MAP_TO, REX_MAP_TO}, negative[] = {8, -8};
    start(22);
    REFUSED(rex_module_check_map(NULL, 0, 2, base, begin, sizes, types), REX_EINVAL, "rex_module_check_map: the module is NULL");
    /* It has no kernels, and another module is registered. */
    CHECK_EQUAL(rex_module_check_map(&unknown, 0, 2, base, begin, sizes, types), REX_OK);
    REFUSED(rex_module_check_map(&module, 0, -2, base, begin, sizes, types), REX_EINVAL,
            "a data call with a negative number of rows, -2");
    REFUSED(rex_module_check_map(&module, 0, 2, NULL, begin, sizes, types), REX_EINVAL,
            "a data call: the column of base addresses is NULL, for 2 rows");
    REFUSED(rex_module_check_map(&module, 0, 2, base, NULL, sizes, types), REX_EINVAL,
            "a data call: the column of begin addresses is NULL, for 2 rows");
    REFUSED(rex_module_check_map(&module, 0, 2, base, begin, NULL, types), REX_EINVAL,
            "a data call: the column of sizes is NULL, for 2 rows");
    REFUSED(rex_module_check_map(&module, 0, 2, base, begin, sizes, NULL), REX_EINVAL,
            "a data call: the column of map types is NULL, for 2 rows");
    REFUSED(rex_module_check_map(&module, 0, 2, base, begin, negative, types), REX_EINVAL, "a data call: map row 1 has a negative size");
    CHECK_EQUAL(rex_module_check_map(&module, 0, 1, base, begin, negative, types), REX_OK);
    CHECK_EQUAL(rex_module_check_map(&module, 0, 0, NULL, NULL, NULL, NULL), REX_OK);
    CHECK_EQUAL(rex_module_check_map(&module, DEVICES + 1, 1, base, begin, sizes, types), REX_EDEVICE);
    CHECK_EQUAL(rex_module_check_map(&module, -1, 1, base, begin, sizes, types), REX_OK);
    setenv("OMP_DEFAULT_DEVICE", "7", 1);
    CHECK_EQUAL(rex_module_check_map(&module, -1, 1, base, begin, sizes, types), REX_EDEVICE);
    CHECK_EQUAL(rex_module_check_map(&module, 0, 1, base, begin, sizes, types), REX_OK);
}

static void call_late(void)
{
    void *base[] = {bytes}, *begin[] = {bytes};
    int64_t sizes[] = {8}, types[] = {REX_MAP_TO};
    static const char ends[] = "the process is ending, and libomptarget with it: do this before main() returns or exit() is called";
    REX_MAP(map, REX_TO(bytes, 8));
    uint32_t count = the_record()->count;
    REFUSED(rex_module_check_map(&module, 0, 1, base, begin, sizes, types), REX_EINVAL, "%s", ends);
    for (int way = 0; way < WAYS; way++)
        REFUSED(call(way, 0, &map), REX_EINVAL, "%s", ends);
    CHECK_EQUAL(the_record()->count, count);
    _exit(0);
}

/* After main() no call gets to libomptarget. */
TEST_IN_CHILD(end_process)
{
    CHECK_EQUAL(atexit(call_late), 0); /* before librex's own */
    start(22);
    exit(3);
}

TEST(test_calls)
{
    for (int way = 0; way <= WAYS; way++)
        in_child(use_device, &way);
}

/* A raw call has its rows in the log, where they are wanted and the call is right. */
static void log_rows(const void *unused)
{
    void *base[] = {bytes, bytes}, *begin[] = {bytes, bytes};
    int64_t sizes[] = {8, 16}, types[] = {REX_MAP_TO, REX_MAP_FROM};
    (void)unused;
    start(22);
    CHECK_EQUAL(rex_module_check_map(&module, 2, 2, base, begin, sizes, types), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), REX_OK);
    CHECK_EQUAL(rex_module_check_map(&module, 2, 2, base, begin, sizes, types), REX_OK);
    CHECK_EQUAL(rex_module_check_map(&module, 1, 0, NULL, NULL, NULL, NULL), REX_OK);
    CHECK_EQUAL(rex_module_check_map(&module, 1, -1, base, begin, sizes, types), REX_EINVAL);
}

TEST(test_log)
{
    const char *output = in_child(log_rows, NULL);
    assert_int_equal(occurrences(output, "data call: device 2, 2 rows\n"), 1);
    assert_int_equal(occurrences(output, "data call: device"), 1);
    assert_int_equal(occurrences(output, "data call: row 0: to "), 1);
    assert_int_equal(occurrences(output, "data call: row 1: from "), 1);
}

/* ---- device addresses in a map ---------------------------------------------------------------------------------------------------------- */

static void *written[3]; /* by the next call that begins, into its rows */

static void write_addresses(enum fake_function function)
{
    const struct fake_packet *packet = &the_record()->calls[the_record()->count - 1].packet;
    for (uint32_t i = 0; function == FAKE_BEGIN && i < packet->rows; i++)
        if (packet->types[i] & REX_MAP_RETURN_PARAM)
            packet->base[i] = written[i];
}

static void begin_with(struct rex_map *map, uintptr_t first)
{
    for (uintptr_t i = 0; i < COUNT(written); i++)
        written[i] = (void *)(first + i);
    CHECK_EQUAL(rex_module_data_enter(&module, 0, map), REX_OK);
}

#define RETURNED(at, size) rex_row_with(REX_TO(bytes + (at), (size)), REX_MAP_RETURN_PARAM)

static bool has_bases(const struct rex_map *map, const void *first, const void *second, const void *third)
{
    return map->base[0] == first && map->base[1] == second && map->base[2] == third;
}

/* They are the program's while the region lasts; afterwards, and before it is begun again, the map has its bases. */
TEST_IN_CHILD(put_back)
{
    start(22);
    REX_MAP(one, RETURNED(0, 8), REX_TO(bytes + 16, 8), RETURNED(32, 8));
    REX_MAP(other, RETURNED(64, 8), RETURNED(80, 8), RETURNED(96, 8));
    the_record()->on_data = write_addresses;
    for (int round = 0; round < 2; round++) { /* ended in either order */
        begin_with(&one, 0x1000);
        begin_with(&other, 0x2000);
        CHECK(has_bases(&one, (void *)0x1000, bytes + 16, (void *)0x1002));
        CHECK(has_bases(&other, (void *)0x2000, (void *)0x2001, (void *)0x2002));
        CHECK_EQUAL(rex_module_region_end(&module, 0, round == 0 ? &one : &other), REX_OK);
        CHECK(has_bases(&one, bytes, bytes + 16, bytes + 32) == (round == 0));
        CHECK(has_bases(&other, bytes + 64, bytes + 80, bytes + 96) == (round != 0));
        CHECK_EQUAL(rex_module_region_end(&module, 0, round == 0 ? &other : &one), REX_OK);
        CHECK(has_bases(&one, bytes, bytes + 16, bytes + 32) && has_bases(&other, bytes + 64, bytes + 80, bytes + 96));
    }
    begin_with(&one, 0x3000);
    begin_with(&one, 0x4000);
    CHECK(last_call(FAKE_BEGIN)->base[0] == bytes && last_call(FAKE_BEGIN)->base[2] == bytes + 32);
    CHECK(has_bases(&one, (void *)0x4000, bytes + 16, (void *)0x4002));
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &one), REX_OK);
    CHECK(has_bases(&one, bytes, bytes + 16, bytes + 32));
}

/* What the program has changed since stays as it is. */
TEST_IN_CHILD(leave_changed)
{
    static char elsewhere;
    start(22);
    REX_MAP(map, RETURNED(0, 8), REX_TO(bytes + 16, 8), RETURNED(32, 8));
    the_record()->on_data = write_addresses;
    begin_with(&map, 0x1000);
    map.base[2] = &elsewhere;
    CHECK_EQUAL(rex_module_region_end(&module, 0, &map), REX_OK);
    CHECK(has_bases(&map, (void *)0x1000, bytes + 16, &elsewhere));
    /* fewer rows, or others, that ask for their address */
    for (int way = 0; way < 3; way++) {
        struct rex_map changed = map;
        int64_t types[3];
        memcpy(types, map.types, sizeof types);
        changed.types = types;
        map.base[0] = bytes;
        map.base[2] = bytes + 32;
        begin_with(&map, 0x2000);
        changed.count = way == 2 ? 2 : 3;
        types[0] = way == 0 ? REX_MAP_TO : types[0];
        types[1] = way == 1 ? types[0] : types[1];
        types[0] = way == 1 ? REX_MAP_TO : types[0];
        CHECK_EQUAL(rex_module_region_end(&module, 0, &changed), REX_OK);
        CHECK(has_bases(&map, (void *)0x2000, bytes + 16, (void *)0x2002));
    }
}

/* The end of another map, which has the same columns but gets no address, is none of this one's. */
TEST_IN_CHILD(share_columns)
{
    start(22);
    REX_MAP(map, RETURNED(0, 8), REX_TO(bytes + 16, 8), RETURNED(32, 8));
    int64_t types[] = {REX_MAP_TO, REX_MAP_TO, REX_MAP_TO};
    struct rex_map other = map;
    other.types = types;
    the_record()->on_data = write_addresses;
    begin_with(&map, 0x1000);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &other), REX_OK);
    CHECK(has_bases(&map, (void *)0x1000, bytes + 16, (void *)0x1002));
    CHECK_EQUAL(rex_module_region_end(&module, 0, &map), REX_OK);
    CHECK(has_bases(&map, bytes, bytes + 16, bytes + 32));
}

/* ---- device memory ---------------------------------------------------------------------------------------------------------------------- */

static void check_copied(int to, int from)
{
    CHECK(the_record()->copied[0] == to && the_record()->copied[1] == from);
}

/* As many bytes as asked for, between the devices that are named; nothing where libomptarget says that it could not. */
TEST_IN_CHILD(copy)
{
    start(22);
    char *memory = rex_device_alloc(64, 1), *other = rex_device_alloc(64, 2);
    memset(memory, 1, 64);
    memset(other, 2, 64);
    memset(bytes, 3, BYTES);
    CHECK_EQUAL(rex_device_copy_to(memory + 8, bytes, 16, 1), REX_OK);
    check_copied(1, DEVICES);
    CHECK(memory[7] == 1 && memory[8] == 3 && memory[23] == 3 && memory[24] == 1);
    CHECK_EQUAL(rex_device_copy_from(bytes + 8, memory + 7, 2, 1), REX_OK);
    check_copied(DEVICES, 1);
    CHECK(bytes[7] == 3 && bytes[8] == 1 && bytes[9] == 3 && bytes[10] == 3);
    CHECK_EQUAL(rex_device_copy_peer(other + 4, 2, memory + 7, 1, 8), REX_OK);
    check_copied(2, 1);
    CHECK(other[3] == 2 && other[4] == 1 && other[5] == 3 && other[11] == 3 && other[12] == 2);
    uint32_t touches = the_record()->touches;
    CHECK_EQUAL(rex_device_copy_peer(other, 2, memory, 1, 0), REX_OK);
    CHECK_EQUAL(the_record()->touches, touches);
    the_record()->copy_result = 1;
    REFUSED(rex_device_copy_to(memory, bytes, 16, 1), REX_ERUNTIME,
            "rex_device_copy_to: libomptarget could not copy 16 bytes between the host and device 1");
    REFUSED(rex_device_copy_from(bytes, memory, 16, 2), REX_ERUNTIME,
            "rex_device_copy_from: libomptarget could not copy 16 bytes between the host and device 2");
    REFUSED(rex_device_copy_peer(other, 2, memory, 1, 24), REX_ERUNTIME,
            "rex_device_copy_peer: libomptarget could not copy 24 bytes from device 1 to device 2");
    REFUSED(rex_device_copy_peer(NULL, 2, memory, 1, 24), REX_EINVAL, "rex_device_copy_peer: the destination is NULL");
    REFUSED(rex_device_copy_peer(other, 2, NULL, 1, 24), REX_EINVAL, "rex_device_copy_peer: the source is NULL");
    REFUSED(rex_device_copy_peer(other, 5, memory, 1, 24), REX_EDEVICE, "device number 5: there are 3 devices, 0 to 2; 3 is the host");
    REFUSED(rex_device_copy_peer(other, 2, memory, 6, 24), REX_EDEVICE, "device number 6: there are 3 devices, 0 to 2; 3 is the host");
    rex_device_free(memory, 1);
    rex_device_free(other, 2);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    REFUSED(rex_device_copy_peer(other, 2, memory, 1, 24), REX_EINVAL,
            "rex_device_copy_peer: no module is registered, or offloading is disabled");
}

TEST_IN_CHILD(have_none)
{
    setenv("FAKE_CUDA_MEMORY", "1", 1);
    start(22);
    NO_ADDRESS(rex_device_alloc(((size_t)1 << 20) + 1, 1), REX_ENOMEM, "rex_device_alloc: device 1 has no 1048577 bytes");
}

static const struct fake_call *seen[2]; /* the last calls that look a row up by its address, and end that */

static void return_address(enum fake_function function)
{
    const struct fake_call *last = &the_record()->calls[the_record()->count - 1];
    seen[function == FAKE_END] = last;
    if (function == FAKE_BEGIN && last->packet.rows == 1)
        last->packet.base[0] = after(last->packet.base[0], AWAY);
}

/* Asked of the device that is named. LLVM 14 and 15 tell the address in a row. */
TEST_ON_FAKES(find, 14, 15, 16, 24)
{
    start(release);
    map_bytes(0, 64, 64, (uintptr_t)bytes + 64 + AWAY);
    the_record()->on_data = return_address;
    CHECK(rex_mapped_ptr(bytes + 70, 2) == after(bytes + 70, AWAY));
    CHECK(the_record()->looked_at == 2);
    if (release < 16) {
        CHECK(seen[0]->device == 2 && seen[0]->base[0] == bytes + 70 && seen[0]->begin[0] == bytes + 70 && seen[0]->sizes[0] == 0);
        CHECK(seen[1]->device == 2 && seen[1]->base[0] == bytes + 70 && seen[1]->begin[0] == bytes + 70 && seen[1]->sizes[0] == 0);
        CHECK(seen[0]->types[0] == REX_MAP_RETURN_PARAM && seen[1]->types[0] == REX_MAP_RETURN_PARAM);
    }
    CHECK(rex_mapped_ptr(bytes + 70, DEVICES) == bytes + 70);
    CHECK(rex_mapped_ptr(bytes + 63, 2) == NULL && rex_mapped_ptr(bytes + 128, 2) == NULL);
    CHECK(rex_target_is_present(bytes + 64, 64, 1) && !rex_target_is_present(bytes + 63, 2, 1) && !rex_target_is_present(bytes + 127, 2, 1));
    CHECK(rex_target_is_present(bytes + 127, 0, 1) && !rex_target_is_present(bytes + 128, 0, 1));
    CHECK_EQUAL(rex_memory_presence(bytes, 64, 0), REX_ABSENT);
    CHECK_EQUAL(rex_memory_presence(bytes, 65, 0), REX_PRESENT_IN_PART);
    CHECK_EQUAL(rex_memory_presence(bytes + 127, 2, 0), REX_PRESENT_IN_PART);
    CHECK_EQUAL(rex_memory_presence(bytes + 127, 1, 0), REX_PRESENT_WHOLE);
    /* Neighbours whose device memory is apart. */
    map_bytes(1, 128, 64, 0x30000000);
    if (release >= 16)
        CHECK_EQUAL(rex_memory_presence(bytes + 127, 2, 0), REX_PRESENT_IN_PART);
    map_bytes(1, 128, 64, (uintptr_t)bytes + 128 + AWAY);
    CHECK_EQUAL(rex_memory_presence(bytes + 127, 2, 0), REX_PRESENT_WHOLE);
}

static char trace[PATH_MAX + 16];

static void copy_traced(const void *unused)
{
    (void)unused;
    setenv("REX_TRACE", trace, 1);
    start(22);
    char *memory = rex_device_alloc(64, 1), *other = rex_device_alloc(64, 2);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_device_copy_peer(other, 2, memory, 1, 24), REX_OK);
    CHECK_EQUAL(rex_device_copy_to(memory, bytes, 16, 1), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(bytes, memory, 8, 1), REX_OK);
    CHECK_EQUAL(rex_device_copy_from(bytes, other, 8, 2), REX_OK);
    rex_device_free(memory, 1);
    rex_device_free(other, 2);
    exit(0);
}

/* A slice each, on the track of the device that is copied to or from. */
TEST(test_trace)
{
    static const struct {
        const char *part;
        int count;
    } lines[] = {{"\"copy between devices\"", 6}, {"\"copy to device\"", 2}, {"\"copy from device\"", 4}, /* and on the thread's */
                 {"\"device\":2", 4}, {"\"device\":1", 2}};
    char folder[PATH_MAX];
    make_folder(folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    in_child(copy_traced, NULL);
    for (size_t i = 0; i < COUNT(lines); i++)
        if (in_file(trace, lines[i].part) != lines[i].count)
            fail_msg("%s is not there %d times", lines[i].part, lines[i].count);
    remove_folder(folder);
}
