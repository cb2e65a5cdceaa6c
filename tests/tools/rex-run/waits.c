/* waits.c - says when it is ready, and waits for SIGUSR1.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdio.h>
int main(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    fflush(stdout);
    sigwait(&set, &number);
    puts("got it");
    return 9;
}
