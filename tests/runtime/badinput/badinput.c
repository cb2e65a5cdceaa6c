/*
 * Bad input: each kind is an error that names the object; nothing aborts, and a good launch works afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <elf.h>
#include <sys/stat.h>

REX_KERNEL(add);
int64_t offset = 1000;
REX_GLOBAL(offset);

typedef int launch_function(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef void data_function(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types);

/* The direct wrapper, the safe one, and the exported one, which finds the module by the key. */
enum { DIRECT, SAFE, EXPORTED, WAYS };
static launch_function *launchers[WAYS] = {rex_direct___tgt_target_kernel, rex___tgt_target_kernel, NULL};
static data_function *data_calls[] = {
    rex_direct___tgt_target_data_begin, rex_direct___tgt_target_data_end, rex_direct___tgt_target_data_update,
    rex___tgt_target_data_begin,        rex___tgt_target_data_end,        rex___tgt_target_data_update,
    NULL,                               NULL,                             NULL,
};
#define DATA_CALLS (sizeof data_calls / sizeof *data_calls)

static void find_exported(void *slot, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    assert_non_null(address);
    memcpy(slot, &address, sizeof address);
}

static void start(void)
{
    find_exported(&launchers[EXPORTED], "rex___tgt_target_kernel");
    find_exported(&data_calls[6], "rex___tgt_target_data_begin");
    find_exported(&data_calls[7], "rex___tgt_target_data_end");
    find_exported(&data_calls[8], "rex___tgt_target_data_update");
}

/* ---- what is expected --------------------------------------------------------------------------------------------------------- */

/* The last error is CODE, and its sentence has all the words that follow, up to NULL. */
static void check_error(int line, int code, ...)
{
    va_list words;
    if (rex_last_error_code() != code)
        fail_msg("line %d: %s instead of %s: %s", line, rex_error_name(rex_last_error_code()), rex_error_name(code),
                 rex_last_error());
    va_start(words, code);
    for (const char *word; (word = va_arg(words, const char *)) != NULL;)
        if (strstr(rex_last_error(), word) == NULL)
            fail_msg("line %d: no \"%s\" in: %s", line, word, rex_last_error());
    va_end(words);
}
#define ERROR(code, ...) check_error(__LINE__, code, __VA_ARGS__, NULL)

/* An error of another kind, so that the one to be seen is new. */
static void forget_error(void)
{
    rex_pack_literal_arg_bytes("", 9);
    ERROR(REX_EINVAL, "a literal of 9 bytes");
}

static void fill(struct rows *rows, const int64_t *amount, int64_t *sum)
{
    rows->count = 0;
    add_literal(rows, amount, sizeof *amount);
    add_row(rows, sum, sizeof *sum, PARAMETER | TOFROM);
}

static void good_launch(void)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    for (int way = 0; way < WAYS; way++)
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), 0);
    assert_int_equal(sum, WAYS);
}

/* ---- images ------------------------------------------------------------------------------------------------------------------- */

/* The program's own module with the image PATH: an error with the path and WORD, by init, by name, and by every launch. */
static void refused_image(int line, const char *path, int code, const char *word)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, path), 0);
    forget_error();
    assert_int_equal(rex_offload_init(), code);
    check_error(line, code, path, word, NULL);
    for (int way = 0; way < WAYS; way++) {
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), code);
        check_error(line, code, path, word, NULL);
    }
    for (size_t i = 0; i < DATA_CALLS; i++) {
        forget_error();
        data_calls[i](-1, 2, rows.value, rows.value, rows.size, rows.type);
        check_error(line, code, path, word, NULL);
    }
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, NULL), 0);
    forget_error();
    assert_null(register_cubin(path));
    check_error(line, code, path, word, NULL);
    assert_null(__cubin_desc);
    assert_int_equal(sum, 0);
}
#define REFUSED_IMAGE(path, code, word) refused_image(__LINE__, path, code, word)

/* The exported wrappers know a module from its first registration, or the first attempt, on. */
static void start_unregistered(void)
{
    start();
    assert_int_equal(rex_module_add(&rex_this_module), 0);
}

TEST(missing_image)
{
    start_unregistered();
    REFUSED_IMAGE("/nowhere/image.cubin", REX_ENOIMAGE, "no device image");
    /* A bare name: the message says where it was looked for. */
    REFUSED_IMAGE("librex-test-no-such-image", REX_ENOIMAGE, own_folder());
    good_launch();
}

TEST(directory_as_image)
{
    start_unregistered();
    REFUSED_IMAGE(own_folder(), REX_EREAD, "directory");
    good_launch();
}

TEST(empty_image)
{
    struct path path = temporary_file("empty");
    start_unregistered();
    write_bytes(path.text, "", 0);
    REFUSED_IMAGE(path.text, REX_EIMAGE, "empty");
    unlink(path.text);
    good_launch();
}

TEST(image_that_is_no_elf_file)
{
    struct path path = temporary_file("text");
    start_unregistered();
    write_bytes(path.text, "int main(void);\n", 16);
    REFUSED_IMAGE(path.text, REX_EIMAGE, "not an ELF file");
    write_bytes(path.text, "\177", 1);
    REFUSED_IMAGE(path.text, REX_EIMAGE, "not an ELF file");
    unlink(path.text);
    good_launch();
}

/* Images for the GPU are CUBINs by nvcc, and PTX by clang, which the driver compiles. */
static bool is_ptx(const struct bytes *image)
{
    return memcmp(image->bytes, ELFMAG, SELFMAG) != 0;
}

static void cubin_for_another_machine(const char *path, struct bytes image)
{
    uint16_t machine = EM_PPC64;
    memcpy(image.bytes + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    write_bytes(path, image.bytes, image.size);
    REFUSED_IMAGE(path, REX_EIMAGE, "another processor");
    image.bytes[EI_CLASS] = ELFCLASS32;
    write_bytes(path, image.bytes, image.size);
    REFUSED_IMAGE(path, REX_EIMAGE, "64-bit");
}

/* What is behind the last of TEXT in the image, which has it. */
static size_t behind(const struct bytes *image, const char *text)
{
    size_t length = strlen(text), at = image->size;
    while (at >= length && memcmp(image->bytes + at - length, text, length) != 0)
        at--;
    assert_true(at >= length);
    return at;
}

static void ptx_for_another_machine(const char *path, struct bytes image)
{
    static const char machine[] = "sm_999";
    size_t target = behind(&image, ".target "), rest = target;
    while (image.bytes[rest] != '\n')
        rest++;
    struct bytes other = {malloc(image.size + sizeof machine), 0};
    assert_non_null(other.bytes);
    memcpy(other.bytes, image.bytes, target);
    memcpy(other.bytes + target, machine, strlen(machine));
    memcpy(other.bytes + target + strlen(machine), image.bytes + rest, image.size - rest);
    write_bytes(path, other.bytes, target + strlen(machine) + image.size - rest);
    REFUSED_IMAGE(path, REX_ENODEVICE, "compute_999");
    free(other.bytes);
}

TEST(image_for_another_machine)
{
    struct path path = temporary_file("machine");
    struct bytes image = read_bytes(default_image().text);
    start_unregistered();
    if (is_ptx(&image))
        ptx_for_another_machine(path.text, image);
    else
        cubin_for_another_machine(path.text, image);
    free(image.bytes);
    unlink(path.text);
    good_launch();
}

/* The first SIZE bytes, in a file and in memory. PTX that ends behind a definition is whole, and has no kernel or another one. */
static void refused_part(const struct bytes *image, size_t size, const char *path)
{
    struct rex_module *module = &rex_this_module;
    write_bytes(path, image->bytes, size);
    assert_null(register_cubin(path));
    bool whole = is_ptx(image) && rex_last_error_code() == REX_ENOKERNEL;
    check_error(__LINE__, whole ? REX_ENOKERNEL : REX_EIMAGE, path, NULL);
    module->image = image->bytes;
    module->image_size = size;
    assert_int_equal(rex_module_register(module, NULL), whole ? REX_ENOKERNEL : REX_EIMAGE);
    check_error(__LINE__, whole ? REX_ENOKERNEL : REX_EIMAGE, "memory", NULL);
    module->image = NULL;
}

TEST(truncated_image)
{
    struct path path = temporary_file("truncated");
    struct bytes image = read_bytes(default_image().text);
    /* Of PTX the end of the last kernel is what has to be there. Each part is compiled, in a context that is made for it. */
    size_t needed = is_ptx(&image) ? behind(&image, "\n}") : image.size, step = is_ptx(&image) ? needed / 16 : 64;
    start_unregistered();
    assert_true(image.size > 1024);
    assert_int_equal(rex_configure(REX_OPTION_LOG, "off"), 0); /* a message for each step */
    for (size_t size = 0; size < needed; size += step)
        refused_part(&image, size, path.text);
    assert_int_equal(rex_configure(REX_OPTION_LOG, NULL), 0);
    write_bytes(path.text, image.bytes, is_ptx(&image) ? needed - 1 : image.size / 128 * 64);
    REFUSED_IMAGE(path.text, REX_EIMAGE, is_ptx(&image) ? "cannot compile the PTX" : "truncated");
    write_bytes(path.text, image.bytes, image.size);
    assert_non_null(register_cubin(path.text));
    free(image.bytes);
    unlink(path.text);
    good_launch();
}

TEST(unreadable_image)
{
    struct path path = temporary_file("unreadable");
    start_unregistered();
    copy_file(default_image().text, path.text);
    assert_int_equal(chmod(path.text, 0), 0);
    assert_int_equal(rex_runtime_bind(), 0); /* as ourselves: nobody may be unable to read the runtime, too */
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    REFUSED_IMAGE(path.text, REX_EREAD, "cannot be read");
    if (user == 0)
        assert_int_equal(seteuid(0), 0);
    unlink(path.text);
    good_launch();
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------- */

static char keys[4];
static char add_name[] = "add__kernel__", near_name[] = "ad__kernel__", far_name[] = "something_else_entirely";
static char offset_name[] = "offset", no_name[] = "";

/* A module of COUNT entries with the good image; static, as the contract has it. */
static struct rex_module *module_of(struct __tgt_offload_entry *entries, size_t count)
{
    static struct rex_module modules[16];
    static struct path image;
    static size_t used;
    assert_true(used < sizeof modules / sizeof *modules);
    struct rex_module *module = &modules[used++];
    image = default_image();
    module->struct_size = sizeof *module;
    module->entries_begin = entries;
    module->entries_end = entries + count;
    module->image_name = image.text;
    return module;
}

static void refused_module(int line, struct rex_module *module, int code, const char *word, const char *other)
{
    struct __tgt_kernel_arguments packet = {0}, before;
    memset(&packet, 0x5a, sizeof packet);
    before = packet;
    for (int again = 0; again < 2; again++) {
        forget_error();
        assert_int_equal(rex_module_register(module, NULL), code);
        check_error(line, code, word, other, NULL);
    }
    forget_error();
    assert_int_equal(rex_module_init(module), code);
    check_error(line, code, word, other, NULL);
    forget_error();
    assert_int_not_equal(rex_module_register(module, NULL), 0);
    if (module != NULL) /* else the name of the function is in the message */
        check_error(line, code, word, other, NULL);
    assert_true(rex_module_launch(module, -1, 1, 1, &keys[0], &packet) < -1);
    assert_memory_equal(&packet, &before, sizeof packet);
}
#define REFUSED_MODULE(module, code, word, other) refused_module(__LINE__, module, code, word, other)

TEST(bad_tables)
{
    static struct __tgt_offload_entry first_without_key[] = {{NULL, add_name, 0, 0, 0}, {&keys[1], add_name, 0, 0, 0}};
    static struct __tgt_offload_entry duplicate[] = {{&keys[0], add_name, 0, 0, 0}, {&keys[0], add_name, 0, 0, 0}};
    static struct __tgt_offload_entry without_name[] = {{&keys[0], add_name, 0, 0, 0}, {&keys[1], NULL, 0, 0, 0}};
    static struct __tgt_offload_entry empty_name[] = {{&keys[0], no_name, 0, 0, 0}};
    static struct __tgt_offload_entry good[] = {{&keys[0], add_name, 0, 0, 0}, {&keys[1], offset_name, sizeof offset, 0, 0}};
    struct rex_module *module;
    start_unregistered(); /* last on the list, so that whoever looks for a key comes past the bad ones */
    REFUSED_MODULE(module_of(good, 0), REX_EENTRIES, "table of offload entries is empty", "nostart-stop-gc");
    REFUSED_MODULE(module_of(NULL, 0), REX_EENTRIES, "table of offload entries is empty", "nostart-stop-gc");
    REFUSED_MODULE(module_of(first_without_key, 2), REX_EENTRIES, "entry 0", "\"add__kernel__\"");
    REFUSED_MODULE(module_of(duplicate, 2), REX_EKEY, "entries 0", "1 (\"add__kernel__\")");
    REFUSED_MODULE(module_of(without_name, 2), REX_EENTRIES, "entry 1", "no name");
    REFUSED_MODULE(module_of(empty_name, 1), REX_EENTRIES, "entry 0", "no name");
    module = module_of(good, 1);
    module->entries_end = (struct __tgt_offload_entry *)((char *)module->entries_end - 8);
    REFUSED_MODULE(module, REX_EENTRIES, "no array of entries", "32 bytes");
    module = module_of(good, 1);
    module->entries_begin = good + 1, module->entries_end = good;
    REFUSED_MODULE(module, REX_EENTRIES, "no array of entries", "32 bytes");
    module = module_of(good, 1);
    module->struct_size = 8;
    REFUSED_MODULE(module, REX_EINVAL, "struct_size is 8", "sizeof(struct rex_module)");
    good_launch();
    module = module_of(good, 2);
    assert_int_equal(rex_module_register(module, NULL), loads_late() ? 0 : REX_EUNSUPPORTED);
    good_launch();
}

TEST(entries_without_counterpart)
{
    static struct __tgt_offload_entry near[] = {{&keys[0], add_name, 0, 0, 0}, {&keys[1], near_name, 0, 0, 0}};
    static struct __tgt_offload_entry far[] = {{&keys[0], far_name, 0, 0, 0}};
    static struct __tgt_offload_entry not_a_kernel[] = {{&keys[0], offset_name, 0, 0, 0}};
    static struct __tgt_offload_entry not_a_global[] = {{&keys[0], add_name, 8, 0, 0}};
    static struct __tgt_offload_entry wrong_size[] = {{&keys[0], offset_name, 4, 0, 0}};
    start();
    REFUSED_MODULE(module_of(near, 2), REX_ENOKERNEL, "no kernel \"ad__kernel__\"", "nearest name in it is \"add__kernel__\"");
    REFUSED_MODULE(module_of(far, 1), REX_ENOKERNEL, "no kernel \"something_else_entirely\"", default_image().text);
    REFUSED_MODULE(module_of(not_a_kernel, 1), REX_ENOKERNEL, "no kernel \"offset\"", default_image().text);
    REFUSED_MODULE(module_of(not_a_global, 1), REX_ENOKERNEL, "no global \"add__kernel__\"", default_image().text);
    REFUSED_MODULE(module_of(wrong_size, 1), REX_ENOKERNEL, "\"offset\" has 4 bytes in the program and 8", default_image().text);
    good_launch();
}

TEST(one_key_in_two_modules)
{
    static struct __tgt_offload_entry entries[] = {{&keys[0], offset_name, sizeof offset, 0, 0}, {&add__id__, add_name, 0, 0, 0}};
    struct rex_module *other = module_of(entries, 2);
    start();
    good_launch();
    REFUSED_MODULE(other, REX_EKEY, "\"add__kernel__\"", "registered already");
    good_launch();
    /* The key goes with the registration: once it has ended, the other module may have it, and then not this one. */
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(rex_module_register(other, NULL), loads_late() ? 0 : REX_EKEY); /* LLVM 18 has it still */
    if (!loads_late())
        return;
    assert_int_equal(rex_offload_init(), REX_EKEY);
    ERROR(REX_EKEY, "\"add__kernel__\"", "registered already");
    assert_int_equal(rex_module_fini(other), 0);
    assert_int_equal(rex_offload_init(), 0);
    good_launch();
}

TEST(no_module)
{
    start();
    assert_int_equal(rex_module_register(NULL, NULL), REX_EINVAL);
    ERROR(REX_EINVAL, "the module is NULL");
    assert_int_equal(rex_module_init(NULL), REX_EINVAL);
    assert_int_equal(rex_module_fini(NULL), REX_EINVAL);
    assert_int_equal(rex_module_add(NULL), REX_EINVAL);
    assert_int_not_equal(rex_module_register(NULL, NULL), 0);
    assert_string_equal(rex_module_image_path(NULL), "");
    /* The exported wrappers, while no module is known. */
    forget_error();
    assert_int_equal(launchers[EXPORTED](-1, 1, 1, REX_KERNEL_ID(add), NULL), REX_EKEY);
    ERROR(REX_EKEY, "in no module that librex knows");
    forget_error();
    data_calls[6](-1, 0, NULL, NULL, NULL, NULL);
    ERROR(REX_EKEY, "before any module is known");
    assert_int_equal(rex_offload_init(), 0);
    good_launch();
}

/* ---- launches and data calls ------------------------------------------------------------------------------------------------- */

TEST(device_numbers)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    start();
    good_launch();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    int count = rex_device_count();
    const int64_t bad[] = {-2, count + 1, 99999, INT64_MIN, INT64_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, INT64_MAX - 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)bad[i]);
        for (int way = 0; way < WAYS; way++) {
            forget_error();
            assert_int_equal(launchers[way](bad[i], 1, 1, REX_KERNEL_ID(add), &packet), REX_EDEVICE);
            ERROR(REX_EDEVICE, number);
        }
        for (size_t d = 0; d < DATA_CALLS; d++) {
            forget_error();
            data_calls[d](bad[i], 2, rows.value, rows.value, rows.size, rows.type);
            ERROR(REX_EDEVICE, number);
        }
        forget_error();
        assert_int_equal(__tgt_target(bad[i], REX_KERNEL_ID(add), 2, rows.value, rows.value, rows.size, rows.type), REX_EDEVICE);
        ERROR(REX_EDEVICE, number);
        forget_error();
        assert_int_equal(__tgt_target_teams(bad[i], REX_KERNEL_ID(add), 2, rows.value, rows.value, rows.size, rows.type, 1, 1), REX_EDEVICE);
        ERROR(REX_EDEVICE, number);
    }
    /* The number after the last is the host: nothing is launched, and that is no error. */
    forget_error();
    for (int way = 0; way < WAYS; way++)
        assert_int_equal(launchers[way](count, 1, 1, REX_KERNEL_ID(add), &packet), REX_EHOST);
    for (size_t d = 0; d < DATA_CALLS; d++)
        data_calls[d](count, 2, rows.value, rows.value, rows.size, rows.type);
    ERROR(REX_EINVAL, "a literal of 9 bytes");
    assert_int_equal(sum, 0);
    for (int device = 0; device < count; device++)
        assert_int_equal(launchers[DIRECT](device, 1, 1, REX_KERNEL_ID(add), &packet), 0);
    assert_int_equal(sum, count);
    good_launch();
}

TEST(bad_packets)
{
    static const char *const columns[] = {"base addresses", "begin addresses", "sizes", "map types"};
    int64_t one = 1, sum = 0;
    struct rows rows;
    start();
    good_launch();
    fill(&rows, &one, &sum);
    for (int way = 0; way < WAYS; way++) {
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), NULL), REX_EINVAL);
        ERROR(REX_EINVAL, "\"add__kernel__\"", "packet is NULL");
        for (int column = 0; column < 4; column++) {
            struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
            packet.ArgsBase = column == 0 ? NULL : packet.ArgsBase;
            packet.Args = column == 1 ? NULL : packet.Args;
            packet.ArgSizes = column == 2 ? NULL : packet.ArgSizes;
            packet.ArgTypes = column == 3 ? NULL : packet.ArgTypes;
            forget_error();
            assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), REX_EINVAL);
            ERROR(REX_EINVAL, "\"add__kernel__\"", columns[column], "2 rows");
        }
        struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
        packet.NumArgs = -1;
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), REX_EINVAL);
        ERROR(REX_EINVAL, "\"add__kernel__\"", "negative number of rows, -1");
        packet = packet_of(&rows, -1, 1);
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), REX_EINVAL);
        ERROR(REX_EINVAL, "\"add__kernel__\"", "4294967295 teams");
        good_launch();
    }
    forget_error();
    assert_int_equal(__tgt_target_teams(-1, REX_KERNEL_ID(add), -1, rows.value, rows.value, rows.size, rows.type, 1, 1), REX_EINVAL);
    ERROR(REX_EINVAL, "\"add__kernel__\"", "negative number of rows, -1");
    forget_error();
    assert_int_equal(__tgt_target(-1, REX_KERNEL_ID(add), 2, rows.value, NULL, rows.size, rows.type), REX_EINVAL);
    ERROR(REX_EINVAL, "\"add__kernel__\"", "begin addresses");
    assert_int_equal(sum, 0);
    good_launch();
}

/* A CUBIN says how many parameters a kernel has; a host image does not. */
TEST(rows_that_do_not_fit)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    start();
    good_launch();
    if (rex_module_on_host(&rex_this_module))
        return;
    fill(&rows, &one, &sum);
    add_literal(&rows, &one, sizeof one);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    for (int way = 0; way < WAYS; way++) {
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), REX_EPARAMS);
        ERROR(REX_EPARAMS, "\"add__kernel__\"", "2 parameters", "3 rows");
    }
    good_launch();
}

/* libomptarget aborts on what the driver refuses. */
TEST(blocks_too_large)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    start();
    good_launch();
    if (rex_module_on_host(&rex_this_module))
        return;
    fill(&rows, &one, &sum);
    for (int way = 0; way < WAYS; way++) {
        struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1025);
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1025, REX_KERNEL_ID(add), &packet), REX_EINVAL);
        ERROR(REX_EINVAL, "\"add__kernel__\"", "1025 x 1 x 1 threads");
        packet = packet_of(&rows, 1, 1024);
        assert_int_equal(launchers[way](-1, 1, 1024, REX_KERNEL_ID(add), &packet), 0);
    }
    good_launch();
}

TEST(bad_data_calls)
{
    static const char *const columns[] = {"base addresses", "begin addresses", "sizes", "map types"};
    int64_t one = 1, sum = 0;
    struct rows rows;
    start();
    good_launch();
    fill(&rows, &one, &sum);
    for (size_t d = 0; d < DATA_CALLS; d++) {
        for (int column = 0; column < 4; column++) {
            forget_error();
            data_calls[d](-1, 2, column == 0 ? NULL : rows.value, column == 1 ? NULL : rows.value,
                          column == 2 ? NULL : rows.size, column == 3 ? NULL : rows.type);
            ERROR(REX_EINVAL, "data call", columns[column], "2 rows");
        }
        forget_error();
        data_calls[d](-1, -1, rows.value, rows.value, rows.size, rows.type);
        ERROR(REX_EINVAL, "negative number of rows, -1");
        forget_error();
        rows.size[1] = -rows.size[1];
        data_calls[d](-1, 2, rows.value, rows.value, rows.size, rows.type);
        ERROR(REX_EINVAL, "map row 1 has a negative size");
        rows.size[1] = -rows.size[1];
        forget_error();
        data_calls[d](-1, 0, NULL, NULL, NULL, NULL); /* no rows: nothing wrong */
        ERROR(REX_EINVAL, "a literal of 9 bytes");
    }
    good_launch();
}

TEST(keys_of_no_kernel)
{
    static char stranger;
    int64_t one = 1, sum = 0;
    struct rows rows;
    char address[32];
    start();
    good_launch();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    snprintf(address, sizeof address, "%p", (void *)&stranger);
    for (int way = 0; way < WAYS; way++) {
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, &stranger, &packet), REX_EKEY);
        ERROR(REX_EKEY, address);
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, NULL, &packet), REX_EKEY);
        ERROR(REX_EKEY, "host key");
        forget_error();
        assert_int_equal(launchers[way](-1, 1, 1, &offset, &packet), REX_EKEY);
        ERROR(REX_EKEY, "global \"offset\"");
    }
    assert_int_equal(sum, 0);
    good_launch();
}
