/* A program of two static libraries. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
int64_t run_alpha(int64_t value);
int64_t run_beta(int64_t value);
#ifdef __cplusplus
}
#endif

int main(void)
{
    return run_alpha(7) != 14 || run_beta(7) != 21;
}
