/*
 * peer.h - the example programs on something else than librex, so that their times can be compared: their sources are linked unchanged
 * with librex.c here, which has the functions of librex that they call, and with one of
 *
 *     stock.c    libomptarget, called as REX's own helper calls it
 *     driver.c   the CUDA driver: the limit
 *     openmp-cpu.c  the same kernels as functions, with `omp parallel for`
 *     openmp.c   a compiler's own OpenMP; the program's offload.c is replaced by openmp/PROGRAM.c
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

#include "rex/launch.h"

/* The rows of a launch or of a data call. */
struct peer_rows {
    int32_t count;
    void **base;
    void **begin;
    int64_t *sizes;
    int64_t *types;
    void **mappers;
};

enum peer_data { PEER_BEGIN, PEER_END, PEER_UPDATE };

/* What each of the three offers. 0, or -1 after a line on stderr. */
int peer_open(const struct rex_module *module);
int peer_launch(const void *key, const uint32_t *teams, const uint32_t *threads, uint32_t dynamic_memory, uint64_t trip_count,
                const struct peer_rows *rows);
int peer_data(enum peer_data what, const struct peer_rows *rows);
const char *peer_name(void);

/* The image beside the executable, or PEER_IMAGE, in memory that stays; NULL after a line on stderr. */
void *peer_image(const struct rex_module *module, size_t *size);

/* A line on stderr; -1. */
__attribute__((format(printf, 1, 2))) int peer_fail(const char *format, ...);

#endif
