/* What a code generator emits that includes no header of librex but rex/offload.h: a module of its own, with the image in it. */
#include <rex/offload.h>

struct entry {
    void *addr;
    const char *name;
    size_t size;
    int32_t flags, reserved;
};

extern char begin[] __asm__("__start_omp_offloading_entries"), end[] __asm__("__stop_omp_offloading_entries");

char plain__id__;
struct entry plain__omp_offload_entry__ __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
    &plain__id__, "plain__kernel__", 0, 0, 0};

static const unsigned char image[] = {
#include "image.h"
};

struct rex_module generated = {.struct_size = sizeof(struct rex_module),
                               .entries_begin = (struct __tgt_offload_entry *)begin,
                               .entries_end = (struct __tgt_offload_entry *)end,
                               .image_name = "not_looked_for.cubin",
                               .image = image,
                               .image_size = sizeof image};
