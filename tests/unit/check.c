/*
 * check.c - rex-check over programs and sources whose bytes were changed: whatever it says, it reads nothing outside of them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <elf.h>
#include <stdbool.h>

#include "common.h"

#include "rex-check/bytes.h"

#define ROUNDS 2000

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* An object, a shared object with packed relocations, and a whole program. */
static const char *const programs[] = {TEST_BUILD "/obj/tests/unit/packets.o", TEST_BUILD "/tests/fake/host.so",
                                       TEST_BUILD "/tests/fake/host_relr.so", TEST_BUILD "/tests/unit/packets"};

static void *exact_copy(const void *bytes, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

/* Numbers that are large, negative or one off, half of them among the section headers. */
static void mutate(unsigned char *bytes, size_t size, bool elf)
{
    static const uint64_t values[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 63, 1ull << 63};
    Elf64_Ehdr header;
    for (uint64_t changes = 1 + next_random() % 4; changes > 0; changes--) {
        uint64_t value = next_random() % 2 ? values[next_random() % COUNT(values)] : next_random();
        size_t width = (size_t)1 << next_random() % 4, at = next_random() % size;
        if (elf && next_random() % 2) {
            memcpy(&header, bytes, sizeof header);
            size_t room = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
            at = room > 0 ? header.e_shoff + next_random() % room : at;
        }
        if (at < size)
            memcpy(bytes + at, &value, width < size - at ? width : size - at);
    }
}

TEST(test_programs)
{
    int usable = 0, unusable = 0;
    for (size_t i = 0; i < COUNT(programs); i++) {
        size_t size;
        if (access(programs[i], R_OK) != 0)
            continue; /* the linker has no packed relocations */
        unsigned char *bytes = read_bytes(programs[i], &size);
        assert_true(check_program_bytes(bytes, size) >= 0);
        unsigned char *changed = exact_copy(bytes, size);
        for (int round = 0; round < ROUNDS; round++) {
            memcpy(changed, bytes, size);
            mutate(changed, size, true);
            *(check_program_bytes(changed, size) >= 0 ? &usable : &unusable) += 1;
        }
        free(changed);
        for (size_t cut = 0; cut < size; cut += size / 100 + 1) {
            unsigned char *copy = exact_copy(bytes, cut);
            check_program_bytes(copy, cut);
            free(copy);
        }
        free(bytes);
    }
    /* Both paths were taken. */
    assert_true(usable > ROUNDS && unusable > ROUNDS / 100);
}

TEST(test_sources)
{
    size_t size;
    unsigned char *bytes = read_bytes("tests/tools/rex-check/rose_bad.c", &size);
    assert_true(check_source_bytes(bytes, size) > 0);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *copy = exact_copy(bytes, size);
        mutate(copy, size, false);
        check_source_bytes(copy, size);
        free(copy);
    }
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = exact_copy(bytes, cut);
        check_source_bytes(copy, cut);
        free(copy);
    }
    free(bytes);
}

int before_tests(int argc, char **argv)
{
    setenv("REX_LOG", "off", 1);
    (void)argc, (void)argv;
    return -1;
}
