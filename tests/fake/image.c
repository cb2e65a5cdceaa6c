/*
 * image.c - CUBINs of the fake GPU, which tests/fake/cubin makes of host images: the section .fake.host is the host image, whose functions
 * are the kernels.
 *
 * Each load is a copy of its own, with its own globals, as with the real driver. A kernel that touches memory which is not there has
 * failed, and so has one that is given the address of pageable memory: the device is lost.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rex/kinds.h>

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

/* A path of FILE that no other load had, since the loader opens none twice: the bits of their number are its dots. */
static void name_file(char path[256], int file)
{
    static unsigned loads;
    strcpy(path, "/proc/self/fd");
    for (unsigned bits = __atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED); bits > 0; bits /= 2)
        strcat(path, bits & 1 ? "/." : "/");
    snprintf(path + strlen(path), 16, "/%d", file);
}

void *fake_image_open(const void *image)
{
    char path[256];
    size_t size;
    const unsigned char *bytes = section_of(image, ".fake.host", &size);
    int file = bytes != NULL ? memfd_create("fake.host", MFD_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    name_file(path, file);
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
size_t fake_image_parameters(void *opened, const char *kernel, uint64_t *pointers)
{
    char name[256];
    size_t size = 0, front = 0;
    snprintf(name, sizeof name, "rex_signature_%s", kernel);
    const uint16_t *signature = fake_image_find(opened, name, &size);
    *pointers = 0;
    if (signature == NULL)
        return 0;
    front = *signature & 1;
    for (size_t i = 1; i < size / sizeof *signature && i + front <= 64; i++)
        if (signature[i] == REX_KIND_POINTER)
            *pointers |= (uint64_t)1 << (i - 1 + front);
    return size / sizeof *signature - 1 + front;
}

/* ---- faults ------------------------------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;
static struct sigaction before;
static __thread sigjmp_buf *end_of_kernel;

/* What is no kernel's fault is for those who looked at faults before. */
static void on_fault(int signal)
{
    if (end_of_kernel != NULL)
        siglongjmp(*end_of_kernel, 1);
    sigaction(signal, &before, NULL);
}

static void begin(void)
{
    const struct sigaction action = {.sa_handler = on_fault};
    pthread_mutex_lock(&lock);
    if (running++ == 0) {
        sigaction(SIGSEGV, &action, &before);
        fake_memory_open(true);
    }
    pthread_mutex_unlock(&lock);
}

static void end(void)
{
    pthread_mutex_lock(&lock);
    if (--running == 0) {
        fake_memory_open(false);
        sigaction(SIGSEGV, &before, NULL);
    }
    pthread_mutex_unlock(&lock);
}

#define WORDS_8(at) words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4], words[at + 5], words[at + 6], words[at + 7]
#define EIGHT uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t

/* A function that takes fewer words finds its own where it looks for them. */
static void call(void *function, const uint64_t *words)
{
    void (*code)(EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, uint64_t);
    memcpy(&code, &function, sizeof code);
    code(WORDS_8(0), WORDS_8(8), WORDS_8(16), WORDS_8(24), WORDS_8(32), WORDS_8(40), WORDS_8(48), WORDS_8(56), words[64]);
}

bool fake_image_run(const struct fake_launch *launch)
{
    uint64_t words[FAKE_WORDS] = {0};
    sigjmp_buf fault;
    for (size_t i = 0; i < launch->count; i++) {
        memcpy(&words[i], launch->parameters[i], sizeof words[i]);
        /* An address of the host is one that no kernel can read; a kernel may get it, and compare it. */
        if (i < 64 && (launch->pointers >> i & 1) != 0 && fake_is_pageable(words[i]))
            words[i] |= (uint64_t)1 << 62;
    }
    begin();
    bool runs = sigsetjmp(fault, 1) == 0;
    if (runs) {
        end_of_kernel = &fault;
        call(launch->code, words);
    }
    end_of_kernel = NULL;
    end();
    return runs;
}

bool fake_image_holds(const struct fake_launch *launch)
{
    uint64_t address;
    if (!launch->is_held)
        return false;
    memcpy(&address, launch->parameters[0], sizeof address);
    return __atomic_load_n((int64_t *)fake_memory_of_any(address, sizeof(int64_t)), __ATOMIC_SEQ_CST) == 0;
}
