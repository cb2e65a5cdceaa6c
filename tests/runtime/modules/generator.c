/*
 * What a code generator in another language would emit: no header of librex, only the layouts that DESIGN and the headers promise, and
 * the names that librex exports. The tables are plain arrays, in no section.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "generator.h"

struct entry {
    void *key;
    const char *name;
    uint64_t size;
    int32_t flags, reserved;
};

struct module {
    uint32_t size, flags;
    struct entry *begin, *end;
    const char *image_name, *host_image_name;
    const void *image;
    uint64_t image_size;
    void *descriptor;
    uint64_t librex_own[8];
};

struct packet {
    uint32_t version, rows;
    void **base, **begin;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trip_count, flags;
    uint32_t teams[3], threads[3], shared_memory;
};

_Static_assert(sizeof(struct entry) == 32 && sizeof(struct module) == 128 && sizeof(struct packet) == 104, "the promised layouts");

int rex_module_add(struct module *module);
int rex___tgt_target_kernel(int64_t device, int32_t teams, int32_t threads, void *key, struct packet *packet);
int rex___tgt_target_teams(int64_t device, void *key, int32_t rows, void **base, void **begin, int64_t *sizes, int64_t *types,
                           int32_t teams, int32_t threads);
int rex___tgt_target(int64_t device, void *key, int32_t rows, void **base, void **begin, int64_t *sizes, int64_t *types);
void rex___tgt_target_data_begin(int64_t device, int32_t rows, void **base, void **begin, int64_t *sizes, int64_t *types);
void rex___tgt_target_data_end(int64_t device, int32_t rows, void **base, void **begin, int64_t *sizes, int64_t *types);
void rex___tgt_target_data_update(int64_t device, int32_t rows, void **base, void **begin, int64_t *sizes, int64_t *types);

/* Two modules; the second gives its kernels in another order than the image has them. */
static char keys[2][2];
static struct entry entries[2][2] = {
    {{&keys[0][0], "shift__kernel__", 0, 0, 0}, {&keys[0][1], "enveloped__kernel__", 0, 0, 0}},
    {{&keys[1][1], "enveloped__kernel__", 0, 0, 0}, {&keys[1][0], "shift__kernel__", 0, 0, 0}},
};
static struct module modules[2] = {
    {.size = sizeof(struct module), .begin = entries[0], .end = entries[0] + 2},
    {.size = sizeof(struct module), .begin = entries[1], .end = entries[1] + 2},
};

void generator_image(int number, const char *file, const void *bytes, size_t size)
{
    modules[number].image_name = file;
    modules[number].image = bytes;
    modules[number].image_size = size;
}

int generator_add(int number)
{
    return rex_module_add(&modules[number]);
}

/* Value and result as rows; the result is a mapped one. */
#define ROWS                                                                                                           \
    void *rows[] = {(void *)value, result};                                                                            \
    int64_t sizes[] = {8, 8}, types[] = {0x120, 0x22}

static int launch(void *key, int64_t value, int64_t *result)
{
    ROWS;
    struct packet packet = {3, 2, rows, rows, sizes, types, 0, 0, 1, 0, {1, 1, 1}, {32, 1, 1}, 0};
    return rex___tgt_target_kernel(-1, 1, 32, key, &packet);
}

int generator_shift(int number, int64_t value, int64_t *result)
{
    return launch(&keys[number][0], value, result);
}

int generator_enveloped(int number, int64_t value, int64_t *result)
{
    return launch(&keys[number][1], value, result);
}

int generator_shift_teams(int number, int64_t value, int64_t *result)
{
    ROWS;
    return rex___tgt_target_teams(-1, &keys[number][0], 2, rows, rows, sizes, types, 99, 32); /* there are fewer devices */
}

int generator_shift_target(int number, int64_t value, int64_t *result)
{
    ROWS;
    return rex___tgt_target(-1, &keys[number][0], 2, rows, rows, sizes, types);
}

int generator_shift_mapped(int number, int64_t value, int64_t *result, int64_t *updated)
{
    void *mapped[] = {result};
    int64_t size[] = {8}, tofrom[] = {3}, from[] = {2};
    rex___tgt_target_data_begin(-1, 1, mapped, mapped, size, tofrom);
    int answer = generator_shift(number, value, result);
    rex___tgt_target_data_update(-1, 1, mapped, mapped, size, from);
    *updated = *result;
    *result = -2;
    rex___tgt_target_data_end(-1, 1, mapped, mapped, size, tofrom);
    return answer;
}
