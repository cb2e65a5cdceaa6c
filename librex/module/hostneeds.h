/*
 * hostneeds.h - what a host image needs of the process before libomptarget opens it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTNEEDS_H
#define REX_INTERNAL_HOSTNEEDS_H

#include <stddef.h>

/*
 * Write into the SIZE BYTES, where they are a host image that uses OpenMP (rex/openmp.h), how many
 * threads a loop may have: what the process may use, unless OMP_NUM_THREADS says another number.
 */
void rex_host_limit_threads(unsigned char *bytes, size_t size);

/*
 * Open the libraries that the host image needs, the SIZE BYTES, which messages call PATH. They stay
 * open: LLVM 21 and later close an image when it is unregistered, and threads of such a library may
 * still run. 0, or REX_EIMAGE where one cannot be opened: libomptarget would stop the process.
 */
int rex_host_open_libraries(const unsigned char *bytes, size_t size, const char *path);

/*
 * Then: 0, or REX_EIMAGE where a library lacks a version, or nothing defines a symbol, that the
 * loader wants before the image is open. An image with a run path of its own is not looked into.
 */
int rex_host_check_symbols(const unsigned char *bytes, size_t size, const char *path);

#endif
