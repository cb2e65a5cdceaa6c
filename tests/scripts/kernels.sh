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

# kernel LINE BODY: a kernel in LINE, with what it may have behind BODY
kernel() {
    cat <<C
#line $1
REX_DEVICE_KERNEL(k$1, (double *) y, (double *) sum)
{
    $2
    REX_FOR_TEAMS(part, 2)
    {
        REX_SHARED double a[2], b[2];
        REX_SHARED double c[2];
        REX_SHARED_DYNAMIC(double, d, 2);
        REX_FOR_THREADS(i, 2)
            a[i] = b[i] = c[i] = d[i] = y[i];
        rex_barrier();
        if (y[part] > 1)
            continue;
        REX_FOR_THREADS(i, 2)
            y[i] = a[1 - i] + b[i] + c[i] + d[i];
    }
    REX_FOR_SUM(i, 2, sum, y[i]);
}
C
}
# kernels BODIES: into kernel.cu, number N in line 100 N and behind it
kernels() {
    echo '#include <rex/kernel.h>'
    line=0
    echo "$1" | sed '/^$/d' | while read -r body; do
        line=$((line + 100))
        kernel "$line" "$body"
    done
} >"$folder/kernel.cu"
# Loops of one thread, where no barrier, sum or memory of the team may stand and no other such loop; loops of a team; memory of a team.
refusals='
REX_FOR(i, 2) { rex_barrier(); }
REX_FOR_2D(i, 2, j, 2) { rex_barrier(); }
REX_FOR_3D(i, 2, j, 2, m, 2) { rex_barrier(); }
REX_FOR(i, 2) REX_FOR_SUM(m, 2, sum, y[m]);
REX_FOR(i, 2) REX_FOR_2D(j, 2, m, 2) y[m] = 1;
REX_FOR(i, 2) REX_FOR_TEAMS(m, 2) y[m] = 1;
REX_FOR(i, 2) REX_FOR_THREADS(m, 2) y[m] = 1;
REX_FOR(i, 2) { REX_SHARED double x[2]; x[0] = 1; y[i] = x[0]; }
REX_FOR_THREADS(i, 2) { rex_barrier(); }
REX_FOR_THREADS(i, 2) { REX_SHARED_DYNAMIC(double, x, 2); x[0] = 1; y[i] = x[0]; }
REX_FOR_TEAMS(i, 2) REX_FOR_MIN(m, 2, sum, y[m]);
REX_FOR_TEAMS(i, 2) REX_FOR(m, 2) y[m] = 1;
REX_FOR_TEAMS(i, 2) REX_FOR_TEAMS(m, 2) y[m] = 1;
REX_SHARED double x[2]; REX_FOR_TEAMS(i, 2) { x[0] = 1; y[i] = x[0]; }
REX_SHARED_DYNAMIC(double, x, 2); REX_FOR_TEAMS(i, 2) { x[0] = 1; y[i] = x[0]; }
REX_SHARED_DYNAMIC(double, x, 2); REX_SHARED_DYNAMIC(float, z, 2); x[0] = z[0] = 1; y[0] = x[0];
'
# In a loop of OpenMP alone a compiler sees what leaves it.
leaving='
REX_FOR(i, 2) { if (y[i] > 0) break; }
REX_FOR_2D(i, 2, j, 2) { if (y[i] > 0) return; }
REX_FOR_TEAMS(i, 2) { if (y[i] > 0) break; }
REX_FOR_TEAMS(i, 2) { REX_FOR_THREADS(j, 2) if (y[j] > 0) return; }
'
# Behind an error in a macro stand the lines that use the macro, with the place in the kernel.
# The variables are awk's.
# shellcheck disable=SC2016
refused_numbers='
    /error:/ { told = 0; number = 0 }
    match($0, /kernel\.cu[:(][0-9]+/) { number = int(substr($0, RSTART + 10, RLENGTH - 10) / 100) }
    index($0, message) { told = 1 }
    told && number > 0 { print number }'
# refused MESSAGE BODIES COMMAND...: each of them, with that message; the kernel without them is right
refused() {
    message=$1 bodies=$2
    shift 2
    { echo '#include <rex/kernel.h>'; kernel 100 ''; } >"$folder/kernel.cu"
    "$@" "$folder/kernel.cu" >"$folder/err" 2>&1 || { echo "FAIL: $*: $(head -n 3 "$folder/err")"; failed=1; }
    kernels "$bodies"
    "$@" "$folder/kernel.cu" >"$folder/err" 2>&1 || true
    awk -v message="$message" "$refused_numbers" "$folder/err" | sort -nu >"$folder/refused"
    echo "$bodies" | sed '/^$/d' | awk -v found="$folder/refused" '
        BEGIN { while ((getline number <found) > 0) refused[number] = 1 }
        !(NR in refused) { print; missed = 1 }
        END { exit missed }' >"$folder/accepted" || { echo "FAIL: $* refuses not:"; cat "$folder/accepted" "$folder/err"; failed=1; }
}

clang=$(command -v clang-19 || command -v clang || true)
libomp=$(tests/llvm "$release" printenv REX_OMPTARGET)
images=0
for compiler in gcc $clang; do
    for language in 'c -std=gnu11' 'c++ -std=gnu++17'; do
        for openmp in '' -fopenmp; do
            # clang's OpenMP is libomp, which the runtime has in the process; its development files may be missing.
            case $compiler$openmp in *clang*-fopenmp) link="-x none -nodefaultlibs -lc ${libomp%/*}/libomp.so.5" ;; *) link= ;; esac
            case $compiler in *clang*) all_errors=-ferror-limit=0 ;; *) all_errors= ;; esac
            rm -f "$folder/rex_lib_host.so"
            # Words.
            # shellcheck disable=SC2086
            refused rex_detail_ "$refusals" $compiler -x $language $openmp $all_errors -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Iinclude -fsyntax-only
            # Words.
            # shellcheck disable=SC2086
            [ -z "$openmp" ] || refused OpenMP "$leaving" $compiler -x $language $openmp $all_errors -Iinclude -c -o "$folder/kernel"
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
    refused rex_detail_ "$refusals" "$nvcc" -cubin -arch=sm_90 -Werror all-warnings -Iinclude -o "$folder/kernel"
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
