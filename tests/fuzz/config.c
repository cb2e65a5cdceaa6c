/*
 * config.c - what the environment says: options, and lists of folders in which a file is looked for. Up to the first NUL a value,
 * behind it the file's name.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/settings.h"

#include "fuzz.h"
#include "module/imagefiles.h"

static struct rex_module module;

/* Files that are not files wait for somebody, or are as large as memory. */
static bool is_safe(const char *text)
{
    static const char *const parts[] = {"/dev", "/proc", "/sys", ".."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(text, parts[i]) != NULL)
            return false;
    return true;
}

static void configure(const char *value)
{
    char got[REX_SETTING_MAX];
    for (int option = 0; option < REX_SETTINGS; option++) {
        if (option == REX_OPTION_LOG || option == REX_OPTION_TRACE)
            continue; /* they make files of any name */
        if (rex_configure((enum rex_option)option, value) == REX_OK && rex_setting_text((enum rex_option)option, got))
            FUZZ_CHECK(strlen(got) < sizeof got);
        FUZZ_CHECK(rex_configure((enum rex_option)option, NULL) == REX_OK);
    }
}

static void look_for(const char *folders, const char *name)
{
    struct rex_report tried = {0};
    struct rex_source source = {0};
    if (rex_configure(REX_OPTION_CUBIN_PATH, folders) != REX_OK)
        return;
    if (rex_source_read(&source, &module, name, &tried) == REX_OK) {
        rex_source_check_owner(&source);
        free(source.file.bytes);
    }
    FUZZ_CHECK(tried.length < sizeof tried.text && strlen(tried.text) == tried.length);
    rex_configure(REX_OPTION_CUBIN_PATH, NULL);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    char *value = malloc(size + 2);
    FUZZ_CHECK(value != NULL);
    if (size > 0)
        memcpy(value, bytes, size);
    value[size] = value[size + 1] = '\0';
    const char *name = value + strlen(value) + 1;
    configure(value);
    if (is_safe(value) && is_safe(name))
        look_for(value, name);
    free(value);
}
