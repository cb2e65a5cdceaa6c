/*
 * names.h - a program's macros survive the include of rex_kmp.h, and calls of __tgt_X become what they should.
 *
 * Included by one file for each way to include rex_kmp.h, as C and as C++; MACROS names the function that it defines.
 */
#define Version nonsense + 1
#define NumArgs nonsense + 2
#define ArgsBase nonsense + 3
#define Args nonsense + 4
#define ArgSizes nonsense + 5
#define ArgTypes nonsense + 6
#define ArgNames nonsense + 7
#define ArgMappers nonsense + 8
#define Tripcount nonsense + 9
#define Flags nonsense + 10
#define Teams nonsense + 11
#define Threads nonsense + 12
#define DynCGroupMem nonsense + 13

#include "rex_kmp.h"

#define STRING(...) #__VA_ARGS__
#define EXPANDED(...) STRING(__VA_ARGS__)

static const char *const macros_after[] = {
    EXPANDED(Version),
    EXPANDED(NumArgs),
    EXPANDED(ArgsBase),
    EXPANDED(Args),
    EXPANDED(ArgSizes),
    EXPANDED(ArgTypes),
    EXPANDED(ArgNames),
    EXPANDED(ArgMappers),
    EXPANDED(Tripcount),
    EXPANDED(Flags),
    EXPANDED(Teams),
    EXPANDED(Threads),
    EXPANDED(DynCGroupMem),
    EXPANDED(__tgt_target),
    EXPANDED(__tgt_target_teams),
    EXPANDED(__tgt_target_kernel),
    EXPANDED(__tgt_target_data_begin),
    EXPANDED(__tgt_target_data_end),
    EXPANDED(__tgt_target_data_update),
};

/* Below this the field names are themselves again. */
#undef Version
#undef NumArgs

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const char *const *MACROS(uint32_t *version);

const char *const *MACROS(uint32_t *version)
{
    struct __tgt_kernel_arguments packet;
    memset(&packet, 0, sizeof packet);
    packet.Version = 3;
    *version = packet.Version;
    return macros_after;
}
