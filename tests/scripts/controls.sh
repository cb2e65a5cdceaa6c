#!/bin/sh
# Names that command a terminal reach it from no tool: of files, of options, of kernels in a program
# and in an image, on lines and in JSON. C1 controls (U+009B), what reorders text (U+202E) and bytes
# that are no UTF-8 neither.
. tests/support/lib.sh
tools=$top/$O/tools

cd "$work"
count=0
name=$(printf '\033[31m\302\233\377') # as long as in names.c
bad=$name$(printf '\342\200\256')

# The tool's name, then its arguments; what is printed must show the name, harmlessly.
tame() {
    tool=$1
    shift
    "$tools/$tool" "$@" >output 2>&1 || true
    count=$((count + 1))
    if LC_ALL=C tr -d '\n' <output | LC_ALL=C grep -q "[$(printf '\001-\037\177')]"; then
        fail "$tool: a control byte: $(cat -v output)"
    elif LC_ALL=C grep -q "$(printf '\302\233\\|\377\\|\342\200\256')" output; then
        fail "$tool: a byte above ASCII that commands a terminal: $(cat -v output)"
    elif ! grep -qE '\\x1b|\\u001b|\?\[31m' output; then
        fail "$tool: its output does not show the name: $(cat -v output)"
    fi
}

# A program whose kernel, key and file have such names, and an image that has another kernel of one.
gcc -fPIC -shared -o plain.so "$top/tests/tools/controls/names.c"
LC_ALL=C sed "s/XXXXXXX/$name/; s/XXXXXXX/$name/; s/XXXXXXX/$name/" plain.so >replaced
LC_ALL=C sed "s/aXXXXXXXb/a${name}b/g" plain.so >"prog$bad.so"
[ "$(wc -c <"prog$bad.so")" -lt "$(wc -c <plain.so)" ] && fail 'the names are not as long as before'
printf 'void aXXXXXXXc__kernel__(void) {}\n' | gcc -x c -fPIC -shared -o image.so -
LC_ALL=C sed "s/aXXXXXXXc/a${name}c/g" image.so >"image$bad.so"
printf '#include "%s.h"\nint main(void) { return 0; }\n' "$bad" >"source$bad.c"

tame rex-check "prog$bad.so"
tame rex-check "prog$bad.so" "image$bad.so"
tame rex-check --json "prog$bad.so" "image$bad.so"
tame rex-check "missing$bad"
tame rex-check "--$bad"
tame rex-check --source "source$bad.c"
tame rex-check --source --json "source$bad.c"
tame rex-check --source "missing$bad"
tame rex-run "missing$bad"
tame rex-run "--$bad"
tame rex-run "--wait=$bad" true
tame rex-run "--omptarget=/missing$bad" true
tame rex-run "./source$bad.c"
tame rex-info "--$bad"
tame rex-report "missing$bad"
tame rex-report "--$bad"
tame rex-cc "--arch=$bad" kernels.cu
tame rex-cc "--embed=$bad" source.c
tame rex-cc '-###' "source$bad.c"
NVCC=/missing$bad LIBOMPTARGET_INFO=$bad
export NVCC LIBOMPTARGET_INFO
tame rex-info
tame rex-info --json

[ "$failed" = 0 ] && echo "$count commands show such names, and none as they are"
