/*
 * imagefile.c - where an image is looked for, in which order, and when a host image, which is code, is not trusted.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>

#include "image/extent.h"
#include "module/moduleimage.h"
#include "module/source.h"
#include "rex/abi.h"

#define STRANGER 65534

/*
 * Every test has a folder with path1, path2, module, bin, cwd in it. The children that look for images run a copy of
 * this program in bin, because librex looks beside the executable.
 */
static const char *const places[] = {"path1", "path2", "module", "bin", "cwd"};
static char root[PATH_MAX];
static char host_image[PATH_MAX];

static const char *in_root(const char *path)
{
    static char whole[4][2 * PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    snprintf(whole[next], sizeof whole[next], "%s/%s", root, path);
    return whole[next];
}

static void put(const char *place, const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", place, name);
    write_bytes(in_root(path), bytes, size);
    assert_int_equal(chmod(in_root(path), 0644), 0);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

static struct rex_module main_module = {.struct_size = sizeof(struct rex_module), .image_name = "an.image"};

/* A module in a shared object of its own. */
static struct rex_module *shared_module(void)
{
    void *library = dlopen(in_root("module/module.so"), RTLD_NOW);
    struct rex_module *module = library != NULL ? dlsym(library, "fake_module") : NULL;
    CHECK(module != NULL);
    *module = main_module;
    return module;
}

static void set_path(void)
{
    char path[2 * PATH_MAX + 2];
    /* An empty element is no folder. */
    snprintf(path, sizeof path, ":%s::%s", in_root("path1"), in_root("path2"));
    setenv("REX_CUBIN_PATH", path, 1);
}

/* Each place in turn has the image; it is taken away before the next. SKIP is a place that is not looked in. */
static void look_everywhere(const struct rex_module *module, const char *skip)
{
    struct rex_bytes file;
    char path[PATH_MAX];
    bool searched;
    for (size_t i = 0; i < COUNT(places); i++) {
        struct rex_report tried = {0};
        char name[64];
        if (strcmp(places[i], skip) == 0)
            continue;
        CHECK_EQUAL(rex_source_read(module, "an.image", &file, path, &searched, &tried), 0);
        CHECK(searched);
        CHECK(file.size == strlen(places[i]) && memcmp(file.bytes, places[i], file.size) == 0);
        free(file.bytes);
        snprintf(name, sizeof name, "%s/an.image", places[i]);
        CHECK(rex_same_file(path, in_root(name)));
        CHECK_EQUAL(unlink(in_root(name)), 0);
    }
    struct rex_report tried = {0};
    CHECK_EQUAL(rex_source_read(module, "an.image", &file, path, &searched, &tried), REX_ENOIMAGE);
    for (size_t i = 0; i + 1 < COUNT(places); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/an.image", places[i]);
        CHECK_EQUAL(strstr(tried.text, in_root(name)) != NULL, strcmp(places[i], skip) != 0);
    }
    CHECK_MENTIONS(tried.text, "./an.image");
}

static void order_of_main(void)
{
    set_path();
    look_everywhere(&main_module, "module");
}

static void order_of_shared(void)
{
    set_path();
    look_everywhere(shared_module(), "");
}

static void with_a_slash(void)
{
    struct rex_bytes file;
    struct rex_report tried = {0};
    char path[PATH_MAX];
    bool searched;
    set_path();
    CHECK_EQUAL(rex_source_read(&main_module, "./an.image", &file, path, &searched, &tried), 0);
    CHECK(!searched && strcmp(path, "./an.image") == 0);
    CHECK(file.size == 3 && memcmp(file.bytes, "cwd", 3) == 0);
    free(file.bytes);
    CHECK_EQUAL(rex_source_read(&main_module, "./another.image", &file, path, &searched, &tried), REX_ENOIMAGE);
    CHECK(strcmp(tried.text, "./another.image") == 0);
    CHECK_EQUAL(rex_source_read(&main_module, in_root("path2/an.image"), &file, path, &searched, &tried), 0);
    CHECK(file.size == 5 && memcmp(file.bytes, "path2", 5) == 0);
    free(file.bytes);
}

/* Open MODULE's image as LLVM 19's would be; the path that was taken. */
static const char *opened(const struct rex_module *module, const char *name, int error)
{
    static char path[PATH_MAX];
    struct rex_module_image image;
    int result = rex_module_image_open(&image, module, name, rex_release_row(19));
    if (result != error)
        fprintf(stderr, "%d: %s\n", result, rex_last_error());
    CHECK_EQUAL(result, error);
    if (error != 0)
        return rex_last_error();
    snprintf(path, sizeof path, "%s", image.path);
    rex_module_image_close(&image);
    return path;
}

/* $REX_CUBIN is for the main program alone, and only where no name is given. */
static void configured_image(void)
{
    setenv("REX_CUBIN", in_root("special.image"), 1);
    CHECK(strcmp(opened(&main_module, NULL, 0), in_root("special.image")) == 0);
    CHECK(strcmp(opened(shared_module(), NULL, 0), in_root("module/an.image")) == 0);
    CHECK(strcmp(opened(&main_module, "an.image", 0), in_root("bin/an.image")) == 0);
    setenv("REX_CUBIN", in_root("none.image"), 1);
    CHECK_MENTIONS(opened(&main_module, NULL, REX_ENOIMAGE), in_root("none.image, which REX_CUBIN names; looked for /"));
    unsetenv("REX_CUBIN");
    CHECK(strcmp(opened(&main_module, NULL, 0), in_root("bin/an.image")) == 0);
}

static void host_image_instead(void)
{
    main_module.host_image_name = "host.image";
    main_module.image_name = "none.image";
    CHECK(strcmp(opened(&main_module, NULL, 0), in_root("bin/host.image")) == 0);
    /* One that was asked for is not replaced. */
    CHECK_MENTIONS(opened(&main_module, "none.image", REX_ENOIMAGE), "none.image");
    main_module.host_image_name = NULL;
    CHECK_MENTIONS(opened(&main_module, NULL, REX_ENOIMAGE), "none.image");
    main_module.image_name = "rex_lib_nvidia.cubin";
    CHECK_MENTIONS(opened(&main_module, NULL, REX_ENOIMAGE), "; make it: rex-cc --images kernels.cu");
    struct __tgt_offload_entry axpy = {&main_module, (char *)(uintptr_t)"axpy__kernel__", 0, 0, 0};
    main_module.entries_begin = &axpy;
    main_module.entries_end = &axpy + 1;
    CHECK_MENTIONS(opened(&main_module, NULL, REX_ENOIMAGE), "; make it: rex-cc --images axpy.cu");
    CHECK(strstr(opened(&main_module, "rex_lib_nvidia.cubin", REX_ENOIMAGE), "rex-cc") == NULL);
    main_module.entries_begin = main_module.entries_end = NULL;
    main_module.image_name = NULL;
    CHECK_MENTIONS(opened(&main_module, NULL, REX_ENOIMAGE), "names no device image");
}

/* What cannot be read: the error names the file. */
static void unusable_files(void)
{
    static const struct {
        const char *name;
        int error;
        const char *because;
    } cases[] = {
        {"./folder", REX_EREAD, "device image ./folder cannot be read: it is a directory"},
        {"./fifo", REX_EREAD, "device image ./fifo cannot be read: it is not a regular file"},
        {"./secret", REX_EREAD, "device image ./secret cannot be read: open: Permission denied"},
        {"./empty", REX_EIMAGE, "device image ./empty cannot be read: it is empty"},
        {"./text", REX_EIMAGE, "device image ./text cannot be used: it is not an ELF file; "
         "a device image is a CUBIN, a fatbin, PTX, an OffloadBinary or a shared object"},
        {"./other_machine", REX_EIMAGE, "device image ./other_machine cannot be used: it is for another processor"},
        {"./cut", REX_EIMAGE, "device image ./cut cannot be used: it is truncated: its section table lies past the end"},
        {"./dangling", REX_ENOIMAGE, "no device image ./dangling; looked for ./dangling"},
        {"./text/below", REX_ENOIMAGE, "no device image ./text/below; looked for ./text/below"},
        {"/dev/zero", REX_EREAD, "device image /dev/zero cannot be read: it is not a regular file"},
    };
    if (geteuid() == 0)
        CHECK_EQUAL(seteuid(STRANGER), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *message = opened(&main_module, cases[i].name, cases[i].error);
        CHECK(strcmp(message, cases[i].because) == 0);
    }
    /* A file that is there and bad ends the search: what comes later in the list is not what was meant. */
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s:%s", in_root("cwd"), in_root("bin"));
    setenv("REX_CUBIN_PATH", path, 1);
    CHECK_MENTIONS(opened(&main_module, "secret", REX_EREAD), in_root("cwd/secret"));
    _exit(0); /* LeakSanitizer does not work for a user who may not look at the process */
}

/* Names and paths that are too long for any file: the error says so, whatever room the name takes. */
static void long_names(void)
{
    static char name[10000], folders[5000];
    static const struct {
        size_t length;
        bool is_path;
        const char *because;
    } cases[] = {
        {255, false, "looked for "},
        {256, false, "its name is 256 bytes long, and one of a file can have 255"},
        {4090, false, "its name is 4090 bytes long"},
        {4096, false, "its name is 4096 bytes long"},
        {sizeof name - 1, false, "its name is 9999 bytes long"},
        {4095, true, "File name too long"},
        {4096, true, "its name is 4096 bytes long, and one of a file can have 4095"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        memset(name, 'n', sizeof name);
        name[0] = cases[i].is_path ? '/' : 'n';
        name[cases[i].length] = '\0';
        CHECK_MENTIONS(opened(&main_module, name, i == 0 ? REX_ENOIMAGE : REX_EREAD), cases[i].because);
    }
    /* A folder in which the name has no room is passed over, and told. */
    memset(folders, '/', 4090);
    setenv("REX_CUBIN_PATH", folders, 1);
    CHECK_MENTIONS(opened(&main_module, "none.image", REX_ENOIMAGE), "///..., which is too long for a path, ");
    CHECK(strcmp(opened(&main_module, "an.image", 0), in_root("bin/an.image")) == 0);
}

static void trusted(void)
{
    CHECK(strcmp(opened(&main_module, NULL, 0), "./an.image") == 0);
}

static void untrusted(const char *because)
{
    CHECK_MENTIONS(opened(&main_module, NULL, REX_EUNSAFE), "an.image");
    CHECK_MENTIONS(rex_last_error(), because);
    /* Whoever names it with a slash means it. */
    CHECK(strcmp(opened(&main_module, "./an.image", 0), "./an.image") == 0);
}

static void writable_by_all(void)
{
    untrusted("every user");
}

static void of_another_user(void)
{
    untrusted("another user");
}

/* What is root's is trusted, whoever uses it and whosever the program is. */
static void of_root(void)
{
    const struct rex_bytes file = {.status = {.st_uid = 0, .st_mode = S_IFREG | 0644}};
    CHECK_EQUAL(seteuid(STRANGER), 0);
    CHECK_EQUAL(rex_source_check_owner("./an.image", &file), 0);
    _exit(0);
}

/* What is on the stack then, where no variable is initialised, is a path. */
__attribute__((noinline)) static void fill_stack(void)
{
    volatile char bytes[8 * PATH_MAX];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = '/';
}

/* Where nothing tells which program it is, its folder is none. */
static void without_proc(void)
{
    struct rex_bytes file;
    struct rex_report tried = {0};
    char path[PATH_MAX];
    bool searched;
    CHECK_EQUAL(chroot(root), 0);
    CHECK_EQUAL(chdir("/"), 0);
    fill_stack();
    CHECK_EQUAL(rex_source_read(&main_module, "none.image", &file, path, &searched, &tried), REX_ENOIMAGE);
    CHECK(strcmp(tried.text, "./none.image, ./none.image") == 0);
    _exit(0); /* LeakSanitizer sees no /proc */
}

static const struct {
    const char *name;
    void (*run)(void);
} children[] = {
    {"order_of_main", order_of_main},       {"order_of_shared", order_of_shared}, {"with_a_slash", with_a_slash},
    {"configured_image", configured_image}, {"host_image_instead", host_image_instead},
    {"unusable_files", unusable_files},     {"long_names", long_names},           {"trusted", trusted},
    {"writable_by_all", writable_by_all},   {"of_another_user", of_another_user}, {"of_root", of_root},
    {"without_proc", without_proc},
};

static int as_child(const char *name, const char *folder)
{
    snprintf(root, sizeof root, "%s", folder);
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

static void passes(const char *name)
{
    struct child child = run_child(run_copy, name);
    if (child.status != 0)
        fail_msg("%s ended with %d:\n%s", name, child.status, child.output);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

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
    copy_file(TEST_BUILD "/tests/fake/module.so", in_root("module/module.so"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

static void put_host_image(const char *place, const char *name)
{
    size_t size;
    unsigned char *bytes = read_bytes(host_image, &size);
    put(place, name, bytes, size);
    free(bytes);
}

/* A file of ten gigabytes that holds next to nothing is no reason to take so much memory: its headers say how long the image is. */
TEST(test_huge_files, .set_up = set_up, .tear_down = tear_down)
{
    static const struct {
        const char *data;
        bool refused; /* PTX has no header that would say where it ends */
    } files[] = {{"sm_90.cubin", false}, {"sm_90.fatbin", false}, {"two.offload", false}, {"sm_90.ptx", true}};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct rex_bytes file = {.bytes = NULL};
        struct rex_report tried = {0};
        char from[64], path[PATH_MAX];
        bool searched;
        size_t size;
        snprintf(from, sizeof from, "tests/data/%s", files[i].data);
        unsigned char *bytes = read_bytes(from, &size);
        write_bytes(in_root("huge"), bytes, size);
        lengthen(in_root("huge"), (off_t)10 << 30);
        int result = rex_source_read(&main_module, in_root("huge"), &file, path, &searched, &tried);
        assert_int_equal(result, files[i].refused ? REX_EREAD : 0);
        assert_true(result != 0 || (file.size >= size && file.size < ((size_t)1 << 20) && memcmp(file.bytes, bytes, size) == 0));
        if (result != 0)
            assert_non_null(strstr(rex_last_error(), "it is 10737418240 bytes long, and no image is longer than a GiB"));
        free(file.bytes);
        free(bytes);
    }
}

/* How much of FILE, which is then SIZE bytes long, has to be read. */
static void check_extent(const void *bytes, size_t used, off_t size, size_t expected)
{
    char why[128] = "";
    write_bytes(in_root("huge"), bytes, used);
    lengthen(in_root("huge"), size);
    int fd = open(in_root("huge"), O_RDONLY);
    assert_true(fd >= 0);
    errno = EINTR; /* of an earlier call */
    assert_int_equal(rex_image_extent(fd, (size_t)size, why, sizeof why), expected);
    if (expected == 0) {
        assert_string_equal(why, "it is 1073741825 bytes long, and no image is longer than a GiB");
        assert_int_equal(errno, 0);
    }
    close(fd);
}

/* An ELF file with these headers and nothing else. */
struct elf_file {
    Elf64_Ehdr header;
    Elf64_Shdr section[3];
};

static void check_elf(struct elf_file file, off_t size, size_t expected)
{
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    check_extent(&file, sizeof file, size, expected);
}

TEST(test_extents, .set_up = set_up, .tear_down = tear_down)
{
    enum { SMALL = 16 << 20, LARGE = SMALL + 1 };
    static const off_t huge = (off_t)2 << 30, most = (off_t)1 << 30;
    struct elf_file file = {.header = {.e_ehsize = sizeof file.header}};
    char why[128];
    errno = EDOM;
    assert_int_equal(rex_image_extent(-1, LARGE, why, sizeof why), 0);
    assert_string_equal(why, "its first bytes cannot be read");
    assert_int_equal(errno, 0);
    check_extent("what", 4, SMALL, SMALL);
    check_extent("what", 4, LARGE, 65536);
    check_elf(file, LARGE, sizeof file.header);
    file.header.e_phoff = 9000;
    file.header.e_phnum = 2;
    check_elf(file, LARGE, 9000 + 2 * sizeof(Elf64_Phdr));
    file.header.e_phnum = 0;
    check_elf(file, LARGE, 9000);
    file.header.e_phoff = 0;
    file.header.e_shoff = sizeof file.header;
    file.header.e_shnum = 3;
    check_elf(file, LARGE, sizeof file);
    file.section[0] = (Elf64_Shdr){.sh_type = SHT_NULL, .sh_offset = 5000, .sh_size = 100};
    file.section[1] = (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_offset = 5000, .sh_size = 100};
    check_elf(file, LARGE, sizeof file);
    file.section[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = 5000, .sh_size = 100};
    check_elf(file, LARGE, 5100);
    file.section[0] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = 6000, .sh_size = 1};
    check_elf(file, LARGE, 6001);
    file.section[0].sh_size = UINT64_MAX - 6000;
    check_elf(file, LARGE, LARGE);
    file.section[0].sh_size = UINT64_MAX;
    check_elf(file, LARGE, LARGE);
    file.section[0].sh_size = (Elf64_Xword)most - 6000;
    check_elf(file, huge, (size_t)most);
    file.section[0].sh_size++;
    check_elf(file, huge, 0);
    check_elf(file, most, (size_t)most);
    /* Containers, one behind the other. */
    size_t size;
    unsigned char *bytes = read_bytes("tests/data/two.offload", &size), *twice = malloc(2 * size);
    assert_non_null(twice);
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    check_extent(bytes, size, LARGE, size);
    check_extent(twice, 2 * size, LARGE, 2 * size);
    free(twice);
    free(bytes);
    bytes = read_bytes("tests/data/three.fatbin", &size);
    check_extent(bytes, size, LARGE, size + 4); /* so that it is seen whether another one follows */
    free(bytes);
    bytes = read_bytes("tests/data/sm_90.ptx", &size);
    check_extent(bytes, size, LARGE, LARGE);
    free(bytes);
}

TEST(test_order, .set_up = set_up, .tear_down = tear_down)
{
    static const char *const both[] = {"order_of_main", "order_of_shared"};
    for (size_t round = 0; round < COUNT(both); round++) {
        for (size_t i = 0; i < COUNT(places); i++)
            put(places[i], "an.image", places[i], strlen(places[i]));
        passes(both[round]);
    }
    for (size_t i = 0; i < COUNT(places); i++)
        put(places[i], "an.image", places[i], strlen(places[i]));
    passes("with_a_slash");
}

TEST(test_configured, .set_up = set_up, .tear_down = tear_down)
{
    put_host_image(".", "special.image");
    put_host_image("module", "an.image");
    put_host_image("bin", "an.image");
    passes("configured_image");
}

TEST(test_host_image_instead, .set_up = set_up, .tear_down = tear_down)
{
    put_host_image("bin", "host.image");
    passes("host_image_instead");
}

TEST(test_unusable_files, .set_up = set_up, .tear_down = tear_down)
{
    const uint16_t another_machine = 0xf3;
    size_t size;
    unsigned char *bytes = read_bytes(host_image, &size);
    assert_int_equal(mkdir(in_root("cwd/folder"), 0755), 0);
    assert_int_equal(mkfifo(in_root("cwd/fifo"), 0644), 0);
    assert_int_equal(symlink("nowhere", in_root("cwd/dangling")), 0);
    put("cwd", "secret", bytes, size);
    put("bin", "secret", bytes, size);
    assert_int_equal(chmod(in_root("cwd/secret"), 0), 0);
    put("cwd", "empty", "", 0);
    put("cwd", "text", "some text", 9);
    put("cwd", "cut", bytes, size - 64);
    memcpy(bytes + 18, &another_machine, sizeof another_machine);
    put("cwd", "other_machine", bytes, size);
    free(bytes);
    passes("unusable_files");
}

TEST(test_long_names, .set_up = set_up, .tear_down = tear_down)
{
    put_host_image("bin", "an.image");
    passes("long_names");
}

TEST(test_safety, .set_up = set_up, .tear_down = tear_down)
{
    put_host_image("cwd", "an.image");
    passes("trusted");
    assert_int_equal(chmod(in_root("cwd"), 01777), 0); /* the sticky bit does not help: the file may be new */
    passes("writable_by_all");
    assert_int_equal(chmod(in_root("cwd"), 0755), 0);
    assert_int_equal(chmod(in_root("cwd/an.image"), 0666), 0);
    passes("writable_by_all");
    assert_int_equal(chmod(in_root("cwd/an.image"), 0644), 0);
    passes("trusted");
}

/* What is root's or the user's own. The program is another user's here, and the folder root's. */
static void of_a_user(const void *context)
{
    static const struct {
        uid_t owner;
        int result;
    } files[] = {{0, 0}, {STRANGER, 0}, {STRANGER + 1, REX_EUNSAFE}};
    (void)context;
    CHECK_EQUAL(setuid(STRANGER), 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        const struct rex_bytes file = {.status = {.st_uid = files[i].owner, .st_mode = S_IFREG | 0644}};
        CHECK_EQUAL(rex_source_check_owner("/usr/an.image", &file), files[i].result);
    }
}

/* Each reason, and every word of it. */
TEST(test_reasons, .set_up = set_up, .tear_down = tear_down)
{
    char path[2 * PATH_MAX], expected[3 * PATH_MAX];
    struct rex_bytes file = {.status = {.st_uid = geteuid(), .st_mode = S_IFREG | 0644}};
    snprintf(path, sizeof path, "%s/cwd/an.image", root);
    assert_int_equal(rex_source_check_owner(path, &file), 0);
    file.status.st_mode |= S_IWOTH;
    assert_int_equal(rex_source_check_owner(path, &file), REX_EUNSAFE);
    snprintf(expected, sizeof expected, "host image %s can be written by every user; it is code: chmod o-w, or name it with a slash", path);
    assert_string_equal(rex_last_error(), expected);
    file.status.st_mode &= ~(mode_t)S_IWOTH;
    file.status.st_uid = 12345;
    assert_int_equal(rex_source_check_owner(path, &file), REX_EUNSAFE);
    snprintf(expected, sizeof expected, "host image %s or its folder belongs to another user (12345, %u); it is code: name it with a slash", path,
             (unsigned)geteuid());
    assert_string_equal(rex_last_error(), expected);
    file.status.st_uid = geteuid();
    assert_int_equal(chmod(in_root("cwd"), 0757), 0);
    assert_int_equal(rex_source_check_owner(path, &file), REX_EUNSAFE);
    snprintf(expected, sizeof expected,
             "host image %s lies in a folder that every user can write; it is code: move it, or name it with a slash", path);
    assert_string_equal(rex_last_error(), expected);
    assert_int_equal(rex_source_check_owner("/none/an.image", &file), REX_EUNSAFE);
    assert_string_equal(rex_last_error(), "host image /none/an.image: its folder cannot be examined: No such file or directory");
}

TEST(test_owner, .set_up = set_up, .tear_down = tear_down)
{
    if (geteuid() != 0) {
        print_message("skip: only root can give a file away\n");
        skip();
    }
    in_child(of_a_user, NULL);
    put_host_image("cwd", "an.image");
    assert_int_equal(chown(in_root("cwd/an.image"), STRANGER, STRANGER), 0);
    passes("of_another_user");
    assert_int_equal(chown(in_root("cwd/an.image"), 0, 0), 0);
    assert_int_equal(chown(in_root("cwd"), STRANGER, STRANGER), 0);
    passes("of_another_user");
    assert_int_equal(chown(in_root("cwd"), 0, 0), 0);
    assert_int_equal(chown(in_root("bin/place"), STRANGER + 1, STRANGER), 0);
    passes("of_root");
    passes("without_proc");
    assert_int_equal(chown(in_root("cwd"), STRANGER, STRANGER), 0);
    /* Unless the program itself is that user's. */
    assert_int_equal(chown(in_root("bin/place"), STRANGER, STRANGER), 0);
    passes("trusted");
}

int before_tests(int argc, char **argv)
{
    if (argc == 3)
        return as_child(argv[1], argv[2]);
    snprintf(host_image, sizeof host_image, "%s", TEST_BUILD "/tests/fake/host.so");
    return -1;
}
