/*
 * raw.c - entries as a compiler writes them out, with no attribute but the section.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "entries.h"

char OUT__2__smooth__20__id__ = 0;
struct __tgt_offload_entry OUT__2__smooth__20__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__2__smooth__20__id__, (char *)"OUT__2__smooth__20__kernel__", 0, 0, 0};

char OUT__3__smooth__31__id__ = 0;
struct __tgt_offload_entry OUT__3__smooth__31__omp_offload_entry__ __attribute__((section("omp_offloading_entries"))) = {
    (void *)&OUT__3__smooth__31__id__, (char *)"OUT__3__smooth__31__kernel__", 0, 0, 0};
