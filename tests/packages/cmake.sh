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

# A project of C++ alone, with the image in a static library; gold does not know an option that other linkers get.
static=$work/examples/static
mkdir "$static"
sed 's/^int main(/int code(/' "$top/examples/01_launch/launch.c" >"$static/code.cpp"
printf 'int code(void);\nint main()\n{\n    return code();\n}\n' >"$static/main.cpp"
cat >"$static/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(static_image CXX)
find_package(rex REQUIRED)
add_library(code STATIC code.cpp)
target_link_libraries(code PRIVATE rex::rex)
rex_target_kernels(code "$top/examples/01_launch/kernels.cu" EMBED)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE code)
add_executable(host main.cpp code.cpp)
target_link_libraries(host PRIVATE rex::rex)
rex_target_kernels(host "$top/examples/01_launch/kernels.cu" HOST)
CMAKE
for linker in bfd gold; do
    command -v ld.$linker >/dev/null || continue
    cmake -S "$static" -B "$work/$linker" -DCMAKE_PREFIX_PATH="$work/my tools" -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=$linker
    cmake --build "$work/$linker"
    run "$work/$linker/program" || fail "a static library with its image, $linker"
done
# An older CUBIN beside a program that has none now: rex-cc's own goes, another stays.
older=$work/bfd/rex_lib_nvidia.cubin
printf 'older\0code\n// rex-cc: build 1-2 of \n' >"$older"
cmake "$work/bfd"
[ ! -e "$older" ] || fail 'an older CUBIN stays'
printf 'by hand\n// rex-cc: build 1-2 of another\n' >"$older"
cmake "$work/bfd" >"$work/said" 2>&1
tr -s '\n ' '  ' <"$work/said" | grep -qF 'is from another build, this build makes no image for GPUs, and a program on a GPU will run' || fail "another CUBIN: $(cat "$work/said")"
[ -e "$older" ] || fail 'a CUBIN is removed that was put there by hand'
! grep -q nostart-stop-gc "$work/gold/CMakeFiles/program.dir/link.txt" || fail 'gold gets an option that it does not know'
grep -q nostart-stop-gc "$work/bfd/CMakeFiles/program.dir/link.txt" || fail 'GNU ld gets no option that keeps entries'

# Two static libraries, each with its images, in one program.
both=$work/examples/both
mkdir "$both"
cat >"$both/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(both C)
find_package(rex REQUIRED)
foreach(one IN ITEMS "alpha 2" "beta 3")
    separate_arguments(one)
    list(GET one 0 name)
    list(GET one 1 factor)
    add_library(\${name} STATIC "$top/tests/link/parts/part.c")
    target_compile_definitions(\${name} PRIVATE NAME=\${name})
    target_link_libraries(\${name} PRIVATE rex::rex)
    rex_target_kernels(\${name} "$top/tests/runtime/parts/image/kernels.cu" EMBED OPTIONS -DNAME=\${name} -DFACTOR=\${factor})
endforeach()
add_executable(program "$top/tests/link/parts/main.c")
target_link_libraries(program PRIVATE alpha beta)
CMAKE
cmake -S "$both" -B "$work/both" -DCMAKE_PREFIX_PATH="$work/my tools"
cmake --build "$work/both"
run "$work/both/program" || fail 'two static libraries, each with its images'

# A project of the languages CUDA and C: host code that nvcc compiles launches kernels of librex beside its own.
if [ -n "$nvcc" ]; then
    cuda=$work/examples/cuda
    mkdir "$cuda"
    sed 's/^int main(/extern "C" int code(/' "$top/examples/01_launch/launch.c" >"$cuda/code.cu"
    printf 'int code(void);\nint main(void)\n{\n    return code();\n}\n' >"$cuda/main.c"
    cat >"$cuda/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(with_cuda C CUDA)
find_package(rex REQUIRED)
add_executable(program main.c code.cu)
target_link_libraries(program PRIVATE rex::rex)
rex_target_kernels(program "$top/examples/01_launch/kernels.cu")
CMAKE
    cmake -S "$cuda" -B "$work/cuda" -DCMAKE_PREFIX_PATH="$work/my tools" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=90
    cmake --build "$work/cuda"
    run "$work/cuda/program" || fail 'a project of the language CUDA'
else
    echo 'left out: a project of the language CUDA: no nvcc'
fi

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
echo 'CMake: beside, inside, installed, changed, in one static library, in two, with CUDA, refused'
