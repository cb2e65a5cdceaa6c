/* driver.h - what the files of the fake driver share. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_FAKE_DRIVER_H
#define REX_FAKE_DRIVER_H

/* What the call NAME is to return instead of doing anything; 0: nothing. */
int fake_cuda_result(const char *name);

/* Declares a function of the driver, and begins it. */
#define FUNCTION(name, ...)                                                                                            \
    int name(__VA_ARGS__);                                                                                             \
    int name(__VA_ARGS__)

/* Returns RESULT from the function, unless it is 0. */
#define FAIL_WITH(result)                                                                                              \
    do {                                                                                                               \
        int result_ = (result);                                                                                        \
        if (result_ != 0)                                                                                              \
            return result_;                                                                                            \
    } while (0)

#endif
