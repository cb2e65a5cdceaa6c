/*
 * source.c - generated sources, before they are compiled: includes, initialisation, entries and
 * kernels.
 *
 * Facts that hold whatever the generator calls its kernels and wherever it breaks its lines;
 * nothing is compared with a kept output.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "common/memory.h"
#include "names.h"

/* What is known of one host file; calls of rex_offload_init() over all of them. */
struct host {
    const char *path;
    const struct tokens *tokens;
    const struct sources *sources;
    struct report *report;
};

static void finding_at(struct report *report, enum finding finding, struct position at,
                       const char *nearest, const char *text)
{
    char *object = tool_format("%s:%zu", at.path, at.line);
    report_finding(report, finding, object, nearest, "%s", text);
    free(object);
}

#define FINDING_AT(report, finding, at, nearest, ...)    \
    do {                                                 \
        char *text_ = tool_format(__VA_ARGS__);          \
        finding_at(report, finding, at, nearest, text_); \
        free(text_);                                     \
    } while (0)

/* ---- includes -------------------------------------------------------------------------------- */

static bool includes(const struct token *token, const char *header)
{
    size_t length = strlen(header);
    if (token->kind != TOKEN_INCLUDE || token->length < length ||
        memcmp(token->text + token->length - length, header, length) != 0)
        return false;
    return token->length == length || token->text[token->length - length - 1] == '/';
}

/* Headers of librex that include it. */
static bool brings_kmp(const struct token *token)
{
    return includes(token, "rex_kmp.h") || includes(token, "rex.h") ||
           includes(token, "rex/entry.h") || includes(token, "rex/launch.h");
}

/* Uses what rex_kmp.h declares: an entry, or a call of libomptarget. */
static bool needs_kmp(const struct token *token)
{
    return token->kind == TOKEN_NAME &&
           ((token->length > 6 && memcmp(token->text, "__tgt_", 6) == 0) ||
            token_is(token, "rex_offload_init") || token_is(token, "REX_KERNEL") ||
            token_is(token, "REX_KERNEL_STEM"));
}

static void check_includes(const struct host *host)
{
    size_t direct = 0, first = SIZE_MAX, needed = SIZE_MAX;
    for (size_t i = 0; i < host->tokens->count; i++) {
        const struct token *token = &host->tokens->list[i];
        struct position at = {host->path, token->line, i};
        if (includes(token, "rex_kmp.h") && ++direct == 2)
            finding_at(host->report, FINDING_INCLUDE, at, NULL,
                       "rex_kmp.h is included a second time");
        if (brings_kmp(token) && first == SIZE_MAX)
            first = i;
        if (needs_kmp(token) && needed == SIZE_MAX)
            needed = i;
    }
    if (needed == SIZE_MAX || first < needed)
        return;
    struct position at = {host->path, token_at(host->tokens, needed)->line, needed};
    FINDING_AT(host->report, FINDING_INCLUDE, at, NULL, "%.*s is used, but rex_kmp.h is %s",
               (int)token_at(host->tokens, needed)->length, token_at(host->tokens, needed)->text,
               first == SIZE_MAX ? "not included" : "included only below");
}

/* ---- initialisation and timers --------------------------------------------------------------- */

/* Whether the name at INDEX is called; `int f(void)` declares it. */
static bool is_call(const struct tokens *tokens, size_t index)
{
    const struct token *before = index > 0 ? &tokens->list[index - 1] : token_at(tokens, SIZE_MAX);
    bool declared = before->kind == TOKEN_NAME && !token_is(before, "return") &&
                    !token_is(before, "else") && !token_is(before, "do");
    return tokens->list[index].kind == TOKEN_NAME && token_is(token_at(tokens, index + 1), "(") &&
           !declared;
}

static bool contains(const struct token *token, const char *part)
{
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= token->length; i++)
        if (strncasecmp(token->text + i, part, length) == 0)
            return true;
    return false;
}

/* Functions that tell the time, and what programs call their own. */
static bool is_timer(const struct token *token)
{
    static const char *const names[] = {"clock",   "times",  "timespec_get", "ftime",
                                        "__rdtsc", "_rdtsc", "getrusage"};
    static const char *const parts[] = {"gettime", "get_time", "wtime", "timer", "seconds"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (token_is(token, names[i]))
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (contains(token, parts[i]))
            return true;
    return false;
}

/* The braces of main's body; false where this file has none. */
static bool find_main(const struct tokens *tokens, size_t *open, size_t *close)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (!token_is(&tokens->list[i], "main") || !token_is(token_at(tokens, i + 1), "("))
            continue;
        *open = token_closing(tokens, i + 1) + 1;
        if (!token_is(token_at(tokens, *open), "{"))
            continue;
        *close = token_closing(tokens, *open);
        return true;
    }
    return false;
}

static size_t first_timer(const struct tokens *tokens, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (is_timer(&tokens->list[i]) && is_call(tokens, i))
            return i;
    return SIZE_MAX;
}

/* Calls in one file, counted on from COUNT; timers in main that come before the first. */
static size_t check_calls(const struct host *host, size_t count)
{
    const struct tokens *tokens = host->tokens;
    size_t open = 0, close = 0;
    bool has_main = find_main(tokens, &open, &close);
    size_t first = has_main ? first_timer(tokens, open, close) : SIZE_MAX;
    for (size_t i = 0; i < tokens->count; i++) {
        struct position at = {host->path, tokens->list[i].line, i};
        if (!token_is(&tokens->list[i], "rex_offload_init") || !is_call(tokens, i))
            continue;
        if (++count > 1)
            finding_at(host->report, FINDING_INIT, at, NULL,
                       "rex_offload_init() is called a second time");
        if (first < i && i < close)
            FINDING_AT(
                host->report, FINDING_INIT, at, NULL,
                "rex_offload_init() comes after %.*s() in line %zu: registration is timed too",
                (int)tokens->list[first].length, tokens->list[first].text,
                tokens->list[first].line);
    }
    return count;
}

static void check_missing_init(const struct host *hosts, size_t count, size_t calls)
{
    size_t open, close;
    for (size_t i = 0; i < count; i++)
        if (find_main(hosts[i].tokens, &open, &close)) {
            struct position at = {hosts[i].path, token_at(hosts[i].tokens, open)->line, open};
            if (calls == 0)
                finding_at(hosts[i].report, FINDING_INIT, at, NULL,
                           "main does not call rex_offload_init()");
            return;
        }
    if (calls == 0 && count > 0)
        report_note(hosts->report, hosts->path,
                    "no file given has a main: where rex_offload_init() is called cannot be told");
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool has_stem(const char *name, const char *suffix, const char *stem, size_t length)
{
    const char *own;
    size_t own_length;
    return name_stem(name, suffix, &own, &own_length) && own_length == length &&
           memcmp(own, stem, length) == 0;
}

static void check_entry(const struct source_entry *entry, struct report *report)
{
    const char *stem;
    size_t length;
    if (!entry->in_section)
        FINDING_AT(report, FINDING_SECTION_ATTRIBUTE, entry->at, NULL,
                   "entry %s lacks __attribute__((section(\"omp_offloading_entries\")))",
                   entry->symbol);
    if (entry->key == NULL || entry->name == NULL) {
        FINDING_AT(report, FINDING_ENTRY_EMPTY, entry->at, NULL, "entry %s has no %s",
                   entry->symbol, entry->key == NULL ? "key" : "name");
        return;
    }
    if (entry->global)
        return;
    if (!name_stem(entry->key, "id__", &stem, &length))
        FINDING_AT(report, FINDING_KEY_SYMBOL, entry->at, NULL,
                   "entry %s: its key is %s, which is not called *id__", entry->symbol, entry->key);
    else if (!has_stem(entry->name, "kernel__", stem, length))
        FINDING_AT(report, FINDING_NAME_DRIFT, entry->at, NULL,
                   "entry %s: its key is %s, but it names the kernel %s, not %.*skernel__",
                   entry->symbol, entry->key, entry->name, (int)length, stem);
    else if (!has_stem(entry->symbol, "omp_offload_entry__", stem, length))
        FINDING_AT(report, FINDING_NAME_DRIFT, entry->at, NULL,
                   "entry %s has key and name of another stem, %.*s", entry->symbol, (int)length,
                   stem);
}

/*
 * The same numbers as in SOURCES; entries of globals, and what an entry does not say, have no name.
 */
struct index {
    struct names keys, names, kernels;
};

static struct index index_of(const struct sources *sources)
{
    struct index index = {0};
    for (size_t i = 0; i < sources->entry_count; i++) {
        const struct source_entry *entry = &sources->entries[i];
        names_add(&index.keys, entry->global ? NULL : entry->key);
        names_add(&index.names, entry->global ? NULL : entry->name);
    }
    for (size_t i = 0; i < sources->kernel_count; i++)
        names_add(&index.kernels, sources->kernels[i].name);
    names_sort(&index.keys);
    names_sort(&index.names);
    names_sort(&index.kernels);
    return index;
}

static void index_free(struct index *index)
{
    names_free(&index->keys);
    names_free(&index->names);
    names_free(&index->kernels);
}

static void check_twice(const struct sources *sources, const struct index *index, size_t number,
                        struct report *report)
{
    const struct source_entry *entry = &sources->entries[number];
    size_t key = entry->key != NULL ? names_find(&index->keys, entry->key) : SIZE_MAX;
    size_t name = entry->name != NULL ? names_find(&index->names, entry->name) : SIZE_MAX;
    if (key < number)
        FINDING_AT(report, FINDING_KEY_SHARED, entry->at, NULL, "entry %s has the key of %s, %s",
                   entry->symbol, sources->entries[key].symbol, entry->key);
    if (name < number)
        FINDING_AT(report, FINDING_NAME_SHARED, entry->at, NULL,
                   "entry %s names the kernel of %s, %s", entry->symbol,
                   sources->entries[name].symbol, entry->name);
}

static void check_uses(const struct sources *sources, const struct index *index,
                       struct report *report)
{
    for (size_t i = 0; i < sources->use_count; i++) {
        const struct source_use *use = &sources->uses[i];
        if (names_find(&index->keys, use->key) == SIZE_MAX)
            FINDING_AT(report, FINDING_HOST_KEY_DRIFT, use->at,
                       names_nearest(&index->keys, use->key, report),
                       "the host key %s is in no entry", use->key);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void check_kernel(const struct sources *sources, const struct index *index, size_t number,
                         struct report *report)
{
    const struct source_kernel *kernel = &sources->kernels[number];
    size_t first = names_find(&index->kernels, kernel->name);
    if (first < number)
        FINDING_AT(report, FINDING_NAME_SHARED, kernel->at, NULL,
                   "the kernel %s is defined in %s:%zu too", kernel->name,
                   sources->kernels[first].at.path, sources->kernels[first].at.line);
    if (!kernel->c_linkage)
        FINDING_AT(report, FINDING_NAME_DRIFT, kernel->at, NULL,
                   "the kernel %s is not extern \"C\": in the image it has another name",
                   kernel->name);
    if (names_find(&index->names, kernel->name) == SIZE_MAX)
        FINDING_AT(report, FINDING_NO_ENTRY, kernel->at,
                   names_nearest(&index->names, kernel->name, report),
                   "the kernel %s is in no entry", kernel->name);
}

static void check_has_kernel(const struct index *index, const struct source_entry *entry,
                             struct report *report)
{
    if (names_find(&index->kernels, entry->name) == SIZE_MAX)
        FINDING_AT(report, FINDING_NO_KERNEL, entry->at,
                   names_nearest(&index->kernels, entry->name, report),
                   "entry %s names the kernel %s, which no device file defines", entry->symbol,
                   entry->name);
}

static void check_all(const struct host *hosts, size_t count, const struct sources *sources,
                      struct report *report)
{
    size_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        check_includes(&hosts[i]);
        calls = check_calls(&hosts[i], calls);
    }
    check_missing_init(hosts, count, calls);
    struct index index = index_of(sources);
    for (size_t i = 0; i < sources->entry_count; i++) {
        check_entry(&sources->entries[i], report);
        check_twice(sources, &index, i, report);
        if (sources->device_files > 0 && sources->entries[i].name != NULL &&
            !sources->entries[i].global)
            check_has_kernel(&index, &sources->entries[i], report);
    }
    check_uses(sources, &index, report);
    for (size_t i = 0; count > 0 && i < sources->kernel_count; i++)
        check_kernel(sources, &index, i, report);
    index_free(&index);
    if (count == 0 || sources->device_files == 0)
        report_note(report, count == 0 ? "rex-check" : hosts->path,
                    "no %s file given: kernels and entries are not compared",
                    count == 0 ? "host" : "device");
    else if (sources->entry_count == 0)
        report_finding(report, FINDING_NO_ENTRIES, hosts->path, NULL,
                       "no host file defines an entry");
}

/* ---- files ----------------------------------------------------------------------------------- */

#define LARGEST_SOURCE ((size_t)256 << 20)

static int fail(const char *path, const char *reason, char why[256])
{
    snprintf(why, 256, "%.150s: %s", path, reason);
    return -1;
}

/* All of FILE; it may be a pipe. */
static int read_all(FILE *file, struct source_text *text)
{
    size_t room = 0, got;
    do {
        if (text->size == room) {
            room = room == 0 ? 65536 : room * 2;
            char *grown = room <= LARGEST_SOURCE ? realloc(text->bytes, room) : NULL;
            if (grown == NULL)
                return -1;
            text->bytes = grown;
        }
        got = fread(text->bytes + text->size, 1, room - text->size, file);
        text->size += got;
    } while (got > 0);
    return 0;
}

static int read_text(const char *path, struct source_text *text, char why[256])
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail(path, strerror(errno), why);
    int result = read_all(file, text) != 0 ? fail(path, "it is larger than any source", why)
                 : ferror(file)            ? fail(path, strerror(errno), why)
                                           : 0;
    fclose(file);
    if (result == 0 && memchr(text->bytes, '\0', text->size) != NULL)
        result = fail(path, "it is no source: --source wants C, C++ and CUDA files", why);
    return result;
}

static bool is_device(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".cu") == 0;
}

void check_texts(const char *const *paths, const struct source_text *texts, size_t count,
                 struct report *report)
{
    struct tokens *tokens = tool_alloc(count, sizeof *tokens);
    struct host *hosts = tool_alloc(count, sizeof *hosts);
    struct sources sources = {0};
    size_t host_count = 0;
    for (size_t i = 0; i < count; i++) {
        tokens_read(&tokens[i], texts[i].bytes, texts[i].size);
        if (is_device(paths[i]))
            source_read_device(&sources, paths[i], &tokens[i]);
        else {
            source_read_host(&sources, paths[i], &tokens[i]);
            hosts[host_count++] = (struct host){paths[i], &tokens[i], &sources, report};
        }
    }
    check_all(hosts, host_count, &sources, report);
    for (size_t i = 0; i < count; i++)
        free(tokens[i].list);
    sources_free(&sources);
    free(hosts);
    free(tokens);
}

int check_source(const char *const *paths, size_t count, struct report *report, char why[256])
{
    struct source_text *texts = tool_alloc(count, sizeof *texts);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = read_text(paths[i], &texts[i], why);
    if (result == 0)
        check_texts(paths, texts, count, report);
    for (size_t i = 0; i < count; i++)
        free(texts[i].bytes);
    free(texts);
    return result;
}
