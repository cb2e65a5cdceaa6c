/*
 * rowlog.c - launches and data calls, row by row, in the log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/rowlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/maptype.h"

#define LITERAL 0x100

/* What clang writes is ";x[0:n];file.c;12;3;;"; other generators give the name alone. */
static void name_of(const struct __tgt_kernel_arguments *packet, uint32_t row, char *name,
                    size_t size)
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
    const char *mapper =
        packet->ArgMappers != NULL && packet->ArgMappers[row] != NULL ? ", through a mapper" : "";
    rex_type_text(packet->ArgTypes[row], type, sizeof type);
    name_of(packet, row, name, sizeof name);
    if (packet->ArgTypes[row] & LITERAL)
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s%s0x%" PRIxPTR ", %" PRId64 " bytes", what, row,
                type, packet->ArgNames != NULL ? name : "", packet->ArgNames != NULL ? " = " : "",
                (uintptr_t)packet->ArgsBase[row], size);
    else if (offset == 0)
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s %" PRId64 " bytes%s", what, row, type, name, size,
                mapper);
    else
        rex_log(REX_LOG_DEBUG, "%s: row %u: %s %s %" PRId64 " bytes, base %p%s", what, row, type,
                name, size, packet->ArgsBase[row], mapper);
}

void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet)
{
    const uint32_t *teams = packet->Teams, *threads = packet->Threads;
    if (teams[0] > 0)
        rex_log(REX_LOG_DEBUG,
                "%s: device %" PRId64 ", %u x %u x %u teams of %u x %u x %u threads, %u bytes of "
                "dynamic shared memory, %u rows",
                what, device, teams[0], teams[1], teams[2], threads[0], threads[1], threads[2],
                packet->DynCGroupMem, packet->NumArgs);
    else
        rex_log(REX_LOG_DEBUG, "%s: device %" PRId64 ", %u rows", what, device, packet->NumArgs);
    for (uint32_t row = 0; row < packet->NumArgs; row++)
        log_row(what, packet, row);
}
