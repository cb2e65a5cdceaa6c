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
 * The two forms of a kernel. PLAIN: each parameter is a row of the packet. ENV: the first parameter
 * is the runtime's, and each other one is a row.
 */
enum rex_kernel_form { REX_FORM_UNKNOWN, REX_FORM_PLAIN, REX_FORM_ENV };

/* The rule for the packet that passes the caller's arguments to a kernel of one form. */
struct rex_packet_rule {
    uint32_t version;    /* the packet's Version */
    bool refused;        /* no packet can do it */
    bool leading_row;    /* the release does not add the first parameter: add a row for it */
    bool trailing_row;   /* the release overwrites the last row: add one more row */
    int dimensions;      /* grid dimensions that reach the GPU; others are dropped silently */
    bool dynamic_memory; /* DynCGroupMem reaches the GPU */
};

/* One row for each release. No other code in librex tests a release's number. */
struct rex_release {
    int number;
    const char *marker; /* a symbol that this release exports; older releases lack it */
    struct rex_packet_rule plain, env;
    /*
     * the rule for both forms on the host device, if the release needs the image's functions
     * rex_call_NAME; version 0: the release calls host kernels directly
     */
    struct rex_packet_rule host;
    /* packet version of the release's clang; a kernel with a newer packet has other parameters */
    uint32_t newest_packet;
    bool no_packet; /* it has no __tgt_target_kernel */
    bool no_flags;  /* packets of its own clang end before Flags, which later releases read */
    /* the host device matches the entries of program and image by position, not by name */
    bool entries_by_position;
    /* an unmapped section without elements is NULL in a kernel, not the host address */
    bool empty_is_null;
    /* the mapping of a row with members begins at the multiple of 8 at or below the row's begin */
    bool parents_rounded;
    /* aborts if one call ends the last mapping of some memory and then ends it again */
    bool one_end_a_call;
    /* as one_end_a_call, but crashes only if the second end is a delete */
    bool one_delete_a_call;
    /*
     * copies the whole size of an implicit row, even past the end of memory that an earlier row of
     * the call mapped
     */
    bool excess_copied;
    bool obeys_tmpdir; /* host images are files in $TMPDIR, not in /tmp */
    /* for a present modifier, memory that an earlier row of the call mapped is not present */
    bool presence_at_entry;
    /*
     * an image registered after a device's first use is never loaded, and a launch from it crashes;
     * with this release librex never undoes a registration, because it could not be repeated
     */
    bool late_image_ignored;
    /*
     * the image is read after its registration has ended, so that its memory must stay: at later
     * registrations (15 to 20), or at the unload (21)
     */
    bool image_read_later;
    /*
     * a registration copies the entries, and finds the copy by the descriptor's address, even for a
     * later descriptor at that address; other releases keep the address of the entries, and treat a
     * later table at that address as empty
     */
    bool entries_copied;
    /* a kernel whose name ends in "tor" is launched without parameters */
    bool names_in_tor_crash;
    /* knows rows that attach pointers (clang 22 and later); other releases map such a row */
    bool attach_rows;
    /* a GPU's context is made at the GPU's first use; otherwise for all GPUs at a registration */
    bool devices_at_first_use;
    bool plugins_apart;  /* plugins are separate files, with unversioned names */
    bool openmp_first;   /* libomp must be in the process before libomptarget is opened */
    bool runtime_object; /* calls before the first registration crash */
    /* symbols NAME_exec_mode of an image decide whether and how kernels NAME are launched */
    bool exec_mode_obeyed;
    /* arguments are packed in 8-byte slots: parameters of fewer bytes are misplaced */
    bool packed_slots;
    /* host kernels take one array of arguments: an ordinary function cannot be a kernel */
    bool host_argument_array;
    bool old_entries_only; /* misreads entries in the form of clang 20 and later */
    /* newest version of an OffloadBinary that a registration opens; 0: it opens none */
    uint32_t newest_container;
    /* CUBINs of CUDA 13 need the old header, which exists up to this SM; 0: not needed */
    int newest_old_header;
    /* refuses the header of CUDA 13 also for SMs above newest_old_header */
    bool new_header_refused;
    /* the newest driver function that its CUDA plugin needs; NULL: not checked */
    const char *driver_function;
    const char *driver_since; /* the first CUDA release with driver_function */
    /*
     * Bytes of a symbol NAME_kernel_environment, which defines how kernel NAME is launched. The
     * release aborts if the symbol has another size.
     */
    uint32_t environment_size;
    uint64_t strict_flags; /* Flags bits that make the grid exact */
    /*
     * Flags bits that a caller's packet may have: the release knows or ignores them. Bit 1 changes
     * how 20 and later read the packet's rows; bit 5 does so in 23.
     */
    uint64_t packet_flags;
    uint32_t most_teams; /* maximum of teams in x, silently cut; 0: the device's own limit */
    /*
     * static and dynamic shared memory of a block is at most 48 KiB: the release does not raise the
     * kernel's limit
     */
    bool shared_memory_fixed;
    /*
     * the release raises the kernel's limit only for 48 KiB or more of dynamic memory, and does not
     * add static memory
     */
    bool static_memory_uncounted;
    /* maximum of dynamic memory; a launch with more does nothing and succeeds; 0: no limit */
    uint32_t most_dynamic_memory;
};

/*
 * Returns the release of a library, or NULL if it is not libomptarget of LLVM 14 or later.
 * EXPORTS(name, context) returns true if the library exports NAME. NAMED is the number in the name
 * of the library or of the libLLVM it needs, or 0. It selects one of several releases with one
 * marker.
 */
const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named);

/* Returns the row of release NUMBER, or NULL. */
const struct rex_release *rex_release_row(int number);

/* Returns the first row of a release above NUMBER, or NULL. */
const struct rex_release *rex_release_after(int number);

#endif
