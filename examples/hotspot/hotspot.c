/*
 * hotspot - how warm does a processor get, and where?
 *
 * The thermal simulation of the Rodinia suite, as a whole program on librex: it reads (or makes up) a floor plan's
 * temperatures and powers, steps the heat equation on the device, checks the result against a serial run, and draws it.
 * See hotspot.h for what is in which file; offload.c is the one to read for offloading.
 *
 * Run it:  make && $(make -s print-O)/examples/hotspot/hotspot --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hotspot.h"

enum {
    DEFAULT_SIZE = 512,
    DEFAULT_ITERATIONS = 2000,
    LARGEST_SIZE = 16384, /* a field then takes 2 GiB, and there are five */
    USAGE = 2             /* exit status for a wrong command line */
};

/* ---- the command line -------------------------------------------------------------------------------------------- */

struct options {
    int64_t size;
    int iterations;
    int device;
    int devices;          /* as in struct settings */
    int verify;
    enum way way;         /* to launch */
    const char *temp;     /* files to read; NULL: generate */
    const char *power;
    const char *generate; /* folder for generated files; NULL: none */
    const char *output;   /* NULL: none */
    const char *picture;  /* NULL: none */
};

static void print_help(void)
{
    printf("usage: hotspot [options]\n"
           "\n"
           "Simulates the temperatures of a processor on the device that libomptarget offers, checks them\n"
           "against a serial run, and draws a heat map.\n"
           "\n"
           "  --size N          cells along the chip's edge, 1 to %d (%d)\n"
           "  --iterations I    time steps (%d)\n"
           "  --temp FILE       temperatures at the beginning: N x N numbers, one a line, row by row\n"
           "  --power FILE      power of each cell in watts, in the same form; wants --temp too\n"
           "  --generate DIR    write the made-up inputs to DIR, temp_N and power_N, and read them from there\n"
           "  --output FILE     write the last temperatures, in the same form\n"
           "  --png FILE        where the heat map goes (%s); --no-png for none\n"
           "  --queue           put the steps in a queue, and wait where the host needs a result\n"
           "  --graph           capture the steps between two reports in a graph, and launch that\n"
           "  --devices N       divide the rows among devices 0 to N-1; 0 or all: among all there are\n"
           "  --device D        device number (-1, the default device)\n"
           "  --verify          check against a serial run (always, unless --no-verify)\n"
           "  --help            this text\n"
           "\n"
           "Exit status: 0 if the check passed, 1 if it or something before it failed, 2 for a wrong command line.\n",
           LARGEST_SIZE, DEFAULT_SIZE, DEFAULT_ITERATIONS, heatmap_default_path);
}

/* @text as a whole number from @low to @high; leaves the program on anything else. */
static int number_option(const char *option, const char *text, int low, int high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        fprintf(stderr, "hotspot: --%s wants a whole number from %d to %d, not '%s'\n", option, low, high, text);
        exit(USAGE);
    }
    return (int)value;
}

static void check_options(const struct options *options, int words_left)
{
    const char *wrong = NULL;
    if (words_left > 0)
        wrong = "there are no arguments but options";
    else if ((options->temp == NULL) != (options->power == NULL))
        wrong = "--temp and --power go together";
    else if (options->temp != NULL && options->generate != NULL)
        wrong = "--generate makes inputs up, --temp and --power read them: one or the other";
    else if (options->devices != ONE_DEVICE && options->device >= 0)
        wrong = "--device is one device, --devices are several: one or the other";
    else if (options->devices != ONE_DEVICE && options->way != WAITING)
        wrong = "--devices puts launches in queues by itself: no --queue and no --graph";
    if (wrong != NULL) {
        fprintf(stderr, "hotspot: %s; see --help\n", wrong);
        exit(USAGE);
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"size", required_argument, NULL, 's'},       {"iterations", required_argument, NULL, 'i'},
        {"temp", required_argument, NULL, 't'},       {"power", required_argument, NULL, 'p'},
        {"generate", required_argument, NULL, 'g'},   {"output", required_argument, NULL, 'o'},
        {"png", required_argument, NULL, 'm'},        {"no-png", no_argument, NULL, 'M'},
        {"device", required_argument, NULL, 'd'},     {"verify", no_argument, NULL, 'v'},
        {"no-verify", no_argument, NULL, 'V'},        {"help", no_argument, NULL, 'h'},             {"queue", no_argument, NULL, 'q'},
        {"graph", no_argument, NULL, 'r'},            {"devices", required_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.size = DEFAULT_SIZE,
                              .iterations = DEFAULT_ITERATIONS,
                              .device = -1,
                              .devices = ONE_DEVICE,
                              .verify = 1,
                              .picture = heatmap_default_path};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1)
        switch (letter) {
        case 's': options.size = number_option("size", optarg, 1, LARGEST_SIZE); break;
        case 'i': options.iterations = number_option("iterations", optarg, 1, INT_MAX); break;
        case 'd': options.device = number_option("device", optarg, -1, INT_MAX); break;
        case 'n': options.devices = strcmp(optarg, "all") == 0 ? ALL_DEVICES : number_option("devices", optarg, 0, INT_MAX); break;
        case 't': options.temp = optarg; break;
        case 'p': options.power = optarg; break;
        case 'g': options.generate = optarg; break;
        case 'o': options.output = optarg; break;
        case 'm': options.picture = optarg; break;
        case 'M': options.picture = NULL; break;
        case 'v': options.verify = 1; break;
        case 'V': options.verify = 0; break;
        case 'q': options.way = QUEUED; break;
        case 'r': options.way = CAPTURED; break;
        case 'h': print_help(); exit(0);
        default: exit(USAGE); /* getopt_long has said what is wrong */
        }
    check_options(&options, argc - optind);
    return options;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* The three fields and the model, for the whole run. */
struct problem {
    struct chip chip;
    size_t cells;
    double *power;
    double *temp;     /* at first the inputs, then the device's result */
    double *expected; /* the same for the serial run */
};

static int allocate(struct problem *problem, int64_t size)
{
    problem->chip = chip_model(size);
    problem->cells = (size_t)(size * size);
    problem->power = malloc(problem->cells * sizeof(double));
    problem->temp = malloc(problem->cells * sizeof(double));
    problem->expected = malloc(problem->cells * sizeof(double));
    if (problem->power != NULL && problem->temp != NULL && problem->expected != NULL)
        return 0;
    fprintf(stderr, "hotspot: out of memory for %lld x %lld cells\n", (long long)size, (long long)size);
    return -1;
}

static void free_problem(struct problem *problem)
{
    free(problem->power);
    free(problem->temp);
    free(problem->expected);
}

static int read_inputs(struct problem *problem, const char *temp_path, const char *power_path)
{
    if (read_values(temp_path, problem->temp, problem->cells) != 0)
        return -1;
    return read_values(power_path, problem->power, problem->cells);
}

/* Writes made-up inputs to @folder and reads them back: the run sees what another one would read from the files. */
static int generate_inputs(struct problem *problem, const char *folder, char *temp_path, char *power_path)
{
    long long size = (long long)problem->chip.size;
    if (snprintf(temp_path, PATH_MAX, "%s/temp_%lld", folder, size) >= PATH_MAX ||
        snprintf(power_path, PATH_MAX, "%s/power_%lld", folder, size) >= PATH_MAX) {
        fprintf(stderr, "hotspot: %s: %s\n", folder, strerror(ENAMETOOLONG));
        return -1;
    }
    generate(&problem->chip, problem->temp, problem->power);
    if (write_values(temp_path, problem->temp, problem->cells) != 0 ||
        write_values(power_path, problem->power, problem->cells) != 0)
        return -1;
    return read_inputs(problem, temp_path, power_path);
}

static int generate_and_keep(struct problem *problem, const char *folder)
{
    char temp_path[PATH_MAX], power_path[PATH_MAX];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "hotspot: %s: %s\n", folder, strerror(errno));
        return -1;
    }
    return generate_inputs(problem, folder, temp_path, power_path);
}

static int load_inputs(struct problem *problem, const struct options *options)
{
    int result = 0;
    if (options->temp != NULL)
        result = read_inputs(problem, options->temp, options->power);
    else if (options->generate != NULL)
        result = generate_and_keep(problem, options->generate);
    else
        generate(&problem->chip, problem->temp, problem->power);
    if (result == 0)
        memcpy(problem->expected, problem->temp, problem->cells * sizeof *problem->temp);
    return result;
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

struct check {
    double serial_time; /* s */
    double difference;  /* largest, degrees */
    double tolerance;   /* degrees */
    int fields_agree;   /* every cell is within the tolerance */
    int extremes_agree; /* the second kernel found the field's extremes */
};

static int passed(const struct check *check)
{
    return check->fields_agree && check->extremes_agree;
}

static int check_result(struct problem *problem, const struct device_run *run, struct check *check)
{
    double began = seconds_now();
    if (simulate_serially(&problem->chip, problem->power, problem->expected, run->iterations) != 0) {
        fputs("hotspot: out of memory for the serial run\n", stderr);
        return -1;
    }
    check->serial_time = seconds_now() - began;

    double largest = 0.0, coldest = problem->temp[0], hottest = problem->temp[0];
    size_t wrong = 0;
    for (size_t i = 0; i < problem->cells; i++)
        largest = fmax(largest, fabs(problem->expected[i]));
    check->tolerance = TOLERANCE_PER_ITERATION * run->iterations * largest;
    for (size_t i = 0; i < problem->cells; i++) {
        double difference = fabs(problem->temp[i] - problem->expected[i]);
        check->difference = fmax(check->difference, difference);
        /* Not `difference > tolerance`, which is false where the difference is no number. */
        wrong += !(difference <= check->tolerance);
        coldest = fmin(coldest, problem->temp[i]);
        hottest = fmax(hottest, problem->temp[i]);
    }
    check->fields_agree = wrong == 0 && isfinite(largest);
    /* The second kernel only picks values out, so its result is exact. */
    check->extremes_agree = coldest == run->coldest && hottest == run->hottest;
    return 0;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* On one device, or on several, and then with lines about them. */
static int simulate(const struct options *options, struct problem *problem, struct device_run *run)
{
    const struct settings settings = {.program = "hotspot", .devices = options->devices, .device = options->device};
    struct shares shares;
    if (options->devices == ONE_DEVICE)
        return simulate_on_device(&problem->chip, problem->power, problem->temp, run);
    int result = open_shares(&shares, &settings, problem->chip.size);
    if (result == 0)
        result = simulate_on_devices(&problem->chip, problem->power, problem->temp, run, &shares);
    if (result == 0) {
        print_shares(&shares, "rows");
        print_digest(problem->temp, problem->cells * sizeof *problem->temp);
    }
    close_shares(&shares);
    return result;
}

static void print_summary(const struct options *options, const struct problem *problem, const struct device_run *run,
                          const struct check *check)
{
    printf("hotspot      %lld x %lld cells, %d iterations, inputs %s\n", (long long)problem->chip.size,
           (long long)problem->chip.size, run->iterations, options->temp != NULL ? "from files" : "made up");
    print_device(run->device);
    printf("launches     %lld, %.3f s, %.1f us each; with the copies %.6f s\n", (long long)run->launches,
           run->kernel_time, 1e6 * run->kernel_time / (double)run->launches, run->region_time);
    print_ways(&run->ways);
    printf("temperature  %.3f to %.3f degrees\n", run->coldest, run->hottest);
    if (options->picture != NULL)
        printf("heat map     %s\n", options->picture);
    if (!options->verify) {
        puts("check        none (--no-verify)");
        return;
    }
    printf("serial run   %.3f s\n", check->serial_time);
    printf("check        %s: largest difference %.1e degrees, %.1e allowed%s\n", passed(check) ? "passed" : "FAILED",
           check->difference, check->tolerance, check->extremes_agree ? "" : "; extremes of the rows are wrong");
}

static int draw(const char *path, const struct problem *problem, const struct device_run *run)
{
    struct caption caption = {.parts_down = 0};
    long long size = (long long)problem->chip.size;
    snprintf(caption.title, sizeof caption.title, "hotspot: %lld x %lld cells after %d steps", size, size, run->iterations);
    snprintf(caption.facts[0], sizeof caption.facts[0], "from %.3f to %.3f degrees", run->coldest, run->hottest);
    snprintf(caption.facts[1], sizeof caption.facts[1], "%lld launches on the %s, %.1f us each", (long long)run->launches,
             rex_on_host() ? "CPU" : "GPU", 1e6 * run->kernel_time / (double)run->launches);
    return write_heatmap(path, problem->temp, problem->chip.size, &caption);
}

/* Everything between inputs and summary. */
static int run_all(const struct options *options, struct problem *problem, struct device_run *run, struct check *check)
{
    if (simulate(options, problem, run) != 0)
        return -1;
    if (options->verify && check_result(problem, run, check) != 0)
        return -1;
    if (options->output != NULL && write_values(options->output, problem->temp, problem->cells) != 0)
        return -1;
    if (options->picture != NULL && draw(options->picture, problem, run) != 0)
        return -1;
    print_summary(options, problem, run, check);
    return options->verify && !passed(check) ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct options options = parse_options(argc, argv);
    struct problem problem;
    struct device_run run = {.device = options.device, .ways = {.way = options.way}, .iterations = options.iterations};
    struct check check = {0};
    char changed[PATH_MAX];
    if (options.picture != NULL)
        options.picture = heatmap_path(options.picture, changed, sizeof changed);

    int result = allocate(&problem, options.size);
    if (result == 0)
        result = load_inputs(&problem, &options);
    if (result == 0)
        result = offload_start(options.device);
    if (result == 0) {
        result = run_all(&options, &problem, &run, &check);
        offload_stop();
    }
    free_problem(&problem);
    return result == 0 ? 0 : 1;
}
