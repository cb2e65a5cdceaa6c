#!/bin/sh
# find_package(rex) in a tree that was installed below a folder with a space: examples/12_packaging/cmake builds, runs and is installed; a kernel that
# changes is compiled anew; what is wrong is said.
. tests/support/lib.sh
fail() { echo "FAIL: $*"; exit 1; }
release=$(tests/llvm --plain | tail -n 1)
run() { if [ -n "$release" ]; then "$top/tests/llvm" "$release" "$@"; else "$@"; fi; }

"$MAKE" -s install prefix="$work/my tools"
cp -R examples "$work/examples"
project=$work/examples/12_packaging/cmake
# configure FOLDER OPTION...
configure() {
    folder=$1
    shift
    cmake -S "$project" -B "$folder" -DCMAKE_PREFIX_PATH="$work/my tools" -DCMAKE_INSTALL_PREFIX="$work/installed" "$@"
}
configure "$work/out"
cmake --build "$work/out"
[ -s "$work/out/rex_lib_host.so" ] || fail 'no image beside the program'
run "$work/out/beside"
mkdir "$work/alone"
cp "$work/out/inside" "$work/alone/"
run "$work/alone/inside"
if readelf -d "$work/out/inside" | grep -q 'NEEDED.*librex'; then fail 'rex::rex_static needs librex.so'; fi
cmake --install "$work/out"
LD_LIBRARY_PATH="$work/my tools/lib" run "$work/installed/bin/beside"

# Nothing changed: nothing is compiled. A kernel's header changed: both images are.
again=$(cmake --build "$work/out")
case $again in *'Kernels of'*) fail "built again: $again" ;; esac
cp "$work/out/rex_lib_host.so" "$work/old"
cp "$work/out/inside" "$work/old-inside"
echo '#define ADDED 1' >"$work/examples/01_launch/added.h"
sed -i '1i #include "added.h"' "$work/examples/01_launch/kernels.cu"
cmake --build "$work/out" >"$work/said"
[ "$(grep -c 'Kernels of' "$work/said")" = 2 ] || fail "a changed kernel: $(cat "$work/said")"
echo 'static int added; int *address_of_added(void) { return &added; }' >"$work/examples/01_launch/added.h"
cmake --build "$work/out" >"$work/said"
[ "$(grep -c 'Kernels of' "$work/said")" = 2 ] || fail "a changed header of kernels: $(cat "$work/said")"
if cmp -s "$work/old" "$work/out/rex_lib_host.so"; then fail 'the image beside is the old one'; fi
if cmp -s "$work/old-inside" "$work/out/inside"; then fail 'the image inside is the old one'; fi
run "$work/out/beside"

# refused TEXT LINES: a project with these lines is not configured, and says TEXT
refused() {
    text=$1
    { sed '/^get_target_property/,$d' "$top/examples/12_packaging/cmake/CMakeLists.txt"; printf '%s\n' "$2"; } >"$project/CMakeLists.txt"
    if configure "$work/refused" >"$work/said" 2>&1; then fail "configured: $2"; fi
    tr -s '\n ' '  ' <"$work/said" | grep -qF "$text" || fail "no \"$text\" in: $(cat "$work/said")"
    rm -rf "$work/refused"
}
# Here and below CMake expands what begins with a dollar.
# shellcheck disable=SC2016
refused 'the images of second and beside would have the same names' \
    'add_executable(second "${lesson}/launch.c")
rex_target_kernels(second "${lesson}/kernels.cu")'
refused 'wants a target, then kernels' 'rex_target_kernels(beside)'
# shellcheck disable=SC2016
refused 'objects is neither a program nor a shared library' \
    'add_library(objects OBJECT "${lesson}/launch.c")
rex_target_kernels(objects "${lesson}/kernels.cu")'
refused 'Could not find a configuration file for package "rex" that is compatible' 'find_package(rex 0.9 REQUIRED)'

"$MAKE" -s uninstall prefix="$work/my tools"
left=$(find "$work/my tools" ! -type d)
[ -z "$left" ] || fail "make uninstall left $left"
echo 'CMake: beside, inside, installed, changed, refused'
