/* messages.c - texts of tests and their golden files: messages.h. SPDX-License-Identifier:
 * Apache-2.0 WITH LLVM-exception */
#include "support/messages.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

/* A file in memory with the lines of says(). Child processes inherit it, and the programs that they
 * start find its descriptor in the environment. */
static int said = -1;

__attribute__((constructor)) static void open_said(void)
{
    const char *given = getenv("REX_TESTS_SAID");
    char number[16];
    said = given != NULL ? atoi(given) : memfd_create("said", 0);
    snprintf(number, sizeof number, "%d", said);
    setenv("REX_TESTS_SAID", number, 1);
}

/* ---- texts that differ between runs ---------------------------------------------------------- */

/* Returns the length of a folder of make_folder() at the beginning of TEXT, or 0. */
static size_t made_folder(const char *text)
{
    char folder[PATH_MAX] = "/tmp";
    const char *parent = getenv("TMPDIR");
    if (parent != NULL && realpath(parent, folder) == NULL)
        return 0;
    size_t length = strlen(folder);
    if (strncmp(text, folder, length) != 0 || strncmp(text + length, "/rex-unit.", 10) != 0)
        return 0;
    return length + strnlen(text + length, strlen("/rex-unit.XXXXXX"));
}

/* Returns the length of a part at the beginning of TEXT that differs between runs, or 0. *WORDS
 * receives its replacement. */
static size_t changing(const char *text, const char **words)
{
    size_t length = strlen(program_invocation_name);
    *words = "PROGRAM";
    if (strncmp(text, program_invocation_name, length) == 0)
        return length;
    length = strlen(messages.build);
    *words = "BUILD";
    if (strncmp(text, messages.build, length) == 0)
        return length;
    *words = "FOLDER";
    if ((length = made_folder(text)) > 0)
        return length;
    *words = "ADDRESS";
    for (length = 2; strncmp(text, "0x", 2) == 0 && isxdigit((unsigned char)text[length]); length++)
        ;
    return length > 6 ? length : 0; /* flags have fewer digits */
}

/* Returns a copy of TEXT, for free(): parts that differ between runs are replaced, and lines after
 * the first are indented. */
static char *settled(const char *text)
{
    char *made = NULL;
    size_t size, length;
    const char *words;
    FILE *to = open_memstream(&made, &size);
    while (*text != '\0') {
        if ((length = changing(text, &words)) > 0) {
            fputs(words, to);
            text += length;
        } else {
            fputc(*text, to);
            fputs(*text == '\n' && text[1] != '\0' ? "    " : "", to);
            text++;
        }
    }
    fclose(to);
    return made;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Writes a line by one call, because a child process may end at any time. */
static void add_line(const char *text)
{
    char *line = settled(text);
    lseek(said, 0, SEEK_END);
    if (dprintf(said, "%s\n", line) < 0)
        abort();
    free(line);
}

static char *formatted(const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    return text;
}

void says(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = formatted(format, arguments);
    va_end(arguments);
    add_line(text);
    free(text);
}

void refuses(int result, const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    char *call = formatted(what, arguments);
    va_end(arguments);
    if (result != rex_last_error_code() && result >= REX_OK)
        says("%s: it is not refused", call);
    else if (result != rex_last_error_code())
        says("%s: %s, and the last error is %s", call, rex_error_name(result),
             rex_error_name(rex_last_error_code()));
    else
        says("%s: %s: %s", call, rex_error_name(result), rex_last_error());
    free(call);
}

/* ---- the golden file: sorted parts, each with a head [program test] -------------------------- */

#define GOLDEN "tests/golden/messages/"

static char *read_all(int file)
{
    struct stat status;
    char *bytes = fstat(file, &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
    ssize_t have = bytes != NULL ? pread(file, bytes, (size_t)status.st_size, 0) : -1;
    if (have < 0)
        abort();
    bytes[have] = '\0';
    return bytes;
}

/* Returns the begin and end of the part HEAD in TEXT; without this part, its place for both. */
static char *find_part(char *text, const char *head, char **end)
{
    size_t length = strlen(head);
    for (char *at = text; *at != '\0'; at = *end) {
        *end = strstr(at, "\n[");
        *end = *end != NULL ? *end + 1 : at + strlen(at);
        if (strncmp(at, head, length) == 0)
            return at;
        if (strncmp(at, head, length) > 0)
            return *end = at;
    }
    return *end = text + strlen(text);
}

/* Writes a new file, because a copy of the tree may share the old one by a hard link. */
static void write_part(const char *path, const char *head, const char *body)
{
    static const char made[] = GOLDEN "made";
    int folder = open(GOLDEN, O_RDONLY | O_CLOEXEC), old = -1;
    if (flock(folder, LOCK_EX) == 0) /* other programs write to it, too */
        old = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0666);
    FILE *file = old >= 0 ? fopen(made, "we") : NULL;
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    char *text = read_all(old), *end, *begin = find_part(text, head, &end);
    fprintf(file, "%.*s%s%s%s", (int)(begin - text), text, *body != '\0' ? head : "", body, end);
    if (fclose(file) != 0 || rename(made, path) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    close(old);
    close(folder);
    free(text);
}

/* Fails with the first line in which ONE and OTHER differ. */
static void report(const char *path, const char *head, const char *one, const char *other)
{
    while (*one != '\0' && *one == *other && strcspn(one, "\n") == strcspn(other, "\n") &&
           strncmp(one, other, strcspn(one, "\n")) == 0) {
        size_t length = strcspn(one, "\n") + 1;
        one += length;
        other += length;
    }
    fail_msg("%s %.*s: the part differs (UPDATE=1 writes it)\n- %.*s\n+ %.*s", path,
             (int)strcspn(head, "\n"), head, (int)strcspn(other, "\n"), other,
             (int)strcspn(one, "\n"), one);
}

void check_messages(const char *test, bool has_ended)
{
    char head[256], path[256], *end;
    char *body = read_all(said);
    if (ftruncate(said, 0) != 0)
        abort();
    snprintf(head, sizeof head, "[%s %s]\n", program_invocation_short_name, test);
    snprintf(path, sizeof path, GOLDEN "%s.txt", messages.header);
    if (has_ended && getenv("UPDATE") != NULL)
        write_part(path, head, body);
    else if (has_ended) {
        FILE *file = fopen(path, "re");
        if (file == NULL)
            fail_msg("%s: %s (UPDATE=1 writes it)", path, strerror(errno));
        char *text = read_all(fileno(file)), *part = find_part(text, head, &end);
        fclose(file);
        *end = '\0';
        part += part < end ? strlen(head) : 0;
        if (strcmp(body, part) != 0)
            report(path, head, body, part);
        free(text);
    }
    free(body);
}
