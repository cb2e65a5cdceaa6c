/*
 * pack.c - packs the arguments of a launch in the layout of the parameters of the kernel. If a
 * scalar does not fit its parameter, the error shows the cast that the program needs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/pack.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/process.h"
#include "image/view.h"
#include "launch/attributes.h"
#include "launch/check.h"
#include "memory/rowlookup.h"
#include "omp/grid.h"

/* The value that LLVM 18 and later pass if there is no launch environment. */
#define RUNTIME_PARAMETER UINTPTR_MAX

/* ---- an argument that does not fit its parameter --------------------------------------------- */

/*
 * Writes to TEXT the end of the error message about ROW, whose argument does not fit PARAMETER. If
 * the row and PARAMETER are scalars, the end is advice with the cast that the program needs, for
 * example REX_VALUE((double)k). If one of them is not a scalar, the end is the source text of the
 * row.
 */
static void write_advice(const struct rex_image_parameter *parameter, const struct rex_map *map,
                         int32_t row, char text[REX_ROW_TEXT + 40])
{
    static const char macro[] = "REX_VALUE(";
    char written[REX_ROW_TEXT];
    const char *value = strstr(rex_row_text(map, row, written), macro);
    size_t length = 0;
    if (parameter->kind < REX_KIND_I8 || rex_type_kind(map->types[row]) < REX_KIND_I8) {
        snprintf(text, REX_ROW_TEXT + 40, "%s", written);
        return;
    }
    if (value != NULL) { /* find the closing bracket of the macro */
        value += strlen(macro);
        for (int depth = 1; value[length] != '\0'; length++) {
            depth += (value[length] == '(') - (value[length] == ')');
            if (depth == 0)
                break;
        }
    }
    if (value == NULL || length == 0 || value[length] == '\0') {
        value = "...";
        length = strlen(value);
    }
    /* A cast of a single operand needs no brackets. */
    size_t operand = 0;
    while (operand < length &&
           (isalnum((unsigned char)value[operand]) || strchr("_.[]()", value[operand]) != NULL))
        operand++;
    bool bare = operand == length;
    snprintf(text, REX_ROW_TEXT + 40, ": write REX_VALUE((%s)%s%.*s%s)",
             rex_kind_name(parameter->kind), bare ? "" : "(", (int)length, value, bare ? "" : ")");
}

void rex_misfit_print(const struct rex_layout *layout, uint32_t index, const struct rex_map *map,
                      int32_t row, char text[REX_MISFIT_MAX])
{
    const struct rex_image_parameter *parameter = &layout->parameter[index];
    char one[REX_PARAMETER_MAX], value[80], advice[REX_ROW_TEXT + 40];
    const char *given = value;
    if (index >= layout->count) {
        snprintf(text, REX_MISFIT_MAX, "map row %d has no parameter%s", row,
                 rex_row_text(map, row, advice));
        return;
    }
    const char *wanted = rex_parameter_print(parameter, one);
    const char *article = parameter->kind < REX_KIND_I8 ? "a " : "";
    if (row == map->count) {
        snprintf(text, REX_MISFIT_MAX, "parameter %u, %s%s, has no row", index - layout->env,
                 article, wanted);
        return;
    }
    unsigned kind = rex_type_kind(map->types[row]);
    if (rex_is_in_first_page(parameter, map, row))
        snprintf(value, sizeof value, "%p, a number too small for an address", map->base[row]);
    else if (!(map->types[row] & REX_MAP_LITERAL))
        given = "an address of mapped memory";
    else if (kind >= REX_KIND_I8)
        given = rex_kind_name(kind);
    else if (kind == REX_KIND_POINTER)
        given = "a pointer";
    else
        snprintf(value, sizeof value, "a value of %lld byte%s", (long long)map->sizes[row],
                 map->sizes[row] == 1 ? "" : "s");
    write_advice(parameter, map, row, advice);
    snprintf(text, REX_MISFIT_MAX, "map row %d is %s, and parameter %u is %s%s%s", row, given,
             index - layout->env, article, wanted, advice);
}

int rex_wrong_argument(const char *name, const struct rex_layout *layout, uint32_t index,
                       const struct rex_map *map, int32_t row)
{
    char list[REX_SIGNATURE_MAX], misfit[REX_MISFIT_MAX];
    rex_misfit_print(layout, index, map, row, misfit);
    rex_signature_print(layout->parameter + layout->env, layout->count - layout->env, list);
    return rex_fail(REX_EPARAMS, "kernel \"%.*s\": %s; the kernel takes %s", REX_KERNEL_NAME(name),
                    misfit, list);
}

/* ---- memory of the arguments ----------------------------------------------------------------- */

/*
 * Enlarges the memory of ARGUMENTS if the arguments of a kernel with LAYOUT do not fit. If FORM is
 * REX_FORM_ENV, packs the first parameter, which is for the runtime. Returns 0 or REX_ENOMEM.
 */
static int open_arguments(struct rex_arguments *arguments, const struct rex_layout *layout,
                          enum rex_kernel_form form)
{
    if (arguments->room < layout->count || arguments->address == NULL) {
        uint32_t room = layout->count < 16 ? 16 : layout->count;
        void **address = realloc(arguments->address, room * sizeof *address);
        if (address == NULL)
            return rex_fail_memory(room * sizeof *address, "a kernel's arguments");
        arguments->address = address;
        arguments->room = room;
    }
    if (arguments->bytes < layout->bytes || arguments->values == NULL) {
        uint32_t bytes = layout->bytes < 256 ? 256 : layout->bytes;
        unsigned char *values = calloc(1, bytes); /* zeros, so that the padding is 0 */
        if (values == NULL)
            return rex_fail_memory(bytes, "a kernel's arguments");
        free(arguments->values);
        arguments->values = values;
        arguments->bytes = bytes;
    }
    if (form == REX_FORM_ENV) {
        arguments->address[0] = arguments->values + layout->parameter[0].offset;
        memcpy(arguments->address[0], &(uintptr_t){RUNTIME_PARAMETER}, sizeof(uintptr_t));
    }
    return REX_OK;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int fail_width(const struct rex_loaded_kernel *kernel, uint32_t parameter, int64_t size,
                      const char *what)
{
    return rex_fail(
        REX_EPARAMS,
        "kernel \"%.*s\": parameter %u has %u bytes, and the launch passes %s of %lld bytes",
        REX_KERNEL_NAME(kernel->name), parameter, kernel->facts->layout->parameter[parameter].size,
        what, (long long)size);
}

/* ---- one row --------------------------------------------------------------------------------- */

/*
 * Checks ROW against PARAMETER, and packs the argument WORD. If the parameter is wider than a
 * pointer, packs the value at `begin` of ROW instead. Without a signature the kinds of the
 * parameters are unknown, so only the sizes are compared. Returns 0 or an error.
 */
static int check_and_pack(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                          uint32_t parameter, const struct rex_map *map, int32_t row,
                          uintptr_t word)
{
    const struct rex_layout *layout = kernel->facts->layout;
    const struct rex_image_parameter *wanted = &layout->parameter[parameter];
    size_t width = wanted->size, size = (size_t)map->sizes[row];
    char text[REX_ROW_TEXT];
    if (!rex_argument_fits(wanted, map, row))
        return rex_wrong_argument(kernel->name, layout, parameter, map, row);
    if (!(map->types[row] & REX_MAP_LITERAL)) {
        if (width != sizeof(void *))
            return fail_width(kernel, parameter, sizeof(void *), "an address");
    } else {
        if (size > width || (size < width && width != sizeof(void *)))
            return fail_width(kernel, parameter, map->sizes[row], "a value");
        if (width > sizeof(void *) && map->begin[row] == NULL)
            return rex_fail(
                REX_EINVAL,
                "kernel \"%.*s\": map row %d: the address of the value is NULL (bytes: %zu)%s",
                REX_KERNEL_NAME(kernel->name), row, width, rex_row_text(map, row, text));
    }
    /* The host is little-endian: a shorter value is in the first bytes of WORD. */
    memcpy(arguments->values + wanted->offset, width > sizeof word ? map->begin[row] : &word,
           width);
    return REX_OK;
}

/*
 * Sets *WORD to the argument of ROW, and packs the argument. Returns false if check_and_pack() has
 * to pack the argument instead.
 *
 * If ROW is memory, the argument is the device address of the row's base. For example, if the row
 * is a[10] to a[19], the argument is the device address of a[0]. So kernel and host use equal
 * indices. DEVICE is the device address of `begin` of the row, or 0 if `begin` has no device
 * address.
 *
 * rex_pack_arguments() passes local copies of the arguments and of the map. Without the copies, the
 * compiler would have to assume that storing a value changes the arguments and the map.
 */
static inline bool pack_row(const struct rex_arguments *arguments, const struct rex_layout *layout,
                            uint32_t parameter, const struct rex_map *map, int32_t row,
                            uintptr_t device, uintptr_t *word)
{
    const struct rex_image_parameter *wanted = &layout->parameter[parameter];
    unsigned char *to = arguments->values + wanted->offset;
    int64_t type = map->types[row];
    uint32_t size_and_kind; /* the kind begins at bit 16, so one comparison is enough */
    memcpy(&size_and_kind, &wanted->size, sizeof size_and_kind);
    arguments->address[parameter] = to;
    *word = (uintptr_t)map->base[row];
    if (type & REX_MAP_LITERAL) {
        int64_t kind = type & REX_MAP_KIND_MASK;
        if (kind < REX_MAP_KIND(REX_KIND_I8) || /* the literal has no scalar kind */
            size_and_kind != (sizeof *word | (uint64_t)kind >> 16))
            return false;
    } else {
        if (type & REX_MAP_PTR_AND_OBJ)
            *word = *(uintptr_t *)map->base[row];
        *word = device != 0 ? device + *word - (uintptr_t)map->begin[row] : 0;
        /*
         * Pack here only if the parameter has the size of an address, and is a pointer or of
         * unknown kind.
         */
        if ((size_and_kind & ~((uint32_t)REX_KIND_POINTER << 16)) != sizeof *word)
            return false;
    }
    memcpy(to, word, sizeof *word);
    return true;
}
_Static_assert(offsetof(struct rex_image_parameter, kind) ==
                   offsetof(struct rex_image_parameter, size) + 2,
               "pack_row() reads both at once");

/* ---- all rows -------------------------------------------------------------------------------- */

static int find_and_pack_rows(struct rex_stream_gpu *gpu, const struct rex_loaded_kernel *kernel,
                              enum rex_kernel_form form, const struct rex_map *map,
                              const struct rex_release *release)
{
    const struct rex_layout *layout = kernel->facts->layout;
    uint32_t parameter = form == REX_FORM_ENV;
    rex_addresses_begin(&gpu->addresses, gpu->remember);
    for (int32_t i = 0; i < map->count; i++) {
        int64_t type = map->types[i], size = map->sizes[i];
        uintptr_t device = 0;
        if (!(type & REX_MAP_LITERAL)) {
            device = rex_addresses_find(&gpu->addresses, map->begin[i], (size_t)size, gpu->number);
            /* A section of size 0 need not be mapped: pass the address that libomptarget passes. */
            if (REX_UNLIKELY(device == 0)) {
                uintptr_t begin = (uintptr_t)map->begin[i];
                struct rex_row_span row = {begin, begin + (uintptr_t)size, i, false, false};
                if (size > 0 || (type & (REX_MAP_IMPLICIT | REX_MAP_PRESENT)))
                    return rex_fail_absent(
                        REX_FOR_QUEUE, kernel->name, map, &row,
                        rex_memory_presence(map->begin[i], (size_t)size, gpu->number), gpu->number);
                device = release->empty_is_null ? 0 : (uintptr_t)map->begin[i];
            }
        }
        if (!(type & REX_MAP_TARGET_PARAM))
            continue;
        uintptr_t word;
        if (REX_UNLIKELY(!pack_row(&gpu->arguments, layout, parameter, map, i, device, &word))) {
            int result = check_and_pack(&gpu->arguments, kernel, parameter, map, i, word);
            if (result != REX_OK)
                return result;
        }
        parameter++;
    }
    REX_ASSERT(parameter == layout->count);
    return REX_OK;
}

int rex_pack_arguments(struct rex_arguments *arguments, const struct rex_loaded_kernel *kernel,
                       enum rex_kernel_form form, const struct rex_map *map,
                       const uintptr_t *device)
{
    const struct rex_layout *layout = kernel->facts->layout;
    uint32_t parameter = form == REX_FORM_ENV;
    int result = open_arguments(arguments, layout, form);
    if (result != REX_OK)
        return result;
    const struct rex_arguments to = *arguments;
    const struct rex_map rows = *map;
    for (int32_t i = 0; i < rows.count; i++) {
        uintptr_t word;
        if (!(rows.types[i] & REX_MAP_TARGET_PARAM))
            continue;
        if (REX_UNLIKELY(!pack_row(&to, layout, parameter, &rows, i, device[i], &word))) {
            result = check_and_pack(arguments, kernel, parameter, map, i, word);
            if (result != REX_OK)
                return result;
        }
        parameter++;
    }
    REX_ASSERT(parameter == layout->count);
    return REX_OK;
}

/* ---- the launch ------------------------------------------------------------------------------ */

int rex_pack_launch(struct rex_stream_gpu *gpu, struct rex_module *module,
                    const struct rex_launch_config *description, const struct rex_map *map,
                    struct rex_packed *packed)
{
    struct rex_target target;
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    const int64_t unusual_bits = REX_MAP_TARGET_PARAM | REX_MAP_PRIVATE | REX_MAP_ALWAYS;
    uint32_t parameters = 0;
    int result = rex_resolve(module, description->key, &target);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    packed->kernel =
        rex_loaded_kernel(&target, gpu->ordinal, gpu->context, description->dynamic_memory);
    if (REX_UNLIKELY(packed->kernel == NULL))
        return rex_last_error_code();
    if (REX_UNLIKELY(packed->kernel->image->has_globals && !(gpu->flags & REX_QUEUE_OWN_GLOBALS)))
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%.*s\": its module has device globals, and a queue would use a second copy "
            "of them. Put the kernel into a module without globals, or accept the second copy with "
            "REX_QUEUE_OWN_GLOBALS",
            REX_KERNEL_NAME(target.name));
    if (description->flags & REX_LAUNCH_STRICT) {
        result = rex_check_strict(description, target.name);
        if (result != REX_OK)
            return result;
    }
    bool is_wrong = map->count != 0 && !rex_has_columns(map), is_unusual = is_wrong;
    for (int32_t i = 0; !is_wrong && i < map->count; i++) {
        int64_t type = map->types[i];
        is_unusual |= (type & unusual_bits) != REX_MAP_TARGET_PARAM || map->sizes[i] < 0;
        is_unusual |= (type & ~REX_ROW_BITS(type)) != 0;
        parameters += (type & REX_MAP_TARGET_PARAM) != 0;
    }
    /* Some rows are invalid, have modifiers, are private, or are not arguments. */
    if (REX_UNLIKELY(is_unusual)) {
        result = rex_check_rows(map, REX_FOR_QUEUE, target.name);
        if (result != REX_OK)
            return result;
    }
    result = rex_check_form(&target, parameters, map, &form);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    result = open_arguments(&gpu->arguments, target.kernel->layout, form);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    packed->grid = rex_grid_of_launch(description);
    result = rex_grid_complete(&packed->grid, description->trip_count, target.name);
    if (REX_UNLIKELY(packed->grid.attributes != 0) && result == REX_OK)
        result = rex_attributes_check(packed->kernel, &packed->grid);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    result = find_and_pack_rows(gpu, packed->kernel, form, map, target.registration->release);
    if (REX_UNLIKELY(result != REX_OK))
        rex_addresses_undo(&gpu->addresses);
    return result;
}

/* ---- calls to the driver --------------------------------------------------------------------- */

int rex_packed_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *stream)
{
    const uint32_t *teams = packed->grid.teams, *threads = packed->grid.threads;
    if (REX_UNLIKELY(packed->grid.attributes != 0))
        return rex_attributes_put(packed, arguments, stream);
    return REX_CUDA(cuLaunchKernel, packed->kernel->function, teams[0], teams[1], teams[2],
                    threads[0], threads[1], threads[2], packed->grid.dynamic_memory, stream,
                    arguments->address, NULL);
}

int rex_packed_set(const struct rex_packed *packed, const struct rex_arguments *arguments,
                   void *executable, void *node)
{
    const uint32_t *teams = packed->grid.teams, *threads = packed->grid.threads;
    const struct rex_cuda_kernel_node changed = {packed->kernel->function,
                                                 {teams[0], teams[1], teams[2]},
                                                 {threads[0], threads[1], threads[2]},
                                                 packed->grid.dynamic_memory,
                                                 arguments->address,
                                                 NULL};
    return REX_CUDA(cuGraphExecKernelNodeSetParams, executable, node, &changed);
}

int rex_packed_failed(const struct rex_packed *packed)
{
    const uint32_t *teams = packed->grid.teams, *threads = packed->grid.threads;
    return rex_fail(REX_ECUDA,
                    "kernel \"%.*s\", %u x %u x %u teams of %u x %u x %u threads, %u bytes of "
                    "dynamic shared memory: %s",
                    REX_KERNEL_NAME(packed->kernel->name), teams[0], teams[1], teams[2], threads[0],
                    threads[1], threads[2], packed->grid.dynamic_memory, rex_cuda_why());
}

/* ---- capture --------------------------------------------------------------------------------- */

void *rex_capture_last_node(void *stream)
{
    int status = 0;
    uint64_t id;
    void *graph, *const *last = NULL;
    size_t count = 0;
    if (REX_CUDA(cuStreamGetCaptureInfo, stream, &status, &id, &graph, &last, &count) != 0 ||
        count != 1)
        return NULL;
    return last[0];
}
