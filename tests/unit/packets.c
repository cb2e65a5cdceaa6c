/*
 * packets.c - what each release is sent and what a kernel then receives, on a GPU that does not
 * exist.
 *
 * Every release, 14 to 24, is a fake libomptarget; a fake driver says that there is one sm_90 GPU.
 * What is expected here, and in tests/golden/messages/launch.txt, comes from what is known of the
 * releases, not from librex's rows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex/entry.h"
#include "rex/device.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex_kmp.h"
#include "support/messages.h"

MESSAGES("launch");

/* Not in the order of tests/data/kernels.cu. */
REX_KERNEL(none);
REX_KERNEL(env);
REX_KERNEL(plain);

#define TARGET_PARAM 0x20
#define LITERAL 0x100

/* Kernels in modules of their own, so that they may be refused. */
#define SM_90 "tests/data/sm_90.cubin"
#define MODULE(id, kernel, file)                                                                                \
    static char id##_id;                                                                                        \
    static struct __tgt_offload_entry id##_entry[] = {{&id##_id, (char *)(uintptr_t)(kernel), 0, 0, 0}};        \
    static struct rex_module id = {.struct_size = sizeof(struct rex_module),                                    \
                                   .entries_begin = id##_entry,                                                 \
                                   .entries_end = id##_entry + 1,                                               \
                                   .image_name = (file)}
MODULE(narrow, "narrow__kernel__", SM_90);
MODULE(narrow_first, "narrow_first__kernel__", SM_90);
MODULE(wide, "wide__kernel__", SM_90);
MODULE(late, "env__kernel__", SM_90);
MODULE(bounded, "bounded", "tests/data/limits_sm_90.cubin");
MODULE(bounded_env, "bounded", "tests/data/limits_sm_90.cubin");
MODULE(generic, "generic", "tests/data/environments_sm_90.cubin");
MODULE(misshapen, "misshapen", "tests/data/environments_sm_90.cubin");
MODULE(registers, "many_registers", "tests/data/registers_sm_90.cubin");

/* ---- a launch ---------------------------------------------------------------------------------------------------- */

static uint64_t result;
static void *base[2] = {(void *)42, &result}, *begin[2] = {(void *)42, &result};
static int64_t sizes[2] = {8, 8}, types[2] = {TARGET_PARAM | LITERAL, TARGET_PARAM | LITERAL};

static const int releases[] = {ALL_RELEASES};

static struct __tgt_kernel_arguments a_packet(void)
{
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 2,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .Teams = {100, 0, 0},
                                            .Threads = {64, 0, 0}};
    return packet;
}

static const struct fake_call *kernel_call(int release)
{
    return last_call(release == 14 ? FAKE_TEAMS_MAPPER : FAKE_KERNEL);
}

static void start(int release)
{
    use_gpu(90);
    use_release(release);
    CHECK(register_cubin(SM_90) != NULL);
    CHECK_EQUAL(rex_runtime_release(), release);
}

struct launch {
    const char *what;
    enum {
        ENV, PLAIN, NONE, BOUNDED, BOUNDED_ENV, GENERIC, MISSHAPEN, REGISTERS, NARROW, NARROW_FIRST,
        WIDE
    } kernel;
    int32_t teams[3], threads[3], rows; /* of the packet */
    int32_t call_teams, call_threads, memory;
    int64_t trip_count, flags, device;
    int64_t second; /* the type of rows after the first; 0: values for parameters */
    int missing;                               /* which column is NULL, from 1 on */
};

static const struct launch launches[] = {
    {"a plain kernel", PLAIN, {100}, {64}, .rows = 2},
    {"an env kernel", ENV, {100}, {64}, .rows = 2},
    {"on the default device", ENV, {100, 1, 1}, {64, 1, 1}, .rows = 2, .device = -1},
    {"no parameters", NONE, {100}, {64}, .rows = 0},
    /* grids: the packet's wins over the call's; where neither has one the trip count decides */
    {"another grid in the call", ENV, {100}, {64}, .rows = 2, .call_teams = 7, .call_threads = 8},
    {"the call's grid", ENV, {0}, {0}, .rows = 2, .call_teams = 100, .call_threads = 64},
    {"the call's teams", ENV, {0}, {64}, .rows = 2, .call_teams = 100, .call_threads = 8},
    {"a trip count", ENV, {0}, {0}, .rows = 2, .call_teams = -1, .trip_count = 1000},
    {"a trip count, and threads", ENV, {0}, {0}, .rows = 2, .call_threads = 32, .trip_count = 100},
    {"no grid", ENV, {0}, {0}, .rows = 2},
    {"more teams than 14 takes", ENV, {65537}, {7}, .rows = 2},
    {"three dimensions", ENV, {100, 3}, {64, 1, 2}, .rows = 2},
    {"three dimensions, plain", PLAIN, {100, 3}, {64, 1, 2}, .rows = 2},
    {"the largest grid", ENV, {INT32_MAX, 65535, 65535}, {8, 2, 64}, .rows = 2},
    {"the largest block", ENV, {1}, {1024}, .rows = 2},
    {"too large in y", ENV, {5, 65536, 3}, {7, 11, 13}, .rows = 2},
    {"too large in z", ENV, {5, 3, 65536}, {7, 11, 13}, .rows = 2},
    {"too large a block", ENV, {2, 3, 5}, {7, 11, 14}, .rows = 2},
    {"too deep a block", ENV, {2, 3, 5}, {3, 5, 65}, .rows = 2},
    {"an immense block", ENV, {1}, {1 << 16, 1 << 16, INT32_MIN}, .rows = 2},
    {"negative teams", ENV, {-7}, {7}, .rows = 2},
    {"negative threads", ENV, {2}, {-5}, .rows = 2},
    {"as many threads as its bounds", BOUNDED, {1}, {256}, .rows = 1},
    {"more threads than its bounds", BOUNDED, {1}, {257}, .rows = 1},
    /* four times six warps of 2 560 registers */
    {"as many threads as its 80 registers allow", REGISTERS, {1}, {768}, .rows = 1},
    {"more threads than its 80 registers allow", REGISTERS, {1}, {769}, .rows = 1},
    /* one that says itself how it is launched: 18 to 22 then launch one dimension */
    {"of clang", GENERIC, {1}, {1}, .rows = 1},
    {"of clang, in too few bytes", MISSHAPEN, {1}, {1}, .rows = 1},
    {"of clang, two dimensions", GENERIC, {1, 2}, {1}, .rows = 1},
    /* shared memory: 16 to 20, 23 and 24 leave the kernel's limit at 48 KiB, in which its static
       memory counts; 21 launches nothing */
    {"a byte", ENV, {1}, {1}, .rows = 2, .memory = 1},
    {"1024 bytes", ENV, {1}, {1}, .rows = 2, .memory = 1024},
    {"1024 bytes, plain", PLAIN, {1}, {1}, .rows = 2, .memory = 1024},
    {"nearly 48 KiB", ENV, {1}, {1}, .rows = 2, .memory = 49151},
    {"48 KiB", ENV, {1}, {1}, .rows = 2, .memory = 49152},
    {"more than 48 KiB", ENV, {1}, {1}, .rows = 2, .memory = 49153},
    {"some with its own, plain", BOUNDED, {1}, {1}, .rows = 1, .memory = 1024},
    {"48 KiB with its own", BOUNDED_ENV, {1}, {1}, .rows = 0, .memory = 49152 - 1024},
    {"more with its own", BOUNDED_ENV, {1}, {1}, .rows = 0, .memory = 49153 - 1024},
    {"all of a GPU's", BOUNDED_ENV, {1}, {1}, .rows = 0, .memory = 232448 - 1024},
    {"more than a GPU has", BOUNDED_ENV, {1}, {1}, .rows = 0, .memory = 232449 - 1024},
    /* flags: bits that a release does not know may make it take the rows for something else */
    {"flag 0x1", ENV, {1}, {1}, .rows = 2, .flags = 0x1},
    {"flags 0xc1", ENV, {1}, {1}, .rows = 2, .flags = 0xc1},
    {"flags 0x14", ENV, {1}, {1}, .rows = 2, .flags = 0x14},
    {"flags 0x7", ENV, {1}, {1}, .rows = 2, .flags = 0x7},
    {"flag 0x100", ENV, {1}, {1}, .rows = 2, .flags = 0x100},
    {"the highest flag", ENV, {1}, {1}, .rows = 2, .flags = INT64_MIN},
    /* rows */
    {"no rows", ENV, {100}, {64}, .rows = 0},
    {"a row less", ENV, {1}, {1}, .rows = 1},
    {"rows that are no parameters", ENV, {1}, {1}, .rows = 4, .second = LITERAL},
    {"a negative number of rows", ENV, {1}, {1}, .rows = -3},
    {"no bases", ENV, {1}, {1}, .rows = 2, .missing = 1},
    {"no begins", ENV, {1}, {1}, .rows = 2, .missing = 2},
    {"no sizes", ENV, {1}, {1}, .rows = 2, .missing = 3},
    {"no types", ENV, {1}, {1}, .rows = 2, .missing = 4},
    {"device 2", ENV, {1}, {1}, .rows = 2, .device = 2},
    {"device -2", ENV, {1}, {1}, .rows = 2, .device = -2},
    /* widths: one parameter more than rows, and yet no env kernel, whose first is a pointer; more
       than 8 bytes fit in no slot */
    {"a narrow one in front, a row less", NARROW_FIRST, {1}, {1}, .rows = 2},
    {"a narrow parameter", NARROW, {1}, {1}, .rows = 4},
    {"a narrow one in front", NARROW_FIRST, {1}, {1}, .rows = 3},
    {"a wide one", WIDE, {1}, {1}, .rows = 2},
};

static struct rex_module *const modules[] = {
    [BOUNDED] = &bounded,           [BOUNDED_ENV] = &bounded_env,
    [GENERIC] = &generic,           [MISSHAPEN] = &misshapen,
    [REGISTERS] = &registers,       [NARROW] = &narrow,
    [NARROW_FIRST] = &narrow_first, [WIDE] = &wide};

static int launch(const struct launch *given)
{
    static void *values[4] = {(void *)42, &result};
    static int64_t all_sizes[4] = {8, 8, 8, 8};
    static int64_t all_types[4];
    for (int i = 0; i < 4; i++)
        all_types[i] = i > 0 && given->second != 0 ? given->second : TARGET_PARAM | LITERAL;
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = given->rows,
                                            .ArgsBase = given->missing == 1 ? NULL : values,
                                            .Args = given->missing == 2 ? NULL : values,
                                            .ArgSizes = given->missing == 3 ? NULL : all_sizes,
                                            .ArgTypes = given->missing == 4 ? NULL : all_types,
                                            .Tripcount = given->trip_count,
                                            .Flags = given->flags,
                                            .DynCGroupMem = given->memory};
    struct rex_module *module =
        given->kernel >= BOUNDED ? modules[given->kernel] : &rex_this_module;
    void *key = given->kernel >= BOUNDED  ? module->entries_begin->addr
                : given->kernel == ENV    ? (void *)REX_KERNEL_ID(env)
                : given->kernel == PLAIN  ? (void *)REX_KERNEL_ID(plain)
                                          : (void *)REX_KERNEL_ID(none);
    memcpy(packet.Teams, given->teams, sizeof packet.Teams);
    memcpy(packet.Threads, given->threads, sizeof packet.Threads);
    struct __tgt_kernel_arguments before = packet;
    const int64_t last_type = all_types[3];
    the_record()->count = 0; /* so that each call is kept */
    int launched = rex_module_launch(module, given->device, given->call_teams, given->call_threads,
                                     key, &packet);
    /* libomptarget writes in a packet of librex's own. */
    CHECK(memcmp(&packet, &before, sizeof packet) == 0);
    CHECK(values[0] == (void *)42 && values[1] == &result && values[2] == NULL &&
          all_sizes[0] == 8 && all_sizes[3] == 8);
    CHECK(all_types[0] == (TARGET_PARAM | LITERAL) && all_types[3] == last_type);
    CHECK_EQUAL(the_record()->counts[FAKE_TEAMS], 0);
    return launched;
}

/* ERROR without the number of the release, which is as long for all. */
static void print_refusal(const char *error, int release)
{
    char own[16];
    snprintf(own, sizeof own, "LLVM %d", release);
    for (const char *at; (at = strstr(error, own)) != NULL; error = at + strlen(own))
        printf("%.*sLLVM NN", (int)(at - error), error);
    puts(error);
}

/* What comes of it, in one line. What was refused never reaches libomptarget, which would abort. */
static void print_launch(const struct launch *given, int release)
{
    struct fake_record *record = the_record();
    uint32_t before = record->counts[FAKE_KERNEL] + record->counts[FAKE_TEAMS_MAPPER];
    if (launch(given) != REX_OK) {
        CHECK_EQUAL(record->counts[FAKE_KERNEL] + record->counts[FAKE_TEAMS_MAPPER], before);
        printf("%s: ", rex_error_name(rex_last_error_code()));
        print_refusal(rex_last_error(), release);
        return;
    }
    if (record->counts[FAKE_KERNEL] + record->counts[FAKE_TEAMS_MAPPER] == before) {
        puts("the driver launches it");
        return;
    }
    const struct fake_call *call = kernel_call(release);
    const struct fake_packet *packet = &call->packet;
    CHECK_EQUAL(call->device, given->device);
    CHECK(call->place_flags == 2 && strcmp(call->place, ";unknown;unknown;0;0;;") == 0);
    CHECK(!call->clamped);
    if (given->kernel <= PLAIN) {
        uint32_t leading = given->kernel == ENV;
        CHECK(!leading || call->parameter[0] == (void *)-1);
        CHECK(call->parameter[leading] == (void *)42 &&
              (given->rows > 2 || call->parameter[leading + 1] == &result));
    }
    printf("version %u, flags %#llx, %u rows; call %d, %d; packet %u x %u x %u, %u x %u x %u; "
           "kernel %u x %u x %u, %u x %u x %u, "
           "%u bytes, %u parameters\n",
           packet->version, (unsigned long long)packet->flags, packet->rows, call->teams,
           call->threads, packet->teams[0], packet->teams[1], packet->teams[2], packet->threads[0],
           packet->threads[1], packet->threads[2], call->grid[0], call->grid[1], call->grid[2],
           call->block[0], call->block[1], call->block[2], call->dynamic_memory, call->parameters);
}

/* All are registered first: 18 loads no image later. */
static void print_launches(const void *context)
{
    int release = *(const int *)context;
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
    for (size_t i = BOUNDED; i < COUNT(modules); i++)
        rex_module_register(modules[i], NULL);
    start(release);
    for (size_t i = 0; i < COUNT(launches); i++)
        print_launch(&launches[i], release);
}

/* Line NUMBER of TEXT. */
static const char *line_of(const char *text, size_t number)
{
    while (number-- > 0)
        text += strcspn(text, "\n") + 1;
    return text;
}

TEST(test_launches)
{
    static struct child told[COUNT(releases)];
    for (size_t i = 0; i < COUNT(releases); i++)
        strcpy(told[i].output, in_child(print_launches, &releases[i]));
    for (size_t number = 0; number < COUNT(launches); number++) {
        for (size_t i = 0, end; i < COUNT(releases); i = end) {
            const char *line = line_of(told[i].output, number);
            size_t length = strcspn(line, "\n") + 1;
            for (end = i + 1; end < COUNT(releases) &&
                              strncmp(line_of(told[end].output, number), line, length) == 0;)
                end++;
            if (end - i == COUNT(releases)) {
                says("%s: %.*s", launches[number].what, (int)length - 1, line);
                continue;
            }
            if (i == 0)
                says("%s:", launches[number].what);
            says("    LLVM %d to %d: %.*s", releases[i], releases[end - 1], (int)length - 1, line);
        }
    }
}

/* LLVM 18 takes a kernel whose name ends in "tor" for a constructor or destructor. Here the image's own name of one is changed. */
TEST_ON_FAKES(name_in_tor, 17, 18, 19)
{
    MODULE(tor, "env__kernetor", NULL);
    static const char name[] = "env__kernel__";
    struct __tgt_kernel_arguments packet = a_packet();
    unsigned char *bytes = read_bytes(SM_90, &tor.image_size);
    for (unsigned char *at = bytes; (at = memmem(at, tor.image_size - (size_t)(at - bytes), name, sizeof name)) != NULL;)
        memcpy(at + strlen(name) - 3, "tor", 3);
    tor.image = lasting(bytes);
    use_gpu(90);
    use_release(release);
    int launched = rex_module_launch(&tor, 0, 0, 0, &tor_id, &packet);
    if (release == 18)
        REFUSED(launched);
    else
        CHECK_EQUAL(launched, 0);
}

/* ---- the older calls ------------------------------------------------------------------------- */

TEST_ON_FAKES(older_calls, ALL_RELEASES)
{
    start(release);
    /* libomptarget's own would ask for 2^32 - 1 threads. */
    CHECK_EQUAL(__tgt_target(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 1);
    CHECK_EQUAL(kernel_call(release)->block[0], 1);
    CHECK_EQUAL(__tgt_target_teams(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types, 100, 64), 0);
    CHECK(kernel_call(release)->grid[0] == 100 && kernel_call(release)->block[0] == 64);
    CHECK(kernel_call(release)->parameter[1] == (void *)42 &&
          kernel_call(release)->parameter[2] == &result);
    CHECK_EQUAL(rex___tgt_target(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 1);
    CHECK_EQUAL(the_record()->counts[FAKE_TARGET] + the_record()->counts[FAKE_TEAMS], 0);
    __tgt_target_data_begin(0, 2, base, begin, sizes, types);
    CHECK_EQUAL(last_call(FAKE_BEGIN)->packet.rows, 2);
    __tgt_target_data_update(0, 2, base, begin, sizes, types);
    CHECK(last_call(FAKE_UPDATE)->base[1] == &result);
    __tgt_target_data_end(-1, 2, base, begin, sizes, types);
    CHECK_EQUAL(last_call(FAKE_END)->device, -1);
}

enum { ROWS = 66 };

/* More rows than fit on the stack beside a row of the runtime's, and as many as fit; negative: the host device. */
TEST_OF_EACH(many_rows, int, number, 14, 17, 19, 23, -23)
{
    static void *values[ROWS], *names[ROWS], *mappers[ROWS];
    static int64_t all_sizes[ROWS], all_types[ROWS];
    int release = number > 0 ? number : -number;
    uint32_t leading = number > 0 && release <= 17, trailing = number < 0;
    struct __tgt_kernel_arguments packet = {
        3, 0, values, values, all_sizes, all_types, NULL, mappers, 0, 0, {100}, {64}, 0};
    for (size_t i = 0; i < ROWS; i++) {
        values[i] = i == 1 ? (void *)&result : (void *)(i + 1);
        names[i] = (void *)(i + 1001);
        mappers[i] = (void *)(i + 2001);
        all_sizes[i] = 8;
        /* env has two; the other rows are only mapped */
        all_types[i] = i < 2 ? TARGET_PARAM | LITERAL : 0;
    }
    use_gpu(trailing ? 0 : 90);
    use_release(release);
    CHECK(register_cubin(trailing ? FAKE("host.so") : SM_90) != NULL);
    for (int32_t rows = 63; rows <= ROWS; rows++) {
        packet.NumArgs = rows;
        packet.ArgNames = rows % 2 == 0 ? names : NULL;
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
        const struct fake_call *call = kernel_call(release);
        CHECK_EQUAL(call->packet.rows, (uint32_t)rows + leading + trailing);
        CHECK_EQUAL(call->parameters, 3);
        for (int32_t i = 0; i < rows; i++) {
            uint32_t at = leading + (uint32_t)i;
            CHECK(call->base[at] == values[i] && call->begin[at] == values[i] &&
                  call->mappers[at] == mappers[i]);
            CHECK(call->sizes[at] == 8 && call->types[at] == all_types[i] &&
                  call->names[at] == (rows % 2 == 0 ? names[i] : NULL));
        }
        uint32_t own = leading ? 0 : (uint32_t)rows; /* of the runtime */
        if (leading || trailing)
            CHECK(call->base[own] == (void *)-1 && call->begin[own] == (void *)-1 &&
                  call->sizes[own] == 8 && call->types[own] == (TARGET_PARAM | LITERAL) &&
                  call->names[own] == NULL && call->mappers[own] == NULL);
    }
}

/* Before the first launch each row is looked at. A pointee whose type lacks 0x10 is a member that
 * does not lie in its parent. */
TEST_IN_CHILD(rows_of_the_first)
{
    const int64_t member_of_first = (int64_t)1 << 48;
    static char object[16], pointee[8];
    void *objects[] = {object, object}, *parts[] = {object, pointee};
    int64_t bytes[] = {sizeof object, sizeof pointee},
            all_types[] = {TARGET_PARAM, member_of_first | 0x1};
    struct __tgt_kernel_arguments packet = a_packet();
    packet.ArgsBase = objects;
    packet.Args = parts;
    packet.ArgSizes = bytes;
    packet.ArgTypes = all_types;
    start(22);
    REFUSED(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet));
    REFUSED(rex_module_target_data(&rex_this_module, REX_DATA_BEGIN, 0, 2, objects, parts, bytes, all_types));
    all_types[1] = member_of_first << 1 | 0x1;
    REFUSED(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet));
    all_types[1] = TARGET_PARAM | REX_MAP_RETURN_PARAM;
    REFUSED(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet));
    all_types[1] = member_of_first | 0x11;
    CHECK_EQUAL(rex_module_target_data(&rex_this_module, REX_DATA_BEGIN, 0, 2, objects, parts, bytes, all_types), 0);
}

/* A result that libomptarget should not return: the last error is not the one before. */
TEST_IN_CHILD(unknown_result)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(plain), 1, 32);
    int64_t value = 1;
    REX_MAP(map, REX_VALUE(value), REX_VALUE(value));
    start(22);
    REFUSED(rex_launch(&launch, NULL));
    the_record()->result = 42;
    REFUSED(rex_launch(&launch, &map));
}

/* ---- CUDA 13's header ------------------------------------------------------------------------ */

static bool has_name(const struct fake_call *call, const char *name)
{
    return memmem(call->image, call->image_size, name, strlen(name) + 1) != NULL;
}

/* 18 to 21 get an older form, and nothing else changes, nor does the file; where there is no older
 * form they are refused. LLVM 14 to 17 obey a kernel's exec mode, if there is one under its name.
 */
TEST_ON_FAKES(header, ALL_RELEASES)
{
    bool is_rewritten = release >= 18 && release <= 21, is_obeyed = release <= 17;
    size_t size, after;
    uint32_t flags;
    unsigned char *bytes = read_bytes(SM_90, &size), *again;
    start(release);
    const struct fake_call *call = &the_record()->calls[0];
    CHECK(call->function == FAKE_REGISTER && call->image_size == size);
    memcpy(&flags, call->header + 48, sizeof flags);
    CHECK_EQUAL(call->header[7], is_rewritten ? 0x33 : 0x41);
    CHECK_EQUAL(call->header[8], is_rewritten ? 7 : 8);
    CHECK_EQUAL(flags, is_rewritten ? 0x005a055a : 0x06005a04);
    CHECK(memcmp(call->image + 64, bytes + 64, size - 64) == 0);
    again = read_bytes(SM_90, &after);
    CHECK(after == size && memcmp(bytes, again, size) == 0);
    free(bytes);
    free(again);
    CHECK_EQUAL(rex_module_register(&bounded, NULL), 0);
    call = newest_call(FAKE_REGISTER);
    CHECK_EQUAL(has_name(call, "bounded_exec_mode"), !is_obeyed); /* nor "unbounded_exec_mode" */
    CHECK_EQUAL(has_name(call, "unbounded.exec_mode"), is_obeyed);
}

TEST_ON_FAKES(no_older_header, 17, 18, 20, 21)
{
    use_gpu(100);
    use_release(release);
    says("LLVM %d:", release);
    rex_this_module.image_name = "tests/data/sm_100.cubin";
    if (rex_module_register(&rex_this_module, NULL) == REX_OK)
        CHECK_EQUAL(the_record()->calls[0].header[7], 0x41);
    else
        refuses(rex_last_error_code(), "refused");
}

/* ---- images and devices ------------------------------------------------------------------------------------------ */

TEST_ON_FAKES(runtime_offers_no_device, 14, 18, 19, 24)
{
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 0;
    CHECK(register_cubin(SM_90) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_ERUNTIME);
    CHECK_MENTIONS(strstr(rex_last_error(), rex_runtime_path()), ") refused device image " SM_90 " on every device");
    CHECK(the_record()->registered == 0 && context_users() == 0); /* taken back */
    the_record()->devices = 1;
    CHECK(register_cubin(SM_90) != NULL);
    CHECK(!the_record()->used_address_again);
}

TEST_ON_FAKES(host_image, ALL_RELEASES)
{
    use_gpu(0);
    use_release(release);
    struct __tgt_bin_desc *descriptor = register_cubin(FAKE("host.so"));
    CHECK(descriptor != NULL);
    CHECK_EQUAL(rex_module_on_host(&rex_this_module), 1);
    /* The form is the image's word: no count of parameters is in it. The host device runs once whatever the grid. */
    struct __tgt_kernel_arguments packet = a_packet();
    packet.Teams[1] = 5;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    CHECK_EQUAL(kernel_call(release)->parameters, 3);
    /* 18, 23 and 24 call functions that stand for the kernels, and they give both forms the same. */
    int stands = release == 18 || release >= 23;
    for (const struct __tgt_offload_entry *entry = descriptor->HostEntriesBegin; entry < descriptor->HostEntriesEnd; entry++)
        CHECK_EQUAL(strncmp(entry->name, "rex_call_", 9) == 0, stands);
    packet.DynCGroupMem = 1 << 20; /* the host device has none */
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(plain), &packet), 0);
    const struct fake_call *call = kernel_call(release);
    CHECK_EQUAL(call->parameters, stands ? 3 : 2);
    CHECK(call->parameter[release == 18] == (void *)42);
    CHECK(!stands || call->parameter[release == 18 ? 0 : 2] == (void *)-1);
    CHECK(!stands || call->packet.dynamic_memory == 0);
    if (release >= 23)
        CHECK_EQUAL(call->packet.version, 5);
}

/* The same image as an older rex/kernel.h made it: the functions that stand for kernels have another name. */
TEST_ON_FAKES(older_host_image, 17, 18, 22, 23, 24)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    size_t size;
    unsigned char *bytes = read_bytes(FAKE("host.so"), &size);
    use_gpu(0);
    use_release(release);
    for (size_t at = 0; at + 9 < size; at++)
        if (memcmp(bytes + at, "rex_call_", 9) == 0)
            bytes[at] = 'X';
    make_folder(folder);
    snprintf(path, sizeof path, "%s/older.so", folder);
    write_bytes(path, bytes, size);
    free(bytes);
    int refused = release == 18 || release >= 23;
    CHECK_EQUAL(register_cubin(path) == NULL, refused);
    remove_folder(folder);
    if (!refused)
        return;
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "older rex/kernel.h; compile the image again");
}

/* ---- registrations ----------------------------------------------------------------------------------------------- */

/* The first call of a process is the registration; nothing may look at devices before it. */
TEST_ON_FAKES(order_of_calls, ALL_RELEASES)
{
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_device_count(), 0);
    rex_this_module.image_name = SM_90;
    CHECK_EQUAL(rex_offload_init(), 0);
    const struct fake_record *record = the_record();
    CHECK_EQUAL(record->calls[0].function, FAKE_REGISTER);
    CHECK_EQUAL(last_call(FAKE_BEGIN)->packet.rows, 0); /* loads the image */
    CHECK_EQUAL(rex_device_count(), 1);
    CHECK_EQUAL(rex_offload_fini(), 0);
    uint32_t calls = record->count;
    CHECK_EQUAL(rex_device_count(), 0); /* 19 and later crash on a call now */
    CHECK_EQUAL(rex_offload_fini(), 0);
    CHECK_EQUAL(record->count, calls);
}

/*
 * No address comes back that the release keeps. Equal bytes are kept once, and those of an ended registration as long as the release reads
 * them: a sanitizer sees a leak, and the fake what was freed too early.
 */
TEST_ON_FAKES(register_again, ALL_RELEASES)
{
    enum { ROUNDS = 12 };
    bool stays = release >= 15 && release <= 21;
    const unsigned char *image = NULL;
    use_gpu(90);
    use_release(release);
    for (int i = 0; i < ROUNDS; i++) {
        const struct fake_descriptor *given = (const struct fake_descriptor *)register_cubin(SM_90);
        CHECK(given != NULL && (const void *)__cubin_desc == given && given->images == 1);
        CHECK(given->image->begin == given->begin && given->image->stop == given->stop);
        CHECK(image == NULL || !stays || image == given->image->start);
        CHECK((given->begin == (const void *)rex_this_module.entries_begin) == (i == 0 || release == 18 || release >= 20));
        image = given->image->start;
        CHECK_EQUAL(rex_offload_fini(), 0);
        CHECK(__cubin_desc == NULL);
        free(malloc(sizeof(struct fake_descriptor) * 4)); /* freed memory would be used by now */
    }
    CHECK(!the_record()->used_address_again && !the_record()->image_is_gone);
    /* 18 gets one registration, which stays. */
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], release == 18 ? 1 : ROUNDS);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], release == 18 ? 0 : ROUNDS);
}

/* LLVM 18 never loads an image that is registered after a device's first use; where none is in use
 * the next launch loads it. So a module that is known comes with the first, whose success leaves
 * the last error as it was, whatever the other's is. */
TEST_OF_EACH(late_on_18, const char *, after, "init", "launch", "nothing")
{
    struct __tgt_kernel_arguments packet = a_packet();
    bool is_used = strcmp(after, "nothing") != 0;
    CHECK_EQUAL(rex_module_add(&misshapen), REX_OK);
    CHECK_EQUAL(rex_module_add(NULL), REX_EINVAL);
    start(18);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    if (strcmp(after, "init") == 0)
        CHECK_EQUAL(rex_offload_init(), 0);
    else if (is_used)
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    CHECK_EQUAL(rex_module_register(&late, NULL), is_used ? REX_EUNSUPPORTED : REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], is_used ? 1 : 2);
    if (is_used)
        CHECK_MENTIONS(rex_last_error(),
                       "LLVM 18 loads no image that is registered after the first use of a device");
}
