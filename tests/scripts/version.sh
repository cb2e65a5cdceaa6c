#!/bin/sh
# One version everywhere: soname, version node and headers are of it. A program that was linked with another minor version ends in the
# loader's error, before any call; a library that has that version's soname and node stands for it here.
# make builds for it: library
. tests/support/lib.sh
needs_no_sanitizer
version=$(sed -n 's/^VERSION := //p' Makefile)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
# Before 1.0 a minor version may change the API; from then on a major one.
series=$major
[ "$major" -gt 0 ] || series=0.$minor

# ---- the library and the headers

soname=$(readelf -d "$O/librex.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "librex.so.$series" ] || fail "the soname is $soname, the version $version"
nodes=$(nm -D --defined-only "$O/librex.so" | sed -n 's/.*@\(REX_.*\)/\1/p' | sort -u)
[ "$nodes" = "REX_$series" ] || fail "rex_* are in $nodes, the version is $version"

cat >"$work/header.c" <<C
#include <rex/offload.h>
#if REX_VERSION_MAJOR != $major || REX_VERSION_MINOR != $minor
#error "the headers are of another version"
#endif
#if !REX_VERSION_AT_LEAST($major, $minor) || !REX_VERSION_AT_LEAST(0, 0)
#error "the headers are older than themselves"
#endif
#if REX_VERSION_AT_LEAST($major, $((minor + 1))) || REX_VERSION_AT_LEAST($((major + 1)), 0)
#error "the headers are newer than themselves"
#endif
int at_least[REX_VERSION_AT_LEAST($major, $minor) ? 1 : -1];
C
for language in c c++; do
    "$CC" -x $language -Wall -Wextra -Wundef -Werror -Iinclude -fsyntax-only "$work/header.c" || fail "the headers, $language"
done

for recipe in librex.spec "librex-$version.eb" package.py; do
    grep -qF "$version" "tools/packages/$recipe" || fail "tools/packages/$recipe is of another version than $version"
done

# ---- programs of this version and of another, with either library

mkdir "$work/other" "$work/now"
echo 'const char *rex_version(void) { return "0.9.0"; }' >"$work/other.c"
echo 'REX_0.9 { global: rex_*; local: *; };' >"$work/other.map"
gcc -shared -fPIC -Wl,-soname,librex.so.0.9 -Wl,--version-script="$work/other.map" -o "$work/other/librex.so.0.9" "$work/other.c"
ln -s librex.so.0.9 "$work/other/librex.so"
cp "$O/librex.so.$version" "$work/now/"
ln -s "librex.so.$version" "$work/now/$soname"
ln -s "$soname" "$work/now/librex.so"

# A function of both versions, so that only the library's own name and version stand between.
echo '#include <stdio.h>
const char *rex_version(void);
int main(void) { return puts(rex_version()) < 0; }' >"$work/program.c"
for library in other now; do
    gcc -o "$work/of-$library" "$work/program.c" -L"$work/$library" -lrex
done

# with PROGRAM LIBRARY TEXT: the program prints TEXT; or the loader says it, and the program does not begin
with() {
    run env LD_LIBRARY_PATH="$work/$2" LC_ALL=C "$work/of-$1"
    case $3 in
    [0-9]*) [ "$status,$(cat "$work/out")" = "0,$3" ] || fail "of $1, with $2: status $status, $(cat "$work/out" "$work/err")" ;;
    *)
        says "$3"
        if [ "$status" = 0 ] || [ -s "$work/out" ]; then fail "of $1, with $2, made a call: $(cat "$work/out")"; fi ;;
    esac
}
with other other 0.9.0
with now now "$version"
with other now 'librex.so.0.9: cannot open shared object file'
with now other "$soname: cannot open shared object file"
# Somebody has given the library the other soname, as people do to get past such an error: the node is another one, still.
ln -s "librex.so.$version" "$work/now/librex.so.0.9"
ln -s librex.so.0.9 "$work/other/$soname"
with other now "version \`REX_0.9' not found"
with now other "version \`REX_$series' not found"

[ "$failed" = 0 ] && echo "$version: $soname, REX_$series"
