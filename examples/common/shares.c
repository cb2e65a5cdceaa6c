/*
 * shares.c - see shares.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "shares.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns the number of devices that share the work. */
static int number_of_shares(const struct settings *settings, int64_t pieces)
{
    int wanted = settings->devices, present = rex_device_count();
    if (wanted == ONE_DEVICE)
        return 1;
    if (wanted == ALL_DEVICES)
        wanted = present;
    if (wanted > present) {
        fprintf(stderr, "%s: --devices %d: the number of devices is %d, and all share the work\n",
                settings->program, wanted, present);
        wanted = present;
    }
    return pieces < wanted ? (int)pieces : wanted;
}

static int open_share(struct share *share, const struct settings *settings)
{
    int64_t device = settings->devices == ONE_DEVICE ? settings->device : share->number;
    int result = rex_queue_create(&share->queue, device, NULL, 0);
    if (result == 0)
        result = rex_event_create(&share->event);
    share->device = rex_queue_device(share->queue);
    return result;
}

int open_shares(struct shares *shares, const struct settings *settings, int64_t pieces)
{
    int result = 0, count = number_of_shares(settings, pieces);
    *shares = (struct shares){.each = calloc((size_t)count, sizeof *shares->each)};
    if (shares->each == NULL) {
        fprintf(stderr, "%s: out of memory\n", settings->program);
        return -1;
    }
    for (; shares->count < count && result == 0; shares->count++) {
        struct share *share = &shares->each[shares->count];
        share->number = shares->count;
        share->first = pieces * share->number / count;
        share->count = pieces * (share->number + 1) / count - share->first;
        result = open_share(share, settings);
    }
    if (result != 0)
        fprintf(stderr, "%s: %s\n", settings->program, rex_last_error());
    return result;
}

void close_shares(struct shares *shares)
{
    for (int i = 0; i < shares->count; i++) {
        rex_event_destroy(shares->each[i].event); /* ignores NULL */
        rex_queue_destroy(shares->each[i].queue);
    }
    free(shares->each);
    *shares = (struct shares){.count = 0};
}

int for_each_share(const struct shares *shares, share_function *function, void *context)
{
    int result = 0;
    for (int i = 0; i < shares->count && result == 0; i++)
        result = function(&shares->each[i], context);
    return result;
}

static int finish_share(const struct share *share, void *context)
{
    (void)context;
    return rex_queue_sync(share->queue);
}

int finish_shares(const struct shares *shares)
{
    return for_each_share(shares, finish_share, NULL);
}

void print_shares(const struct shares *shares, const char *pieces)
{
    int64_t least = shares->each[0].count, most = least;
    for (int i = 1; i < shares->count; i++) {
        least = shares->each[i].count < least ? shares->each[i].count : least;
        most = shares->each[i].count > most ? shares->each[i].count : most;
    }
    if (least == most)
        print_line("devices", "%d, %lld %s each", shares->count, (long long)most, pieces);
    else
        print_line("devices", "%d, %lld to %lld %s each", shares->count, (long long)least,
                   (long long)most, pieces);
}
