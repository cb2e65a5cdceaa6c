#!/bin/sh
# Kernels for GPUs by clang alone: those of every example fit their program, and ptxas takes them where it is there; what a kernel may use
# without the CUDA toolkit compiles with each clang that is here, and what it may not is refused by name.
. tests/support/lib.sh
rex_cc=$O/tools/rex-cc
needs_no_sanitizer
command -v clang-19 >/dev/null || skip 'no clang-19'
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)
[ -n "$ptxas" ] || echo 'left out: what ptxas says of the PTX: there is none'

# A toolkit that is not there.
export CUDA_PATH="$work/none" CLANG=clang-19

# images SOURCE OPTION...: into $work
images() {
    source=$1
    shift
    "$rex_cc" --device-compiler=clang --images -o "$work" "$@" "$source" >"$work/output" 2>&1
}
# taken ARCH: by ptxas, which says what is wrong
taken() {
    [ -z "$ptxas" ] || "$ptxas" -arch="$1" -lineinfo -o "$work/cubin" "$work/rex_lib_nvidia.cubin" >"$work/output" 2>&1
}

# ---- every example

# fits PROGRAM SOURCE: each kernel of the program is there, with the parameters that it says
fits() {
    if ! images "$2" --arch=sm_90 -g -DFACTOR=2 -I"${2%/*}" || ! taken sm_90 ||
        ! "$O/tools/rex-check" "$1" "$work/rex_lib_nvidia.cubin" >"$work/output"; then
        fail "$2: $(cat "$work/output")"
    elif ! grep -q 'compute_90): [0-9]* parameters of 8 bytes: (' "$work/output"; then
        fail "$2: no signature: $(cat "$work/output")"
    fi
}

count=0
for source in examples/*/kernels.cu "$O/examples/generator/work_kernels.cu" examples/*/*/kernels.cu; do
    folder=${source%/*}
    name=${folder##*/}
    program=$O/${folder#"$O/"}/$name
    case $folder in
    # Their programs are wrong, or without a table; the kernel is the same.
    examples/16_by_name | examples/17_broken | examples/without_headers | examples/python) program=$O/examples/01_launch/01_launch ;;
    examples/*/*) program=$O/${folder%/*}/lib$name.so ;;
    # And these have no such table, and kernels of their own.
    examples/fortran | examples/triton)
        if ! images "$source" --arch=sm_90 || ! taken sm_90; then fail "$source: $(cat "$work/output")"; fi
        continue ;;
    */generator) program=$O/examples/generator/generator ;;
    esac
    fits "$program" "$source"
    count=$((count + 1))
done
echo "$count sources of examples"

# Numbers of lines are there where they were asked for.
for g in '' -g; do
    # Nothing, or an option.
    # shellcheck disable=SC2086
    images examples/01_launch/kernels.cu $g || fail "-g: $(cat "$work/output")"
    lines=$(grep -c '	\.loc	' "$work/rex_lib_nvidia.cubin" || true)
    [ $((lines > 0)) = "${g:+1}" ] || [ "$lines$g" = 0 ] || fail "$lines lines of sources with '$g'"
done

# ---- every clang

for CLANG in clang-14 clang-15 clang-16 clang-19 clang-22; do
    command -v "$CLANG" >/dev/null || continue
    for source in tests/runtime/words/kernels.cu tests/runtime/teams/kernels.cu tests/link/loops/kernels.cu examples/hotspot/kernels.cu; do
        if ! images "$source" --arch=sm_80 || ! taken sm_80; then fail "$CLANG, $source: $(cat "$work/output")"; fi
    done
    echo "$CLANG compiles"
done
CLANG="clang-19"

# Two sources, one of which has what the other calls, and a name of their own each.
if ! images tests/tools/clang/calls.cu tests/tools/clang/called.cu ||
    ! taken sm_90; then fail "two sources: $(cat "$work/output")"; fi

# ---- what is not there, and what it takes

# refused TEXT BODY [HEAD]: a kernel of that body, behind that head
refused() {
    printf '#include <rex/kernel.h>\n#include <math.h>\n#if REX_ON_GPU\n%s\n#endif\nREX_DEVICE_KERNEL(k, (double *) x)\n{\n    %s\n}\n' "${3-}" "$2" \
        >"$work/refused.cu"
    ! images "$work/refused.cu" || fail "taken: ${3-}$2"
    grep -qF -e "$1" "$work/output" || fail "no \"$1\" for ${3-}$2: $(cat "$work/output")"
    grep -q 'rex-cc: .*refused.cu: clang-19 failed: it compiles without the CUDA toolkit' "$work/output" || fail "no advice: $(cat "$work/output")"
}
for call in 'sin(x[0])' 'exp(x[1])' 'pow(x[0], 2)' 'expf((float)x[0])' 'atan2f(1.0f, 2.0f)' 'fmod(x[0], x[1])' 'tanh(x[0])'; do
    refused "${call%%(*}() is not an instruction of a GPU: use nvcc, or the CUDA toolkit's libdevice" "x[0] = $call;"
done
refused "'cuda_runtime.h' file not found" 'x[0] = 1;' '#include <cuda_runtime.h>'
refused "'cooperative_groups.h' file not found" 'x[0] = 1;' '#include <cooperative_groups.h>'
refused 'cudaConfigureCall' 'x[0] = 1;' '__global__ void other(); void launch() { other<<<1, 1>>>(); }'
refused float4 'x[0] = 1;' '__device__ float4 four;'

# With libdevice all of them are there.
unset CUDA_PATH
if [ -f /usr/local/cuda/nvvm/libdevice/libdevice.10.bc ]; then
    sed -n 's/^REX_LIBDEVICE_\([12]\)(\([a-z0-9]*\))/\1 \2/p' include/rex/clangmath.h >"$work/names"
    {
        printf '#include <rex/kernel.h>\n#include <math.h>\n#if REX_ON_GPU\nREX_DEVICE_KERNEL(k, (double *) x, (float *) y)\n{\n'
        while read -r count name; do
            more=; [ "$count" = 1 ] || more=', x[1]'
            printf '    x[0] += %s(x[2]%s);\n    y[0] += %sf(y[2]%s);\n' "$name" "$more" "$name" "$(printf %s "$more" | tr x y)"
        done <"$work/names"
        printf '}\n#endif\n'
    } >"$work/device.cu"
    [ "$(grep -c + "$work/device.cu")" -ge 58 ] || fail "few functions: $(cat "$work/device.cu")"
    if ! images "$work/device.cu" || ! taken sm_90; then fail "libdevice: $(cat "$work/output")"; fi
    ! grep -q '[^r]sqrt\.approx\.f32' "$work/rex_lib_nvidia.cubin" || fail 'a root by libdevice is approximate, unlike by nvcc'
else
    echo 'left out: functions of libdevice: there is no CUDA toolkit'
fi
