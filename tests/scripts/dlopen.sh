#!/bin/sh
# A process that is not linked with librex opens it: librex.so itself, from Python too, and a plug-in that links it or has librex.a inside.
# The process has little static TLS left for them, and threads that have called a plug-in may end after dlclose().
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
release=$(tests/llvm --plain | tail -n 1)
[ -n "$release" ] || { echo 'skip: no LLVM release is unpacked'; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-dlopen.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

most=64
size=$((0x$(readelf -lW "$O/librex.so" | awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }')))
if [ "$size" = 0 ] || [ "$size" -gt $most ]; then fail "librex.so has $size bytes of static TLS, and not 1 to $most"; fi

# The plug-in is lesson 5's, with a function more.
lesson=examples/05_shared_objects
cat >"$work/more.c" <<'SOURCE'
#include <rex.h>
#include <stddef.h>
int fails(void);
int fails(void)
{
    return rex_module_register(NULL, NULL) == REX_EINVAL && rex_last_error()[0] != '\0' ? 0 : 1;
}
SOURCE
cp "$O/$lesson/shift_host.so" "$work"
# plugin NAME LIBRARY...
plugin() {
    name=$1
    shift
    $CC -D_GNU_SOURCE -Iinclude -I$lesson/shift -shared -fPIC -O2 -o "$work/$name.so" $lesson/shift/shift.c "$work/more.c" \
        -Wl,-z,nostart-stop-gc "$@" -ldl -pthread
}
plugin shared -L"$O" -lrex -Wl,-rpath,"$PWD/$O"
plugin static "$O/librex.a"

# main.c PLUGIN LAUNCHES: in a thread and in main, an error and, unless LAUNCHES is 0, a launch; the thread ends after dlclose().
cat >"$work/main.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static int (*fails)(void);
static int (*shift)(double *x, int64_t count, double amount);
static int launches;

static void *use(void *unused)
{
    double x[10];
    if (fails() != 0 || (launches && shift(x, 10, 0.5) != 0))
        exit(2);
    return unused;
}

static void *run_thread(void *unused)
{
    use(unused);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(int count, char **argument)
{
    pthread_t thread;
    void *plugin = count == 3 ? dlopen(argument[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    launches = atoi(argument[2]);
    *(void **)&fails = dlsym(plugin, "fails");
    *(void **)&shift = dlsym(plugin, "shift");
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run_thread, NULL);
    pthread_barrier_wait(&barrier);
    use(NULL);
    dlclose(plugin);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    puts("good");
    return 0;
}
SOURCE
$CC -O2 -o "$work/main" "$work/main.c" -ldl -pthread

# runs NAME COMMAND...
runs() {
    name=$1
    shift
    if ! REX_LOG=off tests/llvm "$release" timeout -k 5 60 "$@" >"$work/said" 2>&1 || ! grep -q '^good$' "$work/said"; then
        fail "$name"
        sed 's/^/    /' "$work/said"
    fi
}
for kind in shared static; do
    for launches in 0 1; do runs "a plug-in, $kind, $launches launches" "$work/main" "$work/$kind.so" $launches; done
done
runs 'librex.so, in Python' python3 -c '
import ctypes, sys
rex = ctypes.CDLL(sys.argv[1])
rex.rex_last_error.restype = ctypes.c_char_p
assert rex.rex_module_register(None, None) < 0 and b"NULL" in rex.rex_last_error(), rex.rex_last_error()
print("good")' "$O/librex.so"

exit $failed
