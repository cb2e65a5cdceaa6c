/*
 * items.h - the entries, host keys and kernels that sources define and use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_ITEMS_H
#define CHECK_ITEMS_H

#include "report.h"
#include "tokens.h"

enum item_kind {
    ITEM_ENTRY,  /* an entry */
    ITEM_KERNEL, /* a kernel that a device file defines */
    ITEM_KEY,    /* a host key that a launch passes, or whose address is taken outside of entries */
    /*
     * source text that rex-check cannot read. If `placed` is true, the text may contain kernels; if
     * `placed` is false, it may contain entries.
     */
    ITEM_UNSEEN
};

struct item {
    enum item_kind kind;
    struct place at;
    bool conditional; /* inside an #if, whose other branch may define the same name */
    /*
     * If `kind` is ITEM_ENTRY: the entry has the section attribute. If ITEM_KERNEL: the kernel is
     * extern "C". If ITEM_UNSEEN: the source text may contain kernels.
     */
    bool placed;
    char *symbol, *key, *name; /* NULL if the item has no such name */
};

struct items {
    struct item *list;
    size_t count;
};

/* Add to ITEMS the items in TOKENS, which are the tokens of a host file or of a device file. */
void items_read_host(struct items *items, const struct tokens *tokens);
void items_read_device(struct items *items, const struct tokens *tokens);

void items_free(struct items *items);

#endif
