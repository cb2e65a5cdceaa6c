#!/bin/sh
# The documentation is true where a script can tell: every function has a man page, every name in the pages exists, their
# examples compile, the README's first program prints what the README says, and links lead somewhere. mandoc has nothing to say of a page,
# not of its style either; every page fits a terminal of 80 columns, but for messages that the pages of errors quote whole.
. tests/support/lib.sh

# ---- man pages: layout

# Those of sections 3 and 7 as they are installed, most of them made out of the headers.
manual=$build/man
pages=$(find "$manual" tools -name '*.[1-8]' | sort)
# No name of ours has a space.
# shellcheck disable=SC2086
mandoc -Tlint -Wstyle $pages || failed=1
for page in $pages; do
    case $page in */REX_E*) continue ;; esac
    # Bold letters are printed twice, with a backspace between. The code of a header is as wide as there.
    case $page in *.3) sed '/^\.EX$/,/^\.EE$/d' "$page" ;; *) cat "$page" ;; esac |
        mandoc -Tascii -O width=78 | sed "s/.$(printf '\b')//g" | expand | grep -E '.{81}' | sed "s|^|FAIL: $page is too wide: |"
done >"$work/wide"
[ ! -s "$work/wide" ] || { cat "$work/wide"; failed=1; }

# ---- man pages: names

identifier='[A-Za-z_][A-Za-z_0-9]*'

# Names under NAME, up to the dash, are those that `make install` installs a page under.
for page in "$manual"/*.[37]; do
    names=$(sed -n '/^\.SH NAME/,/\\-/{/^\.SH/d;s/ *\\-$//;s/ *\\- .*//;s/\\-/-/g;s/\\%//g;s/,/ /g;p;}' "$page" | tr '\n' ' ')
    echo "$names" | tr -s ' ' '\n' | sed '/^$/d' >>"$work/pages"
    case " $names" in " $(basename "$page" ".${page##*.}") "*) ;; *) fail "$page does not begin with its own name" ;; esac
    sections='NAME SYNOPSIS DESCRIPTION SEE_ALSO'
    case $page in *.7) sections="$sections EXAMPLES" ;; *) sections="$sections HISTORY" ;; esac
    for section in $sections; do
        grep -qx "\.SH $(echo "$section" | tr _ ' ')" "$page" ||
            fail "$page has no section $section"
    done
done
for name in $(sort "$work/pages" | uniq -d); do fail "two man pages are called $name"; done
{ find "$manual" -name '*.[37]' | sed 's/.*\///; s/\.[37]$//' && sed 's/.* //; s/\.3$//' "$manual/links"; } | LC_ALL=C sort >"$work/installed"
LC_ALL=C sort "$work/pages" | diff "$work/installed" - || fail 'names under NAME are not those that are installed'
lines=$(cat librex/man/*.7 | wc -l)
[ "$lines" -le 3000 ] || fail "the guides have $lines lines, of 3000"

# The headers without their comments; macros stay. What gcc calls an error here is a parameter list on several lines.
for header in include/*.h include/rex/*.h; do
    gcc -fpreprocessed -dD -E -P "$header" || true
done >"$work/headers" 2>/dev/null
grep -oE "$identifier" "$work/headers" | sort -u >"$work/public"

# Exported functions, and those of headers that a program calls, at the beginning of a line.
sed -n 's/^ *\(rex_[A-Za-z_0-9]*\);.*/\1/p' librex/librex.map >"$work/functions"
[ -s "$work/functions" ] || fail 'librex.map exports no function'
sed -nE "s/^(static inline|REX_DEVICE|REX_PER_BINARY) .*[ *]($identifier)\(.*/\2/p" include/*.h include/rex/*.h | grep -v '^rex_detail_' >>"$work/functions"
sort -u -o "$work/functions" "$work/functions"
while read -r name; do
    grep -qx "$name" "$work/pages" || fail "$name has no man page"
done <"$work/functions"

# Structs, unions, enums and typedefs have a page, but for the headers that no page is made of.
for header in include/*.h include/rex/*.h; do
    case $header in */arguments.h | */clang.h | */clangmath.h | */kernelform.h | */openmp.h | */parameters.h) continue ;; esac
    sed -nE "s/^(struct|union|enum) ($identifier)( \\{.*)?$/\\2/p; s/^(\\}|typedef .*[ *]) ?($identifier)(\\[.*\\])?;$/\\2/p; \
        s/^typedef .*[ (*]($identifier)\\)?\\(.*/\\1/p" "$header"
done | grep -v '^rex_detail_' | sort -u >"$work/types"
while read -r name; do
    grep -qx "$name" "$work/pages" || fail "$name has no man page"
done <"$work/types"

# Each name with a page in section 3 is declared: as a macro, a type, a function, an object, or an error in a list. Headers have pages, too.
{
    cat "$work/functions" "$work/types"
    sed -nE "s/^ *# *define ($identifier).*/\\1/p; s/^ *X\\(($identifier), .*/\\1/p" "$work/headers"
    grep -oE "(struct|union|enum) $identifier|$identifier *[(\[;]" "$work/headers" | grep -vwE 'const|sizeof|return' | sed 's/.* \(.\)/\1/; s/ *[(\[;]$//'
    for header in include/*.h include/rex/*.h; do
        name=$(basename "$header")
        case $name in rex*) ;; *) name=rex_$name ;; esac
        printf '%s\n' "$name" "${name%.h}"
    done
} | sort -u >"$work/declared"
for page in $(find "$manual" -name '*.3' | sed 's/.*\///; s/\.3$//') $(sed 's/.* //; s/\.3$//' "$manual/links"); do
    grep -qxF "$page" "$work/declared" || fail "$page has a page, and no header declares it"
done

# What the pages and the README name: in the headers, a variable that librex reads, a header's own page, or a name with an _X or a _NAME for any other.
sed -nE 's/.*"(REX_[A-Z_]+)".*/\1/p' librex/base/settings.c >"$work/variables"
{
    cat "$work/public" "$work/variables"
    echo rex_kmp
    printf "%s\n" rex_nvidia __tgt_push_mapper_component # of REX and libomptarget, in no header here
    grep -oE "$identifier" tools/cmake/rexConfig.cmake.in | grep -E '^(rex_static|rex_target_kernels)$'
    for header in include/rex/*.h; do echo "rex_$(basename "$header" .h)"; done
} >"$work/known"
for page in "$manual"/*.[37] README.md; do
    case $page in
    *.md) cat "$page" ;;
    # Bold letters are printed twice, with a backspace between; col is not everywhere. The first line and the last are the title, in capitals.
    *) mandoc -Tascii -Owidth=200 "$page" | sed '1d; $d' | sed "s/.$(printf '\b')//g" ;;
    esac | grep -oE "$identifier" | grep -E '^(rex_|REX_|__rex_|__tgt_|__cubin|__kmpc_|register_cubin|ident_t)' |
        grep -vE '(_X|_NAME|[^_]_)$' | sort -u >"$work/named"
    for name in $(grep -vxFf "$work/known" "$work/named" || true); do
        fail "$page names $name, which is in no header"
    done
done

for page in "$manual"/*.[37]; do
    sed -E 's/^\.BR /\\fB/; s/ \(/(/g; s/\\fR\(/(/g' "$page" | grep -oE "\\\\fB(rex_|__rex_|REX_|register_)[A-Za-z_0-9.]*\([37]\)" | sed 's/^...//; s/(.*//' | sort -u >"$work/named"
    for name in $(grep -vxFf "$work/pages" "$work/named" || true); do fail "$page refers to $name, which has no page"; done
done

# ---- man pages: completeness

while read -r name; do
    grep -qw "$name" "$manual/librex.7" || fail "librex(7) does not mention the variable $name"
done <"$work/variables"
if [ -n "${VERSION-}" ]; then
    for page in "$manual"/*.[37]; do
        grep -q "^\.TH .*\"librex $VERSION\"" "$page" || fail "$page is not of version $VERSION"
    done
    grep -qF "## $VERSION" CHANGELOG.md || fail "CHANGELOG.md says nothing of $VERSION"
fi

# ---- guides: each example compiles, and each with main() runs with the kernels of the page

ran=$(tests/llvm --list | awk 'NR == 1 || $0 == 19 { ran = $0 } END { print ran }')
examples=0
programs=0
for page in librex/man/*.7; do
    folder=$work/$(basename "$page" .7)
    examples_of "$page" "$folder"
    for example in "$folder"/*.c "$folder"/*.cu; do
        [ -e "$example" ] || continue
        gcc -x c -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$example" || fail "$page: an example does not compile"
        examples=$((examples + 1))
    done
    for program in "$folder"/*.c; do
        if [ -z "$ran" ] || ! grep -qs 'int main(' "$program"; then continue; fi
        mkdir "${program%.c}"
        kernels=$(find "$folder" -maxdepth 1 -name '*.cu')
        # No name of ours has a space.
        # shellcheck disable=SC2086
        "$build/tools/rex-cc" "$program" $kernels -o "${program%.c}/program" || fail "$page: rex-cc does not compile its example"
        CUDA_VISIBLE_DEVICES='' REX_LOG=error tests/llvm "$ran" "${program%.c}/program" || fail "$page: its example fails on LLVM $ran"
        programs=$((programs + 1))
    done
done
[ -z "$ran" ] || [ "$programs" -ge 6 ] || fail "$programs examples of guides run"

# What rex-testing(7) names can be run.
for target in $(sed -n 's/\\-/-/g; s/^\.BI* "*make \([a-z -]*\).*/\1/p' librex/man/rex-testing.7 | tr ' ' '\n'); do
    grep -qhE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile tests/*/rules.mk ||
        fail "rex-testing(7): there is no make $target"
done

# ---- links to files, relative to the file that has them; and `folder/file` in backquotes, from the top, or what tests/README.md names in tests/:
# a folder, a file, or a test without its suffix. tests/unit/NAME.c and the like stand for many.

for file in README.md CONTRIBUTING.md CHANGELOG.md examples/README.md librex/README.md tests/README.md tests/bench/README.md; do
    # The backquotes are Markdown's.
    # shellcheck disable=SC2016
    {
        grep -oE '\]\([^)]+\)' "$file" | sed 's/^](//; s/)$//; s/#.*//' | grep -v -e '://' -e '^$' | sed "s|^|${file%"${file##*/}"}|"
        grep -oE '`(examples|include|librex|tests|tools)/[^` ]*`' "$file" | tr -d '`'
        [ "$file" != tests/README.md ] || grep -oE '`[a-z-]+/[^` ]*`' "$file" | tr -d '`' | grep -vE '^(librex|tests|build)/' | sed 's|^|tests/|'
    } | { grep -v -e NAME -e '[*]' || true; } >"$work/targets"
    while read -r target; do
        for suffix in '' .c .sh none; do
            [ "$suffix" != none ] || fail "$file names $target, which does not exist"
            [ ! -e "$target$suffix" ] || break
        done
    done <"$work/targets"
done

# ---- the README's first program, as printed; and the same launch as generated code

# block TEXT: the first fenced block after the line with TEXT
block() {
    awk -v text="$1" '!on && index($0, text) { on = 1; next }
        on == 1 && /^```/ { on = 2; next }
        on == 2 && /^```/ { exit }
        on == 2' README.md
}
# The backquotes are Markdown's.
# shellcheck disable=SC2016
{
    block '`axpy.c`' >"$work/axpy.c"
    block '`axpy.cu`' >"$work/axpy.cu"
}
block 'and run:' >"$work/commands"
block 'It prints' >"$work/expected"
block "in libomptarget's own terms" >"$work/generated.c"
for compiler in 'gcc -std=c11' 'g++ -x c++ -std=c++11'; do
    # Words of a command.
    # shellcheck disable=SC2086
    $compiler -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/generated.c" || fail "README.md: the generated program, by $compiler"
done
for file in axpy.c axpy.cu commands expected generated.c; do
    [ -s "$work/$file" ] || fail "README.md: there is no block for $file"
done
"$build/tools/rex-check" --source "$work/axpy.c" "$work/axpy.cu" || fail "README.md: rex-check finds something in the first program"
export PATH="$build/tools:$PATH"

if [ -n "$ran" ]; then
    (cd "$work" && "$top/tests/llvm" "$ran" sh -eu ./commands >printed) || fail "README.md: the first program fails on LLVM $ran"
    diff "$work/expected" "$work/printed" || fail "README.md: the first program prints something else on LLVM $ran"
    (cd "$work" && "$top/tests/llvm" "$ran" rex-cc generated.c axpy.cu -o generated && "$top/tests/llvm" "$ran" ./generated) ||
        fail "README.md: the generated program fails on LLVM $ran"
fi

# ---- the chart of the front page is of the tables

tests/bench/chart | cmp - tests/bench/chart.svg || fail 'tests/bench/chart.svg is of other tables: tests/bench/chart >tests/bench/chart.svg'

# ---- the commands of examples/README.md, all of them, in one shell, at what looks like the top of
# the repository: its files are links, and what is built lies where it was built. What is shown
# behind a command are lines of its output, in this order; "..." is anything, and so are digits.

for lesson in examples/*/; do
    lesson=${lesson#examples/}
    [ "$lesson" = common/ ] || grep -q "^|.*($lesson" examples/README.md || fail "examples/README.md has no row for $lesson"
done
# Without a device each example is right on the host, or says why it ends.
[ -z "$ran" ] || for lesson in examples/*/; do
    lesson=$(basename "$lesson")
    [ -x "$build/examples/$lesson/$lesson" ] || continue
    run env OMP_TARGET_OFFLOAD=disabled "$top/tests/llvm" "$ran" "$build/examples/$lesson/$lesson"
    [ "$status" = 0 ] || [ -s "$work/err" ] || grep -q 'left to the host' "$work/out" || fail "$lesson ends with status $status without a device, and says nothing"
done
export CUDA_VISIBLE_DEVICES= # what is shown there is shown by a machine without a GPU
if [ -n "$ran" ]; then
    mkdir -p "$work/root/build"
    for file in * .ci; do [ "$file" = build ] || ln -s "$top/$file" "$work/root/$file"; done
    for file in build/*; do ln -s "$top/$file" "$work/root/$file"; done
    # A make inside of make would take its flags over; the environment's are left.
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL python3 - "$work" "$top/tests/llvm" "$ran" <<'PYTHON' || failed=1
import os, re, subprocess, sys
work, shown, commands, script = sys.argv[1], None, [], ""
for line in open("examples/README.md"):
    block = re.match(r"    +(\S.*)$", line)
    if block and block[1].startswith("$ "):
        shown = []
        commands.append((block[1][2:], shown))
    elif block and shown is not None:
        shown.append(block[1])
    else:
        shown = None
for number, (command, _) in enumerate(commands):
    needed = re.match(r"(nvcc) |tests/llvm (\d+) ", command)
    if needed:
        command = "if %s; then %s\nfi" % ("command -v nvcc" if needed[1] else "[ -d build/llvm/%s ]" % needed[2], command)
    script += "{ %s\n} >%s/output.%d 2>&1\n" % (command, work, number)
status = subprocess.run(sys.argv[2:] + ["sh", "-euc", script], cwd=work + "/root").returncode
for number, (command, shown) in enumerate(commands):
    name = "%s/output.%d" % (work, number)
    output = open(name).read() if os.path.exists(name) else ""
    if status and not os.path.exists("%s/output.%d" % (work, number + 1)):
        sys.exit("FAIL: examples/README.md: `%s` fails: %s" % (command, output[-800:]))
    for line in shown:
        pattern = re.escape(line.strip()).replace(r"\.\.\.", ".*")
        pattern = re.sub(r"\d+", lambda m: r"\d+", pattern)
        pattern = re.sub(r"(\\ )+", lambda m: r"\s+", pattern)
        pattern = pattern.replace(r"e\-\d+", r"e[+-]\d+").replace(r"e\+\d+", r"e[+-]\d+")
        found = re.search("^" + pattern + r"(\s*#.*)?$", output, re.M)
        if not found:
            sys.exit("FAIL: examples/README.md: `%s` does not print `%s` but\n%s" % (command, line, output[-800:]))
        output = output[found.end():]
print("%d commands of the lessons" % len(commands))
sys.exit(len(commands) <= 25)
PYTHON
fi

echo "$(wc -l <"$work/pages") names in man pages, $examples examples compiled; the lessons and the first program on LLVM ${ran:-(none)}"
[ "$failed" = 0 ] || exit 1
[ -n "$ran" ] || skip 'no LLVM release is unpacked to run the first program'
