/*
 * backend.h - the backend of a launch on a GPU: the CUDA driver or libomptarget, and the fallback
 * reasons, which select libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BACKEND_H
#define REX_INTERNAL_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(name, text) for each fallback reason: a reason why libomptarget launches in place of the
 * driver. The reasons of the process come first, then the reasons of the module and the kernel,
 * then the reasons of one launch. %s in a text stands for a name, for example the name of the
 * variable that causes the reason.
 */
#define REX_REASON_LIST(X)                                                                      \
    X(ASKED, "%s=runtime")                                                                      \
    X(NO_DRIVER, "there is no NVIDIA GPU, or its driver is too old")                            \
    X(UNSEEN_CALLS,                                                                             \
      "the loader finds libomptarget's __tgt_* functions before librex's: link librex.so "      \
      "first, or link librex.a with -rdynamic, or open librex.so with RTLD_GLOBAL")             \
    X(DISABLED, "offloading is disabled")                                                       \
    X(OLD_DRIVER, "the CUDA driver is older than CUDA 11.4")                                    \
    X(ENVIRONMENT, "%s is set, which libomptarget obeys")                                       \
    X(TOOL, "an OMPT tool is loaded")                                                           \
    X(UNIFIED, "a module requires unified shared memory")                                       \
    X(NOT_WAITED, "the program has made asynchronous (nowait) calls with mappers")              \
    X(NO_MEMORY, "memory ran out for librex's table of mappings")                               \
    X(DEVICE, "the device is not an NVIDIA GPU")                                                \
    X(GLOBALS, "the kernel's module has device globals, such as \"%s\", and the CUDA driver "   \
               "would load a second copy of them")                                              \
    X(DEVICE_RUNTIME, "the kernel's module uses LLVM's device runtime: %s")                     \
    X(DEVICE_LIBRARY, "the kernel's module calls %s on the device")                             \
    X(MODE, "only libomptarget launches kernels of this execution mode")                        \
    X(PARAMETERS, "the image does not describe the kernel's parameters")                        \
    X(NOWAIT, "the launch is asynchronous (nowait)")                                            \
    X(FLAGS, "the launch's packet has flags that only libomptarget knows")                      \
    X(MAPPER, "a row has a mapper")                                                             \
    X(TYPE, "a row has a type that only libomptarget maps")                                     \
    X(ROWS, "a column or a row's address is NULL, a row's size is negative or too large, or a " \
            "private row is empty")                                                             \
    X(LOOSE, "an asynchronous or failed call has used the memory of a row")                     \
    X(UNSEEN, "a row is mapped in part, or was mapped by a call that librex did not see")       \
    X(OVERLAP, "the launch would map rows that overlap")                                        \
    X(BESIDE, "another launch, which libomptarget makes, uses the memory of a row at the same " \
              "time")                                                                           \
    X(NESTED, "another thread uses the memory of a row, and this launch cannot wait, because "  \
              "it was made inside a call, for example in a mapper")                             \
    X(CALLED, "the program calls libomptarget itself")

enum rex_reason_number {
#define REX_REASON_NUMBER(name, text) REX_REASON_NUMBER_##name,
    REX_REASON_LIST(REX_REASON_NUMBER)
#undef REX_REASON_NUMBER
        REX_REASON_COUNT
};
enum rex_reason_bit {
#define REX_REASON_BIT(name, text) REX_REASON_##name = 1 << REX_REASON_NUMBER_##name,
    REX_REASON_LIST(REX_REASON_BIT)
#undef REX_REASON_BIT
};

/* If a launch has one of these reasons, the driver has no GPU for the launch. */
#define REX_REASON_NO_GPU \
    ((unsigned)(REX_REASON_NO_DRIVER | REX_REASON_DISABLED | REX_REASON_DEVICE))

/*
 * If the process has one of these reasons, libomptarget may report its launches and copies to the
 * user. So libomptarget makes all launches and copies except those in queues.
 */
#define REX_REASON_REPORTS ((unsigned)(REX_REASON_ENVIRONMENT | REX_REASON_TOOL))

/*
 * A set of reasons: `mask` has bits of enum rex_reason_bit. `about` is the text for %s in a reason
 * of the module (REX_REASON_LIST), for example the name of a device global.
 */
struct rex_reason {
    unsigned mask;
    const char *about;
};

/*
 * Sets the fallback reasons of the process. Call this when libomptarget is bound. SEES_ALL is true
 * if all calls of libomptarget in the process come through librex. DISABLED is true if offloading
 * is disabled.
 */
void rex_backend_bind(bool sees_all, bool disabled);

/*
 * The fallback reasons of the process. The bit REX_DRIVER_IS_DEMANDED is set if REX_LAUNCH_BY is
 * `driver`.
 */
extern unsigned rex_backend_state;
#define REX_DRIVER_IS_DEMANDED (1u << REX_REASON_COUNT)
_Static_assert(REX_REASON_COUNT < 31, "the reasons and one more bit");
static inline unsigned rex_process_reasons(void)
{
    return __atomic_load_n(&rex_backend_state, __ATOMIC_SEQ_CST) & (REX_DRIVER_IS_DEMANDED - 1);
}

/* Returns true if REX_LAUNCH_BY is `driver`. In this case libomptarget must not launch. */
static inline bool rex_driver_is_demanded(void)
{
    return (__atomic_load_n(&rex_backend_state, __ATOMIC_ACQUIRE) & REX_DRIVER_IS_DEMANDED) != 0;
}

/* Adds fallback reasons of the process. */
static inline void rex_add_process_reasons(unsigned reasons)
{
    __atomic_fetch_or(&rex_backend_state, reasons, __ATOMIC_SEQ_CST);
}

/* Writes the text of the first reason in REASON to TEXT. */
#define REX_REASON_MAX 256
void rex_reason_text(struct rex_reason reason, char text[REX_REASON_MAX]);

#endif
