#!/bin/sh
# rex-info: every release, no libomptarget, drivers of every kind, a libomptarget that crashes; the ABI against what the compiler says of
# the headers, and what the library exports.
. tests/support/lib.sh
info=$build/tools/rex-info

# is QUERY VALUE: what jq finds in the last output
is() {
    said=$(jq -r "$1" "$work/out") || fail "$1: no JSON"
    [ "$said" = "$2" ] || fail "$1 is $said and not $2"
}

# ---- the command line

command_line rex-info
refused 2 frobnicate "$info" --frobnicate
refused 2 'no arguments' "$info" app
status=0
"$info" >&- 2>"$work/err" || status=$?
ends 2
says 'cannot be written: Bad file'
# Without standard input and error, what libomp writes there is no answer.
KMP_SETTINGS=1 tests/llvm 19 "$info" --json >"$work/out" <&- 2>&-
is .host.result 'a kernel ran'
# What is beside a compiler need be no header: nobody writes to the pipe.
mkdir "$work/bin" "$work/include"
printf '#!/bin/sh\n' >"$work/bin/nvcc"
chmod +x "$work/bin/nvcc"
mkfifo "$work/include/cuda.h"
NVCC=$work/bin/nvcc run timeout 60 tests/llvm 19 "$info"
ends 0 'a pipe for a header'
prints "$work/bin/nvcc"

# ---- the real releases: what is adapted is what the release needs; a kernel runs before anything is registered

for release in $(tests/llvm --list); do
    run tests/llvm "$release" "$info" --json
    ends 0
    is .libomptarget.release "$release"
    is '.libomptarget["chosen by"]' REX_OMPTARGET
    is '.libomptarget["recognized by"] | startswith("it exports ")' true
    is .host.result 'a kernel ran'
    is .host.devices 4
    jq -r '.adapted | to_entries[] | "\(.key): \(.value)"' "$work/out" >"$work/adapted"
    golden "rex-info/adapted-$release.txt" "$work/adapted"
    # Plugins are files up to 18, and in libomptarget later.
    if [ "$release" -lt 19 ]; then
        is '.plugin.cuda | endswith("/libomptarget.rtl.cuda.so")' true
    else
        is .plugin.all 'in libomptarget itself'
    fi
    is '.searched["/opt/*/lib"]' ''
    run tests/llvm "$release" "$info"
    prints 'a kernel ran'
    sed -n 1p "$work/out" | grep -q "^librex .* with LLVM $release's libomptarget launches on " || fail "the first line: $(sed -n 1p "$work/out")"
done

# No fact of a release is left out; but for those that change no call: what it is recognized by, and which compilers' programs it runs.
# fields STRUCT NAME: with the NAME that the code has for it
fields() {
    sed -n "/^struct rex_$1 {/,/^};/s/^    [a-z][a-z_0-9 ]*[ *]\([^;]*\);.*/\1/p" librex/omp/release.h | sed 's/, /\n/g' | sed "s/^/$2->/"
}
{ fields release release && fields packet_rule rule; } | grep -vE '(number|marker|newest_packet)$' >"$work/fields"
[ "$(wc -l <"$work/fields")" -ge 30 ] || fail "librex/omp/release.h was not read: $(cat "$work/fields")"
while read -r field; do
    grep -q -e "$field\b" -e "host\.${field#rule->}\b" librex/calls/info.c || fail "librex/calls/info.c says nothing of $field"
done <"$work/fields"

# ---- librex(7) says the same of each release: its table, and which host images run

page=$build/man/librex.7
# by_release: a line for neighbours with the same facts
by_release() {
    awk -F '\t' '{ what = substr($0, length($1) + 2) }
        what == last { releases = releases ", " $1; next }
        { if (NR > 1) print releases "\t" last; releases = $1; last = what }
        END { print releases "\t" last }'
}
"$info" --abi --json >"$work/abi"
for release in $(jq -r '.releases | keys[]' "$work/abi"); do # those that are not here, too
    jq -r ".releases[\"$release\"] | to_entries[] | \"\(.key): \(.value)\"" "$work/abi" >"$work/adapted"
    golden "rex-info/adapted-$release.txt" "$work/adapted"
done
jq -r 'def dimensions: if test("3 dimensions") then "x, y, z" else "x" end;
    .releases | to_entries[] | .value["plain kernels"] as $plain | .value["env kernels"] as $env | [.key,
        (if $plain | startswith("launched on a GPU only") then "driver" else "yes" end), (if $env | startswith("launched on a GPU only") then "driver" else "yes" end),
        (if $plain | startswith("launched on a GPU only") or ($plain | dimensions) == ($env | dimensions) then $env | dimensions
         else "plain \($plain | dimensions); env \($env | dimensions)" end)
            + (.value.teams // "" | if . == "" then "" else ", at most \(match("[0-9]+").string) blocks" end),
        (if $env | test("no dynamic") then "no" else
            (if $plain | test("no dynamic") then "env only, " else "" end)
                + (if .value["dynamic shared memory"] then "less than 48 KiB"
                   elif .value["shared memory"] | test("more than 48 KiB for a block is an error") then "up to 48 KiB" else "yes" end) end)] | @tsv' \
    "$work/abi" | by_release >"$work/table"
sed -n '/^LLVM\tplain\tenv/,/^\.TE/{/^[0-9]/p;}' "$page" | diff -u "$work/table" - || fail "the table of releases in $page is not librex's own"
jq -r '.releases | to_entries[] | [.key,
    (.value as $facts | ["images", "copies of entries"][] |
        if $facts["late images"] then "used again" elif $facts[.] == null then "freed" elif . == "images" then "stays" else "stay" end)] | @tsv' \
    "$work/abi" | by_release >"$work/table"
sed -n '/^LLVM\timage\tcopies/,/^\.TE/{/^[0-9]/p;}' "$page" | diff -u "$work/table" - || fail "the table of memory in $page is not librex's own"
strict=$(jq -r '.releases | to_entries | map(select(.value["host kernels without rex/kernel.h"]).key) | join(" and ")' "$work/abi")
grep -q "^On LLVM [0-9, ]*$strict kernels of a host image need <rex/kernel.h>" "$page" || fail "$page does not say that LLVM $strict refuse host images"
tr -s "\n *" " " <include/rex/module.h | grep -q "On $strict: a host image whose kernels" || fail "rex_module_register() does not say the same of LLVM $strict"

# ---- none

none() { REX_OMPTARGET=/nonexistent/libomptarget.so run env "$@"; }
none "$info" --json
ends 1
is '.summary | split(" launches ") | .[1]' "nothing: libomptarget /nonexistent/libomptarget.so (chosen by REX_OMPTARGET) cannot be used: open: No such file or directory"
is '.libomptarget.error | contains("/nonexistent/libomptarget.so")' true
is '.host' null
[ "$(grep -c /nonexistent "$work/err")" = 1 ] || fail 'no libomptarget: not said on standard error'
none "$info"
ends 1
none REX_WAIT=spin "$info" --json
is .librex.file "$(realpath "$O/librex.so")"
is '.librex.compiler | test("^(gcc|clang) ")' true
is .setting.REX_WAIT 'spin (the environment)'
is .setting.REX_LOG 'warn (default)'

# ---- a toolkit, in PATH

mkdir -p "$work/cuda/bin" "$work/cuda/include"
printf '#!/bin/sh\n' >"$work/cuda/bin/nvcc"
chmod 755 "$work/cuda/bin/nvcc"
printf '/* */\n#define CUDA_VERSION 12080\n' >"$work/cuda/include/cuda.h"
none -u NVCC PATH="$work/cuda/bin:$PATH" "$info" --json
is .toolkit.nvcc "$(realpath "$work/cuda/bin/nvcc")"
is '.toolkit["CUDA version"]' 12.8

# ---- fake drivers, beside the fake of LLVM 22, which also stands for a library that cannot run kernels

missing='libomptarget opens the CUDA driver as libcuda.so, but only libcuda.so.1 exists: a link is missing'
if /sbin/ldconfig -p | grep -q 'libcuda\.so '; then missing=null; fi
# A driver, a release, settings, a fact.
while IFS=';' read -r driver release settings query expected; do
    [ -z "${SAN-}" ] || break # a preloaded library comes before a sanitizer's
    # Settings are words.
    # shellcheck disable=SC2086
    run env LD_PRELOAD="$build/tests/fake/$driver/libcuda.so.1" REX_OMPTARGET="$build/tests/fake/$release/libomptarget.so.$release" $settings \
        "$info" --json
    is "$query" "$expected"
done <<FACTS
cuda;22;FAKE_CUDA_DEVICES=2;.gpus | length;2
cuda;22;FAKE_CUDA_DEVICES=2;.gpus[1] | [.name, .uuid, .pci, (.links | join(" "))] | join(", ");Fake GPU 1, GPU-10111213-1415-1617-1819-1a1b1c1d1e1f, 0001:3c:00.0, nvlink self
cuda;22;;.gpus[0] | [.capability, .memory, .multiprocessors] | join(", ");9.0, 85899345920, 132
cuda;22;;.driver["CUDA version"];13.0
cuda;22;;.launch.by;the CUDA driver
cuda;22;;.libomptarget.trouble;null
cuda;22;FAKE_CUDA_DEVICES=2 LD_LIBRARY_PATH=$build/tests/fake/cuda;.summary | split(" launches ") | .[1];on 2 GPUs, Fake GPU 0, Fake GPU 1; the host device: a kernel did not run: its result is missing
cuda;22;OMP_NUM_TEAMS=3;.summary | contains(" launches by libomptarget: OMP_NUM_TEAMS is set, which libomptarget obeys");true
cuda;22;OMP_NUM_TEAMS=3 REX_LAUNCH_BY=driver;.summary | contains(" finds 1 GPU, Fake GPU 0") and contains(" no launch is possible: REX_LAUNCH_BY=driver, and only libomptarget can launch: OMP_NUM_TEAMS is set");true
cuda;25;;.summary | contains(" the library is LLVM 25's, which this librex does not know");true
cuda;22;FAKE_CUDA_FAILS=100;.summary | split(" launches ") | .[1];nothing, there is no GPU: cuInit: CUDA_ERROR_NO_DEVICE; the host device: a kernel did not run: its result is missing
cuda;25;;.libomptarget.release;24
cuda;25;;.libomptarget.trouble;the library is LLVM 25's, which this librex does not know: librex treats it as LLVM 24's
cuda;22;REX_LAUNCH_BY=runtime;.launch.by;libomptarget: REX_LAUNCH_BY=runtime
cuda;22;OMP_NUM_TEAMS=3;.launch.by;libomptarget: OMP_NUM_TEAMS is set, which libomptarget obeys
cuda;22;OMP_TOOL_LIBRARIES=/tool.so REX_LAUNCH_BY=driver;.launch.by;nothing, because REX_LAUNCH_BY=driver, and only libomptarget can launch: an OMPT tool is loaded
cuda;22;FAKE_CUDA_FAILS=100;.driver.error;cuInit: CUDA_ERROR_NO_DEVICE
cuda;22;FAKE_CUDA_FAILS=100;.gpus | length;0
cuda;22;FAKE_CUDA_FAILS=800;.driver["what helps"];null
cuda;22;FAKE_CUDA_FAILS=34;.driver["what helps"];remove the folder of the stub from LD_LIBRARY_PATH
cuda;22;FAKE_CUDA_FAILS=802;.driver["what helps"];start the missing service
cuda;22;FAKE_CUDA_FAILS=803;.driver["what helps"] | startswith("reload the kernel module");true
cuda;22;FAKE_CUDA_FAILS=804;.driver["what helps"];remove the folder of that package from LD_LIBRARY_PATH
cuda;22;FAKE_CUDA_FAILS=805;.driver["what helps"] | startswith("start the MPS daemon");true
cuda;22;FAKE_CUDA_FAILS=800;.driver.error;cuInit: CUDA_ERROR_NOT_PERMITTED
cuda;22;FAKE_CUDA_DEVICES=0;.driver.error;the CUDA driver reports no device
cuda;22;FAKE_CUDA_DEVICES=0;.launch.by;libomptarget: there is no NVIDIA GPU, or its driver is too old
cuda;22;FAKE_CUDA_NAME_FAILS=719;.gpus[0].error;GPU 0: cuDeviceGetName: CUDA_ERROR_LAUNCH_FAILED
cuda-old;22;;.driver.trouble | contains("lacks cuFuncGetParamInfo, which came with CUDA 12.4");true
cuda-old;19;;.driver.trouble | contains("lacks cuMemAllocAsync, which came with CUDA 11.2");true
cuda-old;16;;.driver.trouble;$missing
cuda-old;16;LD_LIBRARY_PATH=$build/tests/fake/cuda;.driver.trouble;null
FACTS

# What helps goes by words of the error. These are those of other machines.
while IFS=';' read -r words helps; do
    [ -z "${SAN-}" ] || break
    run env LD_PRELOAD="$build/tests/fake/cuda/libcuda.so.1" REX_OMPTARGET="$build/tests/fake/22/libomptarget.so.22" FAKE_CUDA_FAILS=100 \
        CUDA_VISIBLE_DEVICES="$words" "$info" --json
    is ".driver[\"what helps\"] | startswith(\"$helps\")" true
done <<HELPS
cannot be opened: Permission denied;become a member of the group
cannot be opened: Operation not permitted;give the container or the job
cannot be opened: No such file;create it as root
its kernel module is loaded;install the library
no file can be opened;close files
-1;unset CUDA_VISIBLE_DEVICES
HELPS

# ---- the ABI: sizes and offsets as another program sees them, from the names alone; functions as the library exports them

run "$info" --abi --json
ends 0
jq -r '"#include <rex.h>\n#include <rex_kmp.h>\n#include <rex/inspect.h>\n#include <rex/interop.h>\n#include <stdio.h>\n#define CHECK(c) if (!(c)) return puts(#c)\nint main(void)\n{",
    (.structs[] | "CHECK(sizeof(\(.name)) == \(.size));",
        (.name as $struct | .fields[] | "CHECK(offsetof(\($struct), \(.name)) == \(.offset) && sizeof(((\($struct) *)0)->\(.name)) == \(.size));")),
    (.constants | to_entries[] | "CHECK(\(.key) == \(.value));"), "return 0;\n}"' "$work/out" >"$work/check.c"
"$CC" -std=gnu11 -Iinclude -o "$work/check" "$work/check.c" -L"$O" -lrex || fail 'the ABI does not compile'
LD_LIBRARY_PATH=$O "$work/check" || fail 'the ABI is another one'

# Nothing of the headers is missing: every struct, field and function in the eyes of another reader.
# Of C, that is, and not what the compiler alone reads.
headers() { find include -name '*.h' ! -name arguments.h ! -name 'ke*.h' ! -name kinds.h ! -name openmp.h "$@"; }
jq -r '.structs[].name' "$work/out" | sort >"$work/listed"
headers -exec sed '/^#ifdef __cplusplus/,/^#e/d' {} + | sed -n 's/^\(typedef \)\{0,1\}\(struct [A-Za-z_0-9]*\) {.*/\2/p' | sort >"$work/structs"
diff "$work/structs" "$work/listed" || fail 'structs are missing'
jq -r '.functions[] | select((.inline or .per_binary) | not) | .name' "$work/out" | sort >"$work/listed"
nm -D --defined-only "$O/librex.so" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
diff "$work/exported" "$work/listed" || fail 'functions are missing'
jq -r '.functions[] | select(.prototype == null) | .name' "$work/out" | grep -v -e '^__tgt_' -e '^omp_' && fail 'a function has no prototype'
jq -r '.functions[] | select(.inline) | .name' "$work/out" >"$work/listed"
headers -exec sed -nE 's/^static inline .*[ *]([A-Za-z_0-9]+)\(.*/\1/p' {} + | sort >"$work/inline"
diff "$work/inline" "$work/listed" || fail 'inline functions are missing'
jq -r '.functions[] | select(.per_binary) | .name' "$work/out" | tr '\n' ' ' >"$work/listed"
[ "$(cat "$work/listed")" = 'register_cubin rex_offload_fini rex_offload_init ' ] || fail "per binary: $(cat "$work/listed")"
jq -r '.constants | keys[]' "$work/out" | sort >"$work/listed"
for prefix in REX_E REX_OPTION_ REX_MAP_ REX_IMAGE_ REX_LAUNCH_ REX_QUEUE_; do
    grep -q "^$prefix" "$work/listed" || fail "no constant begins with $prefix"
done
# A macro is a constant where the compiler takes it for one.
headers -exec sed -n 's/^#define \(REX_[A-Z0-9_]*\) .*/\1/p' {} + | sort -u | comm -23 - "$work/listed" >"$work/macros"
{
    printf '#include <rex.h>\n#include <rex_kmp.h>\n#include <rex/inspect.h>\n#include <rex/interop.h>\n'
    sed 's/.*/enum { is_& = (int)(&) };/' "$work/macros"
} >"$work/macro.c"
# What the compiler names no line of has no error.
"$CC" -fmax-errors=0 -Iinclude -fsyntax-only "$work/macro.c" 2>&1 | sed -n 's/^[^:]*macro\.c:\([0-9]*\):.*/\1/p' | sort -u >"$work/refused"
awk -v refused="$work/refused" 'BEGIN { while ((getline line <refused) > 0) no[line] = 1 }
    NR > 4 && !(NR in no) { print "FAIL: the constant is missing: " $0; missing = 1 }
    END { exit missing }' "$work/macro.c" || failed=1
is .constants.REX_PARAMETERS_UNKNOWN 65535
run "$info" --abi
ends 0
prints '     104'
prints 'int __tgt_target_kernel(ident_t *loc'

[ "$failed" = 0 ] && echo "$(wc -l <"$work/exported") functions, $(wc -l <"$work/structs") structs"
