/*
 * attributes.c - launch attributes: cooperative grids and thread block clusters.
 *
 * Only cuLaunchKernelEx() (CUDA 11.8) passes attributes. A capture stores the attributes in the
 * kernel node of the graph. cuGraphExecKernelNodeSetParams() cannot change attributes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/attributes.h"

#include "base/error.h"

/* The portable maximum, which every GPU with clusters allows (CUDA C++ Programming Guide). */
#define MOST_BLOCKS_IN_CLUSTER 8u

static uint64_t product(const uint32_t size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

static const char *attribute_text(const struct rex_grid *grid)
{
    if (grid->attributes & REX_ATTRIBUTE_COOPERATIVE)
        return "a cooperative launch";
    return "thread block clusters";
}

/* Returns the driver's form of GRID. Writes the launch attributes to ATTRIBUTES. */
static struct rex_cuda_launch driver_launch(const struct rex_grid *grid,
                                            struct rex_cuda_attribute attributes[2])
{
    const uint32_t *teams = grid->teams, *threads = grid->threads, *cluster = grid->cluster;
    struct rex_cuda_launch launch = {.grid = {teams[0], teams[1], teams[2]},
                                     .block = {threads[0], threads[1], threads[2]},
                                     .dynamic_memory = grid->dynamic_memory,
                                     .attributes = attributes};
    if (grid->attributes & REX_ATTRIBUTE_COOPERATIVE)
        attributes[launch.count++] =
            (struct rex_cuda_attribute){.id = REX_CUDA_COOPERATIVE, .value.is_cooperative = 1};
    if (grid->attributes & REX_ATTRIBUTE_CLUSTER)
        attributes[launch.count++] = (struct rex_cuda_attribute){
            .id = REX_CUDA_CLUSTER, .value.cluster = {cluster[0], cluster[1], cluster[2]}};
    return launch;
}

/* ---- support by the driver and the GPU ------------------------------------------------------- */

static int check_support(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid)
{
    static const struct {
        uint32_t attribute;
        int asked; /* CUdevice_attribute */
    } all[] = {{REX_ATTRIBUTE_COOPERATIVE, REX_CUDA_HAS_COOPERATIVE},
               {REX_ATTRIBUTE_CLUSTER, REX_CUDA_HAS_CLUSTERS}};
    int ordinal = kernel->image->ordinal, has = 0;
    if (rex_cuda_need(REX_CUDA_ATTRIBUTES) != 0)
        return rex_fail(REX_EUNSUPPORTED, "kernel \"%.*s\": %s cannot be used: %s",
                        REX_KERNEL_NAME(kernel->name), attribute_text(grid), rex_cuda_why());
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rex_grid one = {.attributes = all[i].attribute};
        if (!(grid->attributes & one.attributes))
            continue;
        if (rex_cuda_attribute(ordinal, all[i].asked, &has) != 0)
            return rex_fail(REX_ECUDA, "kernel \"%.*s\": %s cannot be used: %s",
                            REX_KERNEL_NAME(kernel->name), attribute_text(&one), rex_cuda_why());
        if (!has)
            return rex_fail(
                REX_EUNSUPPORTED,
                "kernel \"%.*s\": GPU %d, of compute capability %u.%u, does not support %s",
                REX_KERNEL_NAME(kernel->name), ordinal, rex_cuda_architecture(ordinal) / 10,
                rex_cuda_architecture(ordinal) % 10, attribute_text(&one));
    }
    return REX_OK;
}

/* ---- resident blocks and clusters ------------------------------------------------------------ */

int rex_resident_count(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid,
                       uint64_t *blocks)
{
    struct rex_cuda_attribute attributes[2];
    uint64_t threads = product(grid->threads), each = 0;
    int count = 0, processors = 0, found = 0;
    if (grid->attributes & REX_ATTRIBUTE_CLUSTER) {
        /* The result does not depend on the size of the grid, so ask for a grid of one cluster. */
        struct rex_grid one = *grid;
        one.attributes = REX_ATTRIBUTE_CLUSTER;
        memcpy(one.teams, grid->cluster, sizeof one.teams);
        int result = check_support(kernel, &one);
        if (result != REX_OK)
            return result;
        struct rex_cuda_launch launch = driver_launch(&one, attributes);
        found = REX_CUDA(cuOccupancyMaxActiveClusters, &count, kernel->function, &launch);
        each = product(grid->cluster);
    } else {
        found = REX_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor, &count, kernel->function,
                         threads < INT32_MAX ? (int)threads : INT32_MAX, grid->dynamic_memory);
        if (found == 0)
            found =
                rex_cuda_attribute(kernel->image->ordinal, REX_CUDA_MULTIPROCESSORS, &processors);
        each = (uint64_t)processors;
    }
    if (found != 0)
        return rex_fail(REX_ECUDA, "kernel \"%.*s\": its resident blocks cannot be counted: %s",
                        REX_KERNEL_NAME(kernel->name), rex_cuda_why());
    *blocks = (uint64_t)count * each;
    return REX_OK;
}

static int check_cluster(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid)
{
    const uint32_t *teams = grid->teams, *cluster = grid->cluster;
    bool is_large = false, is_multiple = true;
    for (int i = 0; i < 3; i++) {
        is_large |= cluster[i] > MOST_BLOCKS_IN_CLUSTER;
        is_multiple &= teams[i] % cluster[i] == 0;
    }
    if (is_large || product(cluster) > MOST_BLOCKS_IN_CLUSTER)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%.*s\": clusters of %u x %u x %u teams are too large: the maximum is %u "
            "teams",
            REX_KERNEL_NAME(kernel->name), cluster[0], cluster[1], cluster[2],
            MOST_BLOCKS_IN_CLUSTER);
    if (!is_multiple)
        return rex_fail(REX_EINVAL,
                        "kernel \"%.*s\": a grid of %u x %u x %u teams is not a multiple of its "
                        "clusters of %u x %u x %u",
                        REX_KERNEL_NAME(kernel->name), teams[0], teams[1], teams[2], cluster[0],
                        cluster[1], cluster[2]);
    return REX_OK;
}

int rex_attributes_check(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid)
{
    const uint32_t *teams = grid->teams, *cluster = grid->cluster;
    uint64_t resident = 0;
    int result = check_support(kernel, grid);
    if (result == REX_OK && (grid->attributes & REX_ATTRIBUTE_CLUSTER))
        result = check_cluster(kernel, grid);
    if (result == REX_OK)
        result = rex_resident_count(kernel, grid, &resident);
    if (result != REX_OK)
        return result;
    if (resident == 0 && (grid->attributes & REX_ATTRIBUTE_CLUSTER))
        return rex_fail(REX_EINVAL,
                        "kernel \"%.*s\": GPU %d has no room for a cluster of %u x %u x %u teams",
                        REX_KERNEL_NAME(kernel->name), kernel->image->ordinal, cluster[0],
                        cluster[1], cluster[2]);
    if ((grid->attributes & REX_ATTRIBUTE_COOPERATIVE) && product(teams) > resident)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%.*s\": a cooperative grid of %llu teams is too large: GPU %d keeps at most "
            "%llu resident",
            REX_KERNEL_NAME(kernel->name), (unsigned long long)product(teams),
            kernel->image->ordinal, (unsigned long long)resident);
    return REX_OK;
}

int rex_attributes_refuse(const struct rex_request *request)
{
    char why[REX_REASON_MAX];
    rex_reason_text(rex_request_reason(request), why);
    return rex_fail(
        REX_EUNSUPPORTED,
        "kernel \"%.*s\": only the CUDA driver makes %s, and librex does not launch the kernel by "
        "the driver: %s",
        REX_KERNEL_NAME(request->target.name), attribute_text(&request->grid), why);
}

/* ---- the launch ------------------------------------------------------------------------------ */

int rex_attributes_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                       void *stream)
{
    struct rex_cuda_attribute attributes[2];
    struct rex_cuda_launch launch = driver_launch(&packed->grid, attributes);
    launch.stream = stream;
    return REX_CUDA(cuLaunchKernelEx, &launch, packed->kernel->function, arguments->address, NULL);
}
