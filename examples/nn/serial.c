/*
 * serial.c - nn on the host: the reference for the check. It shares no code with the device run: it
 * reads the files with sscanf(), computes all distances, and sorts them.
 *
 * Host and device may choose different records of equal distance, so the check compares distances.
 * It also computes the distance of each record that the device run chose.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nn.h"

/* A distance is at most a few hundred degrees, rounded to 1e-13. */
#define TOLERANCE 1e-9

struct distances {
    double *of; /* by the record's number */
    int64_t count;
    int64_t room;
};

static int append(struct distances *distances, double distance)
{
    if (distances->count == distances->room) {
        int64_t room = distances->room > 0 ? 2 * distances->room : 4096;
        double *more = realloc(distances->of, (size_t)room * sizeof *more);
        if (more == NULL)
            return -1;
        distances->of = more;
        distances->room = room;
    }
    distances->of[distances->count++] = distance;
    return 0;
}

static int measure_file(FILE *file, const struct query *query, struct distances *distances)
{
    char line[RECORD_LENGTH + 2];
    double latitude, longitude;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%*27c%5lf %5lf", &latitude, &longitude) != 2 ||
            append(distances, hypot(latitude - query->latitude, longitude - query->longitude)) != 0)
            return -1;
    return ferror(file) ? -1 : 0;
}

static int measure_list(FILE *list, const struct query *query, struct distances *distances)
{
    char path[PATH_LIMIT];
    int result = 0;
    while (result == 0 && fscanf(list, " %1023[^\r\n]", path) == 1) {
        FILE *file = fopen(path, "r");
        result = file != NULL ? measure_file(file, query, distances) : -1;
        if (file != NULL)
            fclose(file);
    }
    return result;
}

static int measure(const char *path, const struct query *query, struct distances *distances)
{
    FILE *list = fopen(path, "r");
    int result = list != NULL ? measure_list(list, query, distances) : -1;
    if (list != NULL)
        fclose(list);
    if (result != 0)
        fprintf(stderr, "nn: %s: the serial run cannot read it, or is out of memory\n", path);
    return result;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns 1 if neighbour @which differs from all before it, and its distance is right. */
static int is_right(const struct nearest *nearest, int which, const struct distances *distances)
{
    const struct neighbour *neighbour = &nearest->list[which];
    for (int i = 0; i < which; i++)
        if (nearest->list[i].number == neighbour->number)
            return 0;
    return neighbour->number < distances->count &&
           fabs(sqrt(neighbour->squared) - distances->of[neighbour->number]) <= TOLERANCE;
}

static int count_wrong(const struct nearest *nearest, struct distances *distances)
{
    int wrong = 0;
    for (int i = 0; i < nearest->count; i++)
        wrong += !is_right(nearest, i, distances);
    qsort(distances->of, (size_t)distances->count, sizeof *distances->of, compare);
    for (int i = 0; i < nearest->count && i < distances->count; i++)
        wrong += !(fabs(sqrt(nearest->list[i].squared) - distances->of[i]) <= TOLERANCE);
    int64_t expected = nearest->room < distances->count ? nearest->room : distances->count;
    return nearest->count == expected ? wrong : wrong + 1;
}

int check_nearest(const char *list, const struct query *query, const struct nearest *nearest,
                  struct check *check)
{
    struct distances distances = {0};
    double began = seconds_now();
    int result = measure(list, query, &distances);
    if (result == 0)
        check->wrong = count_wrong(nearest, &distances);
    check->records = distances.count;
    check->seconds = seconds_now() - began;
    free(distances.of);
    return result;
}
