#!/bin/sh
# Install into a staging directory and into a prefix, and use what was installed as a user would: each header alone,
# programs through pkg-config against a tree that was moved, and an uninstall that leaves nothing.
. tests/support/lib.sh

# ---- warnings: those of a newer compiler stop no build and no installation, and stop the tests

strict() { "$MAKE" --no-print-directory --dry-run O=nowhere V=1 "$@" | grep -c -e ' -Werror ' || true; }
[ "$(strict all install prefix="$work/nowhere")" = 0 ] || fail 'make or make install stops at a warning'
[ "$(strict run-check)" -ge 250 ] || fail 'make check lets warnings pass'

# ---- what make install puts where, with a staging directory and the Debian way of naming directories

set -- prefix=/usr libdir=/usr/lib/somewhere bashcompletiondir=/usr/one zshcompletiondir=/usr/two fishcompletiondir=/usr/three \
    DESTDIR="$work/stage"
quietly "$MAKE" install "$@"
for file in one/rex-run two/_rex-run three/rex-run.fish lib/somewhere/librex.so lib/somewhere/librex.a lib/somewhere/pkgconfig/rex.pc include/rex.h include/rex_kmp.h share/librex/rex.f90; do
    [ -e "$work/stage/usr/$file" ] || fail "make install DESTDIR=... left no usr/$file"
done
# The compiler's own folder needs no -I; what comes out is no path through pkgconfig/.. .
for option in --cflags --libs; do
    said=$(PKG_CONFIG_PATH=$work/stage/usr/lib/somewhere/pkgconfig pkg-config $option rex)
    case $said in *..* | *-I*) fail "pkg-config $option rex says '$said' of a librex in /usr" ;; esac
done
# Each of them is in one of Debian's packages, or these cannot be built. Its completions are where it says itself.
(cd "$work/stage" && find usr ! -type d ! -path 'usr/one/*' ! -path 'usr/two/*' ! -path 'usr/three/*') >"$work/files"
cat tools/debian/*.install >"$work/packaged"
is_packaged() {
    while read -r pattern; do
        # It is a pattern.
        # shellcheck disable=SC2254
        case $1 in $pattern | $pattern/*) return 0 ;; esac
    done <"$work/packaged"
    return 1
}
while read -r file; do
    is_packaged "$file" || fail "$file is in no package: tools/debian/*.install"
done <"$work/files"
quietly "$MAKE" uninstall "$@"
left=$(find "$work/stage" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
[ ! -d "$work/stage/usr/include/rex" ] || fail 'make uninstall left include/rex'

: >"$work/plain_file"
refused 2 "$work/plain_file may not be written: install as root, or with make install prefix=\$HOME/.local" "$MAKE" install prefix="$work/plain_file/below"

# ---- each installed header alone

quietly "$MAKE" install prefix="$work/first"
mv "$work/first" "$work/moved"
grep -oE 'X\(REX_E[A-Z]+' include/rex/error.h | cut -c 3- >"$work/errors"
while read -r error; do
    # As man finds it, where there is one: Debian's minimal installations have a script of that name.
    page=$work/moved/share/man/man3/$error.3
    case $(man --version 2>&1) in 'man '[0-9]*) page=$(man -M "$work/moved/share/man" -w "$error") || page= ;; esac
    [ -f "$page" ] || fail "man $error finds no page"
done <"$work/errors"
needs_clang
count=0
# Parts of rex/kernel.h, which they say, are for it alone.
for header in $(cd "$work/moved/include" && find . -name '*.h' ! -name reduce.h ! -name openmp.h ! -name kernelform.h ! -name 'clang*.h' | sed 's|^\./||' | sort); do
    # A header may hold macros alone, and C wants a declaration.
    printf '#include <%s>\nextern int alone;\n' "$header" >"$work/alone.c"
    for compile in 'gcc -std=c11 -x c' "$clangxx -std=c++17 -x c++"; do
        # A command and its options.
        # shellcheck disable=SC2086
        quietly $compile -Wall -Wextra -Wpedantic -Werror -I"$work/moved/include" -c "$work/alone.c" -o "$work/alone.o" ||
            fail "<$header> alone: $compile"
        count=$((count + 1))
    done
done
echo "$count headers, alone"

# ---- programs through pkg-config, shared and static

PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
export PKG_CONFIG_PATH
version=$(pkg-config --modversion rex)
printf '#include <rex.h>\n#include <stdio.h>\nint main(void)\n{\n    return puts(rex_version()) < 0;\n}\n' >"$work/version.c"

# build OUTPUT SOURCE... shared|static: with gcc, pkg-config's flags and nothing else
build() {
    output=$1
    kind=$2
    shift 2
    if [ "$kind" = static ]; then
        libs=$(pkg-config --static --libs rex | sed 's/-lrex/-l:librex.a/')
    else
        libs=$(pkg-config --libs rex)
    fi
    # Flags are words.
    # shellcheck disable=SC2046,SC2086
    quietly gcc -std=gnu11 -Wall $(pkg-config --cflags rex) -o "$output" "$@" $libs || fail "$kind: building $output"
}

release=$(tests/llvm --plain | tail -n 1)
for kind in shared static; do
    path=
    [ "$kind" = static ] || path=$work/moved/lib
    mkdir "$work/$kind"
    build "$work/$kind/version" "$kind" "$work/version.c"
    said=$(LD_LIBRARY_PATH=$path "$work/$kind/version") || fail "$kind: the program does not run"
    [ "$said" = "$version" ] || fail "$kind: rex_version() says '$said', rex.pc says '$version'"

    # The first example, with kernels for the host device, on a real libomptarget.
    build "$work/$kind/axpy" "$kind" examples/01_launch/*.c
    quietly gcc -x c -std=gnu11 -O2 -shared -fPIC -I"$work/moved/include" -o "$work/$kind/rex_lib_host.so" examples/01_launch/*.cu
    if [ -z "$release" ]; then
        echo 'no LLVM release is unpacked: examples/01_launch was built, not run'
    else
        LD_LIBRARY_PATH=$path quietly tests/llvm "$release" "$work/$kind/axpy" || fail "$kind: axpy on LLVM $release"
    fi
    needs=$(readelf -d "$work/$kind/axpy" | grep -c 'NEEDED.*librex' || true)
    case $kind,$needs in
    shared,1 | static,0) ;;
    *) fail "$kind: axpy needs librex.so: $needs" ;;
    esac
done

[ -f "$work/moved/share/man/man7/rex-troubleshooting.7" ] || fail 'rex-troubleshooting(7) is not installed'
# A name's hyphen is not the dash behind it.
[ ! -e "$work/moved/share/man/man1/rex.1" ] || fail 'there is a page rex.1'

# ---- the tools find the library of the moved tree

for tool in "$work"/moved/bin/*; do
    [ -e "$work/moved/share/man/man1/${tool##*/}.1" ] || fail "${tool##*/} has no man page"
    for file in bash-completion/completions/${tool##*/} zsh/site-functions/_${tool##*/} fish/vendor_completions.d/${tool##*/}.fish; do
        [ -s "$work/moved/share/$file" ] || fail "${tool##*/} has no completion $file"
    done
    ! "$tool" --version 2>/dev/null >/dev/full || fail "${tool##*/} --version: status 0 on a full disk"
    said=$("$tool" --version) || fail "${tool##*/} --version: status $?"
    case $said in *"$version") ;; *) fail "${tool##*/} --version says '$said', rex.pc says '$version'" ;; esac
done
mkdir "$work/cc"
quietly "$work/moved/bin/rex-cc" -O2 examples/01_launch/*.c examples/01_launch/*.cu -o "$work/cc/axpy" || fail 'rex-cc of the moved tree'
[ -z "$release" ] || quietly tests/llvm "$release" "$work/cc/axpy" || fail "rex-cc: axpy on LLVM $release"
[ -z "$release" ] || quietly tests/llvm "$release" "$work/moved/bin/rex-info" || fail "rex-info on LLVM $release"
preloaded=$("$work/moved/bin/rex-run" printenv LD_PRELOAD)
case $preloaded in "$work/moved/lib/librex.so"*) ;; *) fail "rex-run preloads $preloaded" ;; esac

# ---- names of folders: a blank is one character as any other; what cannot work is said

mv "$work/moved" "$work/moved there"
run "$work/moved there/bin/rex-run" cat /proc/self/maps
prints "$work/moved there/lib/librex.so"
for name in 'moved,there' 'moved:there'; do
    mv "$work/moved there" "$work/$name"
    refused 2 'its name contains a comma or a colon' "$work/$name/bin/rex-cc" "$work/version.c"
    mv "$work/$name" "$work/moved there"
done
mv "$work/moved there" "$work/moved"
for character in ',' : ';' '&' '|' \\ '"'; do
    refused 2 "cannot be installed in a folder with a $character in its name" "$MAKE" install prefix="$work/refused" libdir="$work/${character}lib"
    [ ! -e "$work/refused" ] || fail "make install began, with a $character in a name"
done

quietly "$MAKE" uninstall prefix="$work/moved"
left=$(find "$work/moved" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
