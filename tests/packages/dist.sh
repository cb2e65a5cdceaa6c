#!/bin/sh
# The release archive: the same bits twice, and out of itself; it builds the same bits in two folders, is checked and installed, all
# without git.
. tests/support/lib.sh
fail() { echo "FAIL: $*"; exit 1; }

name=librex-$VERSION
tools/packages/dist "$VERSION" "$work/first"
mkdir "$work/one" "$work/one/deeper" "$work/no-git"
(cd "$work/first" && sha256sum -c SHA256SUMS)
tar -C "$work/one" -xf "$work/first/$name.tar.xz"
tar -C "$work/one/deeper" -xf "$work/first/$name.tar.xz"

printf '#!/bin/sh\necho "git $*" >>%s\nexit 1\n' "'$work/git-was-asked'" >"$work/no-git/git"
chmod 755 "$work/no-git/git"
PATH=$work/no-git:$PATH
cd "$work/one/$name"
(umask 077 && tools/packages/dist "$VERSION" "$work/second")
cmp "$work/first/$name.tar.xz" "$work/second/$name.tar.xz" || fail 'the archive made out of the archive differs'

for folder in "$work/one" "$work/one/deeper"; do
    cd "$folder/$name"
    "$MAKE" -s -j2 library tools
    "$MAKE" -s install prefix=/usr DESTDIR="$folder/installed"
done
diff -r "$work/one/installed" "$work/one/deeper/installed" || fail 'two folders, two results'
echo "the same bits: $(find "$work/one/installed" -type f | wc -l) files"

cd "$work/one/$name"
mkdir -p build
if [ -d "$top/build/llvm" ]; then ln -s "$(realpath "$top/build/llvm")" build/llvm; fi
"$MAKE" check K="${DIST_CHECK:-unit/}"
if [ -e "$work/git-was-asked" ]; then fail "make asked git: $(cat "$work/git-was-asked")"; fi
