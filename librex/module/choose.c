/*
 * choose.c - the one image for the device, out of all that a module's files hold.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/choose.h"

#include "base/error.h"
#include "base/log.h"
#include "cuda/driver.h"
#include "image/cubin.h"
#include "omp/runtime.h"

/* ---- how well an image suits ----------------------------------------------------------------- */

#define EXACT 1000000u
#define SAME_MAJOR 500000u

/*
 * Code for one GPU or one family has instructions that other code has not: it is preferred to code
 * for all.
 */
static unsigned special(char suffix)
{
    return suffix == 'a' ? 2 : suffix == 'f' ? 1 : 0;
}

/* 0: not at all. */
static unsigned rank(const struct rex_image_item *item, unsigned sm)
{
    unsigned number =
        item->architecture < EXACT / 100 ? item->architecture * 10 + special(item->suffix) : 0;
    bool suits =
        item->suffix == 'a' ? item->architecture == sm : rex_image_suits(item->architecture, sm);
    if (item->kind == REX_IMAGE_CUBIN)
        return !suits ? 0 : item->architecture == sm ? EXACT + number : SAME_MAJOR + number;
    if (item->kind == REX_IMAGE_PTX)
        return suits || (item->suffix == '\0' && item->architecture <= sm) ? number : 0;
    return 0;
}

static bool is_for_gpu(const struct rex_image_item *item)
{
    return item->kind == REX_IMAGE_CUBIN || item->kind == REX_IMAGE_PTX;
}

/* ---- all images ------------------------------------------------------------------------------ */

typedef bool visitor(const struct rex_choice *image, const struct rex_image_item *item,
                     void *context);

/* Until VISIT returns true. */
static bool visit_all(const struct rex_sources *sources, visitor *visit, void *context)
{
    for (size_t i = 0; i < sources->count; i++)
        for (size_t j = 0; j < sources->list[i].list.count; j++) {
            const struct rex_choice image = {&sources->list[i], j, -1};
            if (visit(&image, &sources->list[i].list.entries[j].item, context))
                return true;
        }
    return false;
}

static bool needs_gpu(const struct rex_choice *image, const struct rex_image_item *item,
                      void *context)
{
    (void)image, (void)context;
    return is_for_gpu(item);
}

static bool take_host(const struct rex_choice *image, const struct rex_image_item *item,
                      void *context)
{
    if (item->kind == REX_IMAGE_HOST)
        *(struct rex_choice *)context = *image;
    return item->kind == REX_IMAGE_HOST;
}

struct best {
    unsigned sm, rank;
    struct rex_choice choice;
};

static bool take_better(const struct rex_choice *image, const struct rex_image_item *item,
                        void *context)
{
    struct best *best = context;
    unsigned found = rank(item, best->sm);
    if (found > best->rank) {
        best->choice = *image;
        best->rank = found;
    }
    return false;
}

bool rex_choose_lacks_gpu(const struct rex_sources *sources)
{
    struct rex_choice host;
    return rex_cuda_devices() == 0 && !visit_all(sources, take_host, &host) &&
           visit_all(sources, needs_gpu, NULL);
}

/* ---- the choice ------------------------------------------------------------------------------ */

struct listing {
    struct rex_report text;
    const char *path; /* whose images are being told */
};

static bool tell(const struct rex_choice *image, const struct rex_image_item *item, void *context)
{
    struct listing *listing = context;
    char target[REX_TARGET_MAX];
    const char *path = image->source->path, *separator = listing->text.length > 0 ? "; " : "";
    rex_item_target(item, target);
    if (listing->path == path)
        rex_report_add(&listing->text, ", %s", target);
    else
        rex_report_add(&listing->text, "%s%s is for %s", separator, path, target);
    listing->path = path;
    return false;
}

static int nothing_suits(const struct rex_sources *sources)
{
    struct listing listing = {.path = NULL};
    unsigned sm = rex_cuda_architecture(0);
    visit_all(sources, tell, &listing);
    if (sources->missing.length > 0)
        rex_report_add(&listing.text, "; there is no %s", sources->missing.text);
    if (rex_cuda_devices() == 0)
        return rex_fail(rex_cuda_forked() ? REX_EFORK : REX_ENODEVICE,
                        "no device image can be used: %s; this process has no NVIDIA GPU: %s",
                        listing.text.text, rex_cuda_why());
    return rex_fail(REX_ENODEVICE,
                    "no device image suits the GPU, sm_%u: %s; compile with nvcc -arch=sm_%u or "
                    "rex-cc --arch=sm_%u",
                    sm, listing.text.text, sm, sm);
}

static bool is_warned; /* that kernels run on the CPU */

enum rex_log_level rex_choose_host_level(void)
{
    /* Relaxed: the flag stands for itself. */
    return rex_runtime_disabled() || __atomic_exchange_n(&is_warned, true, __ATOMIC_RELAXED)
               ? REX_LOG_INFO
               : REX_LOG_WARN;
}

static void log_choice(const struct rex_choice *choice, const struct rex_sources *sources)
{
    struct listing all = {.path = NULL};
    char target[REX_TARGET_MAX];
    const struct rex_image_item *item = &choice->source->list.entries[choice->index].item;
    visit_all(sources, tell, &all);
    rex_log(REX_LOG_DEBUG, "to choose from: %s", all.text.text);
    if (item->kind == REX_IMAGE_HOST && visit_all(sources, needs_gpu, NULL))
        rex_log(rex_choose_host_level(), "kernels run on the CPU: host image %s is used: %s",
                choice->source->path, rex_cuda_why());
    else
        rex_log(REX_LOG_INFO, "device image %s: chosen is the one for %s", choice->source->path,
                rex_item_target(item, target));
}

/* Nothing to choose: who opens it says what is wrong with it. PTX has to be compiled for a GPU. */
static bool is_plain(const struct rex_sources *sources)
{
    const struct rex_list *list = &sources->list[0].list;
    return sources->count == 1 && sources->missing.length == 0 && list->plain &&
           list->entries[0].item.kind != REX_IMAGE_PTX;
}

int rex_choose(const struct rex_sources *sources, struct rex_choice *choice)
{
    struct best best = {.rank = 0};
    *choice = (struct rex_choice){sources->list, 0, -1};
    if (is_plain(sources))
        return REX_OK;
    for (int i = 0; i < rex_cuda_devices() && best.rank == 0; i++) {
        best.sm = rex_cuda_architecture(i);
        visit_all(sources, take_better, &best);
        best.choice.gpu = i;
    }
    bool host = (rex_cuda_devices() == 0 || !visit_all(sources, needs_gpu, NULL)) &&
                visit_all(sources, take_host, choice);
    if (!host && best.rank == 0)
        return nothing_suits(sources);
    if (!host)
        *choice = best.choice;
    log_choice(choice, sources);
    return REX_OK;
}
