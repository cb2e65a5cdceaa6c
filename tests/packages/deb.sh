#!/bin/sh
# Debian packages: built twice, in folders of other names with another umask and time zone, the same bits; lintian finds nothing, not even pedantically; they are compiled as dpkg-buildflags says.
. tests/support/lib.sh

tools/packages/deb "$VERSION" build/packages/deb
# The second time without git, out of the archive.
mkdir "$work/sources"
tar -C "$work/sources" -xf "build/packages/deb/librex_$VERSION.orig.tar.xz"
(umask 077 && LC_ALL=C.UTF-8 TZ=Asia/Tokyo "$work/sources/librex-$VERSION/tools/packages/deb" "$VERSION" "$work/else")
for file in build/packages/deb/*.deb build/packages/deb/*.dsc build/packages/deb/*.tar.xz; do
    cmp "$file" "$work/else/${file##*/}" || fail "${file##*/} differs"
    sha256sum "$file"
done

lintian --pedantic --display-info --tag-display-limit 0 --allow-root build/packages/deb/*.changes >"$work/said" 2>&1 || true
grep -v '^running with root' "$work/said" >"$work/found" || true
if [ -s "$work/found" ]; then fail "lintian: $(cat "$work/found")"; fi
lintian --version

dpkg-deb --fsys-tarfile build/packages/deb/rex-doc_*.deb | tar -t >"$work/documents"
for page in index rex_map.3 REX_EKEY.3; do
    grep -q "/html/$page.html$" "$work/documents" || fail "rex-doc has no page $page"
done

log=build/packages/deb/build.log
compiled=$(grep -cE '^gcc .* -c -o .*\.c$' "$log" || true)
for flag in -D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wdate-time -Werror=format-security; do
    [ "$(grep -E '^gcc .* -c -o .*\.c$' "$log" | grep -cF -e "$flag")" = "$compiled" ] || fail "not all is compiled with $flag"
done
[ "$compiled" -gt 100 ] || fail "the log has $compiled compilations"
for file in build/packages/deb/librex-*/debian/librex0.2/usr/lib/*/librex.so.0.2 \
    build/packages/deb/librex-*/debian/rex-tools/usr/bin/rex-check; do
    readelf -dl "$file" | grep -q GNU_RELRO || fail "$file has no RELRO"
    readelf -d "$file" | grep -q BIND_NOW || fail "$file is not linked with -z now"
    if readelf -d "$file" | grep -E 'RUNPATH|RPATH'; then fail "$file has a RUNPATH"; fi
done
