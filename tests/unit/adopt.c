/*
 * adopt.c - descriptors that come from elsewhere: what libomptarget is given for them, and that
 * nothing of theirs is written.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <elf.h>
#include <sys/mman.h>

#include "module/registry.h"
#include "module/registration.h"
#include "rex/library.h"
#include "rex_kmp.h"
#include "support/messages.h"
#include "support/offload.h"
#include "trace/trace.h"

MESSAGES("offload");

/* ---- containers, made as clang's tools do ---------------------------------------------------- */

struct bytes {
    unsigned char *bytes;
    size_t size;
};

/* IMAGE, COUNT times, in a container of VERSION. */
static struct bytes wrap(struct bytes image, uint32_t version, size_t count)
{
    size_t size = offload_size(image.size, count);
    struct bytes made = {lasting(calloc(1, size)), size};
    offload_make(made.bytes, version, image.bytes, image.size, count);
    return made;
}

static struct bytes cubin(int sm)
{
    char path[64];
    struct bytes image;
    snprintf(path, sizeof path, "tests/data/sm_%d.cubin", sm);
    image.bytes = lasting(read_bytes(path, &image.size));
    return image;
}

/* ---- a program's own data, in memory that cannot be written ---------------------------------- */

static char key_a, key_b;

struct program {
    struct __tgt_bin_desc descriptor;
    struct __tgt_device_image image;
    struct __tgt_offload_entry entries[2];
    unsigned char bytes[];
};

static struct __tgt_bin_desc *program_with(struct bytes image)
{
    size_t size = sizeof(struct program) + image.size;
    struct program *program = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                   -1, 0);
    CHECK(program != MAP_FAILED);
    memcpy(program->bytes, image.bytes, image.size);
    struct __tgt_offload_entry *begin = program->entries, *end = begin + 2;
    begin[0] = (struct __tgt_offload_entry){&key_a, (char *)(uintptr_t) "kernel_a", 0, 0, 0};
    begin[1] = (struct __tgt_offload_entry){&key_b, (char *)(uintptr_t) "global_b", 4, 1, 9};
    program->image = (struct __tgt_device_image){program->bytes, program->bytes + image.size, begin,
                                                 end};
    program->descriptor = (struct __tgt_bin_desc){1, &program->image, begin, end};
    CHECK(mprotect(program, size, PROT_READ) == 0);
    return &program->descriptor;
}

static const struct fake_call *registered(struct __tgt_bin_desc *descriptor)
{
    __rex_real___tgt_register_lib(descriptor);
    return last_call(FAKE_REGISTER);
}

static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)level, (void)context;
    if (strstr(message, " the program") != NULL || strstr(message, "REX_ADOPT") != NULL)
        says("    %s", message);
}

static void begin(int release, const char *adopt)
{
    use_gpu(90);
    use_release(release);
    CHECK_EQUAL(rex_configure(REX_OPTION_ADOPT, adopt), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
}

/* ELF header bytes of CUDA 13, and of the older form. */
static int header_form(const unsigned char *image)
{
    return image[7] == 0x41 && image[8] == 8 ? 13 : image[7] == 0x33 && image[8] == 7 ? 12 : 0;
}

static bool rewritten(int release)
{
    return release >= 18 && release <= 21; /* 21.1.0 and 21.1.1 refuse it */
}

/* ---- what libomptarget gets ------------------------------------------------------------------ */

/* A CUBIN, raw and in containers, of which one of version 1 stays where the release opens it: the
 * first header that libomptarget sees is of the form that it takes; nothing else is another. */
TEST_ON_FAKES(images, ALL_RELEASES)
{
    bool opens = release >= 15 && release <= 20;
    struct bytes image = cubin(90), one = wrap(image, 1, 1), two = wrap(image, 2, 2);
    struct bytes given[] = {image, one, two};
    rex_set_log_callback(note, NULL);
    says("LLVM %d:", release);
    begin(release, "on");
    for (size_t i = 0; i < COUNT(given); i++) {
        struct __tgt_bin_desc *descriptor = program_with(given[i]);
        const struct fake_call *call = registered(descriptor);
        const unsigned char *first = call->images[0].start;
        if (i == 1 && opens)
            first += given[i].size - (image.size + 7) / 8 * 8;
        CHECK_EQUAL(call->image_count, i == 2 ? 2 : 1);
        CHECK_EQUAL(call->image_size, i == 1 && opens ? given[i].size : image.size);
        CHECK_EQUAL(header_form(first), rewritten(release) ? 12 : 13);
        CHECK(!rewritten(release) || ((const Elf64_Ehdr *)(const void *)first)->e_flags ==
                                         (90 << 16 | 0x500 | 90));
        CHECK(memcmp(first + sizeof(Elf64_Ehdr), image.bytes + sizeof(Elf64_Ehdr),
                     image.size - sizeof(Elf64_Ehdr)) == 0);
        const struct fake_descriptor *made = call->descriptor;
        __rex_real___tgt_unregister_lib(descriptor);
        CHECK(last_call(FAKE_UNREGISTER)->descriptor == made);
        /* Again, as after dlclose and dlopen: tables at other addresses, the bytes kept once. */
        call = registered(descriptor);
        CHECK(i == 1 || (first == call->images[0].start && made != call->descriptor));
    }
    CHECK_EQUAL(the_record()->used_address_again, 0);
}

/* An image for which there is no older header: said, and libomptarget decides. PTX, by itself and
 * in a container, is none of libomptarget's images, which has it all the same, as others that are
 * no CUBIN. */
TEST_IN_CHILD(others)
{
    struct bytes newer = cubin(100), foreign = cubin(90), text;
    ((Elf64_Ehdr *)(void *)foreign.bytes)->e_machine = EM_X86_64;
    text.bytes = lasting(read_bytes("tests/data/sm_90.ptx", &text.size));
    const struct bytes given[] = {newer,
                                  text,
                                  wrap(text, 2, 2),
                                  foreign,
                                  {(unsigned char *)(uintptr_t) "BC\xc0\xde", 4},
                                  {(unsigned char *)(uintptr_t) "", 0}};
    rex_set_log_callback(note, NULL);
    begin(19, "on");
    for (size_t i = 0; i < COUNT(given); i++) {
        const struct fake_call *call = registered(program_with(given[i]));
        CHECK_EQUAL(call->image_count, i == 2 ? 2 : 1);
        CHECK(i == 2 || (call->image_size == given[i].size &&
                         memcmp(call->image, given[i].bytes, given[i].size) == 0));
    }
    __rex_real___tgt_unregister_lib(NULL); /* the fake notes it */
    CHECK(last_call(FAKE_UNREGISTER)->descriptor == NULL);
}

/* Entries in the newer form; an image that names another table than the descriptor's gets a copy of
 * that: each in the form that the release takes. */
TEST_ON_FAKES(new_entries, 14, 19, 20, 24)
{
    struct bytes image = cubin(90);
    struct rex_new_entry hosts[3] = {
        {0, 1, 1, 0, &key_a, (char *)(uintptr_t) "kernel_a", 0, 0, NULL},
        {0, 1, 2, 0, &key_a, (char *)(uintptr_t) "of_cuda", 0, 0, NULL},
        {0, 1, 1, 1, &key_b, (char *)(uintptr_t) "global_b", 4, 9, NULL}};
    struct rex_new_entry own = {0, 1, 1, 3, hosts, (char *)(uintptr_t) "own", 8, 5, NULL};
    struct __tgt_device_image images[] = {
        {image.bytes, image.bytes + image.size, (void *)hosts, (void *)(hosts + 3)},
        {image.bytes, image.bytes + image.size, (void *)&own, (void *)(&own + 1)}};
    begin(release, "on");
    const struct fake_call *call = registered(
        &(struct __tgt_bin_desc){COUNT(images), images, (void *)hosts, (void *)(hosts + 3)});
    const struct fake_entry *row = call->images[1].begin;
    CHECK(call->images[0].begin == call->entries && row != call->entries);
    if (release >= 20) {
        CHECK(memcmp(call->entries, hosts, sizeof hosts) == 0 &&
              memcmp(row, &own, sizeof own) == 0);
        CHECK_EQUAL((const char *)call->descriptor->stop - (const char *)call->entries,
                    sizeof hosts);
    } else {
        CHECK_EQUAL(call->entry_count, 2);
        CHECK(call->entries[0].address == &key_a && call->entries[0].size == 0);
        CHECK(strcmp(call->entries[1].name, "global_b") == 0 && call->entries[1].size == 4);
        CHECK(call->entries[1].flags == 1 && call->entries[1].reserved == 9);
        CHECK(row->address == hosts && strcmp(row->name, "own") == 0 && row->size == 8);
        CHECK(row->flags == 3 && row->reserved == 5);
    }
    CHECK(strcmp(rex_trace_name(&key_a), "kernel_a") == 0);
    CHECK(strcmp(rex_trace_name(&key_b), "global_b") == 0);
}

/* As many bytes are 4 of the newer form. */
TEST(test_seven_old_entries)
{
    struct __tgt_offload_entry old[7];
    for (size_t i = 0; i < COUNT(old); i++)
        old[i] = (struct __tgt_offload_entry){&key_a, (char *)(uintptr_t) "kernel_a", 0, 0, 0};
    assert_int_equal(sizeof old, 4 * sizeof(struct rex_new_entry));
    assert_false(rex_entries_are_new((struct rex_entries){old, sizeof old}));
}

/* By the name of the file that the descriptor lies in. */
static void name_file(const void *unused)
{
    static char image[] = "none";
    static struct __tgt_offload_entry none;
    static struct __tgt_device_image images[] = {{image, image + 4, &none, &none}};
    static struct __tgt_bin_desc descriptor = {1, images, &none, &none};
    (void)unused;
    begin(19, "on");
    __rex_real___tgt_register_lib(&descriptor);
}

TEST(test_name_file)
{
    assert_non_null(strstr(in_child(name_file, NULL), "/unit/adopt, 1 device image: nothing in it had to change for LLVM 19\n"));
}

/* One descriptor may come more than once: each end is that of the newest that has not ended. */
TEST_IN_CHILD(twice)
{
    struct __tgt_bin_desc *descriptor = program_with(cubin(90));
    const struct fake_descriptor *given[3];
    begin(22, "on");
    for (size_t i = 0; i < COUNT(given); i++)
        given[i] = registered(descriptor)->descriptor;
    for (size_t i = COUNT(given); i-- > 0;) {
        __rex_real___tgt_unregister_lib(descriptor);
        CHECK(last_call(FAKE_UNREGISTER)->descriptor == given[i]);
    }
    __rex_real___tgt_unregister_lib(descriptor);
    CHECK((const void *)last_call(FAKE_UNREGISTER)->descriptor == descriptor);
}

/* More images than a descriptor can count: it is registered as it is. No byte of them is looked at.
 */
TEST_IN_CHILD(too_many)
{
    enum { INSIDE = 1 << 16, OUTSIDE = 1 << 15 };
    size_t size = sizeof(struct offload_header) + INSIDE * sizeof(struct offload_entry);
    static struct __tgt_device_image images[OUTSIDE];
    unsigned char *bytes = calloc(1, size);
    CHECK(bytes != NULL);
    struct offload_header header = {{0x10, 0xff, 0x10, 0xad}, 2, size, sizeof header, INSIDE};
    memcpy(bytes, &header, sizeof header);
    for (size_t i = 0; i < OUTSIDE; i++)
        images[i] = (struct __tgt_device_image){bytes, bytes + size, NULL, NULL};
    struct __tgt_bin_desc descriptor = {OUTSIDE, images, NULL, NULL};
    begin(19, "on");
    CHECK((const void *)registered(&descriptor)->descriptor == &descriptor);
    refuses(rex_last_error_code(), "%u images", descriptor.NumDeviceImages);
    free(bytes);
}

/* rules.mk leads these calls here: the allocation of that number fails, counted from when it was
 * set. */
static int failing, allocations;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return ++allocations == failing ? NULL : __real_malloc(size);
}
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == failing ? NULL : __real_calloc(count, size);
}

/* Where memory runs out the descriptor is registered as it is, and no library is loaded; whatever
 * was made of them goes. */
static void without_memory(const void *number)
{
    struct bytes image = cubin(90), two = wrap(cubin(80), 2, 2);
    struct rex_new_entry entry = {0, 1, 1, 0, &key_a, (char *)(uintptr_t) "kernel_a", 0, 0, NULL},
                         own = entry;
    struct __tgt_device_image images[] = {
        {two.bytes, two.bytes + two.size, (void *)&own, (void *)(&own + 1)},
        {image.bytes, image.bytes + image.size, (void *)&entry, (void *)(&entry + 1)}};
    struct __tgt_bin_desc descriptor = {COUNT(images), images, (void *)&entry,
                                        (void *)(&entry + 1)};
    struct rex_library *library = NULL;
    begin(19, "on");
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
    allocations = 0;
    failing = *(const int *)number;
    const struct fake_descriptor *given = registered(&descriptor)->descriptor;
    bool has_failed = allocations >= failing;
    failing = 0;
    CHECK_EQUAL((const void *)given == &descriptor, has_failed);
    __rex_real___tgt_unregister_lib(&descriptor);
    CHECK(last_call(FAKE_UNREGISTER)->descriptor == given);
    allocations = 0;
    failing = *(const int *)number;
    CHECK_EQUAL(rex_library_load(&library, 0, NULL, 0, FAKE("host.so")) == REX_OK, library != NULL);
    has_failed |= allocations >= failing;
    failing = 0;
    puts(has_failed ? "failed" : "whole");
}

TEST(test_without_memory)
{
    int number = 1;
    while (strstr(in_child(without_memory, &number), "failed") != NULL)
        number++;
    assert_in_range(number, 10, 200);
}

/* ---- what is noted of it --------------------------------------------------------------------- */

/* In the environment, if it is not configured. */
TEST_OF_EACH(as_it_is, const char *, setting, NULL, "off", "perhaps")
{
    bool is_wrong = setting != NULL && strcmp(setting, "perhaps") == 0;
    struct __tgt_bin_desc *descriptor = program_with(cubin(90));
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(note, NULL);
    if (is_wrong) {
        setenv("REX_ADOPT", setting, 1);
        REFUSED(rex_configure(REX_OPTION_ADOPT, setting));
    }
    begin(19, is_wrong ? NULL : setting);
    CHECK((const void *)registered(descriptor)->descriptor == descriptor);
    /* A trace wants the names all the same. */
    CHECK(strcmp(rex_trace_name(&key_a), "kernel_a") == 0);
    CHECK(rex_trace_name(descriptor) == NULL);
    __rex_real___tgt_unregister_lib(descriptor);
    CHECK((const void *)last_call(FAKE_UNREGISTER)->descriptor == descriptor);
    CHECK(rex_trace_name(&key_a) == NULL);
}

/* ---- the wait policy ------------------------------------------------------------------------- */

struct policy {
    const char *wait;
    int flags;
    bool wrapped, disabled;
    int sm;
};

static const struct policy policies[] = {
    {NULL, 0, false, false, 90},       {"spin", 1, true, false, 90},
    {"runtime", -1, false, false, 90}, {"spin", -1, false, true, 90},
    {"spin", -1, false, false, 75},
};

TEST_FOR_EACH(set_policy, policy, policies)
{
    struct bytes image = cubin(policy->sm);
    begin(22, "on");
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, policy->wait), 0);
    if (policy->disabled)
        setenv("OMP_TARGET_OFFLOAD", "DISABLED", 1);
    struct __tgt_bin_desc *descriptor = program_with(policy->wrapped ? wrap(image, 1, 1) : image);
    registered(descriptor);
    CHECK_EQUAL(context_flags(), policy->flags);
    __rex_real___tgt_unregister_lib(descriptor);
    CHECK_EQUAL(context_flags(), policy->flags);
}
