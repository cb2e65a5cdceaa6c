/*
 * cache.c - what was made of PTX is kept: in a folder that is the user's own, by any number of
 * processes, and never used where it is wrong. Real files; the driver that compiles is a fake one.
 * The log of each load of the PTX: tests/golden/messages/configure.txt.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "module/cachefolder.h"
#include "rex/library.h"
#include "support/messages.h"

MESSAGES("configure");

#define STRANGER 65534
#define PTX "tests/data/sm_90.ptx"
#define CUBIN "tests/data/sm_90.cubin"

static char root[PATH_MAX], folder[PATH_MAX + 16];
static unsigned char *source;
static size_t source_size, product_size;

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    snprintf(folder, sizeof folder, "%s/cache", root);
    source = read_bytes(PTX, &source_size);
    free(read_bytes(CUBIN, &product_size));
    return rex_configure(REX_OPTION_CACHE, folder);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    free(source);
    return rex_configure(REX_OPTION_CACHE, NULL);
}

#define TEST_WITH_CACHE(name) TEST(name, .set_up = set_up, .tear_down = tear_down)

/* The only file in WHERE; "" if there is none, and a failure if there are more. */
static const char *only_file(const char *where)
{
    static char path[2 * PATH_MAX];
    DIR *directory = opendir(where);
    const struct dirent *entry;
    int count = 0;
    path[0] = '\0';
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
            count++;
        }
    if (directory != NULL)
        closedir(directory);
    assert_in_range(count, 0, 1);
    return path;
}

/* ---- loads of the PTX ------------------------------------------------------------------------ */

static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, "cache") != NULL)
        says("    %s", message);
}

/* GPUs, libomptarget and the linker are there before anything fails. */
static void begin(void)
{
    setenv("FAKE_LINK_CUBIN", CUBIN, 0);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(first_gpu(), REX_OK);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
}

/* How often the driver compiled then. */
static int compile(void)
{
    struct rex_library *library;
    int *links = in_driver("fake_cuda_links"), before = *links;
    int result = rex_library_load(&library, -1, source, source_size, "x.ptx");
    CHECK_EQUAL(result, REX_OK);
    CHECK(rex_image_view_find(rex_library_view(library), "plain__kernel__") != NULL);
    CHECK_EQUAL(rex_library_unload(library), REX_OK);
    return *links - before;
}

static void run(const void *what)
{
    begin();
    rex_set_log_callback(note, NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), REX_OK);
    says("%s: %s", (const char *)what, compile() > 0 ? "compiled" : "taken");
}

/* In a process of its own. */
static void load(const char *what, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    in_child(run, text);
}

/* ---- what is found --------------------------------------------------------------------------- */

TEST_WITH_CACHE(test_round_trip)
{
    struct stat status;
    load("first");
    load("again");
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(stat(only_file(folder), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(unlink(only_file(folder)), 0);
    load("without the file");
    assert_int_equal(unlink(only_file(folder)), 0);
    assert_int_equal(rmdir(folder), 0);
    load("without the folder");
    rex_configure(REX_OPTION_CACHE, "off");
    load("off");
    rex_configure(REX_OPTION_CACHE, "/proc/none/cache");
    load("a folder that cannot be made");
}

/* With standard input closed the folder is descriptor 0, and is given back. CONTEXT: "taken", or compiled. */
static void without_input(const void *what)
{
    begin();
    close(STDIN_FILENO);
    CHECK_EQUAL(compile(), strcmp(what, "taken") != 0);
    CHECK_EQUAL(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
}

/* Another source, also where its file has the first one's name, and another driver. */
TEST_WITH_CACHE(test_keys)
{
    char first[PATH_MAX], second[PATH_MAX + 16];
    load("for sm_90");
    snprintf(first, sizeof first, "%s", only_file(folder));
    snprintf(second, sizeof second, "%s/saved", root);
    assert_int_equal(rename(first, second), 0);
    source[source_size - 1] = ' ';
    load("another source");
    assert_int_equal(rename(second, only_file(folder)), 0);
    load("with the first one's file");
    assert_int_equal(remove(only_file(folder)), 0);
    setenv("FAKE_CUDA_VERSION", "13010", 1);
    load("another driver");
    unsetenv("FAKE_CUDA_VERSION");
}

/* ---- whose it is ----------------------------------------------------------------------------- */

TEST_WITH_CACHE(test_folders)
{
    static const mode_t modes[] = {0777, 01777, 0770, 0702, 0755};
    char path[PATH_MAX + 16];
    load("first");
    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_int_equal(chmod(folder, modes[i]), 0);
        load("folder of %o", modes[i]);
    }
    snprintf(path, sizeof path, "%s/link", root);
    assert_int_equal(symlink(folder, path), 0); /* ~/.cache may lie on another disk */
    assert_int_equal(rex_configure(REX_OPTION_CACHE, path), 0);
    load("a link to it");
    snprintf(path, sizeof path, "%s/file", root);
    write_bytes(path, "x", 1);
    assert_int_equal(rex_configure(REX_OPTION_CACHE, path), 0);
    load("a file");
}

TEST_WITH_CACHE(test_files)
{
    char path[PATH_MAX], other[PATH_MAX + 16];
    load("first");
    snprintf(path, sizeof path, "%s", only_file(folder));
    assert_int_equal(chmod(path, 0620), 0);
    load("that others can write");
    assert_int_equal(chmod(path, 0644), 0);
    load("that others can read");
    snprintf(other, sizeof other, "%s/elsewhere", root);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    load("a link"); /* it goes, and not what it led to */
    load("in its place");
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    load("a pipe");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    load("a folder");
}

TEST_WITH_CACHE(test_owners)
{
    if (geteuid() != 0) {
        print_message("skip: only root can give a folder away\n");
        skip();
    }
    load("first");
    assert_int_equal(chown(only_file(folder), STRANGER, STRANGER), 0);
    load("another user's file");
    assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
    load("another user's folder");
}

/* ---- bytes that are wrong -------------------------------------------------------------------- */

/* Words of the header, behind the magic and the maker. */
enum { ARCHITECTURE, SOURCE_SIZE, SIZE, SUM };
#define WORDS (sizeof REX_CACHE_MAGIC + 128)
#define HEADER (WORDS + 4 * sizeof(uint64_t))

TEST_WITH_CACHE(test_bytes)
{
    load("first");
    const off_t sources = HEADER, products = (off_t)(HEADER + source_size),
                end = products + (off_t)product_size;
    const struct {
        const char *what;
        off_t changed, cut; /* a byte; the length then; -1: none */
    } cases[] = {
        {"its magic", 0, -1},
        {"the magic's end", sizeof REX_CACHE_MAGIC - 2, -1},
        {"the maker", sizeof REX_CACHE_MAGIC, -1},
        {"the maker's end", WORDS - 1, -1},
        {"the architecture", WORDS, -1},
        {"the source's size", WORDS + SOURCE_SIZE * 8, -1},
        {"the size", WORDS + SIZE * 8 + 7, -1},
        {"the sum", WORDS + SUM * 8, -1},
        {"the source", sources, -1},
        {"the source's end", products - 1, -1},
        {"the product", products, -1},
        {"the product's end", end - 1, -1},
        {"nothing", -1, 0},
        {"a part of the header", -1, HEADER - 1},
        {"the header alone", -1, HEADER},
        {"without the product", -1, products},
        {"a byte less", -1, end - 1},
        {"a byte more", -1, end + 1},
        {"a terabyte", -1, (off_t)1 << 40},
    };
    char path[PATH_MAX];
    size_t size;
    snprintf(path, sizeof path, "%s", only_file(folder));
    unsigned char *bytes = read_bytes(path, &size);
    assert_int_equal(size, end);
    says("the maker is %s", (char *)bytes + sizeof REX_CACHE_MAGIC);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].changed >= 0)
            bytes[cases[i].changed] ^= 1;
        write_bytes(path, bytes, size);
        if (cases[i].changed >= 0)
            bytes[cases[i].changed] ^= 1;
        if (cases[i].cut >= 0)
            lengthen(path, cases[i].cut);
        load("%s", cases[i].what);
        in_child(without_input, "taken");
    }
    /* A file without a result, and one larger than the cache may be. */
    uint64_t words[4] = {90, source_size, 0, 0};
    memcpy(bytes + WORDS, words, sizeof words);
    write_bytes(path, bytes, (size_t)products);
    load("no product");
    for (uint64_t larger = 0; larger < 2; larger++) {
        words[ARCHITECTURE] = 80;
        words[SIZE] = ((uint64_t)256 << 20) - source_size + larger;
        memcpy(bytes + WORDS, words, sizeof words);
        write_bytes(path, bytes, size);
        lengthen(path, products + (off_t)words[SIZE]);
        load(larger ? "a byte too many" : "as many as can be");
    }
    free(bytes);
}

/* ---- which folder ---------------------------------------------------------------------------- */

static void load_in(const char *place, const char *rest)
{
    char path[2 * PATH_MAX];
    load("%s", place);
    snprintf(path, sizeof path, "%s%s", root, rest);
    says("    a file: %s", *only_file(path) != '\0' ? "yes" : "no");
}

TEST_WITH_CACHE(test_places)
{
    char path[2 * PATH_MAX];
    struct stat status;
    rex_configure(REX_OPTION_CACHE, NULL);
    unsetenv("REX_CACHE");
    setenv("HOME", root, 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    load_in("HOME", "/.cache/librex");
    snprintf(path, sizeof path, "%s/.cache", root);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    /* One that is too long for a path is none. */
    setenv("HOME", "none", 1);
    for (size_t more = 0; more < 2; more++) {
        memset(path, '/', sizeof path);
        memcpy(path, root, strlen(root));
        memcpy(path + strlen(root), more ? "/longer" : "/long", strlen(more ? "/longer" : "/long"));
        path[PATH_MAX - sizeof "/librex" + more] = '\0';
        setenv("XDG_CACHE_HOME", path, 1);
        load_in(more ? "too long" : "long", more ? "/longer/librex" : "/long/librex");
    }
    snprintf(path, sizeof path, "%s/xdg", root);
    setenv("XDG_CACHE_HOME", path, 1);
    load_in("XDG_CACHE_HOME", "/xdg/librex");
    setenv("REX_CACHE", folder, 1);
    load_in("REX_CACHE", "/cache");
    setenv("REX_CACHE", "Off", 1);
    load("REX_CACHE=Off");
    unsetenv("REX_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    load("nothing is set");
}

/* ---- many at a time -------------------------------------------------------------------------- */

enum { WRITERS = 6, ROUNDS = 38 };

/* Another process may have removed the file; what is there is right. */
static void write_and_read(void)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "rm -f '%s'/*", folder);
    begin();
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), REX_OK);
    for (int i = 0; i < ROUNDS; i++) {
        compile();
        CHECK(i % 13 != 0 || system(command) == 0);
    }
    _exit(0);
}

TEST_WITH_CACHE(test_writers)
{
    pid_t children[WRITERS];
    int status;
    for (int i = 0; i < WRITERS; i++)
        if ((children[i] = fork()) == 0)
            write_and_read();
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    in_child(without_input, "taken");
    assert_string_not_equal(only_file(folder), ""); /* nothing unfinished beside it */
}

/* ---- how full it gets: no more than 256 MiB -------------------------------------------------- */

#define OWN(number) "000000000000000" #number "-sm_90.cubin"
#define MiB ((off_t)1 << 20)

struct file {
    const char *name;
    long age;
    off_t size;        /* 0: what is in it */
    const char *bytes; /* NULL: a file of the cache begins so */
};

static void put(const struct file *file)
{
    char path[2 * PATH_MAX];
    const struct timespec times[2] = {{time(NULL) - file->age, 0}, {time(NULL) - file->age, 0}};
    snprintf(path, sizeof path, "%s/%s", folder, file->name);
    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    write_bytes(path, file->bytes != NULL ? file->bytes : REX_CACHE_MAGIC,
                file->bytes != NULL ? strlen(file->bytes) : sizeof REX_CACHE_MAGIC);
    if (file->size > 0)
        lengthen(path, file->size);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The files, and a store beside them: which are left. */
static void store_beside_files(const char *what, const struct file *files, size_t count)
{
    char path[2 * PATH_MAX];
    for (size_t i = 0; i < count; i++)
        put(&files[i]);
    load("%s", what);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        says("    %s is %s", files[i].name, unlink(path) == 0 ? "left" : "removed");
    }
    assert_int_equal(unlink(only_file(folder)), 0);
}

/* Files that were used longest ago go first. */
TEST_WITH_CACHE(test_full)
{
    const off_t rest = 256 * MiB - (off_t)(HEADER + source_size + product_size);
    const struct file fits[] = {{OWN(1), 300, 100 * MiB, NULL},
                                {OWN(2), 200, rest - 100 * MiB, NULL}},
                      too_much[] = {{OWN(1), 300, 100 * MiB, NULL},
                                    {OWN(2), 200, rest - 100 * MiB + 1, NULL}},
                      three[] = {{OWN(1), 200, 200 * MiB, NULL},
                                 {OWN(2), 300, 100 * MiB, NULL},
                                 {OWN(3), 100, 100 * MiB, NULL}};
    store_beside_files("as much as can be", fits, COUNT(fits));
    store_beside_files("a byte more", too_much, COUNT(too_much));
    store_beside_files("three", three, COUNT(three));
}

/* The folder may be one where the program's own images lie: they are neither removed nor counted.
 * The last one makes the cache too full. */
TEST_WITH_CACHE(test_strangers)
{
    static const struct file files[] = {
        {"mine.cubin", 9000, 0, NULL},
        {"stranger", 9000, 0, NULL},
        {OWN(1) ".cubin", 9000, 0, NULL},
        {"0-sm_90.cubin", 9000, 0, NULL},
        {"000000000000000g-sm_90.cubin", 9000, 0, NULL},
        {"0000000000000001-sm_.cubin", 9000, 0, NULL},
        {"000000000000001-sm_90.cubin", 9000, 0, NULL},
        {"0000000000000001f-sm_90.cubin", 9000, 0, NULL},
        {"0000000000000001-sm_1234567890.cubin", 9000, 0, NULL},
        {"0000000000000001_sm_90.cubin", 9000, 0, NULL},
        {".new1-1-" OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "1.1-" OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "-1-" OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "1--" OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "1-1" OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "1-1-mine.cubin", 9000, 0, NULL},
        {REX_CACHE_UNFINISHED OWN(1), 9000, 0, NULL},
        {REX_CACHE_UNFINISHED "1-x-" OWN(1), 9000, 0, NULL},
        /* the name of a file of the cache, and something else in it */
        {OWN(5), 9000, 200 * MiB, "\177ELF, by its first bytes"},
        {OWN(6), 9000, 0, "librex cache 1\n"},
        {REX_CACHE_UNFINISHED "1-1-" OWN(7), 9000, 0, "mine"},
        /* unfinished ones of the cache: the older ones go */
        {REX_CACHE_UNFINISHED "1-1-" OWN(4), 10, 0, NULL},
        {REX_CACHE_UNFINISHED "3-1-" OWN(4), 7200, 0, ""},
        {REX_CACHE_UNFINISHED "6-1-" OWN(4), 7200, 0, "libre"},
        {REX_CACHE_UNFINISHED "4-12-" OWN(4), 3590, 0, NULL},
        {REX_CACHE_UNFINISHED "5-123-" OWN(4), 3610, 0, NULL},
        {"0123456789abcdef-sm_123456789.cubin", 100, 0, NULL},
        {"0123456789abcdef-sm_9.cubin", 100, 0, NULL},
        {OWN(8), 10, 257 * MiB, NULL},
    };
    store_beside_files("files of others", files, COUNT(files));
}

/* However many there are, all count, and the oldest go first. */
TEST_WITH_CACHE(test_many)
{
    enum { FILES = 500, KEPT = 255 };
    char name[64], path[2 * PATH_MAX];
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%016x-sm_90.cubin", i);
        put(&(struct file){name, 10 + (long)i, MiB, NULL});
    }
    in_child(without_input, "stored");
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%016x-sm_90.cubin", folder, i);
        assert_int_equal(access(path, F_OK) == 0, i < KEPT);
    }
}

/* A file that is used counts as new. */
TEST_WITH_CACHE(test_used)
{
    struct stat status;
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    load("first");
    assert_int_equal(utimensat(AT_FDCWD, only_file(folder), times, 0), 0);
    load("again");
    assert_int_equal(stat(only_file(folder), &status), 0);
    assert_true(status.st_mtime > 1000);
}
