/*
 * nn_raw - windowed launches, as a compiler writes them.
 *
 * A source-to-source compiler generates this code for
 *
 *     #pragma omp target teams distribute parallel for \
 *             map(to: lat[0:rec_count], lng[0:rec_count]) map(from: z[0:rec_count])
 *     for (int i = 0; i < rec_count; i++)
 *         ...
 *
 * in a loop that reads ten records at a time. The generated code needs only rex_kmp.h: key and
 * entry are plain objects, columns are braced local arrays, and the packet is filled by position.
 * The compiler calls rex_offload_init() before code that reads the clock, so that no time includes
 * it. examples/nn is this program with librex's macros, and has all other parts.
 *
 * Run it:  make && $(make -s print-O)/examples/nn_raw/nn_raw --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex_kmp.h"

#include "../nn/nn.h"

char OUT__1__distances__33__id__ = 0;
struct __tgt_offload_entry OUT__1__distances__33__omp_offload_entry__
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    (void *)&OUT__1__distances__33__id__, (char *)"OUT__1__distances__33__kernel__", 0, 0, 0};

/* ---- generated code of the function with the directive --------------------------------------- */

/* Types of rows: 33 to, 34 from, both parameters; 288 a literal that is a parameter. */
static int distances(int device, int rec_count, double target_lat, double target_long, double *lat,
                     double *lng, double *z)
{
    int __launched = 0;
    {
        int64_t __device_id = device;
        int64_t __tripcount = rec_count;
        int _threads_per_block_ = 128;
        int _num_blocks_ = (int)((__tripcount + 127) / 128);
        void *__host_ptr = (void *)&OUT__1__distances__33__id__;
        void *__rex_packed_literal_arg_0 = rex_pack_literal_arg_bytes(&rec_count, sizeof(int));
        void *__rex_packed_literal_arg_1 = rex_pack_literal_arg_bytes(&target_lat, sizeof(double));
        void *__rex_packed_literal_arg_2 = rex_pack_literal_arg_bytes(&target_long, sizeof(double));
        void *__args_base[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1,
                               __rex_packed_literal_arg_2, lat, lng, z};
        void *__args[] = {__rex_packed_literal_arg_0, __rex_packed_literal_arg_1,
                          __rex_packed_literal_arg_2, lat + 0, lng + 0, z + 0};
        int64_t __arg_sizes[] = {(int64_t)sizeof(int), (int64_t)sizeof(double),
                                 (int64_t)sizeof(double), (int64_t)sizeof(double) * rec_count,
                                 (int64_t)sizeof(double) * rec_count,
                                 (int64_t)sizeof(double) * rec_count};
        int64_t __arg_types[] = {288, 288, 288, 33, 33, 34};
        int __arg_num = 6;
        struct __tgt_kernel_arguments __kernel_args = {
            3, __arg_num, __args_base, __args, __arg_sizes, __arg_types, 0, 0, (int64_t)__tripcount,
            0, {_num_blocks_, 1, 1}, {_threads_per_block_, 1, 1}, 0};
        __launched = __tgt_target_kernel(__device_id, _num_blocks_, _threads_per_block_, __host_ptr,
                                         &__kernel_args);
    }
    return __launched;
}

/* ---- the rest of the user's program ---------------------------------------------------------- */

static int search_records(struct records *records, const struct query *query,
                          struct nearest *nearest, struct device_run *run)
{
    char sandbox[WINDOW][RECORD_LENGTH];
    struct place places[WINDOW];
    double lat[WINDOW], lng[WINDOW], z[WINDOW];
    int rec_count;
    while ((rec_count = read_window(records, sandbox, places)) > 0) {
        for (int i = 0; i < rec_count; i++) {
            lat[i] = places[i].latitude;
            lng[i] = places[i].longitude;
        }
        double began = seconds_now();
        int result =
            distances(run->device, rec_count, query->latitude, query->longitude, lat, lng, z);
        run->seconds += seconds_now() - began;
        run->launches++;
        if (result != 0 && rex_last_error_code() == REX_OK) /* librex prints errors */
            fputs("nn_raw: there is no device to launch on\n", stderr);
        if (result != 0)
            return -1;
        for (int i = 0; i < rec_count; i++)
            offer(nearest, run->records++, sandbox[i], z[i]);
    }
    return rec_count;
}

static int search(const char *list, const struct query *query, struct nearest *nearest,
                  struct device_run *run)
{
    struct records records;
    if (open_records(&records, list) != 0)
        return -1;
    int result = search_records(&records, query, nearest, run);
    close_records(&records);
    return result;
}

int main(int argc, char **argv)
{
    struct settings settings = {
        .program = "nn_raw",
        .purpose = "Finds the records that are nearest to a place, on a device of libomptarget.\n"
                   "The program's source has the form of a code generator's output.",
        .unit = "generated records",
        .size = 42764,
        .smallest = 1,
        .largest = 100000000,
    };
    struct request request = {.list = NULL};
    parse_request(&settings, &request, argc, argv);
    if (rex_offload_init() != 0 || check_device(&settings) != 0)
        return 1;
    return run_request(&settings, &request, search);
}
