/*
 * directives.h - the loops of the peers here: on a device, or with PEER_ON_CPU as plain `omp parallel for`, without the directives for data.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PEER_DIRECTIVES_H
#define PEER_DIRECTIVES_H

#define DIRECTIVE(...) _Pragma(#__VA_ARGS__)
#ifdef PEER_ON_CPU
#define LOOP(...) DIRECTIVE(omp parallel for)
#define TARGET(...)
#else
/* LOOP(clauses): in front of a loop; TARGET(directive): for data. */
#define LOOP(...) DIRECTIVE(omp target teams distribute parallel for __VA_ARGS__)
#define TARGET(...) DIRECTIVE(omp target __VA_ARGS__)
#endif

#endif
