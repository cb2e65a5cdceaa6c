/* report.c - rex-report over a trace, as text and as a page. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include "fuzz.h"
#include "rex-report/page.h"
#include "rex-report/study.h"
#include "rex-report/text.h"

static FILE *nowhere(void)
{
    static FILE *file;
    if (file == NULL)
        file = fopen("/dev/null", "w");
    return file;
}

/* What a track was busy with is in its bins, all of it. */
static void check_bins(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        uint64_t all = 0;
        for (size_t bin = 0; bin < BINS; bin++)
            for (int kind = 0; kind < BUSY_KINDS; kind++)
                all += timeline->tracks[i].bins[bin][kind];
        FUZZ_CHECK(all == track_busy(&timeline->tracks[i]));
    }
}

void fuzz_bytes(const uint8_t *bytes, size_t size)
{
    struct study study;
    const char *why;
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "r") : NULL;
    if (file == NULL || nowhere() == NULL)
        return;
    if (study_trace(&study, file, &why)) {
        check_bins(&study.timeline);
        text_write(nowhere(), &study);
        page_write(nowhere(), &study, "trace");
        study_end(&study);
    }
    fclose(file);
}
