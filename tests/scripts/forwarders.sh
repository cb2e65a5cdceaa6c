#!/bin/sh
# The exported __tgt_* functions are jumps through librex's table, however librex is built: OMPT's codeptr_ra is the program's. Those that
# end mappings have to come back, and the list of them is the one in forward.h.
# make builds for it: library
. tests/support/lib.sh
case $(uname -m) in x86_64) ;; *) echo 'skip: reads code of x86-64 alone'; exit 77 ;; esac

# names LIST: of a list in forward.h, without their prefix
names() {
    printf '#include "calls/forward.h"\n#define NAME(type, name, parameters, arguments, missing) <name>\n%s(NAME)\n' "$1" |
        "$CC" -Iinclude -Ilibrex -E -P -xc - | tail -n 1 | grep -o '<[a-z0-9_]*>' | tr -d '<>'
}
names REX_FORWARDED >"$work/jumps"
[ "$(wc -l <"$work/jumps")" -ge 30 ] || fail "only $(wc -l <"$work/jumps") names were read in forward.h"
{ names REX_REGISTERING; names REX_ENDING; names REX_ENDING_LATER; } >"$work/others"
nm -D --defined-only "$O/librex.so" | sed -n 's/.* T __tgt_\([a-z0-9_]*\)@.*/\1/p' | sort -u >"$work/exported"
sort "$work/jumps" "$work/others" | diff "$work/exported" - || fail 'librex.so exports others than forward.h lists'

# What a program that links librex alone may need of libomptarget is there: what releases export beside it is left out on purpose.
# Each line is a pattern and why librex has no forwarder for it.
cat >"$work/omitted" <<'OMITTED'
^__kmpc_push_target_tripcount(_mapper)?$ compilers before clang 16 emit it, and link libomptarget themselves
^llvm_omp_(target_|get_dynamic_shared$) extensions of LLVM's: memory that a program asks libomptarget itself for
^__llvm(Push|Pop)CallConfiguration$|^llvmLaunchKernel$ launches of CUDA programs that clang -foffload-via-llvm links with libomptarget
^ompt_libomptarget_connect$ by it libomptarget tells libomp of itself
^ompx_ extensions of LLVM's, which a program calls in libomptarget itself
^omp_get_(num_devices|device_num|initial_device|device_from_uid|uid_from_device|gprivate_limit)$ they name devices
^omp_get_interop_(int|name|ptr|str|type_desc|rc_desc)$|^omp_get_num_interop_properties$ they read an interop object
^omp_target_(alloc|free|is_present|is_accessible|memset(_async)?|memcpy(_rect)?(_async)?)$ memory, in no mapping that they change
OMITTED
for release in $(tests/llvm --list); do
    library=$(tests/llvm --library "$release")
    nm -D --defined-only "$library" | sed -n 's/.* [TW] \([a-z_][A-Za-z0-9_]*\)@.*VERS1.*/\1/p' | sort -u >"$work/theirs"
    [ "$(wc -l <"$work/theirs")" -ge 40 ] || fail "only $(wc -l <"$work/theirs") exports of LLVM $release were read"
    nm -D --defined-only "$O/librex.so" | sed -n 's/.* T \([a-z_0-9]*\)@.*/\1/p' | sort -u >"$work/ours"
    comm -23 "$work/theirs" "$work/ours" | grep -vE "$(sed 's/ .*//' "$work/omitted" | tr '\n' '|' | sed 's/|$//')" >"$work/lacking" || continue
    fail "LLVM $release exports what librex has no forwarder for: $(tr '\n' ' ' <"$work/lacking")"
done

# jumps_in FILE HOW: each of them is one jump, behind a landing pad at most
jumps_in() {
    objdump -d --no-show-raw-insn "$1" | awk -v how="$2" '
        NR == FNR { wanted[$1]; next }
        /^[0-9a-f]+ <.*>:$/ {
            name = $2
            sub(/^<__tgt_/, "", name)
            sub(/>:$/, "", name)
        }
        name in wanted && /:\t/ {
            sub(/^[^\t]*\t/, "")
            sub(/ *#.*/, "")
            gsub(/[ \t]+/, " ")
            if ($0 !~ /^endbr64|^nop|cs nopw|^xchg %ax,%ax|^int3/)
                code[name] = code[name] $0 "; "
        }
        END {
            for (name in wanted)
                if (code[name] !~ /^jmp \*[^;]*\(%rip\)[^;]*; $/) {
                    print "FAIL: " how ": __tgt_" name " is not one jump: " code[name]
                    bad = 1
                }
            exit bad
        }' "$work/jumps" - || failed=1
}
jumps_in "$O/librex.so" 'as it is built'
for compiler in "$CC" ${CC##*clang*} clang-19; do
    command -v "$compiler" >/dev/null || continue
    for level in -O0 -O1 '-O0 -fcf-protection' '-O0 -fstack-protector-all'; do
        # The words of a compiler's command.
        # shellcheck disable=SC2086
        "$compiler" -std=c11 -D_GNU_SOURCE -Iinclude -Ilibrex $level -fPIC -c -o "$work/forward.o" librex/calls/forward.c
        jumps_in "$work/forward.o" "$compiler $level"
    done
done
echo "$(wc -l <"$work/jumps") jumps, $(wc -l <"$work/others") that come back"
