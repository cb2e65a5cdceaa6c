/*
 * tracefile.c - the file of a timeline: Chrome's trace events, as a JSON array with one event in
 * each line.
 *
 * Events are collected in one buffer, which is written when it is full or 10 ms old. Only whole
 * lines are written, so that a killed process leaves an array that lacks its closing bracket, which
 * the format allows. Every line but the first begins with a comma: with a bracket at its end such a
 * file is strict JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/settings.h"
#include "rex/map.h"

/* ---- a line ---------------------------------------------------------------------------------- */

#define STRING_MAX 1024 /* bytes of a string; C++ makes long names */

static void add_bytes(struct rex_line *line, const void *bytes, size_t size)
{
    if (size >= REX_LINE_MAX - line->length) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->length, bytes, size);
    line->length += size;
    line->text[line->length] = '\0';
}

void rex_line_text(struct rex_line *line, const char *text)
{
    add_bytes(line, text, strlen(text));
}

/* With zeroes in front where NUMBER has fewer digits than LEAST. */
static void add_number(struct rex_line *line, uint64_t number, unsigned base, size_t least)
{
    char digits[20], *end = digits + sizeof digits, *at = end;
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0 || (size_t)(end - at) < least);
    add_bytes(line, at, (size_t)(end - at));
}

void rex_line_number(struct rex_line *line, const char *before, int64_t number)
{
    rex_line_text(line, before);
    if (number < 0)
        rex_line_text(line, "-");
    add_number(line, number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 1);
}

void rex_line_hexadecimal(struct rex_line *line, const char *before, uint64_t number)
{
    rex_line_text(line, before);
    rex_line_text(line, "0x");
    add_number(line, number, 16, 1);
}

void rex_line_time(struct rex_line *line, const char *before, uint64_t nanoseconds)
{
    rex_line_text(line, before);
    add_number(line, nanoseconds / 1000, 10, 1);
    rex_line_text(line, ".");
    add_number(line, nanoseconds % 1000, 10, 3);
}

/* How many characters at AT stand in JSON as they are. Most names have no others. */
static size_t plain(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *from = at;
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - from);
}

/* One character at AT that may have to be written another way; the number of its bytes. */
static size_t add_escaped(struct rex_line *line, const unsigned char *at)
{
    size_t length = rex_utf8_length((const char *)at);
    bool is_plain = *at == '"' || *at == '\\' || (*at >= 0x80 && length > 0);
    if (*at == '"' || *at == '\\')
        rex_line_text(line, "\\");
    if (is_plain) {
        add_bytes(line, at, length);
    } else {
        rex_line_text(line, "\\u");
        add_number(line, length > 0 ? *at : 0xfffd, 16, 4); /* U+FFFD stands for no character */
    }
    return length > 0 ? length : 1;
}

void rex_line_string(struct rex_line *line, const char *before, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strnlen(text, STRING_MAX);
    rex_line_text(line, before);
    rex_line_text(line, "\"");
    while (at < end) {
        size_t length = plain(at, end);
        if (length > 0)
            add_bytes(line, at, length);
        at += length > 0 ? length : add_escaped(line, at);
    }
    if (*at != '\0')
        rex_line_text(line, "...");
    rex_line_text(line, "\"");
}

/* ---- types of rows --------------------------------------------------------------------------- */

/* By the number of the bit; 14 and 15 are new in LLVM 22 and 23. */
static const char *const type_names[] = {"to",
                                         "from",
                                         "always",
                                         "delete",
                                         "ptr_and_obj",
                                         "target_param",
                                         "return_param",
                                         "private",
                                         "literal",
                                         "implicit",
                                         "close",
                                         [12] = "present",
                                         [13] = "ompx_hold",
                                         [14] = "attach",
                                         [15] = "fb_nullify",
                                         [44] = "non_contig"};

#define MEMBER_OF ((uint64_t)0xffff << 48)
#define KIND ((uint64_t)REX_MAP_KIND_MASK) /* of a literal: librex's own, and no bit of LLVM's */

void rex_type_text(int64_t type, char text[REX_TYPE_MAX])
{
    uint64_t rest = (uint64_t)type & ~(MEMBER_OF | (type & REX_MAP_LITERAL ? KIND : 0));
    char *end = text;
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if ((rest >> i & 1) != 0 && type_names[i] != NULL) {
            end = stpcpy(stpcpy(end, type_names[i]), "|");
            rest &= ~(UINT64_C(1) << i);
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
/* OMP_MAP_NON_CONTIG: begin points to dimensions, size is their number */
#define NON_CONTIGUOUS INT64_C(0x100000000000)

/* As libomptarget has it (LLVM 14 to 22): outermost first. */
struct dimension {
    uint64_t offset, count, stride;
};

static uint64_t bytes_of_dimensions(const struct dimension *dimension, int64_t dimensions)
{
    uint64_t bytes = dimensions > 0 ? dimension[dimensions - 1].stride : 0;
    for (int64_t i = 0; i < dimensions; i++)
        if (__builtin_mul_overflow(bytes, dimension[i].count, &bytes))
            return INT64_MAX;
    return bytes < INT64_MAX ? bytes : INT64_MAX;
}

static uint64_t bytes_of(const void *begin, int64_t size, int64_t type)
{
    if (type & (REX_MAP_LITERAL | REX_MAP_PRIVATE) || size < 0)
        return 0;
    return type & NON_CONTIGUOUS ? bytes_of_dimensions(begin, size) : (uint64_t)size;
}

uint64_t rex_rows_bytes(int64_t count, void **begin, const int64_t *sizes, const int64_t *types,
                        int64_t direction)
{
    uint64_t all = 0;
    for (int64_t i = 0; begin != NULL && sizes != NULL && types != NULL && i < count; i++)
        if (types[i] & direction) {
            all += bytes_of(begin[i], sizes[i], types[i]); /* neither is above INT64_MAX */
            all = all < INT64_MAX ? all : INT64_MAX;
        }
    return all;
}

static void add_row(struct rex_line *line, const void *begin, int64_t size, int64_t type,
                    bool (*is_pinned)(const void *address))
{
    char words[REX_TYPE_MAX];
    rex_type_text(type, words);
    rex_line_text(line, "\"");
    rex_line_text(line, words);
    if (type & REX_MAP_LITERAL) {
        rex_line_hexadecimal(line, " ", (uintptr_t)begin);
        rex_line_number(line, ", ", size);
        rex_line_text(line, " bytes\"");
        return;
    }
    bool is_whole = !(type & NON_CONTIGUOUS);
    rex_line_number(line, " ", is_whole ? size : (int64_t)bytes_of(begin, size, type));
    rex_line_hexadecimal(line, " bytes at ", (uintptr_t)begin);
    rex_line_text(line, is_pinned(begin) ? ", pinned\"" : "\"");
}

void rex_line_rows(struct rex_line *line, int64_t count, void **begin, const int64_t *sizes,
                   const int64_t *types, bool (*is_pinned)(const void *address))
{
    if (count <= 0 || begin == NULL || sizes == NULL || types == NULL)
        return;
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++) {
        rex_line_text(line, i == 0 ? ",\"rows\":[" : ",");
        add_row(line, begin[i], sizes[i], types[i], is_pinned);
    }
    if (count > MOST_ROWS) {
        rex_line_number(line, ",\"and ", count - MOST_ROWS);
        rex_line_text(line, " more\"");
    }
    rex_line_text(line, "]");
}

static void add_three(struct rex_line *line, const char *before, const uint32_t numbers[3])
{
    rex_line_number(line, before, numbers[0]);
    rex_line_number(line, ",", numbers[1]);
    rex_line_number(line, ",", numbers[2]);
}

void rex_line_launch(struct rex_line *line, const void *key, const uint32_t teams[3],
                     const uint32_t threads[3], int64_t arguments)
{
    rex_line_hexadecimal(line, ",\"key\":\"", (uintptr_t)key);
    add_three(line, "\",\"teams\":[", teams);
    add_three(line, "],\"threads\":[", threads);
    rex_line_number(line, "],\"arguments\":", arguments);
}

/* ---- the file -------------------------------------------------------------------------------- */

#define BUFFER_BYTES 65536
#define OLD UINT64_C(10000000) /* nanoseconds after which an event does not wait for others */

static char buffer[BUFFER_BYTES];
static size_t used; /* bytes of it */
static uint64_t written_at;
static struct rex_output file = {.descriptor = -1}; /* without one nothing is written any more */
static off_t whole;                                 /* bytes of whole lines in the file */
static char pattern[REX_SETTING_MAX];               /* of the file's name */
static bool is_parents;                             /* in a child of fork that has no file yet */

static void warn(int error)
{
    rex_log(REX_LOG_WARN, "%s: %.1000s cannot be written: %s; the program runs on without it",
            rex_setting_variable(REX_OPTION_TRACE), file.name, rex_output_why(error));
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * ERROR came after BYTES of the buffer were written: what is behind the last whole line is cut off,
 * and the file ends.
 */
static void give_up(size_t bytes, int error)
{
    const char *end = memrchr(buffer, '\n', bytes);
    off_t length = whole + (end != NULL ? end + 1 - buffer : 0);
    if (rex_output_is_open(&file) && ftruncate(file.descriptor, length) != 0)
        rex_log(REX_LOG_DEBUG, "%s ends within a line: %s", file.name, strerror(errno));
    warn(error);
    rex_output_close(&file);
}

/* 0; EWOULDBLOCK: another process writes to it. Some file systems have no locks: nobody is asked.
 */
static int lock_file(void)
{
    return flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EWOULDBLOCK : 0;
}

/*
 * The program has closed the file, and with it the lock: it is still this trace if nobody has
 * written to it since.
 */
static int open_again(void)
{
    struct stat status;
    int error = rex_output_reopen(&file, true);
    if (error != 0 || !S_ISREG(file.status.st_mode))
        return error;
    error = lock_file();
    if (error == 0 && (fstat(file.descriptor, &status) != 0 || status.st_size != whole))
        error = REX_OUTPUT_REPLACED;
    if (error != 0)
        rex_output_close(&file);
    return error;
}

static void write_all(void)
{
    size_t done = 0;
    if (file.descriptor >= 0) {
        int error = rex_output_is_open(&file) ? 0 : open_again();
        if (error == 0)
            error = rex_file_write(file.descriptor, buffer, used, &done);
        if (error != 0)
            give_up(done, error);
        whole += (off_t)done;
    }
    used = 0;
}

/* An empty line in the buffer. Where there is no file any more it counts as full. */
static struct rex_line new_line(void)
{
    if (sizeof buffer - used < REX_LINE_MAX)
        write_all();
    return (struct rex_line){.text = buffer + used, .full = file.descriptor < 0};
}

/* LINE is complete, at the time NOW. One that was too long is left out. */
static void end_line(const struct rex_line *line, uint64_t now)
{
    used += line->full ? 0 : line->length;
    if (now - written_at < OLD)
        return;
    write_all();
    written_at = now;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* NAME is that of track ID, or of the process. */
static void write_name(const char *what, uint32_t id, const char *name)
{
    struct rex_line line = new_line();
    rex_line_text(&line, what);
    rex_line_number(&line, "\",\"pid\":", getpid());
    rex_line_number(&line, ",\"tid\":", id);
    rex_line_string(&line, ",\"args\":{\"name\":", name);
    rex_line_text(&line, "}}\n");
    end_line(&line, rex_trace_clock());
}

void rex_trace_file_track(uint32_t track, const char *name)
{
    write_name(",{\"ph\":\"M\",\"name\":\"thread_name", track, name);
}

static void write_sender(struct rex_line *line, const struct rex_slice *slice)
{
    rex_line_text(line, ",\"by\":\"");
    rex_line_text(line, slice->by);
    rex_line_text(line, "\"");
    if (slice->because != NULL)
        rex_line_string(line, ",\"because\":", slice->because);
}

void rex_trace_file_slice(const struct rex_slice *slice, uint32_t track, bool on_device)
{
    bool is_detailed = !on_device && slice->details != NULL;
    struct rex_line line = new_line();
    rex_line_text(&line, ",{\"ph\":\"X\",\"cat\":\"");
    rex_line_text(&line, on_device ? "device" : slice->category);
    rex_line_number(&line, "\",\"pid\":", getpid());
    rex_line_number(&line, ",\"tid\":", track);
    rex_line_time(&line, ",\"ts\":", slice->begin);
    rex_line_time(&line, ",\"dur\":", slice->end - slice->begin);
    rex_line_string(&line, ",\"name\":", slice->name);
    rex_line_text(&line, ",\"args\":{");
    if (is_detailed)
        slice->details(&line, slice->context);
    if (slice->counted == REX_COUNTED_KERNEL || slice->counted == REX_COUNTED_TRANSFER) {
        rex_line_number(&line,
                        is_detailed ? ",\"bytes_to\":" : "\"bytes_to\":", (int64_t)slice->to);
        rex_line_number(&line, ",\"bytes_from\":", (int64_t)slice->from);
    }
    if (!on_device && slice->by != NULL)
        write_sender(&line, slice);
    rex_line_text(&line, "}}\n");
    end_line(&line, slice->end);
}

/* ---- opening --------------------------------------------------------------------------------- */

/*
 * 0; EWOULDBLOCK: another process writes to it; or another error. Pipes and devices are neither
 * locked nor emptied.
 */
static int open_named(bool add_number)
{
    int error = rex_output_open(&file, pattern, add_number);
    if (error == 0 && S_ISREG(file.status.st_mode)) {
        error = lock_file();
        if (error == 0 && ftruncate(file.descriptor, 0) != 0)
            error = errno;
    }
    if (error != 0)
        rex_output_close(&file);
    return error;
}

/* A child of fork has its own number behind a name without one. */
static bool open_file(void)
{
    int error = open_named(is_parents && !file.is_numbered);
    if (error == EWOULDBLOCK) {
        rex_log(REX_LOG_INFO,
                "%s: another process writes to %s; this one's number is added to the name",
                rex_setting_variable(REX_OPTION_TRACE), file.name);
        error = open_named(true);
    }
    if (error != 0) {
        warn(error);
        return false;
    }
    is_parents = false;
    memcpy(buffer, "[\n", 2);
    used = 2;
    whole = 0;
    written_at = 0;
    write_name("{\"ph\":\"M\",\"name\":\"process_name", (uint32_t)getpid(),
               program_invocation_short_name);
    return true;
}

bool rex_trace_file_open(const char *name)
{
    snprintf(pattern, sizeof pattern, "%s", name);
    return open_file();
}

bool rex_trace_file_open_in_child(void)
{
    return !is_parents || open_file();
}

/* ---- the end --------------------------------------------------------------------------------- */

void rex_trace_file_close(void)
{
    struct rex_line line = new_line();
    rex_line_text(&line, "]\n");
    used += line.full ? 0 : line.length;
    write_all();
    int error = rex_output_close(&file);
    if (error != 0)
        warn(error);
}

void rex_trace_file_forget(void)
{
    rex_output_close(&file); /* the lock stays with the parent */
    used = 0;
    is_parents = true;
}
