/*
 * configure.c [OPTION[=VALUE]]... - gives settings by their numbers, those without a value back to the environment; then says what holds.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *group, const char *name, const char *value, void *context)
{
    (void)context;
    if (strcmp(group, "setting") == 0 && strstr(value, "(default)") == NULL && strcmp(value, "not set") != 0)
        printf("    %s %s\n", name, value);
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        char *end;
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
