#!/bin/sh
# tools/deps: what it asks for on Debian 12 and 13, Ubuntu 24.04 and Fedora, by package lists that are made up here. Commands are missing
# since a PATH of our own hides them, and apt-cache says what the suite has.
. tests/support/lib.sh

# command_of NAME FILE: reads a script for machine NAME
command_of() {
    cat >"$work/$1/$2"
    chmod +x "$work/$1/$2"
}

# machine NAME: a folder with what a script needs alone
machine() {
    mkdir "$work/$1"
    for command in sh sed awk tr cut find head mktemp rm id tail grep; do
        ln -s "$(command -v "$command")" "$work/$1/$command"
    done
}

# has NAME PACKAGE...: a machine with these in its package lists
has() {
    machine "$1"
    name=$1
    shift
    printf '%s\n' "$@" >"$work/$name/list"
    # tools/deps asks for ^PACKAGE$, its third argument.
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ngrep -e "$3" "%s"\n' "$work/$name/list" | command_of "$name" apt-cache
    printf '#!/bin/sh\nexit 1\n' | command_of "$name" apt-get
}

# asks NAME LEVEL [FOLDER]: the command that it prints; FOLDER is on the loader's path
asks() {
    env -u REX_OMPTARGET -u REX_LLVM_LIBDIR PATH="$work/$1" LD_LIBRARY_PATH="${3-}" sh "$top/tools/deps" --dry-run "$2" 2>&1 |
        sed -n 's/.*install with: //p'
}
wants() { case " $(asks "$1" "$2") " in *" $3 "*) ;; *) fail "$1: no $3 in: $(asks "$1" "$2")" ;; esac }
spares() { case " $(asks "$1" "$2" "${4-}") " in *" $3 "*) fail "$1: $3 in: $(asks "$1" "$2" "${4-}")" ;; esac }

has bookworm gcc clang-tools-14 llvm-14 libelf1 libomp5-19 libomp5-16 jq
wants bookworm check jq
has trixie gcc libelf1t64 libomp5-19 jq libopenmpi-dev openmpi-bin
wants trixie check jq
spares trixie check clang-tools-14
spares trixie check llvm-14
wants trixie demo-mpi libopenmpi-dev
wants trixie check openmpi-bin
spares trixie demo openmpi-bin
spares trixie check libelf1
has noble gcc libelf1t64 libomp5-18 jq
wants noble check jq
spares noble check libomp5-19

# Where librex looks by itself, tools/deps does.
folders=$(sed -n '/rex_search_folders\[\]/,/NULL/p' librex/omp/search.c | grep -o '"/[^"]*"' | tr -d '"')
[ -n "$folders" ] || fail 'no folders in librex/omp/search.c'
set -f
for folder in $folders; do
    grep -qF " $folder/libomptarget.so*" tools/deps || fail "$folder, where librex looks for libomptarget, is not in tools/deps"
done
set +f

# A machine that has libomptarget where librex looks needs none.
mkdir "$work/own"
: >"$work/own/libomptarget.so.19"
spares noble demo libomp5-18 "$work/own"
# Which package brings it, where there is none: a copy of the script that finds nothing in this machine's folders.
mkdir "$work/tools"
sed 's|/usr/|/nowhere/|g; s|/opt/|/nowhere/|g' tools/deps >"$work/tools/deps"
real=$top
top=$work
wants bookworm demo libomp5-19
wants bookworm check clang-tools-14
wants bookworm check llvm-14
wants bookworm deb build-essential
wants trixie packages build-essential
spares trixie check build-essential
wants trixie demo libomp5-19
wants trixie check libelf1t64
wants noble demo libomp5-18
spares noble demo libomp5-18 "$work/own"

# Fedora has dnf, and other names.
machine fedora
printf '#!/bin/sh\nexit 0\n' | command_of fedora dnf
asks fedora demo | grep -q '^sudo dnf install ' || fail "no dnf command: $(asks fedora demo)"
wants fedora demo libomp
wants fedora demo libpng-devel
wants fedora check gcc-c++
wants fedora check ShellCheck
spares fedora check g++
top=$real

# Where all is here, nothing is said and no package manager asked.
sh tools/deps --dry-run demo || fail 'what the tests were built with is missing'
