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
