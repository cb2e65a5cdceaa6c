/*
 * compat.c - which release a libomptarget is, and whose programs it runs.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "omp/search.h"

int rex_runtime_tell(const char *path)
{
    const struct rex_release *release;
    char why[256];
    if (path == NULL)
        return rex_fail(REX_EINVAL, "rex_runtime_tell: the path is NULL");
    if (rex_search_tell(path, &release, why, sizeof why) != 0)
        return rex_fail(REX_ENORUNTIME, "%s: %s", path, why);
    return release->number;
}

/*
 * clang up to 17 builds kernels without a parameter for the runtime. 18's have one, which LLVM 18
 * alone passes unasked, to all kernels; those of 19 to 22 get it by the packet's version 3, and
 * from 23 on it comes last. 14 and 15 look at no version.
 */
int rex_runtime_takes(int release, int compiler)
{
    const struct rex_release *runtime = rex_release_row(release),
                             *built = rex_release_row(compiler);
    if (runtime == NULL || built == NULL)
        return rex_fail(REX_EINVAL, "rex_runtime_takes: LLVM %d is not one of 14 to 23",
                        runtime == NULL ? release : compiler);
    if (runtime == built)
        return 1;
    return !runtime->plain.refused && !built->plain.refused &&
           built->newest_packet <= runtime->newest_packet;
}
