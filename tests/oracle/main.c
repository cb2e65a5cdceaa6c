/*
 * main.c - runs shapes and writes their record: `PROGRAM RECORD` all of them, each in a process of its own, so that one that dies costs no
 * other; `PROGRAM RECORD SHAPE` one; `PROGRAM --list`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "shape.h"

#define SHAPES_MAX 256

extern char **environ;

static struct {
    const char *name;
    void (*run)(void);
} shapes[SHAPES_MAX];
static size_t shape_count;

void shape_add(const char *name, void (*run)(void))
{
    if (shape_count == SHAPES_MAX)
        abort();
    shapes[shape_count].name = name;
    shapes[shape_count++].run = run;
}

#ifndef ORACLE_CLANG
void shape_check(int result, const char *what)
{
    if (result != REX_OK) {
        recorder_complaint(what);
        fprintf(stderr, "%s: %s\n", what, rex_last_error());
    }
}
#endif

static int run_one(const char *record, const char *name)
{
    for (size_t i = 0; i < shape_count; i++)
        if (strcmp(shapes[i].name, name) == 0) {
            recorder_open(record, name);
            shapes[i].run();
            recorder_close();
            return 0;
        }
    fprintf(stderr, "no such shape: %s\n", name);
    return 2;
}

static int spawn_one(char *program, char *record, const char *name)
{
    char *arguments[] = {program, record, (char *)(uintptr_t)name, NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (status != 0)
        fprintf(stderr, "%s: status 0x%x\n", name, (unsigned)status);
    return status != 0;
}

int main(int argc, char **argv)
{
    int failures = 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < shape_count; i++)
            puts(shapes[i].name);
        return 0;
    }
    if (argc == 3)
        return run_one(argv[1], argv[2]);
    if (argc != 2) {
        fputs("usage: PROGRAM RECORD [SHAPE] | --list\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < shape_count; i++)
        failures += spawn_one(argv[0], argv[1], shapes[i].name);
    return failures != 0;
}
