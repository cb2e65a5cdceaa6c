/*
 * packets.c - what each release is sent and what a kernel then receives, on a GPU that does not exist.
 *
 * Every release, 14 to 24, is a fake libomptarget; a fake driver says that there is one sm_90 GPU. What is expected
 * here comes from what is known of the releases, not from librex's rows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "rex/entry.h"
#include "rex/device.h"
#include "rex/map.h"
#include "rex_kmp.h"
#include "image/open.h"
#include "image/elf.h"
#include "module/imagefit.h"
#include "omp/release.h"

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
MODULE(generic, "generic", "tests/data/environments_sm_90.cubin");
MODULE(misshapen, "misshapen", "tests/data/environments_sm_90.cubin");
MODULE(registers, "many_registers", "tests/data/registers_sm_90.cubin");

/* ---- a launch ---------------------------------------------------------------------------------------------------- */

static uint64_t result;
static void *base[2] = {(void *)42, &result}, *begin[2] = {(void *)42, &result};
static int64_t sizes[2] = {8, 8}, types[2] = {TARGET_PARAM | LITERAL, TARGET_PARAM | LITERAL};

#define MEMBER_OF_FIRST ((int64_t)1 << 48)

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

static struct __tgt_kernel_arguments a_usual_packet(void)
{
    struct __tgt_kernel_arguments packet = a_packet();
    for (int i = 1; i < 3; i++)
        packet.Teams[i] = packet.Threads[i] = 1;
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
    if (register_cubin(SM_90) == NULL) {
        fprintf(stderr, "LLVM %d: %s\n", release, rex_last_error());
        _exit(99);
    }
    CHECK_EQUAL(rex_runtime_release(), release);
}

/* The kernel gets LEADING (0 or 1) parameters of the runtime's, then 42 and &result, on a grid of 100 x 64. */
static void check_received(const struct fake_call *call, uint32_t leading)
{
    CHECK_EQUAL(call->parameters, 2 + leading);
    if (leading)
        CHECK(call->parameter[0] == (void *)-1);
    CHECK(call->parameter[leading] == (void *)42);
    CHECK(call->parameter[leading + 1] == &result);
    CHECK_EQUAL(call->grid[0], 100);
    CHECK_EQUAL(call->block[0], 64);
    CHECK_EQUAL(call->grid[1] * call->grid[2] * call->block[1] * call->block[2], 1);
    CHECK(!call->clamped);
}

/* The packet itself: struct and call say the same, y and z are 1, the flags are strict on 23. */
static void check_packet(const struct fake_call *call, int release, uint32_t version)
{
    CHECK_EQUAL(call->teams, 100);
    CHECK_EQUAL(call->threads, 64);
    CHECK_EQUAL(call->place_flags, 2);
    CHECK(strcmp(call->place, ";unknown;unknown;0;0;;") == 0);
    if (release == 14)
        return;
    CHECK_EQUAL(call->packet.version, version);
    CHECK_EQUAL(call->packet.flags, release >= 23 ? 0xc0 : 0);
    CHECK_EQUAL(call->packet.teams[0], 100);
    CHECK_EQUAL(call->packet.threads[0], 64);
    for (int i = 1; i < 3; i++) {
        CHECK_EQUAL(call->packet.teams[i], 1);
        CHECK_EQUAL(call->packet.threads[i], 1);
    }
}

TEST_ON_FAKES(plain_launch, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(plain), &packet), 0);
    const struct fake_call *call = kernel_call(release);
    CHECK(call->key == REX_KERNEL_ID(plain));
    CHECK_EQUAL(call->device, 0);
    CHECK_EQUAL(call->packet.rows, 2);
    check_packet(call, release, 2);
    check_received(call, 0);
    packet = (struct __tgt_kernel_arguments){.Version = 3, .Teams = {100, 0, 0}, .Threads = {64, 0, 0}};
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(none), &packet), 0);
    CHECK_EQUAL(kernel_call(release)->parameters, 0);
}

TEST_ON_FAKES(env_launch, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    CHECK_EQUAL(__tgt_target_kernel(-1, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    const struct fake_call *call = kernel_call(release);
    CHECK(call->key == REX_KERNEL_ID(env));
    CHECK_EQUAL(call->device, -1);
    if (release <= 17) {
        CHECK_EQUAL(call->packet.rows, 3);
        CHECK(call->base[0] == (void *)-1 && call->begin[0] == (void *)-1);
        CHECK_EQUAL(call->types[0], TARGET_PARAM | LITERAL);
        CHECK_EQUAL(call->sizes[0], 8);
        CHECK(call->packet.version <= 2);
    } else
        CHECK_EQUAL(call->packet.rows, 2);
    check_packet(call, release, release <= 17 ? 2 : 3);
    check_received(call, 1);
}

TEST_IN_CHILD(refuses_plain)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(18);
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(plain), &packet), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "plain__kernel__");
    CHECK_MENTIONS(rex_last_error(), "LLVM 18");
    CHECK_MENTIONS(rex_last_error(), "REX_DEVICE_KERNEL_ENV");
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL], 0);
}

/* ---- the caller's packet ----------------------------------------------------------------------------------------- */

TEST_ON_FAKES(launches_many_times, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet(), before;
    void *base_before[2], *begin_before[2];
    int64_t sizes_before[2], types_before[2];
    start(release);
    packet.Version = 77; /* whatever the caller writes */
    memcpy(&before, &packet, sizeof before);
    memcpy(base_before, base, sizeof base);
    memcpy(begin_before, begin, sizeof begin);
    memcpy(sizes_before, sizes, sizeof sizes);
    memcpy(types_before, types, sizeof types);
    struct fake_record *record = the_record();
    for (int i = 0; i < 1000; i++) {
        record->count = 0; /* so that each call is kept */
        CHECK_EQUAL(__tgt_target_kernel(0, -1, -1, REX_KERNEL_ID(env), &packet), 0);
        check_received(kernel_call(release), 1);
        CHECK(memcmp(&before, &packet, sizeof before) == 0);
    }
    CHECK(memcmp(base_before, base, sizeof base) == 0 && memcmp(begin_before, begin, sizeof begin) == 0);
    CHECK(memcmp(sizes_before, sizes, sizeof sizes) == 0 && memcmp(types_before, types, sizeof types) == 0);
}

/* ---- grids ------------------------------------------------------------------------------------------------------- */

TEST_ON_FAKES(grids, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    /* The packet's grid wins over the call's, which counts where the packet has none. */
    CHECK_EQUAL(__tgt_target_kernel(0, 7, 8, REX_KERNEL_ID(env), &packet), 0);
    check_received(kernel_call(release), 1);
    packet.Teams[0] = packet.Threads[0] = 0;
    CHECK_EQUAL(__tgt_target_kernel(0, 100, 64, REX_KERNEL_ID(env), &packet), 0);
    check_received(kernel_call(release), 1);
    /* Neither has one: the trip count decides. */
    packet.Tripcount = 1000;
    CHECK_EQUAL(__tgt_target_kernel(0, -1, 0, REX_KERNEL_ID(env), &packet), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 8);
    CHECK_EQUAL(kernel_call(release)->block[0], 128);
    packet.Tripcount = 100;
    CHECK_EQUAL(rex_module_launch(&rex_this_module, -1, 0, 32, REX_KERNEL_ID(env), &packet), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 4);
    CHECK_EQUAL(kernel_call(release)->block[0], 32);
    packet.Tripcount = 0;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 128);
    CHECK_EQUAL(kernel_call(release)->block[0], 128);
    /* More than fits in the call's 32 bits. */
    packet.Teams[0] = INT32_MIN;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 64, REX_KERNEL_ID(env), &packet), REX_EINVAL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_EQUAL(rex_module_launch(NULL, -1, 0, 32, REX_KERNEL_ID(env), &packet), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_module_launch: the module is NULL") == 0);
}

TEST_ON_FAKES(large_grid, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    packet.Teams[0] = 65537;
    start(release);
    int launched = __tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet);
    if (release == 14) {
        CHECK_EQUAL(launched, REX_EUNSUPPORTED);
        CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
        CHECK_MENTIONS(rex_last_error(), "65536");
    } else {
        CHECK_EQUAL(launched, 0);
        CHECK_EQUAL(kernel_call(release)->grid[0], 65537);
    }
}

TEST_ON_FAKES(three_dimensions, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    packet.Teams[1] = 3;
    packet.Threads[2] = 2;
    start(release);
    int launched = __tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet);
    if (release < 20) {
        CHECK_EQUAL(launched, REX_EUNSUPPORTED);
        CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
        CHECK_MENTIONS(rex_last_error(), "100 x 3 x 1");
        CHECK_MENTIONS(rex_last_error(), "64 x 1 x 2");
        CHECK_MENTIONS(rex_last_error(), "one dimension");
        CHECK_EQUAL(the_record()->counts[FAKE_KERNEL] + the_record()->counts[FAKE_TEAMS_MAPPER], 0);
        return;
    }
    CHECK_EQUAL(launched, 0);
    const struct fake_call *call = kernel_call(release);
    CHECK_EQUAL(call->grid[1], 3);
    CHECK_EQUAL(call->block[2], 2);
    CHECK_EQUAL(call->grid[2] * call->block[1], 1);
}

/* A kernel of clang's says itself how it is launched; 18 to 22 then launch one dimension, and abort where it says so in too few bytes. */
TEST_ON_FAKES(environments, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    CHECK_EQUAL(rex_module_register(&misshapen, NULL), release < 18 ? REX_OK : REX_EIMAGE);
    if (release >= 18)
        CHECK_MENTIONS(rex_last_error(), "environments_sm_90.cubin: its symbol misshapen_kernel_environment is 20 bytes");
    CHECK_EQUAL(rex_module_register(&generic, NULL), release >= 23 ? REX_EIMAGE : REX_OK); /* which wants 40 bytes, not 48 */
    if (release >= 23)
        return;
    packet.NumArgs = 1;
    CHECK_EQUAL(rex_module_launch(&generic, 0, 0, 0, &generic_id, &packet), 0);
    packet.Teams[1] = 2;
    CHECK_EQUAL(rex_module_launch(&generic, 0, 0, 0, &generic_id, &packet), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "one dimension only");
}

/* 23 passes on three dimensions and dynamic memory from version 3 on, and a plain kernel goes out with 2. */
TEST_IN_CHILD(plain_on_23)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(23);
    packet.Teams[1] = 3;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(plain), &packet), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    packet = a_packet();
    packet.DynCGroupMem = 1024;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(plain), &packet), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "1024 bytes of dynamic shared memory");
}

TEST_ON_FAKES(dynamic_memory, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    packet.DynCGroupMem = 1024;
    start(release);
    int launched = __tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet);
    if (release <= 15) {
        CHECK_EQUAL(launched, REX_EUNSUPPORTED);
        CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    } else {
        CHECK_EQUAL(launched, 0);
        CHECK_EQUAL(kernel_call(release)->dynamic_memory, 1024);
    }
    if (release <= 15)
        return;
    /* LLVM 21 reports success for 48 KiB and more, and launches nothing. */
    packet.DynCGroupMem = 49151;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    packet.DynCGroupMem = 49152;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), release == 21 ? REX_EUNSUPPORTED : 0);
    CHECK_EQUAL(rex_last_error_code(), release == 21 ? REX_EUNSUPPORTED : 0);
    /* 16 to 20, 23 and 24 leave the kernel's limit at 48 KiB, in which its static shared memory counts. */
    packet.DynCGroupMem = 49153;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), release == 22 ? 0 : REX_EUNSUPPORTED);
    if (release == 18)
        return; /* loads no image this late */
    CHECK_EQUAL(rex_module_register(&bounded, NULL), 0);
    packet = a_packet();
    /* Plain kernels get none on 23 and 24: without a row its one parameter is the runtime's. */
    packet.NumArgs = release >= 23 ? 0 : 1;
    packet.DynCGroupMem = 49152 - 1024;
    CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &packet), 0);
    CHECK_EQUAL(kernel_call(release)->dynamic_memory, 49152 - 1024);
    packet.DynCGroupMem++;
    CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &packet), release == 22 ? 0 : REX_EUNSUPPORTED);
    if (release != 22) {
        CHECK_MENTIONS(rex_last_error(), "48129 bytes of dynamic shared memory and 1024 of its own");
        return;
    }
    CHECK_EQUAL(kernel_call(release)->dynamic_memory, 49152); /* from which on 22 asks the driver for more */
    packet.DynCGroupMem = 232448 - 1024;
    CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &packet), 0);
    packet.DynCGroupMem++;
    CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &packet), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "231425 bytes of dynamic shared memory and 1024 of its own; a block of the GPU has at most 232448");
}

/* ---- the older calls --------------------------------------------------------------------------------------------- */

/* What the packet leaves open the call's own arguments say, if they say anything; else librex. */
static void arguments_of_call(int release)
{
    static const int32_t asked[] = {-1, 0, 1, 2, 100};
    struct __tgt_kernel_arguments packet = a_packet();
    for (int32_t teams = 0; teams <= 7; teams += 7)
        for (int32_t threads = 0; threads <= 96; threads += 96)
            for (size_t i = 0; i < COUNT(asked); i++) {
                int32_t more_teams = asked[i], more_threads = asked[COUNT(asked) - 1 - i];
                memset(packet.Teams, 0, sizeof packet.Teams);
                memset(packet.Threads, 0, sizeof packet.Threads);
                packet.Teams[0] = teams;
                packet.Threads[0] = threads;
                CHECK_EQUAL(__tgt_target_kernel(0, more_teams, more_threads, REX_KERNEL_ID(env), &packet), 0);
                CHECK_EQUAL(kernel_call(release)->grid[0], teams > 0 ? teams : more_teams > 0 ? more_teams : 128);
                CHECK_EQUAL(kernel_call(release)->block[0], threads > 0 ? threads : more_threads > 0 ? more_threads : 128);
            }
}

TEST_ON_FAKES(older_calls, ALL_RELEASES)
{
    start(release);
    /* libomptarget's own would ask for 2^32 - 1 threads. */
    CHECK_EQUAL(__tgt_target(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 1);
    CHECK_EQUAL(kernel_call(release)->block[0], 1);
    CHECK_EQUAL(__tgt_target_teams(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types, 100, 64), 0);
    check_received(kernel_call(release), 1);
    check_packet(kernel_call(release), release, release <= 17 ? 2 : 3);
    CHECK_EQUAL(rex___tgt_target(0, REX_KERNEL_ID(env), 2, base, begin, sizes, types), 0);
    CHECK_EQUAL(kernel_call(release)->grid[0], 1);
    arguments_of_call(release);
    CHECK_EQUAL(the_record()->counts[FAKE_TARGET] + the_record()->counts[FAKE_TEAMS], 0);
    __tgt_target_data_begin(0, 2, base, begin, sizes, types);
    CHECK_EQUAL(last_call(FAKE_BEGIN)->packet.rows, 2);
    __tgt_target_data_update(0, 2, base, begin, sizes, types);
    CHECK(last_call(FAKE_UPDATE)->base[1] == &result);
    __tgt_target_data_end(-1, 2, base, begin, sizes, types);
    CHECK_EQUAL(last_call(FAKE_END)->device, -1);
}

static bool is_memory_short;
static size_t last_allocation; /* bytes */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    last_allocation = count * size;
    return is_memory_short ? NULL : __real_calloc(count, size);
}

enum { ROWS = 66 };
struct columns {
    void *values[ROWS], *names[ROWS], *mappers[ROWS];
    int64_t sizes[ROWS], types[ROWS];
};

/* The call has the rows of WANTED from FIRST on, and the optional columns where PACKET has them. */
static void check_rows(const struct fake_call *call, const struct columns *wanted, const struct __tgt_kernel_arguments *packet,
                       uint32_t first)
{
    for (int32_t i = 0; i < packet->NumArgs; i++) {
        uint32_t at = first + (uint32_t)i;
        CHECK(call->base[at] == wanted->values[i] && call->begin[at] == wanted->values[i]);
        CHECK(call->sizes[at] == wanted->sizes[i] && call->types[at] == wanted->types[i]);
        CHECK(call->names[at] == (packet->ArgNames != NULL ? wanted->names[i] : NULL));
        CHECK(call->mappers[at] == (packet->ArgMappers != NULL ? wanted->mappers[i] : NULL));
    }
    CHECK((call->packet.names != NULL) == (packet->ArgNames != NULL));
    CHECK((call->packet.mappers != NULL) == (packet->ArgMappers != NULL));
}

/* The row of the runtime's own. */
static void check_own_row(const struct fake_call *call, uint32_t at)
{
    CHECK(call->base[at] == (void *)-1 && call->begin[at] == (void *)-1);
    CHECK(call->sizes[at] == 8 && call->types[at] == (TARGET_PARAM | LITERAL) && call->names[at] == NULL && call->mappers[at] == NULL);
}

/* More rows than fit on the stack beside a row of the runtime's, and as many as fit; negative: the host device. */
TEST_OF_EACH(many_rows, int, number, 14, 16, 17, 19, 23, -23, -24)
{
    int release = number > 0 ? number : -number;
    uint32_t leading = number > 0 && release <= 17, trailing = number < 0;
    static struct columns given, wanted;
    struct __tgt_kernel_arguments packet = a_packet();
    for (size_t i = 0; i < ROWS; i++) {
        given.values[i] = i == 1 ? (void *)&result : (void *)(i + 1);
        given.names[i] = (void *)(i + 1001);
        given.mappers[i] = (void *)(i + 2001);
        given.sizes[i] = 8;
        given.types[i] = i < 2 ? TARGET_PARAM | LITERAL : 0; /* env has two; the other rows are only mapped */
    }
    wanted = given;
    packet.ArgsBase = packet.Args = given.values;
    packet.ArgSizes = given.sizes;
    packet.ArgTypes = given.types;
    if (trailing) {
        use_gpu(0);
        use_release(release);
        CHECK(register_cubin(FAKE("host.so")) != NULL);
    } else
        start(release);
    for (int32_t rows = 63; rows <= ROWS; rows++) {
        packet.NumArgs = rows;
        packet.ArgNames = rows % 2 == 0 ? given.names : NULL;
        packet.ArgMappers = rows < 65 ? given.mappers : NULL;
        last_allocation = 0;
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
        const struct fake_call *call = kernel_call(release);
        CHECK_EQUAL(call->packet.rows, (uint32_t)rows + leading + trailing);
        CHECK_EQUAL(last_allocation, rows > 64 && leading + trailing > 0 ? ((size_t)rows + 1) * 6 * 8 : 0);
        check_rows(call, &wanted, &packet, leading);
        CHECK(memcmp(&given, &wanted, sizeof given) == 0);
        if (leading || trailing)
            check_own_row(call, leading ? 0 : (uint32_t)rows);
        CHECK_EQUAL(call->parameters, 3);
    }
    if (leading == 0 && trailing == 0)
        return;
    /* The thread's first error has made room for messages. */
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, NULL, &packet), REX_EKEY);
    is_memory_short = true;
    for (int32_t rows = 64; rows <= 65; rows++) {
        packet.NumArgs = rows;
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), rows == 64 ? 0 : REX_ENOMEM);
    }
    CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
    CHECK_MENTIONS(rex_last_error(), "3168 bytes for the rows of a launch"); /* 66 of six words */
}

/* ---- what never reaches libomptarget, which would abort ---------------------------------------------------------- */

static void refused_launch(int64_t device, void *key, struct __tgt_kernel_arguments *packet, int error,
                           const char *part)
{
    struct fake_record *record = the_record();
    uint32_t before = record->counts[FAKE_KERNEL] + record->counts[FAKE_TEAMS_MAPPER];
    CHECK_EQUAL(__tgt_target_kernel(device, 0, 0, key, packet), error);
    CHECK_EQUAL(rex_last_error_code(), error);
    CHECK_MENTIONS(rex_last_error(), part);
    CHECK_EQUAL(record->counts[FAKE_KERNEL] + record->counts[FAKE_TEAMS_MAPPER], before);
}

static void refused_data(int64_t device, int32_t rows, void **base_of, int64_t *types_of, int error, const char *part)
{
    struct fake_record *record = the_record();
    uint32_t before = record->counts[FAKE_BEGIN];
    __tgt_target_data_begin(device, rows, base_of, begin, sizes, types_of);
    CHECK_EQUAL(rex_last_error_code(), error);
    CHECK_MENTIONS(rex_last_error(), part);
    CHECK_EQUAL(record->counts[FAKE_BEGIN], before);
}

/* Each mistake and each unusual value, alone. */
static void refuse_all(int release)
{
    static const struct {
        int64_t device;
        const char *part;
    } devices[] = {{2, "device number 2: there are 1 devices; 1 is the host"}, {-2, "device number -2"}, {INT64_MAX, "device number"}};
    struct __tgt_kernel_arguments packet = a_usual_packet();
    char stranger;
    refused_launch(0, &stranger, &packet, REX_EKEY, "in no registered table");
    refused_launch(0, NULL, &packet, REX_EKEY, "in no registered table");
    /* Not a key, and with a key's low bits. */
    refused_launch(0, (void *)((uintptr_t)REX_KERNEL_ID(env) + 4096), &packet, REX_EKEY, "in no registered table");
    for (size_t i = 0; i < COUNT(devices); i++)
        refused_launch(devices[i].device, REX_KERNEL_ID(env), &packet, REX_EDEVICE, devices[i].part);
    refused_launch(0, REX_KERNEL_ID(env), NULL, REX_EINVAL, "NULL");
    for (packet.NumArgs = 0; packet.NumArgs < 2; packet.NumArgs++)
        refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EPARAMS, "\"env__kernel__\" has 3 parameters");
    packet.NumArgs = -1;
    refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL, "negative");
#define REFUSED_WITH(member, value, part)                                     \
    packet = a_usual_packet();                                                \
    packet.member = (value);                                                  \
    refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL, part)
    REFUSED_WITH(ArgsBase, NULL, "is NULL");
    REFUSED_WITH(Args, NULL, "is NULL");
    REFUSED_WITH(ArgSizes, NULL, "is NULL");
    REFUSED_WITH(ArgTypes, NULL, "map types is NULL");
    REFUSED_WITH(Teams[0], -1, "grid");
    REFUSED_WITH(Teams[0], INT32_MIN, "grid");
    REFUSED_WITH(Threads[0], INT32_MIN, "grid");
    packet = a_usual_packet();
    packet.DynCGroupMem = 1 << 20;
    if (release <= 15 || release == 21)
        refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EUNSUPPORTED, "dynamic shared memory");
}

TEST_ON_FAKES(bad_launches, 14, 16, 18, 19, 22, 23)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    /* A pointee whose type lacks 0x10 is a member that does not lie in its parent. */
    int64_t wrong[] = {TARGET_PARAM, MEMBER_OF_FIRST | 0x1};
    static char object[16], pointee[8];
    void *objects[] = {object, object}, *parts[] = {object, pointee};
    int64_t bytes[] = {sizeof object, sizeof pointee};
    packet.ArgsBase = objects;
    packet.Args = parts;
    packet.ArgSizes = bytes;
    packet.ArgTypes = wrong;
    refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL, "env__kernel__: map row 1 does not lie in the row that it is a member of");
    rex_module_check_map(&rex_this_module, 0, 2, objects, parts, bytes, wrong);
    CHECK_MENTIONS(rex_last_error(), "a data call: map row 1 does not lie in the row that it is a member of");
    wrong[1] = MEMBER_OF_FIRST << 1 | 0x1;
    refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL, "map row 1 is a member of a row that does not come before it");
    wrong[1] = MEMBER_OF_FIRST | 0x11;
    CHECK_EQUAL(rex_module_check_map(&rex_this_module, 0, 2, objects, parts, bytes, wrong), 0);
    refuse_all(release);
    refused_data(2, 1, base, types, REX_EDEVICE, "device number 2");
    refused_data(0, -1, base, types, REX_EINVAL, "negative");
    refused_data(0, 1, NULL, types, REX_EINVAL, "base addresses is NULL");
    refused_data(0, 1, base, NULL, REX_EINVAL, "map types is NULL");
}

/* Blocks up to the kernel's __launch_bounds__ or to what any GPU has, on the first launch and on those that go the short way. */
TEST_ON_FAKES(blocks, 14, 16, 19, 20, 22)
{
    struct __tgt_kernel_arguments packet = a_usual_packet(), one = a_usual_packet();
    start(release);
    CHECK_EQUAL(rex_module_register(&bounded, NULL), 0);
    one.NumArgs = 1;
    for (int again = 0; again < 3; again++) {
        packet.Threads[0] = 1025;
        refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL,
                       "\"env__kernel__\": a block of 1025 x 1 x 1 threads, and a GPU has at most 1024");
        packet.Threads[0] = 1024;
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
        one.Threads[0] = 257;
        CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &one), REX_EINVAL);
        CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
        CHECK_MENTIONS(rex_last_error(), "\"bounded\": a block of 257 x 1 x 1 threads, and its __launch_bounds__ or registers allow 256");
        one.Threads[0] = 256;
        CHECK_EQUAL(rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &one), 0);
    }
    CHECK_EQUAL(kernel_call(release)->block[0], 256);
    /* 80 registers: four times six warps of 2 560. */
    CHECK_EQUAL(rex_module_register(&registers, NULL), 0);
    one.Threads[0] = 769;
    CHECK_EQUAL(rex_module_launch(&registers, 0, 0, 0, &registers_id, &one), REX_EINVAL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(),
                   "\"many_registers\": a block of 769 x 1 x 1 threads, and its __launch_bounds__ or registers allow 768");
    one.Threads[0] = 768;
    CHECK_EQUAL(rex_module_launch(&registers, 0, 0, 0, &registers_id, &one), 0);
    if (release < 20)
        return;
    packet.Threads[0] = packet.Threads[1] = 1u << 16;
    packet.Threads[2] = INT32_MIN;
    refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EINVAL, "a block of 65536 x 65536 x");
}

/* ---- what a refusal says, with numbers of which no two are equal ------------------------------------------------------------------- */

#define TEAMS(...) {__VA_ARGS__}, {7, 11, 13}
#define THREADS(...) {2, 3, 5}, {__VA_ARGS__}

#define ENV_KERNEL "kernel \"env__kernel__\": "

struct refused {
    int release, error;
    int32_t teams[3], threads[3], rows, memory;
    int64_t flags, second; /* of the packet; the second row's type, where it is no value for a parameter */
    const char *said;
};

static const struct refused all[] = {
    {22, REX_EINVAL, THREADS(7, 11, 14), 2, 0, 0, 0, ENV_KERNEL "a block of 7 x 11 x 14 threads, and a GPU has at most 1024"},
    {22, REX_EINVAL, THREADS(33, 32, 1), 2, 0, 0, 0, ENV_KERNEL "a block of 33 x 32 x 1 threads, and a GPU has at most 1024"},
    {22, REX_EINVAL, THREADS(3, 5, 65), 2, 0, 0, 0, ENV_KERNEL "a block of 3 x 5 x 65 threads, and a GPU has at most 64 in z"},
    {22, REX_EINVAL, TEAMS(5, 65536, 3), 2, 0, 0, 0,
     ENV_KERNEL "a grid of 5 x 65536 x 3 teams, and a GPU has at most 65535 in y and in z"},
    {22, REX_EINVAL, TEAMS(5, 3, 65536), 2, 0, 0, 0,
     ENV_KERNEL "a grid of 5 x 3 x 65536 teams, and a GPU has at most 65535 in y and in z"},
    {22, REX_EINVAL, TEAMS(-7, 1, 1), 2, 0, 0, 0, ENV_KERNEL "a grid of 4294967289 teams of 7 threads"},
    {22, REX_EINVAL, THREADS(-5, 1, 1), 2, 0, 0, 0, ENV_KERNEL "a grid of 2 teams of 4294967291 threads"},
    {22, REX_EINVAL, TEAMS(2, 3, 5), -3, 0, 0, 0, ENV_KERNEL "a negative number of rows, -3"},
    {22, REX_EINVAL, TEAMS(2, 3, 5), 2, 0, 0x7, 0,
     ENV_KERNEL "the packet's Flags, 0x7, have bits that LLVM 22 does not know: 0x6"},
    {22, REX_EINVAL, TEAMS(2, 3, 5), 2, 0, 0, TARGET_PARAM | REX_MAP_RETURN_PARAM,
     ENV_KERNEL "map row 1 asks for its device address, which only a data region gives back"},
    {22, REX_EPARAMS, TEAMS(2, 3, 5), 1, 0, 0, 0, "kernel \"env__kernel__\" has 3 parameters, and the launch 1 rows for them (of 1)"},
    {22, REX_EPARAMS, TEAMS(2, 3, 5), 4, 0, 0, LITERAL,
     "kernel \"env__kernel__\" has 3 parameters, and the launch 1 rows for them (of 4)"},
    {19, REX_EUNSUPPORTED, TEAMS(2, 3, 5), 2, 0, 0, 0,
     ENV_KERNEL "teams 2 x 3 x 5 of threads 7 x 11 x 13; LLVM 19 launches one dimension only"},
    {14, REX_EUNSUPPORTED, {65537, 1, 1}, {7, 1, 1}, 2, 0, 0, 0, ENV_KERNEL "65537 teams; LLVM 14 launches at most 65536"},
    {14, REX_EUNSUPPORTED, {2, 1, 1}, {7, 1, 1}, 2, 17, 0, 0,
     ENV_KERNEL "17 bytes of dynamic shared memory; LLVM 14 cannot pass them on"},
    {21, REX_EUNSUPPORTED, TEAMS(2, 3, 5), 2, 49152, 0, 0,
     ENV_KERNEL "49152 bytes of dynamic shared memory; LLVM 21 launches nothing above 49151"},
    {16, REX_EUNSUPPORTED, {2, 1, 1}, {7, 1, 1}, 2, 49153, 0, 0,
     ENV_KERNEL "49153 bytes of dynamic shared memory and 0 of its own; LLVM 16 launches nothing with more than 49152"},
};

TEST_FOR_EACH(refuse_in_words, refused, all)
{
    static void *values[4] = {(void *)42, &result};
    static int64_t sizes_of[4] = {8, 8, 8, 8};
    int64_t types_of[4] = {TARGET_PARAM | LITERAL, refused->second != 0 ? refused->second : TARGET_PARAM | LITERAL};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = refused->rows,
                                            .Flags = refused->flags,
                                            .ArgsBase = values,
                                            .Args = values,
                                            .ArgSizes = sizes_of,
                                            .ArgTypes = types_of,
                                            .DynCGroupMem = refused->memory};
    memcpy(packet.Teams, refused->teams, sizeof packet.Teams);
    memcpy(packet.Threads, refused->threads, sizeof packet.Threads);
    start(refused->release);
    refused_launch(0, REX_KERNEL_ID(env), &packet, refused->error, "kernel \"env__kernel__\"");
    if (strcmp(rex_last_error(), refused->said) != 0) {
        fprintf(stderr, "%s\nand not\n%s\n", rex_last_error(), refused->said);
        _exit(99);
    }
}

/* The largest of each that is allowed, together. */
TEST_ON_FAKES(most_of_all, 14, 19, 22)
{
    struct __tgt_kernel_arguments packet = a_usual_packet();
    start(release);
    packet.Teams[0] = release == 14 ? 65536 : INT32_MAX;
    packet.Threads[0] = 1024;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    packet.Threads[0] = 8;
    packet.Threads[1] = 2;
    packet.Threads[2] = 64;
    packet.Teams[1] = packet.Teams[2] = 65535;
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), release < 20 ? REX_EUNSUPPORTED : 0);
}

/* 18 takes a kernel whose name ends so for a destructor: "bounded" by another name. */
TEST_OF_EACH(ends_in_tor, const char *, name, "destfor", "desttor", "desttox")
{
    struct __tgt_kernel_arguments packet = a_packet();
    char folder[PATH_MAX], path[PATH_MAX + 16], said[256];
    size_t size;
    unsigned char *bytes = read_bytes(bounded.image_name, &size);
    for (size_t at = 0; at + 7 < size; at++)
        if (memcmp(bytes + at, "bounded", 7) == 0)
            memcpy(bytes + at, name, 7);
    make_folder(folder);
    snprintf(path, sizeof path, "%s/tor.cubin", folder);
    write_bytes(path, bytes, size);
    free(bytes);
    bounded_entry[0].name = (char *)(uintptr_t)name;
    bounded.image_name = path;
    use_gpu(90);
    use_release(18);
    CHECK_EQUAL(rex_module_register(&bounded, NULL), 0);
    remove_folder(folder);
    packet.NumArgs = 0; /* its one parameter is the runtime's */
    int launched = rex_module_launch(&bounded, 0, 0, 0, &bounded_id, &packet);
    CHECK_EQUAL(launched, strcmp(name + 4, "tor") == 0 ? REX_EUNSUPPORTED : 0);
    snprintf(said, sizeof said, "kernel \"%s\": LLVM 18 takes a kernel whose name ends in \"tor\" for a constructor or destructor, and "
             "gives it no arguments: rename it", name);
    CHECK(launched == 0 || (rex_last_error_code() == REX_EUNSUPPORTED && strcmp(rex_last_error(), said) == 0));
}

/* ---- the second launch and the ones after it -------------------------------------------------------------------- */

static void launched(int release, const struct __tgt_kernel_arguments *usual, void *key, uint32_t version, uint32_t leading)
{
    struct __tgt_kernel_arguments packet = *usual;
    CHECK_EQUAL(__tgt_target_kernel(-1, 100, 64, key, &packet), 0);
    CHECK(memcmp(&packet, usual, sizeof packet) == 0);
    const struct fake_call *call = kernel_call(release);
    CHECK(call->key == key);
    check_packet(call, release, version);
    check_received(call, leading);
}

/* A launch like an earlier one goes a shorter way, and every mistake and every unusual value still leaves it. */
TEST_ON_FAKES(again, ALL_RELEASES)
{
    uint32_t version = release <= 17 ? 2 : 3;
    struct __tgt_kernel_arguments packet = a_usual_packet();
    start(release);
    for (int i = 0; i < 3; i++)
        launched(release, &packet, REX_KERNEL_ID(env), version, 1);
    CHECK(kernel_call(release)->packet.rows == (release <= 17 ? 3 : 2));
    refuse_all(release);
    for (int i = 0; i < 4; i++) {
        packet = a_usual_packet();
        *(i < 2 ? &packet.Teams[i + 1] : &packet.Threads[i - 1]) = 2;
        if (release < 20)
            refused_launch(0, REX_KERNEL_ID(env), &packet, REX_EUNSUPPORTED, "one dimension only");
        /* 0 means 1, in y and z. */
        *(i < 2 ? &packet.Teams[i + 1] : &packet.Threads[i - 1]) = 0;
        CHECK_EQUAL(__tgt_target_kernel(-1, 0, 0, REX_KERNEL_ID(env), &packet), 0);
        check_packet(kernel_call(release), release, version);
    }
    packet = a_usual_packet();
    packet.Teams[0] = packet.Threads[0] = 0; /* from the arguments of the call */
    CHECK_EQUAL(__tgt_target_kernel(-1, 100, 64, REX_KERNEL_ID(env), &packet), 0);
    check_packet(kernel_call(release), release, version);
    packet = a_usual_packet();
    launched(release, &packet, REX_KERNEL_ID(env), version, 1);
    CHECK_EQUAL(rex_offload_fini(), 0);
    if (release == 18)
        return; /* which registers no second time */
    CHECK(register_cubin(SM_90) != NULL);
    launched(release, &packet, REX_KERNEL_ID(env), version, 1);
}

static char far_keys[2 * 4096];
static struct __tgt_offload_entry far_entries[] = {{&far_keys[100], (char *)(uintptr_t)"env__kernel__", 0, 0, 0},
                                                   {&far_keys[100 + 4096], (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module far_module = {.struct_size = sizeof(struct rex_module), .entries_begin = far_entries,
                                       .entries_end = far_entries + 2, .image_name = SM_90};

/* Two kernels whose keys differ in high bits alone, in turn: each gets what it needs. */
TEST_ON_FAKES(in_turn, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24)
{
    start(release);
    for (int i = 0; i < 6; i++) {
        struct __tgt_kernel_arguments packet = a_usual_packet();
        CHECK_EQUAL(rex_module_launch(&far_module, -1, 100, 64, far_entries[i % 2].addr, &packet), 0);
        const struct fake_call *call = kernel_call(release);
        CHECK(call->key == far_entries[i % 2].addr);
        check_packet(call, release, release <= 17 || i % 2 != 0 ? 2 : 3);
        check_received(call, i % 2 == 0);
    }
}

/* ---- Flags ------------------------------------------------------------------------------------------------------- */

/* Bits that a release does not know may make it take the rows for something else: 22 crashes with bit 1. */
TEST_ON_FAKES(flags, ALL_RELEASES)
{
    static const uint64_t known[] = {0, 0x1, 0xc0, 0xc1}, unknown[] = {0x2, 0x20, 0x100, UINT64_C(1) << 63};
    void *key = release == 18 ? REX_KERNEL_ID(env) : REX_KERNEL_ID(plain);
    start(release);
    /* Before a launch, which is checked whole, and after one, when launches are compared with it alone. */
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT(unknown); i++) {
            char bits[32];
            struct __tgt_kernel_arguments packet = a_usual_packet();
            packet.Flags = (int64_t)(0x1 | unknown[i]);
            snprintf(bits, sizeof bits, "not know: 0x%llx", (unsigned long long)unknown[i]);
            refused_launch(0, key, &packet, REX_EINVAL, bits);
        }
        for (size_t i = 0; i < COUNT(known); i++) {
            struct __tgt_kernel_arguments packet = a_usual_packet();
            packet.Flags = (int64_t)known[i];
            CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, key, &packet), 0);
            if (release > 14)
                CHECK_EQUAL(kernel_call(release)->packet.flags & ~UINT64_C(0xc0), known[i] & 1);
            the_record()->count = 0; /* so that each call is kept */
        }
    }
    struct __tgt_kernel_arguments packet = a_usual_packet();
    packet.Flags = 0x14;
    if (release < 23)
        refused_launch(0, key, &packet, REX_EINVAL, "not know: 0x14");
    else
        CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, key, &packet), 0);
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

TEST_ON_FAKES(widths, ALL_RELEASES)
{
    int packed = release >= 19 && release <= 22;
    struct __tgt_kernel_arguments packet = a_packet();
    use_gpu(90);
    use_release(release);
    /* Queues can launch any of them, so all are registered. */
    CHECK_EQUAL(rex_module_register(&narrow, NULL), 0);
    CHECK_EQUAL(rex_module_register(&narrow_first, NULL), 0);
    CHECK_EQUAL(rex_module_register(&wide, NULL), 0);
    uint32_t before = the_record()->counts[FAKE_KERNEL] + the_record()->counts[FAKE_TEAMS_MAPPER];
    if (packed) {
        for (int i = 0; i < 2; i++) {
            CHECK_EQUAL(rex_module_launch(&narrow, 0, 1, 1, &narrow_id, &packet), REX_EPARAMS);
            CHECK_EQUAL(rex_last_error_code(), REX_EPARAMS);
            CHECK_MENTIONS(rex_last_error(), "narrow__kernel__");
            CHECK_MENTIONS(rex_last_error(), "parameter 1 is 4 bytes wide");
        }
    }
    /* One parameter more than rows, and yet no env kernel: it is not the runtime's, which is a pointer. */
    CHECK_EQUAL(rex_module_launch(&narrow_first, 0, 1, 1, &narrow_first_id, &packet), REX_EPARAMS);
    CHECK_EQUAL(rex_last_error_code(), REX_EPARAMS);
    /* More than 8 bytes fit in no release's slot. */
    CHECK_EQUAL(rex_module_launch(&wide, 0, 1, 1, &wide_id, &packet), REX_EPARAMS);
    CHECK_EQUAL(rex_last_error_code(), REX_EPARAMS);
    CHECK_MENTIONS(rex_last_error(), "parameter 0 is 16 bytes wide");
    CHECK_EQUAL(the_record()->counts[FAKE_KERNEL] + the_record()->counts[FAKE_TEAMS_MAPPER], before);
}

/* ---- CUDA 13's header -------------------------------------------------------------------------------------------- */

TEST_ON_FAKES(header, ALL_RELEASES)
{
    int rewritten = release >= 18 && release <= 21;
    size_t size, after;
    unsigned char *bytes = read_bytes(SM_90, &size);
    start(release);
    const struct fake_call *call = &the_record()->calls[0];
    CHECK_EQUAL(call->function, FAKE_REGISTER);
    CHECK_EQUAL(call->image_size, size);
    uint32_t flags;
    memcpy(&flags, call->header + 48, sizeof flags);
    CHECK_EQUAL(call->header[7], rewritten ? 0x33 : 0x41);
    CHECK_EQUAL(call->header[8], rewritten ? 7 : 8);
    CHECK_EQUAL(flags, rewritten ? 0x005a055a : 0x06005a04);
    /* Nothing else changes, and the file does not at all. */
    CHECK(memcmp(call->image + 64, bytes + 64, size - 64) == 0);
    unsigned char *again = read_bytes(SM_90, &after);
    CHECK(after == size && memcmp(bytes, again, size) == 0);
    free(bytes);
    free(again);
}

static bool has_name(const struct fake_call *call, const char *name)
{
    return memmem(call->image, call->image_size, name, strlen(name) + 1) != NULL;
}

/* LLVM 14 to 17 obey a kernel's exec mode, if there is one under its name. */
TEST_ON_FAKES(exec_modes, ALL_RELEASES)
{
    int obeyed = release <= 17;
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(&bounded, NULL), 0);
    const struct fake_call *call = &the_record()->calls[0];
    CHECK_EQUAL(call->function, FAKE_REGISTER);
    CHECK_EQUAL(has_name(call, "bounded_exec_mode"), !obeyed);
    CHECK_EQUAL(has_name(call, "bounded.exec_mode"), obeyed);
    CHECK_EQUAL(has_name(call, "unbounded.exec_mode"), obeyed);
}

TEST_ON_FAKES(no_older_header, ALL_RELEASES)
{
    int refused = release >= 18 && release <= 20;
    use_gpu(100);
    use_release(release);
    if (!refused) {
        CHECK(register_cubin("tests/data/sm_100.cubin") != NULL);
        CHECK_EQUAL(the_record()->calls[0].header[7], 0x41);
        return;
    }
    rex_this_module.image_name = "tests/data/sm_100.cubin";
    CHECK_EQUAL(rex_module_register(&rex_this_module, NULL), REX_EUNSUPPORTED);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "sm_100");
    CHECK_MENTIONS(rex_last_error(), "21.1.2");
    CHECK_EQUAL(the_record()->count, 0);
}

/* Only a CUBIN has CUDA 13's header, and only where all of it is there. */
TEST(test_other_headers)
{
    Elf64_Ehdr cubin = {.e_machine = EM_CUDA, .e_flags = 90 << 8};
    memcpy(cubin.e_ident, ELFMAG, SELFMAG);
    cubin.e_ident[EI_OSABI] = 0x41;
    cubin.e_ident[EI_ABIVERSION] = 8;
    for (int way = 0; way < 5; way++) {
        Elf64_Ehdr header = cubin, before;
        switch (way) {
        case 0: break;
        case 1: header.e_machine = EM_X86_64; break;
        case 2: header.e_ident[EI_OSABI] = 0x33; break;
        case 3: header.e_ident[EI_ABIVERSION] = 7; break;
        default: header.e_ident[EI_MAG0] = 0;
        }
        before = header;
        assert_int_equal(rex_image_fit_header((unsigned char *)&header, sizeof header, "made up", rex_release_row(19)), 0);
        assert_int_equal(memcmp(&header, &before, sizeof header) == 0, way > 0);
    }
}

/* ---- images and devices ------------------------------------------------------------------------------------------ */

TEST_IN_CHILD(wrong_architecture)
{
    use_gpu(90);
    use_release(22);
    static const char *const others[] = {"tests/data/sm_80.cubin", "tests/data/sm_100.cubin", "tests/data/sm_75.cubin"};
    for (size_t i = 0; i < COUNT(others); i++) {
        CHECK(register_cubin(others[i]) == NULL);
        CHECK_EQUAL(rex_last_error_code(), REX_ENODEVICE);
        CHECK_MENTIONS(rex_last_error(), others[i]);
        CHECK_MENTIONS(rex_last_error(), "the GPU is sm_90");
    }
}

TEST_IN_CHILD(minor_architecture)
{
    use_gpu(89); /* an image for sm_80 runs there */
    use_release(22);
    CHECK(register_cubin("tests/data/sm_80.cubin") != NULL);
}

TEST_ON_FAKES(runtime_offers_no_device, ALL_RELEASES)
{
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->devices = 0;
    CHECK(register_cubin(SM_90) == NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_ERUNTIME);
    CHECK_MENTIONS(rex_last_error(), rex_runtime_path());
    CHECK_MENTIONS(strstr(rex_last_error(), rex_runtime_path()), ") accepted device image " SM_90 " for no device");
    CHECK_EQUAL(the_record()->registered, 0); /* taken back */
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
    CHECK_EQUAL(strncmp(descriptor->HostEntriesBegin->name, "rex_call_", 9) == 0, stands);
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
TEST_ON_FAKES(older_host_image, ALL_RELEASES)
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
    CHECK_MENTIONS(rex_last_error(), "older rex/kernel.h; compile it again");
}

/* 14 and 15 give row i of the program the address in row i of the image, in which the compiler chose the order. */
TEST_ON_FAKES(host_rows_in_image_order, 14, 15)
{
    struct rex_view view;
    size_t size;
    unsigned char *bytes = read_bytes(FAKE("host.so"), &size);
    CHECK_EQUAL(rex_view_open(&view, bytes, size, "host.so"), 0);
    CHECK_EQUAL(view.position_count, 4);
    use_gpu(0);
    use_release(release);
    CHECK(register_cubin(FAKE("host.so")) != NULL);
    const struct fake_call *call = &the_record()->calls[0];
    CHECK_EQUAL(call->entry_count, view.position_count);
    for (size_t i = 0; i < view.position_count; i++) {
        const struct fake_entry *entry = &call->entries[i];
        CHECK(strcmp(entry->name, view.positions[i]) == 0);
        if (strcmp(entry->name, "plain__kernel__") == 0)
            CHECK(entry->address == REX_KERNEL_ID(plain));
        else if (strcmp(entry->name, "env__kernel__") == 0)
            CHECK(entry->address == REX_KERNEL_ID(env));
        else if (strcmp(entry->name, "none__kernel__") == 0)
            CHECK(entry->address == REX_KERNEL_ID(none));
        else
            CHECK(strcmp(entry->name, "table") == 0 && entry->address != NULL); /* a key of librex's own */
    }
    rex_view_close(&view);
    free(bytes);
}

/* ---- registrations ----------------------------------------------------------------------------------------------- */

static uint64_t sum(const void *begin_of, const void *end_of)
{
    uint64_t total = 0;
    for (const unsigned char *byte = begin_of; byte < (const unsigned char *)end_of; byte++)
        total = total * 31 + *byte;
    return total;
}

/* Of all that libomptarget was given: descriptor, image, entries and the image's bytes. */
static uint64_t sum_of(const struct fake_descriptor *given)
{
    return sum(given, given + 1) ^ sum(given->image, given->image + 1) << 1 ^ sum(given->begin, given->stop) << 2 ^
           sum(given->image->start, given->image->end) << 3;
}

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

/* No address comes back, and what the runtime was given stays as it was: descriptor, images, entries and the image's
 * bytes. */
TEST_ON_FAKES(register_again, ALL_RELEASES)
{
    enum { ROUNDS = 12 };
    const struct fake_descriptor *given[ROUNDS];
    uint64_t sums[ROUNDS];
    use_gpu(90);
    use_release(release);
    for (int i = 0; i < ROUNDS; i++) {
        given[i] = (const struct fake_descriptor *)register_cubin(SM_90);
        CHECK(given[i] != NULL);
        CHECK((const void *)__cubin_desc == given[i]);
        CHECK_EQUAL(given[i]->images, 1);
        CHECK(given[i]->image->begin == given[i]->begin && given[i]->image->stop == given[i]->stop);
        sums[i] = sum_of(given[i]);
        CHECK_EQUAL(rex_offload_fini(), 0);
        CHECK(__cubin_desc == NULL);
        free(malloc(sizeof(struct fake_descriptor) * 4)); /* freed memory would be used by now */
    }
    CHECK(!the_record()->used_address_again);
    /* 18 gets one registration, which stays. */
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], release == 18 ? 1 : ROUNDS);
    CHECK_EQUAL(the_record()->counts[FAKE_UNREGISTER], release == 18 ? 0 : ROUNDS);
    CHECK(release != 18 || given[0] == given[ROUNDS - 1]);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(sum_of(given[i]), sums[i]);
        /* One copy of equal bytes. */
        CHECK(given[i]->image->start == given[0]->image->start);
    }
}

/* LLVM 18 never loads an image that is registered after a device's first use. */
TEST_ON_FAKES(late_registration, ALL_RELEASES)
{
    struct __tgt_kernel_arguments packet = a_packet();
    start(release);
    CHECK_EQUAL(__tgt_target_kernel(0, 0, 0, REX_KERNEL_ID(env), &packet), 0);
    int registered = rex_module_register(&late, NULL);
    if (release != 18) {
        CHECK_EQUAL(registered, 0);
        CHECK_EQUAL(last_call(FAKE_BEGIN)->packet.rows, 0); /* it is loaded now, and by no launch that others may meet */
        return;
    }
    CHECK_EQUAL(registered, REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "LLVM 18");
    CHECK_MENTIONS(rex_last_error(), "after a device was used");
    CHECK_EQUAL(the_record()->counts[FAKE_REGISTER], 1);
}

/* Nor after the start of a module, or a data call; where no device is in use a launch loads the image. */
TEST_OF_EACH(late_on_18, const char *, after, "init", "data", "nothing")
{
    bool used = strcmp(after, "nothing") != 0;
    start(18);
    if (strcmp(after, "init") == 0)
        CHECK_EQUAL(rex_offload_init(), 0);
    else if (used)
        __tgt_target_data_begin(0, 2, base, begin, sizes, types);
    CHECK_EQUAL(rex_module_register(&late, NULL), used ? REX_EUNSUPPORTED : REX_OK);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], used);
}

TEST_ON_FAKES(default_device, ALL_RELEASES)
{
    use_gpu(90);
    use_release(release);
    setenv("OMP_DEFAULT_DEVICE", "7", 1);
    rex_this_module.image_name = SM_90;
    CHECK_EQUAL(rex_offload_init(), REX_EDEVICE);
    CHECK_MENTIONS(rex_last_error(), "the default device is 7");
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], 0);
}
