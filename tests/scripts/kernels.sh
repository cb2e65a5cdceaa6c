#!/bin/sh
# rex/kernel.h: one source by nvcc for every architecture there is, and by gcc and clang, as C and as C++, with and without OpenMP; the
# host images run, and what every kernel wrote is compared.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
release=19
tests/llvm --list | grep -qx "$release" || { echo "skip: LLVM $release is not unpacked"; exit 77; }
folder=${TMPDIR:-/tmp}/librex-kernels.$$
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
source=tests/link/loops
failed=0

gcc -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -O2 -Iinclude "$source/loops.c" -L"$O" -lrex \
    -Wl,-rpath,"$PWD/$O" -Wl,-z,nostart-stop-gc -o "$folder/loops"

# A barrier, or what all threads of a team have to come to as to one, inside of REX_FOR: refused, by that name.
# barrier LOOP WHAT: a kernel that has WHAT inside of LOOP
barrier() {
    cat >"$folder/barrier.cu" <<C
#include <rex/kernel.h>
REX_DEVICE_KERNEL(k, double *y, double *sum)
{
    REX_FOR_TEAMS(part, 2)
    {
        REX_FOR_THREADS(i, 2)
            y[i] = (double)part;
        rex_barrier();
    }
    $1 { y[0] = 1; $2 }
    REX_FOR_SUM(i, 2, sum, y[i]);
}
C
}
# refused COMMAND...: in each loop, and each of the two; the kernel without them is right
refused() {
    barrier 'REX_FOR(i, 2)' ''
    "$@" -o "$folder/barrier" "$folder/barrier.cu" 2>"$folder/err" || { echo "FAIL: $*: $(head -n 3 "$folder/err")"; failed=1; }
    for loop in 'REX_FOR(i, 2)' 'REX_FOR_2D(i, 2, j, 2)' 'REX_FOR_3D(i, 2, j, 2, k, 2)'; do
        for what in 'rex_barrier();' 'REX_FOR_SUM(m, 2, sum, y[m]);'; do
            barrier "$loop" "$what"
            if "$@" -o "$folder/barrier" "$folder/barrier.cu" >"$folder/err" 2>&1 ||
                ! grep -q -e rex_not_inside_REX_FOR -e 'must have (pointer-to-) function type' "$folder/err"; then
                echo "FAIL: $* takes $what in $loop: $(cat "$folder/err")"
                failed=1
            fi
        done
    done
}

clang=$(command -v clang-19 || command -v clang || true)
libomp=$(tests/llvm "$release" printenv REX_OMPTARGET)
images=0
for compiler in gcc $clang; do
    for language in 'c -std=gnu11' 'c++ -std=gnu++17'; do
        for openmp in '' -fopenmp; do
            # clang's OpenMP is libomp, which the runtime has in the process; its development files may be missing.
            case $compiler$openmp in *clang*-fopenmp) link="-x none -nodefaultlibs -lc ${libomp%/*}/libomp.so.5" ;; *) link= ;; esac
            rm -f "$folder/rex_lib_host.so"
            # Words.
            # shellcheck disable=SC2086
            refused $compiler -x $language $openmp -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -c
            # Words.
            # shellcheck disable=SC2086
            if $compiler -x $language $openmp -Wall -Wextra -Werror -O2 -shared -fPIC -Iinclude "$source/kernels.cu" $link \
                -o "$folder/rex_lib_host.so" && REX_CUBIN=$folder/rex_lib_host.so tests/llvm "$release" "$folder/loops"; then
                images=$((images + 1))
            else
                echo "FAIL: $compiler -x $language $openmp"
                failed=1
            fi
        done
    done
done
echo "$images host images right"

nvcc=${NVCC:-$(command -v nvcc || true)}
[ -n "$nvcc" ] || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc
if [ -n "$nvcc" ]; then
    refused "$nvcc" -cubin -arch=sm_90 -Werror all-warnings -Iinclude
    for sm in 75 80 90 100 120; do
        if "$nvcc" -cubin -arch=sm_$sm -Werror all-warnings -Iinclude -o "$folder/sm_$sm.cubin" "$source/kernels.cu"; then
            echo "sm_$sm compiles"
        else
            echo "FAIL: nvcc -arch=sm_$sm"
            failed=1
        fi
    done
else
    echo 'no nvcc: CUBINs were not tried'
fi
exit "$failed"
