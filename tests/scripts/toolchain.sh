#!/bin/sh
# A table of programs, compilers, languages and flags. Each row is built, linked as rex.pc says, and
# run on LLVM 19:
#
#   entries    the runtime sees every entry of a program and of its shared object, each binary has one module, and every kernel runs
#   unused     a program without entries and without calls that register a module
#   lost       entries that are written out are lost: an attribute is missing
#   lesson     a lesson whose entries are written out keeps them under --gc-sections
#   archived   an image in an archive, to which weak symbols alone refer
#   printed    entries as a compiler prints them, with the status and the attributes of the row
#   embedded   images inside the program, which runs in a folder without image files
#   two_embedded  two static libraries in one program, each with its image
#   codegen    the program of rex-codegen(7) under two stems, and a file that includes the header
#   wrappers   what REX emits, with the functions of a helper (script/headers compiles it with those of the header)
#   older      a program of REX's older output, with rex/older.h in front
#   kmpc       the __kmpc_* declarations of rex_kmp.h, as outlined host code uses them
#
# shellcheck disable=SC2317 # a row's function is called by its name
. tests/support/lib.sh
needs_release 19
needs_clang
link=$top/tests/link
# What rex.pc adds, and what some rows leave out.
keep=$(sed -n 's/^Libs: .*-lrex *//p' librex/rex.pc.in)
[ -n "$keep" ] || fail 'rex.pc adds no linker flag'
mkdir "$work/lesson" "$work/archived"
sections='-ffunction-sections -fdata-sections'
gc="$sections -Wl,--gc-sections"

# cc OUTPUT WORD...: by the compiler of this row, in its language, with its flags. C++ is told of by
# its name.
cc() {
    out=$1
    shift
    case $language in
    c) with=$compiler standard='-x c -std=gnu11' ;;
    *) standard='-x c++ -std=c++17'
        case $compiler in
        gcc*) with=g++${compiler#gcc} ;;
        *) with=${compiler%clang*}clang++${compiler##*clang} ;;
        esac ;;
    esac
    case $flags in *LLD*) flags=${flags%%LLD*}$lld${flags#*LLD} ;; esac
    # Flags are words. clang has an lld of its own release, and warns of flags for the linker where
    # it compiles alone.
    # shellcheck disable=SC2086
    quietly "$with" $standard -Wall -Wextra -Werror -Wno-unused-command-line-argument -O2 \
        -I"$top/include" $flags "$@" -o "$out" -L"$build" -lrex -Wl,-rpath,"$build"
}

# ---- entries

# As many entries as the sources have macros and raw entries.
declared() { (cd "$link/entries" && cat "$@") | grep -cE \
    '^(REX_(KERNEL|KERNEL_STEM|GLOBAL)\(|struct __tgt_offload_entry )'; }
in_program=$(declared macros.c more.c raw.c)
by_macro=$(declared macros.c more.c)
in_object=$(declared object.c)
mkdir "$work/object" "$work/printed"
host_image "$work/rex_lib_host.so" "$link/entries/kernels.cu"
host_image "$work/object/rex_lib_host.so" "$link/entries/kernels.cu" -DFOR_OBJECT

# Entries in the section of a linked file, 32 bytes each.
in_section() {
    size=$(readelf -SW "$1" |
        awk '/ omp_offloading_entries / { sub(/.* omp_off[a-z_]* /, ""); print $4 }')
    echo $((0x${size:-0} / 32))
}
modules_in() { nm "$1" | grep -c ' rex_this_module\(\.[a-z_.0-9]*\)\{0,1\}$' || true; }
entries_program() {
    pie=$flags
    flags=${flags#-no-pie}
    cc "$work/object/libobject.so" -shared -fPIC "$link/entries/object.c" || return 1
    flags=$pie
    cc "$work/main" "$link/entries/main.c" "$link/entries/macros.c" "$link/entries/more.c" \
        "$link/entries/raw.c" \
        -L"$work/object" -lobject -Wl,-rpath,"$work/object"
}
entries() {
    entries_program || return 1
    counts="$(in_section "$work/main") $(in_section "$work/object/libobject.so")"
    [ "$counts" = "$in_program $in_object" ] ||
        { echo "$counts entries, not $in_program $in_object"; return 1; }
    counts="$(modules_in "$work/main") $(modules_in "$work/object/libobject.so")"
    [ "$counts" = '1 1' ] || { echo "$counts modules, not 1 1"; return 1; }
    quietly on_release "$work/main" "$in_program" "$in_object"
}
unused() { cc "$work/unused" "$work/unused.c"; }
lost() {
    entries_program || return 1
    count=$(in_section "$work/main")
    [ "$count" = "$by_macro" ] || { echo "$count entries, and $by_macro by macros"; return 1; }
    case $flags in *lto*)
        # The launch of a kernel whose entry was lost says how.
        run on_release "$work/main" "$by_macro" "$in_object"
        ends 1
        says 'is in no offload entry of a registered module'
        says "with gcc -flto, declare the module's entries __attribute__((used))" ;;
    esac
}

cat >"$work/unused.c" <<'C'
#include <rex.h>
int main(void) { return rex_gpu_count() < 0; }
C
cat >"$work/printed/alone.c" <<'C'
#include "entries.h"
int main(void)
{
    int64_t x = 0;
    return add_with(&OUT__2__smooth__20__id__, 1, &x) != 0 ||
           add_with(&OUT__3__smooth__31__id__, 1, &x) != 0 || x != 2;
}
C
hint='or gcc -flto dropped entries without __attribute__((used)) (add the attribute, or link with -rdynamic)'
# printed STATUS [ATTRIBUTES]
printed() {
    sed "s/section(\"omp_offloading_entries\")/&${2-}/" "$link/entries/raw.c" >"$work/printed/raw.c"
    cc "$work/main" -I"$link/entries" "$work/printed/alone.c" "$work/printed/raw.c" || return 1
    run on_release "$work/main"
    ends "$1" "entries that are printed, $flags"
    [ "$1" = 0 ] || says "$hint"
}
# lesson NAME [SOURCE...]: a program whose entries are written out; sources of other examples
lesson() {
    one=$top/examples/$1
    shift
    host_image "$work/lesson/rex_lib_host.so" "$one/kernels.cu"
    cc "$work/lesson/program" -Iexamples/common -Iexamples/axpy_multi "$one"/*.c "$@" -lm &&
        quietly on_release "$work/lesson/program"
}
# ---- images inside

images=$build/examples/12_packaging/images
mkdir "$work/alone"
for name in alpha:2 beta:3; do
    gcc -x c -O2 -shared -fPIC -Iinclude -DNAME=${name%:*} -DFACTOR=${name#*:} -o "$work/archived/${name%:*}.so" \
        tests/runtime/parts/image/kernels.cu
done
# clang's LTO looks for them in the folder where it runs; others are told of it.
embedded() {
    look="-Wa,-I$images"
    case $flags in *-flto*) look=-g0 ;; esac
    (cd "$images" && cc "$work/alone/program" "$look" "$top/examples/12_packaging/packaging.c") ||
        return 1
    (cd "$work/alone" && env -u REX_CUBIN "$top/tests/llvm" 19 ./program) >"$work/output" 2>&1 &&
        grep -q '^image: memory' "$work/output"
}
# The code with the launch and the image are members of one archive, and main() is outside.
archived() {
    (
        cd "$work/archived"
        sed -e '/^REX_EMBED/d' -e 's/^int main(void)/int code(void)/' \
            "$top/examples/12_packaging/packaging.c" >code.c
        printf '#include <rex.h>\nREX_EMBED_HOST_IMAGE("%s/axpy_host.so");\n' "$images" >image.c
        printf 'int code(void);\nint main(void)\n{\n    return code();\n}\n' >main.c
        rm -f libcode.a
        cc code.o -c code.c && cc image.o -c image.c && ar rc libcode.a code.o image.o &&
            cc program main.c -x none libcode.a && quietly on_release ./program
    )
}
# Two archives, each of code with a launch and its image, as static libraries are.
two_embedded() {
    (
        cd "$work/archived"
        for name in alpha beta; do
            cc "$name.o" -c -DNAME=$name "-DIMAGE=\"$work/archived/$name.so\"" "$link/parts/part.c" || exit 1
            rm -f "lib$name.a" && ar rc "lib$name.a" "$name.o"
        done
        cc program "$link/parts/main.c" -x none libalpha.a libbeta.a && quietly on_release ./program
    )
}
# ---- what generators print

# The last example of the page, and the same under another stem.
examples_of librex/man/rex-codegen.7 "$work/page"
for one in "$work/page"/*.c; do cp "$one" "$work/one.c"; done
grep -q 'rex_module_target_kernel' "$work/one.c" || fail 'rex-codegen(7) has no program'
sed 's/OUT__1__scale__7__/OUT__2__scale__9__/g; s/int scale(/int scale_again(/' "$work/one.c" \
    >"$work/two.c"
mkdir "$work/codegen"
gcc -std=c11 -Wall -Wextra -Wpedantic -O2 -shared -fPIC -o "$work/codegen/rex_lib_host.so" \
    "$link/codegen/image.c"
codegen() {
    cc "$work/codegen/program" "$link/codegen/main.c" "$work/one.c" "$work/two.c" \
        "$link/codegen/header.c" -Wno-error &&
        quietly "$work/codegen/program"
}
# On every release that runs images without rex/kernel.h.
codegen_everywhere() {
    codegen || return 1
    for one in $(tests/llvm --list); do
        case $one in *bare | 18 | 23 | 24) continue ;; esac
        quietly tests/llvm "$one" "$work/codegen/program" || return 1
    done
}
# Two modules with one table: the one that is registered serves the launches of both, by their keys.
codegen_two_modules() {
    for file in one two; do
        sed -e '/^__attribute__((weak, visibility("hidden")))$/d' \
            -e 's/^struct rex_module rex_this_module/static &/' \
            "$work/$file.c" >"$work/${file}_static.c"
    done
    cc "$work/codegen/program" "$link/codegen/main.c" "$work/one_static.c" "$work/two_static.c" \
        "$link/codegen/header.c" &&
        quietly "$work/codegen/program"
}
# A helper defines none of what it may define, some, or all: files with REX_KMP_INTERNAL alone, or beside one without it.
wrappers() {
    flags="$flags -Wpedantic -Wconversion"
    caller=$link/codegen/caller.c
    cc "$work/codegen/none" -DNONE "$caller" && quietly "$work/codegen/none" 0 || return 1
    cc "$work/codegen/some" "$link/codegen/helper.c" "$link/codegen/define.c" "$caller" &&
        quietly "$work/codegen/some" 2 || return 1
    cc "$work/codegen/all" "$link/codegen/own.c" "$caller" || return 1
    cc "$work/codegen/beside" "$link/codegen/beside.c" "$link/codegen/own.c" || return 1
    for release in 16 19 22; do
        (cd "$work/codegen" && quietly "$top/tests/llvm" $release ./all 3 &&
            quietly "$top/tests/llvm" $release ./beside) || return 1
    done
}
# What REX wrote before, as it is.
older() {
    cc "$work/codegen/older" -include rex/older.h "$link/codegen/older.c" || return 1
    for release in 14 19 22; do
        (cd "$work/codegen" && quietly "$top/tests/llvm" $release ./older) || return 1
    done
}
libomp=$(dirname "$(library_of 19)")/libomp.so.5
kmpc() {
    cc "$work/kmpc" "$link/kmpc.c" -x none "$libomp" && on_release "$work/kmpc" >/dev/null
}

# ---- the table; LLD is the compiler's own

count=0
while IFS='|' read -r kind compilers languages flags; do
    for compiler in $compilers; do
        command -v "$compiler" >/dev/null ||
            { echo "left out: $kind by $compiler, which is not here"; continue; }
        lld=-fuse-ld=lld
        case $compiler in *clang-19) lld=-fuse-ld=lld-19 ;; esac
        case $flags in *gold*) command -v ld.gold >/dev/null || continue ;; esac
        for language in $languages; do
            row=$flags
            $kind || fail "$kind, $compiler, $language: $row"
            flags=$row
            count=$((count + 1))
        done
    done
done <<TABLE
entries|gcc $clang|c c++|$keep
entries|gcc $clang|c|-no-pie -fno-pie $keep
entries|gcc $clang|c c++|$gc $keep
entries|gcc $clang|c|LLD $gc $keep
entries|gcc $clang|c|-fuse-ld=gold $gc $keep
entries|gcc|c|$gc -Wl,-z,start-stop-gc
lesson 13_raw_packet|gcc $clang|c c++|LLD $gc $keep
lesson 13_raw_packet|gcc $clang|c|-fuse-ld=gold $gc $keep
lesson 15_axpy_multi_raw examples/axpy_multi/axpy_multi.c examples/axpy_multi/serial.c examples/common/*.c|gcc $clang|c|LLD $gc $keep
entries|$clang|c c++|-flto LLD $keep
entries|$clang|c|-flto=thin LLD $gc $keep
entries|gcc|c c++|-flto -rdynamic $keep
entries|gcc|c|-O0 -flto -rdynamic $keep
unused|gcc $clang|c|-flto $keep
entries|gcc|c|$gc
lost|gcc|c|-flto $keep
printed 1|gcc|c|-flto $keep
printed 0|gcc|c|-flto -rdynamic $keep
printed 0 ,used|gcc|c|-flto $keep
printed 0 ,used,retain|gcc|c|-flto $gc -Wl,-z,start-stop-gc
embedded|gcc clang-19|c|-no-pie $keep
embedded|gcc|c c++|-flto -rdynamic $keep
embedded|clang-19|c c++|-flto $keep
embedded|gcc clang-19|c c++|$gc $keep
two_embedded|gcc $clang|c c++|$gc $keep
two_embedded|gcc $clang|c|LLD $gc $keep
two_embedded|gcc|c|-fuse-ld=gold $gc $keep
two_embedded|gcc|c|-flto -rdynamic $keep
archived|gcc $clang|c c++|$keep
archived|gcc $clang|c|LLD $gc $keep
archived|gcc|c|-fuse-ld=gold $gc $keep
codegen|gcc clang-19|c|$keep
codegen|gcc clang-19|c|-flto $gc $keep
codegen|gcc clang-19|c|LLD $gc $keep $keep_entries
codegen|clang-19|c|-flto LLD $gc $keep $keep_entries
codegen_everywhere|gcc|c|$keep
codegen_two_modules|gcc|c|$keep
wrappers|gcc-12 gcc clang-19|c c++|$keep
wrappers|clang-14|c++|$keep
wrappers|gcc clang-19|c|-fPIC -pie -ffunction-sections -fdata-sections -Wl,--gc-sections $keep
older|gcc clang-14 clang-19|c c++|$keep
kmpc|gcc $clang|c c++|-Wpedantic -Wshadow -Wconversion -Wno-cast-function-type
TABLE

# Wherever the tree writes an entry by hand, it has the form of rex-codegen(7).
! grep -rn 'section("omp_offloading_entries")' README.md include librex/man examples \
    --include=*.md --include=*.h \
    --include=*.[37] --include=*.c --include=*.awk | grep -v -e 'used, aligned(8)' -e \
        ': finding: ' ||
    fail 'other forms of an entry'
[ "$failed" = 0 ] && echo "$count programs"
