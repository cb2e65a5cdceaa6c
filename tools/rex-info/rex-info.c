/*
 * rex-info.c - reports how librex would work on this machine, and its ABI.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "common/memory.h"
#include "common/option.h"
#include "common/print.h"
#include "devices.h"
#include "facts.h"
#include "rex/inspect.h"
#include "summary.h"
#include "toolkit.h"

enum status { STATUS_USABLE, STATUS_NO_RUNTIME, STATUS_FAILED };

static const char usage[] =
    "usage: rex-info [--json]\n"
    "       rex-info --abi [--json]\n"
    "\n"
    "Shows which libomptarget librex would use on this machine and why, and how it\n"
    "adapts to that release. Also shows the GPUs, the device numbers of libomptarget,\n"
    "the CUDA driver and librex's settings.\n"
    "\n"
    "  --abi             print instead the ABI of librex and libomptarget, for code\n"
    "                    generators: structs with offsets, constants, functions\n"
    "  --json            print JSON\n"
    "  -h, --help        print this text\n"
    "  -V, --version     print the version\n"
    "\n"
    "Exit status: 0 if there is a usable libomptarget, or with --abi; 1 if there is\n"
    "none; 2 for wrong usage or if rex-info failed.\n"
    "Each error has a man page, for example: man REX_EKEY.\n"
    "To find the cause of a problem: man rex-troubleshooting.\n";

static int fail(const char *why)
{
    tool_error("rex-info", why);
    return STATUS_FAILED;
}

/* Returns STATUS. If output was lost, reports this error and returns STATUS_FAILED. */
static int finish(int status)
{
    const char *why = print_end();
    return why != NULL ? fail(tool_format("the report cannot be written: %s", why)) : status;
}

/*
 * Does not open libomptarget. A build may use the output of this function, so the output must not
 * depend on the machine's libomptarget.
 */
static int print_abi(bool json)
{
    Dl_info here;
    void *version = dlsym(RTLD_DEFAULT, "rex_version");
    const char *why = "it is not found";
    if (version == NULL || dladdr(version, &here) == 0 ||
        abi_print(json, here.dli_fname, &why) != 0)
        return fail(tool_format("librex.so cannot be read: %s", why));
    return finish(STATUS_USABLE);
}

/* Advice if no GPU can be used. `helps` is the advice if the error message contains `words`. */
static const struct {
    const char *words, *helps;
} advice[] = {
    {"cannot be opened: Permission denied",
     "become a member of the group of the file, or have its mode changed (chmod 666, or "
     "NVreg_DeviceFileMode of the kernel module)"},
    {"cannot be opened: Operation not permitted",
     "give the container or the job access to the GPU"},
    {"cannot be opened: No such",
     "create it as root with nvidia-modprobe -u -c 0; give a container access to it"},
    {"its kernel module is loaded",
     "install the library of that version, or give it to the container (--gpus all)"},
    {"no file can be opened", "close files, or raise the limit (ulimit -n)"},
    {"CUDA_VISIBLE_DEVICES", "unset CUDA_VISIBLE_DEVICES, or name a GPU there"},
    {"the toolkit's stub", "remove the folder of the stub from LD_LIBRARY_PATH"},
    {"CUDA_ERROR_SYSTEM_NOT_READY", "start the missing service"},
    {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "reload the kernel module, or restart the machine or the container"},
    {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "remove the folder of that package from LD_LIBRARY_PATH"},
    {"CUDA_ERROR_MPS_CONNECTION_FAILED", "start the MPS daemon, or unset CUDA_MPS_PIPE_DIRECTORY"},
};

static void add(const char *group, const char *name, const char *value, void *facts)
{
    facts_add(group, name, value, facts);
    if (strcmp(group, "driver") != 0 || strcmp(name, "error") != 0)
        return;
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (strstr(value, advice[i].words) != NULL) {
            facts_add(group, "what helps", advice[i].helps, facts);
            return;
        }
}

static int print_all(struct facts *facts, bool json)
{
    struct host host;
    bool usable = facts_find(facts, "libomptarget", "error") == NULL;
    if (usable)
        host_ask(&host);
    facts_of_toolkit(facts);
    facts_of_environment(facts);
    fputs(json ? "{" : "", stdout);
    summary_print(facts, usable ? &host : NULL, json);
    facts_print(facts, json);
    devices_print(json, usable ? &host : NULL);
    abi_print_sizes(json);
    fputs(json ? "}\n" : "", stdout);
    return finish(usable ? STATUS_USABLE : STATUS_NO_RUNTIME);
}

int main(int count, char **arguments)
{
    static const struct option options[] = {
        {"abi", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    static const char letters[] = "hV";
    static struct facts facts;
    bool abi = false, json = false;
    int option;
    print_begin();
    opterr = 0;
    while ((option = getopt_long(count, arguments, letters, options, NULL)) != -1)
        switch (option) {
        case 'a': abi = true; break;
        case 'j': json = true; break;
        case 'h': fputs(usage, stdout); return finish(STATUS_USABLE);
        case 'V': printf("rex-info (librex) %s\n", rex_version()); return finish(STATUS_USABLE);
        default:
            return fail(tool_format("%s; try rex-info --help", refused_option(arguments, letters)));
        }
    if (optind < count)
        return fail("it takes no arguments; try rex-info --help");
    if (abi)
        return print_abi(json);
    return rex_info(0, add, &facts) == REX_OK ? print_all(&facts, json) : fail(rex_last_error());
}
