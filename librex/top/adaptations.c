/*
 * adaptations.c - a release's row of facts for tools: the programs that it runs, and, in words, the
 * adaptations by librex and their reasons.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "top/adaptations.h"

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "omp/search.h"
#include "rex/inspect.h"

/* ---- the release and its programs ------------------------------------------------------------ */

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
 * clang up to 17 builds kernels without a parameter for the runtime. Kernels of 18 have one, which
 * LLVM 18 alone always passes, to all kernels. Kernels of 19 to 22 get it by the packet's version
 * 3, and from 23 on it comes last. 14 and 15 ignore the version. Packets of 15 end where those of
 * 16 and later have Flags, so that later releases would read random flags. Programs of 22 and later
 * attach pointers by rows of their own. Earlier releases map these rows, so that the kernels use
 * the wrong memory.
 */
static bool takes(const struct rex_release *runtime, const struct rex_release *built)
{
    return !runtime->plain.refused && !built->plain.refused &&
           built->newest_packet <= runtime->newest_packet &&
           (runtime->no_packet || !built->no_flags) &&
           (runtime->attach_rows || !built->attach_rows);
}

static const char *how_taken(const struct rex_release *runtime, const struct rex_release *built)
{
    if (runtime == built)
        return "yes";
    if (!takes(runtime, built))
        return "no";
    return runtime->host_argument_array && !built->host_argument_array ? "on GPUs alone" : "yes";
}

static void programs(const struct rex_release *runtime, rex_info_row *row, void *context)
{
    const struct rex_release *built = NULL;
    char name[32];
    while ((built = rex_release_after(built != NULL ? built->number : 0)) != NULL) {
        snprintf(name, sizeof name, "clang %d", built->number);
        row("programs", name, how_taken(runtime, built), context);
    }
}

/* ---- adaptations ----------------------------------------------------------------------------- */

static void packets(const char *name, const struct rex_packet_rule *rule, rex_info_row *row,
                    void *context)
{
    char text[256];
    if (rule->refused)
        snprintf(text, sizeof text,
                 "refused: libomptarget passes every kernel a parameter of its own");
    else
        snprintf(text, sizeof text, "packet version %u%s; a GPU's grid has %d dimension%s%s",
                 (unsigned)rule->version,
                 rule->leading_row ? " with a row for the parameter that libomptarget does not add"
                                   : "",
                 rule->dimensions, rule->dimensions == 1 ? "" : "s",
                 rule->dynamic_memory ? "" : ", no dynamic shared memory");
    row("adapted", name, text, context);
}

static void host_kernels(const struct rex_release *release, rex_info_row *row, void *context)
{
    const struct rex_packet_rule *rule = &release->host;
    char text[256];
    if (rule->version == 0)
        return;
    snprintf(text, sizeof text,
             "on the CPU by functions that rex/kernel.h makes beside them, packet version %u%s",
             (unsigned)rule->version,
             rule->trailing_row ? " with a row for libomptarget to write over" : "");
    row("adapted", "host kernels", text, context);
}

/* Facts that hold or not. */
static void yes_or_no(const struct rex_release *release, rex_info_row *row, void *context)
{
    const struct {
        bool holds;
        const char *name, *text;
    } facts[] = {
        {release->no_packet, "launches",
         "by __tgt_target_teams_mapper: there is no __tgt_target_kernel"},
        {release->entries_by_position, "host entries",
         "in the image's order: the host device matches entries by position"},
        {release->parents_rounded, "rows with members",
         "compared with what is mapped from the multiple of 8 below their beginning: libomptarget "
         "maps them from there"},
        {release->one_end_a_call, "ends of mappings",
         "one call for each row where rows share one; a launch that would need it is refused: "
         "libomptarget aborts on a second end"},
        {release->one_delete_a_call, "ends of mappings",
         "one call for each row where rows share one and a row deletes: libomptarget crashes on a "
         "delete after the last end"},
        {release->excess_copied, "implicit rows",
         "that exceed what the same call maps are refused where they are copied: libomptarget "
         "copies past its end"},
        {release->presence_at_entry, "presence",
         "that a row asks for is that before the call: libomptarget aborts where an earlier row of "
         "it would map the memory"},
        {release->exec_mode_obeyed, "exec modes",
         "hidden: symbols KERNEL_exec_mode are renamed in the copy of a CUBIN: libomptarget "
         "launches as they say, or not at all"},
        {release->shared_memory_fixed, "shared memory",
         "of a block, more than 48 KiB is an error: the driver would refuse the launch"},
        {release->static_memory_uncounted, "shared memory",
         "48 KiB of it dynamic, or more, where a block has more than 48 KiB: libomptarget does not "
         "count the kernel's own"},
        {release->late_image_ignored, "late images",
         "refused: an image registered after a device's first use is never loaded; modules that "
         "are known are registered together, and a registration stays when its module ends"},
        {release->names_in_tor_crash, "kernel names",
         "that end in \"tor\" are refused: such a kernel gets no arguments"},
        {release->devices_at_first_use, "contexts",
         "of GPUs are activated when each is first used, which is when libomptarget starts it"},
        {release->plugins_apart, "plugins",
         "looked for beside libomptarget: they are files of their own, with unversioned names"},
        {release->openmp_first, "libomp",
         "opened before libomptarget, which calls it without a look"},
        {release->runtime_object, "calls",
         "held back until a registration: they crash before the first one"},
        {true, "registrations",
         "wait until no other thread is inside a launch or data call, as ends of modules do, and "
         "load an image at once where devices are in use: libomptarget crashes where these meet"},
        {!release->no_packet && !release->no_flags, "programs of clang 15",
         "are refused by rex-run: their packets end before Flags, which libomptarget reads"},
        {release->host_argument_array, "programs of clang 22",
         "and earlier are refused by rex-run where their images are for the CPU: its kernels take "
         "one array of arguments"},
        {!release->attach_rows, "programs of clang 22",
         "and later are refused by rex-run: their rows that attach pointers are mapped"},
        {release->packed_slots, "parameters",
         "of other widths than 8 bytes are refused, but where the CUDA driver launches: arguments "
         "are packed in 8-byte slots"},
        {release->host_argument_array, "other host kernels",
         "refused: they would take one array of arguments"},
        {release->old_entries_only, "adopted entries",
         "in clang 20's form are rewritten, which are misread"},
        {release->newest_container == 0, "adopted containers",
         "are opened: libomptarget does not open an OffloadBinary at registration"},
        {release->strict_flags != 0, "grid", "marked as strict, or it is only a hint"},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].holds)
            row("adapted", facts[i].name, facts[i].text, context);
}

static void limits(const struct rex_release *release, rex_info_row *row, void *context)
{
    char text[256];
    snprintf(text, sizeof text,
             "0x%llx are passed on; any other is an error: it is not known, or the rows would be "
             "taken for something else",
             (unsigned long long)release->packet_flags);
    row("adapted", "flags of a packet", text, context);
    if (release->newest_old_header > 0) {
        snprintf(text, sizeof text,
                 "the older header is written into copies of CUDA 13's CUBINs up to sm_%d%s",
                 release->newest_old_header,
                 release->new_header_refused ? "; later ones are refused"
                                             : "; 21.1.0 and 21.1.1 refuse later ones");
        row("adapted", "CUBINs", text, context);
    }
    if (release->environment_size > 0) {
        snprintf(text, sizeof text,
                 "symbols KERNEL_kernel_environment of other than %u bytes are an error: "
                 "libomptarget would abort",
                 (unsigned)release->environment_size);
        row("adapted", "kernels of clang", text, context);
    }
    if (release->most_teams > 0) {
        snprintf(text, sizeof text, "more than %u are an error: libomptarget would cut them down",
                 (unsigned)release->most_teams);
        row("adapted", "teams", text, context);
    }
    if (release->most_dynamic_memory > 0) {
        snprintf(text, sizeof text,
                 "more than %u bytes are an error: the launch would be reported and not done",
                 (unsigned)release->most_dynamic_memory);
        row("adapted", "dynamic shared memory", text, context);
    }
    if (release->driver_function != NULL) {
        snprintf(text, sizeof text, "for CUDA %s or later is needed: the plugin calls %s",
                 release->driver_since, release->driver_function);
        row("adapted", "CUDA driver", text, context);
    }
}

void rex_adaptations(const struct rex_release *release, rex_info_row *row, void *context)
{
    packets("plain kernels", &release->plain, row, context);
    packets("env kernels", &release->env, row, context);
    host_kernels(release, row, context);
    yes_or_no(release, row, context);
    limits(release, row, context);
}

int rex_info_of_release(int number, rex_info_row *row, void *context)
{
    const struct rex_release *release = rex_release_row(number);
    char message[64];
    if (release == NULL) {
        snprintf(message, sizeof message, "rex_info: LLVM %d is none that librex knows", number);
        return rex_fail_again(REX_EINVAL, message);
    }
    rex_adaptations(release, row, context);
    programs(release, row, context);
    return REX_OK;
}
