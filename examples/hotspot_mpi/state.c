/*
 * state.c - the file for a restart: a head, then the temperatures of the whole chip, row by row, in
 * the format of memory. Each rank reads and writes its own rectangle.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "hotspot_mpi.h"

struct head {
    char magic[8];
    int64_t size, step;
};

static const char magic[8] = "hotspot";

static int complain(const struct part *part, const char *path, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (error != MPI_SUCCESS)
        MPI_Error_string(error, text, &length);
    if (part->rank == 0)
        fprintf(stderr, "hotspot_mpi: %s: %s%s\n", path, what, text);
    return -1;
}

/* Opens the file at @path, and sets its view to this rank's rectangle. */
static int open_state(const struct part *part, const char *path, int mode, MPI_File *file)
{
    const int whole[2] = {(int)part->chip.size, (int)part->chip.size};
    const int own[2] = {(int)part->cells.rows, (int)part->cells.columns};
    const int start[2] = {(int)part->cells.top, (int)part->cells.left};
    MPI_Datatype rectangle;
    int result = MPI_File_open(part->grid, path, mode, MPI_INFO_NULL, file);
    if (result != MPI_SUCCESS)
        return result;
    MPI_Type_create_subarray(2, whole, own, start, MPI_ORDER_C, MPI_DOUBLE, &rectangle);
    MPI_Type_commit(&rectangle);
    result = MPI_File_set_view(*file, sizeof(struct head), MPI_DOUBLE, rectangle, "native",
                               MPI_INFO_NULL);
    MPI_Type_free(&rectangle);
    if (result != MPI_SUCCESS)
        MPI_File_close(file);
    return result;
}

static int count_of(const struct part *part)
{
    return (int)(part->cells.rows * part->cells.columns);
}

/* Writes the head, on rank 0 and without MPI. All ranks then write their cells after the head. */
static int write_head(const char *path, const struct head *head)
{
    FILE *file = fopen(path, "wb");
    int failed = file == NULL || fwrite(head, sizeof *head, 1, file) != 1;
    return file != NULL && fclose(file) == 0 && !failed ? 0 : -1;
}

static int read_head(const char *path, struct head *head)
{
    FILE *file = fopen(path, "rb");
    int failed = file == NULL || fread(head, sizeof *head, 1, file) != 1;
    if (file != NULL)
        fclose(file);
    return failed || memcmp(head->magic, magic, sizeof magic) != 0 ? -1 : 0;
}

int state_write(const struct part *part, const char *path, const double *cells, int64_t step)
{
    struct head head = {.size = part->chip.size, .step = step};
    char unfinished[PATH_MAX];
    MPI_File file;
    MPI_Status status;
    memcpy(head.magic, magic, sizeof magic);
    if (snprintf(unfinished, sizeof unfinished, "%s.new", path) >= (int)sizeof unfinished)
        return complain(part, path, "the name is too long", MPI_SUCCESS);
    int failed = part->rank == 0 && write_head(unfinished, &head) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, part->grid);
    if (failed)
        return complain(part, unfinished, "cannot be written", MPI_SUCCESS);
    int result = open_state(part, unfinished, MPI_MODE_WRONLY, &file);
    if (result == MPI_SUCCESS) {
        result = MPI_File_write_all(file, cells, count_of(part), MPI_DOUBLE, &status);
        int closed = MPI_File_close(&file);
        result = result != MPI_SUCCESS ? result : closed;
    }
    MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, part->grid);
    if (result != MPI_SUCCESS)
        return complain(part, unfinished, "", result);
    failed = part->rank == 0 && rename(unfinished, path) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, part->grid);
    return failed ? complain(part, path, "cannot be replaced", MPI_SUCCESS) : 0;
}

int state_read(const struct part *part, const char *path, double *cells, int64_t *step)
{
    struct head head = {.size = 0};
    MPI_File file;
    MPI_Status status;
    int failed = part->rank == 0 && read_head(path, &head) != 0, count = 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, part->grid);
    MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, part->grid);
    if (failed)
        return complain(part, path, "cannot be read, or is not a state of this program",
                        MPI_SUCCESS);
    if (head.size != part->chip.size || head.step < 0)
        return complain(part, path, "has a chip of another size", MPI_SUCCESS);
    int result = open_state(part, path, MPI_MODE_RDONLY, &file);
    if (result != MPI_SUCCESS)
        return complain(part, path, "", result);
    result = MPI_File_read_all(file, cells, count_of(part), MPI_DOUBLE, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_File_close(&file);
    failed = result != MPI_SUCCESS || count != count_of(part);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, part->grid);
    *step = head.step;
    return failed ? complain(part, path, "ends too early", MPI_SUCCESS) : 0;
}
