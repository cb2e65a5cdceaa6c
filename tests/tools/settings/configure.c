/*
 * configure.c [OPTION[=VALUE]]... - gives settings by their numbers, those without a value back to the environment; then says what holds.
 * An OPTION may also be move=FROM=TO, of files, and fork: the rest is done by a child alone.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *group, const char *name, const char *value, void *context)
{
    (void)context;
    if (strcmp(group, "setting") == 0 && strstr(value, "(default)") == NULL && strcmp(value, "not set") != 0)
        printf("    %s %s\n", name, value);
}

static void move(char *from)
{
    char *to = strchr(from, '=');
    *to = '\0';
    if (rename(from, to + 1) != 0)
        exit(2);
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        char *end;
        if (strcmp(arguments[i], "fork") == 0) {
            if (fork() > 0)
                return wait(NULL) < 0;
            continue;
        }
        if (strncmp(arguments[i], "move=", 5) == 0) {
            move(arguments[i] + 5);
            continue;
        }
        const enum rex_option option = (enum rex_option)strtol(arguments[i], &end, 10);
        int result = rex_configure(option, *end == '=' ? end + 1 : NULL);
        if (result != 0)
            printf("    %s: %s\n", rex_error_name(result), rex_last_error());
        memset(end, 'X', strlen(end)); /* the value is copied */
    }
    for (int i = 0; i < 3; i++) /* what is wrong is told of once */
        rex_module_register(NULL, NULL);
    return rex_info(0, say, NULL);
}
