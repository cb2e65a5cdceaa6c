/*
 * recorder.c - writes down what crosses the boundary to libomptarget, in words that do not depend on where things lie in memory.
 *
 * A line for a call, one for each of its rows and, behind a row with a mapper, one for each component that the mapper pushed:
 *
 *     kernel parameters 2
 *       row a+0 a+0 32 0x21
 *       row =0x5 =0x5 4 0x120
 *       row s+0 s+0 48 0x20 mapper
 *         mapper called
 *         component s+0 s+0 16 0x3
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTER 0x10
#define PARAMETER 0x20
#define LITERAL 0x100
#define IMPLICIT 0x200
#define OBJECTS_MAX 32
#define COMPONENTS_MAX 256

struct object {
    const char *name;
    uintptr_t begin, size;
};

struct row {
    void *base, *begin;
    int64_t size, type;
};

static FILE *record;
static int expanding;
static struct object objects[OBJECTS_MAX];
static size_t object_count;

/* The call that is going on, and what the mappers of its rows have pushed so far. */
static struct {
    int open;
    const char *what;
    int nowait, leading, count;
    struct row rows[COMPONENTS_MAX];
    int has_mapper[COMPONENTS_MAX];
    struct row components[COMPONENTS_MAX];
    int positions[COMPONENTS_MAX]; /* each component's number in its mapper's call; parents are named by that */
    int elements[COMPONENTS_MAX];  /* the number of components when its element began */
    int component_count, element;
} call;

static void give_up(const char *why)
{
    fprintf(stderr, "recorder: %s\n", why);
    exit(2);
}

void recorder_open(const char *file, const char *shape)
{
    record = fopen(file, "a");
    if (record == NULL)
        give_up("cannot write the record");
    fprintf(record, "shape %s\n", shape);
}

void recorder_close(void)
{
    fputs("end of shape\n", record);
    fclose(record);
}

void recorder_object(const char *name, const void *address, size_t size)
{
    if (object_count == OBJECTS_MAX)
        give_up("too many objects");
    objects[object_count++] = (struct object){name, (uintptr_t)address, size};
}

void recorder_expand(void)
{
    expanding = 1;
}

void recorder_complaint(const char *text)
{
    fprintf(record, "complaint: %s\n", text);
}

void recorder_result(const char *name, const void *data, size_t size)
{
    const unsigned char *byte = data;
    fprintf(record, "result %s", name);
    for (size_t i = 0; i < size; i++)
        fprintf(record, "%s%02x", i % 4 == 0 ? " " : "", byte[i]);
    fputc('\n', record);
}

/* ---- addresses -------------------------------------------------------------------------------------------------------- */

/* The smallest object that ADDRESS lies in; an array's end belongs to it where nothing else is there. */
static const struct object *object_at(uintptr_t address)
{
    const struct object *best = NULL;
    for (const struct object *o = objects; o < objects + object_count; o++)
        if (address >= o->begin && address - o->begin < o->size && (best == NULL || o->size < best->size))
            best = o;
    for (const struct object *o = objects; best == NULL && o < objects + object_count; o++)
        if (address == o->begin + o->size)
            best = o;
    return best;
}

static void put_address(const void *pointer)
{
    const struct object *o = object_at((uintptr_t)pointer);
    if (pointer == NULL)
        fputs(" 0", record);
    else if (o == NULL)
        fputs(" elsewhere", record);
    else
        fprintf(record, " %s+%zu", o->name, (size_t)((uintptr_t)pointer - o->begin));
}

/* A compiler may leave anything in the bytes above a literal's own. */
static void put_literal(const void *pointer, int64_t size)
{
    uint64_t value = (uint64_t)(uintptr_t)pointer;
    if (size < 8)
        value &= (UINT64_C(1) << (8 * size)) - 1;
    if (size == 8 && object_at(value) != NULL)
        put_address(pointer);
    else
        fprintf(record, " =0x%llx", (unsigned long long)value);
}

/* ---- calls -------------------------------------------------------------------------------------------------------------- */

/* A parent is named by the number of rows back to it: that does not depend on what was pushed before. */
static void put_parent(const struct row *row, int number, const struct row *table, int element)
{
    int parent = (int)((uint64_t)row->type >> 48) - 1;
    if (parent < 0)
        return;
    if (parent < element)
        fputs(" member of the row before its element", record);
    else if (parent < number && table[parent - number].type & IMPLICIT)
        fputs(" member of the section", record);
    else
        fprintf(record, " member of %d back", number - parent);
}

static void put_row(const char *indent, const struct row *row, int number, int element)
{
    fputs(indent, record);
    if (row->type & LITERAL && !(row->type & POINTER)) {
        put_literal(row->base, row->size);
        put_literal(row->begin, row->size);
    } else {
        put_address(row->base);
        put_address(row->begin);
    }
    /* What librex's macros tell of a value's type is in bits that no release reads. */
    fprintf(record, " %lld 0x%llx", (long long)row->size, (unsigned long long)row->type & (row->type & LITERAL ? 0xfff0ffffffff : 0xffffffffffff));
    put_parent(row, number, row, element);
}

void recorder_call(const char *what, int nowait, int leading, const struct columns *columns)
{
    if (columns->count > COMPONENTS_MAX)
        give_up("too many rows");
    call.open = 1;
    call.what = what;
    call.nowait = nowait;
    call.leading = leading;
    call.count = columns->count;
    call.component_count = 0;
    /* The call may write into the columns: they are copied before it. */
    for (int i = 0; i < columns->count; i++) {
        call.rows[i] = (struct row){columns->base[i], columns->begin[i], columns->sizes[i], columns->types[i]};
        call.has_mapper[i] = columns->mappers != NULL && columns->mappers[i] != NULL;
    }
}

void recorder_element(int64_t components)
{
    call.element = (int)components;
}

void recorder_component(int64_t position, void *base, void *begin, int64_t size, int64_t type)
{
    int i = call.component_count++;
    if (!call.open || i >= COMPONENTS_MAX)
        give_up("a component outside of a call, or too many");
    if (position == 0)
        call.element = 0;
    call.components[i] = (struct row){base, begin, size, type};
    call.positions[i] = (int)position;
    call.elements[i] = call.element;
}

/* What the mapper pushed each time that it was called: a launch calls it twice. */
static void put_components(void)
{
    for (int i = 0; i < call.component_count; i++) {
        if (call.positions[i] == 0)
            fputs("    mapper called\n", record);
        put_row("    component", &call.components[i], call.positions[i], call.elements[i]);
        fputc('\n', record);
    }
}

/* The same as rows of the map: what the first call pushed, since an expanded map is the same for both. */
static void put_expanded(void)
{
    for (int i = 0; i < call.component_count && (i == 0 || call.positions[i] != 0); i++) {
        put_row("  row", &call.components[i], call.positions[i], call.elements[i]);
        fputc('\n', record);
    }
}

/* One row with a mapper in each call is enough for the shapes, so that all components are its own. */
static void put_rows(void)
{
    for (int i = 0; i < call.count; i++)
        if (call.has_mapper[i] && expanding)
            put_expanded();
        else {
            put_row("  row", &call.rows[i], i, 0);
            fputs(call.has_mapper[i] ? " mapper\n" : "\n", record);
            if (call.has_mapper[i])
                put_components();
        }
}

static int parameters(void)
{
    int count = 0;
    for (int i = 0; i < call.count; i++)
        count += (call.rows[i].type & PARAMETER) != 0;
    return count;
}

/* No release reads the bit in a data call: librex sets it everywhere, clang in launches alone. */
static void forget_parameters(void)
{
    for (int i = 0; i < call.count; i++)
        call.rows[i].type &= ~(int64_t)PARAMETER;
    for (int i = 0; i < call.component_count; i++)
        call.components[i].type &= ~(int64_t)PARAMETER;
}

void recorder_call_done(void)
{
    call.open = 0;
    /* An empty region is how librex loads an image: it maps nothing. */
    if (call.count == 0 && strcmp(call.what, "kernel") != 0)
        return;
    if (strcmp(call.what, "kernel") != 0)
        forget_parameters();
    fprintf(record, "%s%s", call.what, call.nowait ? " nowait" : "");
    if (strcmp(call.what, "kernel") == 0)
        fprintf(record, " parameters %d%s", parameters(), call.leading ? " and the runtime's" : "");
    fputc('\n', record);
    put_rows();
    fflush(record);
}
