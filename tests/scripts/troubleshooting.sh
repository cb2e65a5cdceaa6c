#!/bin/sh
# Every message that rex-troubleshooting(7) quotes appears, from librex, its tools, libomptarget or libomp, when the mistake is made: on the real
# releases where the mistake is one of the host's, on the fakes (tests/fake) where it takes a GPU that this machine has not. What neither can show
# is listed below with its reason and counted. The page's statements about silence and crashes are tried as well.
. tests/support/lib.sh
[ -z "${SAN-}" ] || skip 'a preloaded driver comes before the runtime of a sanitizer'
for release in 14 15-bare 16 19 22; do
    [ -e "build/llvm/$release/.done" ] || tests/llvm --list | grep -qx "$release" ||
        skip "LLVM $release is not unpacked"
done

said=$work/said # what everybody said, a line each, with the speaker in front
: >"$said"

# ---- the programs

source=tests/tools/troubleshooting
host=$build/tests/fake/host.so cubin=$top/tests/data/sm_90.cubin
program "$work/provoke" -Wall -Wextra -Werror -rdynamic "$source/provoke.c"
program "$work/narrow" -DNARROW "$source/provoke.c"
program "$work/empty" -DNO_KERNEL "$source/provoke.c"
"$CC" -std=gnu11 -Wall -Wextra -Werror -Iinclude "$source/raw.c" -o "$work/raw" -ldl
"$CC" -std=gnu11 -Wall -Wextra -Werror "$source/two.c" -o "$work/two" -ldl
"$CC" -std=gnu11 -Iinclude -c "$source/stranger.c" -o "$work/stranger.o"

# Host images that do not use rex/kernel.h, one of them without a table, and one with another
# kernel.
kernel() { printf 'void %s(long *values) { values[0] = %s; }\n' "$1" "$2"; }
table() {
    printf 'static struct { void *a; char *n; long s; int f, r; } e __attribute__((used, section('
    printf '"omp_offloading_entries"))) = {%s, "%s", 0, 0, 0};\n' "$1" "$1"
}
image() { "$CC" -x c -shared -fPIC -o "$work/$1.so" -; }
{ kernel plain__kernel__ 1; kernel none__kernel__ 1; } | image bare
{ kernel add__kernel__ 41; table add__kernel__; } | image add
{ kernel other__kernel__ 43; table other__kernel__; } | image other
sed 's/plain__kernel__/plein__kernel__/g' "$host" >"$work/plein.so"
chmod 755 "$work/plein.so"
mkdir "$work/both"
cp "$work/provoke" "$work/both/provoke"
cp "$cubin" "$work/both/rex_lib_nvidia.cubin"
cp "$host" "$work/both/rex_lib_host.so"

# ---- mistakes

fakes=$build/tests/fake
# speaks WHO COMMAND...: its output belongs to WHO. $status, $work/output
speaks() {
    who=$1
    shift
    status=0
    # A shell of its own, so that a crash is not told here.
    sh -c '"$@"' sh "$@" >"$work/output" 2>&1 || status=$?
    sed "s|^|$who |" "$work/output" >>"$said"
}
fake() { echo "LD_PRELOAD=$fakes/$1/libcuda.so.1 REX_OMPTARGET=$fakes/$2/libomptarget.so.$2"; }
# mistake KIND RELEASE IMAGE SETTINGS PROGRAM MISTAKE
mistake() {
    # Settings are words.
    # shellcheck disable=SC2046,SC2086
    case $1 in
    # librex on a real release, without a GPU
    real) speaks librex tests/llvm "$2" env CUDA_VISIBLE_DEVICES= REX_CUBIN="$3" $4 "$work/$5" \
        "$6" ;;
    # the fakes of a release and of a driver with a GPU
    fake) speaks librex env $(fake cuda "$2") REX_LOG=info REX_CUBIN="$3" $4 "$work/$5" "$6" ;;
    # libomptarget alone
    raw) speaks libomptarget tests/llvm "$2" env $4 "$work/raw" "$6" "$3" ;;
    esac
}
# judge STATUS TEXT: the last one ended so, or by a signal, and its output has the text
judge() {
    case $1 in
    '' | "$status") ;;
    abort) [ "$status" -gt 128 ] || fail "$row: status $status" ;;
    *) fail "$row: status $status" ;;
    esac
    [ -z "$2" ] || grep -q -e "$2" "$work/output" ||
        fail "$row: no \"$2\" in: $(cat "$work/output")"
}
sm=FAKE_CUDA_SM
all='14 15 16 19 22'
bare=$top/build/llvm/15-bare/usr/lib/llvm-15/lib
while IFS='|' read -r kind releases image settings program names expected text; do
    for release in $releases; do
        rest=$names
        while [ -n "$rest" ]; do
            what=${rest%%,*} row="LLVM $release, $kind, $program, ${rest%%,*}"
            rest=${rest#"$what"}
            rest=${rest#,}
            mistake "$kind" "$release" "$image" "$settings" "$program" "$what"
            judge "$expected" "$text"
        done
    done
done <<MISTAKES
real|$all|$host||provoke|none|0|
real|$all|$host||provoke|key,device,update,update part,overlap,present|1|
real|$all|$host||provoke|no end||never ended
raw|$all|$work/add.so|||none||returned 0, the value is 41
raw|$all|$work/add.so|||key,device,present,overlap|abort|
raw|$all|$work/add.so|||update||^the update of what is not mapped returned$
raw|14 15|$work/other.so|||none||the value is 43
raw|16 19 22|$work/other.so|||none|abort|
raw|15-bare|$work/add.so|||none||^the launch returned -1, the value is 1$
raw|19|$cubin|||none||^the launch returned -1, the value is 1$
raw|19|$cubin|OMP_TARGET_OFFLOAD=mandatory||none|abort|
real|19|$host|OMP_TARGET_OFFLOAD=disabled|provoke|none||
real|19|$host|OMP_DEFAULT_DEVICE=99|provoke|none||
real|19|$host|LD_PRELOAD=$fakes/iomp/libiomp5.so|provoke|none||
real|19|$host||empty|none||
real|19|$work/plein.so||provoke|none||
real|19|$work/add.so||provoke|none||
real|19|$cubin||provoke|none||
real|14|$work/bare.so||provoke|none||
real|15-bare|$host||provoke|none||
real|15-bare|$host|LD_PRELOAD=$bare/libomp.so.5:$bare/libomptarget.so.15|provoke|none||
fake|25|$cubin|$sm=90|provoke|none|0|
fake|19|$cubin|$sm=90|provoke|none|0|
fake|19|$top/tests/data/sm_120.cubin|$sm=120|provoke|none||
fake|22|$cubin|$sm=80|provoke|none||
fake|19|$cubin|$sm=90|provoke|rows,fork,count and fork,context||
fake|19|$cubin|$sm=90|narrow|none||
MISTAKES

# Calls before the first registration and after the last crash on later releases, and do nothing on
# others.
for release in $all; do
    for what in before ended; do
        mistake raw "$release" "$work/add.so" '' '' "$what"
        case $release,$status in
        19,139 | 22,139 | 1[456],0 | 1[456],255) ;;
        *) fail "LLVM $release, $what: status $status" ;;
        esac
        [ ! -s "$work/output" ] || grep -q 'egmentation' "$work/output" ||
            fail "LLVM $release, $what: $(cat "$work/output")"
    done
done
libomp() { echo "$top/build/llvm/$1/usr/lib/llvm-$1/lib/libomp.so.5"; }
speaks libomp "$work/two" "$(libomp 16)" "$(libomp 19)"
speaks librex tests/llvm 19 env CUDA_VISIBLE_DEVICES= "$work/both/provoke" none
speaks librex env REX_OMPTARGET="$work/nothing.so" REX_CUBIN="$host" "$work/provoke" none
# Settings are words.
# shellcheck disable=SC2046
for one in 'cuda-old 22' 'cuda 16'; do
    speaks rex-info env $(fake "${one% *}" "${one#* }") REX_LOG=off "$O/tools/rex-info"
done
for files in empty "provoke $work/add.so" "narrow $cubin" stranger.o; do
    # Names are words.
    # shellcheck disable=SC2086
    speaks rex-check "$O/tools/rex-check" "$work/"$files
done

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

plain = lambda roff: roff.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
page = open("librex/man/rex-troubleshooting.7").read()
said = open(sys.argv[1], errors="replace").read().splitlines()
excused = dict(reversed(line.split("\t")) for line in open(sys.argv[2]).read().splitlines())
failures, used = [], set()
# A quotation may go over several lines.
quotations = re.findall(r"^\.TP\n\.B (\S+)\n\\\(lq(.*?)\\\(rq$", page, re.M | re.S)
if len(quotations) != page.count("\\(lq"):
    failures.append("%d quotations are understood, of %d" % (len(quotations), page.count("\\(lq")))
for who, roff in quotations:
    roff = roff.replace("\n", " ")
    text = plain(who) + " " + plain(re.sub(r"\\fI(.*?)\\fR", r"<\1>", roff))
    pattern = re.escape(plain(who)) + " .*" + ".+?".join(re.escape(plain(part)) for part in re.split(r"\\fI.*?\\fR", roff))
    excuses = {known for known in excused if text.startswith(known)}
    used |= excuses
    if any(re.match(pattern, line) for line in said) == bool(excuses):
        failures.append("it is excused and appears, or neither: " + text)
failures += ["nobody quotes what is excused: " + known for known in set(excused) - used]
print(*("FAIL: " + text for text in failures), "%d messages quoted, %d of them cannot appear here" % (len(quotations), len(used)), sep="\n")
sys.exit(len(failures) > 0)
PYTHON
