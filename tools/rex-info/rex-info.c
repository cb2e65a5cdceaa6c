/*
 * rex-info.c - what librex would do on this machine, and its ABI.
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
#include "toolkit.h"

enum status { STATUS_USABLE, STATUS_NO_RUNTIME, STATUS_FAILED };

static const char usage[] = "usage: rex-info [--json]\n"
                            "       rex-info --abi [--json]\n"
                            "\n"
                            "Says what librex would do on this machine: which libomptarget it "
                            "takes and why, what it adapts for that release, the GPUs and "
                            "devices,\n"
                            "the CUDA driver, the settings.\n"
                            "\n"
                            "  --abi             instead: every struct with its offsets, every "
                            "constant and exported function, for code generators\n"
                            "  --json            for programs\n"
                            "  -h, --help        this text\n"
                            "  -V, --version     the version\n"
                            "\n"
                            "Status: 0 kernels can run, 1 there is no usable libomptarget, 2 "
                            "rex-info was not used as above or failed.\n"
                            "The errors of librex have man pages: man REX_EKEY. From symptom to "
                            "cause: man rex-troubleshooting.\n";

static int fail(const char *why)
{
    tool_error("rex-info", why);
    return STATUS_FAILED;
}

/* What was printed has to be there. */
static int finish(int status)
{
    return fflush(stdout) != 0 || ferror(stdout) ? fail("the report cannot be written") : status;
}

/* libomptarget is not asked anything here, since a build may depend on what is printed. */
static int print_abi(bool json)
{
    Dl_info here;
    void *version = dlsym(RTLD_DEFAULT, "rex_version");
    if (version == NULL || dladdr(version, &here) == 0 || abi_print(json, here.dli_fname) != 0)
        return fail("librex.so cannot be read");
    return finish(STATUS_USABLE);
}

static int print_all(struct facts *facts, bool json)
{
    bool usable = facts_find(facts, "libomptarget", "error") == NULL;
    facts_of_toolkit(facts);
    facts_of_environment(facts);
    fputs(json ? "{" : "", stdout);
    facts_print(facts, json);
    devices_print(json, usable);
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
    static struct facts facts;
    bool abi = false, json = false;
    int option;
    opterr = 0;
    while ((option = getopt_long(count, arguments, "hV", options, NULL)) != -1)
        switch (option) {
        case 'a': abi = true; break;
        case 'j': json = true; break;
        case 'h': fputs(usage, stdout); return finish(STATUS_USABLE);
        case 'V': printf("rex-info (librex) %s\n", rex_version()); return finish(STATUS_USABLE);
        default: return fail(tool_format("%s; try rex-info --help", refused_option(arguments)));
        }
    if (optind < count)
        return fail("it takes no arguments; try rex-info --help");
    if (abi)
        return print_abi(json);
    return rex_info(0, facts_add, &facts) == REX_OK ? print_all(&facts, json)
                                                    : fail(rex_last_error());
}
