/* The host side of one static library. NAME, and IMAGE if this file has the image, are told on the command line. */
#include <rex.h>

#define KERNEL(name) REX_KERNEL(name) /* once NAME is expanded */
#define LAUNCH(name, ...) REX_LAUNCH(name, 1, 1, __VA_ARGS__)
#define RUN(name) RUN_OF(name)
#define RUN_OF(name) run_##name

KERNEL(NAME);
#ifdef IMAGE
REX_EMBED_HOST_IMAGE(IMAGE);
#endif

#ifdef __cplusplus
extern "C"
#endif
    int64_t RUN(NAME)(int64_t value);
int64_t RUN(NAME)(int64_t value)
{
    int64_t result = -1;
    return LAUNCH(NAME, REX_VALUE(value), REX_FROM(&result, 1)) == 0 ? result : -1;
}
