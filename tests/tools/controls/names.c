/* names.c - a key, a name and an entry for names that command a terminal.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define NAME(text) text##__kernel__
struct entry {
    void *key;
    const char *name;
    unsigned long size;
    int flags, reserved;
};
char key__id__ __asm__("aXXXXXXXb__id__");
struct entry one __asm__("aXXXXXXXb__omp_offload_entry__")
    __attribute__((section("omp_offloading_entries"), used, aligned(8))) = {
        &key__id__, "aXXXXXXXb__kernel__", 0, 0, 0};
void *launch(void)
{
    return &key__id__;
}
