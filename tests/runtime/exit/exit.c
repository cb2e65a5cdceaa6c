/*
 * A program that ends without rex_offload_fini() ends cleanly: status 0 and not a word on standard error, however it ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>

#include "runtime/runtime.h"

REX_KERNEL(square);

/* ---- the programs that end: no cmocka here --------------------------------------------------------------------------------------- */

static int launch(void)
{
    int64_t value = 12, result = -1;
    struct rex_launch_config config = rex_launch_config_of(REX_KERNEL_ID(square), 1, 1);
    REX_MAP(map, REX_VALUE(value), REX_OBJECT(REX_MAP_FROM, result));
    int refused = rex_launch(&config, &map);
    return refused != 0 ? refused : result != 144;
}

static void open_region(void)
{
    static int64_t data[1000];
    REX_MAP(map, REX_TOFROM(data, 1000));
    rex_data_enter(-1, &map);
}

static void *exit_now(void *unused)
{
    (void)unused;
    exit(launch());
}

static int launched;

static void *launch_and_stay(void *unused)
{
    launch();
    __atomic_store_n(&launched, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
    return unused;
}

static void exit_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_now, NULL);
    pthread_join(thread, NULL);
}

static void leave_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, launch_and_stay, NULL);
    while (!__atomic_load_n(&launched, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void *launch_for_ever(void *unused)
{
    for (;;)
        __atomic_fetch_add(&launched, launch() == 0, __ATOMIC_RELEASE);
    return unused;
}

static void leave_launches(void)
{
    pthread_t thread;
    rex_configure(REX_OPTION_LOG, "off");
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, launch_for_ever, NULL);
    while (__atomic_load_n(&launched, __ATOMIC_ACQUIRE) < 20)
        usleep(1000);
}

/* libomp's own destructor has run before, because its key is older. */
static void launch_in_destructor(void *unused)
{
    (void)unused;
    int result = launch();
    if (result != 0 && result != REX_EINVAL)
        _exit(12);
}

static void *end_with_launch(void *key)
{
    launch();
    pthread_setspecific(*(pthread_key_t *)key, key);
    return NULL;
}

static void end_a_thread(void)
{
    pthread_key_t key;
    pthread_t thread;
    rex_configure(REX_OPTION_LOG, "off");
    pthread_key_create(&key, launch_in_destructor);
    pthread_create(&thread, NULL, end_with_launch, &key);
    pthread_join(thread, NULL);
}

static void launch_late(void)
{
    if (rex_offload_fini() != 0 || launch() != 0)
        _exit(3);
}

/* After what libomptarget had for the end of the process, or just before it: nothing works any more, and nothing crashes. */
static void use_too_late(void)
{
    static int64_t data[1000];
    REX_MAP(map, REX_TOFROM(data, 1000));
    rex_configure(REX_OPTION_LOG, "off");
    if (launch() != REX_EINVAL || rex_last_error_code() != REX_EINVAL || strstr(rex_last_error(), "the process is ending") == NULL)
        _exit(5);
    if (rex_module_target_data(&rex_this_module, REX_DATA_BEGIN, -1, REX_MAP_ARGUMENTS(map)) != REX_EINVAL || rex_data_enter(-1, &map) != REX_EINVAL ||
        rex_target_is_present(data, 8, -1) || rex_offload_init() != REX_EINVAL || rex_device_alloc(8, 0) != NULL)
        _exit(6);
    if (rex_last_error_code() != REX_EINVAL)
        _exit(13);
    if (rex_offload_fini() != 0)
        _exit(7);
    /* An error that the next call has to replace. */
    struct rex_image_list *list;
    if (rex_image_list_open(&list, data, 8, "no image") != REX_EIMAGE)
        _exit(10);
    rex_device_free(data, 0);
    if (rex_last_error_code() != REX_EINVAL || strstr(rex_last_error(), "the process is ending") == NULL)
        _exit(11);
    /* The program's own calls of libomptarget return as if they had failed. */
    static int64_t literal[] = {0x120};
    void *value[] = {data};
    int64_t size[] = {8};
    struct __tgt_kernel_arguments packet = {3, 1, value, value, size, literal, NULL, NULL, 0, 0, {1, 1, 1}, {1, 1, 1}, 0};
    void *key = (void *)(uintptr_t)REX_KERNEL_ID(square);
    if (__rex_real___tgt_target_kernel(NULL, -1, 1, 1, key, &packet) != -1 || rex_last_error_code() != REX_EINVAL)
        _exit(8);
    if (rex___tgt_target_kernel(-1, 1, 1, key, &packet) != REX_EINVAL)
        _exit(9);
    __rex_real___tgt_target_data_begin(-1, REX_MAP_ARGUMENTS(map));
    __rex_real___tgt_target_data_end(-1, REX_MAP_ARGUMENTS(map));
}

static int in_destructor;

__attribute__((destructor)) static void end_of_program(void)
{
    if (in_destructor)
        use_too_late();
}

/* What main does when it is called with the name of a way to end. */
static int end(const char *way)
{
    if (strstr(way, "bound_only") != NULL)
        return rex_runtime_bind();
    if (strstr(way, "nothing") != NULL)
        return 0;
    in_destructor = strstr(way, "use_in_destructor") != NULL;
    if (strstr(way, "use_at_early_exit") != NULL && atexit(use_too_late) != 0)
        return 5;
    if (strstr(way, "lazy") == NULL && rex_offload_init() != 0)
        return 1;
    if (strstr(way, "registered_only") != NULL)
        return 0;
    /* Registered last, so that it runs before whatever libomptarget does at the end. */
    if (strstr(way, "launch_at_exit") != NULL)
        return launch() || atexit(launch_late);
    if (launch() != 0)
        return 2;
    if (strstr(way, "region") != NULL)
        open_region();
    if (strstr(way, "other_thread_lives") != NULL)
        leave_a_thread();
    if (strstr(way, "beside_launches") != NULL)
        leave_launches();
    if (strstr(way, "thread_destructor") != NULL)
        end_a_thread();
    if (strstr(way, "after_fini") != NULL && rex_offload_fini() != 0)
        return 4;
    if (strstr(way, "in_thread") != NULL)
        exit_in_thread();
    if (strstr(way, "underscore") != NULL)
        _exit(0);
    if (strstr(way, "by_exit") != NULL)
        exit(0);
    return 0;
}

/* ---- what they are seen to do ---------------------------------------------------------------------------------------------------- */

static void check_end(const char *way)
{
    char command[PATH_MAX + 64], text[4096];
    snprintf(command, sizeof command, "exec '%s' %s 2>&1 >/dev/null", own_path(), way);
    FILE *said = popen(command, "re");
    assert_non_null(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    int status = pclose(said);
    if (status != 0 || *text != '\0')
        fail_msg("%s: wait status %#x, standard error: '%s'", way, (unsigned)status, text);
}

#define WAY(name)         \
    TEST(name)            \
    {                     \
        check_end(#name); \
    }
WAY(nothing)
WAY(bound_only)
WAY(registered_only)
WAY(return_from_main)
WAY(return_after_fini)
WAY(return_other_thread_lives)
WAY(by_exit_lazy_with_region)
WAY(in_thread_with_region)
WAY(underscore_with_region)
WAY(launch_at_exit)
WAY(use_at_early_exit)
WAY(use_in_destructor_lazy_with_region)

WAY(return_after_thread_destructor)

/* Without the wait for who is inside, one in ten or fewer dies. */
TEST(return_beside_launches)
{
    for (int i = 0; i < registrations_of(10); i++)
        check_end("return_beside_launches");
}

int main(int argc, char **argv)
{
    setenv("REX_LOG", "error", 1); /* a region that stays open, and a GPU image without a GPU, are warned of */
    return argc > 1 ? end(argv[1]) : run_all_tests();
}
