/* clang.c - two target regions, an update and a data region for clang.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static double x[100], y[100];
static void triple(void)
{
#pragma omp target map(tofrom : y)
    for (int i = 0; i < 100; i++)
        y[i] *= 3;
}
int main(void)
{
#pragma omp target data map(to : x)
    {
        for (int step = 0; step < 4; step++) {
#pragma omp target teams distribute parallel for num_teams(3) thread_limit(32) map(to : x) map(from : y)
            for (int i = 0; i < 100; i++)
                y[i] = x[i] + step;
        }
#pragma omp target update from(x)
    }
    triple();
    return y[0] == 9 ? 0 : 1;
}
