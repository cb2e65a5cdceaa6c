/* main.c - calls twice().
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
int twice(void);
int main(void)
{
    return twice();
}
