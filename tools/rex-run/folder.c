/*
 * folder.c - a private folder with links to libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "die.h"

static char folder[PATH_MAX]; /* "": not made */

void remove_folder(void)
{
    char path[PATH_MAX + NAME_MAX + 2];
    struct dirent *entry;
    DIR *open = *folder != '\0' ? opendir(folder) : NULL;
    while (open != NULL && (entry = readdir(open)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(path);
    }
    if (open != NULL)
        closedir(open);
    if (*folder != '\0')
        rmdir(folder);
    *folder = '\0';
}

const char *make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    char path[PATH_MAX];
    path_of(path, "%s/rex-run.XXXXXX", parent != NULL && *parent != '\0' ? parent : "/tmp");
    /*
     * Make the path absolute, because TMPDIR may be relative and the program may change its current
     * folder.
     */
    if (mkdtemp(path) == NULL || realpath(path, folder) == NULL)
        die(NOT_RUN, "%s: %s", path, strerror(errno));
    tidy_before_death(remove_folder);
    return folder;
}

void make_link(const char *name, size_t length, const char *to)
{
    char path[PATH_MAX];
    path_of(path, "%s/%.*s", folder, (int)length, name);
    if (symlink(to, path) != 0 && errno != EEXIST)
        die(NOT_RUN, "%s: %s", path, strerror(errno));
}
