/*
 * cache.c - what was made of PTX is kept: in a folder that is the user's own, by any number of processes, and never used where it is wrong.
 * Real files; the driver that compiles is a fake one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

#include "module/cache.h"
#include "module/cachefolder.h"
#include "module/moduleimage.h"

#define STRANGER 65534

static char root[PATH_MAX], folder[PATH_MAX + 16];
static const unsigned char source[] = ".version 9.0\n.target sm_90\n";
static const unsigned char product[] = "what came out";

static struct rex_cache_key a_key(void)
{
    return (struct rex_cache_key){source, sizeof source, "13000 libcuda.so.580.1", 90};
}

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    snprintf(folder, sizeof folder, "%s/cache", root);
    return rex_configure(REX_OPTION_CACHE, folder);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return rex_configure(REX_OPTION_CACHE, NULL);
}

/* The only file in the folder; "" if there is none, and a failure if there are more. */
static const char *only_file(const char *where)
{
    static char path[2 * PATH_MAX];
    DIR *directory = opendir(where);
    const struct dirent *entry;
    int count = 0;
    path[0] = '\0';
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' || strncmp(entry->d_name, REX_CACHE_UNFINISHED, 5) == 0) {
            snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
            count++;
        }
    if (directory != NULL)
        closedir(directory);
    assert_in_range(count, 0, 1);
    return path;
}

/* Whether KEY's product is there, and then it has to be right. */
static bool is_there(const struct rex_cache_key *key)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (rex_cache_load(key, "x.ptx", &bytes, &size) != 0) {
        assert_null(bytes);
        return false;
    }
    assert_int_equal(size, sizeof product);
    assert_memory_equal(bytes, product, size);
    free(bytes);
    return true;
}

static void store(void)
{
    const struct rex_cache_key key = a_key();
    rex_cache_store(&key, product, sizeof product);
}

static bool is_stored(void)
{
    const struct rex_cache_key key = a_key();
    return is_there(&key);
}

/* ---- what is found ----------------------------------------------------------------------------------------------------- */

TEST(test_round_trip, .set_up = set_up, .tear_down = tear_down)
{
    struct stat status;
    assert_false(is_stored());
    assert_int_equal(access(folder, F_OK), -1); /* looking makes nothing */
    store();
    assert_true(is_stored());
    store();
    assert_true(is_stored());
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(stat(only_file(folder), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(unlink(only_file(folder)), 0);
    assert_false(is_stored());
    assert_int_equal(rmdir(folder), 0);
    store();
    assert_true(is_stored());
}

/* With standard input closed the folder is descriptor 0. */
static void store_without_input(const void *context)
{
    const struct rex_cache_key key = a_key();
    unsigned char *bytes = NULL;
    size_t size = 0;
    (void)context;
    close(STDIN_FILENO);
    for (int i = 0; i < 2; i++) {
        errno = ENOENT; /* of some call before */
        CHECK_EQUAL(rex_cache_load(&key, "x.ptx", &bytes, &size), i - 1);
        store();
    }
    CHECK_EQUAL(size, sizeof product);
    CHECK_EQUAL(memcmp(bytes, product, size), 0);
    free(bytes);
    CHECK_EQUAL(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO); /* and was given back */
}

/* Also where it is not used. */
static void refused_without_input(const void *context)
{
    (void)context;
    close(STDIN_FILENO);
    CHECK(!is_stored());
    store();
    CHECK_EQUAL(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
}

TEST(test_without_input, .set_up = set_up, .tear_down = tear_down)
{
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    in_child(refused_without_input, NULL);
    assert_int_equal(rmdir(folder), 0);
    in_child(store_without_input, NULL);
    assert_true(is_stored());
}

TEST(test_keys, .set_up = set_up, .tear_down = tear_down)
{
    struct rex_cache_key other = a_key();
    store();
    other.architecture = 80;
    assert_false(is_there(&other));
    other = a_key();
    snprintf(other.maker, sizeof other.maker, "13000 libcuda.so.580.2");
    assert_false(is_there(&other));
    other = a_key();
    other.source_size--;
    assert_false(is_there(&other));
    other = a_key();
    other.source = (const unsigned char *)".version 9.0\n.target sm_80\n";
    assert_false(is_there(&other));
}

/* Two sources whose names were equal would find each other's file. */
TEST(test_same_name, .set_up = set_up, .tear_down = tear_down)
{
    const struct rex_cache_key key = a_key();
    struct rex_cache_key other = key;
    char first[PATH_MAX], path[PATH_MAX];
    other.source = (const unsigned char *)".version 9.0\n.target sm_80\n";
    rex_cache_store(&other, product, sizeof product);
    snprintf(first, sizeof first, "%s", only_file(folder));
    assert_int_equal(unlink(first), 0);
    store();
    snprintf(path, sizeof path, "%s", only_file(folder));
    assert_int_equal(rename(path, first), 0);
    assert_false(is_there(&other));
    assert_int_equal(rename(first, path), 0);
    assert_true(is_there(&key));
}

TEST(test_damaged, .set_up = set_up, .tear_down = tear_down)
{
    char path[PATH_MAX];
    size_t size;
    store();
    snprintf(path, sizeof path, "%s", only_file(folder));
    unsigned char *bytes = read_bytes(path, &size);
    rex_configure(REX_OPTION_LOG, "off");
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        write_bytes(path, bytes, size);
        if (is_stored())
            fail_msg("byte %zu is not looked at", i);
        bytes[i] ^= 0x10;
        write_bytes(path, bytes, i);
        assert_false(is_stored());
    }
    rex_configure(REX_OPTION_LOG, NULL);
    store(); /* over what is damaged */
    assert_true(is_stored());
    free(bytes);
}

/* ---- whose it is ------------------------------------------------------------------------------------------------------- */

static void log_of(const void *action)
{
    rex_configure(REX_OPTION_LOG, "warn");
    if (strcmp(action, "store") == 0)
        store();
    else
        CHECK(!is_stored());
}

static void refused(const char *because)
{
    assert_non_null(strstr(in_child(log_of, "load"), because));
    assert_non_null(strstr(in_child(log_of, "store"), because));
}

TEST(test_folders, .set_up = set_up, .tear_down = tear_down)
{
    store();
    static const mode_t open_to_others[] = {0777, 01777, 0770, 0702};
    for (size_t i = 0; i < COUNT(open_to_others); i++) {
        assert_int_equal(chmod(folder, open_to_others[i]), 0);
        refused("is not used: others can write it");
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(is_stored());
    char link[PATH_MAX + 16];
    snprintf(link, sizeof link, "%s/link", root);
    assert_int_equal(symlink(folder, link), 0); /* ~/.cache may lie on another disk */
    assert_int_equal(rex_configure(REX_OPTION_CACHE, link), 0);
    assert_true(is_stored());
    snprintf(link, sizeof link, "%s/file", root);
    write_bytes(link, "x", 1);
    assert_int_equal(rex_configure(REX_OPTION_CACHE, link), 0);
    refused("is not used: Not a directory");
    if (geteuid() != 0) {
        print_message("skip: only root can give a folder away\n");
        return;
    }
    assert_int_equal(rex_configure(REX_OPTION_CACHE, folder), 0);
    assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
    refused("is not used: it belongs to another user");
}

TEST(test_files, .set_up = set_up, .tear_down = tear_down)
{
    char path[PATH_MAX], other[PATH_MAX + 16];
    store();
    snprintf(path, sizeof path, "%s", only_file(folder));
    assert_int_equal(chmod(path, 0620), 0);
    assert_false(is_stored());
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(is_stored());
    if (geteuid() == 0) {
        assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_false(is_stored());
        assert_int_equal(chown(path, 0, 0), 0);
    }
    snprintf(other, sizeof other, "%s/elsewhere", root);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_false(is_stored());
    store(); /* the link goes, and not what it led to */
    assert_true(is_stored());
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_stored());
}

/* A disk that is full: the limit on the size of a file makes write() fail likewise. */
static void no_room(const void *context)
{
    const struct rlimit limit = {100, 100};
    (void)context;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
    store();
    CHECK(!is_stored());
}

TEST(test_no_room, .set_up = set_up, .tear_down = tear_down)
{
    /* What the child says goes to a file, too. */
    rex_configure(REX_OPTION_LOG, "off");
    in_child(no_room, NULL);
    rex_configure(REX_OPTION_LOG, NULL);
    assert_string_equal(only_file(folder), "");
}

/* ---- what is wrong, in words ------------------------------------------------------------------------------------------- */

/* rules.mk leads these calls here: one of them fails, or has the file cut off by another process behind it. */
static const char *failing = "";
static off_t cut_to = -1;

static bool fails(const char *call, int error)
{
    bool is_it = strcmp(failing, call) == 0;
    errno = is_it ? error : errno;
    return is_it;
}

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
    return fails("fstat", EIO) ? -1 : __real_fstat(fd, status);
}
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int result = __real_close(fd);
    return fails("close", ENOSPC) ? -1 : result;
}
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t offset)
{
    ssize_t have = __real_pread(fd, bytes, size, offset);
    CHECK(cut_to < 0 || truncate(only_file(folder), cut_to) == 0);
    return have;
}
ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    CHECK_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC); /* no program that another thread starts has the file */
    return __real_read(fd, bytes, size);
}
void *__real_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
    return fails("reallocarray", ENOMEM) ? NULL : __real_reallocarray(block, count, size);
}

/* All that a load, or a store, says of the one file that there is, or would be. */
static void says(const char *action, const char *name, const char *because)
{
    char line[PATH_MAX];
    const char *output = in_child(log_of, action);
    snprintf(line, sizeof line, "librex: warning: the cache's %s %s: %s\n", name, strcmp(action, "load") == 0 ? "is not used" : "cannot be written", because);
    assert_string_equal(output, line);
}

/* Words of the header, behind the magic and the maker. */
enum { ARCHITECTURE, SOURCE_SIZE, SIZE, SUM };
#define WORDS (sizeof REX_CACHE_MAGIC + REX_CACHE_MAKER_MAX)
#define HEADER (WORDS + 4 * sizeof(uint64_t))

TEST(test_reasons, .set_up = set_up, .tear_down = tear_down)
{
    static const char cut_off[] = "it is cut off", of_another[] = "it belongs to another source";
    static const struct {
        off_t changed, cut; /* a byte; the length then; -1: none */
        const char *because;
    } cases[] = {
        {0, -1, "it is no file of this cache"},
        {sizeof REX_CACHE_MAGIC - 2, -1, "it is no file of this cache"},
        {sizeof REX_CACHE_MAGIC, -1, of_another},
        {WORDS - 1, -1, of_another},
        {WORDS, -1, of_another},
        {WORDS + SOURCE_SIZE * 8, -1, cut_off},
        {WORDS + SIZE * 8 + 7, -1, cut_off},
        {WORDS + SUM * 8, -1, "it is damaged"},
        {HEADER, -1, of_another},
        {HEADER + sizeof source - 1, -1, of_another},
        {HEADER + sizeof source, -1, "it is damaged"},
        {HEADER + sizeof source + sizeof product - 1, -1, "it is damaged"},
        {-1, 0, cut_off},
        {-1, HEADER - 1, cut_off},
        {-1, HEADER, cut_off},
        {-1, HEADER + sizeof source, cut_off},
        {-1, HEADER + sizeof source + sizeof product - 1, cut_off},
        {-1, HEADER + sizeof source + sizeof product + 1, cut_off},
    };
    char path[PATH_MAX];
    size_t size;
    store();
    snprintf(path, sizeof path, "%s", only_file(folder));
    const char *name = strrchr(path, '/') + 1;
    unsigned char *bytes = read_bytes(path, &size);
    assert_int_equal(size, HEADER + sizeof source + sizeof product);
    assert_string_equal((char *)bytes + sizeof REX_CACHE_MAGIC, "13000 libcuda.so.580.1");
    for (size_t i = 0; i < COUNT(cases); i++) {
        off_t at = cases[i].changed;
        if (at >= 0)
            bytes[at] ^= 1;
        write_bytes(path, bytes, size);
        if (at >= 0)
            bytes[at] ^= 1;
        assert_int_equal(truncate(path, cases[i].cut >= 0 ? cases[i].cut : (off_t)size), 0);
        says("load", name, cases[i].because);
    }
    write_bytes(path, bytes, size);
    assert_int_equal(chmod(path, 0602), 0);
    says("load", name, "it is another user's, or others can write it");
    assert_int_equal(chmod(path, 0600), 0);
    failing = "close";
    assert_true(is_stored());
    failing = "";
    /* Of no result, and of one larger than the cache may be. */
    uint64_t words[4] = {90, sizeof source, 0, 0};
    memcpy(bytes + WORDS, words, sizeof words);
    write_bytes(path, bytes, HEADER + sizeof source);
    says("load", name, cut_off);
    for (int larger = 0; larger < 2; larger++) {
        words[ARCHITECTURE] = 80;
        words[SIZE] = ((uint64_t)256 << 20) - sizeof source + (uint64_t)larger;
        memcpy(bytes + WORDS, words, sizeof words);
        write_bytes(path, bytes, size);
        lengthen(path, (off_t)(HEADER + sizeof source + words[SIZE]));
        says("load", name, larger ? "it is larger than the cache may be" : of_another);
    }
    free(bytes);
}

/* Another process cuts the file off while it is read; and the file system does what it likes. */
TEST(test_while_it_is_read, .set_up = set_up, .tear_down = tear_down)
{
    static const off_t lengths[] = {1, HEADER - 1, HEADER, HEADER + sizeof source, HEADER + sizeof source + 1};
    char name[64];
    for (size_t i = 0; i < COUNT(lengths); i++) {
        store();
        snprintf(name, sizeof name, "%s", strrchr(only_file(folder), '/') + 1);
        cut_to = lengths[i];
        says("load", name, "it is cut off");
        cut_to = -1;
    }
    store();
    assert_true(is_stored());
    assert_int_equal(remove(only_file(folder)), 0);
    failing = "close";
    says("store", name, "No space left on device");
    failing = "";
    assert_string_equal(only_file(folder), "");
    failing = "fstat";
    refused("/cache is not used: Input/output error\n");
    failing = "";
    /* There is a folder of that name, and files with all the names that are unfinished. */
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
    says("store", name, "Is a directory");
    says("load", name, "it is not a regular file");
    assert_int_equal(rmdir(path), 0);
    assert_string_equal(only_file(folder), "");
}

/* A name that is taken already is not taken twice: the next store has another. */
static void store_beside(const void *context)
{
    enum { NAMES = 100 };
    char path[3 * PATH_MAX];
    rex_configure(REX_OPTION_LOG, "off");
    for (int number = 0; number < NAMES; number++) {
        snprintf(path, sizeof path, "%s/" REX_CACHE_UNFINISHED "%ld-%d-%s", folder, (long)getpid(), number, (const char *)context);
        write_bytes(path, "", 0);
    }
    for (int tries = 0; tries <= NAMES && !is_stored(); tries++)
        store();
    CHECK(is_stored());
}

TEST(test_unfinished_names, .set_up = set_up, .tear_down = tear_down)
{
    char name[64];
    store();
    snprintf(name, sizeof name, "%s", strrchr(only_file(folder), '/') + 1);
    assert_int_equal(remove(only_file(folder)), 0);
    in_child(store_beside, name);
}

/* What is kept and found is told at its level; and nothing of a folder that is not there. */
static void keep_and_find(const void *level)
{
    rex_configure(REX_OPTION_LOG, level);
    CHECK(!is_stored());
    store();
    CHECK(is_stored());
}

TEST(test_told, .set_up = set_up, .tear_down = tear_down)
{
    char expected[256], name[64];
    const char *output = in_child(keep_and_find, "debug");
    snprintf(name, sizeof name, "%s", strrchr(only_file(folder), '/') + 1);
    assert_string_equal(name + 16, "-sm_90.cubin");
    snprintf(expected, sizeof expected,
             "librex: debug: kept in the cache as %s\nlibrex: info: device image x.ptx: compiled before, taken from the cache's %s\n", name, name);
    assert_string_equal(output, expected);
    assert_int_equal(remove(only_file(folder)), 0);
    assert_string_equal(strstr(in_child(keep_and_find, "info"), "librex: info: device"), strstr(expected, "librex: info: device"));
    assert_int_equal(remove(only_file(folder)), 0);
    assert_string_equal(in_child(keep_and_find, "warn"), "");
    assert_int_equal(rex_configure(REX_OPTION_CACHE, "/proc/none/cache"), 0);
    assert_string_equal(in_child(log_of, "load"), "");
    assert_string_equal(in_child(log_of, "store"), "librex: warning: the cache folder /proc/none/cache is not used: No such file or directory\n");
}

/* ---- which folder ------------------------------------------------------------------------------------------------------ */

TEST(test_places, .set_up = set_up, .tear_down = tear_down)
{
    char path[2 * PATH_MAX], made[PATH_MAX + 16];
    struct stat status;
    rex_configure(REX_OPTION_CACHE, NULL);
    unsetenv("REX_CACHE");
    setenv("HOME", root, 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    store();
    snprintf(path, sizeof path, "%s/.cache/librex", root);
    assert_string_not_equal(only_file(path), "");
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    /* One that is too long for a path is none. */
    for (size_t more = 0; more < 2; more++) {
        memset(path, '/', sizeof path);
        memcpy(path, root, strlen(root));
        memcpy(path + strlen(root), more ? "/longer" : "/long", strlen(more ? "/longer" : "/long"));
        path[PATH_MAX - sizeof "/librex" + more] = '\0';
        setenv("XDG_CACHE_HOME", path, 1);
        store();
        snprintf(made, sizeof made, "%s/%s", root, more ? "longer" : "long");
        assert_int_equal(access(made, F_OK), more ? -1 : 0);
    }
    snprintf(path, sizeof path, "%s/xdg", root);
    setenv("XDG_CACHE_HOME", path, 1);
    store();
    snprintf(path, sizeof path, "%s/xdg/librex", root);
    assert_string_not_equal(only_file(path), "");
    setenv("REX_CACHE", folder, 1);
    store();
    assert_string_not_equal(only_file(folder), "");
    setenv("REX_CACHE", "Off", 1);
    assert_false(is_stored());
    unsetenv("REX_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    store();
    assert_false(is_stored());
}

/* ---- many at a time ---------------------------------------------------------------------------------------------------- */

#define WRITERS 6
#define ROUNDS 100

static void write_and_read(void)
{
    rex_configure(REX_OPTION_LOG, "off");
    for (int i = 0; i < ROUNDS; i++) {
        store();
        is_stored(); /* another may have removed it; what is there is right */
        if (i % 7 == 0) {
            char path[2 * PATH_MAX];
            snprintf(path, sizeof path, "rm -f '%s'/*", folder);
            CHECK(i % 49 != 0 || system(path) == 0);
        }
    }
    _exit(is_stored() ? 0 : 1);
}

TEST(test_writers, .set_up = set_up, .tear_down = tear_down)
{
    pid_t children[WRITERS];
    int status, kept = 0;
    for (int i = 0; i < WRITERS; i++)
        if ((children[i] = fork()) == 0)
            write_and_read();
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        kept += WEXITSTATUS(status) == 0;
    }
    assert_true(kept > 0);
    assert_true(is_stored());
    assert_string_not_equal(only_file(folder), ""); /* nothing unfinished beside it */
}

/* ---- how full it gets -------------------------------------------------------------------------------------------------- */

#define OWN(number) "000000000000000" #number "-sm_90.cubin"
#define OWN_SIZE sizeof REX_CACHE_MAGIC

static void put_bytes(const char *name, long age, const void *bytes, size_t size)
{
    char path[2 * PATH_MAX];
    const struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_bytes(path, bytes, size);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* What begins as the files of the cache do. */
static void put(const char *name, long age)
{
    put_bytes(name, age, REX_CACHE_MAGIC, OWN_SIZE);
}

static bool exists(const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int open_folder(void)
{
    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    return open(folder, O_RDONLY | O_DIRECTORY);
}

TEST(test_trim, .set_up = set_up, .tear_down = tear_down)
{
    int opened = open_folder(), next = dup(opened);
    close(next);
    put(OWN(1), 300);
    put(OWN(2), 200);
    put(OWN(3), 100);
    put(REX_CACHE_UNFINISHED "1-1-" OWN(4), 10);
    put(REX_CACHE_UNFINISHED "2-1-" OWN(4), 7200);
    put_bytes(REX_CACHE_UNFINISHED "3-1-" OWN(4), 7200, "", 0);
    rex_cache_trim(opened, 3 * OWN_SIZE);
    assert_true(exists(OWN(1)));
    rex_cache_trim(opened, 3 * OWN_SIZE - 1);
    assert_false(exists(OWN(1)));
    assert_true(exists(OWN(2)) && exists(OWN(3)));
    put(REX_CACHE_UNFINISHED "4-12-" OWN(4), 3590);
    put(REX_CACHE_UNFINISHED "5-123-" OWN(4), 3610);
    put_bytes(REX_CACHE_UNFINISHED "6-1-" OWN(4), 7200, REX_CACHE_MAGIC, 5);
    rex_cache_trim(opened, 0);
    assert_false(exists(OWN(2)) || exists(OWN(3)));
    assert_true(exists(REX_CACHE_UNFINISHED "4-12-" OWN(4)));
    assert_false(exists(REX_CACHE_UNFINISHED "5-123-" OWN(4)) || exists(REX_CACHE_UNFINISHED "6-1-" OWN(4)));
    assert_true(exists(REX_CACHE_UNFINISHED "1-1-" OWN(4)));
    assert_false(exists(REX_CACHE_UNFINISHED "2-1-" OWN(4)) || exists(REX_CACHE_UNFINISHED "3-1-" OWN(4)));
    assert_int_equal(dup(opened), next); /* no file stays open */
    close(next);
    close(opened);
}

static bool fdopendir_fails;
DIR *__real_fdopendir(int descriptor);
DIR *__wrap_fdopendir(int descriptor);
DIR *__wrap_fdopendir(int descriptor)
{
    CHECK_EQUAL(fcntl(descriptor, F_GETFD), FD_CLOEXEC); /* likewise */
    errno = ENOMEM;
    return fdopendir_fails ? NULL : __real_fdopendir(descriptor);
}

/* A folder that cannot be read for want of memory is left as it is, and no descriptor of it stays open. */
TEST(test_trim_without_memory, .set_up = set_up, .tear_down = tear_down)
{
    int opened = open_folder(), next = dup(opened);
    put(OWN(1), 100);
    close(next);
    fdopendir_fails = true;
    rex_cache_trim(opened, 0);
    fdopendir_fails = false;
    assert_true(exists(OWN(1)));
    assert_int_equal(dup(opened), next);
    close(next);
    rex_cache_trim(opened, 0);
    assert_false(exists(OWN(1)));
    close(opened);
}

/* Files that there is no memory for are left: those that were found before count. */
TEST(test_trim_of_some, .set_up = set_up, .tear_down = tear_down)
{
    int opened = open_folder();
    put(OWN(1), 100);
    failing = "reallocarray";
    rex_cache_trim(opened, 0);
    failing = "";
    assert_true(exists(OWN(1)));
    close(opened);
}

/* A store makes room: what was used longest ago goes first, until all is no more than 256 MiB. */
static void store_in_a_full_one(const void *context)
{
    (void)context;
    rex_configure(REX_OPTION_LOG, "debug");
    store();
}

TEST(test_full, .set_up = set_up, .tear_down = tear_down)
{
    const off_t room = ((off_t)256 << 20) - (off_t)(HEADER + sizeof source + sizeof product);
    for (int larger = 0; larger < 2; larger++) {
        char path[2 * PATH_MAX];
        const struct timespec times[2] = {{1000, 0}, {1000, 0}};
        close(open_folder());
        put(OWN(1), 100);
        snprintf(path, sizeof path, "%s/" OWN(1), folder);
        lengthen(path, room + larger);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        const char *output = in_child(store_in_a_full_one, NULL);
        assert_int_equal(exists(OWN(1)), !larger);
        assert_int_equal(occurrences(output, "librex: debug: the cache's " OWN(1) " is removed: the cache is full\n"), larger);
        assert_true(is_stored());
    }
}

/* A program that has closed its standard input gets descriptor 0 for the folder. */
static void trim_without_input(const void *context)
{
    int opened = open_folder();
    (void)context;
    put(OWN(1), 100);
    close(STDIN_FILENO);
    rex_cache_trim(opened, 0);
    CHECK(!exists(OWN(1)));
    CHECK_EQUAL(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO); /* which is free again */
}

TEST(test_trim_without_input, .set_up = set_up, .tear_down = tear_down)
{
    in_child(trim_without_input, NULL);
}

/* The folder may be one where the program's own images lie: they are neither removed nor counted. */
TEST(test_strangers, .set_up = set_up, .tear_down = tear_down)
{
    static const char *const theirs[] = {
        "mine.cubin", "stranger", OWN(1) ".cubin", "0-sm_90.cubin", "000000000000000g-sm_90.cubin", "0000000000000001-sm_.cubin",
        "000000000000001-sm_90.cubin", "0000000000000001f-sm_90.cubin", "0000000000000001-sm_1234567890.cubin", "0000000000000001_sm_90.cubin",
        ".new1-1-" OWN(1), REX_CACHE_UNFINISHED "1.1-" OWN(1), REX_CACHE_UNFINISHED "-1-" OWN(1), REX_CACHE_UNFINISHED "1--" OWN(1),
        REX_CACHE_UNFINISHED "1-1" OWN(1), REX_CACHE_UNFINISHED "1-1-mine.cubin", REX_CACHE_UNFINISHED OWN(1), REX_CACHE_UNFINISHED "1-x-" OWN(1),
    };
    int opened = open_folder();
    for (size_t i = 0; i < COUNT(theirs); i++)
        put(theirs[i], 9000);
    /* The name of a file of the cache, and something else in it. */
    put_bytes(OWN(5), 9000, "\x7f" "ELF, by its first bytes", 24);
    put_bytes(OWN(6), 9000, REX_CACHE_MAGIC, OWN_SIZE - 1);
    put_bytes(REX_CACHE_UNFINISHED "1-1-" OWN(7), 9000, "mine", 4);
    put("0123456789abcdef-sm_123456789.cubin", 10);
    rex_cache_trim(opened, OWN_SIZE);
    assert_true(exists("0123456789abcdef-sm_123456789.cubin"));
    rex_cache_trim(opened, 0);
    assert_false(exists("0123456789abcdef-sm_123456789.cubin"));
    for (size_t i = 0; i < COUNT(theirs); i++)
        if (!exists(theirs[i]))
            fail_msg("%s is removed", theirs[i]);
    assert_true(exists(OWN(5)) && exists(OWN(6)) && exists(REX_CACHE_UNFINISHED "1-1-" OWN(7)));
    close(opened);
}

/* However many there are, all count, and the oldest go first. */
TEST(test_many, .set_up = set_up, .tear_down = tear_down)
{
    enum { FILES = 500, KEPT = 10 };
    char name[64];
    int opened = open_folder(), left = 0;
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%016x-sm_90.cubin", i);
        put(name, 10 + (long)i);
    }
    rex_cache_trim(opened, KEPT * OWN_SIZE);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%016x-sm_90.cubin", i);
        left += exists(name);
        assert_true(exists(name) == (i < KEPT));
    }
    assert_int_equal(left, KEPT);
    close(opened);
}

/* A file that cannot be the product is not read whole: it may be larger than the memory. */
TEST(test_huge, .set_up = set_up, .tear_down = tear_down)
{
    store();
    const char *path = only_file(folder);
    lengthen(path, (off_t)1 << 40);
    assert_non_null(strstr(in_child(log_of, "load"), "is not used: it is cut off"));
    store();
    assert_true(is_stored());
}

/* What is used counts as new. */
TEST(test_used, .set_up = set_up, .tear_down = tear_down)
{
    struct stat status;
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    store();
    assert_int_equal(utimensat(AT_FDCWD, only_file(folder), times, 0), 0);
    assert_true(is_stored());
    assert_int_equal(stat(only_file(folder), &status), 0);
    assert_true(status.st_mtime > 1000);
}

/* ---- with PTX ---------------------------------------------------------------------------------------------------------- */

/* How often the driver compiles; CONTEXT is the file that it makes. */
static void use_ptx(const void *context)
{
    static const struct rex_module module = {.struct_size = sizeof module};
    struct rex_module_image image;
    use_gpu(90);
    setenv("FAKE_LINK_CUBIN", context, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(rex_module_image_open(&image, &module, "tests/data/three_lz4.fatbin", rex_release_row(22)), 0); /* it has a CUBIN */
        CHECK_EQUAL(image.holds_context, 0);
        rex_module_image_close(&image);
        CHECK_EQUAL(rex_module_image_open(&image, &module, "tests/data/sm_90.ptx", rex_release_row(19)), 0);
        CHECK_EQUAL(image.view.architecture, 90);
        rex_module_image_close(&image);
    }
    printf("%d compiled\n", *(const int *)in_driver("fake_cuda_links"));
}

TEST(test_ptx, .set_up = set_up, .tear_down = tear_down)
{
    size_t size;
    assert_non_null(strstr(in_child(use_ptx, "tests/data/sm_90.cubin"), "1 compiled"));
    assert_non_null(strstr(in_child(use_ptx, "/nowhere"), "0 compiled"));
    unsigned char *bytes = read_bytes(only_file(folder), &size);
    assert_string_equal((char *)bytes + sizeof REX_CACHE_MAGIC, "13000 libcuda.so.1"); /* of the driver, and its file */
    bytes[size - 1] ^= 1;
    write_bytes(only_file(folder), bytes, size);
    assert_non_null(strstr(in_child(use_ptx, "tests/data/sm_90.cubin"), "1 compiled"));
    assert_non_null(strstr(in_child(use_ptx, "/nowhere"), "0 compiled"));
    assert_int_equal(chmod(folder, 0777), 0); /* it goes on without */
    assert_non_null(strstr(in_child(use_ptx, "tests/data/sm_90.cubin"), "2 compiled"));
    assert_int_equal(rex_configure(REX_OPTION_CACHE, "off"), 0);
    assert_non_null(strstr(in_child(use_ptx, "tests/data/sm_90.cubin"), "2 compiled"));
    free(bytes);
}
