#!/bin/sh
# rex/kernel.h: one source by nvcc for every architecture there is, and by gcc and clang, as C and as C++, with and without OpenMP; the
# host images run, and what every kernel wrote is compared.
. tests/support/lib.sh
needs_release 19
source=tests/link/loops

program "$work/loops" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "$source/loops.c"

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
# rejects MESSAGE BODIES COMMAND...: each of them, number N in line 100 N and behind it, with that message, behind which stand the lines that
# use the macro, with the place in the kernel; the kernel without them is right
rejects() {
    message=$1
    echo "$2" | sed '/^$/d' >"$work/bodies"
    shift 2
    { echo '#include <rex/kernel.h>'; kernel 100 ''; } >"$work/kernel.cu"
    quietly "$@" "$work/kernel.cu" || fail "$*"
    line=0
    { echo '#include <rex/kernel.h>'; while read -r body; do kernel $((line += 100)) "$body"; done <"$work/bodies"; } >"$work/kernel.cu"
    "$@" "$work/kernel.cu" >"$work/err" 2>&1 || true
    awk -v message="$message" '
        FILENAME ~ /err$/ && /error:/ { told = 0; number = 0 }
        FILENAME ~ /err$/ && match($0, /kernel\.cu[:(][0-9]+/) { number = int(substr($0, RSTART + 10, RLENGTH - 10) / 100) }
        FILENAME ~ /err$/ && index($0, message) { told = 1 }
        FILENAME ~ /err$/ { if (told && number > 0) refused[number] = 1; next }
        !(FNR in refused) { print; missed = 1 }
        END { exit missed }' "$work/err" "$work/bodies" >"$work/accepted" ||
        fail "$* refuses not: $(cat "$work/accepted" "$work/err")"
}

needs_clang
libomp=$(dirname "$(library_of 19)")/libomp.so.5
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
# images COMMAND: of one compiler, for one language. Its words are words.
# shellcheck disable=SC2086
images() {
    link=
    for openmp in '' -fopenmp; do
        rejects rex_detail_ "$refusals" $1 $openmp $strict -Iinclude -fsyntax-only
        # clang's OpenMP is libomp, which the runtime has in the process; its development files may
        # be missing.
        case $1$openmp in *clang*-fopenmp) link="-x none -nodefaultlibs -lc $libomp" ;; esac
        [ -z "$openmp" ] || rejects OpenMP "$leaving" $1 $openmp -Iinclude -c -o "$work/kernel"
        rm -f "$work/rex_lib_host.so"
        quietly $1 $openmp -Wall -Wextra -Werror -O2 -shared -fPIC -Iinclude "$source/kernels.cu" \
            $link \
            -o "$work/rex_lib_host.so" || { fail "$1 $openmp"; continue; }
        on_release env REX_CUBIN="$work/rex_lib_host.so" "$work/loops" || fail "$1 $openmp"
    done
}
for language in 'c -std=gnu11' 'c++ -std=gnu++17'; do
    images "gcc -x $language"
    images "$clang -ferror-limit=0 -x $language"
done

[ -n "$nvcc" ] || { echo 'left out: CUBINs: there is no nvcc'; exit; }
rejects rex_detail_ "$refusals" "$nvcc" -cubin -arch=sm_90 -Werror all-warnings -Iinclude -o \
    "$work/kernel"
for sm in 75 80 90 100 120; do
    quietly "$nvcc" -cubin -arch=sm_$sm -Werror all-warnings -Iinclude -o "$work/sm_$sm.cubin" \
        "$source/kernels.cu" ||
        fail "nvcc -arch=sm_$sm"
done
