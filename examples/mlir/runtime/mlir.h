/*
 * mlir.h - librex-mlir: functions mgpu* on top of librex. Lowered code of MLIR's gpu dialect calls
 * these functions of a runtime. Names and parameters are those of LLVM 22. Functions for clusters,
 * tensor maps and sparse matrices are missing.
 *
 * Lowered code checks no result, so librex-mlir keeps the first error until a call of
 * rex_mlir_error(). Calls after an error still run, and may fail, too.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_MLIR_H
#define REX_MLIR_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/*
 * Returns the first error of any mgpu function since the last call of rex_mlir_error(): 0 or an
 * error of librex. *MESSAGE receives its text, with function, kernel and cause, or "" without an
 * error. The text is valid until the next call.
 */
int rex_mlir_error(const char **message);

struct rex_event;
struct rex_queue;
struct mlir_module;
struct mlir_function;

struct mlir_module *mgpuModuleLoad(void *image, size_t size);
struct mlir_module *mgpuModuleLoadJIT(void *ptx, int level);
void mgpuModuleUnload(struct mlir_module *module);
struct mlir_function *mgpuModuleGetFunction(struct mlir_module *module, const char *name);
void mgpuLaunchKernel(struct mlir_function *function, intptr_t grid_x, intptr_t grid_y,
                      intptr_t grid_z, intptr_t block_x, intptr_t block_y, intptr_t block_z,
                      int32_t shared_memory, struct rex_queue *stream, void **arguments,
                      void **extra, size_t count);
struct rex_queue *mgpuStreamCreate(void);
void mgpuStreamDestroy(struct rex_queue *stream);
void mgpuStreamSynchronize(struct rex_queue *stream);
void mgpuStreamWaitEvent(struct rex_queue *stream, struct rex_event *event);
struct rex_event *mgpuEventCreate(void);
void mgpuEventDestroy(struct rex_event *event);
void mgpuEventSynchronize(struct rex_event *event);
void mgpuEventRecord(struct rex_event *event, struct rex_queue *stream);
void *mgpuMemAlloc(uint64_t size, struct rex_queue *stream, unsigned char shared);
void mgpuMemFree(void *memory, struct rex_queue *stream);
void mgpuMemcpy(void *to, void *from, size_t size, struct rex_queue *stream);
void mgpuMemset32(void *to, unsigned value, size_t count, struct rex_queue *stream);
void mgpuMemset16(void *to, unsigned short value, size_t count, struct rex_queue *stream);
void mgpuMemHostRegister(void *address, uint64_t size);
void mgpuMemHostUnregister(void *address);
void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor, int64_t element);
void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor, int64_t element);

/*
 * Sets the device for new streams and modules of this thread, and for its calls without a stream.
 * Memory is on the device of its stream.
 */
void mgpuSetDefaultDevice(int32_t device);

#pragma GCC visibility pop

#endif
