/*
 * imagefile.c - where an image is looked for, in which order, and when a host image, which is code,
 * is not trusted. Files that are found, and each refusal: tests/golden/messages/offload.txt.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <elf.h>

#include "rex/library.h"
#include "support/messages.h"

MESSAGES("offload");

#define STRANGER 65534

/*
 * Every test has a folder with path1, path2, module, bin, cwd in it. The children that look for
 * images run a copy of this program in bin, because librex looks beside the executable.
 */
static const char *const places[] = {"path1", "path2", "module", "bin", "cwd"};
static char root[PATH_MAX];

static const char *in_root(const char *path)
{
    static char whole[4][2 * PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    snprintf(whole[next], sizeof whole[next], "%s/%s", root, path);
    return whole[next];
}

static void put(const char *path, const void *bytes, size_t size)
{
    write_bytes(in_root(path), bytes, size);
    assert_int_equal(chmod(in_root(path), 0644), 0);
}

static void put_host_image(const char *path)
{
    copy_file(FAKE("host.so"), in_root(path));
    assert_int_equal(chmod(in_root(path), 0644), 0);
}

/* ---- children -------------------------------------------------------------------------------- */

static char key;
static struct __tgt_offload_entry entry = {&key, (char *)(uintptr_t) "plain__kernel__", 0, 0, 0};
static const struct rex_module fresh = {.struct_size = sizeof fresh,
                                        .entries_begin = &entry,
                                        .entries_end = &entry + 1,
                                        .image_name = "an.image"};
static struct rex_module main_module;

/* A module in a shared object of its own. */
static struct rex_module *shared_module(void)
{
    void *library = dlopen(in_root("module/module.so"), RTLD_NOW);
    struct rex_module *shared = library != NULL ? dlsym(library, "fake_module") : NULL;
    CHECK(shared != NULL);
    struct __tgt_offload_entry *own = lasting(malloc(sizeof *own)); /* not the program's */
    *own = entry;
    *shared = fresh;
    shared->entries_begin = own;
    shared->entries_end = own + 1;
    return shared;
}

static void set_path(const char *first, const char *second)
{
    char path[2 * PATH_MAX + 2];
    /* An empty element is no folder. */
    snprintf(path, sizeof path, ":%s::%s", in_root(first), in_root(second));
    setenv("REX_CUBIN_PATH", path, 1);
}

/* The image NAME of MODULE, or its own: where it is found, or why not. */
static int look_for(struct rex_module *module, const char *name)
{
    int result = rex_module_register(module, name);
    if (result == REX_OK)
        says("%s: %s", name, rex_module_image_path(module));
    else
        refuses(result, strlen(name != NULL ? name : "") > 100 ? "a long name" : "%s", name);
    CHECK_EQUAL(rex_module_fini(module), REX_OK);
    return result;
}

/* Each place in turn has the image; it is taken away before the next. */
static void look_everywhere(struct rex_module *module)
{
    char name[64];
    set_path("path1", "path2");
    for (size_t i = 0; i < COUNT(places); i++)
        if (module != &main_module || strcmp(places[i], "module") != 0) {
            CHECK_EQUAL(look_for(module, "an.image"), REX_OK);
            snprintf(name, sizeof name, "%s/an.image", places[i]);
            CHECK_EQUAL(unlink(in_root(name)), 0);
        }
    CHECK_EQUAL(look_for(module, "an.image"), REX_ENOIMAGE);
}

static void order_of_main(void)
{
    look_everywhere(&main_module);
}

static void order_of_shared(void)
{
    look_everywhere(shared_module());
}

static void with_a_slash(void)
{
    set_path("path1", "path2");
    look_for(&main_module, "./an.image");
    look_for(&main_module, "./another.image");
    look_for(&main_module, in_root("path2/an.image"));
}

/* $REX_CUBIN is for the main program alone, and only where no name is given. */
static void configured_image(void)
{
    setenv("REX_CUBIN", in_root("special.image"), 1);
    look_for(&main_module, NULL);
    look_for(shared_module(), NULL);
    look_for(&main_module, "bin/an.image");
    look_for(&main_module, "another.image");
    setenv("REX_CUBIN", in_root("none.image"), 1);
    look_for(&main_module, NULL);
    unsetenv("REX_CUBIN");
    look_for(&main_module, NULL);
}

static void host_image_instead(void)
{
    static struct __tgt_offload_entry axpy = {&key, (char *)(uintptr_t) "axpy__kernel__", 0, 0, 0},
                                      odd = {&key, (char *)(uintptr_t) "a name", 0, 0, 0};
    main_module.host_image_name = "host.image";
    main_module.image_name = "none.image";
    look_for(&main_module, NULL);
    look_for(&main_module, "other.image"); /* one that was asked for is not replaced */
    main_module.host_image_name = NULL;
    look_for(&main_module, NULL);
    main_module.image_name = "rex_lib_nvidia.cubin";
    look_for(&main_module, NULL);
    main_module.entries_begin = &axpy;
    main_module.entries_end = &axpy + 1;
    look_for(&main_module, NULL);
    look_for(&main_module, "rex_lib_nvidia.cubin");
    main_module.entries_begin = &odd;
    main_module.entries_end = &odd + 1;
    look_for(&main_module, NULL);
    main_module.image_name = NULL;
    look_for(&main_module, NULL);
}

/* Files that cannot be read: the error names them. */
static void unusable_files(void)
{
    static const char *const names[] = {"./folder",     "./fifo",          "./secret", "./empty",
                                        "./text",       "./other_machine", "./cut",    "./dangling",
                                        "./text/below", "/dev/zero"};
    if (geteuid() == 0)
        CHECK_EQUAL(seteuid(STRANGER), 0);
    for (size_t i = 0; i < COUNT(names); i++)
        look_for(&main_module, names[i]);
    /* A file that is there and bad ends the search: what comes later in the list is not what was
     * meant. */
    set_path("cwd", "bin");
    look_for(&main_module, "secret");
    _exit(0); /* LeakSanitizer does not work for a user who may not look at the process */
}

/* Names and paths that are too long for any file: the error says so, whatever room the name takes.
 */
static void long_names(void)
{
    static char name[10000], folders[5000];
    static const size_t lengths[] = {256, 4090, 4096, sizeof name - 1}, of_paths[] = {4095, 4096};
    for (size_t i = 0; i < COUNT(lengths) + COUNT(of_paths); i++) {
        bool is_path = i >= COUNT(lengths);
        memset(name, 'n', sizeof name);
        name[0] = is_path ? '/' : 'n';
        name[is_path ? of_paths[i - COUNT(lengths)] : lengths[i]] = '\0';
        CHECK_EQUAL(rex_module_register(&main_module, name), REX_EREAD);
        says("%zu letters: %.30s ... %s", strlen(name), rex_last_error(),
             rex_last_error() + strlen(rex_last_error()) - 80);
    }
    memset(name, 'n', 255);
    name[255] = '\0';
    CHECK_EQUAL(rex_module_register(&main_module, name), REX_ENOIMAGE);
    /* A folder in which the name has no room is passed over, and told. */
    memset(folders, '/', 4090);
    setenv("REX_CUBIN_PATH", folders, 1);
    CHECK_EQUAL(rex_module_register(&main_module, "none.image"), REX_ENOIMAGE);
    CHECK_MENTIONS(rex_last_error(), "///..., which is too long for a path, ");
    look_for(&main_module, "an.image");
}

static void found(void)
{
    look_for(&main_module, NULL);
    look_for(&main_module, in_root("cwd/an.image")); /* to name it with a slash is to mean it */
}

/* As a user who is not the program's, and as one whose program it is, who may not see the other
 * folders. */
static void found_by_a_stranger(void)
{
    setenv("REX_CUBIN_PATH", ".", 1);
    CHECK_EQUAL(seteuid(STRANGER), 0);
    look_for(&main_module, NULL);
    _exit(0);
}

static void found_by_its_owner(void)
{
    setenv("REX_CUBIN_PATH", ".", 1);
    CHECK_EQUAL(setuid(STRANGER), 0);
    look_for(&main_module, NULL);
    _exit(0);
}

/* On the stack then, where no variable is initialised, is a path. */
__attribute__((noinline)) static void fill_stack(void)
{
    volatile char bytes[8 * PATH_MAX];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = '/';
}

/* Where nothing tells which program it is, its folder is none. */
static void without_proc(void)
{
    CHECK_EQUAL(chroot(root), 0);
    CHECK_EQUAL(chdir("/"), 0);
    fill_stack();
    look_for(&main_module, "none.image");
    _exit(0); /* LeakSanitizer sees no /proc */
}

#define CHILD(function)                                                                            \
    {                                                                                              \
#function, function                                                                        \
    }
static const struct {
    const char *name;
    void (*run)(void);
} children[] = {
    CHILD(order_of_main),       CHILD(order_of_shared),
    CHILD(with_a_slash),        CHILD(configured_image),
    CHILD(host_image_instead),  CHILD(unusable_files),
    CHILD(long_names),          CHILD(found),
    CHILD(found_by_a_stranger), CHILD(found_by_its_owner),
    CHILD(without_proc),
};

static int as_child(const char *name, const char *folder)
{
    snprintf(root, sizeof root, "%s", folder);
    main_module = fresh;
    use_gpu(0);
    use_release(19);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
    CHECK_EQUAL(chdir(in_root("cwd")), 0);
    alarm(60); /* a FIFO that is waited for */
    for (size_t i = 0; i < COUNT(children); i++)
        if (strcmp(children[i].name, name) == 0) {
            children[i].run();
            return 0;
        }
    return 97;
}

static void run_copy(const void *name)
{
    unsetenv("REX_CUBIN");
    unsetenv("REX_CUBIN_PATH");
    execl(in_root("bin/place"), "place", (const char *)name, root, (char *)NULL);
    _exit(98);
}

static void run_there(const char *name)
{
    struct child child = run_child(run_copy, name);
    if (child.status != 0)
        fail_msg("%s ended with %d:\n%s", name, child.status, child.output);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    char resolved[PATH_MAX];
    (void)state;
    make_folder(root);
    assert_non_null(realpath(root, resolved));
    memcpy(root, resolved, sizeof root);
    assert_int_equal(chmod(root, 0755), 0);
    for (size_t i = 0; i < COUNT(places); i++) {
        assert_int_equal(mkdir(in_root(places[i]), 0755), 0);
        assert_int_equal(chmod(in_root(places[i]), 0755), 0);
    }
    copy_file("/proc/self/exe", in_root("bin/place"));
    assert_int_equal(chmod(in_root("bin/place"), 0755), 0);
    copy_file(FAKE("module.so"), in_root("module/module.so"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

#define TEST_IN_FOLDER(name) TEST(name, .set_up = set_up, .tear_down = tear_down)

/* A file of ten gigabytes that holds next to nothing is no reason to take so much memory: its
 * headers say how long the image is. */
static void load_huge(const void *file)
{
    struct rex_library *library;
    use_gpu(90);
    use_release(19);
    copy_file(file, in_root("huge"));
    lengthen(in_root("huge"), (off_t)10 << 30);
    int result = rex_library_load(&library, 0, NULL, 0, in_root("huge"));
    if (strstr(file, "ptx") != NULL) /* which has no header that would say where it ends */
        refuses(result, "%s", (const char *)file);
    else
        CHECK_EQUAL(result, REX_OK);
}

TEST_IN_FOLDER(test_huge_files)
{
    in_child(load_huge, "tests/data/sm_90.cubin");
    in_child(load_huge, "tests/data/sm_90.fatbin");
    in_child(load_huge, "tests/data/two.offload");
    in_child(load_huge, "tests/data/sm_90.ptx");
}

TEST_IN_FOLDER(test_order)
{
    static const char *const names[] = {"order_of_main", "order_of_shared", "with_a_slash"};
    for (size_t round = 0; round < COUNT(names); round++) {
        for (size_t i = 0; i < COUNT(places); i++) {
            char name[64];
            snprintf(name, sizeof name, "%s/an.image", places[i]);
            put_host_image(name);
        }
        run_there(names[round]);
    }
}

TEST_IN_FOLDER(test_configured)
{
    put_host_image("special.image");
    put_host_image("module/an.image");
    put_host_image("bin/an.image");
    run_there("configured_image");
}

TEST_IN_FOLDER(test_host_image_instead)
{
    put_host_image("bin/host.image");
    run_there("host_image_instead");
}

TEST_IN_FOLDER(test_unusable_files)
{
    size_t size;
    unsigned char *bytes = read_bytes(FAKE("host.so"), &size);
    assert_int_equal(mkdir(in_root("cwd/folder"), 0755), 0);
    assert_int_equal(mkfifo(in_root("cwd/fifo"), 0644), 0);
    assert_int_equal(symlink("nowhere", in_root("cwd/dangling")), 0);
    put_host_image("cwd/secret");
    put_host_image("bin/secret");
    assert_int_equal(chmod(in_root("cwd/secret"), 0), 0);
    put("cwd/empty", "", 0);
    put("cwd/text", "some text", 9);
    put("cwd/cut", bytes, size - 64);
    ((Elf64_Ehdr *)(void *)bytes)->e_machine = 0xf3;
    put("cwd/other_machine", bytes, size);
    free(bytes);
    run_there("unusable_files");
}

TEST_IN_FOLDER(test_long_names)
{
    put_host_image("bin/an.image");
    run_there("long_names");
}

/* The sticky bit of a folder does not help: the file may be new. */
TEST_IN_FOLDER(test_safety)
{
    static const mode_t modes[][2] = {{0755, 0644}, {01777, 0644}, {0757, 0644},
                                      {0755, 0666}, {0755, 0646},  {0775, 0664}};
    put_host_image("cwd/an.image");
    for (size_t i = 0; i < COUNT(modes); i++) {
        says("folder %o, file %o", modes[i][0], modes[i][1]);
        assert_int_equal(chmod(in_root("cwd"), modes[i][0]), 0);
        assert_int_equal(chmod(in_root("cwd/an.image"), modes[i][1]), 0);
        run_there("found");
    }
}

/* Root's files are trusted, and those of the user and of the program's owner; the same of folders.
 */
TEST_IN_FOLDER(test_owner)
{
    static const struct {
        uid_t folder, file, program;
        const char *child;
    } cases[] = {
        {0, STRANGER, 0, "found"},
        {STRANGER, 0, 0, "found"},
        {STRANGER, STRANGER, STRANGER, "found"},
        {0, 0, STRANGER + 1, "found_by_a_stranger"},
        {0, 0, STRANGER + 1, "found_by_its_owner"},
        {0, STRANGER, STRANGER + 1, "found_by_its_owner"},
        {0, STRANGER + 1, 0, "found_by_its_owner"},
    };
    if (geteuid() != 0) {
        print_message("skip: only root can give a file away\n");
        skip();
    }
    put_host_image("cwd/an.image");
    for (size_t i = 0; i < COUNT(cases); i++) {
        says("%s: folder of %d, file of %d, program of %d", cases[i].child, cases[i].folder,
             cases[i].file, cases[i].program);
        assert_int_equal(chown(in_root("cwd"), cases[i].folder, cases[i].folder), 0);
        assert_int_equal(chown(in_root("cwd/an.image"), cases[i].file, cases[i].file), 0);
        assert_int_equal(chown(in_root("bin/place"), cases[i].program, cases[i].program), 0);
        run_there(cases[i].child);
    }
    run_there("without_proc");
}

int before_tests(int argc, char **argv)
{
    return argc == 3 ? as_child(argv[1], argv[2]) : -1;
}
