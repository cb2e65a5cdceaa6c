/*
 * summary.c - prints one line: the libomptarget, the devices that it can use, and what is wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "summary.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/print.h"
#include "rex/device.h"
#include "rex/error.h"

static __attribute__((format(printf, 2, 3))) void add(char **line, const char *format, ...)
{
    va_list arguments;
    char *more = NULL;
    va_start(arguments, format);
    if (vasprintf(&more, format, arguments) < 0)
        more = tool_format("%s", format);
    va_end(arguments);
    char *both = tool_format("%s%s", *line, more);
    free(more);
    free(*line);
    *line = both;
}

/*
 * Adds the version in MODULE: "580.159.03" for "NVIDIA UNIX Open Kernel Module for x86_64
 * 580.159.03  Release Build".
 */
static void add_driver(char **line, const char *module)
{
    while (module != NULL && *module != '\0' && !isdigit((unsigned char)*module)) {
        module += strcspn(module, " ");
        module += strspn(module, " ");
    }
    if (module != NULL && *module != '\0')
        add(line, ", driver %.*s", (int)strcspn(module, " "), module);
}

/*
 * Adds WHAT, then COUNT as the number of GPUs, then the models of the GPUs. If neighbouring GPUs
 * are of one model, adds the model only once.
 */
static void add_gpus(char **line, const char *what, int count)
{
    char before[sizeof((struct rex_gpu *)0)->name] = "";
    struct rex_gpu gpu;
    add(line, " %s %d GPU%s", what, count, count == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        if (rex_gpu_get(&gpu, sizeof gpu, i) != REX_OK)
            add(line, ", %s", rex_last_error());
        else if (strcmp(gpu.name, before) != 0)
            add(line, ", %s", strcpy(before, gpu.name));
    }
}

static void add_if(char **line, const char *before, const char *value)
{
    if (value != NULL)
        add(line, "; %s%s", before, value);
}

static void add_devices(char **line, const struct facts *facts, const struct host *host)
{
    static const char nothing[] = "nothing, because ";
    int gpus = rex_gpu_count();
    const char *by = facts_find(facts, "launch", "by"), *why = facts_find(facts, "driver", "error");
    add(line, " with LLVM %s's libomptarget", facts_find(facts, "libomptarget", "release"));
    if (gpus > 0) {
        bool is_refused = by != NULL && strncmp(by, nothing, strlen(nothing)) == 0;
        add_gpus(line, is_refused ? "finds" : "launches on", gpus);
        add_driver(line, facts_find(facts, "driver", "kernel module"));
        if (is_refused)
            add(line, "; no launch is possible: %s", by + strlen(nothing));
        else if (by != NULL && strcmp(by, "the CUDA driver") != 0)
            add(line, "; launches by %s", by);
    } else {
        add(line, " launches %s: %s",
            host->ran ? "on the host device alone" : "nothing, there is no GPU",
            why != NULL ? why : "there is no GPU");
    }
    add_if(line, "the host device: ", host->ran ? NULL : host->text);
    add_if(line, "", facts_find(facts, "libomptarget", "trouble"));
    add_if(line, "", facts_find(facts, "driver", "trouble"));
}

void summary_print(const struct facts *facts, const struct host *host, bool json)
{
    char *line = tool_format("librex %s", rex_version());
    if (host != NULL) {
        add_devices(&line, facts, host);
    } else {
        const char *why = facts_find(facts, "libomptarget", "error"),
                   *list = strstr(why, " Tried:");
        add(&line, " launches nothing: %.*s",
            (int)(list != NULL ? (size_t)(list - why) : strcspn(why, "\n")), why);
    }
    if (json) {
        fputs("\"summary\": ", stdout);
        print_json(stdout, line);
        fputs(",\n", stdout);
    } else {
        print_text(stdout, line);
        fputs("\n\n", stdout);
    }
    free(line);
}
