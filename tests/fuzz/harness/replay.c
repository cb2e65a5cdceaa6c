/*
 * replay.c - a fuzz target over files, without libFuzzer: those that are named, or all below the folders that are named.
 *
 * The bytes of each file end where a page that nobody may touch begins, and the page before them is such a one too: a reader that leaves
 * them is seen whatever it was compiled with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static _Noreturn void give_up(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(2);
}

/* Ahead of the target, so that the last line names the input that it died of. */
static void announce(const char *path)
{
    printf("%s\n", path);
    fflush(stdout);
}

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

static void read_all(FILE *file, const char *path, uint8_t *bytes, size_t size)
{
    if (fread(bytes, 1, size, file) != size)
        give_up(path);
}

static void replay_open(FILE *file, const char *path, size_t size)
{
    size_t page = whole_pages(1), room = whole_pages(size);
    uint8_t *memory = mmap(NULL, page + room + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || (room > 0 && mprotect(memory + page, room, PROT_READ | PROT_WRITE) != 0))
        give_up(path);
    uint8_t *bytes = memory + page + room - size;
    read_all(file, path, bytes, size);
    announce(path);
    fuzz_bytes(bytes, size);
    munmap(memory, page + room + page);
}

static size_t replay_file(const char *path, const struct stat *status)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        give_up(path);
    replay_open(file, path, (size_t)status->st_size);
    fclose(file);
    return 1;
}

static size_t replay(const char *path);

static size_t replay_folder(const char *path)
{
    struct dirent **entries;
    size_t count = 0;
    int found = scandir(path, &entries, NULL, alphasort);
    if (found < 0)
        give_up(path);
    for (int i = 0; i < found; i++) {
        char inside[4096];
        if (entries[i]->d_name[0] != '.' && (size_t)snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name) < sizeof inside)
            count += replay(inside);
        free(entries[i]);
    }
    free(entries);
    return count;
}

static size_t replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        give_up(path);
    return S_ISDIR(status.st_mode) ? replay_folder(path) : replay_file(path, &status);
}

int main(int argc, char **argv)
{
    /* Every target gets every file: what is one reader's image is another's garbage. */
    static const char *const usual[] = {"tests/fuzz/corpus", "tests/data", "tests/tools/rex-check", TEST_BUILD "/tests/fake/host.so"};
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof usual / sizeof *usual; i++)
        count += replay(usual[i]);
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
