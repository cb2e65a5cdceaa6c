/*
 * images.h - device images with some bytes changed, and what the public view of them says
 * (rex/inspect.h), as a text.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_IMAGES_H
#define REX_TESTS_UNIT_IMAGES_H

#include <elf.h>

#include "common.h"
#include "rex/abi.h"
#include "rex/inspect.h"
#include "support/messages.h"

#define HOST TEST_BUILD "/tests/fake/host.so"
#define PACKED_HOST TEST_BUILD "/tests/fake/host_relr.so" /* it may not be there */
#define LIMITS "tests/data/limits_sm_90.cubin"

struct image {
    unsigned char *bytes;
    size_t size;
    unsigned char *kept; /* the bytes as they are in the file */
    char *facts;         /* and what is said of them */
};

/* ---- what a view says ------------------------------------------------------------------------ */

/* ", word 7" for each fact that there is. */
#define FACT(word, value) fprintf(to, (value) != 0 ? ", " word " %lld" : "", (long long)(value))
#define FLAG(word, value) fprintf(to, "%s", (value) ? ", " word : "")

static inline void tell_parameters(FILE *to, const struct rex_image_symbol *kernel)
{
    fputs(kernel->parameters == REX_PARAMETERS_UNKNOWN ? ", unknown parameters" : "", to);
    assert_true((kernel->parameter == NULL) ==
                (kernel->parameters == 0 || kernel->parameters == REX_PARAMETERS_UNKNOWN));
    for (size_t i = 0; kernel->parameter != NULL && i < kernel->parameters; i++) {
        const struct rex_image_parameter *one = &kernel->parameter[i];
        if (i >= 20 && i + 1 < kernel->parameters)
            continue;
        fprintf(to, i < 20 ? ", " : ", and number %zu ", i);
        fprintf(to, "%s %u+%u", one->kind == REX_KIND_UNKNOWN ? "any" : rex_kind_name(one->kind),
                one->offset, one->size);
        fprintf(to, one->width != 0 ? "(%u)" : "", one->width);
    }
}

static inline void tell_symbol(FILE *to, const char *of, const struct rex_image_view *view,
                               const struct rex_image_symbol *symbol)
{
    fputs(of, to);
    if (strlen(symbol->name) > 100)
        fprintf(to, "a name of %zu letters", strlen(symbol->name));
    else
        fprintf(to, "%s", symbol->name);
    fputs(symbol->kernel ? ": kernel" : ": global", to);
    FACT("bytes", symbol->kernel && view->kind == REX_IMAGE_HOST ? 0 : symbol->size);
    if (symbol->kernel)
        tell_parameters(to, symbol);
    if (symbol->odd_size != 0)
        fprintf(to, ", odd is %u of %u", symbol->odd_index, symbol->odd_size);
    FACT("threads", symbol->max_threads);
    FACT("registers", symbol->registers);
    FACT("shared", symbol->shared_memory);
    if (symbol->exec_mode != -1)
        fprintf(to, ", mode %d", symbol->exec_mode);
    FACT("environment", symbol->environment_size);
    FACT("environment mode", symbol->environment_mode);
    FLAG("env", symbol->env);
    FLAG("plain", symbol->plain);
    FLAG("signature", symbol->signature);
    fprintf(to, symbol->call != NULL ? ", call %s\n" : "\n", symbol->call);
    const struct rex_image_symbol *found = rex_image_view_find(view, symbol->name);
    assert_true(found != NULL && found <= symbol && strcmp(found->name, symbol->name) == 0);
}

/* How many rows of the entry table come before row INDEX by their names. */
static inline size_t rank_of(const struct rex_image_view *view, size_t index)
{
    size_t rank = 0;
    for (size_t i = 0; i < view->entry_count; i++) {
        int order = strcmp(view->entries[i], view->entries[index]);
        rank += order < 0 || (order == 0 && i < index);
    }
    return rank;
}

/* A line for each thing. Compilers and linkers put the symbols and rows of a host image in some
 * order or other; here they are in that of their names. */
static inline void tell_view(FILE *to, const char *of, const struct rex_image_view *view)
{
    const char *last = "";
    for (size_t i = 0; i < view->symbol_count; i++) {
        const struct rex_image_symbol *next = &view->symbols[i];
        for (size_t j = 0; view->kind == REX_IMAGE_HOST && j < view->symbol_count; j++) {
            const struct rex_image_symbol *other = &view->symbols[j];
            if (strcmp(other->name, last) > 0 &&
                (strcmp(next->name, last) <= 0 || strcmp(other->name, next->name) < 0))
                next = other;
        }
        tell_symbol(to, of, view, next);
        last = next->name;
    }
    for (size_t i = 0; i < view->entry_count; i++)
        for (size_t j = 0; j < view->entry_count; j++)
            if (rank_of(view, j) == i)
                fprintf(to, "%srow of %s\n", of, view->entries[j]);
    assert_null(rex_image_view_find(view, ""));
    assert_null(rex_image_view_find(view, "plain__kernel"));
}

enum { MOST_TOLD = 8 }; /* of the images in a file; else the first */

/* Image INDEX; what is in it begins with its number, if that is not 0. */
static inline void tell_item(FILE *to, const struct rex_image_list *list, size_t index)
{
    static const char *const kinds[] = {"CUBIN", "host image", "PTX", "other"};
    const struct rex_image_item *item = &list->items[index];
    struct rex_image_view *view = NULL;
    char of[24] = "";
    if (index > 0)
        snprintf(of, sizeof of, "%zu/", index);
    fprintf(to, "image %zu: %s for %u%.1s", index, kinds[item->kind], item->architecture,
            &item->suffix);
    if (item->kind != REX_IMAGE_HOST)
        fprintf(to, ", %zu bytes at %zu", item->stored, item->offset);
    assert_true(item->compressed || item->stored == item->size);
    fprintf(to, item->compressed ? ", unpacked %zu\n" : "\n", item->size);
    if (rex_image_view_open(&view, list, index, "x.image") != REX_OK) {
        fprintf(to, "%s%s: %s\n", of, rex_error_name(rex_last_error_code()), rex_last_error());
        return;
    }
    assert_true(view->kind == item->kind || item->kind == REX_IMAGE_OTHER);
    if (view->architecture != item->architecture)
        fprintf(to, "%sinside: for %u\n", of, view->architecture);
    tell_view(to, of, view);
    rex_image_view_close(view);
}

/* All that librex says of SIZE BYTES. To be freed. Sizes of host images, which are built here, are
 * not in it. */
static inline char *facts_of(const void *bytes, size_t size)
{
    struct rex_image_list *list;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (rex_image_list_open(&list, bytes, size, "x.image") != REX_OK) {
        fprintf(to, "%s: %s\n", rex_error_name(rex_last_error_code()), rex_last_error());
        fclose(to);
        return text;
    }
    assert_in_range(list->count, 1, 100000);
    for (size_t i = 0; i < list->count && (i == 0 || list->count <= MOST_TOLD); i++)
        tell_item(to, list, i);
    if (list->count > MOST_TOLD)
        fprintf(to, "images: %zu\n", list->count);
    rex_image_list_close(list);
    fclose(to);
    return text;
}

/* ---- what a change makes of it --------------------------------------------------------------- */

/* The line of TEXT that begins as AT does up to its colon; NULL if there is none. */
static inline const char *same_line(const char *text, const char *at)
{
    size_t length = strcspn(at, ":\n") + 1;
    for (; *text != '\0'; text += strcspn(text, "\n") + 1)
        if (strncmp(text, at, length) == 0)
            return text;
    return NULL;
}

/* The facts in the line AT that the line IN lacks, behind SIGN; true where there are any. */
static inline bool tell_new_facts(FILE *to, const char *sign, const char *at, const char *in)
{
    bool is_new = false;
    for (at += strcspn(at, ":\n"); *at == ':' || *at == ','; at += 1 + strcspn(at + 1, ",\n")) {
        size_t length = strcspn(at + 1, ",\n"), end = strcspn(in, "\n");
        const char *found = memmem(in, end, at + 1, length);
        if (found != NULL && (found[length] == ',' || found[length] == '\n'))
            continue;
        fprintf(to, "%s%s%.*s", is_new ? "," : "", is_new ? "" : sign, (int)length, at + 1);
        is_new = true;
    }
    return is_new;
}

/* The facts now, where there were others before: for each thing what is new; behind "no" what it
 * has no more. */
static inline char *difference(const char *before, const char *now)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    for (const char *at = now; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const char *was = same_line(before, at);
        if (was == NULL)
            fprintf(to, "; %.*s", (int)strcspn(at, "\n"), at);
        else if (strncmp(was, at, strcspn(at, "\n") + 1) != 0) {
            fprintf(to, "; %.*s:", (int)strcspn(at, ":"), at);
            if (!tell_new_facts(to, "", at, was))
                tell_new_facts(to, " no", was, at);
        }
    }
    for (const char *was = before; *was != '\0'; was += strcspn(was, "\n") + 1)
        if (same_line(now, was) == NULL && strstr(now, "REX_E") == NULL)
            fprintf(to, "; no %.*s", (int)strcspn(was, ":\n"), was);
    fclose(to);
    return text;
}

static inline struct image image_of(const void *bytes, size_t size)
{
    struct image image = {
        .size = size, .bytes = malloc(size), .kept = malloc(size), .facts = facts_of(bytes, size)};
    assert_true(image.bytes != NULL && image.kept != NULL);
    memcpy(image.bytes, bytes, size);
    memcpy(image.kept, bytes, size);
    return image;
}

static inline struct image image_in(const char *file)
{
    size_t size;
    unsigned char *bytes = read_bytes(file, &size);
    struct image image = image_of(bytes, size);
    free(bytes);
    return image;
}

static inline void close_image(struct image *image)
{
    free(image->bytes);
    free(image->kept);
    free(image->facts);
}

/* Say what the changed bytes are, beside what they were; and have them as they were. */
static inline void changed(struct image *image, const char *what, ...)
{
    char name[128];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(name, sizeof name, what, arguments);
    va_end(arguments);
    char *now = facts_of(image->bytes, image->size), *text = difference(image->facts, now);
    says("%s: %s", name, *text != '\0' ? text + 2 : "the same");
    free(now);
    free(text);
    memcpy(image->bytes, image->kept, image->size);
}

/* Say all of the bytes. */
static inline void told(const char *what, const void *bytes, size_t size)
{
    char *facts = facts_of(bytes, size);
    facts[strlen(facts) - 1] = '\0';
    says("%s: %s", what, facts);
    free(facts);
}

static inline void told_file(const char *file)
{
    size_t size;
    unsigned char *bytes = read_bytes(file, &size);
    told(file, bytes, size);
    free(bytes);
}

/* FILE beside another one that nearly says the same. */
static inline void told_beside(const char *file, const char *other)
{
    struct image one = image_in(file), base = image_in(other);
    char *text = difference(base.facts, one.facts);
    says("%s beside %s: %s", file, other, *text != '\0' ? text + 2 : "the same");
    free(text);
    close_image(&one);
    close_image(&base);
}

/* ---- places in an ELF file ------------------------------------------------------------------- */

static inline Elf64_Ehdr *header_of(const struct image *image)
{
    return (Elf64_Ehdr *)(void *)image->bytes;
}

static inline Elf64_Shdr *section_at(const struct image *image, size_t index)
{
    return (Elf64_Shdr *)(void *)(image->bytes + header_of(image)->e_shoff) + index;
}

static inline Elf64_Shdr *section_of(const struct image *image, const char *name)
{
    const Elf64_Shdr *names = section_at(image, header_of(image)->e_shstrndx);
    for (size_t i = 0; i < header_of(image)->e_shnum; i++)
        if (strcmp((char *)image->bytes + names->sh_offset + section_at(image, i)->sh_name, name) ==
            0)
            return section_at(image, i);
    fail_msg("no section %s", name);
    return NULL;
}

/* The first section of TYPE. */
static inline Elf64_Shdr *table_of(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < header_of(image)->e_shnum; i++)
        if (section_at(image, i)->sh_type == type)
            return section_at(image, i);
    fail_msg("no section of type %u", type);
    return NULL;
}

static inline void *bytes_of(const struct image *image, const Elf64_Shdr *section)
{
    return image->bytes + section->sh_offset;
}

/* The symbol NAME: a dynamic one, where there are such. */
static inline Elf64_Sym *symbol_of(const struct image *image, const char *name)
{
    const Elf64_Shdr *table = table_of(image, header_of(image)->e_type == ET_DYN ? SHT_DYNSYM
                                                                                 : SHT_SYMTAB);
    const Elf64_Shdr *strings = section_at(image, table->sh_link);
    Elf64_Sym *symbols = bytes_of(image, table);
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (strcmp((char *)bytes_of(image, strings) + symbols[i].st_name, name) == 0)
            return &symbols[i];
    fail_msg("no symbol %s", name);
    return NULL;
}

/* The last relocation that stores the name of an entry. */
static inline Elf64_Rela *last_name(const struct image *image)
{
    const Elf64_Shdr *relocations = section_of(image, ".rela.dyn"),
                     *entries = section_of(image, "omp_offloading_entries");
    Elf64_Rela *all = bytes_of(image, relocations), *found = NULL;
    for (size_t i = 0; i < relocations->sh_size / sizeof *all; i++)
        if (all[i].r_offset - entries->sh_addr < entries->sh_size &&
            (all[i].r_offset - entries->sh_addr) % 32 == offsetof(struct __tgt_offload_entry, name))
            found = &all[i];
    assert_non_null(found);
    return found;
}

/* ---- changes that are written down ----------------------------------------------------------- */

/* Members of headers, sections and symbols, which their names tell apart. */
static const struct member {
    const char *name;
    size_t at, width;
} members[] = {
#define MEMBER(type, member) {#member, offsetof(type, member), sizeof((type *)NULL)->member}
    MEMBER(Elf64_Ehdr, e_type),      MEMBER(Elf64_Ehdr, e_machine),   MEMBER(Elf64_Ehdr, e_flags),
    MEMBER(Elf64_Ehdr, e_phoff),     MEMBER(Elf64_Ehdr, e_shoff),     MEMBER(Elf64_Ehdr, e_phentsize),
    MEMBER(Elf64_Ehdr, e_shentsize), MEMBER(Elf64_Ehdr, e_shnum),     MEMBER(Elf64_Shdr, sh_name),
    MEMBER(Elf64_Shdr, sh_type),     MEMBER(Elf64_Shdr, sh_flags),    MEMBER(Elf64_Shdr, sh_addr),
    MEMBER(Elf64_Shdr, sh_offset),   MEMBER(Elf64_Shdr, sh_size),     MEMBER(Elf64_Sym, st_name),
    MEMBER(Elf64_Sym, st_info),      MEMBER(Elf64_Sym, st_other),     MEMBER(Elf64_Sym, st_shndx),
    MEMBER(Elf64_Sym, st_value),     MEMBER(Elf64_Sym, st_size),      MEMBER(Elf64_Rela, r_offset),
    MEMBER(Elf64_Rela, r_info),
    MEMBER(Elf64_Rela, r_addend)};

/*
 * A member of the header, of a [section]., of a <symbol>. or of the relocation *. for the last name
 * of an entry; or AT:WIDTH, in the file or behind the beginning of a [section]+. *TEXT goes on behind.
 */
static inline unsigned char *place_of(const struct image *image, const char **text, size_t *width)
{
    unsigned char *base = image->bytes;
    char name[128];
    size_t at;
    int length = 0;
    if (sscanf(*text, "[%127[^]]]%n", name, &length) == 1)
        base = (*text)[length] == '+' ? bytes_of(image, section_of(image, name))
                                      : (unsigned char *)section_of(image, name);
    else if (sscanf(*text, "<%127[^>]>%n", name, &length) == 1)
        base = (unsigned char *)symbol_of(image, name);
    else if (**text == '*') {
        base = (unsigned char *)last_name(image);
        length = 1;
    }
    *text += length > 0 ? length + 1 : 0;
    for (size_t i = 0; i < COUNT(members); i++)
        if (strncmp(*text, members[i].name, strlen(members[i].name)) == 0) {
            *text += strlen(members[i].name);
            *width = members[i].width;
            return base + members[i].at;
        }
    if (sscanf(*text, "%zu:%zu%n", &at, width, &length) != 2)
        fail_msg("no place: %s", *text);
    *text += length;
    return base + at;
}

/* Numbers, the size of the file, what is at a place, and where that relocation ends, with + or -
 * between them. */
static inline uint64_t value_of(const struct image *image, const char **text)
{
    uint64_t all = 0;
    char sign = '+';
    do {
        uint64_t value = 0;
        size_t width;
        char *end;
        if (strncmp(*text, "size", 4) == 0) {
            value = image->size;
            *text += 4;
        } else if (strncmp(*text, "end", 3) == 0) {
            value = (uint64_t)((unsigned char *)(last_name(image) + 1) - image->bytes);
            *text += 3;
        } else if (**text == '[' || **text == '<' || **text == '*') {
            const unsigned char *place = place_of(image, text, &width);
            memcpy(&value, place, width);
        } else {
            value = strtoull(*text, &end, 0);
            *text = end;
        }
        all += sign == '+' ? value : -value;
        sign = **text;
        *text += sign == '+' || sign == '-';
    } while (sign == '+' || sign == '-');
    return all;
}

/*
 * Each line of LIST is the file of an image, or, behind it, a change of it: what it is, and what
 * becomes of some places, and last of the file's size, as in
 * "of no type | <bounded>.st_info=0x10 e_flags=0 size=4000". A change without a name, which must say
 * nothing else, is there from then on.
 */
static inline void tell_changes(const char *list)
{
    char line[512];
    struct image image = {.size = 0};
    FILE *file = fopen(list, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const char *at = strstr(line, " |");
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#' || *line == '\0')
            continue;
        if (at == NULL) {
            close_image(&image);
            image = image_in(strcmp(line, "host.so") == 0 ? HOST : line);
            says("%s", line);
            continue;
        }
        const size_t whole = image.size;
        for (at += 2; *at++ == ' ';) {
            size_t width;
            if (sscanf(at, "size=%zu", &image.size) == 1)
                break;
            unsigned char *place = place_of(&image, &at, &width);
            if (*at++ != '=')
                fail_msg("no value: %s", line);
            const uint64_t value = value_of(&image, &at);
            memcpy(place, &value, width);
        }
        const char *what = line + strspn(line, " ");
        if (*what == '|') {
            char *facts = facts_of(image.bytes, image.size);
            assert_string_equal(facts, image.facts);
            free(facts);
            memcpy(image.kept, image.bytes, whole);
            continue;
        }
        changed(&image, "%.*s", (int)(strstr(what, " |") - what), what);
        image.size = whole;
        memcpy(image.bytes, image.kept, whole);
    }
    close_image(&image);
    fclose(file);
}

/* ---- signatures of a host image -------------------------------------------------------------- */

/* Where TAIL is in memory, which host_with_tail() puts behind the file. */
static const uint64_t PLACE = (uint64_t)1 << 40;

static inline struct image host_with_tail(const void *tail, size_t size)
{
    struct image host = image_in(HOST), longer = {.size = host.size + size};
    longer.bytes = malloc(longer.size);
    assert_non_null(longer.bytes);
    memcpy(longer.bytes, host.bytes, host.size);
    memcpy(longer.bytes + host.size, tail, size);
    Elf64_Shdr *section = section_of(&longer, ".eh_frame"); /* which librex does not read */
    *section = (Elf64_Shdr){.sh_name = section->sh_name,
                            .sh_type = SHT_PROGBITS,
                            .sh_flags = SHF_ALLOC,
                            .sh_addr = PLACE,
                            .sh_offset = host.size,
                            .sh_size = size};
    struct image image = image_of(longer.bytes, longer.size);
    assert_string_equal(image.facts, host.facts);
    close_image(&host);
    free(longer.bytes);
    return image;
}

/* The signature of plain__kernel__ is SIZE bytes at VALUE. */
static inline void sign(const struct image *image, uint64_t value, uint64_t size)
{
    Elf64_Sym *symbol = symbol_of(image, "rex_signature_plain__kernel__");
    symbol->st_value = value;
    symbol->st_size = size;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

#define HEAD ".version 8.0\n.target sm_75\n"

/* As PTX without its head: FORMAT with the declaration in the place of its %s. The line has the
 * symbols. */
static inline void told_declared(const char *format, const char *declaration)
{
    char text[2048], all[4096];
    snprintf(text, sizeof text, format, declaration);
    snprintf(all, sizeof all, HEAD "%s", text);
    char *facts = facts_of(all, strlen(all)), *symbols = strchr(facts, '\n') + 1;
    for (char *at = symbols; (at = strchr(at, '\n')) != NULL;)
        *at = at[1] != '\0' ? ';' : '\0';
    says("%s: %s", declaration, symbols);
    free(facts);
}

#endif
