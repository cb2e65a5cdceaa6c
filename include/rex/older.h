/*
 * rex/older.h - for the older output of REX, which fills its table of entries in a constructor.
 *
 * Put the line `#include <rex/older.h>` at the start of such a file, or compile the file with
 * `-include rex/older.h`. Then register_cubin(name, begin, end) works, and the file may define
 * `__cubin_desc`, `__start_omp_offloading_entries` and `__stop_omp_offloading_entries`. Each file
 * is a module of its own. The file's calls of `__tgt_X` call `rex___tgt_X` of rex_kmp.h. A launch
 * finds the module by the host key.
 *
 * Everything here is since 0.2 unless it says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_OLDER_H
#define REX_OLDER_H

/*
 * rex_kmp.h must not rewrite this file's calls to its own module: the entries of this file are in
 * rex_older_module.
 */
#define REX_KMP_INTERNAL
#include "rex_kmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* rex_older_module: the file's module. */
static struct rex_module rex_older_module;

/**
 * rex_older_register(): registers the file's module, as register_cubin() of the older output does.
 * @name is copied, up to 255 bytes. Returns the descriptor, or NULL after an error of
 * rex_module_register().
 */
static inline struct __tgt_bin_desc *rex_older_register(char *name, void *begin, void *end)
{
    static char image_name[256];
    static struct __tgt_bin_desc *descriptor;
    strncpy(image_name, name, sizeof image_name - 1);
    rex_older_module.struct_size = sizeof rex_older_module;
    rex_older_module.entries_begin = (struct __tgt_offload_entry *)begin;
    rex_older_module.entries_end = (struct __tgt_offload_entry *)end;
    rex_older_module.image_name = image_name;
    rex_older_module.host_image_name = REX_HOST_IMAGE_NAME;
    rex_older_module.descriptor = &descriptor;
    return rex_module_register(&rex_older_module, NULL) == 0 ? descriptor : NULL;
}

#ifdef __cplusplus
}
#endif

/* register_cubin: a call becomes a call of rex_older_register(), which has three parameters. */
#define register_cubin rex_older_register
/* __tgt_unregister_lib(): ends the file's module. */
#define __tgt_unregister_lib(desc) ((void)(desc), (void)rex_module_fini(&rex_older_module))
/* __cubin_desc: renames the variable that the file defines. */
#define __cubin_desc rex_older_desc
/*
 * __start_omp_offloading_entries: this name of a linker's symbol becomes the name of a variable of
 * the file.
 */
#define __start_omp_offloading_entries rex_older_begin
/*
 * __stop_omp_offloading_entries: this name of a linker's symbol becomes the name of a variable of
 * the file.
 */
#define __stop_omp_offloading_entries rex_older_end
/*
 * __tgt_target: a call becomes a call of rex___tgt_target(), which finds the module by the host
 * key.
 */
#define __tgt_target rex___tgt_target
/* __tgt_target_teams: a call becomes a call of rex___tgt_target_teams(). */
#define __tgt_target_teams rex___tgt_target_teams
/* __tgt_target_kernel: a call becomes a call of rex___tgt_target_kernel(). */
#define __tgt_target_kernel rex___tgt_target_kernel
/* __tgt_target_data_begin: a call becomes a call of rex___tgt_target_data_begin(). */
#define __tgt_target_data_begin rex___tgt_target_data_begin
/* __tgt_target_data_end: a call becomes a call of rex___tgt_target_data_end(). */
#define __tgt_target_data_end rex___tgt_target_data_end
/* __tgt_target_data_update: a call becomes a call of rex___tgt_target_data_update(). */
#define __tgt_target_data_update rex___tgt_target_data_update

#endif
