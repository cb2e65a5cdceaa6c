/*
 * libfuzzer.c - a fuzz target under libFuzzer, and changes that suit the formats.
 *
 * Bytes that are changed anywhere seldom get past the checks of an ELF file's headers. So half of the changes set one field of a header,
 * of a section or of a record to a number that matters: none, one, the largest, and those at which a part just fits into the file or just
 * does not.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <elf.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_bytes(bytes, size);
    return 0;
}

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return limit > 0 ? next(state) % limit : 0;
}

/* Bytes of one record: a header, a section, a symbol. */
struct record {
    uint8_t *at;
    size_t size;
};

/* WIDTH bytes at AT. */
static uint64_t get(const uint8_t *at, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, at, width);
    return value;
}

/* A number for a field that is OLD now, in a record with the number NEIGHBOUR, of a file with SIZE bytes. */
static uint64_t new_value(uint64_t *state, uint64_t old, uint64_t neighbour, uint64_t size)
{
    uint64_t close = next(state) % 3 - 1;
    switch (below(state, 10)) {
    case 0: return close;
    case 1: return UINT64_MAX - below(state, 64);
    case 2: return size + close;
    case 3: return size - neighbour + close;
    case 4: return neighbour + close;
    case 5: return below(state, size + 2);
    case 6: return (uint64_t)1 << below(state, 64);
    case 7: return next(state);
    default: return old + below(state, 65) - 32;
    }
}

static void change_field(struct record record, size_t size, uint64_t *state)
{
    static const size_t widths[] = {8, 8, 4, 4, 2, 1};
    size_t width = widths[below(state, sizeof widths / sizeof *widths)];
    if (record.size < width)
        return;
    size_t fields = record.size / width;
    uint8_t *field = record.at + below(state, fields) * width;
    uint64_t neighbour = get(record.at + below(state, fields) * width, width);
    uint64_t value = new_value(state, get(field, width), neighbour, size);
    memcpy(field, &value, width);
}

/* A record of the table that begins at OFFSET, with COUNT of them, as far as it is inside. */
static struct record record_of(uint8_t *bytes, size_t size, uint64_t offset, uint64_t count, size_t each, uint64_t *state)
{
    uint64_t room = offset < size ? (size - offset) / each : 0;
    uint64_t index = below(state, count < room ? count : room);
    return room > 0 && count > 0 ? (struct record){bytes + offset + index * each, each} : (struct record){bytes, 0};
}

static struct record in_section(uint8_t *bytes, size_t size, const Elf64_Ehdr *header, uint64_t *state)
{
    Elf64_Shdr section;
    struct record found = record_of(bytes, size, header->e_shoff, header->e_shnum, sizeof section, state);
    if (found.size == 0)
        return found;
    memcpy(&section, found.at, sizeof section);
    size_t each = section.sh_entsize > 0 && section.sh_entsize <= 64 ? section.sh_entsize : 16;
    return record_of(bytes, size, section.sh_offset, section.sh_size / each, each, state);
}

static struct record choose_in_elf(uint8_t *bytes, size_t size, uint64_t *state)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    switch (below(state, 8)) {
    case 0: return (struct record){bytes + EI_NIDENT, sizeof header - EI_NIDENT};
    case 1: return record_of(bytes, size, header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), state);
    case 2:
    case 3:
    case 4: return record_of(bytes, size, header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr), state);
    default: return in_section(bytes, size, &header, state);
    }
}

/* Headers come first in all other formats. */
static struct record choose(uint8_t *bytes, size_t size, uint64_t *state)
{
    if (size >= sizeof(Elf64_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return choose_in_elf(bytes, size, state);
    return (struct record){bytes, size < 128 ? size / 8 * 8 : 128};
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed)
{
    uint64_t state = seed;
    if (size < 32 || memchr(bytes, '\0', 32) == NULL || next(&state) % 2) /* no text has a zero byte */
        return LLVMFuzzerMutate(bytes, size, room);
    for (uint64_t changes = 1 + below(&state, 3); changes > 0; changes--)
        change_field(choose(bytes, size, &state), size, &state);
    return size;
}
