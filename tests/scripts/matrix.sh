#!/bin/sh
# Programs that each clang built, on each release's libomptarget, under rex-run: they compute the right values, or are refused with the
# release to use. tests/clang has the programs, and a table of what is expected: nothing else may happen, a wrong value least of all.
# `make check` tries the releases that differ most.
. tests/support/lib.sh
export LLVM_RELEASES="${LLVM_RELEASES:-${TEST_CORNERS-}}"
rex_run=$build/tools/rex-run
[ "$(uname -m)" = x86_64 ] || skip 'the programs of tests/clang are for x86-64'

# outcome STATUS: a word of the table, or what happened; on standard error is nothing but what libomp says of the machine, and what 19 and later
# say to code of clang 14 to 17, or a refusal with the release to use
outcome() {
    noise='^OMP: |The void __tgt_register_requires\(int64_t\) function has been removed'
    case $1,$(cat "$work/err") in
    5,*) if cmp -s "$work/out" tests/clang/expected && ! grep -qvE "$noise" "$work/err"; then echo runs; else echo wrong; fi ;;
    126,*'passes other parameters to kernels'*": run the program on LLVM $clang") echo other ;;
    126,*'device images only for the CPU'*": run the program on LLVM $clang") echo images ;;
    *) echo "status-$1" ;;
    esac
}

count=0
columns=$(sed -n 's/^on //p' tests/clang/table)
for release in $(tests/llvm --list); do
    if [ "$(tests/llvm --how "$release")" = loader ]; then
        echo "left out: LLVM $release: what rex-run starts needs a mount namespace for it"
        continue
    fi
    library=$(tests/llvm "$release" printenv REX_OMPTARGET)
    expected=$(sed -n "s/^$release //p" tests/clang/table)
    for clang in $columns; do
        # Words of the row, from the first column on.
        # shellcheck disable=SC2086
        set -- $expected
        wanted=${1-nothing}
        shift
        expected=$*
        # Without a GPU's libomptarget, and without the program's own code where there is no device.
        status=0
        OMP_TARGET_OFFLOAD=mandatory timeout 60 tests/llvm "$release" "$rex_run" --omptarget="$library" "tests/clang/$clang" \
            >"$work/out" 2>"$work/err" || status=$?
        happened=$(outcome "$status")
        count=$((count + 1))
        [ "$happened" = "$wanted" ] && continue
        failed=1
        echo "FAIL: clang $clang's program on LLVM $release: $happened, not $wanted"
        diff tests/clang/expected "$work/out" | sed 's/^/    /' || true
        sed 's/^/    /' "$work/err"
    done
done
[ "$count" -gt 0 ] || skip 'no LLVM release is unpacked'
echo "$count pairs of a clang and a release"
