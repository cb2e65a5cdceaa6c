/*
 * presence.c - rows before libomptarget sees them: each by itself, against what is mapped, and against each other. What is refused, with
 * every word, and what the others will map.
 *
 * libomptarget is a fake whose mappings the test makes. The program exports the forwarders, so that librex finds itself in front.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "refused.h"

#include "memory/mappings.h"
#include "memory/presence.h"
#include "omp/forward.h"
#include "rex/entry.h"
#include "rex/queue.h"

static char plain_id;
static struct __tgt_offload_entry entry[] = {{&plain_id, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entry, .entries_end = entry + 1, .image_name = "tests/data/sm_90.cubin"};

#define TO REX_MAP_TO
#define FROM REX_MAP_FROM
#define BOTH REX_MAP_TOFROM
#define POINTER REX_MAP_PTR_AND_OBJ
#define PRESENT REX_MAP_PRESENT
#define IMPLICIT REX_MAP_IMPLICIT
#define LITERAL REX_MAP_LITERAL
#define PRIVATE REX_MAP_PRIVATE
#define IN(row) REX_MAP_MEMBER_OF(row)

/* From NOWHERE on a row is at NULL; from MAPPED on so many bytes are mapped. */
enum { MOST = 4, BYTES = 1024, MAPPED = 512, MAPPED_BYTES = 64, NOWHERE = 5000 };
static char bytes[BYTES] __attribute__((aligned(64)));

struct row {
    int base, begin, size;
    int64_t type;
};

static void *at(int place)
{
    return place < NOWHERE ? bytes + place : NULL;
}

static struct rex_map map_of(const struct row *rows, int count)
{
    static void *base[MOST], *begin[MOST];
    static int64_t sizes[MOST], types[MOST];
    for (int i = 0; i < count; i++) {
        base[i] = at(rows[i].base);
        begin[i] = at(rows[i].begin);
        sizes[i] = rows[i].size;
        types[i] = rows[i].type;
    }
    return (struct rex_map){.count = count, .base = base, .begin = begin, .sizes = sizes, .types = types};
}

/* ---- each by itself ------------------------------------------------------------------------------------------------------------------ */

/* What is wrong with the second of two rows, or with none. */
struct wrong {
    enum rex_purpose purpose;
    struct row row;
    const char *words; /* NULL: nothing */
};

TEST(test_rows)
{
    static const char arguments[] = "is a kernel's argument, and this is not a launch",
                      strange[] = "has type bits that are no map type",
                      address[] = "asks for its device address, which only a data region gives back",
                      deletes[] = "deletes, which only the end of a mapping can",
                      outside[] = "does not lie in the row that it is a member of: memory elsewhere needs an attached pointer",
                      wide[] = "is a value of more than 8 bytes, which only the CUDA driver can pass: map it, or use REX_FIRSTPRIVATE";
    static const struct wrong all[] = {
        {REX_FOR_BEGIN, {0, 0, -1, TO}, "has a negative size"},
        {REX_FOR_BEGIN, {0, 0, 0, TO}, NULL},
        {REX_FOR_BEGIN, {0, 0, 8, TO | IN(1)}, "is a member of a row that does not come before it"},
        {REX_FOR_BEGIN, {0, 0, 8, TO | IN(2)}, "is a member of a row that does not come before it"},
        {REX_FOR_BEGIN, {0, 56, 8, TO | IN(0)}, NULL},
        {REX_FOR_BEGIN, {0, 57, 8, TO | IN(0)}, outside},
        {REX_FOR_END, {0, 57, 8, TO | IN(0)}, outside},
        {REX_FOR_UPDATE, {0, 57, 8, TO | IN(0)}, NULL},
        {REX_FOR_BEGIN, {0, 100, 8, TO | IN(0)}, outside},
        {REX_FOR_BEGIN, {0, 100, 0, TO | IN(0)}, NULL},
        {REX_FOR_BEGIN, {0, 100, 8, TO | POINTER | IN(0)}, NULL},
        {REX_FOR_LAUNCH, {0, 100, 8, LITERAL | IN(0)}, NULL},
        {REX_FOR_BEGIN, {0, NOWHERE, 1, TO}, "begins at NULL"},
        {REX_FOR_BEGIN, {0, NOWHERE, 0, TO}, NULL},
        {REX_FOR_LAUNCH, {0, NOWHERE, 8, LITERAL}, NULL},
        {REX_FOR_BEGIN, {NOWHERE, 0, 8, TO | POINTER}, "is attached to a pointer at NULL"},
        {REX_FOR_BEGIN, {NOWHERE, 0, 8, TO}, NULL},
        {REX_FOR_LAUNCH, {NOWHERE, 0, 8, LITERAL | POINTER}, NULL},
        {REX_FOR_UPDATE, {0, 0, 8, 0}, "is neither to nor from"},
        {REX_FOR_UPDATE, {0, 0, 8, PRESENT}, "is neither to nor from"},
        {REX_FOR_UPDATE, {0, 0, 8, TO}, NULL},
        {REX_FOR_UPDATE, {0, 0, 8, FROM}, NULL},
        {REX_FOR_BEGIN, {0, 0, 8, 0}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 9, LITERAL}, wide},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 9, LITERAL | POINTER}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 9, TO}, NULL},
        {REX_FOR_QUEUE, {0, 0, 9, LITERAL}, NULL},
        {REX_FOR_BEGIN, {0, 0, 8, INT64_C(0x800)}, strange},
        {REX_FOR_BEGIN, {0, 0, 8, REX_MAP_KIND(REX_KIND_I32)}, strange},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | REX_MAP_KIND(REX_KIND_I32)}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | PRIVATE}, "is both a literal and private"},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | TO}, "is a literal and asks for a copy"},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | FROM}, "is a literal and asks for a copy"},
        {REX_FOR_END, {0, 0, 8, LITERAL | REX_MAP_DELETE}, "is a literal and asks for a copy"},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | REX_MAP_ALWAYS}, "is a literal and asks for a copy"},
        {REX_FOR_LAUNCH, {0, 0, 8, LITERAL | TO | POINTER}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 8, PRIVATE | TO}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 8, PRIVATE | FROM}, "is private and asks for a copy back"},
        {REX_FOR_BEGIN, {0, 0, 8, LITERAL}, arguments},
        {REX_FOR_END, {0, 0, 8, PRIVATE}, arguments},
        {REX_FOR_UPDATE, {0, 0, 8, PRIVATE | TO}, arguments},
        {REX_FOR_BEGIN, {0, 0, 8, LITERAL | POINTER}, NULL},
        {REX_FOR_QUEUE, {0, 0, 8, PRIVATE}, "is private, which a queue has no memory for: pass a value, or map it"},
        {REX_FOR_QUEUE, {0, 0, 8, TO | REX_MAP_ALWAYS},
         "asks for a copy at every launch, which a queue does not make: use rex_queue_update()"},
        {REX_FOR_LAUNCH, {0, 0, 8, TO | REX_MAP_ALWAYS}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 8, REX_MAP_RETURN_PARAM}, address},
        {REX_FOR_QUEUE, {0, 0, 8, REX_MAP_RETURN_PARAM}, address},
        {REX_FOR_BEGIN, {0, 0, 8, REX_MAP_RETURN_PARAM}, NULL},
        {REX_FOR_LAUNCH, {0, 0, 8, REX_MAP_DELETE}, deletes},
        {REX_FOR_QUEUE, {0, 0, 8, REX_MAP_DELETE}, deletes},
        {REX_FOR_BEGIN, {0, 0, 8, REX_MAP_DELETE}, deletes},
        {REX_FOR_END, {0, 0, 8, REX_MAP_DELETE}, NULL},
        {REX_FOR_UPDATE, {0, 0, 8, TO | REX_MAP_DELETE}, NULL},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        char said[512];
        const struct row rows[] = {{0, 0, 64, TO}, all[i].row}, *row = &all[i].row;
        const struct rex_map map = map_of(rows, 2);
        int result = rex_check_rows(&map, all[i].purpose, "a test");
        if (result != (all[i].words != NULL ? REX_EINVAL : REX_OK))
            fail_msg("row %zu: %d", i, result);
        if (all[i].words == NULL)
            continue;
        snprintf(said, sizeof said, "a test: map row 1 %s (base %p, begin %p, %d bytes, type 0x%llx)", all[i].words, at(row->base),
                 at(row->begin), row->size, (unsigned long long)row->type);
        assert_string_equal(rex_last_error(), said);
    }
}

TEST(test_columns)
{
    const struct row rows[] = {{0, 0, 8, TO}, {8, 8, 8, TO}};
    assert_int_equal(rex_check_rows(NULL, REX_FOR_BEGIN, "a test"), REX_OK);
    for (int missing = 0; missing <= 4; missing++) {
        struct rex_map map = map_of(rows, 2);
        *(missing == 0 ? &map.base : missing == 1 ? &map.begin : &map.mappers) = NULL;
        *(missing == 2 ? &map.sizes : missing == 3 ? &map.types : &(int64_t *){NULL}) = NULL;
        assert_int_equal(rex_check_rows(&map, REX_FOR_BEGIN, "a test"), missing < 4 ? REX_EINVAL : REX_OK);
        if (missing < 4)
            assert_string_equal(rex_last_error(), "a test: a map of 2 rows with a column that is NULL");
        map.count = 0;
        assert_int_equal(rex_check_rows(&map, REX_FOR_BEGIN, "a test"), REX_OK);
    }
    struct rex_map map = {.count = -3};
    assert_int_equal(rex_check_rows(&map, REX_FOR_BEGIN, "a test"), REX_EINVAL);
    assert_string_equal(rex_last_error(), "a test: a map with a negative number of rows, -3");
}

/* ---- against what is mapped, and each other -------------------------------------------------------------------------------------------- */

static void start(int release)
{
    setenv("REX_LOG", "off", 1);
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)bytes + MAPPED, MAPPED_BYTES, 0x10000000};
}

struct made {
    int begin, end, row;
    bool pointer, may_exceed;
};

/* What comes of ROWS: an error, whose message is NAMED, after the row's number; or what they will map. */
struct looked {
    int from, to; /* of these releases */
    enum rex_purpose purpose;
    struct row rows[MOST];
    int count, result;
    const char *named; /* NULL: no error */
    struct made made[MOST];
    int made_count;
};

enum { EARLIEST = 14, LAST = 24 };
#define ALL EARLIEST, LAST
#define FAILS(error, message) error, message, {{0, 0, 0, false, false}}, 0
#define MAPS(count, ...) REX_OK, NULL, {__VA_ARGS__}, count
#define ABSENT(row, size, place) FAILS(REX_EABSENT, "row " #row ", " #size " bytes at [" #place "], is not mapped on device 0")
#define IN_PART(row, size, place) FAILS(REX_EABSENT, "row " #row ", " #size " bytes at [" #place "], is mapped in part on device 0")
#define OVER_MAPPED(row, size, place) \
    FAILS(REX_EOVERLAP, "row " #row ", " #size " bytes at [" #place "], is mapped in part on device 0: libomptarget aborts on that")
#define OVER_ROW(row, size, place, other, other_size, other_place, rest)                                                        \
    FAILS(REX_EOVERLAP, "row " #row ", " #size " bytes at [" #place "], overlaps row " #other ", " #other_size                  \
                        " bytes at [" #other_place "], and does not lie in it: libomptarget aborts on that, or copies past its end" rest)
#define LATER(row, place, other, release)                                                                                   \
    FAILS(REX_EOVERLAP, "row " #row ", of no length at [" #place "], lies in row " #other ": LLVM " #release " aborts on that, unless " \
                        "it comes after it")

static const struct looked looks[] = {
    /* what is not mapped will be, with the pointer that no parent maps */
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}}, 1, MAPS(1, {0, 8, 0, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, 0, 8, TO}}, 1, MAPS(1, {0, 8, 0, false, false})},
    {ALL, REX_FOR_END, {{0, 0, 8, TO}}, 1, MAPS(0, {0, 0, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, LITERAL | POINTER}}, 1, MAPS(0, {0, 0, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{MAPPED, MAPPED, 64, TO}}, 1, MAPS(0, {0, 0, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{100, 0, 16, TO | POINTER}}, 1, MAPS(2, {0, 16, 0, false, false}, {100, 108, 0, true, false})},
    {ALL, REX_FOR_BEGIN, {{MAPPED + 56, 0, 16, TO | POINTER}}, 1, MAPS(1, {0, 16, 0, false, false})},
    {ALL, REX_FOR_END, {{100, MAPPED, 16, TO | POINTER}}, 1, MAPS(0, {0, 0, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, 0}, {56, 128, 16, TO | POINTER | IN(0)}}, 2, MAPS(2, {0, 64, 0, false, false}, {128, 144, 1, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, 0}, {200, 128, 16, TO | POINTER | IN(0)}}, 2,
     MAPS(3, {0, 64, 0, false, false}, {128, 144, 1, false, false}, {200, 208, 1, true, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, 0}, {60, 128, 16, TO | POINTER | IN(0)}}, 2, OVER_ROW(1, 8, 60, 0, 64, 0, "")},
    {ALL, REX_FOR_BEGIN, {{0, 520, 80, IMPLICIT}, {580, 128, 16, TO | POINTER | IN(0)}}, 2, MAPS(1, {128, 144, 1, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, 0}, {0, 8, 8, TO | IN(0)}}, 2, MAPS(1, {0, 64, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{MAPPED + 60, 0, 16, TO | POINTER}}, 1, OVER_MAPPED(0, 8, MAPPED + 60)},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, MAPPED - 8, 16, TO}}, 2, OVER_MAPPED(1, 16, MAPPED - 8)},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, IMPLICIT}}, 1, MAPS(1, {0, 8, 0, false, true})},
    {14, 22, REX_FOR_BEGIN, {{0, 0, 8, TO | IMPLICIT}}, 1, MAPS(1, {0, 8, 0, false, true})},
    {23, LAST, REX_FOR_BEGIN, {{0, 0, 8, TO | IMPLICIT}}, 1, MAPS(1, {0, 8, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO | IMPLICIT | REX_MAP_ALWAYS}}, 1, MAPS(1, {0, 8, 0, false, false})},
    /* parents begin where an aligned word does */
    {14, 16, REX_FOR_BEGIN, {{4, 4, 64, 0}, {4, 12, 8, TO | IN(0)}}, 2, MAPS(1, {0, 68, 0, false, false})},
    {17, LAST, REX_FOR_BEGIN, {{4, 4, 64, 0}, {4, 12, 8, TO | IN(0)}}, 2, MAPS(1, {4, 68, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{8, 8, 64, 0}, {8, 12, 8, TO | IN(0)}}, 2, MAPS(1, {8, 72, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{4, 4, 64, TO}, {72, 72, 8, TO}}, 2, MAPS(2, {4, 68, 0, false, false}, {72, 80, 1, false, false})},
    {14, 16, REX_FOR_BEGIN, {{0, 0, 64, 0}, {100, 129, 16, TO | POINTER | IN(0)}, {0, 130, 8, TO | IN(1)}}, 3,
     MAPS(3, {0, 64, 0, false, false}, {100, 108, 1, true, false}, {129, 145, 1, false, false})},
    /* what has to be there */
    {ALL, REX_FOR_BEGIN, {{0, 100, 8, TO}, {0, 8, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 8)},
    {ALL, REX_FOR_UPDATE, {{0, MAPPED, 8, TO}, {0, MAPPED - 4, 8, TO}}, 2, IN_PART(1, 8, MAPPED - 4)},
    {ALL, REX_FOR_END, {{0, MAPPED, 8, TO}, {0, 16, 4, PRESENT}}, 2, ABSENT(1, 4, 16)},
    {ALL, REX_FOR_BEGIN, {{0, 16, 0, PRESENT}}, 1, ABSENT(0, 0, 16)},
    {ALL, REX_FOR_BEGIN, {{0, MAPPED, 0, PRESENT}}, 1, MAPS(0, {0, 0, 0, false, false})},
    /* or will be by then */
    {14, 22, REX_FOR_BEGIN, {{0, 0, 64, TO}, {0, 56, 8, TO | PRESENT}}, 2, MAPS(1, {0, 64, 0, false, false})},
    {23, LAST, REX_FOR_BEGIN, {{0, 0, 64, TO}, {0, 56, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 56)},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, TO}, {0, 57, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 57)},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, TO}, {0, 64, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 64)},
    {ALL, REX_FOR_BEGIN, {{0, 8, 64, TO}, {0, 7, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 7)},
    {ALL, REX_FOR_BEGIN, {{0, 8, 8, TO | PRESENT}, {0, 0, 64, TO}}, 2, ABSENT(0, 8, 8)},
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, IMPLICIT}, {0, 8, 8, TO | PRESENT}}, 2, ABSENT(1, 8, 8)},
    {ALL, REX_FOR_END, {{0, 0, 64, TO}, {0, 8, 8, PRESENT}}, 2, ABSENT(1, 8, 8)},
    /* rows of one call: a row may lie in an earlier one, whatever its address */
    {ALL, REX_FOR_BEGIN, {{0, 0, 64, TO}, {0, 0, 8, TO}, {0, 56, 8, TO}}, 3, MAPS(1, {0, 64, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 8, 8, TO}, {0, 16, 8, TO}}, 3,
     MAPS(3, {0, 8, 0, false, false}, {8, 16, 1, false, false}, {16, 24, 2, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 16, 8, TO}, {0, 8, 8, TO}, {0, 0, 8, TO}}, 3,
     MAPS(3, {0, 8, 2, false, false}, {8, 16, 1, false, false}, {16, 24, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 0, 64, TO}}, 2, OVER_ROW(1, 64, 0, 0, 8, 0, "; put the larger row first")},
    {ALL, REX_FOR_BEGIN, {{0, 8, 8, TO}, {0, 4, 8, TO}}, 2, OVER_ROW(1, 8, 4, 0, 8, 8, "")},
    {ALL, REX_FOR_BEGIN, {{0, 4, 8, TO}, {0, 100, 1, TO}, {0, 8, 16, TO}}, 3, OVER_ROW(2, 16, 8, 0, 8, 4, "")},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 4, 8, IMPLICIT}}, 2, MAPS(1, {0, 8, 0, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 4, 8, IMPLICIT}, {0, 10, 4, TO}}, 3, MAPS(2, {0, 8, 0, false, false}, {10, 14, 2, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 4, 8, IMPLICIT}, {0, 10, 4, TO}, {0, 12, 4, TO}}, 4, OVER_ROW(3, 4, 12, 2, 4, 10, "")},
    {14, 22, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 4, 8, TO | IMPLICIT}}, 2, MAPS(1, {0, 8, 0, false, false})},
    {23, LAST, REX_FOR_BEGIN, {{0, 0, 8, TO}, {0, 4, 8, TO | IMPLICIT}}, 2, OVER_ROW(1, 8, 4, 0, 8, 0, "")},
    /* a row of no length ends with the launch what a later one maps */
    {14, 14, REX_FOR_LAUNCH, {{0, 8, 0, TO}, {0, 8, 8, TO}}, 2, LATER(0, 8, 1, 14)},
    {14, 14, REX_FOR_LAUNCH, {{0, 15, 0, TO}, {0, 100, 8, TO}, {0, 8, 8, TO}}, 3, LATER(0, 15, 2, 14)},
    {15, LAST, REX_FOR_LAUNCH, {{0, 8, 0, TO}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
    {ALL, REX_FOR_BEGIN, {{0, 8, 0, TO}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, 8, 8, TO}, {0, 8, 0, TO}}, 2, MAPS(1, {8, 16, 0, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, 16, 0, TO}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, 7, 0, TO}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, 8, 0, LITERAL}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
    {ALL, REX_FOR_LAUNCH, {{0, NOWHERE, 0, TO}, {0, 8, 8, TO}}, 2, MAPS(1, {8, 16, 1, false, false})},
};

/* "[N]" becomes the address of bytes[N]. */
static void name_addresses(const char *words, char *text, size_t size)
{
    size_t used = 0;
    for (; *words != '\0' && used + 1 < size; words++) {
        int place = 0, more = 0;
        char sign = '+';
        if (sscanf(words, "[MAPPED %c %d]%n", &sign, &more, &place) == 2 && place > 0)
            used += (size_t)snprintf(text + used, size - used, "%p", at(sign == '+' ? MAPPED + more : MAPPED - more));
        else if (sscanf(words, "[%d]%n", &more, &place) == 1 && place > 0)
            used += (size_t)snprintf(text + used, size - used, "%p", at(more));
        else
            text[used++] = *words;
        words += place > 0 ? place - 1 : 0;
    }
    text[used] = '\0';
}

static void look(const struct looked *looked)
{
    char words[512], said[600];
    struct rex_new_rows rows;
    const struct rex_map map = map_of(looked->rows, looked->count);
    rex_new_rows_open(&rows);
    int result = rex_check_presence(&map, looked->purpose, 0, "a test", &rows);
    if (result != looked->result)
        fprintf(stderr, "look %td: %d, %s\n", looked - looks, result, rex_last_error());
    CHECK_EQUAL(result, looked->result);
    if (looked->named != NULL) {
        name_addresses(looked->named, words, sizeof words);
        snprintf(said, sizeof said, "a test: map %s", words);
        if (strcmp(rex_last_error(), said) != 0)
            fprintf(stderr, "look %td: \"%s\", not \"%s\"\n", looked - looks, rex_last_error(), said);
        CHECK(strcmp(rex_last_error(), said) == 0);
    } else {
        rex_new_rows_sort(&rows);
        if (rows.count != (size_t)looked->made_count)
            fprintf(stderr, "look %td\n", looked - looks);
        CHECK_EQUAL(rows.count, looked->made_count);
        for (int i = 0; i < looked->made_count; i++) {
            const struct rex_new_row *row = &rex_new_rows_all(&rows)[i];
            const struct made *made = &looked->made[i];
            CHECK(row->begin == (uintptr_t)at(made->begin) && row->end == (uintptr_t)at(made->end));
            CHECK(row->row == made->row && row->pointer == made->pointer && row->may_exceed == made->may_exceed);
        }
    }
    rex_new_rows_free(&rows);
}

TEST_ON_FAKES(look_at_all, ALL_RELEASES)
{
    start(release);
    for (size_t i = 0; i < COUNT(looks); i++)
        if (looks[i].from <= release && release <= looks[i].to)
            look(&looks[i]);
}

/* ---- which rows are looked for ---------------------------------------------------------------------------------------------------------- */

TEST(test_looked_up)
{
    static const int64_t always = REX_MAP_ALWAYS;
    static const struct {
        enum rex_purpose purpose;
        int size;
        int64_t type;
        bool is_looked_up;
    } all[] = {
        {REX_FOR_LAUNCH, 8, LITERAL, false},
        {REX_FOR_LAUNCH, 8, PRIVATE | PRESENT, false},
        {REX_FOR_QUEUE, 8, 0, true},
        {REX_FOR_QUEUE, 0, TO, false},
        {REX_FOR_QUEUE, 0, IMPLICIT, true},
        {REX_FOR_QUEUE, 0, PRESENT, true},
        {REX_FOR_BEGIN, 0, BOTH | IMPLICIT, false},
        {REX_FOR_BEGIN, 0, PRESENT, true},
        {REX_FOR_BEGIN, 1, 0, true},
        {REX_FOR_LAUNCH, 1, 0, true},
        {REX_FOR_BEGIN, 8, TO | IN(0), false},
        {REX_FOR_BEGIN, 8, TO | IN(0) | POINTER, true},
        {REX_FOR_UPDATE, 8, 0, false},
        {REX_FOR_UPDATE, 8, TO, true},
        {REX_FOR_UPDATE, 8, FROM | IN(0), true},
        {REX_FOR_UPDATE, 8, PRESENT, true},
        {REX_FOR_END, 8, BOTH, false},
        {REX_FOR_END, 8, PRESENT, true},
        {REX_FOR_END, 8, TO | IMPLICIT, false},
        {REX_FOR_END, 8, FROM | IMPLICIT, true},
        {REX_FOR_END, 8, TO | IMPLICIT | always, false},
        {REX_FOR_END, 8, FROM | IN(0), false},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        const struct row rows[] = {{0, 0, 64, 0}, {0, 0, all[i].size, all[i].type}};
        const struct rex_map map = map_of(rows, 2);
        if (rex_row_is_looked_up(&map, 1, all[i].purpose) != all[i].is_looked_up)
            fail_msg("row %zu", i);
    }
}

/* Globals come with their image, which an empty region loads. */
TEST_IN_CHILD(load)
{
    start(19);
    uint32_t begins = the_record()->counts[FAKE_BEGIN];
    CHECK_EQUAL(rex_presence_after_load(bytes + MAPPED + 60, 8, 0), REX_PRESENT_IN_PART);
    CHECK_EQUAL(the_record()->counts[FAKE_BEGIN], begins + 1);
    CHECK(last_call(FAKE_BEGIN)->packet.rows == 0 && last_call(FAKE_BEGIN)->device == 0);
    the_record()->devices = 2;
    CHECK_EQUAL(rex_presence_after_load(bytes, 8, 1), REX_ABSENT);
    CHECK_EQUAL(last_call(FAKE_BEGIN)->device, 1);
    CHECK_EQUAL(rex_presence_after_load(bytes + MAPPED, MAPPED_BYTES, 0), REX_PRESENT_WHOLE);
}

/* ---- the index -------------------------------------------------------------------------------------------------------------------------- */

/* What it has of the bytes from BEGIN to END, whole. */
static bool is_known(int begin, int end)
{
    struct rex_mapping found;
    bool is_found = rex_mapping_find(bytes + begin, (size_t)(end - begin), 0, &found);
    return is_found && found.begin == (uintptr_t)bytes + (uintptr_t)begin && found.end == (uintptr_t)bytes + (uintptr_t)end;
}

/* Another thread begins or ends the mapping where the first byte has been asked for, and not yet the last. */
static int changes; /* to come */

static void change(const void *address)
{
    struct fake_mapping *mapping = &the_record()->mappings[0];
    if (address != bytes + MAPPED || changes == 0)
        return;
    changes--;
    mapping->size = mapping->size == 0 ? MAPPED_BYTES : 0;
}

TEST_IN_CHILD(meet_changes)
{
    start(22);
    the_record()->on_lookup = change;
    for (int i = 1; i <= 5; i++) { /* it is mapped at first, and after an even number of changes */
        changes = i;
        the_record()->mappings[0].size = MAPPED_BYTES;
        CHECK_EQUAL(rex_memory_presence(bytes + MAPPED, MAPPED_BYTES, 0), i % 2 == 0 ? REX_PRESENT_WHOLE : REX_ABSENT);
        CHECK_EQUAL(changes, 0);
    }
    the_record()->mappings[0].size = MAPPED_BYTES;
    CHECK_EQUAL(rex_memory_presence(bytes + MAPPED, MAPPED_BYTES + 1, 0), REX_PRESENT_IN_PART);
}

static void check_and_map(const struct rex_map *map, enum rex_purpose purpose)
{
    struct rex_new_rows rows;
    rex_new_rows_open(&rows);
    CHECK_EQUAL(rex_check_presence(map, purpose, 0, "a test", &rows), REX_OK);
    rex_new_rows_are_mapped(&rows, map, purpose, 0);
    rex_new_rows_free(&rows);
}

/* What a region maps stays, of what a launch maps the pointers; what a mapper maps nobody knows. */
TEST_OF_EACH(index_rows, bool, launches, false, true)
{
    static const struct row rows[] = {{0, 64, 16, TO}, {100, 32, 8, TO | POINTER}, {0, 0, 8, TO}, {0, 200, 1, TO}};
    void *mappers[COUNT(rows)] = {NULL, NULL, bytes, NULL};
    start(22);
    CHECK(rex_forward_first());
    struct rex_map map = map_of(rows, COUNT(rows));
    map.mappers = mappers;
    check_and_map(&map, launches ? REX_FOR_LAUNCH : REX_FOR_BEGIN);
    CHECK(is_known(100, 108) && !is_known(0, 8));
    CHECK_EQUAL(is_known(64, 80), !launches);
    CHECK_EQUAL(is_known(32, 40), !launches);
    CHECK_EQUAL(is_known(200, 201), !launches);
}

/* Of any number of rows, in any order. */
TEST_OF_EACH(index_many, int, count, 1, 15, 16, 17, 100)
{
    enum { MANY = 100 };
    void *begin[MANY];
    int64_t sizes[MANY], types[MANY];
    start(22);
    struct rex_map map = {.count = count, .base = begin, .begin = begin, .sizes = sizes, .types = types};
    for (int i = 0; i < count; i++) {
        begin[i] = bytes + 5 * ((i * 7) % count);
        sizes[i] = 1 + i % 5;
        types[i] = TO;
    }
    check_and_map(&map, REX_FOR_BEGIN);
    for (int i = 0; i < count; i++) {
        int first = 5 * ((i * 7) % count);
        CHECK(is_known(first, first + 1 + i % 5));
    }
}

/* Of a mapping that libomptarget says nothing of, because none of its ends is in the row. */
TEST_IN_CHILD(map_around)
{
    struct rex_new_rows rows;
    struct row row = {0, 200, 100, TO};
    struct rex_mapping inside = {(uintptr_t)bytes + 240, (uintptr_t)bytes + 248, 0, 0};
    start(22);
    rex_mappings_add(&inside, 1);
    rex_new_rows_open(&rows);
    struct rex_map map = map_of(&row, 1);
    REFUSED(rex_check_presence(&map, REX_FOR_BEGIN, 0, "a test", &rows), REX_EOVERLAP,
            "a test: map row 0, 100 bytes at %p, is mapped in its middle on device 0: libomptarget aborts on that; 8 bytes at %p are mapped",
            at(200), at(240));
    row.type |= IMPLICIT;
    map = map_of(&row, 1);
    CHECK_EQUAL(rex_check_presence(&map, REX_FOR_BEGIN, 0, "a test", &rows), REX_OK);
    CHECK_EQUAL(rows.count, 0);
    rex_new_rows_free(&rows);
}

/* ---- what was found ---------------------------------------------------------------------------------------------------------------------- */

static bool were_found(int begin, int size, int number)
{
    static const int32_t second = 1;
    const struct row rows[] = {{0, 0, 8, TO}, {0, begin, size, TO}};
    const struct rex_map map = map_of(rows, 2);
    return rex_rows_were_found(&map, &second, 1, number);
}

/* Until a mapping ends, on that device, and as much of it as was looked for. */
TEST_IN_CHILD(remember)
{
    static const struct row rows[] = {{0, MAPPED, 32, TO}, {0, MAPPED + 32, 16, TO}};
    static const int32_t both[] = {0, 1};
    struct rex_new_rows none;
    start(22);
    the_record()->devices = 2;
    const struct rex_map map = map_of(rows, 2);
    CHECK(!rex_rows_were_found(&map, both, 2, 0) && rex_rows_were_found(&map, both, 0, 0));
    rex_new_rows_open(&none);
    CHECK_EQUAL(rex_check_presence(&map, REX_FOR_LAUNCH, 0, "a test", &none), REX_OK);
    CHECK(rex_rows_were_found(&map, both, 2, 0) && !rex_rows_were_found(&map, both, 2, 1));
    CHECK(were_found(MAPPED, 31, 0) && were_found(MAPPED, 32, 0) && !were_found(MAPPED, 33, 0));
    CHECK(were_found(MAPPED + 32, 16, 0) && !were_found(MAPPED + 32, 17, 0) && !were_found(MAPPED + 1, 1, 0));
    /* so that libomptarget need not be asked again */
    uint32_t lookups = the_record()->lookups;
    const struct rex_map again = map_of(rows, 2);
    CHECK_EQUAL(rex_check_presence(&again, REX_FOR_LAUNCH, 0, "a test", &none), REX_OK);
    CHECK_EQUAL(the_record()->lookups, lookups);
    CHECK_EQUAL(rex_check_presence(&again, REX_FOR_LAUNCH, 1, "a test", &none), REX_OK);
    CHECK(the_record()->lookups > lookups);
    rex_mappings_changed();
    CHECK(!were_found(MAPPED, 1, 0));
    rex_new_rows_free(&none);
}

int before_tests(int argc, char **argv)
{
    setenv("REX_LOG", "off", 1);
    (void)argc, (void)argv;
    return -1;
}
