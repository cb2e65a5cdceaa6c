/*
 * Images of Triton: a CUBIN, and a JSON file beside it that describes the launch of its kernel.
 *
 * Triton's own launcher is C code, which it compiles for each kernel while the program runs. With
 * librex any program launches the kernel: rex_library_load() loads the CUBIN, and the program reads
 * six fields of the JSON file.
 *
 *     name                     name of the kernel in the image;
 *     num_warps                warps of a one-dimensional block, of 32 threads each;
 *     shared                   bytes of shared memory, all of it dynamic;
 *     num_ctas                 blocks of a cluster; the grid is multiplied by it;
 *     launch_cooperative_grid  true if all blocks must be resident at once;
 *     global_scratch_size      bytes of global memory for each block, for the last parameter.
 *
 * Grid and arguments are those of the call in Python. An argument that is constexpr, or 1, is not a
 * parameter: its value is compiled into the CUBIN. kernels.cu describes which parts are Triton's.
 *
 * Run it:  make && $(make -s print-O)/examples/triton/triton
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "matrix.h"

#include <rex/library.h>

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text from the value of FIELD on in Triton's flat object, or "" without this field. */
static const char *value_of(const char *json, const char *field)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", field);
    const char *found = strstr(json, quoted);
    return found != NULL ? found + strlen(quoted) + strspn(found + strlen(quoted), " ") : "";
}

static uint32_t number_of(const char *json, const char *field)
{
    return (uint32_t)strtoul(value_of(json, field), NULL, 10);
}

/* Returns the launch that the JSON describes. Its key is NULL if this program cannot launch it. */
static struct rex_launch_config read_launch(const struct rex_library *library, const char *json)
{
    char name[256] = "";
    struct rex_launch_config launch = rex_launch_config_of(NULL, ROWS, 0);
    sscanf(value_of(json, "name"), "\"%255[^\"]", name);
    launch.threads[0] = 32 * number_of(json, "num_warps");
    launch.dynamic_memory = number_of(json, "shared");
    if (number_of(json, "num_ctas") > 1) {
        launch.cluster[0] = number_of(json, "num_ctas");
        launch.teams[0] *= launch.cluster[0];
    }
    if (strncmp(value_of(json, "launch_cooperative_grid"), "true", 4) == 0)
        launch.flags |= REX_LAUNCH_COOPERATIVE;
    if (number_of(json, "global_scratch_size") != 0)
        fprintf(stderr, "%s needs scratch memory, which this program does not allocate\n", name);
    else
        launch.key = rex_library_kernel(library, name);
    return launch;
}

static int normalize(struct rex_library *library, const char *json, const float *in, float *out)
{
    size_t size = sizeof(float) * ROWS * COLUMNS;
    struct rex_queue *queue = NULL;
    void *there_in = rex_device_alloc(size, -1), *there_out = rex_device_alloc(size, -1);
    void *scratch = NULL;
    int32_t columns = COLUMNS;
    void *arguments[] = {&there_out, &there_in, &columns, &scratch};
    struct rex_launch_config launch = read_launch(library, json);

    int error = there_in == NULL || there_out == NULL || launch.key == NULL;
    if (error == 0)
        error = rex_queue_create(&queue, -1, "Triton", 0);
    launch.queue = queue;
    if (error == 0)
        error = rex_queue_copy_to(queue, there_in, in, size);
    if (error == 0)
        error = rex_library_launch(library, &launch, arguments, 4);
    if (error == 0)
        error = rex_queue_copy_from(queue, out, there_out, size);
    if (error == 0)
        error = rex_queue_sync(queue);
    int ended = rex_queue_destroy(queue);
    rex_device_free(there_in, -1);
    rex_device_free(there_out, -1);
    return error == 0 ? ended : error;
}

/* Reads the JSON file beside @program into the string @json. Returns 0 if it succeeds. */
static int read_json(char *program, char *json, size_t size)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/kernel.json", dirname(program));
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        perror(name);
        return 1;
    }
    json[fread(json, 1, size - 1, file)] = '\0';
    return fclose(file);
}

int main(int argc, char **argv)
{
    static char json[1 << 16];
    static float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    struct rex_library *library = NULL;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = (float)(1 + i % 7);
    if (argc < 1 || read_json(argv[0], json, sizeof json) != 0)
        return 1;
    int error = rex_library_load(&library, -1, NULL, 0, "rex_lib_nvidia.cubin:rex_lib_host.so");
    if (error == 0)
        error = normalize(library, json, in, out);
    int ended = rex_library_unload(library);
    if (error != 0 || ended != 0)
        return 1;

    double worst = 0;
    for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            sum += out[row * COLUMNS + i];
        worst = fmax(worst, fabs(sum - 1));
    }
    printf("%d rows, whose sums differ from 1 by at most %.1e\n", ROWS, worst);
    return worst > 1e-4;
}
