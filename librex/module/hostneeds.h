/*
 * hostneeds.h - checks what a host image needs of the process before libomptarget opens it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTNEEDS_H
#define REX_INTERNAL_HOSTNEEDS_H

#include <stddef.h>

/*
 * If the SIZE BYTES are a host image that uses OpenMP (rex/openmp.h), writes the maximum of threads
 * of a loop into it. The maximum is the number of processors for the process, or OMP_THREAD_LIMIT
 * if that is less. Does nothing if OMP_NUM_THREADS is set.
 */
void rex_host_limit_threads(unsigned char *bytes, size_t size);

/*
 * Opens the libraries that the host image in the SIZE BYTES needs. PATH is the image's name in
 * messages. The libraries stay open: LLVM 21 and later close an image when it is unregistered, but
 * threads of such a library may still run. Returns 0, or REX_EIMAGE if a library cannot be opened:
 * libomptarget would end the process.
 */
int rex_host_open_libraries(const unsigned char *bytes, size_t size, const char *path);

/*
 * Checks the image's versions and symbols after rex_host_open_libraries(). Returns 0, or REX_EIMAGE
 * if a library lacks a version, or nothing defines a symbol, that the loader needs to open the
 * image. Does not check an image that has its own run path.
 */
int rex_host_check_symbols(const unsigned char *bytes, size_t size, const char *path);

#endif
