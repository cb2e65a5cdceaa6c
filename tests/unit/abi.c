/*
 * abi.c - layouts of the structs that libomptarget reads, and values that generated code relies on.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include "fake.h"
#include "rex_kmp.h"

/* ---- sizes and offsets ------------------------------------------------------------------------------------------- */

#define SIZE(type, expected) {#type, "", sizeof(type), (expected)}
#define OFFSET(type, field, expected) {#type, "." #field, offsetof(type, field), (expected)}

static const struct {
    const char *type, *field;
    size_t found, expected;
} layout[] = {
    SIZE(ident_t, 24),
    OFFSET(ident_t, reserved_1, 0),
    OFFSET(ident_t, flags, 4),
    OFFSET(ident_t, reserved_2, 8),
    OFFSET(ident_t, reserved_3, 12),
    OFFSET(ident_t, psource, 16),
    SIZE(struct __tgt_offload_entry, 32),
    OFFSET(struct __tgt_offload_entry, addr, 0),
    OFFSET(struct __tgt_offload_entry, name, 8),
    OFFSET(struct __tgt_offload_entry, size, 16),
    OFFSET(struct __tgt_offload_entry, flags, 24),
    OFFSET(struct __tgt_offload_entry, reserved, 28),
    SIZE(struct __tgt_device_image, 32),
    OFFSET(struct __tgt_device_image, ImageStart, 0),
    OFFSET(struct __tgt_device_image, ImageEnd, 8),
    OFFSET(struct __tgt_device_image, EntriesBegin, 16),
    OFFSET(struct __tgt_device_image, EntriesEnd, 24),
    SIZE(struct __tgt_bin_desc, 32),
    OFFSET(struct __tgt_bin_desc, NumDeviceImages, 0),
    OFFSET(struct __tgt_bin_desc, DeviceImages, 8),
    OFFSET(struct __tgt_bin_desc, HostEntriesBegin, 16),
    OFFSET(struct __tgt_bin_desc, HostEntriesEnd, 24),
    SIZE(struct __tgt_kernel_arguments, 104),
    OFFSET(struct __tgt_kernel_arguments, Version, 0),
    OFFSET(struct __tgt_kernel_arguments, NumArgs, 4),
    OFFSET(struct __tgt_kernel_arguments, ArgsBase, 8),
    OFFSET(struct __tgt_kernel_arguments, Args, 16),
    OFFSET(struct __tgt_kernel_arguments, ArgSizes, 24),
    OFFSET(struct __tgt_kernel_arguments, ArgTypes, 32),
    OFFSET(struct __tgt_kernel_arguments, ArgNames, 40),
    OFFSET(struct __tgt_kernel_arguments, ArgMappers, 48),
    OFFSET(struct __tgt_kernel_arguments, Tripcount, 56),
    OFFSET(struct __tgt_kernel_arguments, Flags, 64),
    OFFSET(struct __tgt_kernel_arguments, Teams, 72),
    OFFSET(struct __tgt_kernel_arguments, Threads, 84),
    OFFSET(struct __tgt_kernel_arguments, DynCGroupMem, 96),
    SIZE(kmp_critical_name, 32),
    OFFSET(kmp_task_t, shareds, 0),
    OFFSET(kmp_task_t, routine, 8),
    OFFSET(kmp_task_t, part_id, 16),
    /* Code generators emit it, so it must not shrink or move. */
    SIZE(struct rex_module, 144),
    OFFSET(struct rex_module, struct_size, 0),
    OFFSET(struct rex_module, flags, 4),
    OFFSET(struct rex_module, entries_begin, 8),
    OFFSET(struct rex_module, entries_end, 16),
    OFFSET(struct rex_module, image_name, 24),
    OFFSET(struct rex_module, host_image_name, 32),
    OFFSET(struct rex_module, image, 40),
    OFFSET(struct rex_module, image_size, 48),
    OFFSET(struct rex_module, descriptor, 56),
    OFFSET(struct rex_module, packet_rules, 64),
    OFFSET(struct rex_module, images_begin, 128), /* where the module of an older header ends */
    OFFSET(struct rex_module, images_end, 136),
    SIZE(struct rex_image_row, 24),
    OFFSET(struct rex_image_row, end, 8),
    OFFSET(struct rex_image_row, on_host, 16),
    /* The fakes read what librex writes through structs of their own. */
    SIZE(struct fake_packet, 104),
    OFFSET(struct fake_packet, dynamic_memory, 96),
    SIZE(struct fake_entry, 32),
    SIZE(struct fake_image, 32),
    SIZE(struct fake_descriptor, 32),
};

TEST(test_layout)
{
    for (size_t i = 0; i < COUNT(layout); i++) {
        print_message("%s%s: %zu\n", layout[i].type, layout[i].field, layout[i].found);
        assert_int_equal(layout[i].found, layout[i].expected);
    }
}

TEST(test_module)
{
    assert_int_equal(rex_this_module.struct_size, sizeof(struct rex_module));
    assert_string_equal(rex_this_module.image_name, "rex_lib_nvidia.cubin");
    assert_ptr_equal(rex_this_module.descriptor, &__cubin_desc);
    assert_null(__cubin_desc);
}

TEST(test_ident)
{
    assert_string_equal(rex_target_kernel_ident.psource, ";unknown;unknown;0;0;;");
    assert_int_equal(rex_target_kernel_ident.flags, 2);
    assert_int_equal(rex_target_kernel_ident.reserved_1, 0);
    assert_int_equal(rex_target_kernel_ident.reserved_2, 0);
    assert_int_equal(rex_target_kernel_ident.reserved_3, 0);
}

/* ---- literals ---------------------------------------------------------------------------------------------------- */

TEST(test_literals)
{
    const unsigned char bytes[16] = {0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88, 0x79};
    /* Read at run time, so that the optimiser cannot decide. */
    volatile size_t too_large[] = {9, 16, SIZE_MAX}, one = 1;
    const void *volatile nothing = NULL;
    assert_null(rex_pack_literal_arg_bytes(NULL, 0));
    for (size_t size = 0; size <= 8; size++) {
        unsigned char packed[8];
        void *value = rex_pack_literal_arg_bytes(bytes, size);
        memcpy(packed, &value, sizeof packed);
        for (size_t i = 0; i < sizeof packed; i++)
            assert_int_equal(packed[i], i < size ? bytes[i] : 0);
    }
    assert_int_equal(rex_last_error_code(), 0);
    for (size_t i = 0; i < COUNT(too_large); i++) {
        char part[64];
        snprintf(part, sizeof part, "a literal of %zu bytes", too_large[i]);
        assert_null(rex_pack_literal_arg_bytes(bytes, too_large[i]));
        assert_int_equal(rex_last_error_code(), REX_EINVAL);
        assert_non_null(strstr(rex_last_error(), part));
    }
    assert_null(rex_pack_literal_arg_bytes(nothing, one));
    assert_non_null(strstr(rex_last_error(), "NULL"));
    /* A good literal leaves the code for whoever looks later. */
    assert_non_null(rex_pack_literal_arg_bytes(bytes, one));
    assert_int_equal(rex_last_error_code(), REX_EINVAL);
}
