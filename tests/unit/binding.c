/*
 * binding.c - binding to libomptarget: which one is found and taken; and what fails says why, in
 * one error, and never crashes (tests/golden/messages/inspect.txt).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>

#include "calls/forward.h"
#include "omp/search.h"
#include "rex/inspect.h"
#include "support/messages.h"

MESSAGES("inspect");

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

static const struct {
    const char *path, *because;
} named_cases[] = {
    {"/nonexistent/libomptarget.so", "No such file or directory"},
    {FAKE("19/libomp.so.5"), "not libomptarget of LLVM 14 or later"},
    {FAKE("lacks-devices/libomptarget.so.19"), "it lacks the entry point omp_get_num_devices"},
};

TEST_FOR_EACH(named, given, named_cases)
{
    refused(given->path, given->because);
}

/* Copies in a new folder: the plugins of the first have no names beside it; the second may not be read, not even by root. */
static const struct {
    mode_t file, folder;
    const char *because;
} copied_cases[] = {
    {0644, 0755, "LLVM 17's plugins, libomptarget.rtl.*.so, are not beside the library (Debian: apt-get install libomp-17-dev)"},
    {0, 0755, "Permission denied"},
    {0666, 0755, "every user may write"},
    {0644, 01777, "every user may write"},
};

TEST_FOR_EACH(copied, given, copied_cases)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libomptarget.so.17", folder);
    copy_file(FAKE("17/libomptarget.so.17"), path);
    CHECK(chmod(path, given->file) == 0 && chmod(folder, given->folder) == 0);
    CHECK(given->file != 0 || geteuid() != 0 || seteuid(65534) == 0);
    refused(path, given->because);
    CHECK(getuid() != 0 || seteuid(0) == 0);
    remove_folder(folder);
}

/* ---- in another root, where nothing is but what a test puts there ------------------------------------------------ */

static void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("skip: only root may hide the machine's own libraries with chroot\n");
    skip();
}

/* The names of this process's objects whose file's name begins with PREFIX, each with a space in
 * front. */
static const char *loaded_prefix;
static char loaded_names[4 * PATH_MAX];
static int loaded_count;

static int add_loaded(struct dl_phdr_info *object, size_t size, void *unused)
{
    const char *slash = strrchr(object->dlpi_name, '/'), *name = slash != NULL ? slash + 1 : object->dlpi_name;
    (void)size, (void)unused;
    if (strncmp(name, loaded_prefix, strlen(loaded_prefix)) == 0) {
        strcat(strcat(loaded_names, " "), object->dlpi_name);
        loaded_count++;
    }
    return 0;
}

static int loaded_objects(const char *prefix)
{
    loaded_prefix = prefix;
    loaded_count = 0;
    *loaded_names = '\0';
    dl_iterate_phdr(add_loaded, NULL);
    return loaded_count;
}

/* What rex_info() says of libomptarget and of those that it found, in lines. */
static void add_row(const char *group, const char *name, const char *value, void *context)
{
    (void)context;
    bool is_path = strcmp(group, "libomptarget") == 0 && strcmp(name, "path") == 0;
    if (is_path || strcmp(group, "found") == 0 || strcmp(name, "chosen by") == 0 || strcmp(name, "trouble") == 0)
        says("    %s: %s", name, value);
}

static void enter_root(void)
{
    use_release(19);
    unsetenv("REX_OMPTARGET");
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, NULL), 0);
    CHECK_EQUAL(chroot(getenv("TEST_ROOT")), 0);
    CHECK_EQUAL(chdir("/"), 0);
}

static void make_folders_for(const char *root, const char *path)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\"", root, path);
    assert_int_equal(system(command), 0);
}

#define OMPTARGET(release) FAKE(#release "/libomptarget.so." #release)
#define OMP(release) FAKE(#release "/libomp.so.5")
struct tree {
    const char *files[14][2]; /* each after what it is a copy of, or a link to where that begins with '>' */
    const char *openmp;       /* that the process has before; NULL: none */
};

/* A file or folder in the tree that every user may write, or, where the mode is 0, that is another user's; NULL: none. */
static struct loose {
    const char *path;
    mode_t mode;
} loose;

static void take_line(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strncmp(message, "no GPU: ", 8) != 0)
        says("    %s", message);
}

static void bind_in(const void *context)
{
    const struct tree *tree = context;
    enter_root();
    rex_set_log_callback(take_line, NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    if (loose.path == NULL)
        says("The first of the tree is %s:", tree->files[0][0]);
    else
        says("%s with mode %o:", loose.path, (unsigned)loose.mode);
    CHECK(tree->openmp == NULL || dlopen(tree->openmp, RTLD_NOW | RTLD_GLOBAL) != NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_runtime_bind(), rex_last_error_code());
    CHECK_EQUAL(rex_info(0, add_row, NULL), 0);
    loaded_objects("libomp.so");
    says("    loaded:%s", loaded_names);
}

static void plant(const struct tree *tree, char root[PATH_MAX])
{
    make_folder(root);
    for (size_t i = 0; i < COUNT(tree->files) && tree->files[i][0] != NULL; i++) {
        const char *path = tree->files[i][0], *from = tree->files[i][1];
        char whole[2 * PATH_MAX];
        make_folders_for(root, path);
        snprintf(whole, sizeof whole, "%s/%s", root, path);
        if (*from == '>')
            assert_int_equal(symlink(from + 1, whole), 0);
        else
            copy_file(from, whole);
    }
    if (loose.path != NULL) {
        char whole[2 * PATH_MAX];
        snprintf(whole, sizeof whole, "%s/%s", root, loose.path);
        assert_int_equal(loose.mode != 0 ? chmod(whole, loose.mode) : chown(whole, 65534, 65534), 0);
    }
}

static void in_root(const struct tree *tree, void (*body)(const void *))
{
    char root[PATH_MAX];
    plant(tree, root);
    setenv("TEST_ROOT", root, 1);
    in_child(body, tree);
    unsetenv("TEST_ROOT");
    remove_folder(root);
}

TEST(test_trees)
{
    static const struct tree trees[] = {
        /* Nothing at all: what was looked for, and what to install. */
        {{{NULL, NULL}}, NULL},
        /* What is there and cannot be used is named, each with its reason. */
        {{{"usr/lib/llvm-17/lib/libomptarget.so.17", OMPTARGET(17)},
          {"usr/lib/llvm-20/lib/libomptarget.so.20", "tests/data/kernels.cu"},
          {"opt/llvm/lib/libomptarget.so", FAKE("lacks-register/libomptarget.so.19")}},
         NULL},
        /* The best one is bound, and which were passed over is said. */
        {{{"usr/lib/llvm-17/lib/libomptarget.so.17", OMPTARGET(17)},
          {"usr/lib/llvm-19/lib/libomptarget.so.19", OMPTARGET(19)},
          {"usr/lib/llvm-19/lib/libomp.so.5", OMP(19)},
          {"usr/lib/llvm-20/lib/libomptarget.so.20", FAKE("lacks-register/libomptarget.so.19")},
          {"usr/lib/llvm-20/lib/libomptarget.so.99", FAKE("lacks-devices/libomptarget.so.19")}},
         NULL},
        /* The best one, once opened, stays in the process, and so no other is tried. */
        {{{"opt/a/lib/libomptarget.so.99", FAKE("lacks-devices/libomptarget.so.19")},
          {"opt/a/lib/libomp.so.5", OMP(19)},
          {"opt/b/lib/libomptarget.so.19", OMPTARGET(19)}},
         NULL},
        /* There is no libomp, wherever libomptarget is. */
        {{{"opt/a/lib/libomptarget.so.23", OMPTARGET(23)}, {"usr/lib/libomptarget.so.22", OMPTARGET(22)}}, NULL},
        /* It is in the folder of the one that is the second best; of one release the first by path
           is better. */
        {{{"opt/a/lib/libomptarget.so.23", OMPTARGET(23)},
          {"opt/b/lib/libomptarget.so.22", OMPTARGET(22)},
          {"opt/b/lib/libomp.so.5", OMP(22)},
          {"usr/lib/llvm-22/lib/libomptarget.so.22", OMPTARGET(22)}},
         NULL},
        /* It has no version in its name. */
        {{{"opt/a/lib/libomptarget.so.23", OMPTARGET(23)}, {"opt/a/lib/libomp.so", OMP(23)}}, NULL},
        /* It is where the loader looks. Of one release the first by path is better, though found
           later; a release that is not known comes last. */
        {{{"usr/lib/llvm-23/lib/libomptarget.so.23", OMPTARGET(23)},
          {"opt/a/lib/libomptarget.so.23", OMPTARGET(23)},
          {"opt/b/lib/libomptarget.so.25", OMPTARGET(25)},
          {"usr/lib/libomp.so.5", OMP(23)}},
         NULL},
        /* The folder of the process's OpenMP runtime comes first, 18 last in it, and a file by two
           names is there once. */
        {{{"srv/libomptarget.so.15", OMPTARGET(15)},
          {"srv/libomptarget.so.18", OMPTARGET(18)},
          {"srv/libomptarget.so.19", OMPTARGET(19)},
          {"srv/libomptarget.so.21", OMPTARGET(21)},
          {"srv/libomptarget.so.21.9", OMPTARGET(21)},
          {"srv/libomptarget.so.23", OMPTARGET(23)},
          {"srv/libomptarget.so.50", ">libomptarget.so.21"},
          {"srv/libomptarget.so.98", FAKE("lacks-register/libomptarget.so.19")},
          {"srv/libomptarget.so.99", "tests/data/kernels.cu"},
          {"srv/libomptarget.rtl.x86_64.so", "tests/data/kernels.cu"},
          {"srv/libomp.so.5", OMP(23)},
          {"opt/a/lib/libomptarget.so.24", OMPTARGET(24)}},
         "/srv/libomp.so.5"},
        /* A release that librex does not know is taken where there is nothing else; it is said
           once. */
        {{{"opt/a/lib/libomptarget.so.25", OMPTARGET(25)}, {"opt/a/lib/libomp.so.5", OMP(25)}},
         NULL},
        {{{"opt/a/lib/libomptarget.so.25", OMPTARGET(25)},
          {"opt/a/lib/libomp.so.5", OMP(25)},
          {"opt/b/lib/libomptarget.so.18", OMPTARGET(18)},
          {"opt/b/lib/libomptarget.rtl.x86_64.so", OMPTARGET(18)}},
         "/opt/a/lib/libomp.so.5"},
    };
    need_root();
    for (size_t i = 0; i < COUNT(trees); i++)
        in_root(&trees[i], bind_in);
}

/* What every user may write is passed over wherever it is, and what is another user's where nobody has named it. A sticky folder keeps what lies
 * in it, but anyone may add to it. */
TEST(test_loose)
{
    static const struct tree tree = {{{"opt/a/lib/libomptarget.so.23", OMPTARGET(23)},
                                      {"opt/a/lib/libomp.so.5", OMP(23)},
                                      {"opt/b/lib/libomptarget.so.17", OMPTARGET(17)},
                                      {"opt/b/lib/libomptarget.rtl.x86_64.so", OMPTARGET(17)},
                                      {"usr/lib/libomptarget.so.15", OMPTARGET(15)},
                                      {"usr/lib/libomptarget.rtl.x86_64.so", OMPTARGET(15)},
                                      {"usr/lib/libomp.so.5", OMP(15)}},
                                     NULL};
    /* The loader's folders are the user's word. */
    static const struct tree named = {{{"usr/lib/libomptarget.so.23", OMPTARGET(23)}, {"usr/lib/libomp.so.5", OMP(23)}}, NULL};
    /* Plugins are code, too. */
    static const struct tree plugins = {{{"opt/b/lib/libomptarget.so.17", OMPTARGET(17)},
                                         {"opt/b/lib/libomptarget.rtl.x86_64.so", OMPTARGET(17)},
                                         {"usr/lib/libomp.so.5", OMP(17)}},
                                        NULL};
    static const struct {
        const struct tree *tree;
        struct loose loose;
    } cases[] = {
        {&tree, {"opt/a/lib/libomptarget.so.23", 0666}},
        {&tree, {"opt/a/lib", 01777}},
        {&tree, {"opt/a", 0777}},
        {&tree, {"opt/a", 01777}},
        {&tree, {"opt/a/lib/libomptarget.so.23", 0}},
        {&tree, {"opt/a/lib", 0}},
        {&tree, {"opt/a", 0}},
        {&tree, {"opt/a/lib/libomp.so.5", 0}},
        {&named, {"usr/lib/libomptarget.so.23", 0}},
        {&named, {"usr/lib/libomptarget.so.23", 0666}},
        {&plugins, {"opt/b/lib/libomptarget.rtl.x86_64.so", 0666}},
    };
    need_root();
    for (size_t i = 0; i < COUNT(cases); i++) {
        loose = cases[i].loose;
        in_root(cases[i].tree, bind_in);
    }
    loose.path = NULL;
}

/* rules.mk leads calls here: no libomptarget is opened, or there is no memory, at first for librex's constructor. */
enum { NO_MEMORY = -1, NOT_LOADED = -2, LOADED_SLOWLY = -3 };
static int failure; /* errno of open(); 0: none */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    if (failure <= 0 || strstr(path, "/libomptarget.so") == NULL)
        return __real_open(path, flags, 0);
    errno = failure;
    return -1;
}

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    return failure == NO_MEMORY ? NULL : __real_realloc(block, size);
}

static void *fork_meanwhile(void *unused)
{
    CHECK_IN_FORK((REFUSED(rex_runtime_bind()), true));
    return unused;
}

void *__real_dlopen(const char *path, int flags), *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    bool is_wanted = path != NULL && strstr(path, "/libomptarget.so") != NULL, fails = is_wanted && failure == NOT_LOADED;
    if (is_wanted && failure == LOADED_SLOWLY) {
        pthread_t thread;
        failure = 0;
        REFUSED(rex_runtime_bind()); /* as a constructor may */
        CHECK(pthread_create(&thread, NULL, fork_meanwhile, NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){fails ? 0 : limit.rlim_cur, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    void *opened = __real_dlopen(path, flags);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return opened;
}

bool no_handler(void); /* for locks/held.c */
bool no_handler(void)
{
    static int calls;
    return calls++ == 0 || failure == NO_MEMORY;
}

static void look_in_vain(const void *tree)
{
    /* At first there is no memory for what is done at a fork, and last for the list of what is found. */
    static const int errors[] = {NO_MEMORY, ENOMEM, EMFILE, EIO, EACCES, NOT_LOADED, NO_MEMORY};
    enter_root();
    CHECK(dlopen(((const struct tree *)tree)->openmp, RTLD_NOW | RTLD_GLOBAL) != NULL);
    for (size_t i = 0; i < COUNT(errors); i++) {
        failure = errors[i];
        REFUSED(rex_runtime_bind());
    }
    failure = LOADED_SLOWLY;
    CHECK_EQUAL(rex_runtime_bind(), 0);
}

/* A failure that may pass is told of by itself: the file that is passed over may be the best.
 * Letters of a format in a name mean nothing. */
TEST(test_nothing_opens)
{
    static const struct tree tree = {{{"srv/%s%n/libomptarget.so.22", OMPTARGET(22)},
                                      {"srv/%s%n/libomp.so.5", OMP(22)}},
                                     "/srv/%s%n/libomp.so.5"};
    need_root();
    in_root(&tree, look_in_vain);
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

/* The dynamic entry that names the library itself comes first, and its tag becomes TAG. */
static void rename_entry(unsigned char *bytes, int64_t tag)
{
    const ElfW(Ehdr) *header = (const void *)bytes;
    const ElfW(Phdr) *part = (const void *)(bytes + header->e_phoff);
    while (part->p_type != PT_DYNAMIC)
        part++;
    ElfW(Dyn) *first = (void *)(bytes + part->p_offset), *entry = first, other = *first;
    while (entry->d_tag != DT_SONAME)
        entry++;
    *first = *entry;
    first->d_tag = tag;
    *entry = other;
}

static const struct file {
    const char *from, *old, *new; /* with one name changed; NULL: none */
    int64_t tag;                  /* of the library's own name; 0: as it is */
} files[] = {
    /* 20 and 21 export the same: the number in a library's own name, or in those that it needs, tells them apart. */
#define OF_21 OMPTARGET(21), "libomptarget.so.21"
    {OF_21, "libomptarget.so.21", DT_NEEDED},
    {OF_21, "libomptarget.so.21", DT_RPATH},
    {OF_21, "libLLVM-21.so.1", DT_NEEDED},
    {OF_21, "libLLVM-99.so.1", DT_NEEDED},
    {OF_21, "libomptarget.so", DT_SONAME},
    {OF_21, "libClang.so.21", DT_NEEDED},
    /* A number above all that librex knows, or, without a number, a function that no known release has. */
    {OMPTARGET(24), "libomptarget.so.24", "libomptarget.so", DT_SONAME},
    {OMPTARGET(24), "libomptarget.so.24", "libLLVM.so.30.1", DT_NEEDED},
    {OMPTARGET(24), "__tgt_register_requires", "__tgt_unheard_of", 0},
    {OMPTARGET(25), "libomptarget.so.25", "libomptarget.so.25", DT_SONAME},
    {OMPTARGET(25), "libomptarget.so.25", "libomptarget.so", DT_SONAME},
    /* No libomptarget that can be used. */
    {TEST_BUILD "/librex.so", NULL, NULL, 0},
    {TEST_BUILD "/obj/tests/unit/binding.o", NULL, NULL, 0},
    {"tests/data/sm_90.cubin", NULL, NULL, 0},
    {OMPTARGET(19), "__tgt_register_lib", "__tgt_register_lob", 0},
};

TEST(test_files)
{
    char folder[PATH_MAX], path[PATH_MAX + 32], why[256];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/library", folder);
    for (size_t i = 0; i < COUNT(files); i++) {
        const struct file *file = &files[i];
        size_t size;
        unsigned char *bytes = read_bytes(file->from, &size);
        assert_true(file->old == NULL || exchange(bytes, size, file->old, file->new) > 0);
        if (file->tag != 0)
            rename_entry(bytes, file->tag);
        write_bytes(path, bytes, size);
        free(bytes);
        const struct rex_release *told = NULL;
        int result = rex_search_tell(path, &told, why, sizeof why);
        says("%s, %s %lld: LLVM %d%s%s", file->from, file->new, (long long)file->tag, result == REX_OK ? told->number : result,
             *why != '\0' ? ": " : "", why);
    }
    remove_folder(folder);
}

/* ---- libomp ------------------------------------------------------------------------------------------------------ */

static const char *openmp_there; /* NULL: none */

/* A libomp in the process, RTLD_LOCAL even, serves every release; a second is not opened. Where
 * there is none, the one beside libomptarget is opened first, globally, since 14 to 18 call it
 * without a look. Of a runtime of another name 14 to 18 use the symbols; 19 and later need
 * libomp.so.5, and a second runtime would abort. */
static void openmp(const void *context)
{
    int release = *(const int *)context;
    bool is_other = openmp_there != NULL && strstr(openmp_there, "iomp5") != NULL;
    char path[PATH_MAX];
    fake_path(release, path);
    CHECK(openmp_there == NULL || dlopen(openmp_there, RTLD_NOW | RTLD_LOCAL) != NULL);
    if (is_other && release >= 19) {
        refused(path, "this process already runs");
        CHECK_MENTIONS(rex_last_error(), "libiomp5.so");
        CHECK_MENTIONS(rex_last_error(), "a process with two OpenMP runtimes aborts");
    } else {
        use_release(release);
        CHECK_EQUAL(rex_runtime_bind(), 0);
        CHECK(openmp_there != NULL || dlsym(RTLD_DEFAULT, "__kmpc_get_target_offload") != NULL);
    }
    CHECK_EQUAL(loaded_objects("libomp.so"), !is_other);
    CHECK_EQUAL(loaded_objects("libiomp"), is_other);
}

TEST(test_openmp)
{
    static const char *const there[] = {NULL, OMP(20), FAKE("iomp/libiomp5.so")};
    static const int releases[] = {ALL_RELEASES};
    for (size_t i = 0; i < COUNT(there); i++)
        for (size_t j = 0; j < COUNT(releases); j++) {
            openmp_there = there[i];
            in_child(openmp, &releases[j]);
        }
}

/* ---- one already in the process ---------------------------------------------------------------------------------- */

TEST_IN_CHILD(already_loaded)
{
    CHECK(dlopen(OMP(20), RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK(dlopen(OMPTARGET(20), RTLD_NOW | RTLD_LOCAL) != NULL);
    rex_set_log_callback(take_line, NULL);
    use_release(23); /* which is not used, and that is said */
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 20);
    CHECK_MENTIONS(rex_runtime_path(), "fake/20/");
    CHECK_EQUAL(loaded_objects("libomptarget.so"), 1);
}

/*
 * One that is loaded is bound even where its plugins lack their names, since nothing else can be; where it then offers
 * no device, the error says what it lacks.
 */
TEST_IN_CHILD(loaded_without_plugins)
{
    static char key;
    static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
    static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1,
                                       .image_name = "tests/data/sm_90.cubin"};
    char folder[PATH_MAX], path[PATH_MAX + 32];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libomptarget.so.17", folder);
    copy_file(OMPTARGET(17), path);
    use_gpu(90);
    unsetenv("REX_OMPTARGET");
    CHECK(dlopen(FAKE("17/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    CHECK_EQUAL(rex_runtime_release(), 17);
    the_record()->devices = 0;
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_ERUNTIME);
    CHECK_MENTIONS(rex_last_error(), "libomp-17-dev");
    the_record()->devices = 1;
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    remove_folder(folder);
}

/* ---- forwarders ------------------------------------------------------------------------------ */

/* A forwarder that is called first binds, and passes on everything as it is. */
TEST_IN_CHILD(forwarder_binds)
{
    struct fake_entry entry = {(void *)&entry, (char *)(uintptr_t)"kernel", 0, 0, 0};
    struct fake_image image = {(unsigned char *)&entry, (unsigned char *)(&entry + 1), &entry, &entry + 1};
    struct fake_descriptor descriptor = {1, &image, &entry, &entry + 1};
    struct __tgt_kernel_arguments packet = {.Version = 5, .Flags = 0x10};
    use_release(22);
    __rex_real___tgt_register_lib((struct __tgt_bin_desc *)(void *)&descriptor);
    CHECK_EQUAL(rex_runtime_release(), 22);
    CHECK(last_call(FAKE_REGISTER)->descriptor == &descriptor);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 9, -1, 5, &entry, &packet), 0);
    const struct fake_call *call = last_call(FAKE_KERNEL);
    CHECK(call->packet.version == 5 && call->packet.flags == 0x10 && call->device == 9);
    CHECK(call->teams == -1 && call->threads == 5);
    the_record()->result = -1;
    packet = (struct __tgt_kernel_arguments){.Version = 2}; /* the raw call has changed it */
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 0, &entry, &packet), -1);
}

int __tgt_target_kernel_nowait(ident_t *place, int64_t device, int32_t teams, int32_t threads, void *key,
                               struct __tgt_kernel_arguments *packet, int32_t count, void *list, int32_t no_alias_count, void *no_alias_list);

/* 14 has no packet: each column travels as an argument, and the trip count in a call before, where
 * no teams are known. A launch that need not be waited for is one that is. */
TEST_IN_CHILD(translated_for_14)
{
    static void *base[1] = {(void *)1}, *begin[1] = {(void *)2}, *names[1], *mappers[1];
    static int64_t size[1] = {8}, type[1] = {0x120};
    struct __tgt_kernel_arguments packet = {3,       1,   base, begin, size, type, names,
                                            mappers, 600, 0,    {0},   {0},  0};
    use_release(14);
    CHECK_EQUAL(rex_runtime_bind(), 0);
    the_record()->result = 77;
    CHECK_EQUAL(__tgt_target_kernel_nowait(NULL, 5, -1, 96, base, &packet, 0, NULL, 0, NULL), 77);
    const struct fake_call *call = last_call(FAKE_TEAMS_MAPPER);
    CHECK(call->packet.base == base && call->packet.begin == begin && call->packet.sizes == size && call->packet.types == type);
    CHECK(call->packet.names == names && call->packet.mappers == mappers && call->packet.rows == 1 && call->key == base);
    CHECK(call->device == 5 && call->teams == -1 && call->threads == 96);
    CHECK(call[-1].function == FAKE_TRIP_COUNT && call[-1].device == 5 && call[-1].packet.trip_count == 600);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 3, 64, base, &packet), 77);
    CHECK_EQUAL(last_call(FAKE_TEAMS_MAPPER)->teams, 3);
    packet.Tripcount = 0;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 0, 64, base, &packet), 77);
    CHECK_EQUAL(the_record()->counts[FAKE_TRIP_COUNT], 1);
}

int omp_target_associate_ptr(const void *host, const void *on_device, size_t size, size_t offset, int device);
int omp_target_disassociate_ptr(const void *host, int device);

/* Before binding, and with nothing to bind to, a forwarder reports and returns. */
TEST_IN_CHILD(forwarder_without_library)
{
    struct __tgt_kernel_arguments packet = {.Version = 3};
    use_release(19);
    rex_configure(REX_OPTION_OMPTARGET, "/nonexistent/libomptarget.so");
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 0, 1, 1, &packet, &packet), -1);
    CHECK_EQUAL(rex_last_error_code(), REX_ENORUNTIME);
    CHECK_MENTIONS(rex_last_error(), "/nonexistent/libomptarget.so");
    CHECK(omp_target_associate_ptr(&packet, &packet, 8, 0, 0) != 0 && omp_target_disassociate_ptr(&packet, 0) != 0);
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
