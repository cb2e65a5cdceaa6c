#!/bin/sh
# What packagers of other systems run: make library and make install out of the release archive, without nvcc and examples; the RPM recipe,
# built, looked at by rpmlint, installed and used; EasyBuild's steps, with a libomptarget below a prefix of its own; Spack's recipe, compiled; CMake's
# FetchContent.
. tests/support/lib.sh
needs rpmbuild rpmlint cmake
fail() { echo "FAIL: $*"; exit 1; }
release=$(tests/llvm --plain | tail -n 1)
[ -n "$release" ] || skip 'no LLVM release is unpacked'

tools/packages/dist "$VERSION" "$work/dist"
archive=$work/dist/librex-$VERSION.tar.xz
tar -C "$work" -xf "$archive"
sources=$work/librex-$VERSION

# ---- Python compiles two of them: neither Spack nor EasyBuild is here

python3 -m py_compile "$sources/tools/packages/package.py"
python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$sources/tools/packages/librex-$VERSION.eb"

# ---- RPM

rpmbuild --nodeps -ta --define "_topdir $work/rpm" "$archive" >"$work/rpm.log" 2>&1 ||
    fail "rpmbuild: $(tail -n 20 "$work/rpm.log")"
if grep -E '(CC|HOSTIMG|-o build/rpm/)[^ ]*examples/' "$work/rpm.log"; then fail 'make library builds examples'; fi
if grep -qw nvcc "$work/rpm.log"; then fail 'make library asks for nvcc'; fi
find "$work/rpm" -name '*.rpm' >"$work/rpms"
xargs rpmlint -c tools/packages/rpmlint.toml tools/packages/librex.spec <"$work/rpms" >"$work/said" 2>&1 || true
grep -E ': [EW]: ' "$work/said" >"$work/found" || true
if [ -s "$work/found" ]; then fail "rpmlint: $(cat "$work/found")"; fi

if [ "$(id -u)" = 0 ]; then
    grep /RPMS/ "$work/rpms" | xargs rpm --root "$work/root" --nodeps -i
    rpm --root "$work/root" -q librex librex-devel
else
    mkdir "$work/root"
    while read -r rpm; do (cd "$work/root" && rpm2cpio "$rpm" | cpio -id --quiet); done <"$work/rpms"
fi
awk '/^```/ { inside = !inside; part += inside; next } inside && part == 1' README.md >"$work/axpy.c"
awk '/^```/ { inside = !inside; part += inside; next } inside && part == 2' README.md >"$work/axpy.cu"
cd "$work"
for command in rex-cc rex-info rex-check; do
    LD_LIBRARY_PATH="$(dirname "$(find "$work/root" -name librex.so)")" "$work/root/usr/bin/$command" --version
done
mkdir rpm-axpy
"$work/root/usr/bin/rex-cc" --host --no-check axpy.c axpy.cu -o rpm-axpy/axpy
"$top/tests/llvm" "$release" rpm-axpy/axpy | grep -x 'y\[999\] = 1999'

# ---- EasyBuild: the steps of the recipe, and a libomptarget below a prefix of its own, which a module names

(cd "$sources" && "$MAKE" -s library NVCC= && "$MAKE" -s install NVCC= prefix="$work/eb")
for file in bin/rex-cc include/rex.h lib/librex.so lib/pkgconfig/rex.pc lib/cmake/rex; do
    [ -e "$work/eb/$file" ] || fail "make install left no $file"
done
mkdir -p "$work/llvm/lib" "$work/others"
library=$("$top/tests/llvm" "$release" printenv REX_OMPTARGET)
"$top/tests/llvm" "$release" printenv LD_LIBRARY_PATH | tr : '\n' >"$work/folders"
dirname "$library" >>"$work/folders"
while read -r folder; do
    for file in "$folder"/*.so*; do
        case ${file##*/} in
        libomptarget* | libomp.so*) ln -sf "$(realpath "$file")" "$work/llvm/lib/" ;;
        *) ln -sf "$file" "$work/others/" ;; # libLLVM, which a module finds by LD_LIBRARY_PATH or a run path
        esac
    done
done <"$work/folders"
name=$work/llvm/lib/${library##*/}
"$work/eb/bin/rex-cc" --host axpy.c axpy.cu -o prefixed
# prefixed SETTING...: it runs, and says which libomptarget
prefixed() {
    env -u REX_OMPTARGET REX_LOG=info "$@" ./prefixed >said 2>&1 || fail "a prefix of its own: $(cat said)"
    grep -qx 'y\[999\] = 1999' said || fail "a prefix of its own: $(cat said)"
    grep -qE "bound LLVM $release's libomptarget, ($work|$(dirname "$(realpath "$library")"))/" said || fail "another libomptarget: $(cat said)"
}
prefixed LD_LIBRARY_PATH="$work/others" REX_OMPTARGET="$name"
prefixed LD_LIBRARY_PATH="$work/others:$work/llvm/lib"

# ---- CMake's FetchContent, with the sources in a folder instead of the address

mkdir "$work/fetching"
cat >"$work/fetching/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(fetching C)
include(FetchContent)
FetchContent_Declare(librex URL https://librex.invalid/librex.tar.xz SOURCE_SUBDIR tools/cmake)
FetchContent_MakeAvailable(librex)
add_executable(axpy ../axpy.c)
target_link_libraries(axpy PRIVATE rex::rex)
rex_target_kernels(axpy ../axpy.cu HOST)
CMAKE
cmake -S "$work/fetching" -B "$work/fetched" -DFETCHCONTENT_SOURCE_DIR_LIBREX="$sources" >said 2>&1 || fail "FetchContent: $(cat said)"
cmake --build "$work/fetched" >said 2>&1 || fail "FetchContent: $(cat said)"
"$top/tests/llvm" "$release" "$work/fetched/axpy" | grep -x 'y\[999\] = 1999'
echo 'recipes: RPM, EasyBuild, Spack, FetchContent'
