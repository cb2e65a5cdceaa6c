/*
 * tracetext.c - writes the text of a trace: lines of JSON, map types in words, and the table of the
 * summary.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/tracetext.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/file.h"
#include "rex/map.h"

/* maximum bytes of rex_line_string()'s TEXT; names of C++ symbols are long */
#define STRING_MAX 1024

void rex_line_bytes(struct rex_line *line, const void *bytes, size_t size)
{
    if (size >= REX_LINE_MAX - line->length) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->length, bytes, size);
    line->length += size;
    line->text[line->length] = '\0';
}

/* Appends NUMBER in base BASE, padded with zeroes to LEAST digits. */
static void add_line_number(struct rex_line *line, uint64_t number, unsigned base, size_t least)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0 || (size_t)(end - at) < least);
    rex_line_bytes(line, at, (size_t)(end - at));
}

void rex_line_number(struct rex_line *line, const char *before, int64_t number)
{
    rex_line_text(line, before);
    if (number < 0)
        rex_line_text(line, "-");
    add_line_number(line, number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 1);
}

void rex_line_hexadecimal(struct rex_line *line, const char *before, uint64_t number)
{
    rex_line_text(line, before);
    rex_line_text(line, "0x");
    add_line_number(line, number, 16, 1);
}

void rex_line_time(struct rex_line *line, const char *before, uint64_t nanoseconds)
{
    rex_line_text(line, before);
    add_line_number(line, nanoseconds / 1000, 10, 1);
    rex_line_text(line, ".");
    add_line_number(line, nanoseconds % 1000, 10, 3);
}

void rex_line_string(struct rex_line *line, const char *before, const char *text)
{
    const char *at = text, *end = at + strnlen(text, STRING_MAX);
    char written[REX_JSON_MAX];
    rex_line_text(line, before);
    rex_line_text(line, "\"");
    while (at < end) {
        const char *plain = at; /* fast path: most names have only these characters */
        while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
            at++;
        rex_line_bytes(line, plain, (size_t)(at - plain));
        if (at < end)
            rex_line_bytes(line, written, rex_json_character(&at, written));
    }
    if (*at != '\0')
        rex_line_text(line, "...");
    rex_line_text(line, "\"");
}

/* ---- types of rows --------------------------------------------------------------------------- */

/* The names of map types, indexed by bit. attach is new in LLVM 22, and fb_nullify in LLVM 23. */
static const char *const type_names[] = {
    "to|",           "from|",      "always|",  "delete|",    "ptr_and_obj|", "target_param|",
    "return_param|", "private|",   "literal|", "implicit|",  "close|",       NULL,
    "present|",      "ompx_hold|", "attach|",  "fb_nullify|"};

/*
 * OMP_MAP_NON_CONTIG: the row's begin points to an array of dimensions, and the row's size is the
 * number of dimensions.
 */
#define NON_CONTIGUOUS INT64_C(0x100000000000)
#define MEMBER_OF ((uint64_t)0xffff << 48)
#define KIND ((uint64_t)REX_MAP_KIND_MASK) /* librex's own bits of a literal, not LLVM's */

void rex_type_text(int64_t type, char text[REX_TYPE_MAX])
{
    uint64_t rest = (uint64_t)type & ~(MEMBER_OF | (type & REX_MAP_LITERAL ? KIND : 0));
    char *end = text;
    for (uint64_t bits = rest; bits != 0; bits &= bits - 1) { /* for each bit that is set */
        size_t i = (size_t)__builtin_ctzll(bits);
        if (i < sizeof type_names / sizeof *type_names && type_names[i] != NULL) {
            end = stpcpy(end, type_names[i]);
            rest &= ~(UINT64_C(1) << i);
        }
    }
    if (type & NON_CONTIGUOUS) {
        end = stpcpy(end, "non_contig|");
        rest &= ~(uint64_t)NON_CONTIGUOUS;
    }
    if (((uint64_t)type & MEMBER_OF) != 0)
        end += sprintf(end, "member_of(%u)|", (unsigned)((uint64_t)type >> 48));
    if (rest != 0)
        end += sprintf(end, "0x%" PRIx64 "|", rest);
    if (end == text)
        strcpy(text, "alloc");
    else
        end[-1] = '\0';
}

/* ---- launches and rows of a map -------------------------------------------------------------- */

#define MOST_ROWS 32

/* libomptarget's layout of a dimension (LLVM 14 to 22). The outermost dimension comes first. */
struct dimension {
    uint64_t offset, count, stride;
};

static uint64_t bytes_of_row(const void *begin, int64_t size, int64_t type)
{
    const struct dimension *dimension = begin;
    if (type & (REX_MAP_LITERAL | REX_MAP_PRIVATE) || size < 0)
        return 0;
    if (!(type & NON_CONTIGUOUS))
        return (uint64_t)size;
    uint64_t bytes = size > 0 ? dimension[size - 1].stride : 0;
    for (int64_t i = 0; i < size; i++)
        if (__builtin_mul_overflow(bytes, dimension[i].count, &bytes))
            return INT64_MAX;
    return bytes < INT64_MAX ? bytes : INT64_MAX;
}

uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types,
                        int64_t direction)
{
    uint64_t all = 0;
    for (int64_t i = 0; begin != NULL && sizes != NULL && types != NULL && i < count; i++)
        if (types[i] & direction) {
            all += bytes_of_row(begin[i], sizes[i], types[i]); /* no overflow: both <= INT64_MAX */
            all = all < INT64_MAX ? all : INT64_MAX;
        }
    return all;
}

void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes,
                   const int64_t *types, bool (*is_pinned)(const void *address))
{
    if (count <= 0 || begin == NULL || sizes == NULL || types == NULL)
        return;
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++) {
        char words[REX_TYPE_MAX];
        rex_type_text(types[i], words);
        rex_line_text(line, i == 0 ? ",\"rows\":[\"" : ",\"");
        rex_line_text(line, words);
        if (types[i] & REX_MAP_LITERAL) {
            rex_line_hexadecimal(line, " ", (uintptr_t)begin[i]);
            rex_line_number(line, ", ", sizes[i]);
            rex_line_text(line, " bytes\"");
            continue;
        }
        bool is_whole = !(types[i] & NON_CONTIGUOUS);
        rex_line_number(line, " ",
                        is_whole ? sizes[i] : (int64_t)bytes_of_row(begin[i], sizes[i], types[i]));
        rex_line_hexadecimal(line, " bytes at ", (uintptr_t)begin[i]);
        rex_line_text(line, is_pinned(begin[i]) ? ", pinned\"" : "\"");
    }
    if (count > MOST_ROWS) {
        rex_line_number(line, ",\"and ", count - MOST_ROWS);
        rex_line_text(line, " more\"");
    }
    rex_line_text(line, "]");
}

void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3],
                     const uint32_t threads[3], int64_t arguments)
{
    rex_line_hexadecimal(line, ",\"key\":\"", (uintptr_t)key);
    for (size_t i = 0; i < 3; i++)
        rex_line_number(line, i == 0 ? "\",\"teams\":[" : ",", teams[i]);
    for (size_t i = 0; i < 3; i++)
        rex_line_number(line, i == 0 ? "],\"threads\":[" : ",", threads[i]);
    rex_line_number(line, "],\"arguments\":", arguments);
}

/* ---- the summary ----------------------------------------------------------------------------- */

/*
 * The table has three parts: kernels, transfers and phases. If MOST rows are used, a new name gets
 * no row of its own. In that case each part has a row "others" for all names without a row.
 */
#define ROWS 2048
#define MOST (ROWS / 2)
#define NAME_WIDTH 40
#define REASONS 32 /* maximum number of reasons; the last one stands for all further reasons */

struct row {
    char name[128];           /* cut off if it is longer */
    uint64_t hash;            /* of the whole name, `counted`, `by` and `reason` */
    enum rex_counted counted; /* part of the table that has the row; NOWHERE: the row is free */
    const char *by;           /* the backend of a kernel, or NULL */
    unsigned reason;          /* index in `reasons` of the summary, plus 1; 0: no reason */
    uint64_t calls, total, most, to, from;
};

static struct {
    struct row rows[ROWS];
    unsigned used;
    char reasons[REASONS][256]; /* reasons why the driver did not launch; "": unused */
    /* number of launches outside queues; of these, the number of deferred launches */
    uint64_t launches, deferred;
} summary;

static struct row *find_summary_row(enum rex_counted counted, const char *name, const char *by,
                                    unsigned reason)
{
    uint64_t hash = rex_hash_string(name) + (uint64_t)counted + ((uint64_t)reason << 8) +
                    (by != NULL ? rex_hash_string(by) : 0);
    size_t at = hash % ROWS;
    while (summary.rows[at].counted != REX_COUNTED_NOWHERE && summary.rows[at].hash != hash)
        at = (at + 1) % ROWS;
    struct row *row = &summary.rows[at];
    if (row->counted == REX_COUNTED_NOWHERE) {
        row->hash = hash;
        row->by = by;
        row->reason = reason;
        snprintf(row->name, sizeof row->name, "%s", name);
        rex_escape(row->name, sizeof row->name, "");
    }
    return row;
}

void rex_summary_add(const struct rex_slice *slice)
{
    unsigned reason = 0; /* during the search, an index in `reasons`; then `reason` of the row */
    bool is_kernel = slice->counted == REX_COUNTED_KERNEL;
    summary.launches += is_kernel && (slice->track == NULL || slice->is_deferred);
    summary.deferred += !is_kernel && slice->is_deferred;
    if (slice->counted == REX_COUNTED_NOWHERE)
        return;
    if (slice->because != NULL) {
        while (reason < REASONS - 1 && *summary.reasons[reason] != '\0' &&
               strncmp(summary.reasons[reason], slice->because, sizeof *summary.reasons - 1) != 0)
            reason++;
        if (*summary.reasons[reason] == '\0')
            snprintf(summary.reasons[reason], sizeof *summary.reasons, "%s",
                     reason < REASONS - 1 ? slice->because : "other reasons");
        reason++;
    }
    struct row *row = find_summary_row(slice->counted, slice->name, slice->by, reason);
    if (row->counted == REX_COUNTED_NOWHERE && summary.used >= MOST)
        row = find_summary_row(slice->counted, "others", NULL, 0);
    summary.used += row->counted == REX_COUNTED_NOWHERE;
    REX_ASSERT(summary.used < ROWS); /* without a free row, find_summary_row() would not end */
    row->counted = slice->counted;
    uint64_t took = slice->end - slice->begin;
    row->calls++;
    row->total += took;
    row->most = took > row->most ? took : row->most;
    row->to += slice->to;
    row->from += slice->from;
}

void rex_summary_forget(void)
{
    memset(&summary, 0, sizeof summary);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Writes formatted text to standard error. A closed pipe does not end the process. */
static __attribute__((format(printf, 1, 2))) void print_summary(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rex_file_say(text);
}

/* Orders rows by total time, the longest first. Free rows, whose total is 0, come last. */
static int compare_rows(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void print_part(enum rex_counted counted, const char *title)
{
    bool is_titled = false;
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &summary.rows[i];
        if (row->counted != counted)
            continue;
        if (!is_titled)
            print_summary("  %-*s %9s %13s %11s %11s%s%s\n", NAME_WIDTH, title, "calls", "total us",
                          "mean us", "max us",
                          counted != REX_COUNTED_PHASE ? "        bytes to      bytes from" : "",
                          counted == REX_COUNTED_KERNEL ? "  by" : "");
        is_titled = true;
        print_summary("  %-*s %9llu %13.1f %11.1f %11.1f", NAME_WIDTH, row->name,
                      (unsigned long long)row->calls, (double)row->total / 1e3,
                      (double)row->total / 1e3 / (double)row->calls, (double)row->most / 1e3);
        if (counted != REX_COUNTED_PHASE)
            print_summary(" %15llu %15llu", (unsigned long long)row->to,
                          (unsigned long long)row->from);
        if (row->by != NULL)
            print_summary("  %s", row->by);
        if (row->reason != 0)
            print_summary(" [%u]", row->reason);
        print_summary("\n");
    }
    if (is_titled)
        print_summary("\n");
}

void rex_summary_print(void)
{
    char program[256];
    if (summary.used == 0)
        return;
    qsort(summary.rows, ROWS, sizeof *summary.rows, compare_rows);
    snprintf(program, sizeof program, "%s", program_invocation_short_name);
    rex_escape(program, sizeof program, "");
    print_summary("\nlibrex: summary of %s, process %ld\n\n", program, (long)getpid());
    print_part(REX_COUNTED_KERNEL, "kernel");
    if (summary.deferred > 0)
        print_summary("  launches that returned before their kernels were done: %llu of %llu\n\n",
                      (unsigned long long)summary.deferred, (unsigned long long)summary.launches);
    for (unsigned i = 0; i < REASONS && *summary.reasons[i] != '\0'; i++) {
        rex_escape(summary.reasons[i], sizeof *summary.reasons, "");
        print_summary("  [%u] %s\n", i + 1, summary.reasons[i]);
    }
    if (*summary.reasons[0] != '\0')
        print_summary("\n");
    print_part(REX_COUNTED_TRANSFER, "data");
    print_part(REX_COUNTED_PHASE, "start and end");
}
