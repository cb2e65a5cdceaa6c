/*
 * data.c - regions, their ends and updates, as libomptarget gets them; device addresses that it writes into a map; copies; and in which words
 * all that is refused.
 *
 * libomptarget is a fake of four devices, of which the last is the host, and whose mappings the test makes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "memory/rowcheck.h"
#include "plain.h"
#include "present/lookup.h"
#include "present/unfinished.h"
#include "rex/device.h"
#include "rex/interop.h"
#include "rex/queue.h"
#include "rex_kmp.h"

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
    setenv("FAKE_CUDA_DEVICES", "3", 1);
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

static const char *const words[] = {"data enter", "data end", "data exit", "data update"};

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
        REFUSED(call(way, DEVICES + 1, &map), REX_EDEVICE, "device %d does not exist: valid numbers are -1 (the default device) to 3 (the host)", DEVICES + 1);
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
    the_record()->devices = 0;
    REFUSED(call(EXIT, 5, &map), REX_EDEVICE, "device 5 does not exist: valid numbers are -1 (the default device) to 0 (the host)");
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
    REFUSED(rex_module_data_enter(&module, 0, &map), REX_EABSENT, "data enter: map row 1, 16 bytes at %p, is not mapped on device 0; row 1 is %s",
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
    REFUSED(rex_module_region_end(&module, 0, &none), REX_EINVAL, "data end: a column of the map is NULL (rows: 2)");
}

static char late_key;
static struct __tgt_offload_entry late_entry[] = {{&late_key, (char *)(uintptr_t)"none__kernel__", 0, 0, 0}};
static struct rex_module late = {
    .struct_size = sizeof(struct rex_module), .entries_begin = late_entry, .entries_end = late_entry + 1, .image_name = "tests/data/sm_90.cubin"};

/* An image that is registered where devices are in use is loaded on each at once. */
TEST_IN_CHILD(load_late)
{
    start(22);
    REX_MAP(map, REX_TO(bytes, 8));
    CHECK_EQUAL(rex_module_data_enter(&module, 1, &map), REX_OK);
    uint32_t before = calls(FAKE_BEGIN);
    CHECK_EQUAL(rex_module_register(&late, NULL), REX_OK);
    CHECK_EQUAL(calls(FAKE_BEGIN), before + DEVICES);
    for (int i = 0; i < DEVICES; i++)
        CHECK(last_call(FAKE_BEGIN)[i + 1 - DEVICES].device == i && last_call(FAKE_BEGIN)[i + 1 - DEVICES].packet.rows == 0);
}

/* ---- rows and what is mapped ------------------------------------------------------------------------------------------------------- */

/* The first byte of the object is mapped already. The rows are those of a region, or what a launch has besides its arguments. */
#define AT(at, size, type) {bytes + (at), bytes + (at), (size), (type)}
#define MEMBER (REX_MAP_TO | REX_MAP_MEMBER_OF(0))
#define IMPLICIT (REX_MAP_TO | REX_MAP_IMPLICIT)
#define POINTEE(at) {bytes + 64, bytes + (at), 16, MEMBER | REX_MAP_PTR_AND_OBJ}
static const struct {
    int release;
    const char *words; /* "": no error */
    bool launches;
    int32_t count;
    struct rex_row rows[4];
} overlaps[] = {
    /* LLVM 14 to 16 map an object from the multiple of 8 below it, where members of it follow. */
    {14, "map row 0, 20 bytes at ", false, 2, {AT(4, 16, 0), AT(8, 4, MEMBER)}},
    {16, "map row 0, 20 bytes at ", false, 2, {AT(4, 16, 0), AT(8, 4, MEMBER)}},
    {16, "map row 0, 17 bytes at ", false, 2, {AT(1, 16, 0), AT(8, 4, MEMBER)}},
    {17, "", false, 2, {AT(4, 16, 0), AT(8, 4, MEMBER)}},
    {16, "", false, 2, {AT(8, 16, 0), AT(8, 4, MEMBER)}},
    {16, "", false, 1, {AT(4, 16, 0)}},
    {16, "", false, 3, {AT(64, 32, 0), POINTEE(4), AT(8, 4, REX_MAP_TO | REX_MAP_MEMBER_OF(1))}},
    /* A member lies in its object, which is looked up; what a pointer in it leads to need not. */
    {22, "map row 1, 16 bytes at ", false, 2, {AT(64, 32, 0), POINTEE(0)}},
    /* Memory that has to be present may be so by any row before. */
    {22, "", false, 3, {AT(64, 8, REX_MAP_TO), AT(96, 8, REX_MAP_TO), AT(96, 8, REX_MAP_TO | REX_MAP_PRESENT)}},
    /* LLVM 14 aborts at the end of a launch where a row of no length lies in a later one. */
    {14, "map row 2, of no length at ", true, 2, {AT(64, 0, REX_MAP_TO), AT(64, 64, REX_MAP_TO)}},
    {14, "map row 2, of no length at ", true, 2, {AT(127, 0, REX_MAP_TO), AT(64, 64, REX_MAP_TO)}},
    {14, "", true, 2, {AT(63, 0, REX_MAP_TO), AT(64, 64, REX_MAP_TO)}},
    {14, "", true, 2, {AT(128, 0, REX_MAP_TO), AT(64, 64, REX_MAP_TO)}},
    {14, "", true, 2, {AT(64, 64, REX_MAP_TO), AT(64, 0, REX_MAP_TO)}},
    {15, "", true, 2, {AT(64, 0, REX_MAP_TO), AT(64, 64, REX_MAP_TO)}},
    /* Rows that touch do not overlap, also where an implicit one lies over both. */
    {22, "", false, 3, {AT(64, 32, REX_MAP_TO), AT(80, 32, IMPLICIT), AT(96, 32, REX_MAP_TO)}},
    {22, "", false, 3, {AT(96, 32, REX_MAP_TO), AT(80, 32, IMPLICIT), AT(64, 32, REX_MAP_TO)}},
    {22, "map row 1, 32 bytes at ", false, 3, {AT(64, 32, REX_MAP_TO), AT(80, 32, REX_MAP_TO), AT(96, 32, REX_MAP_TO)}},
    {22, "map row 3, 16 bytes at ", false, 4, {AT(64, 16, REX_MAP_TO), AT(72, 16, IMPLICIT), AT(80, 16, REX_MAP_TO), AT(88, 16, REX_MAP_TO)}}};

TEST_FOR_EACH(overlap, given, overlaps)
{
    struct rex_launch_config launch = rex_launch_config_of(&plain_id, 1, 1);
    start(given->release);
    map_bytes(0, 0, 1, 0x10000000);
    REX_MAP(map, REX_VALUE(1), REX_IS_DEVICE_PTR(bytes), given->rows[0], given->rows[1], given->rows[2], given->rows[3]);
    const struct rex_map rows = rex_rows_from(&map, 2, given->count);
    map.count = 2 + given->count;
    int result = given->launches ? rex_module_launch_map(&module, &launch, &map) : rex_module_data_enter(&module, 0, &rows);
    CHECK_EQUAL(result, *given->words != '\0' ? REX_EOVERLAP : REX_OK);
    CHECK_MENTIONS(rex_last_error(), given->words);
}

/* Memory of an attached pointer is compared like a row's own. Members without a pointer, and rows of a raw call, come as they are. */
TEST_OF_EACH(unite_attached, int, way, BEGIN, END, EXIT, WAYS)
{
    const int64_t kind[] = {REX_MAP_MEMBER_OF(0) | REX_MAP_PTR_AND_OBJ, REX_MAP_PTR_AND_OBJ, 0, REX_MAP_MEMBER_OF(0)};
    const bool raw = way == WAYS;
    start(22);
    map_bytes(0, 0, BYTES, 0x10000000);
    REX_MAP(map, AT(64, 64, 0), {bytes + 64, bytes + 96, 16, REX_MAP_TO}, {bytes + 72, bytes + 96, 16, REX_MAP_FROM});
    for (size_t i = 0; i < COUNT(kind); i++) {
        map.types[1] = REX_MAP_TO | kind[0];
        map.types[2] = REX_MAP_FROM | kind[i];
        CHECK_EQUAL(raw ? rex_module_target_data(&module, REX_DATA_BEGIN, 0, REX_MAP_ARGUMENTS(map)) : call(way, 0, &map), REX_OK);
        const int64_t *types = last_call(way == BEGIN || raw ? FAKE_BEGIN : FAKE_END)->types;
        CHECK_EQUAL(types[1], kind[0] | REX_MAP_TO | (raw || i == 3 ? 0 : REX_MAP_FROM));
        CHECK_EQUAL(types[2], kind[i] | REX_MAP_FROM | (raw || i == 3 ? 0 : REX_MAP_TO));
    }
    map_bytes(0, 0, 0, 0);
    map.types[2] = REX_MAP_FROM | REX_MAP_PTR_AND_OBJ;
    map.base[2] = map.base[1];
    map.sizes[2] = 8;
    if (raw)
        CHECK_EQUAL(rex_module_target_data(&module, REX_DATA_BEGIN, 0, REX_MAP_ARGUMENTS(map)), REX_OK);
    else if (way == BEGIN)
        REFUSED(call(way, 0, &map), REX_EOVERLAP,
                "data enter: map row 2, 8 bytes at %p, asks for a copy from the device, but lies in row 1, 16 bytes at %p, which does not ask "
                "for this copy: libomptarget would not make the copy; give both rows the same direction",
                (void *)(bytes + 96), (void *)(bytes + 96));
}

/* LLVM 18 loads no image once a device was used, by whatever call. */
TEST_OF_EACH(use_device, int, way, BEGIN, END, EXIT, UPDATE, WAYS)
{
    start(18);
    REX_MAP(map, REX_TO(bytes, 8));
    map_bytes(0, 0, 8, 0x10000000);
    CHECK_EQUAL(way < WAYS ? call(way, 0, &map) : rex_module_target_data(&module, REX_DATA_UPDATE, 0, REX_MAP_ARGUMENTS(map)), REX_OK);
    CHECK_EQUAL(rex_module_register(&late, NULL), REX_EUNSUPPORTED);
}

/* LLVM 14 is asked for an address by a row. That of the second mapping is not behind the first's. */
static void tell_address(enum fake_function function)
{
    const struct fake_packet *packet = &the_record()->calls[the_record()->count - 1].packet;
    if (function == FAKE_BEGIN && packet->rows == 1 && packet->types[0] == REX_MAP_RETURN_PARAM)
        packet->base[0] = after(packet->base[0], (char *)packet->base[0] < bytes + 128 ? AWAY : 2 * AWAY);
}

/*
 * Two rows of one mapping, whatever lies between them in the map, also where an attached pointer leads to it; neighbours that have one each
 * are two. LLVM 14 ends one a call, and 15 where a row deletes. A member is none: it ends no reference.
 */
static const struct {
    int release;
    int64_t type;
    int32_t apart;
} ends[] = {{14, 0, 3}, {15, REX_MAP_DELETE, 3}, {15, 0, 0}, {16, REX_MAP_DELETE, 0}};

void exported_end(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types) __asm__("__tgt_target_data_end");

TEST_FOR_EACH(end_apart, given, ends)
{
    start(given->release);
    the_record()->on_data = tell_address;
    map_bytes(0, 64, 64, 0x10000000);
    map_bytes(1, 128, 8, 0x20000000);
    struct rex_row pointee = {bytes, bytes + 64, 8, REX_MAP_PTR_AND_OBJ | REX_MAP_MEMBER_OF(1)}, member = AT(120, 4, MEMBER);
    REX_MAP(around, rex_row_object(bytes + 80, 8, given->type), REX_TO(bytes, 8), pointee, REX_TO(bytes + 136, 8));
    REX_MAP(beside, rex_row_object(bytes + 120, 8, given->type), REX_TO(bytes + 128, 8), member);
    int32_t ended[] = {0, 0, 0, 0};
    around.count = 3; /* behind which there is another row */
    exported_end(0, 0, NULL, NULL, NULL, NULL); /* is over: no look-up waits for it */
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &around), REX_OK);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &beside), REX_OK);
    for (uint32_t i = 0; i < the_record()->count; i++) {
        const struct fake_call *each = &the_record()->calls[i];
        if (each->function != FAKE_END || each->sizes[0] == 0) /* a look-up */
            continue;
        ended[each->packet.rows]++;
        CHECK(each->begin[0] != bytes + 136);
    }
    CHECK(the_record()->count <= FAKE_CALLS && ended[1] == given->apart && ended[3] == (given->apart > 0 ? 1 : 2));
}

TEST_IN_CHILD(check_raw_calls)
{
    void *base[] = {bytes, bytes};
    int64_t sizes[] = {8, -8}, types[] = {REX_MAP_TO, REX_MAP_TO};
    start(22);
    /* It has no kernels, and another module is registered. */
    CHECK_EQUAL(rex_module_target_data(&unknown, REX_DATA_BEGIN, 0, 1, base, base, sizes, types), REX_OK);
    REFUSED(rex_module_target_data(&module, REX_DATA_BEGIN, 0, -2, base, base, sizes, types), REX_EINVAL,
            "data begin: the number of rows, -2, is negative");
    REFUSED(rex_module_target_data(&module, REX_DATA_BEGIN, 0, 2, base, NULL, sizes, types), REX_EINVAL,
            "data begin: the column of begin addresses is NULL (rows: 2)");
    REFUSED(rex_module_target_data(&module, REX_DATA_BEGIN, 0, 2, base, base, sizes, types), REX_EINVAL, "data begin: map row 1 has a negative size");
    CHECK_EQUAL(rex_module_target_data(&module, REX_DATA_BEGIN, 0, 0, NULL, NULL, NULL, NULL), REX_OK);
    REFUSED(rex_module_target_data(&module, (enum rex_data_call)3, 0, 0, NULL, NULL, NULL, NULL), REX_EINVAL,
            "rex_module_target_data: data call 3 does not exist");
    setenv("OMP_DEFAULT_DEVICE", "7", 1);
    CHECK_EQUAL(rex_module_target_data(&module, REX_DATA_BEGIN, -1, 1, base, base, sizes, types), REX_EDEVICE);
}

/*
 * LLVM 14 and 15 tell an address only by a reference: no mapping ends meanwhile. A child of fork has no thread that does either.
 */
TEST_ON_FAKES(end_beside_look_up, 14, 15, 16)
{
    start(release);
    CHECK_EQUAL(rex_ending_begin(0), release < 16);
    CHECK_IN_FORK((alarm(9), rex_lookup_begin(0), true));
    if (release < 16)
        rex_ending_end(0);
    rex_lookup_begin(0);
    CHECK_IN_FORK((alarm(9), rex_ending_begin(0)) == (release < 16));
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

/* A row that the program has changed since stays as it is. */
TEST_IN_CHILD(leave_changed)
{
    static char elsewhere;
    start(22);
    REX_MAP(map, RETURNED(0, 8), REX_TO(bytes + 16, 8), RETURNED(32, 8));
    int64_t types[] = {REX_MAP_TO, REX_MAP_TO, REX_MAP_TO};
    struct rex_map other = map; /* which has the same columns, and gets no address */
    other.types = types;
    the_record()->on_data = write_addresses;
    begin_with(&map, 0x1000);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &other), REX_OK);
    CHECK(has_bases(&map, (void *)0x1000, bytes + 16, (void *)0x1002));
    CHECK_EQUAL(rex_module_region_end(&module, 0, &map), REX_OK);
    CHECK(has_bases(&map, bytes, bytes + 16, bytes + 32));
    begin_with(&map, 0x2000);
    map.base[2] = &elsewhere;
    CHECK_EQUAL(rex_module_region_end(&module, 0, &map), REX_OK);
    CHECK(has_bases(&map, bytes, bytes + 16, &elsewhere));
}

/* ---- device memory ---------------------------------------------------------------------------------------------------------------------- */

/* As many bytes as asked for, between the devices that are named; nothing where libomptarget says that it could not. */
TEST_IN_CHILD(copy)
{
    static const char failed[] = "%s: libomptarget could not copy %d bytes %s, from %p to %p";
    start(22);
    char *memory = rex_device_alloc(64, 1), *other = rex_device_alloc(64, 2);
    memset(memory, 1, 64);
    memset(bytes, 3, BYTES);
    CHECK_EQUAL(rex_device_copy_to(memory + 8, bytes, 16, 1), REX_OK);
    CHECK(the_record()->copied[0] == 1 && the_record()->copied[1] == DEVICES);
    CHECK(memory[7] == 1 && memory[8] == 3 && memory[23] == 3 && memory[24] == 1);
    CHECK_EQUAL(rex_device_copy_from(bytes + 8, memory + 7, 1, 1), REX_OK);
    CHECK(the_record()->copied[0] == DEVICES && the_record()->copied[1] == 1);
    CHECK(bytes[7] == 3 && bytes[8] == 1 && bytes[9] == 3);
    CHECK(rex_device_copy_peer(other, 2, memory + 8, 1, 1) == REX_OK && other[0] == 3);
    the_record()->copy_result = 1;
    REFUSED(rex_device_copy_to(memory, bytes, 16, 1), REX_ERUNTIME, failed, "rex_device_copy_to", 16, "between the host and device 1", (void *)bytes, (void *)memory);
    REFUSED(rex_device_copy_from(bytes, other, 16, 2), REX_ERUNTIME, failed, "rex_device_copy_from", 16, "between the host and device 2", (void *)other, (void *)bytes);
    REFUSED(rex_device_copy_peer(other, 2, memory, 1, 24), REX_ERUNTIME, failed, "rex_device_copy_peer", 24, "from device 1 to device 2", (void *)memory, (void *)other);
    /* The destination's misfit is named before the source's, and that of the first dimension alone. */
    struct rex_dimension less[] = {{4, 0, 2, 1}, {4, 0, 3, 1}}, more[] = {{4, 0, 3, 1}, {4, 0, 4, 1}};
    struct rex_array_part to = {other, less, 2}, from = {memory, less, 1};
    REFUSED(rex_device_copy_part(&to, &from, 1, 2), REX_ERUNTIME, failed, "rex_device_copy_part", 3, "from device 1 to device 2", (void *)memory,
            (void *)other);
    from.dimensions = more;
    REFUSED(rex_device_copy_part(&to, &from, 1, 2), REX_EINVAL, "rex_device_copy_part: dimension 0: the part has length 3 in the source and 2 in the destination");
    to.device = 5, from.device = 6;
    REFUSED(rex_device_copy_part(&to, &from, 1, 2), REX_EDEVICE, "device 5 does not exist: valid numbers are -1 (the default device) to 3 (the host)");
    REFUSED(rex_device_copy_peer(NULL, 2, memory, 1, 24), REX_EINVAL, "rex_device_copy_peer: the destination is NULL");
    REFUSED(rex_device_copy_peer(other, 2, NULL, 1, 24), REX_EINVAL, "rex_device_copy_peer: the source is NULL");
    REFUSED(rex_device_copy_peer(other, 5, memory, 1, 24), REX_EDEVICE, "device 5 does not exist: valid numbers are -1 (the default device) to 3 (the host)");
    CHECK(rex_device_alloc(0, 1) == NULL);
    CHECK_MENTIONS(rex_last_error(), "rex_device_alloc: the size is 0");
    rex_device_free(memory, 1);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    rex_device_free(other, 2); /* libomptarget has no devices any more */
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "rex_device_free: no module is registered");
    REFUSED(rex_device_copy_peer(other, 2, memory, 1, 24), REX_EINVAL,
            "rex_device_copy_peer: no module is registered: call rex_offload_init() first");
    free(other);
}

TEST_IN_CHILD(have_none)
{
    setenv("FAKE_CUDA_MEMORY", "1", 1);
    start(22);
    NO_ADDRESS(rex_device_alloc(((size_t)1 << 20) + 1, 1), REX_ENOMEM, "rex_device_alloc: device 1 has too little memory for 1048577 bytes");
    setenv("FAKE_CUDA_BREAKS", "cuMemAlloc:2:0", 1);
    REFUSED(rex_device_gpu(1), REX_ENOMEM, "rex_device_gpu: device 1 has too little free memory");
}

/* ---- kernels, for messages ---------------------------------------------------------------------------------------------------------- */

/* Each once, up to the most that a message names; names that are too long are cut off. */
TEST(test_lists)
{
    static const char names[REX_KERNEL_LIST_MAX + 2][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static const struct {
        size_t count;
        const char *text;
    } lists[] = {{0, "no kernel"},
                 {1, "\"a\""},
                 {2, "\"a\", \"b\""},
                 {8, "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\""},
                 {9, "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\" and others"}};
    static char name[REX_KERNEL_LIST_TEXT];
    char text[REX_KERNEL_LIST_TEXT + 1];
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct rex_kernel_list list = {.count = 0}, all = {.count = 0};
        for (size_t j = 0; j < 2 * lists[i].count; j++)
            rex_kernel_list_add(&list, names[j / 2], NULL);
        for (int twice = 0; twice < 2; twice++)
            rex_kernel_list_add_all(&all, &list);
        rex_kernel_list_text(&all, text);
        assert_string_equal(text, lists[i].text);
    }
    struct rex_kernel_list list = {.count = 0};
    memset(name, 'x', sizeof name - 1);
    memset(text, '!', sizeof text);
    rex_kernel_list_add(&list, name, NULL);
    rex_kernel_list_text(&list, text);
    assert_int_equal(strlen(text), REX_KERNEL_LIST_TEXT - 1);
    assert_int_equal(text[REX_KERNEL_LIST_TEXT], '!');
    struct rex_kernel_list two[] = {{.kernel[REX_KERNEL_LIST_MAX - 1].registration = (const void *)name, .count = REX_KERNEL_LIST_MAX + 1},
                                    {.kernel[0].name = name}};
    rex_kernel_list_forget(two, (const void *)name);
    assert_true(two[0].kernel[REX_KERNEL_LIST_MAX - 1].registration == NULL && two[1].kernel[0].name == name);
    rex_kernel_list_add_all(two, &(struct rex_kernel_list){.count = REX_KERNEL_LIST_MAX});
    assert_int_equal(two[0].count, REX_KERNEL_LIST_MAX + 1); /* of others */
}
