/*
 * table.c - the table of a module's entries. Finds an entry by its host key. Compares the entries
 * with the image, and reads the facts of each kernel from the image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"

/* a `declare target link` global: the device symbol is a pointer with another name */
#define FLAG_LINK 0x01

/*
 * Returns true if the table and the module lie in different loaded binaries. If the result is true,
 * *OWN describes the module's binary, and *OTHER the table's binary.
 */
static bool is_table_foreign(const struct rex_module *module, Dl_info *own, Dl_info *other)
{
    return dladdr(module, own) != 0 && dladdr(module->entries_begin, other) != 0 &&
           own->dli_fbase != other->dli_fbase;
}

bool rex_table_is_own(const struct rex_module *module)
{
    Dl_info own, other;
    return !(module->flags & REX_MODULE_IS_PART) && module->entries_begin != NULL &&
           module->entries_begin != module->entries_end && !is_table_foreign(module, &own, &other);
}

/*
 * Returns the path of the binary that has MODULE. If no binary has MODULE, returns the path of the
 * binary that has its table, or "a module" if no binary has the table.
 */
static const char *file_of(const struct rex_module *module)
{
    Dl_info info;
    return dladdr(module, &info) != 0 || dladdr(module->entries_begin, &info) != 0 ? info.dli_fname
                                                                                   : "a module";
}

static void free_layouts(struct rex_table *table)
{
    struct rex_layout *layout;
    while ((layout = table->layouts) != NULL) {
        table->layouts = layout->older;
        free(layout);
    }
}

/* Allocates an empty index, and an array for COUNT kernels. Returns 0 or REX_ENOMEM. */
static int reserve_index(struct rex_table *table, size_t count)
{
    size_t slots = 4;
    while (slots < count + count / 2)
        slots *= 2;
    if (table->index == NULL || table->count != count) {
        uint32_t *index = malloc(slots * sizeof *index);
        struct rex_kernel *kernels = calloc(count, sizeof *kernels);
        if (index == NULL || kernels == NULL) {
            free(index);
            free(kernels);
            return rex_fail_memory(slots * sizeof *index + count * sizeof *kernels,
                                   "the index of host keys");
        }
        free(table->index);
        free(table->kernels);
        table->index = index;
        table->kernels = kernels;
    }
    memset(table->index, 0, slots * sizeof *table->index);
    table->count = (uint32_t)count;
    table->mask = (uint32_t)(slots - 1);
    return REX_OK;
}

/*
 * Returns true if the index matches the module's entries. Such an index must not change, because
 * another thread may search it during a new registration (rex_modules_find()).
 */
static bool is_indexed(const struct rex_table *table, const struct rex_module *module, size_t count)
{
    if (table->entries != module->entries_begin || table->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (table->entries[i].name == NULL || *table->entries[i].name == '\0' ||
            rex_table_find(table, table->entries[i].addr) != &table->kernels[i])
            return false;
    return true;
}

int rex_table_build(struct rex_table *table, const struct rex_module *module)
{
    Dl_info own, other;
    uintptr_t begin = (uintptr_t)module->entries_begin, end = (uintptr_t)module->entries_end;
    if (begin == 0 || end == 0 || begin == end)
        return rex_fail(
            REX_EENTRIES,
            "%s: the table of offload entries is empty: no entry was compiled into this binary, or "
            "the linker dropped the section omp_offloading_entries (link with "
            "-Wl,-z,nostart-stop-gc), or gcc -flto dropped entries without __attribute__((used)) "
            "(add the attribute, or link with -rdynamic)",
            file_of(module));
    if (is_table_foreign(module, &own, &other))
        return rex_fail(REX_EENTRIES,
                        "no offload entry was compiled into %s: the linker gave it the table of %s",
                        own.dli_fname, other.dli_fname);
    if (end < begin || begin % sizeof(void *) != 0 ||
        (end - begin) % sizeof(struct __tgt_offload_entry) != 0)
        return rex_fail(
            REX_EENTRIES,
            "%s: the table of offload entries, %p to %p, is not an array of entries of %zu bytes: "
            "the entries have another form (clang 20 or later), or the bounds are wrong",
            file_of(module), (void *)module->entries_begin, (void *)module->entries_end,
            sizeof(struct __tgt_offload_entry));
    size_t count = (end - begin) / sizeof(struct __tgt_offload_entry);
    if (count > UINT32_MAX / 4)
        return rex_fail(
            REX_EENTRIES,
            "%s: the table of offload entries has %zu entries, more than librex can index",
            file_of(module), count);
    free_layouts(table);
    bool is_known = is_indexed(table, module, count);
    if (!is_known) {
        int result = reserve_index(table, count);
        if (result != REX_OK)
            return result;
        table->entries = module->entries_begin;
    }
    for (uint32_t i = 0; !is_known && i < count; i++) {
        const struct __tgt_offload_entry *entry = &table->entries[i];
        if (entry->name == NULL || *entry->name == '\0')
            return rex_fail(REX_EENTRIES, "%s: offload entry %u has no name", file_of(module), i);
        if (entry->addr == NULL)
            return rex_fail(REX_EENTRIES, "%s: offload entry %u (\"%s\") has no host key",
                            file_of(module), i, entry->name);
        if ((entry->flags & ~(entry->size > 0 ? FLAG_LINK : 0)) != 0)
            return rex_fail(
                REX_EENTRIES,
                "%s: offload entry %u (\"%s\") has the flags %d: a kernel has 0, a global 0 or 1",
                file_of(module), i, entry->name, entry->flags);
        const struct rex_kernel *same = rex_table_find(table, entry->addr);
        if (same != NULL)
            return rex_fail(
                REX_EKEY, "%s: offload entries %u (\"%s\") and %u (\"%s\") have the same host key",
                file_of(module), (unsigned)(same - table->kernels),
                table->entries[same - table->kernels].name, i, entry->name);
        uint32_t at = rex_hash_key(entry->addr) & table->mask;
        while (table->index[at] != 0)
            at = (at + 1) & table->mask;
        table->index[at] = i + 1;
    }
    for (size_t i = 0; i < count; i++)
        table->kernels[i] = (struct rex_kernel){.entry = &table->entries[i]};
    return REX_OK;
}

void rex_table_free(struct rex_table *table)
{
    free_layouts(table);
    free(table->index);
    free(table->kernels);
}

/* ---- entries against the image --------------------------------------------------------------- */

enum { LISTED_NAMES = 4, LISTED_BYTES = 100 };

int rex_table_lacks(const struct rex_table *table, const struct rex_view *view, const char *path,
                    const char *name, bool kernel)
{
    const char *what = kernel ? "kernel" : "global", *near = rex_view_nearest(view, name, kernel);
    const char *clang = "";
    for (uint32_t i = 0; table != NULL && i < table->count; i++)
        if (rex_name_after(table->entries[i].name, "__omp_offloading_") != NULL)
            clang = "; the table of offload entries also has entries of clang's offload code: "
                    "move clang's code into a shared object";
    if (near != NULL)
        return rex_fail(REX_ENOKERNEL,
                        "device image %s has no %s \"%s\"; the nearest name in it is \"%s\"%s",
                        path, what, name, near, clang);
    /* List the first names in the image and count the others. */
    char names[LISTED_NAMES * (LISTED_BYTES + 4) + 32];
    size_t count = 0, length = 0;
    snprintf(names, sizeof names, "no %ss", what);
    for (size_t i = 0; i < view->count; i++)
        if (view->symbols[i].kernel == kernel && ++count <= LISTED_NAMES)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s\"%.*s\"",
                                       count > 1 ? ", " : "", LISTED_BYTES, view->symbols[i].name);
    if (count > LISTED_NAMES)
        snprintf(names + length, sizeof names - length, " and %zu more", count - LISTED_NAMES);
    return rex_fail(REX_ENOKERNEL, "device image %s has no %s \"%s\"; it has %s%s", path, what,
                    name, names, clang);
}

/* bit of the mode in a kernel's environment: generic is 1, SPMD is 2, and both together are 3 */
#define MODE_GENERIC 1
#define REGISTERS 65536u /* maximum registers of a block, on all GPUs that CUDA 13 compiles for */
#define WARP 32u

/*
 * Returns the maximum number of threads of a block. __launch_bounds__ and registers may allow fewer
 * threads than the hardware. For a host image returns INT32_MAX: libomptarget calls the kernel once
 * for any grid.
 */
static uint32_t most_threads(const struct rex_image_symbol *symbol, const struct rex_view *view)
{
    uint32_t most = REX_MOST_THREADS, registers = symbol->registers;
    if (view->kind == REX_IMAGE_HOST)
        return INT32_MAX;
    if (symbol->max_threads > 0 && symbol->max_threads < most)
        most = symbol->max_threads;
    if (registers == 0 || registers > 255)
        return most;
    /*
     * A warp gets registers in units of 256. The number of warps is rounded down to a multiple of
     * 4.
     */
    uint32_t of_a_warp = (registers + 7) / 8 * 8 * WARP;
    uint32_t most_for_registers = REGISTERS / of_a_warp / 4 * 4 * WARP;
    return most_for_registers < most ? most_for_registers : most;
}

/*
 * Checks the environment of a clang kernel, by which LLVM 18 to 24 decide how to launch the kernel.
 * LLVM 23 and 24 ignore the environment if the packet marks the grid as exact. Returns 0 or
 * REX_EIMAGE.
 */
static int check_environment(const struct rex_image_symbol *symbol, const char *path,
                             const struct rex_release *release, uint8_t *flags)
{
    if (symbol->environment_size == 0 || release->environment_size == 0)
        return REX_OK;
    if (symbol->environment_size != release->environment_size)
        return rex_fail(REX_EIMAGE,
                        "kernel \"%.*s\" in %s: its symbol %s_kernel_environment is %u bytes, and "
                        "LLVM %d aborts unless it is %u: compile the kernel with the clang of LLVM "
                        "%d",
                        REX_KERNEL_NAME(symbol->name), path, symbol->name, symbol->environment_size,
                        release->number, release->environment_size, release->number);
    *flags |= REX_KERNEL_MANAGED;
    if ((symbol->environment_mode & MODE_GENERIC) && release->strict_flags == 0)
        rex_log(
            REX_LOG_INFO,
            "kernel \"%.*s\" in %s was compiled in clang's generic mode: LLVM %d adds 32 threads "
            "to each block",
            REX_KERNEL_NAME(symbol->name), path, release->number);
    return REX_OK;
}

#define LAYOUTS_COMPARED 16 /* number of layouts, from the newest on, that are compared */

/*
 * Copies the parameters, because the view may be closed before a launch. Returns 0 or REX_ENOMEM.
 */
static int keep_layout(struct rex_table *table, struct rex_kernel *kernel,
                       const struct rex_image_symbol *symbol, const struct rex_view *view)
{
    uint32_t count = symbol->parameters;
    if (count == REX_PARAMETERS_UNKNOWN)
        return REX_OK;
    bool has_kinds = symbol->signature, env = symbol->signature && symbol->env;
    const struct rex_image_parameter *parameters =
        count > 0 ? view->parameters + symbol->first : NULL;
    const struct rex_layout *known = table->layouts;
    for (int i = 0; i < LAYOUTS_COMPARED && known != NULL; i++, known = known->older)
        if (known->count == count && known->env == env && known->has_kinds == has_kinds &&
            (count == 0 || memcmp(known->parameter, parameters, count * sizeof *parameters) == 0)) {
            kernel->layout = known;
            return REX_OK;
        }
    size_t size = sizeof *known + count * sizeof *parameters;
    struct rex_layout *added = malloc(size);
    if (added == NULL)
        return rex_fail_memory(size, "a kernel's parameters");
    *added = (struct rex_layout){
        .older = table->layouts, .count = count, .has_kinds = has_kinds, .env = env};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = (uint32_t)parameters[i].offset + parameters[i].size;
        added->parameter[i] = parameters[i];
        added->bytes = end > added->bytes ? end : added->bytes;
    }
    table->layouts = added;
    kernel->layout = added;
    return REX_OK;
}

/*
 * Checks whether the host device of RELEASE can call the kernel, and how. Returns 0 or
 * REX_EUNSUPPORTED.
 */
static int check_call(const struct rex_image_symbol *symbol, const struct rex_view *view,
                      const char *path, const struct rex_release *release, uint8_t *flags)
{
    if (view->kind != REX_IMAGE_HOST || release->host.version == 0)
        return REX_OK;
    if (symbol->call != NULL) {
        *flags |= REX_KERNEL_CALLED;
        return REX_OK;
    }
    /* rex/kernel.h and clang list their kernels in the entry table of the host image. */
    for (size_t i = 0; i < view->position_count; i++)
        if (strcmp(view->positions[i], symbol->name) == 0)
            return rex_fail(
                REX_EUNSUPPORTED,
                "device image %s: kernel \"%.*s\" has no function by which the host device of LLVM "
                "%d calls the kernel: the image was compiled with an older rex/kernel.h; compile "
                "the image again",
                path, REX_KERNEL_NAME(symbol->name), release->number);
    if (!release->host_argument_array)
        return REX_OK;
    return rex_fail(REX_EUNSUPPORTED,
                    "device image %s: the host device of LLVM %d calls kernels with one array of "
                    "arguments, which kernel \"%.*s\" does not take: write the kernel with "
                    "REX_DEVICE_KERNEL (rex/kernel.h)",
                    path, release->number, REX_KERNEL_NAME(symbol->name));
}

/*
 * Compares a kernel's or a global's entry with the image. The flags are set last, because a thread
 * that sees REX_KERNEL_MATCHED reads the other facts.
 */
int rex_kernel_match(struct rex_table *table, struct rex_kernel *kernel,
                     const struct rex_view *view, const char *path,
                     const struct rex_release *release)
{
    const struct __tgt_offload_entry *entry = kernel->entry;
    const char *name = entry->name;
    if (entry->size > 0 && (entry->flags & FLAG_LINK))
        return REX_OK;
    const struct rex_image_symbol *symbol = rex_view_find(view, name);
    uint8_t flags = REX_KERNEL_MATCHED;
    if (symbol == NULL || symbol->kernel != (entry->size == 0))
        return rex_table_lacks(table, view, path, name, entry->size == 0);
    if (entry->size > 0 && symbol->size != entry->size)
        return rex_fail(REX_ENOKERNEL,
                        "global \"%s\" has %zu bytes in the program and %llu in device image %s",
                        name, entry->size, (unsigned long long)symbol->size, path);
    if (entry->size > 0)
        return REX_OK;
    if (symbol->odd_size > 0 && symbol->odd_index == 0)
        flags |= REX_KERNEL_NARROW_FIRST;
    int result = REX_OK;
    if (release != NULL)
        result = check_environment(symbol, path, release, &flags);
    if (result == REX_OK && release != NULL)
        result = check_call(symbol, view, path, release, &flags);
    if (result == REX_OK)
        result = keep_layout(table, kernel, symbol, view);
    if (result != REX_OK)
        return result;
    /*
     * libomptarget misplaces a parameter of this size, so a launch by libomptarget is refused. The
     * driver can launch the kernel.
     */
    if (release != NULL &&
        (symbol->odd_size > 8 || (symbol->odd_size > 0 && release->packed_slots))) {
        uint32_t size = symbol->odd_size < UINT16_MAX ? symbol->odd_size : UINT16_MAX;
        kernel->misfit = (struct rex_misfit){symbol->odd_index, (uint16_t)size};
        rex_log(REX_LOG_INFO,
                "kernel \"%.*s\" in %s: parameter %u has %u bytes: the CUDA driver can launch the "
                "kernel, but LLVM %d cannot",
                REX_KERNEL_NAME(name), path, symbol->odd_index, symbol->odd_size, release->number);
    }
    kernel->parameters = symbol->parameters;
    if (symbol->parameters == REX_PARAMETERS_UNKNOWN || symbol->env != symbol->plain)
        kernel->form = symbol->env ? REX_FORM_ENV : REX_FORM_PLAIN;
    kernel->most_threads = most_threads(symbol, view);
    if (kernel->most_threads == symbol->max_threads)
        flags |= REX_KERNEL_BOUNDED;
    kernel->shared_memory = rex_view_own_memory(view, symbol);
    __atomic_fetch_or(&kernel->flags, flags, __ATOMIC_RELEASE);
    return REX_OK;
}

int rex_table_match(struct rex_table *table, const struct rex_view *view, const char *path,
                    const struct rex_release *release)
{
    int result = REX_OK;
    for (uint32_t i = 0; result == REX_OK && i < table->count; i++)
        result = rex_kernel_match(table, &table->kernels[i], view, path, release);
    return result;
}
