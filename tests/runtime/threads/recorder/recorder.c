/*
 * A stand-in for libomptarget that passes every call on and counts three kinds. recorder.sh compiles it for each release.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* NAME(label, symbol) for each exported function: a slot, and a jump through it. */
#if defined(__x86_64__)
#define JUMP(slot) "jmp *" slot "(%rip)\n"
#define LANDING "endbr64\n"
#elif defined(__aarch64__)
#define JUMP(slot) "adrp x16, " slot "\nldr x16, [x16, :lo12:" slot "]\nbr x16\n"
#define LANDING "bti c\n"
#endif
#define NAME(label, symbol)                                                                                            \
    __attribute__((visibility("hidden"))) void *slot_##symbol;                                                         \
    __asm__(".text\n.globl " #label "\n.type " #label ", %function\n" #label ":\n" LANDING JUMP("slot_" #symbol)       \
            ".size " #label ", .-" #label "\n");
#include "names.h"
#undef NAME

static const struct {
    const char *name;
    void **slot;
} slots[] = {
#define NAME(label, symbol) {#symbol, &slot_##symbol},
#include "names.h"
#undef NAME
};

__attribute__((constructor)) static void open_real(void)
{
    void *real = dlopen(REAL, RTLD_NOW | RTLD_GLOBAL);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        *slots[i].slot = real != NULL ? dlsym(real, slots[i].name) : NULL;
        if (*slots[i].slot == NULL) {
            fprintf(stderr, "recorder: %s: %s\n", slots[i].name, dlerror());
            exit(1);
        }
    }
}

/* ---- what is counted ---------------------------------------------------------------------------------------------------------- */

struct recorder_counts {
    int registered, unregistered, launched;
};
struct recorder_counts recorder_counts;

static void count(int *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

#define WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f
#define PASS a, b, c, d, e, f

/* The descriptor. */
void recorded___tgt_register_lib(void *descriptor);
void recorded___tgt_unregister_lib(void *descriptor);
void __tgt_register_lib(void *descriptor);
void __tgt_unregister_lib(void *descriptor);

void __tgt_register_lib(void *descriptor)
{
    count(&recorder_counts.registered);
    recorded___tgt_register_lib(descriptor);
}

void __tgt_unregister_lib(void *descriptor)
{
    count(&recorder_counts.unregistered);
    recorded___tgt_unregister_lib(descriptor);
}

/* ident, device, teams, threads, key, packet: six words. LLVM 14 has the older call, with six more on the stack. */
#ifdef HAS__tgt_target_kernel
int recorded___tgt_target_kernel(WORDS);
int __tgt_target_kernel(WORDS);
int __tgt_target_kernel(WORDS)
{
    count(&recorder_counts.launched);
    return recorded___tgt_target_kernel(PASS);
}
#endif

#define MORE uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l
#define PASS_MORE g, h, i, j, k, l
int recorded___tgt_target_teams_mapper(WORDS, MORE);
int __tgt_target_teams_mapper(WORDS, MORE);
int __tgt_target_teams_mapper(WORDS, MORE)
{
    count(&recorder_counts.launched);
    return recorded___tgt_target_teams_mapper(PASS, PASS_MORE);
}
