/*
 * names.h - a program's macros survive the include of librex's headers, its own words do not spoil REX_MAP(), and calls
 * of __tgt_X become what they should.
 *
 * Included by one file for each way to include rex_kmp.h, as C and as C++; MACROS names the function that it defines.
 * Whatever the headers use today, these are words that programs do define: the fields of a packet, and 46 of every day.
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
#define size nonsense + 14
#define name nonsense + 15
#define flags nonsense + 16
#define state nonsense + 17
#define next nonsense + 18
#define image nonsense + 19
#define args nonsense + 20
#define base nonsense + 21
#define count nonsense + 22
#define type nonsense + 23
#define begin nonsense + 24
#define end nonsense + 25
#define device nonsense + 26
#define map nonsense + 27
#define row nonsense + 28
#define value nonsense + 29
#define result nonsense + 30
#define address nonsense + 31
#define bytes nonsense + 32
#define length nonsense + 33
#define lower nonsense + 34
#define upper nonsense + 35
#define stride nonsense + 36
#define parent nonsense + 37
#define entry nonsense + 38
#define key nonsense + 39
#define queue nonsense + 40
#define event nonsense + 41
#define graph nonsense + 42
#define module nonsense + 43
#define launch nonsense + 44
#define memory nonsense + 45
#define message nonsense + 46
#define option nonsense + 47
#define level nonsense + 48
#define list nonsense + 49
#define index nonsense + 50
#define offset nonsense + 51
#define handle nonsense + 52
#define context nonsense + 53
#define teams nonsense + 54
#define threads nonsense + 55
#define sizes nonsense + 56
#define types nonsense + 57
#define used nonsense + 58
#define weak nonsense + 59

#include "rex.h"
#include "rex/inspect.h"
#include "rex/interop.h"
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
    EXPANDED(size),
    EXPANDED(name),
    EXPANDED(flags),
    EXPANDED(state),
    EXPANDED(next),
    EXPANDED(image),
    EXPANDED(args),
    EXPANDED(base),
    EXPANDED(count),
    EXPANDED(type),
    EXPANDED(begin),
    EXPANDED(end),
    EXPANDED(device),
    EXPANDED(map),
    EXPANDED(row),
    EXPANDED(value),
    EXPANDED(result),
    EXPANDED(address),
    EXPANDED(bytes),
    EXPANDED(length),
    EXPANDED(lower),
    EXPANDED(upper),
    EXPANDED(stride),
    EXPANDED(parent),
    EXPANDED(entry),
    EXPANDED(key),
    EXPANDED(queue),
    EXPANDED(event),
    EXPANDED(graph),
    EXPANDED(module),
    EXPANDED(launch),
    EXPANDED(memory),
    EXPANDED(message),
    EXPANDED(option),
    EXPANDED(level),
    EXPANDED(list),
    EXPANDED(index),
    EXPANDED(offset),
    EXPANDED(handle),
    EXPANDED(context),
    EXPANDED(teams),
    EXPANDED(threads),
    EXPANDED(sizes),
    EXPANDED(types),
    EXPANDED(used),
    EXPANDED(weak),
    EXPANDED(__tgt_target),
    EXPANDED(__tgt_target_teams),
    EXPANDED(__tgt_target_kernel),
    EXPANDED(__tgt_target_data_begin),
    EXPANDED(__tgt_target_data_end),
    EXPANDED(__tgt_target_data_update),
};

#include "unit/macros/made.h"

#define JOIN(a, b) JOIN_EXPANDED(a, b)
#define JOIN_EXPANDED(a, b) a##b

struct columns {
    int32_t rows;
    void **based, **begun;
    int64_t *wide, *bits;
};

/* A map, made while all these words are macros: what it holds is read through its columns. */
static void JOIN(made_by_, MACROS)(struct made *made, int64_t number, double *array)
{
    REX_MAP(made_map, REX_VALUE(number), REX_TOFROM(array, 2), REX_ALWAYS(REX_OBJECT(REX_TYPE_TO, *array)));
    struct columns columns_of_it = {REX_MAP_ARGUMENTS(made_map)};
    made->rows = columns_of_it.rows;
    for (int i = 0; i < 3; i++) {
        made->based[i] = columns_of_it.based[i];
        made->wide[i] = columns_of_it.wide[i];
        made->bits[i] = columns_of_it.bits[i];
    }
}

/* Below this the field names are themselves again. */
#undef Version
#undef NumArgs

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const char *const *MACROS(uint32_t *version, struct made *made, double *array);

const char *const *MACROS(uint32_t *version, struct made *made, double *array)
{
    struct __tgt_kernel_arguments packet;
    memset(&packet, 0, sizeof packet);
    packet.Version = 3;
    *version = (uint32_t)packet.Version;
    JOIN(made_by_, MACROS)(made, 42, array);
    return macros_after;
}
