#!/bin/sh
# A process that is not linked with librex opens it: librex.so itself, from Python too, and a plug-in that links it or has librex.a inside.
# The process has little static TLS left for them, and threads that have called a plug-in may end after dlclose().
. tests/support/lib.sh
needs_plain

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

$CC -O2 -o "$work/main" tests/link/dlopen.c -ldl -pthread

# runs NAME COMMAND...
runs() {
    name=$1
    shift
    run on_release env REX_LOG=off "$@"
    ends 0 "$name"
    prints good
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
