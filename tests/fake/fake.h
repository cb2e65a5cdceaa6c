/*
 * fake.h - a libomptarget that does nothing but write down what it was asked.
 *
 * It stands in for the releases that no Debian package has, and for faults. Each build has exactly the exports that
 * tell its release, changes the caller's packet as that release does, and works out what a kernel of the CUDA device
 * would have received.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_FAKE_H
#define REX_TESTS_FAKE_H

#include <stdint.h>

#define FAKE_CALLS 64 /* kept; later ones are only counted */
#define FAKE_ROWS 72

/* Layouts of the runtime's own sources, apart from those of rex_kmp.h, which they have to match. */
struct fake_packet {
    uint32_t version, rows;
    void **base, **begin;
    int64_t *sizes, *types;
    void **names, **mappers;
    uint64_t trip_count, flags;
    uint32_t teams[3], threads[3], dynamic_memory;
    uint32_t padding;
};

struct fake_entry {
    void *address;
    char *name;
    uint64_t size;
    int32_t flags, reserved;
};

struct fake_image {
    unsigned char *start, *end;
    struct fake_entry *begin, *stop;
};

struct fake_descriptor {
    int32_t images;
    struct fake_image *image;
    struct fake_entry *begin, *stop;
};

enum fake_function {
    FAKE_REGISTER,
    FAKE_UNREGISTER,
    FAKE_DEVICE_COUNT,
    FAKE_KERNEL,
    FAKE_TEAMS,
    FAKE_TEAMS_MAPPER,
    FAKE_TARGET,
    FAKE_BEGIN,
    FAKE_END,
    FAKE_UPDATE,
    FAKE_TRIP_COUNT,
    FAKE_REQUIRES
};

struct fake_call {
    enum fake_function function;
    int64_t device;
    int32_t teams, threads; /* arguments of the call */
    void *key;
    int32_t place_flags;
    char place[64];
    struct fake_packet packet; /* as it arrived; the columns were copied to: */
    void *base[FAKE_ROWS], *begin[FAKE_ROWS];
    int64_t sizes[FAKE_ROWS], types[FAKE_ROWS];
    void *names[FAKE_ROWS], *mappers[FAKE_ROWS]; /* where there are such columns */
    /* What the kernel would get. */
    uint32_t parameters;
    void *parameter[FAKE_ROWS];
    uint32_t grid[3], block[3], dynamic_memory;
    int clamped; /* the grid is not taken as it is */
    /* Registrations. */
    const struct fake_descriptor *descriptor;
    const struct fake_entry *entries;
    uint64_t entry_count, image_size;
    const unsigned char *image;
    unsigned char header[64];
    int32_t image_count;
    struct fake_image images[4]; /* the first of them */
};

/* Memory that is mapped, as a test says: @size bytes of the host at @begin. */
struct fake_mapping {
    uintptr_t begin, size, device;
};
#define FAKE_MAPPINGS 128

struct fake_record {
    struct fake_mapping mappings[FAKE_MAPPINGS]; /* a size of 0: none */
    uint32_t touches;                            /* of device memory: allocated, freed, copied */
    int copied[2];                               /* by the last copy of device memory: to and from which device */
    int copy_result;                             /* of copies; the test may set it */
    int release;
    int devices;          /* offered once something is registered; the test may set it */
    int result;           /* of launches; the test may set it */
    void (*on_data)(enum fake_function); /* called by each data call, for a test that maps then; or NULL */
    void (*on_launch)(void);             /* the same by each launch */
    int registered;       /* descriptors registered now */
    int used_address_again; /* the descriptor, or up to 19 the table of host entries, came at an address that was used before */
    int image_is_gone;      /* the image of an earlier registration, which this release still reads, has other bytes */
    uint32_t count;       /* calls, */
    uint32_t counts[16];  /* and those of each function */
    struct fake_call calls[FAKE_CALLS];
};

/* The library exports: struct fake_record *fake_record(void); */

#endif
