/* recorder.h - writes down what crosses the boundary to libomptarget. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ORACLE_RECORDER_H
#define ORACLE_RECORDER_H

#include <stddef.h>
#include <stdint.h>

/* The four columns, and for each row whether it has a mapper: MAPPERS may be NULL. */
struct columns {
    int32_t count;
    void **base, **begin;
    int64_t *sizes, *types;
    void **mappers;
};

/* Append the record to FILE; what is recorded from here on belongs to SHAPE. */
void recorder_open(const char *file, const char *shape);
void recorder_close(void);

/* Give SIZE bytes at ADDRESS a name: addresses are written as a distance from the object that they lie in. */
void recorder_object(const char *name, const void *address, size_t size);

/* Write down what the program has computed. */
void recorder_result(const char *name, const void *data, size_t size);

/* Write a line of the shape's own: something went wrong. */
void recorder_complaint(const char *text);

/*
 * From here on, what the mapper of a row pushes is written in the place of that row, as a map that was expanded before the call has it.
 */
void recorder_expand(void);

/*
 * A call: open it before the real one and close it after, because the real one calls mappers, which push components. WHAT: "kernel",
 * "begin", "end", "update"; LEADING: the runtime puts a parameter of its own before those of the rows.
 */
void recorder_call(const char *what, int nowait, int leading, const struct columns *columns);
void recorder_call_done(void);
/* The mapper begins an element, COMPONENTS being there; it pushes a component, which gets the number POSITION. */
void recorder_element(int64_t components);
void recorder_component(int64_t position, void *base, void *begin, int64_t size, int64_t type);

#endif
