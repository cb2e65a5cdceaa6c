/*
 * table.h - the table of a module's entries. Finds an entry by its host key. Compares the entries
 * with the image, and reads the facts of each kernel from the image. Each launch finds the module's
 * registration and the key's kernel by the inline functions of this header.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TABLE_H
#define REX_INTERNAL_TABLE_H

#include <stdbool.h>

#include "image/view.h"
#include "omp/entrypoints.h"
#include "omp/release.h"
#include "rex/module.h"

#define REX_MOST_THREADS 1024 /* maximum threads of a block, on any NVIDIA GPU */

/* Flags of a kernel. */
/*
 * the first parameter is not 8 bytes wide. So the kernel is not an env kernel, whose first
 * parameter is a pointer from the runtime.
 */
#define REX_KERNEL_NARROW_FIRST 1
#define REX_KERNEL_MATCHED 2 /* the kernel's entry was compared with the image */
/*
 * the image has the symbol NAME_kernel_environment for the kernel. LLVM 18 to 22 launch such a
 * kernel as the symbol prescribes, and in one dimension only. For LLVM 23 and 24 librex marks the
 * grid as exact, so the symbol has no effect. The driver does not launch such a kernel.
 */
#define REX_KERNEL_MANAGED 4
#define REX_KERNEL_CALLED 8 /* the host device calls the image's function rex_call_NAME */
/* the log has reported whether the driver or libomptarget launches the kernel */
#define REX_KERNEL_BACKEND_TOLD 16
#define REX_KERNEL_BOUNDED 32 /* most_threads is the number in __launch_bounds__ */

/*
 * A kernel's parameter that libomptarget misplaces: its number, and its width in bytes. The width
 * is 0 if there is no such parameter.
 */
struct rex_misfit {
    uint16_t index, size;
};

/*
 * The parameters of a kernel. Kernels with equal parameters share one layout. A layout is never
 * changed after a thread can find it. A layout is freed when the table is built again or freed.
 */
struct rex_layout {
    struct rex_layout *older; /* next older layout of the table */
    uint32_t count, bytes;    /* number of parameters, and bytes of all parameters together */
    bool has_kinds;           /* the image has a signature with the kind of each parameter */
    /* 1 if the signature marks the first parameter as the runtime's, else 0 */
    uint8_t env;
    struct rex_image_parameter parameter[];
};

/* One kernel: facts of its image, its entry, and the results of checks. */
struct rex_kernel {
    uint64_t most_threads;  /* maximum number of threads of a block */
    uint32_t shared_memory; /* bytes of the kernel's static shared memory */
    struct rex_misfit misfit;
    uint32_t checked; /* 1 + number of rows of the last launch that was checked; atomic */
    /* number of parameters; in a host image without a signature: REX_PARAMETERS_UNKNOWN */
    uint16_t parameters;
    /*
     * enum rex_kernel_form; set by rex_kernel_match() or by the first launch that is checked;
     * atomic
     */
    uint8_t form;
    /*
     * REX_KERNEL_ bits, atomic. REX_KERNEL_MATCHED is set after rex_kernel_match() has written the
     * facts from the image.
     */
    uint8_t flags;
    const struct __tgt_offload_entry *entry;
    const struct rex_layout *layout; /* NULL if the image does not describe the parameters */
};

struct rex_table {
    struct __tgt_offload_entry *entries;
    uint32_t count;
    uint32_t mask;
    /*
     * hash table of the keys, with open addressing. An element is 1 + the index of an entry, or 0.
     */
    uint32_t *index;
    struct rex_kernel *kernels; /* one for each entry */
    struct rex_layout *layouts; /* all layouts, the newest first */
};

#define REX_MODULE_IS_PART 1 /* flag of a module that librex made from another module's images */

/*
 * Returns true if the module has entries of its own: it is not a part, and its table is not empty
 * and lies in the module's binary. If a binary has no entries, a linker may make its module refer
 * to the table of a shared object.
 */
bool rex_table_is_own(const struct rex_module *module);

/*
 * Checks the module's entries and makes the index. Reuses the table's memory if the number of
 * entries has not changed. Returns 0 or an error.
 */
int rex_table_build(struct rex_table *table, const struct rex_module *module);

/* Frees the table of a registration that is not used again. */
void rex_table_free(struct rex_table *table);

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Returns the registration of MODULE, or NULL if MODULE is not registered. */
static inline struct rex_registration *rex_registration_of(const struct rex_module *module)
{
    return (struct rex_registration *)__atomic_load_n(&module->packet_rules, __ATOMIC_ACQUIRE);
}

/* Hashes KEY by Fibonacci hashing, because host keys are neighbouring addresses. */
static inline uint32_t rex_hash_key(const void *key)
{
    return (uint32_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> 32);
}

/* Returns the kernel or global with this KEY, or NULL. */
static inline struct rex_kernel *rex_table_find(const struct rex_table *table, const void *key)
{
    uint32_t at = rex_hash_key(key) & table->mask;
    for (uint32_t found; (found = table->index[at]) != 0; at = (at + 1) & table->mask)
        if (table->entries[found - 1].addr == key)
            return &table->kernels[found - 1];
    return NULL;
}

static inline uint8_t rex_kernel_flags(const struct rex_kernel *kernel)
{
    return __atomic_load_n(&kernel->flags, __ATOMIC_ACQUIRE);
}

/* ---- entries against the image --------------------------------------------------------------- */

/*
 * Compare all entries of TABLE, or only KERNEL's entry, with the image of VIEW. Copy the facts of
 * the compared kernels from VIEW. PATH is the image's name in messages. RELEASE is the release of
 * the libomptarget that launches the kernels; NULL if only the driver launches them. Only one
 * thread at a time may be inside these functions. Return 0 or an error.
 */
int rex_table_match(struct rex_table *table, const struct rex_view *view, const char *path,
                    const struct rex_release *release);
int rex_kernel_match(struct rex_table *table, struct rex_kernel *kernel,
                     const struct rex_view *view, const char *path,
                     const struct rex_release *release);

/*
 * Returns REX_ENOKERNEL with a message: the image of VIEW, called PATH, does not have the kernel or
 * global NAME. TABLE is the table whose entry has NAME. TABLE is NULL if NAME is an argument of a
 * public function.
 */
int rex_table_lacks(const struct rex_table *table, const struct rex_view *view, const char *path,
                    const char *name, bool kernel);

#endif
