/*
 * rewrite.h - calls of __tgt_X become what they should.
 *
 * Included by one file for each way to include rex_kmp.h, as C and as C++; MACROS names the table that it defines.
 */
#include "rex_kmp.h"

#define STRING(...) #__VA_ARGS__
#define EXPANDED(...) STRING(__VA_ARGS__)

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const char *const MACROS[];

const char *const MACROS[] = {
    EXPANDED(__tgt_target),
    EXPANDED(__tgt_target_teams),
    EXPANDED(__tgt_target_kernel),
    EXPANDED(__tgt_target_data_begin),
    EXPANDED(__tgt_target_data_end),
    EXPANDED(__tgt_target_data_update),
};
