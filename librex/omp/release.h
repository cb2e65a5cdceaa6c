/*
 * release.h - the differences between the releases of libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RELEASE_H
#define REX_INTERNAL_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The form of a kernel: how it takes its parameters. PLAIN: each parameter has a row in the packet.
 * ENV: the runtime passes the first parameter, and each other parameter has a row.
 */
enum rex_kernel_form { REX_FORM_UNKNOWN, REX_FORM_PLAIN, REX_FORM_ENV };

/* How librex makes the packet for a kernel of one form. */
struct rex_packet_rule {
    uint32_t version;  /* `Version` of the packet */
    bool refused;      /* no packet of this release launches such a kernel */
    bool leading_row;  /* the release does not add the first parameter, so librex adds a row */
    bool trailing_row; /* the release overwrites the last row, so librex adds a row */
    int dimensions; /* number of grid dimensions that reach the GPU; others are ignored silently */
    bool dynamic_memory; /* DynCGroupMem reaches the GPU */
};

/*
 * The facts of one release: each member is true of libomptarget of that release. No other code in
 * librex compares the number of a release.
 */
struct rex_release {
    int number;
    const char *marker; /* a symbol that this release exports; older releases lack it */
    struct rex_packet_rule plain, env;
    /*
     * Rule for PLAIN and ENV kernels on the host device, if the release needs the functions
     * rex_call_NAME of the image. Version 0: the release calls host kernels directly.
     */
    struct rex_packet_rule host;
    /*
     * newest `Version` of a packet that clang of this release writes. If clang of another release
     * writes a newer version, its kernels have other parameters, and this release cannot run them.
     */
    uint32_t newest_packet;
    bool no_packet; /* the release has no __tgt_target_kernel */
    /* a packet that clang of this release writes ends before Flags, which later releases read */
    bool no_flags;
    /* on the host device, entries of program and image match by position, not by name */
    bool entries_by_position;
    /* a kernel gets NULL, not the host address, for an unmapped section of size 0 */
    bool empty_is_null;
    /* rounds the begin of a row with members down to a multiple of 8 */
    bool parents_rounded;
    /* aborts if one call drops the last reference to memory and then ends the mapping again */
    bool one_end_a_call;
    /* like one_end_a_call, but crashes only if the second end has REX_MAP_DELETE */
    bool one_delete_a_call;
    /*
     * copies the whole size of an implicit row, even past the end of its mapping. Example: a call
     * maps a[0:10], and then copies the implicit row a[0:20].
     */
    bool excess_copied;
    bool obeys_tmpdir; /* host images are files in $TMPDIR, not in /tmp */
    /* REX_MAP_PRESENT fails for memory that an earlier row of the call mapped */
    bool presence_at_entry;
    /*
     * An image that is registered after the first use of a device is never loaded, and a launch
     * from it crashes. So librex never undoes a registration with this release: a new registration
     * would come too late.
     */
    bool late_image_ignored;
    /*
     * The image is read after its registration has ended, so its memory must stay. LLVM 15 to 20
     * read the image at later registrations, and LLVM 21 when the image is unloaded.
     */
    bool image_read_later;
    /*
     * true: a registration copies the entries, and libomptarget finds the copy by the address of
     * the descriptor. A later descriptor at this address would get the old copy, so librex keeps
     * the descriptor.
     * false: a registration stores the address of the entries. libomptarget would treat a later
     * table at this address as empty, so librex keeps the entries.
     */
    bool entries_copied;
    /* launches a kernel without its parameters if the kernel's name ends in "tor" */
    bool names_in_tor_crash;
    /*
     * understands rows that only attach a pointer (clang 22 and later); other releases map memory
     * for such a row
     */
    bool attach_rows;
    /*
     * makes the context of a GPU at its first use; other releases make all contexts at a
     * registration
     */
    bool devices_at_first_use;
    bool plugins_apart;  /* plugins are separate files without a version in their names */
    bool openmp_first;   /* libomp must be loaded before libomptarget is opened */
    bool runtime_object; /* crashes in calls before the first registration */
    /* the symbol NAME_exec_mode of an image decides whether and how the kernel NAME is launched */
    bool exec_mode_obeyed;
    /* packs each argument into 8 bytes, so parameters of fewer bytes are misplaced */
    bool packed_slots;
    /* host kernels take an array of arguments, so an ordinary function cannot be a kernel */
    bool host_argument_array;
    bool old_entries_only; /* misreads the entries that clang 20 and later write */
    /* newest version of an OffloadBinary that a registration opens; 0: opens none */
    uint32_t newest_container;
    /*
     * newest SM, such as 90, for which CUBINs of CUDA 13 must get the old ELF header; 0: for none
     */
    int newest_old_header;
    /* refuses CUBINs of CUDA 13 for SMs above newest_old_header, which have no old header */
    bool new_header_refused;
    /* newest driver function that the CUDA plugin needs; NULL: librex does not check */
    const char *driver_function;
    const char *driver_since; /* the first CUDA release with driver_function */
    /*
     * Bytes of the symbol NAME_kernel_environment, which configures launches of the kernel NAME.
     * The release aborts if the symbol has another size.
     */
    uint32_t environment_size;
    uint64_t strict_flags; /* bits of Flags that make the numbers of teams and threads exact */
    /*
     * Bits that Flags of a packet from the program may have, because the release knows or ignores
     * each of these bits. librex refuses other bits, which may change how the release reads the
     * rows. Examples: bit 1 in LLVM 20 and later, bit 5 in LLVM 23.
     */
    uint64_t packet_flags;
    /* maximum number of teams in x; more are silently ignored; 0: the limit of the device */
    uint32_t most_teams;
    /*
     * Static and dynamic shared memory of a block together have at most 48 KiB, because the release
     * does not raise the limit of the kernel.
     */
    bool shared_memory_fixed;
    /*
     * The release raises the limit of the kernel only if the dynamic memory alone has 48 KiB or
     * more. It does not add the static memory.
     */
    bool static_memory_uncounted;
    /*
     * Maximum bytes of dynamic memory. If a launch has more, the release reports success, and does
     * not run the kernel. 0: no limit.
     */
    uint32_t most_dynamic_memory;
};

/*
 * Returns the release of a library, or NULL if the library is not libomptarget of LLVM 14 or later.
 * EXPORTS(name, context) returns true if the library exports NAME. NAMED is the release in the name
 * of the library, or of the libLLVM that the library needs; 0: none. NAMED selects one of several
 * releases with equal markers.
 */
const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named);

/* Returns the facts of release NUMBER, or NULL if librex does not know the release. */
const struct rex_release *rex_release_row(int number);

/* Returns the facts of the first release above NUMBER, or NULL if there is none. */
const struct rex_release *rex_release_after(int number);

#endif
