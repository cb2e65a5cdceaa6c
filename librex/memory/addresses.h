/*
 * addresses.h - device addresses of mapped memory, remembered.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADDRESSES_H
#define REX_INTERNAL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REX_SPANS 64     /* mappings */
#define REX_SECTIONS 256 /* sections of them */
#define REX_DEVICE_RANGES 16

/* Mapped memory that was found on a device, whole and in one piece. */
struct rex_mapped_span {
    uintptr_t begin, end;
    uintptr_t shift;     /* from host to device address */
    uint64_t generation; /* of the mappings, when that was so; 0: none */
    bool used;           /* by work that may be unfinished */
};

/* Of one queue or graph, whose lock keeps threads apart. All zeros to begin with. */
struct rex_spans {
    struct rex_mapped_span span[REX_SPANS];
    struct {
        uintptr_t begin;
        size_t size;
        uintptr_t device;
        uint64_t generation;
        uint32_t span;
    } recent[REX_SECTIONS];
    struct {
        uint64_t begin, end;
    } range[REX_DEVICE_RANGES]; /* device memory that work names by itself and may still use */
    uint32_t ranges;
    uint32_t next;
    bool lost; /* a span in use had to make room for another: anything may be in use */
};

/* Slow: asks libomptarget. 0: the memory is not mapped whole on device NUMBER. */
uintptr_t rex_spans_look_up(struct rex_spans *spans, uintptr_t begin, size_t size, int number,
                            uint64_t generation);

/* The place in `recent` of a section that begins at AT. */
static inline size_t rex_spans_place(uintptr_t at)
{
    return ((at >> 4) ^ (at >> 12) ^ (at >> 20)) % REX_SECTIONS;
}

/*
 * Device address of SIZE bytes at BEGIN in GENERATION of the mappings, 0 if they are not mapped
 * whole. Marks their span as used.
 */
static inline uintptr_t rex_spans_find(struct rex_spans *spans, const void *begin, size_t size,
                                       int number, uint64_t generation)
{
    uintptr_t at = (uintptr_t)begin;
    size_t place = rex_spans_place(at);
    if (__builtin_expect(spans->recent[place].begin == at && spans->recent[place].size >= size &&
                             spans->recent[place].generation == generation,
                         1)) {
        spans->span[spans->recent[place].span].used = true;
        return spans->recent[place].device;
    }
    return rex_spans_look_up(spans, at, size, number, generation);
}

/* The generation to look in: the present one, or one that nothing was ever found in. */
uint64_t rex_spans_generation(bool remember);

/* Marks SIZE bytes of device memory at BEGIN, an address that did not come from here, as used. */
void rex_spans_use_range(struct rex_spans *spans, uint64_t begin, size_t size);

/*
 * Are SIZE bytes of the host at BEGIN (NULL: anything), or what they are mapped to on device
 * NUMBER, marked as used? Take the marks off; put those of FROM on TO, too.
 */
bool rex_spans_in_use(const struct rex_spans *spans, const void *begin, size_t size, int number);
void rex_spans_release(struct rex_spans *spans);
void rex_spans_use(struct rex_spans *to, const struct rex_spans *from);

/* Whether all that was found is still mapped, and where it was; what is, is known in GENERATION. */
enum rex_spans_change { REX_SPANS_SAME, REX_SPANS_MOVED, REX_SPANS_GONE };
enum rex_spans_change rex_spans_renew(struct rex_spans *spans, int number, uint64_t generation);

#endif
