/*
 * The words of CUDA and of <math.h> that kernels may use whatever compiles them: numbers as the CPU computes them, bit for bit, but for the
 * sign of what is no number, and what threads do together on a GPU. Built once with nvcc and once with clang, this shows that both mean the
 * same.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "runtime/runtime.h"

#include <math.h>

#include "words.h"

REX_KERNEL(exact);
REX_KERNEL(together);

TEST(as_the_cpu)
{
    static const double x[] = {0.49999999999999994, -0.5,    2.5, -2.5, 1e300, -1e-310, 3.7, 1.0 / 3, 0.0, -7.999999,
                               4503599627370497.5,  16777217};
    static const double y[] = {1.5, 2.5, -3.5, 0.5, -0.5, 1e9 + 0.5, -1e9, 0.49999999999999994, 12.25, -0.1, 7, 8388609};
    static const double z[] = {-1.0 / 3, 1, 1e-20, -8, 1e300, 3, 5, -1.0 / 9, 1, 0.7, -1, 0.1};
    enum { COUNT = sizeof x / sizeof *x };
    static double out[COUNT * EXACT], wanted[COUNT * EXACT];
    int64_t count = COUNT;
    REX_MAP(args, REX_VALUE(count), REX_TO(x, COUNT), REX_TO(y, COUNT), REX_TO(z, COUNT), REX_FROM(out, COUNT * EXACT));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(exact), 1, 32);
    assert_int_equal(rex_launch(&launch, &args), 0);
    for (int i = 0; i < COUNT; i++) {
        PUT_EXACT(wanted + EXACT * i, x[i], y[i], z[i]);
        for (int k = EXACT * i; k < EXACT * (i + 1); k++)
            if (memcmp(&out[k], &wanted[k], sizeof *out) != 0 && !(isnan(out[k]) && isnan(wanted[k])))
                fail_msg("expression %d of %.17g, %.17g, %.17g is %.17g instead of %.17g", k % EXACT, x[i], y[i], z[i], out[k], wanted[k]);
    }
}

/* What each of the threads has got of another one. */
static void check_exchanged(const double *out)
{
    for (int i = 0; i < LANES; i++) {
        int lane = i % 32, first = i - lane;
        assert_true(out[i] == 1.5 * (lane < 31 ? i + 1 : i));
        assert_true(out[LANES + i] == (double)((long long)(first + 5) << 40));
        assert_true(out[2 * LANES + i] == (lane < 2 ? i : i - 2));
        assert_true(out[3 * LANES + i] == (i ^ 3));
        assert_true(out[4 * LANES + i] == LANES - 1 - i);
    }
}

static void check_told(const double *rest)
{
    for (int warp = 0; warp < 2; warp++) {
        int i = 32 * warp, ffs = __builtin_ffs(i + 8), clz = __builtin_clz((unsigned)i + 1);
        assert_true(rest[warp] == 0xaaaaaaaau && rest[2 + warp] == warp && rest[4 + warp] == (warp == 0));
        assert_true(rest[6 + warp] == 16 + 100 * 16);
        assert_true(rest[8 + warp] == clz + 100 * (clz + 32) + 10000 * ffs + 1000000 * ffs);
        assert_true(rest[10 + warp] == 96 && rest[12 + warp] == 1);
        assert_true(rest[14 + warp] == (i < 3 ? i : 3) + 100 * (i > 3 ? i : 3) + 2.5);
    }
    assert_true(rest[16] == 6);
}

TEST(by_threads, .gpu = ON_REAL_GPU)
{
    int word[10] = {1, 1, 100, 1, -1, 0, 0, 0, 5, 1};
    unsigned long long wide[2] = {1, 1};
    double sums[2] = {0.25, 0}, out[TOGETHER] = {0};
    float single;
    REX_MAP(args, REX_TOFROM(word, 10), REX_TOFROM(wide, 2), REX_TOFROM(sums, 2), REX_TOFROM(out, TOGETHER));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(together), 1, LANES);
    assert_int_equal(rex_launch(&launch, &args), 0);
    check_exchanged(out);
    check_told(out + 5 * LANES);
    int odd_bits = 0;
    for (int i = 0; i < LANES; i++)
        odd_bits ^= 3 * i;
    const int wanted[10] = {1 + 2016, 1 - 2016, -10, 63, 0, -1, odd_bits, 5, 7, 1 + 2 * LANES};
    for (int i = 0; i < 10; i++)
        assert_int_equal(word[i], wanted[i]);
    assert_true(wide[0] == 1 + (64ull << 33) && wide[1] == 63ull << 40);
    memcpy(&single, &sums[1], sizeof single);
    assert_true(sums[0] == 32.25 && single == 64);
}
