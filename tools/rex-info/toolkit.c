/*
 * toolkit.c - the CUDA toolkit that rex-cc would use. Finds the toolkit as rex-cc does, and reads
 * the version from cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "toolkit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mapping.h"
#include "common/memory.h"

static bool is_program(const char *path, char found[PATH_MAX])
{
    return access(path, X_OK) == 0 && realpath(path, found) != NULL;
}

static bool find_nvcc(char found[PATH_MAX])
{
    const char *named = getenv("NVCC"), *folders = getenv("PATH");
    bool there = named != NULL && strchr(named, '/') != NULL && is_program(named, found);
    while (!there && folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        char *path = tool_format("%.*s/nvcc", (int)length, folders);
        there = length > 0 && is_program(path, found);
        free(path);
        folders += length + (folders[length] == ':');
    }
    return there || is_program("/usr/local/cuda/bin/nvcc", found);
}

/*
 * Returns CUDA_VERSION of the file ../include/cuda.h, relative to NVCC's folder (13000 for 13.0).
 * Returns 0 if the file lacks the number or is missing.
 */
static int version_beside(const char *nvcc)
{
    char line[256], why[MAPPING_WHY];
    struct stat status;
    int version = 0;
    size_t folder = (size_t)(strrchr(nvcc, '/') - nvcc);
    char *path = tool_format("%.*s/../include/cuda.h", (int)folder, nvcc);
    /* mapping_open() refuses a pipe or a device: reading it might never end. */
    int descriptor = mapping_open(path, &status, why);
    FILE *header = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    while (version == 0 && header != NULL && fgets(line, sizeof line, header) != NULL)
        if (sscanf(line, "#define CUDA_VERSION %d", &version) != 1)
            version = 0;
    if (header != NULL)
        fclose(header);
    free(path);
    return version;
}

void facts_of_toolkit(struct facts *facts)
{
    char nvcc[PATH_MAX], text[32];
    if (!find_nvcc(nvcc)) {
        facts_add("toolkit", "nvcc",
                  "not found: rex-cc compiles for GPUs with clang, if clang is found", facts);
        return;
    }
    int version = version_beside(nvcc);
    facts_add("toolkit", "nvcc", nvcc, facts);
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    if (version > 0)
        facts_add("toolkit", "CUDA version", text, facts);
}
