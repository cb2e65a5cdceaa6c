#!/bin/sh
# An image that was built again for other parameters under the same name, the program not: rex-check says so before the program runs, by
# what both tell, and the library at the first launch, by the rows; for a CUBIN and for a host image. How old they are plays no part.
. tests/support/lib.sh
needs_no_sanitizer
needs_release 19

# The kernels that no program here has an entry of are not what this is about.
host_image "$work/rex_lib_host.so" tests/data/kernels.cu -w
cp tests/data/typed_sm_90.cubin "$work/rex_lib_nvidia.cubin"

# shellcheck disable=SC2317 # called by tries()
on_gpu() {
    env LD_LIBRARY_PATH="$build/tests/fake/cuda:$build/tests/fake/$1" REX_OMPTARGET="$build/tests/fake/$1/libomptarget.so.$1" \
        "$work/program"
}
# tries LIST ROWS EXPECTED: compiled for LIST; each run ends with EXPECTED, 3 being REX_EPARAMS
tries() {
    program "$work/program" "-DLIST=$1" "-DROWS=$2" tests/tools/stale/program.c
    for age in 2001 2036; do
        touch -d "$age-01-01" "$work/rex_lib_nvidia.cubin" "$work/rex_lib_host.so"
        for image in rex_lib_nvidia.cubin rex_lib_host.so; do
            status=0
            "$build/tools/rex-check" -q "$work/program" "$work/$image" >"$work/said" || status=$?
            found=$(grep -c 'it was compiled for the kernel plain__kernel__.*\[signature\]$' "$work/said" || true)
            [ "$found" = $(($3 == 3)) ] || fail "rex-check, $image, ($1): $(cat "$work/said")"
            [ "$found" = 0 ] || [ "$status" = 1 ] || fail "rex-check, $image, ($1): status $status"
        done
    done
    for way in 'on_gpu 16' 'on_gpu 22' "tests/llvm 19 $work/program"; do
        status=0
        # A command.
        # shellcheck disable=SC2086
        $way >"$work/said" 2>&1 || status=$?
        [ "$status" = "$3" ] || fail "$way, ($1): status $status: $(cat "$work/said")"
        [ "$3" = 0 ] || grep -q '(uint64_t, pointer).*\[REX_EPARAMS\]' "$work/said" || fail "$way, ($1): $(cat "$work/said")"
    done
}
tries '(uint64_t) value, (uint64_t *) out' 'REX_VALUE(value), REX_TOFROM(&out, 1)' 0
tries '(uint64_t *) out, (uint64_t) value' 'REX_TOFROM(&out, 1), REX_VALUE(value)' 3
tries '(uint64_t) value' 'REX_VALUE(value)' 3
tries '(uint64_t) value, (uint64_t *) out, (uint64_t) more' \
    'REX_VALUE(value), REX_TOFROM(&out, 1), REX_VALUE(value)' 3
[ "$failed" = 0 ] && echo 'four programs, two images'
