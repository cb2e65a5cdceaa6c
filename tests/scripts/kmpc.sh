#!/bin/sh
# The __kmpc_* declarations of rex_kmp.h, as outlined host code uses them, against a real libomp: C11 and C++17, gcc and clang.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
tests/llvm >/dev/null
release=
for candidate in 19 22 16; do
    case " $(tests/llvm --list | tr '\n' ' ')" in *" $candidate "*) release=$candidate && break ;; esac
done
[ -n "$release" ] || { echo 'skip: no LLVM release is unpacked'; exit 77; }
folder=${TMPDIR:-/tmp}/librex-kmpc.$$
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT

clang=$(command -v clang-19 || command -v clang || true)
libomp=$(dirname "$(tests/llvm "$release" printenv REX_OMPTARGET)")/libomp.so.5
[ -e "$libomp" ] || libomp=$(find build/llvm -name libomp.so.5 | sort | tail -n 1)
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Wno-cast-function-type'
tried=0
# The words of a compiler's command.
# shellcheck disable=SC2086
for compiler in 'gcc -std=c11' 'g++ -x c++ -std=c++17' ${clang:+"$clang -std=c11" "$clang -x c++ -std=c++17"}; do
    $compiler -O2 $warnings -Iinclude tests/link/kmpc.c -x none "$libomp" -L"$O" -lrex -Wl,-rpath,"$PWD/$O" -o "$folder/kmpc"
    tests/llvm "$release" "$folder/kmpc" || { echo "kmpc.c by $compiler on LLVM $release failed"; exit 1; }
    tried=$((tried + 1))
done
echo "$tried compilers, libomp of LLVM $release: every construct right"
