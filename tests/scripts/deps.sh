#!/bin/sh
# tools/deps: what it asks for on Debian 12 and 13, Ubuntu 24.04 and Fedora, by package lists that are made up here (tests/golden/deps).
# Commands are missing since a PATH of our own hides them, and apt-cache says what the suite has.
. tests/support/lib.sh

# machine NAME COMMAND TEXT: a folder with what a script needs alone, and a COMMAND
machine() {
    mkdir "$work/$1"
    for command in sh sed awk tr cut find head mktemp rm id tail grep; do ln -s "$(command -v "$command")" "$work/$1/$command"; done
    printf '#!/bin/sh\n%s\n' "$3" >"$work/$1/$2"
    chmod +x "$work/$1/$2"
}
# has NAME PACKAGE...: a machine with these in its package lists; tools/deps asks for ^PACKAGE$, its third argument
has() {
    name=$1
    shift
    # The script expands it.
    # shellcheck disable=SC2016
    machine "$name" apt-cache 'grep -e "$3" "${0%/*}/list"'
    printf '#!/bin/sh\nexit 1\n' >"$work/$name/apt-get"
    chmod +x "$work/$name/apt-get"
    printf '%s\n' "$@" >"$work/$name/list"
}
# asks NAME LEVEL [FOLDER]: the command that it prints, whoever is asked; FOLDER is on the loader's path
asks() {
    env -u REX_OMPTARGET -u REX_LLVM_LIBDIR PATH="$work/$1" LD_LIBRARY_PATH="${3-}" sh "$work/tools/deps" --dry-run "$2" 2>&1 |
        sed -n '/install with: /{s/.*install with: //;s/sudo //g;p;}'
}

# Where librex looks by itself, tools/deps does.
folders=$(sed -n '/rex_search_folders\[\]/,/NULL/p' librex/omp/search.c | grep -o '"/[^"]*"' | tr -d '"')
[ -n "$folders" ] || fail 'no folders in librex/omp/search.c'
set -f
for folder in $folders; do
    grep -qF " $folder/libomptarget.so*" tools/deps || fail "$folder, where librex looks for libomptarget, is not in tools/deps"
done
set +f

# A copy of the script that finds nothing in this machine's folders.
mkdir "$work/tools" "$work/own"
sed 's|/usr/|/nowhere/|g; s|/opt/|/nowhere/|g' tools/deps >"$work/tools/deps"
has bookworm gcc clang-format-14 clang-tools-14 llvm-14 libelf1 libomp5-19 libomp5-16 jq
has trixie gcc libelf1t64 libomp5-19 jq libopenmpi-dev openmpi-bin
has noble gcc libelf1t64 libomp5-18 libomp-18-dev jq
machine fedora dnf 'exit 0'
for name in bookworm trixie noble fedora; do
    for level in demo check demo-mpi deb packages; do echo "$name, $level: $(asks $name $level)"; done
done >"$work/asked"
# A machine that has libomptarget where librex looks needs none.
: >"$work/own/libomptarget.so.19"
echo "noble, demo, with a libomptarget: $(asks noble demo "$work/own")" >>"$work/asked"
golden deps/asked.txt "$work/asked"

# Root waits for the lock of another apt, and sees every 20 s that it goes on. What apt-get was asked is in its log.
for command in touch sleep env dirname cat chmod ps; do ln -sf "$(command -v "$command")" "$work/noble/$command"; done
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase "$*" in *--print-uris*) ;; *) echo "$*" >>"${0%%/*}/asked"; echo waiting for a lock; sleep 1 ;; esac\n' >"$work/noble/apt-get"
printf '#!/bin/sh\necho 0\n' >"$work/noble/id.new"
rm "$work/noble/id" && mv "$work/noble/id.new" "$work/noble/id" && chmod +x "$work/noble/id"
sed -i 's/sleep 20/sleep 0.3/' "$work/tools/deps"
env -u REX_OMPTARGET -u REX_LLVM_LIBDIR PATH="$work/noble" LD_LIBRARY_PATH= sh "$work/tools/deps" demo >"$work/out" 2>&1 ||
    fail "as root, with an apt-get that takes everything: $(cat "$work/out")"
grep -q 'DPkg::Lock::Timeout=600 install' "$work/noble/asked" || fail "apt-get is asked: $(cat "$work/noble/asked")"
grep -q '^deps: waiting for a lock$' "$work/out" || fail "no sign of life: $(cat "$work/out")"

# Where all is here, nothing is said and no package manager asked.
sh tools/deps --dry-run demo || fail 'what the tests were built with is missing'
