#!/bin/sh
# Every message that rex-troubleshooting(7) quotes appears, from librex, its tools, libomptarget or libomp, when the mistake is made: on the real
# releases where the mistake is one of the host's, on the fakes (tests/fake) where it takes a GPU that this machine has not. What neither can show
# is listed below with its reason and counted. The page's statements about silence and crashes are tried as well.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
CC=${CC:-gcc}
top=$PWD
[ -z "${SAN-}" ] || { echo 'skip: a preloaded driver comes before the runtime of a sanitizer'; exit 77; }
for release in 14 15-bare 16 19 22; do
    [ -e "build/llvm/$release/.done" ] || tests/llvm --list | grep -qx "$release" || { echo "skip: LLVM $release is not unpacked"; exit 77; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/librex-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
said=$work/said # what everybody said, a line each, with the speaker in front
: >"$said"

# ---- the programs

source=tests/tools/troubleshooting
host=$top/$O/tests/fake/host.so
build() { "$CC" -std=gnu11 -Wall -Wextra -Werror -Iinclude "$@" -L"$O" -lrex -Wl,-rpath,"$top/$O" -Wl,-z,nostart-stop-gc -ldl; }
build -rdynamic "$source/provoke.c" -o "$work/provoke"
build -DNARROW "$source/provoke.c" -o "$work/narrow"
build -DNO_KERNEL "$source/provoke.c" -o "$work/empty"
"$CC" -std=gnu11 -Wall -Wextra -Werror -Iinclude "$source/raw.c" -o "$work/raw" -ldl
"$CC" -std=gnu11 -Wall -Wextra -Werror "$source/two.c" -o "$work/two" -ldl

# A host image of a hand that does not use rex/kernel.h, one with another kernel, one with both kernels in another order.
kernel() { printf 'void %s(long *values) { values[0] = %s; }\n' "$1" "$2"; }
{ kernel plain__kernel__ 1; kernel none__kernel__ 1; } | "$CC" -x c -shared -fPIC -o "$work/bare.so" -
kernel add__kernel__ 41 | "$CC" -x c -shared -fPIC -o "$work/add.so" -
table() { printf 'static struct { void *a; char *n; long s; int f, r; } e __attribute__((used, section("omp_offloading_entries"))) = {%s, "%s", 0, 0, 0};\n' "$1" "$1"; }
{ kernel add__kernel__ 41; table add__kernel__; } | "$CC" -x c -shared -fPIC -o "$work/add.so" -
{ kernel other__kernel__ 43; table other__kernel__; } | "$CC" -x c -shared -fPIC -o "$work/other.so" -
sed 's/plain__kernel__/plein__kernel__/g' "$host" >"$work/plein.so"
chmod 755 "$work/plein.so"

# ---- who says what

# speaks WHO COMMAND...: its output belongs to WHO. $status, $work/output
speaks() {
    who=$1
    shift
    status=0
    # A shell of its own, so that a crash is not told here.
    sh -c '"$@"' sh "$@" >"$work/output" 2>&1 || status=$?
    sed "s|^|$who |" "$work/output" >>"$said"
}
# real RELEASE IMAGE PROGRAM MISTAKE: librex on a real release, without a GPU
real() {
    release=$1 image=$2
    shift 2
    speaks librex tests/llvm "$release" env CUDA_VISIBLE_DEVICES= REX_CUBIN="$image" "$@"
}
# faked RELEASE IMAGE SM PROGRAM MISTAKE: on the fakes of a release and of a driver with a GPU
faked() {
    release=$1 image=$2 sm=$3
    shift 3
    speaks librex env LD_PRELOAD="$top/$O/tests/fake/cuda/libcuda.so.1" FAKE_CUDA_SM="$sm" REX_CUBIN="$image" REX_LOG=info \
        REX_OMPTARGET="$top/$O/tests/fake/$release/libomptarget.so.$release" "$@"
}
raw() {
    release=$1
    shift
    speaks libomptarget tests/llvm "$release" env "$@"
}

for release in 14 15 16 19 22; do
    real "$release" "$host" "$work/provoke" none
    [ "$status" = 0 ] || fail "LLVM $release: the program without a mistake: $(cat "$work/output")"
    for mistake in key device update 'update part' overlap present; do
        real "$release" "$host" "$work/provoke" "$mistake"
        [ "$status" = 1 ] || fail "LLVM $release, $mistake: status $status"
    done
    real "$release" "$host" "$work/provoke" 'no end'
    grep -q 'never ended' "$work/output" || fail "LLVM $release: a region that is not ended: $(cat "$work/output")"
    raw "$release" "$work/raw" none "$work/add.so"
    grep -q 'returned 0, the value is 41' "$work/output" || fail "LLVM $release: a raw launch: $(cat "$work/output")"
    for mistake in key device present overlap; do
        raw "$release" "$work/raw" "$mistake" "$work/add.so"
        [ "$status" -gt 128 ] || fail "LLVM $release does not abort: $mistake, status $status"
    done
done

# Nothing runs, without a word; an error where it must.
raw 19 "$work/raw" none tests/data/sm_90.cubin
grep -qx 'the launch returned -1, the value is 1' "$work/output" || fail "no device is not silent: $(cat "$work/output")"
raw 19 OMP_TARGET_OFFLOAD=mandatory "$work/raw" none tests/data/sm_90.cubin
[ "$status" -gt 128 ] || fail "no image is no error where offloading is mandatory: $status"
speaks librex tests/llvm 19 env OMP_TARGET_OFFLOAD=disabled REX_CUBIN="$host" "$work/provoke" none
real 19 "$host" env OMP_DEFAULT_DEVICE=99 "$work/provoke" none
real 19 "$top/tests/data/sm_90.cubin" "$work/provoke" none
mkdir "$work/both"
cp "$work/provoke" "$work/both/provoke"
cp tests/data/sm_90.cubin "$work/both/rex_lib_nvidia.cubin"
cp "$host" "$work/both/rex_lib_host.so"
speaks librex tests/llvm 19 env CUDA_VISIBLE_DEVICES= "$work/both/provoke" none

# A libomptarget that is newer than librex.
faked 25 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" none
[ "$status" = 0 ] || fail "a newer libomptarget: $(cat "$work/output")"

# Images and GPUs.
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" none
[ "$status" = 0 ] || fail "the fake GPU: $(cat "$work/output")"
faked 19 "$top/tests/data/sm_120.cubin" 120 "$work/provoke" none
faked 22 "$top/tests/data/sm_90.cubin" 80 "$work/provoke" none
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" rows
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/narrow" none
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" fork
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" "count and fork"
faked 19 "$top/tests/data/sm_90.cubin" 90 "$work/provoke" context
speaks rex-info env LD_PRELOAD="$top/$O/tests/fake/cuda-old/libcuda.so.1" REX_LOG=off \
    REX_OMPTARGET="$top/$O/tests/fake/22/libomptarget.so.22" "$O/tools/rex-info"
speaks rex-info env LD_PRELOAD="$top/$O/tests/fake/cuda/libcuda.so.1" REX_LOG=off \
    REX_OMPTARGET="$top/$O/tests/fake/16/libomptarget.so.16" "$O/tools/rex-info"

# Entries and kernels.
real 19 "$host" "$work/empty" none
real 19 "$work/plein.so" "$work/provoke" none
real 19 "$work/add.so" "$work/provoke" none
real 14 "$work/bare.so" "$work/provoke" none
for release in 14 15; do
    raw "$release" "$work/raw" none "$work/other.so"
    grep -q 'the value is 43' "$work/output" || fail "LLVM $release does not run the wrong kernel: $(cat "$work/output")"
done
for release in 16 19 22; do
    raw "$release" "$work/raw" none "$work/other.so"
    [ "$status" -gt 128 ] || fail "LLVM $release and a missing kernel: status $status"
done
speaks rex-check "$O/tools/rex-check" "$work/empty"
speaks rex-check "$O/tools/rex-check" "$work/provoke" "$work/add.so"
speaks rex-check "$O/tools/rex-check" "$work/narrow" tests/data/sm_90.cubin
"$CC" -std=gnu11 -Iinclude -c "$source/stranger.c" -o "$work/stranger.o"
speaks rex-check "$O/tools/rex-check" "$work/stranger.o"

# Updates, calls before and after, on the real ones.
for release in 14 15 16 19 22; do
    raw "$release" "$work/raw" update "$work/add.so"
    grep -qx 'the update of what is not mapped returned' "$work/output" || fail "LLVM $release: an update: $(cat "$work/output")"
    for mistake in before ended; do
        raw "$release" "$work/raw" "$mistake" "$work/add.so"
        case $release,$status in
        19,139 | 22,139) ;;
        1[456],0 | 1[456],255) ;;
        *) fail "LLVM $release, $mistake: status $status" ;;
        esac
        [ ! -s "$work/output" ] || grep -q 'egmentation' "$work/output" || fail "LLVM $release, $mistake: $(cat "$work/output")"
    done
done

# Runtimes: two of them, none, without plugins.
libomp() { echo "$top"/build/llvm/"$1"/usr/lib/llvm-"$1"/lib/libomp.so.5; }
speaks libomp "$work/two" "$(libomp 16)" "$(libomp 19)"
speaks librex tests/llvm 19 env LD_PRELOAD="$top/$O/tests/fake/iomp/libiomp5.so" REX_CUBIN="$host" "$work/provoke" none
speaks librex env REX_OMPTARGET="$work/nothing.so" REX_CUBIN="$host" "$work/provoke" none
real 15-bare "$host" "$work/provoke" none
linked=$top/build/llvm/15-bare/usr/lib/llvm-15/lib
real 15-bare "$host" env LD_PRELOAD="$linked/libomp.so.5:$linked/libomptarget.so.15" "$work/provoke" none
raw 15-bare "$work/raw" none "$work/add.so"
grep -qx 'the launch returned -1, the value is 1' "$work/output" || fail "15-bare is not silent: $(cat "$work/output")"

# ---- what cannot be made to appear here: REASON TAB BEGINNING OF THE QUOTATION

cat >"$work/excused" <<'EXCUSED'
only a real GPU refuses the launch	libomptarget too many resources requested for launch
EXCUSED
# One that is installed is found whatever the environment says.
speaks librex env -u REX_OMPTARGET -u LD_LIBRARY_PATH REX_CUBIN="$host" "$work/provoke" none
[ "$status" != 0 ] || printf '%s\t%s\n' 'a libomptarget is installed here' 'librex no usable libomptarget: install one' >>"$work/excused"

python3 - "$said" "$work/excused" <<'PYTHON' || failed=1
import re
import sys

def plain(roff):
    return roff.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")

page = open("librex/man/rex-troubleshooting.7").read()
said = {}
for line in open(sys.argv[1], errors="replace"):
    who, _, text = line.rstrip("\n").partition(" ")
    said.setdefault(who, []).append(text)
excused = dict(reversed(line.rstrip("\n").split("\t")) for line in open(sys.argv[2]))
used, failures, seen = set(), 0, 0

def fail(text):
    global failures
    failures += 1
    print("FAIL: " + text)

# A quotation may go over several lines.
quotations = [(who, text.replace("\n", " ")) for who, text in
              re.findall(r"^\.TP\n\.B (\S+)\n\\\(lq(.*?)\\\(rq$", page, re.M | re.S)]
if len(quotations) != page.count("\\(lq"):
    fail("%d quotations are understood, of %d" % (len(quotations), page.count("\\(lq")))
for who, roff in quotations:
    who = plain(who)
    text = who + " " + plain(re.sub(r"\\fI(.*?)\\fR", r"<\1>", roff))
    pattern = ".+?".join(re.escape(plain(part)) for part in re.split(r"\\fI.*?\\fR", roff))
    appeared = any(re.search(pattern, line) for line in said.get(who, []))
    excuse = next((known for known in excused if text.startswith(known)), None)
    seen += appeared
    if excuse is not None:
        used.add(excuse)
    if appeared and excuse is not None:
        fail("it is excused and appears: " + text)
    if not appeared and excuse is None:
        fail("it does not appear: " + text)
for known in sorted(set(excused) - used):
    fail("nobody quotes what is excused: " + known)
print("%d messages quoted: %d appeared, %d cannot here" % (len(quotations), seen, len(used)))
for known in sorted(used):
    print("  not here, since %s: %s" % (excused[known], known))
sys.exit(1 if failures else 0)
PYTHON
[ "$failed" = 0 ]
