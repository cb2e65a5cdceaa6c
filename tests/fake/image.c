/*
 * image.c - CUBINs of the fake GPU, which tests/fake/cubin makes of host images: the section .fake.host is the host image, whose functions
 * are the kernels.
 *
 * Each load is a copy of its own, with its own globals, as with the real driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

/* The section of that name, its bytes and *SIZE; NULL: there is none. */
static const unsigned char *section_of(const unsigned char *image, const char *name, size_t *size)
{
    const Elf64_Ehdr *header = (const void *)image;
    if (memcmp(image, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_CUDA)
        return NULL;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const char *names = (const char *)image + sections[header->e_shstrndx].sh_offset;
    for (size_t i = 0; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, name) == 0) {
            *size = sections[i].sh_size;
            return image + sections[i].sh_offset;
        }
    return NULL;
}

void *fake_image_open(const void *image)
{
    char path[64];
    size_t size;
    const unsigned char *bytes = section_of(image, ".fake.host", &size);
    int file = bytes != NULL ? memfd_create("fake.host", MFD_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *opened = write(file, bytes, size) == (ssize_t)size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    close(file);
    return opened;
}

void *fake_image_find(void *opened, const char *name, size_t *size)
{
    const Elf64_Sym *symbol = NULL;
    Dl_info info;
    void *address = dlsym(opened, name);
    if (address != NULL && dladdr1(address, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL)
        *size = symbol->st_size;
    return address;
}

/* Its signature: a form, odd where the runtime's parameter is in front, and a kind for each other parameter. */
size_t fake_image_parameters(void *opened, const char *kernel)
{
    char name[256];
    size_t size = 0;
    snprintf(name, sizeof name, "rex_signature_%s", kernel);
    const uint16_t *signature = fake_image_find(opened, name, &size);
    return signature != NULL ? size / sizeof *signature - 1 + (*signature & 1) : 0;
}

#define WORDS_8(at) words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4], words[at + 5], words[at + 6], words[at + 7]
#define EIGHT uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

/* A function that takes fewer words finds its own where it looks for them. */
void fake_image_run(const struct fake_launch *launch)
{
    void (*code)(EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, uint64_t);
    uint64_t words[FAKE_WORDS] = {0};
    memcpy(&code, &launch->code, sizeof code);
    for (size_t i = 0; i < launch->count; i++)
        memcpy(&words[i], launch->parameters[i], sizeof words[i]);
    fake_memory_open(true);
    code(WORDS_8(0), WORDS_8(8), WORDS_8(16), WORDS_8(24), WORDS_8(32), WORDS_8(40), WORDS_8(48), WORDS_8(56), words[64]);
    fake_memory_open(false);
}
