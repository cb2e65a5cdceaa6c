#!/bin/sh
# tools/rename-0.1-to-0.2.sed takes programs from librex 0.1 to 0.2: examples as they were in 0.1, one of them in part, compile afterwards
# without a warning, run and are right; every documented name of 0.1 is there still, has a new name, or is listed as gone.
. tests/support/lib.sh
needs_no_sanitizer
rename=tools/rename-0.1-to-0.2.sed
old=tests/data/0.1

renamed() { sed -E -f "$rename" "$@"; }

# ---- names

# The headers without their comments. What gcc calls an error here is a parameter list on several lines.
for header in include/*.h include/rex/*.h; do
    gcc -fpreprocessed -dD -E -P "$header" 2>/dev/null || true
done | grep -oE '(rex|REX)_[A-Za-z_0-9]+' | sort -u >"$work/there"
sed -n 's/^# gone: *//p' "$rename" | tr -s ' ' '\n' | sort >"$work/gone"
renamed "$old/names" | paste -d' ' "$old/names" - >"$work/names"
while read -r name new; do
    if grep -qx "$name" "$work/gone"; then
        [ "$name" = "$new" ] || fail "$name is gone, and $new"
        ! grep -qx "$name" "$work/there" || fail "$name is called gone, and the headers have it"
    else
        grep -qx "$new" "$work/there" || fail "$name of 0.1 is $new, which no header has: $rename wants a rule for it, or a line \"gone\""
    fi
done <"$work/names"
for name in $(comm -23 "$work/gone" "$old/names"); do fail "$name is called gone, and was not in 0.1"; done
awk '$1 != $2 && NF == 2' "$work/names" >"$work/pairs"
count=$(wc -l <"$work/pairs")
[ "$count" -gt 40 ] || fail "only $count names are renamed"

# The table in CHANGELOG.md has each of them.
sed -n '/^## 0\.2\.0/,/^## 0\.1\.0/p' CHANGELOG.md >"$work/table"
[ -s "$work/table" ] || { echo 'left out: the table of CHANGELOG.md: it has no version 0.2.0'; : >"$work/pairs"; }
while read -r name new; do
    grep -F "\`$name\`" "$work/table" | grep -qF "\`$new\`" || fail "CHANGELOG.md has no row of $name and $new"
done <"$work/pairs"

# ---- forms: regions of 0.1 with names and numbers alone, and what is a region of 0.2

while read -r form new; do
    [ "$(echo "$form" | renamed)" = "$new" ] || fail "$form becomes $(echo "$form" | renamed), and not $new"
    [ "$(echo "$new" | renamed)" = "$new" ] || fail "$new becomes $(echo "$new" | renamed)"
done <<'FORMS'
REX_DATA_REGION(d,map,&error) REX_DATA_REGION_MAP(&error, d,map)
REX_DATA_REGION(-1,map) REX_DATA_REGION_MAP(NULL, -1,map)
REX_DATA_REGION(&error,-1,row) REX_DATA_REGION(&error,-1,row)
REX_DATA_REGION(NULL,device,row) REX_DATA_REGION(NULL,device,row)
REX_DATA_REGION(&error,-1,REX_TO(x,n)) REX_DATA_REGION(&error,-1,REX_TO(x,n))
rex_module_register(&module) rex_module_register(&module, NULL)
FORMS

# ---- programs

release=$(tests/llvm --plain | tail -n 1)
[ -n "$release" ] || echo 'left out: the programs are not run: no LLVM release is unpacked'
for folder in "$old"/*/; do
    name=$(basename "$folder")
    mkdir "$work/$name"
    for file in "$folder"*; do renamed "$file" >"$work/$name/${file##*/}"; done
    # No script finds the end of the block of REX_DATA_REGION_OWNING, behind which the program frees the map now.
    [ "$name" != 11_maps ] ||
        sed -i 's/REX_DATA_REGION_OWNING(-1, map, &result).*/REX_DATA_REGION_MAP(\&result, -1, map)/
            /REX_DATA_REGION_MAP/,/return/s/^\( *\)return/\1rex_map_free(\&map);\n&/' "$work/$name/maps.c"
    for file in "$work/$name"/*; do
        renamed "$file" | cmp -s - "$file" || fail "$name: ${file##*/} is renamed a second time"
    done
    "$O/tools/rex-cc" --host -O2 -Wall -Wextra -Werror -o "$work/$name/program" "$work/$name"/*.c "$work/$name"/*.cu >"$work/said" 2>&1 ||
        { fail "$name does not compile: $(cat "$work/said")"; continue; }
    ! grep -q warning "$work/said" || fail "$name: $(cat "$work/said")"
    [ -n "$release" ] || continue
    OMP_TARGET_OFFLOAD=mandatory tests/llvm "$release" "$work/$name/program" >"$work/said" 2>&1 || fail "$name: status $?"
    tail -n 1 "$work/said" | grep -q '\b0 .*wrong' || fail "$name says: $(cat "$work/said")"
done

[ "$failed" = 0 ] && echo "$count names, and programs of 0.1 on LLVM ${release:-none}"
