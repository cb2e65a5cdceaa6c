/*
 * image.c - an image as a registration takes it, for every release: from memory, from a file, behind another one; with a GPU of sm_90.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/elf.h"
#include "module/fitimage.h"
#include "module/chooseimage.h"

#include "fuzz.h"

/* The driver is the fake one, which lies beside the program. */
__attribute__((constructor)) static void choose_gpu(void)
{
    setenv("FAKE_CUDA_DEVICES", "1", 1);
    setenv("FAKE_CUDA_SM", "90", 1);
    setenv("FAKE_LINK_CUBIN", "tests/data/sm_90.cubin", 1);
    setenv("FAKE_LINK_LOG", "line 7;\nfatal : Parsing error\n", 1);
    setenv("REX_CUBIN", "", 1);
}

/* The header alone, in place, as an adopted image is rewritten: nothing behind it changes. */
static void fit(const uint8_t *bytes, size_t size, const struct rex_release *release)
{
    uint8_t *copy = fuzz_copy(bytes, size);
    int result = rex_image_fit_header(copy, size, "bytes", release);
    FUZZ_CHECK(result == REX_OK || result == REX_EUNSUPPORTED);
    if (result == REX_OK && size > sizeof(Elf64_Ehdr))
        FUZZ_CHECK(memcmp(copy + sizeof(Elf64_Ehdr), bytes + sizeof(Elf64_Ehdr), size - sizeof(Elf64_Ehdr)) == 0);
    else
        FUZZ_CHECK(size == 0 || result == REX_OK || memcmp(copy, bytes, size) == 0);
    free(copy);
}

/* MODULE NULL: as a library is opened, which no release is to have. */
static void open_image(const struct rex_module *module, const char *name, const struct rex_release *release)
{
    struct rex_module_image image;
    int result =
        module != NULL ? rex_module_image_open(&image, module, name, release) : rex_module_image_open_alone(&image, NULL, 0, name);
    FUZZ_CHECK(result <= REX_OK);
    if (result != REX_OK)
        return;
    for (size_t i = 0; i < image.view.count; i++)
        FUZZ_CHECK(rex_view_find(&image.view, image.view.symbols[i].name) != NULL);
    /* The first is kept, as a registration keeps its image: equal ones are then the same bytes. */
    static bool kept;
    kept = kept || rex_module_image_retain(&image, release) == REX_OK;
    rex_module_image_close(&image);
}

static void open_all(const uint8_t *bytes, size_t size, const char *path, const struct rex_release *release)
{
    const char *none = "/nowhere/rex_lib_nvidia.cubin";
    struct rex_module embedded = {.image = bytes, .image_size = size};
    struct rex_module between = {.image = bytes, .image_end = bytes + size, .host_image = bytes, .host_image_end = bytes + size};
    struct rex_module behind = {.image_name = none, .host_image = bytes, .host_image_end = bytes + size};
    struct rex_module named = {.image_name = none, .host_image_name = path};
    open_image(&embedded, NULL, release);
    open_image(&between, NULL, release);
    open_image(&behind, NULL, release);
    open_image(&named, NULL, release);
    open_image(&named, path, release);
    open_image(NULL, path, release);
}

/* No file that is looked for exists. */
static void open_nothing(const struct rex_release *release)
{
    struct rex_module nowhere = {.image_name = "rex_lib_nvidia.cubin", .host_image_name = "/nowhere/rex_lib.so"};
    open_image(&nowhere, NULL, release);
    open_image(&nowhere, "/nowhere/rex_lib_nvidia.cubin:", release);
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    const struct rex_release *release;
    const char *path = fuzz_file(0, bytes, size);
    for (int number = 14; (release = rex_release_row(number)) != NULL; number++)
        fit(bytes, size, release);
    /* One release of each sort: exec modes hidden; the older header, neither, no host image. */
    static const int others[] = {19, 22, 23};
    setenv("FAKE_LINK_FAILS", size % 2 == 0 ? "" : "cuLinkAddData:218", 1); /* each other PTX is compiled */
    const struct rex_module embedded = {.image = bytes, .image_size = size};
    open_all(bytes, size, path, rex_release_row(16));
    open_nothing(rex_release_row(16));
    open_image(&embedded, NULL, rex_release_row(others[size % 3]));
}
