/*
 * release.h - what differs between the releases of libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RELEASE_H
#define REX_INTERNAL_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The two forms of a kernel: its parameters are the packet's rows, or one more stands in front for
 * the runtime.
 */
enum rex_kernel_form { REX_FORM_UNKNOWN, REX_FORM_PLAIN, REX_FORM_ENV };

/* How a packet has to look so that a kernel of one form gets the caller's arguments. */
struct rex_packet_rule {
    uint32_t version;    /* the packet's Version */
    bool refused;        /* there is no way */
    bool leading_row;    /* the runtime adds no parameter: a row must */
    bool trailing_row;   /* the runtime overwrites the last one: it must be one more */
    int dimensions;      /* of the grid that reach the GPU; the rest are dropped without a word */
    bool dynamic_memory; /* DynCGroupMem reaches the GPU */
};

/* One row for each release. Nothing else in librex asks for a release's number. */
struct rex_release {
    int number;
    const char *marker; /* a symbol that this release exports and earlier ones do not */
    struct rex_packet_rule plain, env;
    /*
     * Of both forms on the host device, where that calls kernels in a way of its own, by the
     * image's functions rex_call_NAME; version 0: it calls them as they are.
     */
    struct rex_packet_rule host;
    /* version of its own clang's packets; the kernels behind newer ones have other parameters */
    uint32_t newest_packet;
    bool no_packet; /* there is no __tgt_target_kernel */
    bool no_flags;  /* packets of its own clang end before Flags, which later releases read */
    /* the host device matches entries of program and image by their position */
    bool entries_by_position;
    /* a row with members is mapped from the multiple of 8 below its beginning */
    bool parents_rounded;
    /* aborts where a call ends the last mapping of some memory, and then ends it once more */
    bool one_end_a_call;
    /* an implicit row that exceeds what the same call has just mapped is copied whole, past its end
     */
    bool excess_copied;
    /* what must be present must be so before the call: an earlier row of it does not count */
    bool presence_at_entry;
    /*
     * an image registered after a device's first use is never loaded, and its launch crashes: no
     * registration is taken back, since it could not be made again
     */
    bool late_image_ignored;
    /* a kernel whose name ends in "tor" is taken for one without parameters */
    bool names_in_tor_crash;
    /* rows that attach pointers, of clang 22 and later, are such; else they are taken for maps */
    bool attach_rows;
    /* a GPU is started, its context made, when it is first used; else all are, at a registration */
    bool devices_at_first_use;
    bool plugins_apart;  /* plugins are files of their own, with unversioned names */
    bool openmp_first;   /* libomp must be in the process before libomptarget is opened */
    bool runtime_object; /* calls before the first registration crash */
    /* symbols NAME_exec_mode of an image decide how its kernels are launched, and whether */
    bool exec_mode_obeyed;
    /* arguments are packed in 8-byte slots: narrower parameters are misplaced */
    bool packed_slots;
    /* host kernels take one array of arguments: none that is called as it is does */
    bool host_argument_array;
    bool old_entries_only; /* entries in clang 20's form are misread */
    /* version of the OffloadBinary that it opens at a registration; 0: none */
    uint32_t newest_container;
    /* CUBINs of CUDA 13 need the older header, possible up to this SM; 0: not needed */
    int newest_old_header;
    bool new_header_refused; /* ... and the new header is refused above it too */
    /* the newest function that its CUDA plugin cannot do without; NULL: none that matters */
    const char *driver_function;
    const char *driver_since; /* the CUDA release that has it first */
    /* bytes of a symbol NAME_kernel_environment, which tells how to launch NAME; others abort */
    uint32_t environment_size;
    uint64_t strict_flags; /* Flags bits that make the grid exact */
    /*
     * Flags bits that a caller's packet may have: what the release knows, and what it passes over.
     * With bit 1, 20 and later take the packet's rows for something else, and so does 23 with
     * bit 5.
     */
    uint64_t packet_flags;
    uint32_t most_teams; /* silently cut down to this in x; 0: the device's own limit */
    /*
     * a block's shared memory, static and dynamic, is at most 48 KiB: the kernel's limit is not
     * raised
     */
    bool shared_memory_fixed;
    /*
     * the kernel's limit is raised where 48 KiB or more are dynamic, whatever the kernel has of its
     * own
     */
    bool static_memory_uncounted;
    /* a launch with more reports success and does nothing; 0: no such limit */
    uint32_t most_dynamic_memory;
};

/*
 * The release that exports what EXPORTS(name, context) says; NAMED is the number in the library's
 * own name or in that of the libLLVM it needs (0: none), which tells apart releases that export the
 * same. NULL: not a libomptarget from LLVM 14 on.
 */
const struct rex_release *rex_release_tell(bool (*exports)(const char *name, void *context),
                                           void *context, int named);

/* The row of a release, NULL if there is none. */
const struct rex_release *rex_release_row(int number);

/* The row behind that of a release, the first one for 0; NULL behind the last. */
const struct rex_release *rex_release_after(int number);

#endif
