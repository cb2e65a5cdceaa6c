#!/bin/sh
# Files that are made to take long or much (tests/fuzz/hostile): four times the file takes a reader about four times the instructions, not
# sixteen times, and no file takes more than 64 MiB and 32 times its size. Instructions are counted by cachegrind, so no clock decides.
. tests/support/lib.sh
needs valgrind

small=1500
large=$((4 * small))
most=500 # percent; sorting takes a little more than four times

for count in $small $large; do
    mkdir "$work/$count"
    python3 tests/fuzz/hostile "$work/$count" "$count"
done
: >"$work/empty"

# Instructions of TARGET over FILE
count() { instructions "$O/tests/fuzz/$1" "$2"; }

# grows TARGET FILE: what the start of a program takes, $start, does not count
grows() {
    one=$(($(count "$1" "$work/$small/$2") - start))
    four=$(($(count "$1" "$work/$large/$2") - start))
    in_proportion "$most" "$1 $2" "$one" "$four"
}

# bounded STATUS FILE COMMAND...: COMMAND, which FILE is for, ends with STATUS and does not take more memory than FILE may
bounded() {
    status=$1
    file=$2
    shift 2
    python3 - "$status" "$file" "$@" <<'PYTHON' || failed=1
import os
import resource
import subprocess
import sys

status, file, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
size = os.path.getsize(file)
limit = (64 << 20) + 32 * size
try:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120).returncode
except subprocess.TimeoutExpired:
    done = 'none after two minutes'
taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
print('%-12s %-34s %11d of %11d bytes' % (os.path.basename(command[0]), os.path.basename(file), taken, limit))
if done != status or taken > limit:
    print('FAIL: %s: status %s, not %s; %d bytes of memory, at most %d' % (' '.join(command), done, status, taken, limit))
    sys.exit(1)
PYTHON
}

# grow TARGET FILE...
grow() {
    target=$1
    shift
    start=$(count "$target" "$work/empty")
    for file in "$@"; do grows "$target" "${file##*/}"; done
}
grow cubin "$work/$small"/*.cubin
grow hostimage "$work/$small"/*.host
grow library "$work/$small"/*names.host
grow list "$work/$small"/*.list

# ---- rex-check, which looks into all images of a file, and says which name was probably meant -------------------------

check=$O/tools/rex-check
for count in $small $large; do
    cc -w -fPIC -c -o "$work/$count/program.o" "$work/$count/program.c"
done
for file in "$work/$small"/*.fatbin "$work/$small/other_names.image"; do
    name=${file##*/}
    one=$(instructions "$check" "$work/$small/program.o" "$work/$small/$name")
    four=$(instructions "$check" "$work/$large/program.o" "$work/$large/$name")
    in_proportion "$most" "rex-check $name" "$one" "$four"
    status=2
    [ "$name" != other_names.image ] || status=1
    for count in $small $large; do bounded "$status" "$work/$count/$name" "$check" "$work/$count/program.o" "$work/$count/$name"; done
done

# ---- a registration, which takes one image of a file -------------------------------------------------------------------

for file in "$work/$large"/*.fatbin; do bounded 0 "$file" "$O/tests/fuzz/image" "$file"; done
