#!/bin/sh
# The documentation is true where a script can tell: every function has a man page, every name in the pages exists, their
# examples compile, the README's first program prints what the README says, and links lead somewhere. mandoc has nothing to say of a page,
# not of its style either; every page fits a terminal of 80 columns, but for messages that the pages of errors quote whole.
# make builds for it: library manual tools examples
. tests/support/lib.sh

# ---- man pages: layout

# Those of sections 3 and 7 as they are installed, most of them made out of the headers.
manual=$build/man
pages=$(find "$manual" tools -name '*.[1-8]' | sort)
# No name of ours has a space.
# shellcheck disable=SC2086
mandoc -Tlint -Wstyle $pages || failed=1
python3 - "$manual" "$work" <<'PYTHON' || failed=1
import glob
import os
import re
import subprocess
import sys

manual, work = sys.argv[1:]
IDENTIFIER = r"[A-Za-z_][A-Za-z_0-9]*"
OURS = r"(?:rex_|REX_|__rex_|__tgt_|__cubin|__kmpc_|register_cubin|ident_t)"
failures = []


def read(path):
    with open(path, encoding="utf8") as file:
        return file.read()


def must(condition, text):
    if not condition:
        failures.append(text)


def rendered(paths, width):
    """What a terminal shows of each page: (name, lines without the title and the last line). All by one mandoc."""
    shown = subprocess.run(["mandoc", "-Tascii", "-Owidth=%d" % width] + paths, stdout=subprocess.PIPE, text=True).stdout
    # Bold letters are printed twice, with a backspace between. A line of dashes stands between two pages.
    texts = re.split(r"\n\n-{70,}\n\n", re.sub(r".\x08", "", shown).expandtabs().rstrip("\n"))
    if len(texts) != len(paths):
        sys.exit("FAIL: mandoc shows %d pages of %d" % (len(texts), len(paths)))
    return [(path, text.split("\n")[1:-1]) for path, text in zip(paths, texts)]


def name_of(path):
    return os.path.basename(path)[:-2]


headers = sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h"))
pages = {path: read(path) for path in sorted(glob.glob(manual + "/*.[37]"))}
links = [line.split()[-1][:-2] for line in read(manual + "/links").splitlines()]

# ---- layout: the code of a header is as wide as there

narrow = []
for path in sorted(glob.glob(manual + "/*.[37]") + glob.glob("tools/*.[1-8]")):
    if not os.path.basename(path).startswith("REX_E"):
        narrow.append("%s/%s" % (work, os.path.basename(path)))
        text = re.sub(r"^\.EX$.*?^\.EE$", "", read(path), flags=re.S | re.M) if path.endswith(".3") else read(path)
        open(narrow[-1], "w").write(text)
for path, lines in rendered(narrow, 78):
    failures += ["%s is too wide: %s" % (os.path.basename(path), line) for line in lines if len(line) > 80]

# ---- names under NAME, up to the dash: those that `make install` installs a page under

names = []
for path, text in pages.items():
    heading = re.search(r"^\.SH NAME\n(.*?) *\\-(?= |\n)", text, re.S | re.M)
    own = re.sub(r"\\%", "", heading[1].replace("\\-", "-")).replace(",", " ").split() if heading else []
    names += own
    must(own[:1] == [name_of(path)], "%s does not begin with its own name" % path)
    for section in "NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO", "EXAMPLES" if path.endswith(".7") else "HISTORY":
        must("\n.SH %s\n" % section in text, "%s has no section %s" % (path, section))
for name in sorted({name for name in names if names.count(name) > 1}):
    failures.append("two man pages are called %s" % name)
for name in sorted(set(names) ^ {*map(name_of, pages), *links}):
    failures.append("%s is a name under NAME, or of a page that is installed, and not both" % name)
lines = sum(read(path).count("\n") for path in glob.glob("librex/man/*.7"))
must(lines <= 3000, "the guides have %d lines, of 3000" % lines)

# ---- what the headers declare

# Without their comments; macros stay. What gcc calls an error here is a parameter list on several lines.
source = "".join(map(read, headers))
code = subprocess.run("gcc -fpreprocessed -dD -E -P -x c -".split(), input=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
public = set(re.findall(IDENTIFIER, code))

# Exported functions, and those of headers that a program calls, at the beginning of a line.
exported = re.findall(r"^ *(rex_\w*);", read("librex/librex.map"), re.M)
must(exported, "librex.map exports no function")
functions = set(re.findall(r"^(?:static inline|REX_DEVICE|REX_PER_BINARY) .*[ *](%s)\(" % IDENTIFIER, source, re.M)) | set(exported)
# Structs, unions, enums and typedefs, but for the headers that no page is made of.
types = set()
for path in headers:
    if name_of(path) not in ("arguments", "clang", "clangmath", "kernelform", "openmp", "parameters"):
        text = read(path)
        types |= set(re.findall(r"^(?:struct|union|enum) (%s)(?: \{.*)?$" % IDENTIFIER, text, re.M))
        types |= set(re.findall(r"^(?:\}|typedef .*[ *]) ?(%s)(?:\[.*\])?;$" % IDENTIFIER, text, re.M))
        types |= set(re.findall(r"^typedef .*[ (*](%s)\)?\(" % IDENTIFIER, text, re.M))
paged = {name for name in functions | types if not name.startswith("rex_detail_")}
for name in sorted(paged - set(names)):
    failures.append("%s has no man page" % name)

# Each name with a page in section 3 is declared: as a macro, a type, a function, an object, or an error in a list. Headers have pages, too.
declared = set(paged)
for groups in re.findall(r"^ *# *define (%s)|^ *X\((%s), " % (IDENTIFIER, IDENTIFIER), code, re.M):
    declared |= set(groups)
for groups in re.findall(r"(?:struct|union|enum) (%s)|(%s) *[(\[;]" % (IDENTIFIER, IDENTIFIER), code):
    declared |= set(groups)
for path in headers:
    name = os.path.basename(path)
    name = name if name.startswith("rex") else "rex_" + name
    declared |= {name, name[:-2]}
for name in sorted({name_of(path) for path in pages if path.endswith(".3")} | set(links)):
    must(name in declared, "%s has a page, and no header declares it" % name)

# ---- what the pages and the README name: in the headers, a variable that librex reads, a header's own page, or a name with an _X or a _NAME
# for any other

variables = re.findall(r'"(REX_[A-Z_]+)"', read("librex/base/settings.c"))
known = public | set(variables) | {"rex_kmp"} | {"rex_" + name_of(path) for path in headers if path.startswith("include/rex/")}
known |= {"rex_nvidia", "__tgt_push_mapper_component"}  # of REX and libomptarget, in no header here
known |= {name for name in re.findall(IDENTIFIER, read("tools/cmake/rexConfig.cmake.in")) if name in ("rex_static", "rex_target_kernels")}
for path, lines in rendered(list(pages), 200) + [("README.md", [read("README.md")])]:
    named = {name for name in re.findall(IDENTIFIER, "\n".join(lines)) if re.match(OURS, name)}
    for name in sorted(named - known):
        must(re.search(r"(_X|_NAME|[^_]_)$", name), "%s names %s, which is in no header" % (path, name))
for path, text in pages.items():
    text = re.sub(r"\\fR\(", "(", re.sub(r" \(", "(", re.sub(r"^\.BR ", r"\\fB", text, flags=re.M)))
    for name in sorted(set(re.findall(r"\\fB((?:rex_|__rex_|REX_|register_)[A-Za-z_0-9.]*)\([37]\)", text)) - set(names)):
        failures.append("%s refers to %s, which has no page" % (path, name))

# ---- completeness

for name in variables:
    must(re.search(r"\b%s\b" % name, pages[manual + "/librex.7"]), "librex(7) does not mention the variable %s" % name)
version = os.environ.get("VERSION")
if version:
    for path, text in pages.items():
        must(re.search(r'^\.TH .*"librex %s"' % re.escape(version), text, re.M), "%s is not of version %s" % (path, version))
    must("## " + version in read("CHANGELOG.md"), "CHANGELOG.md says nothing of %s" % version)

print(*("FAIL: " + text for text in failures), "%d names in %d man pages" % (len(names), len(pages)), sep="\n")
sys.exit(len(failures) > 0)
PYTHON

# ---- guides: each example compiles, and each with main() runs with the kernels of the page

ran=$(tests/llvm --list | awk 'NR == 1 || $0 == 19 { ran = $0 } END { print ran }')
programs=0
set --
for page in librex/man/*.7; do
    folder=${page##*/}
    folder=$work/${folder%.7}
    examples_of "$page" "$folder"
    for example in "$folder"/*.c "$folder"/*.cu; do [ ! -e "$example" ] || set -- "$@" "$example"; done
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
gcc -x c -std=gnu11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$@" || fail 'an example of a guide, whose page is the folder, does not compile'
examples=$#
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
    lesson=${lesson#examples/}
    lesson=${lesson%/}
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

echo "$examples examples compiled; the lessons and the first program on LLVM ${ran:-(none)}"
[ "$failed" = 0 ] || exit 1
[ -n "$ran" ] || skip 'no LLVM release is unpacked to run the first program'
