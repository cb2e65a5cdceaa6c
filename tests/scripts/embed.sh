#!/bin/sh
# Images inside the program: by gcc and clang, as C and C++, with PIE and without, with LTO, with collected sections; each program runs alone
# in a folder, so that no image file can be found.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
release=19
tests/llvm --list | grep -qx "$release" || { echo "skip: LLVM $release is not unpacked"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/librex-embed.XXXXXX")
trap 'rm -rf "$work"' EXIT
images=$PWD/$O/examples/07_embedded/images
top=$PWD
passed=0
failed=0

# build COMPILER FLAGS... in the folder of the images, where clang's LTO looks for them; others are told of it
build() {
    case $* in *-flto*) folder=$images look= ;; *) folder=$work look="-Wa,-I$images" ;; esac
    # No flag or one.
    # shellcheck disable=SC2086
    (cd "$folder" && "$@" -Wall -Wextra -Werror -O2 -I"$top/include" $look -o "$work/program" -L"$top/$O" -Wl,-rpath,"$top/$O" \
        -Wl,-z,nostart-stop-gc -x "$language" "$top/examples/07_embedded/embedded.c" -lrex)
}

for compiler in gcc $(command -v clang-19 || true); do
    for language in c c++; do
        for flags in '' -no-pie -flto '-ffunction-sections -fdata-sections -Wl,--gc-sections'; do
            # gcc's LTO forgets toplevel assembly where it makes several partitions of one file; -rdynamic keeps the entries (see entries.sh).
            case $compiler$flags in gcc-flto) flags='-flto -rdynamic' ;; esac
            # Flags are words.
            # shellcheck disable=SC2086
            if build "$compiler" $flags >"$work/log" 2>&1 &&
                (cd "$work" && env -u REX_CUBIN "$top/tests/llvm" $release ./program) >>"$work/log" 2>&1 && grep -q '^image: memory' "$work/log"; then
                passed=$((passed + 1))
            else
                failed=1
                echo "FAIL: $compiler -x $language $flags"
                sed 's/^/    /' "$work/log"
            fi
        done
    done
done

# Two images of one kind: the linker says so.
printf '#include <rex.h>\nREX_EMBED_HOST_IMAGE("axpy_host.so");\n' >"$work/second.c"
if gcc -O2 -Iinclude -Wa,-I"$images" -o "$work/twice" examples/07_embedded/embedded.c "$work/second.c" -L"$O" -lrex 2>"$work/log"; then
    failed=1
    echo 'FAIL: two host images were linked'
fi
grep -q rex_embedded_host_image "$work/log" || { failed=1; echo 'FAIL: the linker does not name the second image'; }

echo "$passed programs with their images inside"
exit $failed
