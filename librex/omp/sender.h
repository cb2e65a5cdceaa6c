/*
 * sender.h - who sends a launch to a GPU: the CUDA driver, or libomptarget, and why.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SENDER_H
#define REX_INTERNAL_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(name, what it says). What stands against a launch by the driver: first what holds for the
 * process, then for the module and kernel, then for one launch. In a text, %s is what it is about.
 */
#define REX_AGAINST_LIST(X)                                                                     \
    X(ASKED, "%s=runtime")                                                                      \
    X(NO_DRIVER, "there is no NVIDIA GPU, or its driver is too old")                            \
    X(UNSEEN_CALLS,                                                                             \
      "the program is linked with libomptarget itself, so that librex does not see all calls")  \
    X(DISABLED, "offloading is disabled")                                                       \
    X(ENVIRONMENT, "%s is set, which libomptarget obeys")                                       \
    X(TOOL, "an OMPT tool is loaded")                                                           \
    X(UNIFIED, "a module requires unified shared memory")                                       \
    X(NOT_WAITED, "the program has made launches or data calls that are not waited for")        \
    X(NO_MEMORY, "there was no memory to keep launches and a data call apart")                  \
    X(DEVICE, "the device is no NVIDIA GPU")                                                    \
    X(GLOBALS, "its module has device globals, \"%s\" for one, which a second load would have " \
               "again")                                                                         \
    X(DEVICE_RUNTIME, "its module uses LLVM's device runtime: %s")                              \
    X(DEVICE_LIBRARY, "its module calls %s on the device")                                      \
    X(MODE, "libomptarget launches it as its execution mode says")                              \
    X(PARAMETERS, "the image does not tell its parameters")                                     \
    X(NOWAIT, "it is not waited for")                                                           \
    X(FLAGS, "its packet has flags that are libomptarget's")                                    \
    X(MAPPER, "a row has a mapper")                                                             \
    X(TYPE, "a row has a type that only libomptarget maps")                                     \
    X(ROWS, "its rows are not in order")                                                        \
    X(UNSEEN, "a row is mapped in part, or by what librex has not seen")                        \
    X(OVERLAP, "rows that are mapped for the launch overlap")                                   \
    X(CALLED, "the program calls libomptarget itself")

enum rex_against_number {
#define REX_AGAINST_NUMBER(name, text) REX_NUMBER_AGAINST_##name,
    REX_AGAINST_LIST(REX_AGAINST_NUMBER)
#undef REX_AGAINST_NUMBER
        REX_AGAINST_COUNT
};
enum rex_against {
#define REX_AGAINST_BIT(name, text) REX_AGAINST_##name = 1 << REX_NUMBER_AGAINST_##name,
    REX_AGAINST_LIST(REX_AGAINST_BIT)
#undef REX_AGAINST_BIT
};

/* All that stand as long as the module is registered. */
#define REX_AGAINST_LASTING ((unsigned)REX_AGAINST_NOWAIT - 1)

/* Where one of these stands there is no GPU that the driver could launch on. */
#define REX_AGAINST_NO_GPU \
    ((unsigned)(REX_AGAINST_NO_DRIVER | REX_AGAINST_DISABLED | REX_AGAINST_DEVICE))

/* What stands against the driver, and what a module's reason names. */
struct rex_reason {
    unsigned against;
    const char *about;
};

/* Who sends a launch AGAINST which so much stands. */
enum rex_sender { REX_SENDER_DRIVER, REX_SENDER_RUNTIME };
static inline enum rex_sender rex_sender_for(unsigned against)
{
    return against == 0 ? REX_SENDER_DRIVER : REX_SENDER_RUNTIME;
}

/*
 * libomptarget is bound: what stands against all launches of the process is looked for.
 * SEES_ALL: every call of the process's comes through librex.
 */
void rex_sender_bind(bool sees_all, bool disabled);

/* What stands against all launches of the process. */
unsigned rex_against_all(void);

/* Whether REX_LAUNCH_BY=driver: no launch may go by libomptarget. */
bool rex_driver_is_demanded(void);

/* From now on this stands as well. */
void rex_stand_against_all(unsigned against);

/* The first of REASON, in words. */
#define REX_REASON_MAX 256
void rex_reason_text(struct rex_reason reason, char text[REX_REASON_MAX]);

#endif
