/*
 * items.h - what sources define and use: entries, host keys, kernels.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_ITEMS_H
#define CHECK_ITEMS_H

#include "report.h"
#include "tokens.h"

/*
 * An entry; a kernel, which a device file defines; a host key, which a launch passes, or whose
 * address is taken outside of the entries; a place where there may be entries, or if it is placed
 * kernels, that are not seen.
 */
enum item_kind { ITEM_ENTRY, ITEM_KERNEL, ITEM_KEY, ITEM_UNSEEN };

struct item {
    enum item_kind kind;
    struct place at;
    bool conditional;          /* another one may stand in another branch of an #if */
    bool placed;               /* an entry in its section; a kernel that is extern "C" */
    char *symbol, *key, *name; /* NULL where it has none */
};

struct items {
    struct item *list;
    size_t count;
};

/* Add what the tokens of a file say. */
void items_read_host(struct items *items, const struct tokens *tokens);
void items_read_device(struct items *items, const struct tokens *tokens);

void items_free(struct items *items);

#endif
