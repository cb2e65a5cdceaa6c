/*
 * wrappers.h - record, then pass on: the bodies of WRAPPER(name) for both programs. REAL(name) is what they call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

int WRAPPER(target_kernel)(void *loc, int64_t device, int32_t teams, int32_t threads, void *key, struct packet *packet)
{
    struct columns columns = {(int32_t)packet->count, packet->base, packet->begin, packet->sizes, packet->types, packet->mappers};
    /* From version 3 on the runtime adds a parameter (LLVM 19 to 22). */
    recorder_call("kernel", packet->flags & 1, packet->version >= 3, &columns);
    int result = REAL(target_kernel)(loc, device, teams, threads, key, packet);
    recorder_call_done();
    return result;
}

int WRAPPER(target_teams_mapper)(void *loc, int64_t device, void *key, int32_t count, void **base, void **begin, int64_t *sizes,
                                 int64_t *types, void **names, void **mappers, int32_t teams, int32_t threads)
{
    struct columns columns = {count, base, begin, sizes, types, mappers};
    recorder_call("kernel", 0, 0, &columns);
    int result = REAL(target_teams_mapper)(loc, device, key, count, base, begin, sizes, types, names, mappers, teams, threads);
    recorder_call_done();
    return result;
}

#define PLAIN_DATA(name, what)                                                 \
    void WRAPPER(name)(MAP_P)                                                  \
    {                                                                          \
        struct columns columns = {count, base, begin, sizes, types, NULL};     \
        recorder_call(what, 0, 0, &columns);                                   \
        REAL(name)(device, count, base, begin, sizes, types);                  \
        recorder_call_done();                                                  \
    }
PLAIN_DATA(target_data_begin, "begin")
PLAIN_DATA(target_data_end, "end")
PLAIN_DATA(target_data_update, "update")

#define MAPPER_DATA(name, what)                                                \
    void WRAPPER(name)(MAPPER_P)                                               \
    {                                                                          \
        struct columns columns = {count, base, begin, sizes, types, mappers};  \
        recorder_call(what, 0, 0, &columns);                                   \
        REAL(name)(loc, device, count, base, begin, sizes, types, names, mappers); \
        recorder_call_done();                                                  \
    }
MAPPER_DATA(target_data_begin_mapper, "begin")
MAPPER_DATA(target_data_end_mapper, "end")
MAPPER_DATA(target_data_update_mapper, "update")

#define NOWAIT_DATA(name, what)                                                \
    void WRAPPER(name)(NOWAIT_P)                                               \
    {                                                                          \
        struct columns columns = {count, base, begin, sizes, types, mappers};  \
        recorder_call(what, 1, 0, &columns);                                   \
        REAL(name)(loc, device, count, base, begin, sizes, types, names, mappers, depend_count, depend, no_alias_count, no_alias); \
        recorder_call_done();                                                  \
    }
NOWAIT_DATA(target_data_begin_nowait_mapper, "begin")
NOWAIT_DATA(target_data_end_nowait_mapper, "end")
NOWAIT_DATA(target_data_update_nowait_mapper, "update")

int64_t WRAPPER(mapper_num_components)(void *handle)
{
    int64_t count = REAL(mapper_num_components)(handle);
    recorder_element(count);
    return count;
}

void WRAPPER(push_mapper_component)(void *handle, void *base, void *begin, int64_t size, int64_t type, void *name)
{
    recorder_component(REAL(mapper_num_components)(handle), base, begin, size, type);
    REAL(push_mapper_component)(handle, base, begin, size, type, name);
}
