/*
 * binding.c - binding to libomptarget: what fails says why, in one error, and never crashes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>

#include "image/elf.h"
#include "omp/forward.h"
#include "omp/openmp.h"
#include "omp/runtime.h"
#include "omp/search.h"
#include "rex/inspect.h"

/* ---- a library that is named ------------------------------------------------------------------------------------- */

static void refused(const char *path, const char *because)
{
    use_release(19); /* clears the environment */
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), 0);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK_EQUAL(rex_last_error_code(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), path);
    CHECK_MENTIONS(rex_last_error(), because);
    CHECK_MENTIONS(rex_last_error(), "REX_OMPTARGET");
    CHECK_EQUAL(rex_runtime_release(), 0);
    CHECK(strcmp(rex_runtime_path(), "") == 0);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL); /* and is not left open */
}

static void does_not_exist(const void *context)
{
    (void)context;
    refused("/nonexistent/libomptarget.so", "No such file or directory");
}

static void is_a_folder(const void *context)
{
    (void)context;
    refused("/tmp", "it is a directory");
}

static void unreadable(const void *context)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libomptarget.so", (const char *)context);
    refused(path, "Permission denied");
}

static void not_elf(const void *context)
{
    (void)context;
    refused("tests/data/kernels.cu", "it is not an ELF file");
}

static void for_a_gpu(const void *context)
{
    (void)context;
    refused("tests/data/sm_90.cubin", "it is for another processor");
}

static void another_library(const void *context)
{
    (void)context;
    refused(FAKE("19/libomp.so.5"), "not libomptarget of LLVM 14 or later");
}

static void lacks_register(const void *context)
{
    (void)context;
    refused(FAKE("lacks-register/libomptarget.so.19"), "it lacks the entry point __tgt_register_lib");
}

static void lacks_devices(const void *context)
{
    (void)context;
    refused(FAKE("lacks-devices/libomptarget.so.19"), "it lacks the entry point omp_get_num_devices");
}

static void truncated(const void *context)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/truncated.so", (const char *)context);
    refused(path, "it is truncated");
}

static void plugins_missing(const void *context)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libomptarget.so.17", (const char *)context);
    refused(path, "no libomptarget.rtl.*.so beside it: Debian has these names of its plugins in libomp-17-dev");
}

TEST(test_named)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    size_t size;
    in_child(does_not_exist, NULL);
    in_child(is_a_folder, NULL);
    in_child(not_elf, NULL);
    in_child(for_a_gpu, NULL);
    in_child(another_library, NULL);
    in_child(lacks_register, NULL);
    in_child(lacks_devices, NULL);
    make_folder(folder);
    unsigned char *bytes = read_bytes(FAKE("19/libomptarget.so.19"), &size);
    snprintf(path, sizeof path, "%s/truncated.so", folder);
    write_bytes(path, bytes, size / 2);
    free(bytes);
    in_child(truncated, folder);
    snprintf(path, sizeof path, "%s/libomptarget.so.17", folder);
    copy_file(FAKE("17/libomptarget.so.17"), path);
    in_child(plugins_missing, folder);
    remove_folder(folder);
}

static void drop_and_try(const void *context)
{
    CHECK_EQUAL(seteuid(65534), 0);
    unreadable(context);
}

TEST(test_unreadable)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libomptarget.so", folder);
    copy_file(FAKE("19/libomptarget.so.19"), path);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    in_child(geteuid() == 0 ? drop_and_try : unreadable, folder);
    remove_folder(folder);
}

/* The failure is no final one: a later call tries again. */
TEST_IN_CHILD(fails_then_binds)
{
    does_not_exist(NULL);
    use_release(21);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 21);
    CHECK_MENTIONS(rex_runtime_path(), "fake/21/");
    /* And what is bound stays. */
    use_release(23);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 21);
}

/* ---- the release of a file --------------------------------------------------------------------------------------- */

/* As often as the bytes OLD, with a NUL behind them, are in the file, NEW takes their place. */
static int exchange(unsigned char *bytes, size_t size, const char *old, const char *new)
{
    size_t length = strlen(old) + 1;
    int count = 0;
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, old, length) == 0) {
            memset(bytes + i, 0, length);
            memcpy(bytes + i, new, strlen(new));
            count++;
        }
    return count;
}

/* The tag of the dynamic entry that names the library itself becomes TAG. */
static void rename_entry(unsigned char *bytes, size_t size, int64_t tag)
{
    struct rex_elf elf;
    Elf64_Shdr dynamic;
    assert_int_equal(rex_elf_open(&elf, bytes, size), 0);
    assert_int_equal(rex_elf_find_type(&elf, SHT_DYNAMIC, &dynamic), 0);
    Elf64_Dyn *entries = (Elf64_Dyn *)(void *)(bytes + dynamic.sh_offset);
    for (size_t i = 0; i < dynamic.sh_size / sizeof *entries; i++)
        if (entries[i].d_tag == DT_SONAME)
            entries[i].d_tag = tag;
}

/* 20 and 21 export the same: the number in a library's own name, or in those that it needs, tells them apart. */
TEST(test_numbers_in_names)
{
    static const char own[] = "libomptarget.so.21";
    static const struct {
        const char *name;
        int64_t tag;
        int release;
    } cases[] = {
        {own, DT_SONAME, 21},
        {own, DT_NEEDED, 21},
        {own, DT_RPATH, 20},
        {"libLLVM-21.so.1", DT_NEEDED, 21},
        {"libLLVM.so.21.1", DT_NEEDED, 21},
        {"libLLVM-20.so.1", DT_NEEDED, 20},
        {"libLLVM-99.so.1", DT_NEEDED, 20},
        {"libomptarget.so", DT_SONAME, 20},
        {"libClang.so.21", DT_NEEDED, 20},
    };
    char folder[PATH_MAX], path[PATH_MAX + 32], why[256];
    size_t size;
    make_folder(folder);
    snprintf(path, sizeof path, "%s/library", folder);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct rex_release *release = NULL;
        unsigned char *bytes = read_bytes(FAKE("21/libomptarget.so.21"), &size);
        assert_true(exchange(bytes, size, own, cases[i].name) > 0);
        rename_entry(bytes, size, cases[i].tag);
        write_bytes(path, bytes, size);
        free(bytes);
        assert_int_equal(rex_search_tell(path, &release, why, sizeof why), 0);
        if (release->number != cases[i].release)
            fail_msg("case %zu: %d", i, release->number);
    }
    remove_folder(folder);
}

/* A number above all that librex knows, or, without a number, a function that no known release has. */
TEST(test_newer)
{
    static const struct {
        const char *file, *own, *name, *why;
        int64_t tag;
    } cases[] = {
        {FAKE("24/libomptarget.so.24"), "libomptarget.so.24", "libomptarget.so.24", "", DT_SONAME},
        {FAKE("24/libomptarget.so.24"), "libomptarget.so.24", "libomptarget.so", "", DT_SONAME},
        {FAKE("24/libomptarget.so.24"), "libomptarget.so.24", "libLLVM.so.30.1", "it is LLVM 30's, which this librex does not know, and is "
         "treated as LLVM 24's", DT_NEEDED},
        {FAKE("25/libomptarget.so.25"), "libomptarget.so.25", "libomptarget.so.25", "it is LLVM 25's, which this librex does not know, and is "
         "treated as LLVM 24's", DT_SONAME},
        {FAKE("25/libomptarget.so.25"), "libomptarget.so.25", "libomptarget.so", "it exports __tgt_of_later, which no LLVM does that this "
         "librex knows, and is treated as LLVM 24's", DT_SONAME},
        {FAKE("25/libomptarget.so.25"), "libomptarget.so.25", "libLLVM-24.so", "", DT_NEEDED},
        {FAKE("22/libomptarget.so.22"), "libomptarget.so.22", "libomptarget.so", "", DT_SONAME},
    };
    char folder[PATH_MAX], path[PATH_MAX + 32], why[256];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/library", folder);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct rex_release *release = NULL;
        size_t size;
        unsigned char *bytes = read_bytes(cases[i].file, &size);
        assert_true(exchange(bytes, size, cases[i].own, cases[i].name) > 0);
        rename_entry(bytes, size, cases[i].tag);
        write_bytes(path, bytes, size);
        free(bytes);
        assert_int_equal(rex_search_tell(path, &release, why, sizeof why), 0);
        assert_string_equal(why, cases[i].why);
        assert_int_equal(release->number, i == COUNT(cases) - 1 ? 22 : 24);
    }
    remove_folder(folder);
}

/* Why a file is no libomptarget that can be used. */
TEST(test_no_libomptarget)
{
    static const struct {
        const char *file, *old, *new, *why; /* with one name changed */
    } cases[] = {
        {TEST_BUILD "/librex.so", NULL, NULL, "it is librex, which forwards to a libomptarget"},
        {TEST_BUILD "/obj/tests/unit/binding.o", NULL, NULL, "it exports nothing"},
        {"tests/data/sm_90.cubin", NULL, NULL, "it is for another processor"},
        {FAKE("19/libomptarget.so.19"), "__tgt_register_lib", "__tgt_register_lob", "it lacks the entry point __tgt_register_lib"},
        {FAKE("19/libomptarget.so.19"), "__tgt_target_data_begin", "__tgt_target_data_began", "it lacks the entry point __tgt_target_data_begin"},
    };
    char folder[PATH_MAX], path[PATH_MAX + 32], why[256];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/library", folder);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct rex_release *release = NULL;
        size_t size;
        unsigned char *bytes = read_bytes(cases[i].file, &size);
        assert_true(cases[i].old == NULL || exchange(bytes, size, cases[i].old, cases[i].new) > 0);
        write_bytes(path, bytes, size);
        free(bytes);
        errno = EDOM;
        assert_int_equal(rex_search_tell(path, &release, why, sizeof why), REX_ENORUNTIME);
        assert_string_equal(why, cases[i].why);
        assert_int_equal(errno, 0);
        assert_null(release);
    }
    remove_folder(folder);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static int position_of(const struct rex_candidate *candidates, size_t count, int release)
{
    for (size_t i = 0; i < count; i++)
        if (candidates[i].release->number == release && strstr(candidates[i].path, "/rex-unit.") != NULL)
            return (int)i;
    return -1;
}

/* rules.mk leads calls of open() here: no libomptarget is opened. */
static int open_fails; /* errno; 0: none */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    if (open_fails == 0 || strstr(path, "/libomptarget.so") == NULL)
        return __real_open(path, flags, 0);
    errno = open_fails;
    return -1;
}

/* What may pass is told of by itself: what is passed over may be the best. */
static void nothing_opens(const void *folder)
{
    static const struct {
        int error, result;
        const char *said; /* NULL: of each file */
    } cases[] = {
        {ENOMEM, REX_ENOMEM, "libomptarget cannot be looked for: Cannot allocate memory"},
        {EMFILE, REX_ENORUNTIME, "libomptarget cannot be looked for: Too many open files"},
        {ENFILE, REX_ENORUNTIME, "libomptarget cannot be looked for: Too many open files in system"},
        {EIO, REX_ENORUNTIME, "libomptarget cannot be looked for: Input/output error"},
        {EINTR, REX_ENORUNTIME, "libomptarget cannot be looked for: Interrupted system call"},
        {EACCES, REX_ENORUNTIME, NULL},
        {ENOENT, REX_ENORUNTIME, NULL},
    };
    char line[2 * PATH_MAX];
    use_release(19);
    unsetenv("REX_OMPTARGET");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, NULL), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_candidate *candidates;
        struct rex_report report = {0};
        open_fails = cases[i].error;
        CHECK_EQUAL(rex_search(folder, &candidates, &report), 0);
        CHECK_EQUAL(report.error, cases[i].said != NULL ? cases[i].error : 0);
        snprintf(line, sizeof line, "\n  %s/libomptarget.so.22: open: %s", (const char *)folder, strerror(cases[i].error));
        CHECK_MENTIONS(report.text, line);
        CHECK(candidates == NULL);
        open_fails = 0;
    }
    /* The folder is that of the OpenMP runtime that is loaded. */
    snprintf(line, sizeof line, "%s/libomp.so.5", (const char *)folder);
    CHECK(dlopen(line, RTLD_NOW | RTLD_GLOBAL) != NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        open_fails = cases[i].error;
        CHECK_EQUAL(rex_runtime_bind(), cases[i].result);
        if (cases[i].said != NULL)
            CHECK(strcmp(rex_last_error(), cases[i].said) == 0);
        else
            CHECK_MENTIONS(rex_last_error(), "/libomptarget.so.22: open: ");
    }
    open_fails = 0;
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_MENTIONS(rex_runtime_path(), folder);
}

/* Letters of a format in a name mean nothing. */
TEST(test_nothing_opens)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    make_folder(folder);
    strcat(folder, "/%s%n");
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/libomptarget.so.22", folder);
    copy_file(FAKE("22/libomptarget.so.22"), path);
    snprintf(path, sizeof path, "%s/libomp.so.5", folder);
    copy_file(FAKE("22/libomp.so.5"), path);
    in_child(nothing_opens, folder);
    *strrchr(folder, '/') = '\0';
    remove_folder(folder);
}

/* A folder with several releases, a file that is none, and one that lacks an entry point. */
TEST(test_search)
{
    static const int releases[] = {15, 18, 21, 23, 19};
    char folder[PATH_MAX], path[PATH_MAX + 64], from[PATH_MAX];
    struct rex_candidate *candidates;
    struct rex_report report = {0};
    make_folder(folder);
    for (size_t i = 0; i < COUNT(releases); i++) {
        fake_path(releases[i], from);
        snprintf(path, sizeof path, "%s/libomptarget.so.%d", folder, releases[i]);
        copy_file(from, path);
    }
    snprintf(path, sizeof path, "%s/libomptarget.so.99", folder);
    write_bytes(path, "no library", 10);
    snprintf(path, sizeof path, "%s/libomptarget.so.98", folder);
    copy_file(FAKE("lacks-register/libomptarget.so.19"), path);
    snprintf(path, sizeof path, "%s/libomptarget.rtl.x86_64.so", folder);
    write_bytes(path, "a plugin", 8);
    /* A second one of 21, and a link to the first one, which comes before it by name. */
    fake_path(21, from);
    snprintf(path, sizeof path, "%s/libomptarget.so.21.9", folder);
    copy_file(from, path);
    snprintf(path, sizeof path, "%s/libomptarget.so.50", folder);
    assert_int_equal(symlink("libomptarget.so.21", path), 0);

    /* What the machine has besides is in the list too, behind the folder of the process's OpenMP runtime. */
    size_t count = rex_search(folder, &candidates, &report);
    assert_true(count >= COUNT(releases));
    assert_int_equal(position_of(candidates, count, 23), 0);
    assert_int_equal(position_of(candidates, count, 21), 1);
    assert_string_equal(strrchr(candidates[1].path, '/'), "/libomptarget.so.21");
    assert_string_equal(strrchr(candidates[2].path, '/'), "/libomptarget.so.21.9");
    assert_int_equal(position_of(candidates, count, 19), 3);
    assert_int_equal(position_of(candidates, count, 15), 4);
    assert_int_equal(position_of(candidates, count, 18), 5);
    assert_int_equal(report.error, 0);
    assert_non_null(strstr(report.text, "libomptarget.so.99: it is not an ELF file"));
    assert_non_null(strstr(report.text, "libomptarget.so.98: it lacks the entry point __tgt_register_lib"));
    assert_null(strstr(report.text, "rtl"));
    free(candidates);
    remove_folder(folder);
}

TEST(test_folders)
{
    static const char *const folders[][2] = {{"libx.so", "."}, {"/libx.so", "/"}, {"/usr/libx.so", "/usr"}, {"a/b/c", "a/b"}, {"a/", "a"}};
    char folder[PATH_MAX];
    for (size_t i = 0; i < COUNT(folders); i++) {
        rex_folder_of(folders[i][0], folder);
        assert_string_equal(folder, folders[i][1]);
    }
    assert_true(rex_same_file("tests/unit", "./tests/../tests/unit"));
    assert_false(rex_same_file("tests/unit", "tests"));
    assert_false(rex_same_file("tests/unit", "/nonexistent"));
    assert_false(rex_same_file("/nonexistent", "tests/unit"));
}

/* A report stops at its limit and stays a string. */
TEST(test_report_is_bounded)
{
    static struct rex_report report;
    /* With ever less room for a line of its own, which is cut off. */
    for (size_t room = 1; room < 12; room++) {
        memset(report.text, 'x', sizeof report.text);
        report.length = sizeof report.text - room;
        report.text[report.length] = '\0';
        rex_report_line(&report, "%s", "abcdef");
        const char *line = room > 4 ? "\n  abcdef" : "abcdef", *added = report.text + sizeof report.text - room;
        assert_int_equal(strlen(added), room - 1 < strlen(line) ? room - 1 : strlen(line));
        assert_int_equal(strncmp(added, line, strlen(added)), 0);
        assert_int_equal(report.length, strlen(report.text));
    }
    report = (struct rex_report){.length = 0};
    for (int i = 0; i < 1000; i++)
        rex_report_add(&report, "%d is one of many words; ", i);
    assert_true(report.length < sizeof report.text);
    assert_int_equal(strlen(report.text), report.length);
}

static void add_found(const char *group, const char *name, const char *value, void *found)
{
    if (strcmp(group, "found") == 0)
        snprintf((char *)found + strlen(found), 512 - strlen(found), "%s: %s\n", name, value);
}

/* Libraries that are there and cannot be used: each is named with its reason. */
static void nothing_usable(const void *context)
{
    use_release(19);
    unsetenv("REX_OMPTARGET");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, NULL), 0);
    CHECK_EQUAL(chroot(context), 0);
    CHECK_EQUAL(chdir("/"), 0);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(),
                   "/usr/lib/llvm-17/lib/libomptarget.so.17 (LLVM 17): no libomptarget.rtl.*.so beside it");
    CHECK_MENTIONS(rex_last_error(), "/usr/lib/llvm-20/lib/libomptarget.so.20: it is not an ELF file");
    CHECK_MENTIONS(rex_last_error(), "/opt/llvm/lib/libomptarget.so: it lacks the entry point __tgt_register_lib");
    char found[512] = "";
    CHECK_EQUAL(rex_info(0, add_found, found), 0);
    CHECK(strcmp(found, "/usr/lib/llvm-17/lib/libomptarget.so.17: LLVM 17\n"
                        "/usr/lib/llvm-20/lib/libomptarget.so.20: it is not an ELF file\n"
                        "/opt/llvm/lib/libomptarget.so: it lacks the entry point __tgt_register_lib\n") == 0);
}

static void make_folders(const char *root, const char *path)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", root, path);
    assert_int_equal(system(command), 0);
}

static void place(const char *root, const char *path, const char *from)
{
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    copy_file(from, whole);
}

/* No library anywhere: the error says what was looked for and what to install. */
static void nothing_found_in(const void *context)
{
    struct rex_candidate *candidates;
    struct rex_report report = {0};
    use_release(19);
    unsetenv("REX_OMPTARGET");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, NULL), 0);
    CHECK_EQUAL(chroot(context), 0);
    CHECK_EQUAL(chdir("/"), 0);
    CHECK_EQUAL(rex_search(NULL, &candidates, &report), 0);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), "no usable libomptarget");
    CHECK_MENTIONS(rex_last_error(), "apt-get install libomp5-19");
    CHECK_MENTIONS(rex_last_error(), "REX_OMPTARGET");
    CHECK_MENTIONS(rex_last_error(), "/usr/lib/llvm-*/lib");
}

/* rules.mk leads calls of dlopen() here: that of a libomptarget waits, or fails, where a test says so. */
static bool waits, lacks_descriptors;
static const char *instead; /* what is opened; NULL: what is asked for */
static pthread_barrier_t opens, goes_on;
void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    struct rlimit limit, none;
    if (path == NULL || strstr(path, "/libomptarget.so") == NULL)
        return __real_dlopen(path, flags);
    if (waits) {
        waits = false;
        pthread_barrier_wait(&opens);
        pthread_barrier_wait(&goes_on);
    }
    CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    CHECK(!lacks_descriptors || setrlimit(RLIMIT_NOFILE, &none) == 0);
    void *handle = __real_dlopen(instead != NULL ? instead : path, flags);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return handle;
}

/* In ROOT there is what PATHS say, each after what it is a copy of. */
static void in_root(const void *root)
{
    use_release(19);
    unsetenv("REX_OMPTARGET");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, NULL), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    CHECK_EQUAL(chroot(root), 0);
    CHECK_EQUAL(chdir("/"), 0);
}

/* The best one is bound, and which were passed over is said. */
static void some_passed_over(const void *root)
{
    in_root(root);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK(strcmp(rex_runtime_path(), "/usr/lib/llvm-19/lib/libomptarget.so.19") == 0);
    CHECK(strcmp(rex_runtime_chosen(), "the best found") == 0);
}

/* Its libomp is missing, and comes from the folder of the one that is the second best. */
static void openmp_of_another(const void *root)
{
    static const char *const folders[] = {NULL, "/usr/lib/llvm-22/lib"}, *const orders[] = {"abu", "uab"};
    in_root(root);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    for (size_t i = 0; i < COUNT(folders); i++) {
        struct rex_candidate *candidates;
        struct rex_report report = {0};
        CHECK_EQUAL(rex_search(folders[i], &candidates, &report), 3);
        for (size_t j = 0; j < 3; j++) /* of one release the first by path: /opt/a, /opt/b, /usr */
            CHECK_EQUAL(candidates[j].path[strncmp(candidates[j].path, "/opt/", 5) == 0 ? 5 : 1], orders[i][j]);
        CHECK_EQUAL(report.length, 0);
        free(candidates);
    }
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 23);
    CHECK(dlopen("/opt/b/lib/libomp.so.5", RTLD_NOW | RTLD_NOLOAD) != NULL);
}

/* It is where the loader looks. */
static void openmp_of_the_loader(const void *root)
{
    in_root(root);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 23);
    CHECK(dlopen("/usr/lib/libomp.so.5", RTLD_NOW | RTLD_NOLOAD) != NULL);
}

/* The best one lacks its plugins, and the second best one has them. */
static void second_best(const void *root)
{
    in_root(root);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 16);
}

static void no_openmp(const void *root)
{
    in_root(root);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK(strcmp(rex_last_error(), "no usable libomptarget: install one (Debian: apt-get install libomp5-19), or name one in REX_OMPTARGET. "
                                   "Tried:\n  /opt/a/lib/libomptarget.so.23 (LLVM 23): there is no libomp.so.5 beside it or on the loader's "
                                   "path") == 0);
    CHECK(strcmp(rex_runtime_chosen(), "") == 0);
}

/* The loader cannot open it: for now, or at all. */
static void does_not_load(const void *root)
{
    in_root(root);
    lacks_descriptors = true;
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK(strcmp(rex_last_error(), "libomptarget cannot be looked for: Too many open files") == 0);
    lacks_descriptors = false;
    instead = "/nowhere";
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), "Tried:\n  /opt/b/lib/libomptarget.so.16 (LLVM 16): /nowhere: cannot open shared object file: No such file or "
                                     "directory\n  /opt/a/lib/libomptarget.so.17 (LLVM 17): ");
    instead = NULL;
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
}

static void add_trouble(const char *group, const char *name, const char *value, void *found)
{
    if (strcmp(name, "trouble") == 0 || strcmp(group, "found") == 0)
        snprintf((char *)found + strlen(found), 512 - strlen(found), "%s: %s\n", name, value);
}

#define LATER "it is LLVM 25's, which this librex does not know, and is treated as LLVM 24's"

/* Known releases come first, 18 too, whichever OpenMP runtime there is. */
static void known_first(const void *root)
{
    struct rex_candidate *candidates;
    struct rex_report report = {0};
    in_root(root);
    CHECK_EQUAL(rex_search("/opt/a/lib", &candidates, &report), 2);
    CHECK_EQUAL(candidates[0].release->number, 18);
    free(candidates);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 18);
}

static void later_is_named(const void *root)
{
    in_root(root);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, "/opt/a/lib/libomptarget.so.25"), 0);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK(strcmp(rex_runtime_path(), "/opt/a/lib/libomptarget.so.25") == 0);
}

static void later_alone(const void *root)
{
    char found[512] = "";
    in_root(root);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK(strcmp(rex_runtime_path(), "/opt/a/lib/libomptarget.so.25") == 0);
    CHECK_EQUAL(rex_info(0, add_trouble, found), 0);
    CHECK(strcmp(found, "trouble: " LATER "\n/opt/a/lib/libomptarget.so.25: LLVM 24: " LATER "\n") == 0);
}

static void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("skip: only root may hide the machine's own libraries with chroot\n");
    skip();
}

TEST(test_found_in_root)
{
    char root[PATH_MAX];
    need_root();
    make_folder(root);
    make_folders(root, "usr/lib/llvm-17/lib");
    make_folders(root, "usr/lib/llvm-19/lib");
    make_folders(root, "usr/lib/llvm-20/lib");
    place(root, "usr/lib/llvm-17/lib/libomptarget.so.17", FAKE("17/libomptarget.so.17"));
    place(root, "usr/lib/llvm-19/lib/libomptarget.so.19", FAKE("19/libomptarget.so.19"));
    place(root, "usr/lib/llvm-19/lib/libomp.so.5", FAKE("19/libomp.so.5"));
    place(root, "usr/lib/llvm-20/lib/libomptarget.so.20", FAKE("lacks-register/libomptarget.so.19"));
    place(root, "usr/lib/llvm-20/lib/libomptarget.so.99", FAKE("lacks-devices/libomptarget.so.19"));
    assert_string_equal(in_child(some_passed_over, root),
                        "librex: info: bound LLVM 19's libomptarget, /usr/lib/llvm-19/lib/libomptarget.so.19\n"
                        "librex: info: passed over: /usr/lib/llvm-20/lib/libomptarget.so.20: it lacks the entry point __tgt_register_lib\n");
    remove_folder(root);
    make_folder(root);
    make_folders(root, "opt/a/lib");
    make_folders(root, "opt/b/lib");
    place(root, "opt/a/lib/libomptarget.so.23", FAKE("23/libomptarget.so.23"));
    in_child(no_openmp, root);
    place(root, "opt/b/lib/libomptarget.so.22", FAKE("22/libomptarget.so.22"));
    place(root, "opt/b/lib/libomp.so.5", FAKE("22/libomp.so.5"));
    make_folders(root, "usr/lib/llvm-22/lib");
    place(root, "usr/lib/llvm-22/lib/libomptarget.so.22", FAKE("22/libomptarget.so.22"));
    const char *output = in_child(openmp_of_another, root);
    assert_int_equal(occurrences(output, "librex: debug: opened /opt/b/lib/libomp.so.5\n"), 1);
    assert_int_equal(occurrences(output, "librex: debug: opened "), 1);
    remove_folder(root);
    make_folder(root);
    make_folders(root, "opt/a/lib");
    make_folders(root, "usr/lib");
    place(root, "opt/a/lib/libomptarget.so.23", FAKE("23/libomptarget.so.23"));
    place(root, "usr/lib/libomp.so.5", FAKE("23/libomp.so.5"));
    in_child(openmp_of_the_loader, root);
    remove_folder(root);
    make_folder(root);
    make_folders(root, "opt/a/lib");
    make_folders(root, "opt/b/lib");
    place(root, "opt/a/lib/libomptarget.so.17", FAKE("17/libomptarget.so.17"));
    place(root, "opt/b/lib/libomptarget.so.16", FAKE("16/libomptarget.so.16"));
    place(root, "opt/b/lib/libomptarget.rtl.x86_64.so", FAKE("16/libomptarget.so.16"));
    place(root, "opt/b/lib/libomp.so.5", FAKE("16/libomp.so.5"));
    in_child(does_not_load, root);
    assert_string_equal(in_child(second_best, root),
                        "librex: info: bound LLVM 16's libomptarget, /opt/b/lib/libomptarget.so.16\n"
                        "librex: info: passed over: /opt/a/lib/libomptarget.so.17 (LLVM 17): no libomptarget.rtl.*.so beside it: Debian has these "
                        "names of its plugins in libomp-17-dev\n");
    remove_folder(root);
}

/* A release that librex does not know is taken where it is named, or where there is nothing else; it is said once. */
TEST(test_later)
{
    static const char said[] = "librex: info: bound LLVM 24's libomptarget, /opt/a/lib/libomptarget.so.25\n"
                               "librex: warning: libomptarget /opt/a/lib/libomptarget.so.25: " LATER "\n";
    char root[PATH_MAX];
    need_root();
    make_folder(root);
    make_folders(root, "opt/a/lib");
    make_folders(root, "opt/b/lib");
    place(root, "opt/a/lib/libomptarget.so.25", FAKE("25/libomptarget.so.25"));
    place(root, "opt/a/lib/libomp.so.5", FAKE("25/libomp.so.5"));
    assert_string_equal(in_child(later_alone, root), said);
    place(root, "opt/b/lib/libomptarget.so.18", FAKE("18/libomptarget.so.18"));
    place(root, "opt/b/lib/libomptarget.rtl.x86_64.so", FAKE("18/libomptarget.so.18"));
    assert_string_equal(in_child(known_first, root), "librex: info: bound LLVM 18's libomptarget, /opt/b/lib/libomptarget.so.18\n");
    assert_string_equal(in_child(later_is_named, root), said);
    remove_folder(root);
}

TEST(test_nothing_found)
{
    char root[PATH_MAX];
    need_root();
    make_folder(root);
    in_child(nothing_found_in, root);
    make_folders(root, "usr/lib/llvm-17/lib");
    make_folders(root, "usr/lib/llvm-20/lib");
    make_folders(root, "opt/llvm/lib");
    place(root, "usr/lib/llvm-17/lib/libomptarget.so.17", FAKE("17/libomptarget.so.17"));
    place(root, "usr/lib/llvm-20/lib/libomptarget.so.20", "tests/data/kernels.cu");
    place(root, "opt/llvm/lib/libomptarget.so", FAKE("lacks-register/libomptarget.so.19"));
    in_child(nothing_usable, root);
    remove_folder(root);
}

/* ---- libomp ------------------------------------------------------------------------------------------------------ */

/* How many objects of this process have a name that begins with PREFIX. */
static int loaded_objects(const char *prefix)
{
    char line[PATH_MAX + 128], seen[16][PATH_MAX];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/');
        if (path == NULL)
            continue;
        path[strcspn(path, "\n")] = '\0';
        if (strncmp(strrchr(path, '/') + 1, prefix, strlen(prefix)) != 0)
            continue;
        int known = 0;
        for (int i = 0; i < count; i++)
            known |= strcmp(seen[i], path) == 0;
        if (!known && count < 16)
            snprintf(seen[count++], PATH_MAX, "%s", path);
    }
    fclose(maps);
    return count;
}

/* One libomp in the process, RTLD_LOCAL even, serves every release; a second is not opened. */
TEST_ON_FAKES(openmp_is_there, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
{
    CHECK(dlopen(FAKE("20/libomp.so.5"), RTLD_NOW | RTLD_LOCAL) != NULL);
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(loaded_objects("libomp.so"), 1);
    CHECK_EQUAL(loaded_objects("libiomp"), 0);
}

/* None is there: the one beside libomptarget is opened first, globally, since 14 to 18 call it without a look. */
TEST_ON_FAKES(openmp_beside, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
{
    use_release(release);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(loaded_objects("libomp.so"), 1);
    CHECK(dlsym(RTLD_DEFAULT, "__kmpc_get_target_offload") != NULL);
}

/* A runtime of another name: 14 to 18 use its symbols; 19 and later need libomp.so.5, and a second runtime would abort.
 */
TEST_ON_FAKES(another_openmp, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
{
    char path[PATH_MAX];
    fake_path(release, path);
    CHECK(dlopen(FAKE("iomp/libiomp5.so"), RTLD_NOW | RTLD_LOCAL) != NULL);
    if (release >= 19) {
        refused(path, "this process already runs");
        CHECK_MENTIONS(rex_last_error(), "libiomp5.so");
        CHECK_MENTIONS(rex_last_error(), "two OpenMP runtimes abort");
    } else {
        use_release(release);
        CHECK_EQUAL(rex_runtime_bind(), 0);
    }
    CHECK_EQUAL(loaded_objects("libomp.so"), 0);
}

/* The folder of the libomp that is loaded, and of none. */
TEST_IN_CHILD(openmp_folder)
{
    char folder[PATH_MAX] = "untouched";
    CHECK(!rex_openmp_folder(folder));
    CHECK(strcmp(folder, "untouched") == 0);
    CHECK(dlopen(FAKE("19/libomp.so.5"), RTLD_NOW | RTLD_LOCAL) != NULL);
    CHECK(rex_openmp_folder(folder));
    CHECK(strcmp(folder, FAKE("19")) == 0);
}

/* ---- one already in the process ---------------------------------------------------------------------------------- */

static void already_loaded(const void *context)
{
    (void)context;
    CHECK(dlopen(FAKE("20/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK(dlopen(FAKE("20/libomptarget.so.20"), RTLD_NOW | RTLD_LOCAL) != NULL);
    use_release(23);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 20);
    CHECK_MENTIONS(rex_runtime_path(), "fake/20/");
    CHECK_EQUAL(loaded_objects("libomptarget.so"), 1);
}

static void find_trouble(const char *group, const char *name, const char *value, void *trouble)
{
    if (strcmp(group, "libomptarget") == 0 && strcmp(name, "trouble") == 0)
        snprintf(trouble, 256, "%s", value);
}

/*
 * One that is loaded is bound even where its plugins lack their names, since nothing else can be; where it then offers
 * no device, the error says what it lacks.
 */
static void loaded_without_plugins(const void *context)
{
    static char key;
    static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
    static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1,
                                       .image_name = "tests/data/sm_90.cubin"};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libomptarget.so.17", (const char *)context);
    use_gpu(90);
    unsetenv("REX_OMPTARGET");
    CHECK(dlopen(FAKE("17/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 17);
    the_record()->devices = 0;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ERUNTIME);
    CHECK_MENTIONS(rex_last_error(), "libomp-17-dev");
    char trouble[256] = "";
    CHECK_EQUAL(rex_info(0, find_trouble, trouble), 0);
    CHECK_MENTIONS(trouble, "libomp-17-dev");
    the_record()->devices = 1;
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
}

TEST(test_loaded_without_plugins)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libomptarget.so.17", folder);
    copy_file(FAKE("17/libomptarget.so.17"), path);
    in_child(loaded_without_plugins, folder);
    remove_folder(folder);
}

TEST(test_already_loaded)
{
    const char *output = in_child(already_loaded, NULL);
    assert_non_null(strstr(output, "is not used")); /* a warning, since one was named */
}

/* ---- a fork meanwhile -------------------------------------------------------------------------------------------- */

static void *bind(void *unused)
{
    CHECK_EQUAL(rex_runtime_bind(), 0);
    return unused;
}

static void expect_in_child(int result, int release)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQUAL(rex_runtime_bind(), result);
        CHECK_EQUAL(rex_runtime_release(), release);
        CHECK(result == 0 || strcmp(rex_last_error(), "this process was forked while another thread of its parent loaded libomptarget: start the "
                                                      "child with exec, or fork before or after that") == 0);
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

TEST_IN_CHILD(forks)
{
    pthread_t thread;
    use_release(22);
    expect_in_child(0, 22); /* before */
    CHECK_EQUAL(rex_runtime_release(), 0);
    pthread_barrier_init(&opens, NULL, 2);
    pthread_barrier_init(&goes_on, NULL, 2);
    waits = true;
    CHECK_EQUAL(pthread_create(&thread, NULL, bind, NULL), 0);
    pthread_barrier_wait(&opens);
    expect_in_child(REX_EFORK, 0);
    pthread_barrier_wait(&goes_on);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    expect_in_child(0, 22); /* and after that */
}

/* ---- threads and forwarders -------------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *bind_with_the_others(void *answer)
{
    pthread_barrier_wait(&barrier);
    *(int *)answer = rex_runtime_bind();
    if (*(int *)answer == 0 && rex_runtime_release() != 22)
        *(int *)answer = 1;
    return NULL;
}

static void threads_bind(const void *context)
{
    enum { THREADS = 16 };
    pthread_t threads[THREADS];
    int answers[THREADS];
    (void)context;
    use_release(22);
    setenv("REX_LOG", "info", 1);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, bind_with_the_others, &answers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQUAL(answers[i], 0);
    }
    CHECK_EQUAL(loaded_objects("libomptarget.so"), 1);
    CHECK_EQUAL(loaded_objects("libomp.so"), 1);
}

TEST(test_threads_bind_once)
{
    assert_int_equal(occurrences(in_child(threads_bind, NULL), "bound LLVM 22"), 1);
}

/* A forwarder that is called first binds; afterwards its slot is the real function. */
TEST_ON_FAKES(forwarder_binds, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
{
    struct fake_entry entry = {(void *)&entry, (char *)(uintptr_t)"kernel", 0, 0, 0};
    struct fake_image image = {(unsigned char *)&entry, (unsigned char *)(&entry + 1), &entry, &entry + 1};
    struct fake_descriptor descriptor = {1, &image, &entry, &entry + 1};
    use_release(release);
    CHECK_EQUAL(rex_runtime_release(), 0);
    __rex_real___tgt_register_lib((struct __tgt_bin_desc *)(void *)&descriptor);
    CHECK_EQUAL(rex_runtime_release(), release);
    CHECK(last_call(FAKE_REGISTER)->descriptor == &descriptor);
    void *address, *library = dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD);
    memcpy(&address, &rex_real.register_lib, sizeof address);
    CHECK(library != NULL && address == dlsym(library, "__tgt_register_lib"));
    /* It passes on everything as it is: nothing checked, nothing copied. */
    struct __tgt_kernel_arguments packet = {.Version = 5, .Flags = 0x10, .Teams = {0, 0, 0}};
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 9, -1, 5, (void *)&entry, &packet), 0);
    const struct fake_call *call = last_call(FAKE_KERNEL);
    CHECK_EQUAL(call->packet.version, 5);
    CHECK_EQUAL(call->packet.flags, 0x10);
    CHECK_EQUAL(call->device, 9);
    CHECK_EQUAL(call->teams, -1);
    CHECK_EQUAL(call->threads, 5);
    the_record()->result = -1;
    packet = (struct __tgt_kernel_arguments){.Version = 2}; /* the raw call changes it */
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 0, (void *)&entry, &packet), -1);
}

/* 14 has no packet: grid and trip count travel as arguments. */
TEST_IN_CHILD(translated_for_14)
{
    static void *base[1] = {(void *)1};
    static int64_t size[1] = {8}, type[1] = {0x120};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 1,
                                            .ArgsBase = base,
                                            .Args = base,
                                            .ArgSizes = size,
                                            .ArgTypes = type,
                                            .Tripcount = 500};
    use_release(14);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 64, base, &packet), 0);
    CHECK_EQUAL(the_record()->calls[0].function, FAKE_TRIP_COUNT);
    CHECK_EQUAL(the_record()->calls[0].packet.trip_count, 500);
    CHECK_EQUAL(last_call(FAKE_TEAMS_MAPPER)->threads, 64);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 3, 64, base, &packet), 0);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 1); /* teams are known: no need of it */
    CHECK_EQUAL(last_call(FAKE_TEAMS_MAPPER)->teams, 3);
    /* Each column in its place; a launch that need not be waited for is one that is. */
    void *begin[1] = {(void *)2}, *names[1] = {NULL}, *mappers[1] = {NULL};
    packet.Args = begin;
    packet.ArgNames = names;
    packet.ArgMappers = mappers;
    packet.Tripcount = 600;
    the_record()->result = 77;
    CHECK_EQUAL(REX_REAL(target_kernel_nowait)(NULL, 5, -1, 96, base, &packet, 0, NULL, 0, NULL), 77);
    const struct fake_call *call = last_call(FAKE_TEAMS_MAPPER);
    CHECK(call->packet.base == base && call->packet.begin == begin && call->packet.sizes == size && call->packet.types == type);
    CHECK(call->packet.names == names && call->packet.mappers == mappers && call->packet.rows == 1 && call->key == base);
    CHECK(call->device == 5 && call->teams == -1 && call->threads == 96);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 2);
    CHECK(call[-1].function == FAKE_TRIP_COUNT && call[-1].device == 5 && call[-1].packet.trip_count == 600);
    packet.Tripcount = 1;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 64, base, &packet), 77);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 2);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 64, base, &packet), 77);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 3);
    packet.Tripcount = 0;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 64, base, &packet), 77);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 3);
}

/* Before binding, and with nothing to bind to, a forwarder reports and returns. */
TEST_IN_CHILD(forwarder_without_library)
{
    struct __tgt_kernel_arguments packet = {.Version = 3};
    use_release(19);
    rex_configure(REX_OPTION_OMPTARGET, "/nonexistent/libomptarget.so");
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 1, &packet, &packet), -1);
    CHECK_EQUAL(rex_last_error_code(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), "/nonexistent/libomptarget.so");
    __rex_real___tgt_target_data_begin(0, 0, NULL, NULL, NULL, NULL);
    __rex_real___tgt_register_lib(NULL);
}

uintptr_t __tgt_interop_get(WORDS_P);
void __tgt_rtl_init(void);
int __tgt_print_device_info(int64_t device);

/* What the release has not got is said, not jumped to. */
TEST_IN_CHILD(missing_function)
{
    use_release(14);
    CHECK_EQUAL(__tgt_interop_get(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 0);
    CHECK_EQUAL(rex_runtime_release(), 14);
    CHECK_EQUAL(rex_last_error_code(), REX_EUNSUPPORTED);
    CHECK_MENTIONS(rex_last_error(), "__tgt_interop_get: LLVM 14's libomptarget has no such function");
    __tgt_rtl_init();
    CHECK_MENTIONS(rex_last_error(), "__tgt_rtl_init: LLVM 14");
}

/* Each of the jumps reaches the slot of its own name. */
static const char *reached;
#define PROBE(type, name, parameters, arguments, missing)                                                              \
    void exported_##name(void) __asm__("__tgt_" #name);                                                                \
    static void probe_##name(void)                                                                                     \
    {                                                                                                                  \
        reached = #name;                                                                                               \
    }
REX_FORWARDED(PROBE)

TEST_IN_CHILD(every_jump)
{
#define JUMP(type, name, parameters, arguments, missing)                                                               \
    rex_real.name = (type(*) parameters)probe_##name;                                                                  \
    exported_##name();                                                                                                  \
    CHECK(strcmp(reached, #name) == 0);
    REX_FORWARDED(JUMP)
}
