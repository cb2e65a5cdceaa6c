/*
 * event.c - reads one line of a trace that librex wrote.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "event.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

/*
 * The lowest track numbers of devices and of queues. The number of a thread's track is the thread
 * ID in the system, which is lower.
 */
#define DEVICE_TRACKS (UINT64_C(1) << 23)
#define QUEUE_TRACKS (UINT64_C(1) << 24)

/* The fields of a line, before they become an event. */
struct line {
    const char *phase, *category, *title; /* title: name of a track or process */
    struct event *event;
};

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

static uint64_t positive(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Returns true if WORD is one of the words of TYPE, which has LENGTH bytes. TYPE is a list such as
 * "to|from|target_param".
 */
static bool has_word(const char *type, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = type; at <= type + length; at += strcspn(at, "|") + 1)
        if ((size_t)(type + length - at) >= size && strncmp(at, word, size) == 0 &&
            (at + size == type + length || at[size] == '|'))
            return true;
    return false;
}

/* TEXT is "TYPE SIZE bytes at 0xADDRESS[, pinned]"; a literal has no address. */
static bool read_row(struct event_row *row, const char *text)
{
    size_t length = strcspn(text, " ");
    char *end;
    if (text[length] == '\0' || has_word(text, length, "literal"))
        return false;
    row->size = strtoull(text + length, &end, 10);
    if (strncmp(end, " bytes at 0x", 12) != 0)
        return false;
    row->begin = strtoull(end + 10, &end, 16);
    row->pinned = is(end, ", pinned");
    row->to = has_word(text, length, "to");
    row->from = has_word(text, length, "from");
    row->always = has_word(text, length, "always");
    row->deletes = has_word(text, length, "delete");
    return row->size > 0 && row->size <= UINT64_MAX - row->begin;
}

static void read_rows(struct json *json, struct event *event)
{
    bool first = true;
    for (unsigned number = 0; json_element(json, &first); number++) {
        const char *text = json_string(json);
        struct event_row row = {.number = number};
        if (event->rows < EVENT_ROWS && read_row(&row, text))
            event->row[event->rows++] = row;
    }
}

/* ---- the line -------------------------------------------------------------------------------- */

static void read_argument(struct json *json, const char *key, struct line *line)
{
    struct event *event = line->event;
    if (is(key, "name"))
        line->title = json_string(json);
    else if (is(key, "function"))
        event->function = json_string(json);
    else if (is(key, "because"))
        event->because = json_string(json);
    else if (is(key, "device"))
        event->device = json_number(json);
    else if (is(key, "result"))
        event->result = json_number(json);
    else if (is(key, "bytes_to"))
        event->to = positive(json_number(json));
    else if (is(key, "bytes_from"))
        event->from = positive(json_number(json));
    else if (is(key, "rows"))
        read_rows(json, event);
    else {
        event->deferred |= is(key, "deferred"); /* written only if true */
        event->awaited |= is(key, "awaited");
        json_skip(json);
    }
}

static void read_arguments(struct json *json, struct line *line)
{
    const char *key;
    for (bool first = true; (key = json_member(json, &first)) != NULL;)
        read_argument(json, key, line);
}

static void read_member(struct json *json, const char *key, struct line *line)
{
    struct event *event = line->event;
    if (is(key, "ph"))
        line->phase = json_string(json);
    else if (is(key, "cat"))
        line->category = json_string(json);
    else if (is(key, "name"))
        event->name = json_string(json);
    else if (is(key, "pid"))
        event->process = positive(json_number(json));
    else if (is(key, "tid"))
        event->id = positive(json_number(json));
    else if (is(key, "ts"))
        event->begin = positive(json_thousandths(json));
    else if (is(key, "dur"))
        event->took = positive(json_thousandths(json));
    else if (is(key, "args"))
        read_arguments(json, line);
    else
        json_skip(json);
}

/* ---- the kinds of tracks and events ---------------------------------------------------------- */

static enum event_track track_of(uint64_t id)
{
    return id >= QUEUE_TRACKS ? TRACK_QUEUE : id >= DEVICE_TRACKS ? TRACK_DEVICE : TRACK_THREAD;
}

/* On a device's track, kernels and data calls have the same category. So compare the name. */
static bool is_data_call(const char *name)
{
    static const char *const names[] = {"data begin",      "data enter",  "data end",
                                        "data exit",       "data update", "copy to device",
                                        "copy from device"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(name, names[i]))
            return true;
    return false;
}

static bool find_name_kind(struct line *line)
{
    struct event *event = line->event;
    event->kind = is(event->name, "process_name") ? EVENT_PROCESS : EVENT_TRACK;
    event->name = line->title;
    return true;
}

static bool find_slice_kind(const struct line *line)
{
    struct event *event = line->event;
    const char *category = line->category;
    if (is(category, "device") || event->track == TRACK_QUEUE)
        event->kind = EVENT_DONE;
    else if (is(category, "launch"))
        event->kind = EVENT_LAUNCH;
    else if (is(category, "data"))
        event->kind = EVENT_DATA;
    else if (is(category, "queue"))
        event->kind = EVENT_QUEUED;
    else if (is(category, "phase"))
        event->kind = EVENT_PHASE;
    else
        return false;
    event->is_kernel =
        is(category, "launch") || (is(category, "device") && !is_data_call(event->name));
    return event->took <= UINT64_MAX / 4 && event->begin <= UINT64_MAX / 4;
}

bool event_read(struct event *event, char *text)
{
    struct json json = {.at = text};
    struct line line = {.phase = "", .category = "", .title = "", .event = event};
    const char *key;
    *event = (struct event){.name = "", .function = "", .because = "", .device = -1};
    for (bool first = true; (key = json_member(&json, &first)) != NULL;)
        read_member(&json, key, &line);
    if (json.wrong)
        return false;
    event->track = track_of(event->id);
    return is(line.phase, "M") ? find_name_kind(&line)
                               : is(line.phase, "X") && find_slice_kind(&line);
}
