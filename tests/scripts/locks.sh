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

# The table of librex/README.md has the rank, the name and the file of each lock, and what may be waited for under it: a device under none but
# that of what is loaded. The lock of an object has the rank of the .c file beside its header, if that gives one.
awk '/^## /{ inside = /^## Locks/ } inside && /^\| *(-|[0-9]+) \|/' librex/README.md >"$work/rows"
tr -d '`' <"$work/rows" | awk -F ' *[|] *' '{ print $2, $3, $4 }' | sort >"$work/told"
awk 'FNR == 1 { object = ""; file = FILENAME; sub(/^librex\//, "", file); stem = file; sub(/\.[ch]$/, "", stem) }
    /^struct [a-z_]+ \{/ { object = $2 }
    /^static struct \{/ { object = "static" }
    /^\}/ { object = "" }
    /^REX_FORK_(TAKEN|RENEWED)\([0-9]+/ { rank[stem] = $0; gsub(/^[^(]*\(|,.*/, "", rank[stem]) }
    /^(static| +)pthread_(mutex|rwlock|spinlock)_t [a-z_]+/ || /^static pthread_(mutex|rwlock|spinlock)_t [a-z_]+/ {
        name = $0
        sub(/^.*lock_t |^.*mutex_t /, "", name)
        sub(/[ ;].*/, "", name)
        if (object == "" && $1 != "static")
            next
        count++
        stem_of[count] = stem
        line[count] = (object == "" ? "" : object ".") name " " file
    }
    END { for (i = 1; i <= count; i++) print (stem_of[i] in rank ? rank[stem_of[i]] : "-"), line[i] }' librex/*/*.[ch] | sort >"$work/found"
diff "$work/found" "$work/told" >"$work/apart" ||
    fail "librex/README.md has not the locks of the sources (< sources, > table): $(cat "$work/apart")"
awk -F ' *[|] *' '$6 == "" || (/device[^|]*\|$/ && $6 ~ /device/ && $2 != 30) { print $3, $4 }' "$work/rows" >"$work/waits"
[ ! -s "$work/waits" ] || fail "librex/README.md does not say what is waited for, or has a device waited for, under $(cat "$work/waits")"
echo "$(grep -lE '^static pthread_(mutex|rwlock|spinlock)_t ' librex/*/*.c | wc -l) locks"
