/*
 * copying.h - large copies to and from a fake GPU with memory, which does nothing before somebody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_TESTS_UNIT_COPYING_H
#define REX_TESTS_UNIT_COPYING_H

#include <sys/mman.h>

#include "computing.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/queue.h"
#include "starting.h"

#define MIB ((size_t)1 << 20)

/* So many processors the machine has, where a test says so. */
static int processors;
int __real_rex_processors(const char *root);
int __wrap_rex_processors(const char *root);
int __wrap_rex_processors(const char *root)
{
    return processors > 0 ? processors : __real_rex_processors(root);
}

static char plain_id;
static struct __tgt_offload_entry entries[] = {{&plain_id, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {
    .struct_size = sizeof(struct rex_module), .entries_begin = entries, .entries_end = entries + 1, .image_name = "tests/data/sm_90.cubin"};

enum { MOST = 20 }; /* MiB */
static unsigned char *host, *back, *device;
static struct rex_queue *queue;

static inline void fill(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = (i + seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
    }
}

static inline unsigned char *new_bytes(size_t size)
{
    unsigned char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(bytes != MAP_FAILED);
    return bytes;
}

/* Where the fake keeps what is at a device address. */
static inline unsigned char *bytes_at_device(const void *address, size_t size)
{
    unsigned char *bytes = at_device((uintptr_t)address, size);
    CHECK(bytes != NULL);
    return bytes;
}

static inline void start(const char *order, const char *threads)
{
    setenv("FAKE_CUDA_MEMORY", "256", 1);
    setenv("FAKE_CUDA_ORDER", order, 1);
    setenv("REX_COPY_THREADS", threads, 1);
    use_gpu(90);
    use_release(19);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "staging", 0, NULL), REX_OK);
    CHECK(!rex_queue_is_synchronous(queue));
    device = rex_device_alloc(MOST * MIB + 1, 0);
    CHECK(device != NULL);
    host = new_bytes(MOST * MIB);
    back = new_bytes(MOST * MIB + 1);
}

static inline void finish(void)
{
    rex_device_free(device, 0);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
}

static inline bool is_all(const unsigned char *bytes, unsigned char value, size_t size)
{
    size_t i = 0;
    while (i < size && bytes[i] == value)
        i++;
    return i == size;
}

/* SIZE bytes from AT there and back; what is around them stays. */
static inline void there_and_back(size_t at, size_t size, unsigned seed)
{
    unsigned char *whole = bytes_at_device(device, MOST * MIB + 1);
    fill(host, at + size, seed);
    memset(whole, 0x11, at + size + 1);
    memset(back, 0x22, at + size + 1);
    CHECK_EQUAL(rex_queue_copy_to(queue, device + at, host + at, size), REX_OK);
    CHECK_EQUAL(rex_queue_copy_from(queue, back + at, device + at, size), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK(memcmp(whole + at, host + at, size) == 0 && memcmp(back + at, host + at, size) == 0);
    CHECK(at == 0 || (whole[at - 1] == 0x11 && back[at - 1] == 0x22));
    CHECK(whole[at + size] == 0x11 && back[at + size] == 0x22);
}

#endif
