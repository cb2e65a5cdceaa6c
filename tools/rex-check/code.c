/*
 * code.c - launch sites in linked files: x86-64 instructions that take the address of a host key.
 *
 * The linker has resolved the addresses and removed the relocations. Compilers take an address by
 * `lea key(%rip)` or, in programs at a fixed address, as an immediate operand of `mov`. The opcode
 * before the operand identifies each instruction; the bytes before the opcode do not matter.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define RELEASE_STEP ((uint64_t)8 << 20)

/* Keys that are in no entry, sorted by address. */
struct wanted {
    const struct key **keys;
    size_t count;
};

static struct wanted wanted_keys(const struct program *program)
{
    struct wanted wanted = {tool_alloc(program->key_count, sizeof(struct key *)), 0};
    for (size_t i = 0; i < program->key_count; i++)
        if (!program->keys[i].in_entry && program->keys[i].size <= 1)
            wanted.keys[wanted.count++] = &program->keys[i];
    return wanted;
}

static const struct key *key_with(const struct wanted *wanted, uint64_t address)
{
    size_t low = 0, high = wanted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (wanted->keys[middle]->place.offset < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < wanted->count && wanted->keys[low]->place.offset == address ? wanted->keys[low]
                                                                             : NULL;
}

/*
 * Returns the byte that is DISTANCE bytes before AT. Returns 0 if DISTANCE is larger than BEFORE,
 * the number of bytes that are before AT.
 */
static unsigned byte_before(const unsigned char *at, uint64_t before, unsigned distance)
{
    return distance <= before ? *(at - distance) : 0;
}

/* Returns true if the 4 bytes at AT are the operand of `lea operand(%rip)`. */
static bool is_lea(const unsigned char *at, uint64_t before)
{
    return before >= 3 && (at[-3] & 0xf8) == 0x48 && at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05;
}

/*
 * Returns true if the 4 bytes at AT are the immediate operand of `mov`, to a register or to memory.
 * An address of up to 4 bytes may stand between opcode and operand.
 */
static bool is_mov(const unsigned char *at, uint64_t before)
{
    return (byte_before(at, before, 1) & 0xf8) == 0xb8 || byte_before(at, before, 2) == 0xc7 ||
           byte_before(at, before, 3) == 0xc7 || byte_before(at, before, 4) == 0xc7 ||
           byte_before(at, before, 6) == 0xc7;
}

static const struct key *key_taken(const struct program *program, const struct wanted *wanted,
                                   const unsigned char *at, uint64_t before, uint64_t address)
{
    uint32_t operand;
    memcpy(&operand, at, sizeof operand);
    if (is_lea(at, before))
        return key_with(wanted, address + sizeof operand + (uint64_t)(int64_t)(int32_t)operand);
    return program->file.elf.header.e_type == ET_EXEC && is_mov(at, before)
               ? key_with(wanted, operand)
               : NULL;
}

static void scan(struct program *program, const struct wanted *wanted, const Elf64_Shdr *section)
{
    const unsigned char *bytes = rex_elf_section_bytes(&program->file.elf, section);
    const char *name = rex_elf_section_name(&program->file.elf, section);
    for (uint64_t i = 1; bytes != NULL && i + sizeof(uint32_t) <= section->sh_size; i++) {
        const struct key *key = key_taken(program, wanted, bytes + i, i, section->sh_addr + i);
        if (key != NULL)
            program_add_site(program, key->name, false, (struct elf_place){0, section->sh_addr + i},
                             name);
        if (i % RELEASE_STEP == 0)
            elf_file_drop_pages(&program->file);
    }
}

void code_find_sites(struct program *program)
{
    struct wanted wanted = wanted_keys(program);
    uint64_t budget = program->file.elf.size;
    Elf64_Shdr section;
    for (size_t i = 1; wanted.count > 0 && rex_elf_section(&program->file.elf, i, &section); i++) {
        if (!(section.sh_flags & SHF_EXECINSTR) || section.sh_size > budget)
            continue;
        budget -= section.sh_size;
        scan(program, &wanted, &section);
    }
    free(wanted.keys);
}
