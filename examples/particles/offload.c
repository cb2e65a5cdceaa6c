/*
 * offload.c - particles' device run: an array of structs with pointers.
 *
 * map_swarm(), the mapper, maps one swarm with all its parts. rex_map_add_mapped() applies the
 * mapper to the whole array, and rex_map_build() makes the region's map. A launch has one row for
 * the array.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "../common/common.h"
#include "particles.h"

REX_KERNEL(particles_kick);
REX_KERNEL(particles_drift);
REX_KERNEL(particles_energy);

enum { THREADS = 128, MOST_TEAMS = 65535 };

/* A run. */
struct region {
    const struct simulation *simulation;
    struct device_run *run;
};

/* ---- the map --------------------------------------------------------------------------------- */

/* Maps a swarm and its two arrays. The pointers of the device's copy become device addresses. */
static int map_swarm(struct rex_map_builder *builder, void *element)
{
    struct swarm *swarm = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TOFROM, *swarm));
    if (result == 0)
        result =
            rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, swarm->position, 0, 3 * swarm->count));
    if (result == 0)
        result =
            rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, swarm->velocity, 0, 3 * swarm->count));
    return result;
}

static int push_swarms(struct rex_map_builder *builder, void *context)
{
    const struct simulation *simulation = context;
    struct rex_row section = REX_TOFROM(simulation->swarm, simulation->swarms);
    return rex_map_add_mapped(builder, map_swarm, section, sizeof *simulation->swarm);
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Counts a launch, and returns its configuration: a team for each swarm, up to MOST_TEAMS. */
static struct rex_launch_config config_of(struct region *region)
{
    int64_t swarms = region->simulation->swarms;
    struct rex_launch_config config =
        rex_launch_config_of(NULL, swarms < MOST_TEAMS ? swarms : MOST_TEAMS, THREADS);
    config.device = region->run->device;
    region->run->launches++;
    return config;
}

static int kick(struct region *region, double time)
{
    const struct simulation *simulation = region->simulation;
    return REX_LAUNCH_WITH(particles_kick, config_of(region), REX_VALUE(simulation->swarms),
                           REX_VALUE(time),
                           REX_PRESENT(REX_ALLOC(simulation->swarm, simulation->swarms)));
}

static int drift(struct region *region, double time)
{
    const struct simulation *simulation = region->simulation;
    return REX_LAUNCH_WITH(particles_drift, config_of(region), REX_VALUE(simulation->swarms),
                           REX_VALUE(time),
                           REX_PRESENT(REX_ALLOC(simulation->swarm, simulation->swarms)));
}

static int find_energies(struct region *region)
{
    const struct simulation *simulation = region->simulation;
    return REX_LAUNCH_WITH(particles_energy, config_of(region), REX_VALUE(simulation->swarms),
                           REX_PRESENT(REX_ALLOC(simulation->swarm, simulation->swarms)));
}

static int take_steps(struct region *region)
{
    double step = region->simulation->step;
    int result = 0;
    for (int i = 0; i < region->simulation->steps && result == 0; i++) {
        result = kick(region, step / 2.0);
        if (result == 0)
            result = drift(region, step);
        if (result == 0)
            result = kick(region, step / 2.0);
    }
    return result == 0 ? find_energies(region) : result;
}

static int run_region(struct region *region)
{
    struct device_run *run = region->run;
    struct rex_map swarms;
    double began = seconds_now();
    int result =
        rex_map_build(&swarms, NULL, push_swarms, (void *)(uintptr_t)region->simulation, NULL);
    if (result != 0)
        return result;
    run->building = seconds_now() - began;
    run->rows = swarms.count;

    began = seconds_now();
    REX_DATA_REGION_MAP(&result, run->device, swarms)
        result = take_steps(region);
    rex_map_free(&swarms);
    run->seconds = seconds_now() - began;
    return result;
}

int simulate_on_device(const struct simulation *simulation, struct device_run *run)
{
    struct region region = {simulation, run};
    run->launches = 0;
    int result = run_region(&region);
    if (result != 0)
        fprintf(stderr, "particles: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    return result;
}
