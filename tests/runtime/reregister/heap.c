/*
 * What librex itself keeps on the heap: allocation functions called from librex.so are counted, by their return address.
 *
 * Under a sanitizer, which has functions of its own here, nothing is counted.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "heap.h"

#include "runtime/runtime.h"

#if SANITIZED

int heap_is_counted(void)
{
    return 0;
}

size_t heap_of_librex(void)
{
    return 0;
}

#else

#include <link.h>

/* glibc's own allocator under its other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

enum { SLOTS = 1 << 16 };

static struct {
    void *block;
    size_t size;
} blocks[SLOTS];
static size_t held;
static int lock;
static uintptr_t text_begin, text_end;

static int find_librex(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size, (void)context;
    if (strstr(object->dlpi_name, "librex.so") == NULL)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            text_begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            text_end = text_begin + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

int heap_is_counted(void)
{
    if (text_begin == 0)
        dl_iterate_phdr(find_librex, NULL);
    return text_begin != 0;
}

size_t heap_of_librex(void)
{
    return held;
}

static void take_lock(void)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        ;
}

static size_t slot_of(const void *block)
{
    return ((uintptr_t)block >> 4) * 0x9e3779b1u % SLOTS;
}

static void *note(void *block, size_t size, const void *caller)
{
    if (block == NULL || (uintptr_t)caller < text_begin || (uintptr_t)caller >= text_end)
        return block;
    take_lock();
    size_t at = slot_of(block);
    while (blocks[at].block != NULL)
        at = (at + 1) % SLOTS;
    blocks[at].block = block;
    blocks[at].size = size;
    held += size;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return block;
}

static void forget(void *block)
{
    if (block == NULL || text_begin == 0)
        return;
    take_lock();
    size_t at = slot_of(block);
    while (blocks[at].block != NULL && blocks[at].block != block)
        at = (at + 1) % SLOTS;
    if (blocks[at].block != NULL) {
        held -= blocks[at].size;
        blocks[at].block = NULL;
        /* Close the gap: what follows up to the next empty slot may have been pushed there by this one. */
        for (size_t next = (at + 1) % SLOTS; blocks[next].block != NULL; next = (next + 1) % SLOTS) {
            size_t home = slot_of(blocks[next].block);
            if ((next + SLOTS - home) % SLOTS >= (next + SLOTS - at) % SLOTS) {
                blocks[at] = blocks[next];
                blocks[next].block = NULL;
                at = next;
            }
        }
    }
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    return note(__libc_malloc(size), size, CALLER);
}

void *calloc(size_t count, size_t size)
{
    return note(__libc_calloc(count, size), count * size, CALLER);
}

void *realloc(void *block, size_t size)
{
    forget(block);
    return note(__libc_realloc(block, size), size, CALLER);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    forget(block);
    return note(__libc_realloc(block, count * size), count * size, CALLER);
}

char *strdup(const char *string)
{
    size_t size = strlen(string) + 1;
    char *copy = __libc_malloc(size);
    return copy != NULL ? note(memcpy(copy, string, size), size, CALLER) : NULL;
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

#endif
