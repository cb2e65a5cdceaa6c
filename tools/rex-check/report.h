/*
 * report.h - collects findings, which are mistakes, and notes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define WHY_MAX (PATH_MAX + 512) /* maximum size of a reason, which includes the path of a file */

/* X(constant, stable name for scripts, description) */
#define CHECK_FINDINGS(X)                                                                          \
    X(NO_ENTRIES, "no-entries", "there is no section of offload entries, or it is empty")          \
    X(ENTRY_OUTSIDE, "entry-outside", "an entry is not in the section of offload entries")         \
    X(SECTION_LENGTH, "section-length",                                                            \
      "the section's length is not a multiple of the size of an entry")                            \
    X(ENTRY_SIZE, "entry-size",                                                                    \
      "an entry has the wrong size or alignment, or its offset is not a multiple of the size of "  \
      "an entry")                                                                                  \
    X(ENTRY_EMPTY, "entry-empty", "an entry without a key or a name")                              \
    X(KEY_SYMBOL, "key-symbol",                                                                    \
      "an entry's key is neither a symbol whose name ends in id__ nor a key of clang's code")      \
    X(KEY_SHARED, "key-shared", "two entries have the same key")                                   \
    X(NAME_SHARED, "name-shared",                                                                  \
      "two entries have the same name; or, if a program's kernels and globals are divided among "  \
      "several images, two images have the same kernel or global")                                 \
    X(NAME_DRIFT, "name-drift",                                                                    \
      "an entry's symbol, key and kernel begin with different names, so one may be a mistake")     \
    X(HOST_KEY_DRIFT, "host-key-drift",                                                            \
      "a host key is in no entry, so a launch with it finds no kernel")                            \
    X(NO_KERNEL, "no-kernel", "an entry names a kernel or global that an image does not have")     \
    X(NO_ENTRY, "no-entry", "a kernel of an image is in no entry")                                 \
    X(GLOBAL_SIZE, "global-size",                                                                  \
      "a global has one size in the program and another size in an image")                         \
    X(MIXED_ARCHITECTURES, "mixed-architectures",                                                  \
      "separate CUBINs are for different GPUs, or a host image is for another processor")          \
    X(SIGNATURE, "signature",                                                                      \
      "a kernel's parameters in an image differ from those in the program or in another image")    \
    X(PARAMETER_WIDTH, "parameter-width", "a kernel has a parameter that is not 8 bytes wide")     \
    X(ENVIRONMENT, "environment",                                                                  \
      "symbol KERNEL_kernel_environment is neither 48 bytes (LLVM 18 to 22) nor 40 (23, 24)")      \
    X(INCLUDE, "include",                                                                          \
      "source: rex_kmp.h is included twice; or names of it are used, and it is included too late " \
      "or never")                                                                                  \
    X(INIT, "init",                                                                                \
      "source: rex_offload_init() is called twice; or the program measures time, and calls it "    \
      "too late or never")                                                                         \
    X(SECTION_ATTRIBUTE, "section-attribute", "source: an entry without its section attribute")

enum finding {
#define X(constant, name, meaning) FINDING_##constant,
    CHECK_FINDINGS(X)
#undef X
        FINDING_COUNT
};

/* Return the name and the description of FINDING. */
const char *finding_name(enum finding finding);
const char *finding_meaning(enum finding finding);

struct remark {
    bool note;
    enum finding finding; /* valid if `note` is false */
    char *object;         /* path of the file; for a source, with :LINE after it */
    char *text;
    char *nearest; /* the name that was probably meant, or NULL */
};

struct report {
    struct remark *remarks;
    size_t count, findings;
};

struct place {
    const char *path;
    size_t line;
};

/*
 * Add a remark. report_finding_at() adds a finding at a line of a source, report_finding() a
 * finding without a line, report_note() a note. OBJECT is copied. NEAREST may be NULL.
 */
void report_finding(struct report *report, enum finding finding, const char *object,
                    const char *nearest, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void report_finding_at(struct report *report, enum finding finding, struct place at,
                       const char *nearest, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void report_note(struct report *report, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_free(struct report *report);

/*
 * Print all remarks. report_print() writes one remark in each line, and the number of findings.
 * report_print_json() writes "findings": [...], "notes": [...] as members of an object.
 */
void report_print(const struct report *report, bool colour);
void report_print_json(const struct report *report);

#endif
