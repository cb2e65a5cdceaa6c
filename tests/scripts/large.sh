#!/bin/sh
# rex-check takes time in proportion to what it reads: files that are made to take the square of it (tests/tools/rex-check/hostile), with
# instructions counted by cachegrind for a small one and one four times as large, and read once with 200 000 of everything; and of a file of
# any size it takes no more than it needs.
. tests/support/lib.sh
needs valgrind
check=$build/tools/rex-check
needs_no_sanitizer

small=200
large=$((4 * small))
most=600 # percent; sorting takes a little more than four times
mkdir "$work/$small" "$work/$large" "$work/200000"
tests/tools/rex-check/hostile "$work/$small" "$small"
tests/tools/rex-check/hostile "$work/$large" "$large"

# count FOLDER ARGUMENTS: instructions of rex-check. Arguments are words.
# shellcheck disable=SC2086
count() { (cd "$work/$1" && instructions "$check" $2); }
start=$(instructions "$check" --version)
while read -r arguments; do
    one=$(($(count "$small" "$arguments") - start))
    four=$(($(count "$large" "$arguments") - start))
    in_proportion "$most" "$arguments" "$one" "$four"
done <<'CASES'
keys.o
imports.o
one_key.o
tables.o
keys.o image.so
keys.o drifted.so
image.so
--source source.c source.cu
--source endless.c endless.cu
CASES

# No clock decides, but the square of 200 000 does not come to an end here.
tests/tools/rex-check/hostile "$work/200000" 200000 one_key.o tables.o
for name in one_key.o tables.o; do
    run timeout 60 "$check" -q "$work/200000/$name"
    ends 1 "200 000: $name"
done

# ---- files of 10 GB that are a hole but for their beginning: no more of one is read than has to be, and no memory is taken for it --------

python3 - "$check" "$work" <<'PYTHON' || failed=1
import os
import resource
import struct
import subprocess
import sys

check, work, failed = sys.argv[1], sys.argv[2], 0
SIZE, SECTION, MOST = 10 << 30, 64, 64 << 20


def compile(name, *options):
    subprocess.run(['gcc', '-x', 'c', '-', '-o', name, *options], input=b'int value;\n', cwd=work, check=True)
    with open(os.path.join(work, name), 'rb') as file:
        return bytearray(file.read())


def make(name, begins):
    with open(os.path.join(work, name), 'wb') as file:
        file.write(begins)
        file.truncate(SIZE)


object = compile('object.o', '-c')
sections = object + bytes(SECTION)  # of which the first one has the number: as many as fit
struct.pack_into('<Q', sections, len(object) + 32, (SIZE - len(object)) // SECTION)
struct.pack_into('<Q', sections, 40, len(object))
struct.pack_into('<H', sections, 60, 0)
with open('tests/data/sm_90.cubin', 'rb') as file:
    make('cubin', file.read())
make('zeros', b'')
make('archive', b'!<arch>\n')
make('object', object)
make('library', compile('library.so', '-shared', '-fPIC'))
make('sections', sections)
make('ptx', b'.version 8.0\n.target sm_90\n.address_size 64\n')
make('comment', b'// without an end')
make('images', b'\x10\xff\x10\xad' + struct.pack('<IQQQ', 2, SIZE, 32, (SIZE - 32) // 48))
make('source.c', b'int main(void);\n')


def run(status, text, *arguments, limited=None):
    """rex-check ends with STATUS and mentions TEXT; with so much memory, or LIMITED to so much address space."""
    global failed
    pid = os.fork()
    if pid == 0:
        with open('output', 'wb') as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        if limited:
            resource.setrlimit(resource.RLIMIT_AS, (limited, limited))
        os.execv(check, ['rex-check', *arguments])
    _, ended, used = os.wait4(pid, 0)
    with open('output') as file:
        output = file.read()
    if os.waitstatus_to_exitcode(ended) != status or text not in output or used.ru_maxrss << 10 > MOST:
        print('FAIL: rex-check %s: status %s, not %d; %d KiB of memory; not "%s" but: %s' %
              (' '.join(arguments), os.waitstatus_to_exitcode(ended), status, used.ru_maxrss, text, output))
        failed = 1


os.chdir(work)
for name, text in (('zeros', 'it is not an ELF file'), ('archive', 'it is an archive'), ('ptx', 'it is not an ELF file')):
    run(2, text, name)
    run(2, text, name, limited=MOST)
run(2, 'it is a CUBIN', 'cubin')
run(0, 'no findings', 'object')
run(2, 'it has more sections than any program', 'sections')
run(2, 'it is no source', '--source', 'source.c')
for name, status, text in (('zeros', 2, 'it is not an ELF file'), ('archive', 2, 'it is not an ELF file'), ('object', 2, 'it is for this processor and no shared object'),
                           ('cubin', 1, 'image for sm_90, 6 kernels'), ('library', 0, 'no findings'), ('sections', 2, 'it has no section table'),
                           ('ptx', 0, 'no findings'), ('comment', 2, 'it is not an ELF file'), ('images', 2, 'its OffloadBinary is truncated')):
    run(status, text, 'object.o', name)
    run(2, name + ': its 10737418240 bytes cannot be mapped: ', 'object.o', name, limited=MOST)
sys.exit(failed)
PYTHON
