#!/bin/sh
# Each file of librex with a lock, or with other state that a child forgets, says by one macro of librex/base/process.h what a fork does with
# it. No rank is given twice, and all locks that are renewed have lower ranks than those that are taken. tests/unit/locks/held.c sees in
# what order threads take locks.
# make builds for it: nothing
. tests/support/lib.sh

files=$(grep -lE '^static pthread_(mutex|rwlock|spinlock)_t |^REX_FORK_[A-Z]+\(' librex/*/*.c)
for file in $files; do
    [ "$(grep -cE '^REX_FORK_(TAKEN|RENEWED|WATCHED)\(' "$file")" = 1 ] || fail "$file does not say once what a fork does with its lock"
    [ "$(grep -cE '^static pthread_(mutex|rwlock|spinlock)_t ' "$file")" -le 1 ] || fail "$file has more locks than one"
done
ranks() { grep -hoE "^REX_FORK_$1\([0-9]+" librex/*/*.c | sed 's/.*(//' | sort -n; }
twice=$(ranks '(TAKEN|RENEWED|WATCHED)' | uniq -d)
[ -z "$twice" ] || fail "two locks have the rank $twice"
[ "$(ranks RENEWED | tail -n 1)" -lt "$(ranks TAKEN | head -n 1)" ] ||
    fail 'a lock that is renewed has a higher rank than one that is taken'
[ "$(ranks TAKEN | tail -n 1)" -lt "$(ranks WATCHED | head -n 1)" ] ||
    fail 'a file that watches a fork has a lower rank than a lock'
echo "$(grep -lE '^static pthread_(mutex|rwlock|spinlock)_t ' librex/*/*.c | wc -l) locks"
