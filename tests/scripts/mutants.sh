#!/bin/sh
# `make mutants` can do what it says: it plants a change and a test finds it, also by not ending; where no test looks the change survives
# and is printed.
. tests/support/lib.sh
unset UPDATE # the test of a mutant must compare golden files, not write them

# try STATUS TEXT TEST OLD NEW: the runner ends with STATUS, and its output mentions TEXT
try() {
    run tests/mutants/run --tests "$3" --plant librex/image/elf.c "$4" "$5"
    ends "$1" "$*"
    cat "$work/out" "$work/err" | grep -qF -e "$2" || fail "$*: no \"$2\" in: $(cat "$work/out" "$work/err")"
}

right='header->e_phentsize != sizeof segment'
wrong='header->e_phentsize < sizeof segment'
try 0 '1 mutants, 1 found, 0 survived: 100.0 % found' unit/elf "$right" "$wrong"
try 1 "+ if ($wrong)" unit/lasterror "$right" "$wrong"
TEST_TIMEOUT=1 try 0 'found by unit/elf' unit/elf 'rex_elf_section(elf, i, section); i++' 'rex_elf_section(elf, i, section); i += 0'
try 2 'changes nothing' unit/elf "$right" 'sizeof segment != header->e_phentsize'
