/*
 * hostneeds.h - checks what a host image needs of the process before libomptarget opens it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTNEEDS_H
#define REX_INTERNAL_HOSTNEEDS_H

#include <stddef.h>

/*
 * If the SIZE BYTES are a host image that uses OpenMP (rex/openmp.h), writes the maximum number of
 * threads of a loop into the image. The maximum is the number of processors for the process, or
 * OMP_THREAD_LIMIT if this limit is less. Does nothing if OMP_NUM_THREADS is set.
 */
void rex_host_limit_threads(unsigned char *bytes, size_t size);

/*
 * Opens the libraries that the host image in the SIZE BYTES needs. PATH is the image's name in
 * messages. Fails with REX_EIMAGE if a library cannot be opened and the image has no run path of
 * its own, because libomptarget would then end the process. Otherwise returns 0. The libraries stay
 * open, because their threads, such as OpenMP's, may still run after LLVM 21 or later has closed
 * the unregistered image.
 */
int rex_host_open_libraries(const unsigned char *bytes, size_t size, const char *path);

/*
 * Checks that the libraries have the symbol versions, and define the symbols, that the image needs.
 * Call this after rex_host_open_libraries(). Returns REX_EIMAGE if a library lacks a version, or no
 * library defines a symbol: the loader could not open the image. Returns 0 in all other cases. Does
 * not check an image that has its own run path.
 */
int rex_host_check_symbols(const unsigned char *bytes, size_t size, const char *path);

#endif
