/*
 * rowlog.c - launches and data calls, row by row, in the log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rowlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The bits, in the order in which they are said; 0x4000 and 0x8000 are new in LLVM 22 and 23. */
static const struct {
    int64_t bit;
    const char *name;
} types[] = {
    {0x1, "to"},          {0x2, "from"},         {0x4, "always"},        {0x8, "delete"},    {0x10, "ptr_and_obj"},
    {0x20, "target_param"}, {0x40, "return_param"}, {0x80, "private"},   {0x100, "literal"}, {0x200, "implicit"},
    {0x400, "close"},     {0x1000, "present"},   {0x2000, "ompx_hold"},  {0x4000, "attach"}, {0x8000, "fb_nullify"},
    {0x100000000000, "non_contig"},
};

#define MEMBER_OF ((uint64_t)0xffff << 48)
#define LITERAL 0x100

static size_t add(char *text, size_t size, size_t at, const char *word)
{
    int length = at < size ? snprintf(text + at, size - at, "%s%s", at > 0 ? "|" : "", word) : 0;
    return at + (length > 0 ? (size_t)length : 0);
}

void rex_type_text(int64_t type, char *text, size_t size)
{
    uint64_t rest = (uint64_t)type & ~MEMBER_OF;
    size_t at = 0;
    char word[32];
    if (size > 0)
        text[0] = '\0';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type & types[i].bit) {
            at = add(text, size, at, types[i].name);
            rest &= ~(uint64_t)types[i].bit;
        }
    if (((uint64_t)type & MEMBER_OF) != 0) {
        snprintf(word, sizeof word, "member_of(%u)", (unsigned)((uint64_t)type >> 48));
        at = add(text, size, at, word);
    }
    if (rest != 0) {
        snprintf(word, sizeof word, "0x%" PRIx64, rest);
        at = add(text, size, at, word);
    }
    if (at == 0)
        add(text, size, 0, "alloc");
}

/* What clang writes is ";x[0:n];file.c;12;3;;"; other generators give the name alone. */
static void name_of(const struct __tgt_kernel_arguments *packet, uint32_t row, char *name, size_t size)
{
    const char *given = packet->ArgNames != NULL ? packet->ArgNames[row] : NULL;
    if (given == NULL) {
        snprintf(name, size, "%p", packet->Args[row]);
        return;
    }
    given += *given == ';';
    snprintf(name, size, "%.*s", (int)strcspn(given, ";"), given);
}

static void log_row(const char *what, const struct __tgt_kernel_arguments *packet, uint32_t row)
{
    char type[256], name[256];
    ptrdiff_t offset = (ptrdiff_t)((uintptr_t)packet->Args[row] - (uintptr_t)packet->ArgsBase[row]);
    int64_t size = packet->ArgSizes[row];
    const char *mapper = packet->ArgMappers != NULL && packet->ArgMappers[row] != NULL ? ", through a mapper" : "";
    rex_type_text(packet->ArgTypes[row], type, sizeof type);
    name_of(packet, row, name, sizeof name);
    if (packet->ArgTypes[row] & LITERAL)
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s%s0x%" PRIxPTR ", %" PRId64 " bytes", what, row, type,
                packet->ArgNames != NULL ? name : "", packet->ArgNames != NULL ? " = " : "", (uintptr_t)packet->ArgsBase[row], size);
    else if (offset == 0)
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s %" PRId64 " bytes%s", what, row, type, name, size, mapper);
    else
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s %" PRId64 " bytes, base %p%s", what, row, type, name, size, packet->ArgsBase[row],
                mapper);
}

void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet)
{
    const uint32_t *teams = packet->Teams, *threads = packet->Threads;
    if (teams[0] > 0)
        rex_log(REX_LOG_DEBUG,
                "%s: device %" PRId64 ", %u x %u x %u teams of %u x %u x %u threads, %u bytes of dynamic shared memory, %u rows", what,
                device, teams[0], teams[1], teams[2], threads[0], threads[1], threads[2], packet->DynCGroupMem, packet->NumArgs);
    else
        rex_log(REX_LOG_DEBUG, "%s: device %" PRId64 ", %u rows", what, device, packet->NumArgs);
    for (uint32_t row = 0; row < packet->NumArgs; row++)
        log_row(what, packet, row);
}
