/*
 * Bad input: each kind is an error that names the object, whichever way it comes; nothing aborts,
 * and a good launch works afterwards. More of images, tables and packets: script/imagefile,
 * unit/modules and unit/packets.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

REX_KERNEL(add);
int64_t offset = 1000;
REX_GLOBAL(offset);

typedef int launch_function(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef void data_function(int64_t device, int32_t count, void **base, void **begin, int64_t *sizes, int64_t *types);

/* The direct wrapper, the safe one, the exported one, which finds the module by the key, and
 * rex_launch(). */
enum { DIRECT, SAFE, EXPORTED, MAP, WAYS };
static launch_function *launchers[MAP] = {rex_direct___tgt_target_kernel, rex___tgt_target_kernel};
enum { ENTER = 9, EXIT, UPDATE, DATA_WAYS };
static data_function *data_calls[ENTER] = {
    rex_direct___tgt_target_data_begin, rex_direct___tgt_target_data_end, rex_direct___tgt_target_data_update,
    rex___tgt_target_data_begin,        rex___tgt_target_data_end,        rex___tgt_target_data_update,
};

/* The exported wrappers, which a file of this binary that includes rex_kmp.h does not reach by name. */
static void __attribute__((constructor)) find_exported(void)
{
    find_wrapper("target_kernel", &launchers[EXPORTED]);
    find_wrapper("target_data_begin", &data_calls[6]);
    find_wrapper("target_data_end", &data_calls[7]);
    find_wrapper("target_data_update", &data_calls[8]);
}

/* ---- what is expected --------------------------------------------------------------------------------------------------------- */

/* The last error is CODE, and its sentence has WORD. */
static void check_error(int line, int code, const char *word)
{
    if (rex_last_error_code() != code || strstr(rex_last_error(), word) == NULL)
        fail_msg("line %d: not %s with \"%s\": %s: %s", line, rex_error_name(code), word,
                 rex_error_name(rex_last_error_code()), rex_last_error());
}
#define ERROR(code, word) check_error(__LINE__, code, word)

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

/* ---- every way ------------------------------------------------------------------------------- */

static struct rex_map map_of(const struct __tgt_kernel_arguments *packet)
{
    return (struct rex_map){.count = packet->NumArgs,
                            .base = packet->ArgsBase,
                            .begin = packet->Args,
                            .sizes = packet->ArgSizes,
                            .types = packet->ArgTypes};
}

static int launch(int way, int64_t device, void *key, struct __tgt_kernel_arguments *packet)
{
    struct rex_launch_config config = rex_launch_config_of(key, 1, 1);
    struct rex_map map = map_of(packet);
    config.device = device;
    return way == MAP ? rex_launch(&config, &map) : launchers[way](device, 1, 1, key, packet);
}

/* Those calls that return nothing leave their error. The others get the second row alone, which is
 * no kernel's argument for them. */
static int data(int way, int64_t device, struct __tgt_kernel_arguments *packet)
{
    static int64_t type = TOFROM;
    struct rex_map map = map_of(packet);
    if (map.count == 2) {
        map.count = 1;
        map.base = map.base != NULL ? map.base + 1 : NULL;
        map.begin = map.begin != NULL ? map.begin + 1 : NULL;
        map.sizes = map.sizes != NULL ? map.sizes + 1 : NULL;
        map.types = map.types != NULL ? &type : NULL;
    }
    if (way < ENTER)
        data_calls[way](device, packet->NumArgs, packet->ArgsBase, packet->Args, packet->ArgSizes,
                        packet->ArgTypes);
    return way < ENTER    ? rex_last_error_code()
           : way == ENTER ? rex_data_enter(device, &map)
           : way == EXIT  ? rex_data_exit(device, &map)
                          : rex_data_update(device, &map);
}

/* By each launch and each data call: the error CODE with WORD. Wrappers of launches return RETURNED. */
static void refused_by_all(int line, int64_t device, struct __tgt_kernel_arguments *packet,
                           int code, int returned, const char *word)
{
    for (int way = 0; way < WAYS; way++) {
        forget_error();
        assert_int_equal(launch(way, device, REX_KERNEL_ID(add), packet), way == MAP ? code : returned);
        check_error(line, code, word);
    }
    for (int way = 0; way < DATA_WAYS; way++) {
        forget_error();
        assert_int_equal(data(way, device, packet), code);
        check_error(line, code, word);
    }
}
#define REFUSED_BY_ALL(device, packet, code, word)                                                 \
    refused_by_all(__LINE__, device, packet, code, code, word)

static void good_launch(void)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    for (int way = 0; way < WAYS; way++)
        assert_int_equal(launch(way, -1, REX_KERNEL_ID(add), &packet), 0);
    assert_int_equal(sum, WAYS);
}

/* ---- images ------------------------------------------------------------------------------------------------------------------- */

/* The program's own module with the image PATH: an error with the path and WORD, by init, by name,
 * and by every call. */
static void refused_image(int line, const char *path, int code, const char *word)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, path), 0);
    forget_error();
    assert_int_equal(rex_offload_init(), code);
    check_error(line, code, path);
    refused_by_all(line, -1, &packet, code, REX_EHOST, word);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, NULL), 0);
    forget_error();
    assert_null(register_cubin(path));
    check_error(line, code, path);
    assert_null(__cubin_desc);
    assert_int_equal(sum, 0);
}
#define REFUSED_IMAGE(path, code, word) refused_image(__LINE__, path, code, word)

TEST(unusable_images)
{
    struct path path = temporary_file("image");
    struct bytes image = read_bytes(default_image().text);
    assert_int_equal(rex_module_add(&rex_this_module), 0); /* for the exported wrappers */
    REFUSED_IMAGE("/nowhere/image.cubin", REX_ENOIMAGE, "no device image");
    /* A bare name: the message says where it was looked for. */
    REFUSED_IMAGE("librex-test-no-such-image", REX_ENOIMAGE, own_folder());
    REFUSED_IMAGE(own_folder(), REX_EREAD, "directory");
    write_bytes(path.text, "int main(void);\n", 16);
    REFUSED_IMAGE(path.text, REX_EIMAGE, "none of these: CUBIN, fatbin");
    if (memcmp(image.bytes, "\177ELF", 4) == 0) { /* and no PTX, as clang makes it */
        write_bytes(path.text, image.bytes, image.size / 128 * 64);
        REFUSED_IMAGE(path.text, REX_EIMAGE, "truncated");
    }
    write_bytes(path.text, image.bytes, image.size);
    assert_non_null(register_cubin(path.text));
    free(image.bytes);
    unlink(path.text);
    good_launch();
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------- */

TEST(one_key_in_two_modules)
{
    static char key, add_name[] = "add__kernel__", offset_name[] = "offset";
    static struct __tgt_offload_entry entries[] = {{&key, offset_name, sizeof offset, 0, 0}, {&add__id__, add_name, 0, 0, 0}};
    static struct path image;
    static struct rex_module other = {
        .struct_size = sizeof other, .entries_begin = entries, .entries_end = entries + 2, .image_name = image.text};
    static struct __tgt_offload_entry variable[] = {{&offset, offset_name, sizeof offset, 0, 0}};
    static struct rex_module global = {.struct_size = sizeof global, .entries_begin = variable, .entries_end = variable + 1};
    struct __tgt_kernel_arguments packet = {.Version = 3};
    image = default_image();
    good_launch();
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rex_module_register(&other, NULL), REX_EKEY);
        ERROR(REX_EKEY, "kernel \"add\" has the host key of");
    }
    assert_int_equal(rex_module_launch(&other, -1, 1, 1, &add__id__, &packet), REX_EKEY);
    global.image_name = image.text;
    assert_int_equal(rex_module_register(&global, NULL), REX_EKEY);
    ERROR(REX_EKEY, "global \"offset\" has the host address of \"offset\" of a module that is registered already (device image ");
    good_launch();
    /* The key goes with the registration: once it has ended, the other module may have it, and then not this one. */
    assert_int_equal(rex_offload_fini(), 0);
    assert_int_equal(rex_module_register(&other, NULL), loads_late() ? 0 : REX_EKEY); /* LLVM 18 has it still */
    if (!loads_late())
        return;
    assert_int_equal(rex_offload_init(), REX_EKEY);
    assert_int_equal(rex_module_fini(&other), 0);
    assert_int_equal(rex_offload_init(), 0);
    good_launch();
}

/* LLVM 19 and later read the location of each launch. */
TEST(location_without_source)
{
    static char key, name[] = "add__kernel__";
    static struct __tgt_offload_entry entry = {&key, name, 0, 0, 0};
    static ident_t location;
    static struct rex_module other = {.struct_size = sizeof other, .entries_begin = &entry, .entries_end = &entry + 1, .location = &location};
    int64_t one = 1, sum = 0;
    struct rows rows;
    struct path image = default_image();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    if (!loads_late())
        return;
    assert_int_equal(rex_module_register(&other, image.text), 0);
    assert_int_equal(rex_module_launch(&other, -1, 1, 1, &key, &packet), 0);
    assert_int_equal(sum, 1);
    assert_int_equal(rex_module_fini(&other), 0);
}

/* The exported wrappers, while no module is known. */
TEST(no_module)
{
    assert_int_equal(launchers[EXPORTED](-1, 1, 1, REX_KERNEL_ID(add), NULL), REX_EKEY);
    ERROR(REX_EKEY, "in no module that librex knows");
    forget_error();
    data_calls[6](-1, 0, NULL, NULL, NULL, NULL);
    ERROR(REX_EKEY, "librex knows no module yet");
    assert_int_equal(rex_offload_init(), 0);
    good_launch();
}

/* ---- launches and data calls ------------------------------------------------------------------------------------------------- */

TEST(device_numbers)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    good_launch();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    int count = rex_device_count();
    const int64_t bad[] = {
        -2, count + 1, INT64_MIN, INT64_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, INT64_C(1) << 32};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char number[64];
        snprintf(number, sizeof number, "device %lld does not exist", (long long)bad[i]);
        REFUSED_BY_ALL(bad[i], &packet, REX_EDEVICE, number);
        assert_int_equal(__tgt_target(bad[i], REX_KERNEL_ID(add), 2, rows.value, rows.value, rows.size, rows.type), REX_EDEVICE);
        assert_int_equal(__tgt_target_teams(bad[i], REX_KERNEL_ID(add), 2, rows.value, rows.value, rows.size, rows.type, 1, 1), REX_EDEVICE);
        assert_int_equal(rex_device_copy_to(&sum, &one, 8, bad[i]), REX_EDEVICE);
        assert_int_equal(rex_device_copy_from(&sum, &one, 8, bad[i]), REX_EDEVICE);
        assert_null(rex_device_alloc(8, bad[i]));
        assert_false(rex_target_is_present(&sum, 8, bad[i]));
        assert_null(rex_mapped_ptr(&sum, bad[i]));
    }
    assert_int_equal(sum, 0);
    for (int device = 0; device < count; device++)
        assert_int_equal(launchers[DIRECT](device, 1, 1, REX_KERNEL_ID(add), &packet), 0);
    assert_int_equal(sum, count);
}

TEST(bad_packets)
{
    int64_t one = 1, sum = 0;
    struct rows rows;
    good_launch();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments good = packet_of(&rows, 1, 1), packet;
    for (int column = 0; column < 4; column++) {
        packet = good;
        packet.ArgsBase = column == 0 ? NULL : packet.ArgsBase;
        packet.Args = column == 1 ? NULL : packet.Args;
        packet.ArgSizes = column == 2 ? NULL : packet.ArgSizes;
        packet.ArgTypes = column == 3 ? NULL : packet.ArgTypes;
        REFUSED_BY_ALL(-1, &packet, REX_EINVAL, "NULL");
    }
    packet = good;
    packet.NumArgs = -1;
    REFUSED_BY_ALL(-1, &packet, REX_EINVAL, "-1");
    assert_int_equal(__tgt_target_teams(-1, REX_KERNEL_ID(add), -1, rows.value, rows.value, rows.size, rows.type, 1, 1), REX_EINVAL);
    assert_int_equal(__tgt_target(-1, REX_KERNEL_ID(add), 2, rows.value, NULL, rows.size, rows.type), REX_EINVAL);
    packet = packet_of(&rows, -1, 1);
    for (int way = 0; way < MAP; way++) {
        assert_int_equal(launchers[way](-1, 1, 1, REX_KERNEL_ID(add), &packet), REX_EINVAL);
        ERROR(REX_EINVAL, "\"add\": a grid of 4294967295 teams");
    }
    assert_int_equal(sum, 0);
    rows.size[1] = -rows.size[1];
    struct __tgt_kernel_arguments nothing = {.Version = 3};
    for (int way = 0; way < DATA_WAYS; way++) {
        forget_error();
        assert_int_equal(data(way, -1, &good), REX_EINVAL);
        ERROR(REX_EINVAL, " has a negative size");
        forget_error();
        data(way, -1, &nothing); /* no rows: nothing wrong */
        ERROR(REX_EINVAL, "a literal of 9 bytes");
    }
    rows.size[1] = ((int64_t)1 << 40) + 1;
    assert_int_equal(launch(MAP, -1, REX_KERNEL_ID(add), &good), REX_ENOMEM);
    ERROR(REX_ENOMEM, "row 1");
    for (int way = 0; way < DATA_WAYS; way += way < ENTER ? 3 : DATA_WAYS) {
        forget_error();
        assert_int_equal(data(way, -1, &good), REX_ENOMEM);
        ERROR(REX_ENOMEM, "bytes, more than a TiB");
    }
    good_launch();
}

TEST(keys_of_no_kernel)
{
    static char stranger;
    int64_t one = 1, sum = 0;
    struct rows rows;
    char address[32];
    good_launch();
    fill(&rows, &one, &sum);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 1, 1);
    snprintf(address, sizeof address, "%p", (void *)&stranger);
    for (int way = 0; way < WAYS; way++) {
        assert_int_equal(launch(way, -1, &stranger, &packet), REX_EKEY);
        ERROR(REX_EKEY, address);
        assert_int_equal(launch(way, -1, NULL, &packet), REX_EKEY);
        ERROR(REX_EKEY, "host key");
        assert_int_equal(launch(way, -1, &offset, &packet), REX_EKEY);
        ERROR(REX_EKEY, "global \"offset\"");
    }
    assert_int_equal(sum, 0);
    good_launch();
}
