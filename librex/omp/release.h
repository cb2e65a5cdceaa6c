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
 * The two forms of a kernel. PLAIN: its parameters are the packet's rows. ENV: one more parameter,
 * for the runtime, comes first.
 */
enum rex_kernel_form { REX_FORM_UNKNOWN, REX_FORM_PLAIN, REX_FORM_ENV };

/* The packet that gives a kernel of one form the caller's arguments. */
struct rex_packet_rule {
    uint32_t version;    /* the packet's Version */
    bool refused;        /* no packet does */
    bool leading_row;    /* the runtime adds no parameter: a row must carry it */
    bool trailing_row;   /* the runtime overwrites the last row: add one */
    int dimensions;      /* of the grid that reach the GPU; the rest are dropped silently */
    bool dynamic_memory; /* DynCGroupMem reaches the GPU */
};

/* One row for each release. No other code in librex tests a release's number. */
struct rex_release {
    int number;
    const char *marker; /* a symbol that this release exports and earlier ones lack */
    struct rex_packet_rule plain, env;
    /*
     * Both forms on the host device, if the release calls host kernels in its own way, by the
     * image's functions rex_call_NAME. Version 0: it calls them as they are.
     */
    struct rex_packet_rule host;
    /* packet version of its own clang; kernels with newer packets have other parameters */
    uint32_t newest_packet;
    bool no_packet; /* it has no __tgt_target_kernel */
    bool no_flags;  /* packets of its own clang end before Flags, which later releases read */
    /* the host device matches entries of program and image by their position */
    bool entries_by_position;
    /* a section of no elements that is not mapped is NULL for a kernel, not the host's address */
    bool empty_is_null;
    /* a row with members is mapped from the multiple of 8 at or below its beginning */
    bool parents_rounded;
    /* aborts if a call ends the last mapping of some memory, and then ends it once more */
    bool one_end_a_call;
    /* crashes only if the second end deletes */
    bool one_delete_a_call;
    /*
     * an implicit row larger than the memory that the same call has just mapped is copied whole,
     * past its end
     */
    bool excess_copied;
    bool obeys_tmpdir; /* host images are files in $TMPDIR, not in /tmp */
    /* a present modifier needs memory mapped before the call: an earlier row does not count */
    bool presence_at_entry;
    /*
     * An image registered after a device's first use is never loaded, and its launch crashes. So
     * librex takes back no registration, because it could not be made again.
     */
    bool late_image_ignored;
    /*
     * an image is read after its registration has ended: at later registrations (15 to 20), or when
     * it is unloaded (21)
     */
    bool image_read_later;
    /*
     * A registration copies the entries, and finds the copy by the descriptor's address, also for a
     * later descriptor at that address. Other releases keep the address of the entries, for which a
     * later table would be empty.
     */
    bool entries_copied;
    /* a kernel whose name ends in "tor" is launched without parameters */
    bool names_in_tor_crash;
    /* rows that attach pointers (clang 22 and later) attach; other releases read them as maps */
    bool attach_rows;
    /* a GPU is started, its context made, at its first use; else all GPUs at a registration */
    bool devices_at_first_use;
    bool plugins_apart;  /* plugins are separate files, with unversioned names */
    bool openmp_first;   /* libomp must be in the process before libomptarget is opened */
    bool runtime_object; /* calls before the first registration crash */
    /* symbols NAME_exec_mode of an image decide how its kernels are launched, and whether */
    bool exec_mode_obeyed;
    /* arguments are packed in 8-byte slots: narrower parameters are misplaced */
    bool packed_slots;
    /* host kernels take one array of arguments: no ordinary function can be called */
    bool host_argument_array;
    bool old_entries_only; /* entries in clang 20's form are misread */
    /* version of the OffloadBinary that it opens at a registration; 0: none */
    uint32_t newest_container;
    /* CUBINs of CUDA 13 need the older header, which exists up to this SM; 0: not needed */
    int newest_old_header;
    bool new_header_refused; /* the new header is refused above it, too */
    /* the newest function that its CUDA plugin needs; NULL: none is checked */
    const char *driver_function;
    const char *driver_since; /* the first CUDA release that has it */
    /*
     * bytes of a symbol NAME_kernel_environment, which tells how to launch NAME; other sizes abort
     */
    uint32_t environment_size;
    uint64_t strict_flags; /* Flags bits that make the grid exact */
    /*
     * Flags bits that a caller's packet may have: those that the release knows or ignores. With bit
     * 1, 20 and later read the packet's rows differently; so does 23 with bit 5.
     */
    uint64_t packet_flags;
    uint32_t most_teams; /* more teams in x are silently cut to this; 0: the device's own limit */
    /*
     * a block's shared memory, static and dynamic, is at most 48 KiB: the kernel's limit is not
     * raised
     */
    bool shared_memory_fixed;
    /*
     * the kernel's limit is raised only if 48 KiB or more are dynamic; static memory is not counted
     */
    bool static_memory_uncounted;
    /* a launch with more reports success and does nothing; 0: no such limit */
    uint32_t most_dynamic_memory;
};

/*
 * The release that exports the symbols for which EXPORTS(name, context) is true. NAMED is the
 * number in the library's own name or in that of the libLLVM it needs (0: none). It tells apart
 * releases that export the same. NULL: not a libomptarget of LLVM 14 or later.
 */
const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named);

/* The row of a release, or NULL. */
const struct rex_release *rex_release_row(int number);

/* The row behind that of a release: the first one for 0, NULL behind the last. */
const struct rex_release *rex_release_after(int number);

#endif
