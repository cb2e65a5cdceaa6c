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
 * How a kernel takes its parameters. REX_FORM_PLAIN: each parameter has a row in the packet.
 * REX_FORM_ENV: the runtime passes the first parameter, and each other parameter has a row.
 */
enum rex_kernel_form { REX_FORM_UNKNOWN, REX_FORM_PLAIN, REX_FORM_ENV };

/* How librex makes the packet for a kernel of one form. */
struct rex_packet_rule {
    uint32_t version; /* `Version` of the packet */
    bool refused;     /* no packet of this release launches a kernel of this form */
    /* libomptarget does not pass the first parameter, so librex adds a row before the first row */
    bool leading_row;
    /* libomptarget overwrites the last row, so librex adds a row after the last row */
    bool trailing_row;
    /* number of grid dimensions that libomptarget uses; it silently ignores the others */
    int dimensions;
    bool dynamic_memory; /* libomptarget passes DynCGroupMem to the GPU */
};

/*
 * The facts of libomptarget of one LLVM release. Code that depends on the release reads these
 * facts, not the number of the release. Only search.c compares the numbers, to find the newest
 * release.
 */
struct rex_release {
    int number;
    /* a symbol that libomptarget exports in this release, but not in older releases */
    const char *marker;
    struct rex_packet_rule plain, env;
    /*
     * rule for kernels of both forms on the host device. If `version` is 0, libomptarget calls host
     * kernels directly. Otherwise libomptarget calls the image's functions rex_call_NAME, which
     * call the kernels.
     */
    struct rex_packet_rule host;
    /*
     * newest `Version` of a packet that clang of this release writes. Kernels with a newer version
     * are from clang of another release. They have other parameters, and libomptarget cannot run
     * them.
     */
    uint32_t newest_packet;
    bool no_packet; /* libomptarget has no __tgt_target_kernel */
    /*
     * packets from clang of this release end before Flags, but libomptarget of later releases reads
     * Flags
     */
    bool no_flags;
    /*
     * on the host device, libomptarget matches entries of program and image by position, not by
     * name
     */
    bool entries_by_position;
    /* for an unmapped section of size 0, libomptarget passes NULL, not the host address */
    bool empty_is_null;
    /* libomptarget rounds the begin of a row with members down to a multiple of 8 */
    bool parents_rounded;
    /*
     * libomptarget aborts if one row of a call drops the last reference of a mapping, and a later
     * row of the call ends the mapping again
     */
    bool one_end_a_call;
    /*
     * libomptarget crashes if two rows of one call end the same mapping, and the second row has
     * REX_MAP_DELETE
     */
    bool one_delete_a_call;
    /*
     * libomptarget copies the whole size of an implicit row, even past the end of the row's
     * mapping. Example: in one call, a row maps a[0:10], and a later implicit row copies a[0:20].
     */
    bool excess_copied;
    /*
     * libomptarget loads the images on a device in the first call with the device, even in
     * omp_target_is_present(); other releases load them in the first launch or data call
     */
    bool any_call_loads;
    bool obeys_tmpdir; /* libomptarget writes host images to $TMPDIR, not to /tmp */
    /* a row with REX_MAP_PRESENT fails if the mapping was made by an earlier row of the call */
    bool presence_at_entry;
    /*
     * libomptarget never loads an image that is registered after the first use of a device, and a
     * launch from such an image crashes. So librex never undoes a registration: a new registration
     * would come too late.
     */
    bool late_image_ignored;
    /*
     * libomptarget reads the image even after the image is registered, so librex must not free the
     * image's bytes. LLVM 15 to 20 read the image at later registrations, and LLVM 21 when the
     * image is unloaded.
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
    /* libomptarget launches a kernel without its parameters if the kernel's name ends in "tor" */
    bool names_in_tor_crash;
    /*
     * libomptarget knows rows that only attach a pointer (from clang 22 and later); other releases
     * map memory for such a row
     */
    bool attach_rows;
    /*
     * libomptarget makes the context of a GPU at the GPU's first use; other releases make all
     * contexts at a registration
     */
    bool devices_at_first_use;
    bool plugins_apart;  /* plugins are separate files without a version in their names */
    bool openmp_first;   /* libomp must be loaded before libomptarget is opened */
    bool runtime_object; /* libomptarget crashes in calls before the first registration */
    /* the symbol NAME_exec_mode of an image decides whether and how the kernel NAME is launched */
    bool exec_mode_obeyed;
    /* libomptarget packs each argument into 8 bytes, so parameters of fewer bytes are misplaced */
    bool packed_slots;
    /* host kernels take an array of arguments, so an ordinary function cannot be a kernel */
    bool host_argument_array;
    bool old_entries_only; /* libomptarget misreads the entries that clang 20 and later write */
    /*
     * newest version of an OffloadBinary that libomptarget opens at a registration; 0: it opens
     * none
     */
    uint32_t newest_container;
    /*
     * newest SM, such as 90, for which librex must give CUBINs of CUDA 13 the old ELF header; 0:
     * none
     */
    int newest_old_header;
    /*
     * libomptarget refuses CUBINs of CUDA 13 for SMs above `newest_old_header`. No old header
     * exists for these SMs.
     */
    bool new_header_refused;
    /* newest function of the CUDA driver that the CUDA plugin needs; NULL: librex does not check */
    const char *driver_function;
    const char *driver_since; /* the first CUDA release with `driver_function` */
    /*
     * Size in bytes of the symbol NAME_kernel_environment, which configures launches of the kernel
     * NAME. libomptarget aborts if the symbol has another size.
     */
    uint32_t environment_size;
    uint64_t strict_flags; /* bits of Flags that make the numbers of teams and threads exact */
    /*
     * Bits that Flags of a packet from the program may have, because libomptarget knows or ignores
     * each of these bits. librex refuses other bits, which could change how libomptarget reads the
     * rows. Examples: bit 1 in LLVM 20 and later, bit 5 in LLVM 23.
     */
    uint64_t packet_flags;
    /*
     * Maximum number of teams in x. libomptarget silently ignores further teams. 0: the maximum is
     * the limit of the device.
     */
    uint32_t most_teams;
    /*
     * Static and dynamic shared memory of a block together have at most 48 KiB, because
     * libomptarget does not raise the kernel's limit.
     */
    bool shared_memory_fixed;
    /*
     * libomptarget raises the kernel's limit of shared memory only if the dynamic memory alone has
     * 48 KiB or more. It does not add the static memory.
     */
    bool static_memory_uncounted;
    /*
     * Maximum bytes of dynamic memory. If a launch has more, libomptarget reports success, but does
     * not run the kernel. 0: no limit.
     */
    uint32_t most_dynamic_memory;
};

/*
 * Returns the facts of the release of a library, or NULL if the library is not libomptarget of LLVM
 * 14 or later. EXPORTS(name, context) returns true if the library exports NAME. NAMED is the
 * number of the release in the name of the library, or in the name of the libLLVM that the library
 * needs. If neither name has a number, NAMED is 0. NAMED selects one of several releases with equal
 * markers.
 */
const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named);

/* Returns the facts of release NUMBER, or NULL if librex does not know the release. */
const struct rex_release *rex_release_row(int number);

/* Returns the facts of the first release above NUMBER, or NULL if there is none. */
const struct rex_release *rex_release_after(int number);

#endif
