/*
 * A program with offload entries as generated code has them; each mistake that rex-check names is one macro away. Shared objects are made
 * of it, so that the cases need no library; it is never run.
 */
#include <stddef.h>
#include <stdint.h>

struct entry {
    void *addr;
    const char *name;
    size_t size;
#ifndef SHORT_ENTRY
    int32_t flags, reserved;
#endif
};

struct new_entry {
    uint64_t zero;
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    const char *name;
    uint64_t size, data;
    void *auxiliary;
};

#ifndef ALIGNED
#define ALIGNED 8
#endif
#ifndef SECTION
#define SECTION __attribute__((section("omp_offloading_entries"), used, aligned(ALIGNED)))
#endif
#define ENTRY(symbol, key, name) struct entry symbol SECTION = {(void *)&key, name, 0}

int __tgt_target_kernel(int64_t device, int teams, int threads, void *key, void *args);

char axpy__id__ = 0;
char scale__id__ = 0;
#ifdef UNUSED
char unused__id__ = 0;
#endif

#ifdef FRONT
char front[FRONT] __attribute__((section("omp_offloading_entries"), used)) = {1};
#endif

#if defined NO_ENTRIES
#elif defined NEW_FORM
#ifndef NEW_SECTION
#define NEW_SECTION "llvm_offload_entries"
#endif
#define NEW_ENTRY(symbol, key, name)                                                                                   \
    struct new_entry symbol __attribute__((section(NEW_SECTION), used, aligned(8))) = {0, 1, 1, 0, (void *)&key, name, 0, 0, 0}
NEW_ENTRY(axpy__omp_offload_entry__, axpy__id__, "axpy__kernel__");
NEW_ENTRY(scale__omp_offload_entry__, scale__id__, "scale__kernel__");
#else
#ifdef WRONG_KEY
int launcher;
ENTRY(axpy__omp_offload_entry__, launcher, "axpy__kernel__");
#elif defined NO_SYMBOL
char block[16];
ENTRY(axpy__omp_offload_entry__, block[8], "axpy__kernel__");
#elif defined NO_NAME
ENTRY(axpy__omp_offload_entry__, axpy__id__, 0);
#elif defined OTHER_NAME
ENTRY(axpy__omp_offload_entry__, axpy__id__, "axpi__kernel__");
#elif defined OTHER_SYMBOL
ENTRY(axpi__omp_offload_entry__, axpy__id__, "axpy__kernel__");
#else
ENTRY(axpy__omp_offload_entry__, axpy__id__, "axpy__kernel__");
#endif
#ifdef ONE_KEY
ENTRY(scale__omp_offload_entry__, axpy__id__, "scale__kernel__");
#elif defined ONE_NAME
ENTRY(scale__omp_offload_entry__, scale__id__, "axpy__kernel__");
#elif defined OUTSIDE
struct entry scale__omp_offload_entry__ = {&scale__id__, "scale__kernel__", 0};
#elif !defined ONE_ENTRY
ENTRY(scale__omp_offload_entry__, scale__id__, "scale__kernel__");
#endif
#endif

#ifdef ELSEWHERE
extern char other__id__;
#define KEY other__id__
#elif defined DRIFT
static char axpv__id__ = 0;
#define KEY axpv__id__
#else
#define KEY axpy__id__
#endif

#ifdef GLOBAL
double table[GLOBAL];
struct entry table__entry SECTION = {&table, "table", sizeof table};
#endif

#ifdef BYTES
char padding[BYTES] __attribute__((section("omp_offloading_entries"), used)) = {1};
#endif

int launch(void)
{
    return __tgt_target_kernel(-1, 1, 1, &KEY, 0);
}

int launch_scaled(void)
{
    return __tgt_target_kernel(-1, 1, 1, &scale__id__, 0);
}
