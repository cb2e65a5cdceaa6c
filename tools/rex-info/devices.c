/*
 * devices.c - reports the GPUs, and the devices that libomptarget offers for an image.
 *
 * LLVM 19 and later crash if a program asks about devices before a registration. All LLVM releases
 * count only devices that can run a registered image. So rex-info registers an image of its own,
 * with a kernel for the host device. It registers the image in a child, because a library may
 * crash.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rex.h>
#include <rex/inspect.h>

#include "common/channel.h"
#include "common/print.h"

/* ---- GPUs ------------------------------------------------------------------------------------ */

/*
 * Returns how GPU NUMBER reaches GPU OTHER: "self", "nvlink", "pci" or "host". *GPU is the
 * description of GPU NUMBER.
 */
static const char *link_between(int number, const struct rex_gpu *gpu, int other)
{
    return number == other                         ? "self"
           : (gpu->atomic_peers >> other & 1) != 0 ? "nvlink"
           : (gpu->peers >> other & 1) != 0        ? "pci"
                                                   : "host";
}

static void print_gpu(int number, const struct rex_gpu *gpu, bool json)
{
    if (json) {
        printf("%s\n    {\"number\": %d, \"name\": ", number > 0 ? "," : "", number);
        print_json(stdout, gpu->name);
        printf(", \"capability\": \"%d.%d\", \"memory\": %" PRIu64
               ", \"multiprocessors\": %d, \"threads_per_block\": %d, "
               "\"shared_memory\": %" PRIu64 ", \"driver\": %d, \"uuid\": \"%s\", "
               "\"pci\": \"%s\", \"numa_node\": %d, \"links\": [",
               gpu->capability_major, gpu->capability_minor, gpu->memory, gpu->multiprocessors,
               gpu->threads_per_block, gpu->shared_memory, gpu->driver, gpu->uuid, gpu->pci,
               gpu->numa_node);
        for (int i = 0; i < rex_gpu_count(); i++)
            printf("%s\"%s\"", i > 0 ? ", " : "", link_between(number, gpu, i));
        fputs("]}", stdout);
        return;
    }
    printf("    %d  ", number);
    print_text(stdout, gpu->name);
    printf(", sm_%d%d, %" PRIu64 " MiB, %d multiprocessors, %d threads and %" PRIu64
           " KiB of shared memory a block\n",
           gpu->capability_major, gpu->capability_minor, gpu->memory >> 20, gpu->multiprocessors,
           gpu->threads_per_block, gpu->shared_memory >> 10);
    printf("       %s, PCI %s", *gpu->uuid != '\0' ? gpu->uuid : "no UUID",
           *gpu->pci != '\0' ? gpu->pci : "unknown");
    if (gpu->numa_node >= 0)
        printf(", NUMA node %d", gpu->numa_node);
    putchar('\n');
}

static void print_no_gpu(int number, const char *why, bool json)
{
    if (json) {
        printf("%s\n    {\"number\": %d, \"error\": ", number > 0 ? "," : "", number);
        print_json(stdout, why);
        putchar('}');
    } else {
        printf("    %d  ", number);
        print_text(stdout, why);
        putchar('\n');
    }
}

/* Prints a row for each GPU: how the GPU reaches every other GPU. */
static void print_links(int count)
{
    fputs("\nlinks between GPUs: nvlink (direct, with atomics), pci (direct), host (by host "
          "memory)\n  "
          "    ",
          stdout);
    for (int i = 0; i < count; i++)
        printf("%8d", i);
    putchar('\n');
    for (int i = 0; i < count; i++) {
        struct rex_gpu gpu = {.peers = 0};
        rex_gpu_get(&gpu, sizeof gpu, i);
        printf("    %2d", i);
        for (int j = 0; j < count; j++)
            printf("%8s", i == j ? "-" : link_between(i, &gpu, j));
        putchar('\n');
    }
}

static void print_gpus(bool json)
{
    struct rex_gpu gpu;
    int count = rex_gpu_count();
    fputs(json ? "\"gpus\": [" : "GPUs\n", stdout);
    if (count == 0 && !json && rex_gpu_get(&gpu, sizeof gpu, 0) != REX_OK) {
        fputs("    ", stdout);
        print_text(stdout, rex_last_error());
        putchar('\n');
    }
    for (int i = 0; i < count; i++) {
        if (rex_gpu_get(&gpu, sizeof gpu, i) == REX_OK)
            print_gpu(i, &gpu, json);
        else
            print_no_gpu(i, rex_last_error(), json);
    }
    if (count > 1 && !json)
        print_links(count);
    fputs(json ? "],\n" : "\n", stdout);
}

/* ---- the host device, asked in a child ------------------------------------------------------- */

/* The host image of probe.cu; the Makefile defines its path. */
__asm__(".pushsection .rodata\n.balign 16\nprobe_image:\n.incbin \"" PROBE_IMAGE
        "\"\nprobe_image_end:\n.byte 0\n.popsection\n");
extern const char probe_image[] __attribute__((visibility("hidden")));
extern const char probe_image_end[] __attribute__((visibility("hidden")));

REX_KERNEL(probe);

struct answer {
    int count;  /* devices that libomptarget offers for the image */
    int result; /* result of a launch */
    char why[512];
};

static void ask(struct answer *answer)
{
    static int64_t value[1];
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(probe), 1, 1);
    REX_MAP(map, REX_FROM(value, 1));
    rex_this_module.image = probe_image;
    rex_this_module.image_size = (size_t)(probe_image_end - probe_image);
    rex_configure(REX_OPTION_LOG, "off");
    rex_configure(REX_OPTION_REQUIRE_GPU, "off");
    answer->result = rex_module_register(&rex_this_module, NULL);
    answer->count = rex_device_count();
    if (answer->result == REX_OK)
        answer->result = rex_launch(&launch, &map);
    snprintf(answer->why, sizeof answer->why, "%s", rex_last_error());
    if (answer->result == REX_OK && value[0] != 42) {
        answer->result = REX_ERUNTIME;
        snprintf(answer->why, sizeof answer->why, "its result is missing");
    }
}

/*
 * Asks in a child process, and copies the child's answer to ANSWER. Returns 0 if the child has
 * answered. Otherwise returns the wait status of the child. If that status is 0, or if there is no
 * child, returns -1.
 */
static int ask_child(struct answer *answer)
{
    int ends[2], status = 0;
    if (channel_open(ends) != 0)
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ask(answer);
        _exit(write(ends[1], answer, sizeof *answer) == (ssize_t)sizeof *answer ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = child > 0 ? read(ends[0], answer, sizeof *answer) : -1;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    return got == (ssize_t)sizeof *answer ? 0 : status != 0 ? status : -1;
}

void host_ask(struct host *host)
{
    struct answer answer = {0};
    int status = ask_child(&answer);
    size_t size = sizeof host->text;
    *host = (struct host){.devices = answer.count,
                          .ran = status == 0 && answer.count > 0 && answer.result == REX_OK};
    if (status > 0 && WIFSIGNALED(status))
        snprintf(host->text, size,
                 "libomptarget crashed when a host image was registered (signal %d)",
                 WTERMSIG(status));
    else if (status != 0)
        snprintf(host->text, size,
                 "no answer: rex-info asks libomptarget in a separate process, and that process "
                 "failed");
    else if (answer.count == 0)
        snprintf(host->text, size, "%s", answer.why);
    else if (answer.result != REX_OK)
        snprintf(host->text, size, "a kernel did not run: %s", answer.why);
    else
        snprintf(host->text, size, "a kernel ran");
}

static void print_host(const struct host *host, bool json)
{
    if (json) {
        printf("\"host\": {\"devices\": %d, \"result\": ", host->devices);
        print_json(stdout, host->text);
        fputs("},\n", stdout);
        return;
    }
    fputs("devices, as libomptarget numbers them\n", stdout);
    if (host->devices > 0)
        printf("    with a host image       0 to %d: the CPU; ", host->devices - 1);
    else
        fputs("    with a host image       none: ", stdout);
    print_text(stdout, host->text);
    fputs("\n    with an image for GPUs  0 and up: the GPUs that the image suits, in the order "
          "above\n"
          "    with both               in the order of registration; rex_device_gpu(3) returns "
          "the GPU of a device number\n\n",
          stdout);
}

void devices_print(bool json, const struct host *host)
{
    print_gpus(json);
    if (host != NULL)
        print_host(host, json);
}
