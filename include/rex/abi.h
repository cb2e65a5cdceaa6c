/*
 * rex/abi.h - the structs of libomptarget, as compilers write them, and the bits of map types.
 *
 * The layouts are those of LLVM on 64-bit little-endian machines. The comment of each struct names
 * the releases. The sources are openmp/libomptarget/include/omptarget.h (14 to 17), and
 * Shared/APITypes.h in openmp/libomptarget/include (18) or offload/include (19 on). The header
 * asserts each size.
 *
 * REX_PACKET_UNSIGNED  defined before the include: the integers of struct __tgt_kernel_arguments
 *                      are unsigned, as in LLVM's own header. Use it for code with the casts of
 *                      that header. The bytes do not change.
 *
 * Without the macro the integers are signed, as are the variables from which REX's output fills
 * them. C accepts variables of either signedness. In a braced initialiser of C++ a variable of the
 * other signedness is a narrowing conversion: clang++ reports an error, g++ a warning. Define
 * REX_PACKET_UNSIGNED in all C++ files of a binary, or in no file.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * Guide: rex-codegen(7).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_ABI_H
#define REX_ABI_H

#include "rex/names.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define REX_STATIC_ASSERT static_assert
#else
/** REX_STATIC_ASSERT(condition, message): `_Static_assert` in C11, `static_assert` in C++. */
#define REX_STATIC_ASSERT _Static_assert
#endif

/*
 * ---- Structs ----------------------------------------------------------------------------------
 */

/**
 * ident_t: a source location, the first argument of most `__kmpc_*` functions and of libomptarget's
 * `__tgt_target_kernel`. 24 bytes. The layout of libomp's kmp.h, unchanged from LLVM 14 to 24.
 */
typedef struct ident {
    int32_t reserved_1;  /**< 0. */
    int32_t flags;       /**< KMP_IDENT_* bits; 2 is KMP_IDENT_KMPC. */
    int32_t reserved_2;  /**< 0. */
    int32_t reserved_3;  /**< 0; in clang's output the length of @psource. */
    char const *psource; /**< ";file;function;line;column;;", NUL-terminated. */
} ident_t;

/**
 * struct __tgt_offload_entry: one row of the entry table, for a kernel or for a global variable. 32
 * bytes. LLVM 14 to 19 have this layout. LLVM 20 to 24 have another layout, but also accept this
 * layout.
 */
struct __tgt_offload_entry {
    /** host key: the address that a launch passes as host_ptr; for a global its host address. */
    void *addr;
    char *name;       /**< name of the kernel or global in the device image. */
    size_t size;      /**< 0 for a kernel; size of a global in bytes. */
    int32_t flags;    /**< 0; 1 marks a declare-target-link global. */
    int32_t reserved; /**< 0. */
};

/**
 * struct __tgt_device_image: a device image, and the entries of the kernels and globals in it. 32
 * bytes, LLVM 14 to 24.
 */
struct __tgt_device_image {
    void *ImageStart;                         /**< first byte of the image. */
    void *ImageEnd;                           /**< one past the last byte of the image. */
    struct __tgt_offload_entry *EntriesBegin; /**< first entry of the image. */
    struct __tgt_offload_entry *EntriesEnd;   /**< one past the last entry. */
};

/**
 * struct __tgt_bin_desc: a descriptor: the argument of `__tgt_register_lib`. 32 bytes, LLVM 14 to
 * 24.
 */
struct __tgt_bin_desc {
    int32_t NumDeviceImages;                      /**< number of images at @DeviceImages. */
    struct __tgt_device_image *DeviceImages;      /**< the images. */
    struct __tgt_offload_entry *HostEntriesBegin; /**< first entry of the host's table. */
    struct __tgt_offload_entry *HostEntriesEnd;   /**< one past the last entry. */
};

#ifdef REX_PACKET_UNSIGNED
/**
 * REX_PACKET_INT(bits): type of an integer in the packet: uint32_t or uint64_t if
 * REX_PACKET_UNSIGNED is defined, otherwise int32_t or int64_t.
 */
#define REX_PACKET_INT(bits) uint##bits##_t
#else
/* REX_PACKET_INT(bits): int32_t or int64_t. */
#define REX_PACKET_INT(bits) int##bits##_t
#endif

/**
 * struct __tgt_kernel_arguments: the packet of one launch. 104 bytes (LLVM 16 to 24). LLVM 15 reads
 * the first 64 bytes. LLVM 14 has no packets: on LLVM 14 librex calls an older function. A caller
 * fills in the fields by position or by name. librex sends an adapted copy and never writes to the
 * packet. The columns belong to the caller. They must stay valid during the call. With nowait they
 * must stay valid until the program has waited for the launch.
 */
struct __tgt_kernel_arguments {
    /** 3; librex sends the version that the bound LLVM release and the kernel need. */
    REX_PACKET_INT(32) Version;
    REX_PACKET_INT(32) NumArgs;   /**< number of rows in the four columns, at most 2147483647. */
    void **ArgsBase;              /**< column 1: base address; for a literal see REX_MAP_LITERAL. */
    void **Args;                  /**< column 2: begin address; for a literal as column 1. */
    int64_t *ArgSizes;            /**< column 3: size in bytes. */
    int64_t *ArgTypes;            /**< column 4: a sum of map type bits, REX_MAP_TO and so on. */
    void **ArgNames;              /**< names of the rows, for messages; may be NULL. */
    void **ArgMappers;            /**< mapper functions, one for each row; may be NULL. */
    REX_PACKET_INT(64) Tripcount; /**< iterations of the loop, 0 if unknown. */
    /**
     * bit 0: nowait. Bits 6 and 7: the grid is exact. librex itself sets bits 6 and 7 on LLVM 23
     * and 24; LLVM 14 to 22 ignore them. Bits 2 to 4 are valid only on LLVM 23 and 24. With any
     * other bit the launch returns REX_EINVAL.
     */
    REX_PACKET_INT(64) Flags;
    /**
     * blocks in x, y, z. If x is 0, the num_teams argument replaces x. If the argument is 0 or
     * less, too, librex computes x: @Tripcount divided by the threads in x, rounded up, at most
     * 2147483647. If @Tripcount is also 0 or less, x is 128. If y or z is 0, librex uses 1.
     */
    REX_PACKET_INT(32) Teams[3];
    /**
     * threads of a block in x, y, z. If x is 0, the thread_limit argument replaces x. If the
     * argument is 0 or less, x is 128. If y or z is 0, librex uses 1.
     */
    REX_PACKET_INT(32) Threads[3];
    REX_PACKET_INT(32) DynCGroupMem; /**< dynamic shared memory of a block, in bytes. */
};

REX_STATIC_ASSERT(sizeof(ident_t) == 24, "ident_t is 24 bytes");
REX_STATIC_ASSERT(sizeof(struct __tgt_offload_entry) == 32, "an entry is 32 bytes");
REX_STATIC_ASSERT(sizeof(struct __tgt_device_image) == 32, "a device image is 32 bytes");
REX_STATIC_ASSERT(sizeof(struct __tgt_bin_desc) == 32, "a descriptor is 32 bytes");
REX_STATIC_ASSERT(sizeof(struct __tgt_kernel_arguments) == 104, "a packet is 104 bytes");

/*
 * ---- Map types: the bits of a row -------------------------------------------------------------
 *
 * The bits of column 4. All LLVM releases from 14 to 24 that know a bit give it the same meaning.
 * The sources are openmp/libomptarget/include/omptarget.h (14 to 18) and
 * offload/include/omptarget.h (19 on). An LLVM release ignores each bit that it does not know.
 * rex_launch() and the data calls of rex/launch.h return REX_EINVAL if a row has a bit that is not
 * listed below. The calls of rex_kmp.h (raw calls) pass such a row to libomptarget.
 */

/** REX_MAP_TO: copy to the device when the mapping begins, or in an update call. */
#define REX_MAP_TO INT64_C(0x1)
/** REX_MAP_FROM: copy from the device when the mapping ends, or in an update call. */
#define REX_MAP_FROM INT64_C(0x2)
/** REX_MAP_ALWAYS: copy, whatever the reference count is. */
#define REX_MAP_ALWAYS INT64_C(0x4)
/**
 * REX_MAP_DELETE: end the mapping, whatever the reference count is (but see REX_MAP_OMPX_HOLD).
 * Only calls that end mappings use this bit.
 */
#define REX_MAP_DELETE INT64_C(0x8)
/**
 * REX_MAP_PTR_AND_OBJ: the row is an attached pointer (PTR_AND_OBJ). Base is the address of the
 * pointer. Begin is the address of the object that the pointer points to.
 */
#define REX_MAP_PTR_AND_OBJ INT64_C(0x10)
/** REX_MAP_TARGET_PARAM: the row is a parameter of the kernel (TARGET_PARAM). */
#define REX_MAP_TARGET_PARAM INT64_C(0x20)
/**
 * REX_MAP_RETURN_PARAM: a data call that maps the row writes the device address to column 1 of the
 * row (RETURN_PARAM).
 */
#define REX_MAP_RETURN_PARAM INT64_C(0x40)
/** REX_MAP_PRIVATE: the kernel gets private memory, uninitialised without REX_MAP_TO. */
#define REX_MAP_PRIVATE INT64_C(0x80)
/**
 * REX_MAP_LITERAL: the base is the value itself, or the address of a value of more than 8 bytes.
 */
#define REX_MAP_LITERAL INT64_C(0x100)
/** REX_MAP_IMPLICIT: no clause names the row. */
#define REX_MAP_IMPLICIT INT64_C(0x200)
/** REX_MAP_CLOSE: ask for memory near the device; has an effect only with unified shared memory. */
#define REX_MAP_CLOSE INT64_C(0x400)
/**
 * REX_MAP_PRESENT: the memory must be mapped already, otherwise the call returns REX_EABSENT. On
 * LLVM 14 to 22 an earlier row of the call may map the memory. The end of a region does not check
 * the bit. rex_queue_update() checks the bit only in rows that it copies. In a raw call (rex_kmp.h)
 * libomptarget may abort instead.
 */
#define REX_MAP_PRESENT INT64_C(0x1000)
/**
 * REX_MAP_OMPX_HOLD: use a separate reference count (OMPX_HOLD). REX_MAP_DELETE does not change the
 * separate count.
 */
#define REX_MAP_OMPX_HOLD INT64_C(0x2000)
/**
 * REX_MAP_FB_NULLIFY: with REX_MAP_RETURN_PARAM, return NULL for memory that is not mapped
 * (FB_NULLIFY). libomptarget knows the bit from LLVM 23 on. librex's own data calls obey the bit on
 * each LLVM release.
 */
#define REX_MAP_FB_NULLIFY INT64_C(0x8000)
/** REX_MAP_MEMBER_OF(row): the row is a member of the object in row @row, counted from 0. */
#define REX_MAP_MEMBER_OF(row) ((int64_t)(((uint64_t)(row) + 1) << 48))
/**
 * REX_PARENT_MAX: the highest row that REX_MAP_MEMBER_OF() can name. The bits of a map type count
 * rows from 1 to 65534; 65535 is reserved for compilers.
 */
#define REX_PARENT_MAX 65533
/** REX_MAP_MEMBER_OF_MASK: the bits of REX_MAP_MEMBER_OF(). */
#define REX_MAP_MEMBER_OF_MASK ((int64_t)((uint64_t)0xffff << 48))
/**
 * REX_MAP_KIND(kind): the `enum rex_kind` (rex/kinds.h) of a literal's type, in bits 32 to 35.
 * librex compares the kind with the kernel's signature. No LLVM release reads these bits.
 */
#define REX_MAP_KIND(kind) ((int64_t)(kind) << 32)
/** REX_MAP_KIND_MASK: the bits of REX_MAP_KIND(). */
#define REX_MAP_KIND_MASK INT64_C(0xf00000000)
/** REX_MAP_TOFROM: copy in both directions. */
#define REX_MAP_TOFROM (REX_MAP_TO | REX_MAP_FROM)
/** REX_MAP_ALLOC: no copy. */
#define REX_MAP_ALLOC INT64_C(0)

#ifdef __cplusplus
}
#endif

/* REX_NAMES_RESTORE: rex/names.h restores the program's macros. */
#define REX_NAMES_RESTORE
#include "rex/names.h"

#endif
