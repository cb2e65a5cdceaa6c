#!/bin/sh
# `make mutants` can do what it says: it plants a change and a test finds it, also by not ending; where no test looks the change survives
# and is printed, and --least decides the status; the same number chooses the same changes.
. tests/support/lib.sh

# try STATUS TEXT ARGUMENTS...: the runner ends with STATUS, and its output mentions TEXT
try() {
    expected=$1 text=$2
    shift 2
    status=0
    tests/mutants/run --jobs 1 "$@" >"$work/output" 2>&1 || status=$?
    if [ "$status" != "$expected" ] || ! grep -qF -e "$text" "$work/output"; then
        fail "$*: status $status, expected was $expected and '$text':"
        sed 's/^/    /' "$work/output"
    fi
}

right='header->e_phentsize != sizeof(Elf64_Phdr)'
wrong='header->e_phentsize < sizeof(Elf64_Phdr)'
try 0 '1 mutants, 1 found, 0 survived: 100.0 % found' --least 100 --tests unit/elf --plant librex/image/elf.c "$right" "$wrong"
try 1 "+ if ($wrong)" --tests unit/lasterror --plant librex/image/elf.c "$right" "$wrong"
try 0 '1 mutants, 0 found, 1 survived: 0.0 % found' --least 0 --tests unit/lasterror --plant librex/image/elf.c "$right" "$wrong"
try 0 'found by unit/elf' --tests unit/elf --limit 1 --plant librex/image/elf.c 'i < header->e_phnum; i++' 'i < header->e_phnum; i += 0'
try 2 'changes nothing' --tests unit/elf --plant librex/image/elf.c "$right" 'sizeof(Elf64_Phdr) != header->e_phentsize'
try 2 'is there 0 times' --tests unit/elf --plant librex/image/elf.c 'not in this file' ''

for run in 'one 7' 'same 7' 'other 8'; do
    tests/mutants/run --list --tests unit/elf --count 4 -k librex/base/ --seed "${run#* }" >"$work/${run% *}" 2>/dev/null || fail "--list --seed ${run#* }"
done
cmp -s "$work/one" "$work/same" || fail 'the same number chose other changes'
! cmp -s "$work/one" "$work/other" || fail 'another number chose the same changes'
[ "$(grep -c '^librex/' "$work/one")" = 4 ] || fail '--list does not list four changes'
