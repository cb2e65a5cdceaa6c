/*
 * frame.c - all of nn except the search: options, inputs, the check, the summary. See nn.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

enum { MOST_NEIGHBOURS = 1000 };

/* ---- options --------------------------------------------------------------------------------- */

static double degrees(const struct settings *settings, const char *option, const char *text,
                      double value)
{
    char *end;
    if (text == NULL)
        return value;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || !(fabs(value) <= 360.0)) {
        fprintf(stderr, "%s: --%s wants a number from -360 to 360, not '%s'\n", settings->program,
                option, text);
        exit(WRONG_USAGE);
    }
    return value;
}

static void check_request(const struct settings *settings, const struct request *request)
{
    if (request->list != NULL && settings->sized)
        wrong_usage(settings, "--size and --records do not apply to --list, which has its own");
    if (!request->resident && settings->way != QUEUED)
        wrong_usage(settings, "--resident 0 needs --queue");
    if (request->rounds > 1 && settings->devices == ONE_DEVICE)
        wrong_usage(settings, "--rounds needs --devices");
    if (request->list != NULL && request->generate != NULL)
        wrong_usage(settings, "--list and --generate exclude each other: give one or the other");
}

void parse_request(struct settings *settings, struct request *request, int argc, char **argv)
{
    const char *latitude = NULL, *longitude = NULL;
    int64_t records = 0, neighbours = 10;
    /* --resident is for programs with --queue, --rounds for programs with --devices. */
    const struct extra_option none = {NULL, NULL, NULL, NULL, NULL, 0, 0};
    const struct extra_option with_ways = {
        "resident", "0|1", "with --queue: copy all records at once (1, default) or ten at a time",
        NULL, &request->resident, 0, 1};
    const struct extra_option with_devices = {
        "rounds", "N", "with --devices: compute the distances N times (1)", NULL,
        &request->rounds, 1, 1000000};
    int64_t least = settings->smallest, most = settings->largest;
    const struct extra_option extra[] = {
        {"records", "N", "another name of --size", NULL, &records, least, most},
        {"list", "FILE", "a file with the names of record files in Rodinia's format, one a line",
         &request->list, NULL, 0, 0},
        {"generate", "DIR", "write the generated records to this folder and keep them",
         &request->generate, NULL, 0, 0},
        {"neighbours", "K", "number of records to find (10)", NULL, &neighbours, 1,
         MOST_NEIGHBOURS},
        {"latitude", "X", "latitude of the place (30)", &latitude, NULL, 0, 0},
        {"longitude", "X", "longitude of the place (90)", &longitude, NULL, 0, 0},
        settings->has_ways ? with_ways : none,
        settings->has_devices ? with_devices : none,
        none,
    };
    request->resident = request->rounds = 1;
    settings->extra = extra;
    read_options(settings, argc, argv);
    settings->extra = NULL;
    if (records > 0) {
        settings->size = records;
        settings->sized = 1;
    }
    request->query.latitude = degrees(settings, "latitude", latitude, 30.0);
    request->query.longitude = degrees(settings, "longitude", longitude, 90.0);
    request->query.neighbours = (int)neighbours;
    check_request(settings, request);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void print_nearest(const struct nearest *nearest)
{
    for (int i = 0; i < nearest->count; i++)
        print_line(i == 0 ? "nearest" : "", "%s  %8.4f away", nearest->list[i].text,
                   sqrt(nearest->list[i].squared));
}

static int summary(const struct settings *settings, const struct request *request,
                   const struct nearest *nearest, const struct device_run *run,
                   const struct check *check)
{
    print_line(settings->program, "%lld records %s%s, near %g, %g", (long long)run->records,
               request->list != NULL ? "of " : "generated",
               request->list != NULL ? request->list : "", request->query.latitude,
               request->query.longitude);
    print_run(settings, run->launches, run->seconds);
    print_ways(&run->ways);
    print_nearest(nearest);
    return print_check(settings, check->wrong == 0 && check->records == run->records,
                       check->seconds, "%d of %d neighbours wrong, %lld records", check->wrong,
                       nearest->count, (long long)check->records);
}

static int search_list(const struct settings *settings, const struct request *request,
                       const char *list, search_function *search)
{
    struct nearest nearest = {.room = request->query.neighbours};
    struct device_run run = {.settings = settings, .device = settings->device,
                             .ways = {.way = settings->way}, .resident = request->resident != 0,
                             .rounds = request->rounds};
    struct check check = {0};
    nearest.list = calloc((size_t)nearest.room, sizeof *nearest.list);
    if (nearest.list == NULL) {
        fprintf(stderr, "%s: out of memory\n", settings->program);
        return 1;
    }
    int status = search(list, &request->query, &nearest, &run) == 0 ? 0 : 1;
    if (status == 0 && run.records == 0) {
        fprintf(stderr, "%s: %s: its files have no records\n", settings->program, list);
        status = 1;
    }
    sort_nearest(&nearest);
    if (status == 0 && settings->verify &&
        check_nearest(list, &request->query, &nearest, &check) != 0)
        status = 1;
    if (status == 0)
        status = summary(settings, request, &nearest, &run, &check);
    free(nearest.list);
    return status;
}

/* Generates records in the folder of --generate, or in a temporary folder, and searches them. */
static int search_made_up(const struct settings *settings, const struct request *request,
                          search_function *search)
{
    char list[PATH_LIMIT], folder[PATH_LIMIT];
    const char *place = getenv("TMPDIR");
    int temporary = request->generate == NULL;
    snprintf(folder, sizeof folder, "%s/librex-nn-XXXXXX",
             place != NULL && place[0] != '\0' ? place : "/tmp");
    if (temporary && mkdtemp(folder) == NULL) {
        fprintf(stderr, "%s: %s: %s\n", settings->program, folder, strerror(errno));
        return 1;
    }
    int status = make_records(temporary ? folder : request->generate, settings->size, list) == 0
                     ? search_list(settings, request, list, search)
                     : 1;
    if (temporary)
        remove_records(folder);
    return status;
}

int run_request(const struct settings *settings, const struct request *request,
                search_function *search)
{
    return request->list != NULL ? search_list(settings, request, request->list, search)
                                 : search_made_up(settings, request, search);
}
