/*
 * look.c [WORD=VALUE]... NAME... - registers a module with each image in turn, - for the module's own, and says where it is found, or why
 * not. The words: image, host_image and entry are the module's; it is in the shared object that module names; seteuid, setuid and chroot
 * are done before; library is a file that is loaded as one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <rex.h>
#include <rex/library.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t) "plain__kernel__", 0, 0, 0}};
static struct rex_module own = {.struct_size = sizeof own, .entries_begin = entry, .entries_end = entry + 1, .image_name = "an.image"};

static void check(bool done)
{
    if (!done) {
        perror("look");
        exit(2);
    }
}

static struct rex_module *module_in(const char *object)
{
    void *library = dlopen(object, RTLD_NOW);
    struct rex_module *module = library != NULL ? dlsym(library, "fake_module") : NULL;
    struct __tgt_offload_entry *copy = malloc(sizeof *copy);
    check(module != NULL && copy != NULL);
    *copy = entry[0];
    *module = (struct rex_module){
        .struct_size = sizeof *module, .entries_begin = copy, .entries_end = copy + 1, .image_name = own.image_name};
    return module;
}

/* On the stack then, where no variable is initialised, is a path. */
__attribute__((noinline)) static void fill_stack(void)
{
    volatile char bytes[32768];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = '/';
}

static void say(const char *name, int result, const char *found)
{
    printf("%s: %s%s%s\n", name, result != 0 ? rex_error_name(result) : "", result != 0 ? ": " : "", result != 0 ? rex_last_error() : found);
}

static void load(const char *file)
{
    struct rex_library *library = NULL;
    say(file, rex_library_load(&library, 0, NULL, 0, file), "loaded");
    rex_library_unload(library);
}

static void prepare(const char *word, char *value)
{
    if (strcmp(word, "image") == 0)
        own.image_name = *value != '\0' ? value : NULL;
    else if (strcmp(word, "host_image") == 0)
        own.host_image_name = value;
    else if (strcmp(word, "entry") == 0)
        entry[0].name = value;
    else if (strcmp(word, "library") == 0)
        load(value);
    else if (strcmp(word, "seteuid") == 0)
        check(seteuid((uid_t)atoi(value)) == 0);
    else if (strcmp(word, "setuid") == 0)
        check(setuid((uid_t)atoi(value)) == 0);
    else
        check(strcmp(word, "chroot") == 0 && chroot(value) == 0 && chdir("/") == 0);
}

int main(int count, char **arguments)
{
    struct rex_module *module = &own;
    check(rex_runtime_bind() == 0);
    for (int i = 1; i < count; i++) {
        char *name = arguments[i], *value = strchr(name, '=');
        if (value != NULL) {
            *value++ = '\0';
            if (strcmp(name, "module") == 0)
                module = module_in(value);
            else
                prepare(name, value);
            continue;
        }
        fill_stack();
        int result = rex_module_register(module, strcmp(name, "-") != 0 ? name : NULL);
        say(name, result, rex_module_image_path(module));
        check(rex_module_fini(module) == 0);
    }
    return 0;
}
