#!/bin/sh
# Files that are made to take long or much (tests/fuzz/hostile), for the readers of images, for rex-check and for a registration: four times
# the file takes about four times the instructions, not sixteen times, and no file takes more than 64 MiB and 32 times its size. Instructions
# are counted by cachegrind, so no clock decides. Of a file of any size rex-check takes no more than it needs.
. tests/support/lib.sh
needs valgrind
needs_no_sanitizer
check=$build/tools/rex-check

for count in 100 200 400 500 800 1500 2000 6000 100000; do
    mkdir "$work/$count"
    case $count in
    200 | 800) set -- other_names.image program.c ;;
    1500)
        set -- program.c large_members.fatbin members.fatbin many_kernels.fatbin few_kernels.fatbin \
            colliding_names.host long_entry_names.host overlapping_names.host ;;
    100000) set -- one_key.o tables.o ;;
    *) set -- ;;
    esac
    tests/fuzz/hostile "$work/$count" "$count" "$@"
done

# grow MOST SMALL START COMMAND FILE...: FILE and four times that, as COMMAND reads it; what the start of it takes does not count
grow() {
    most=$1 small=$2 start=$3 command=$4
    shift 4
    one=$(($(cd "$work/$small" && instructions "$command" "$@") - start))
    four=$(($(cd "$work/$((4 * small))" && instructions "$command" "$@") - start))
    in_proportion "$most" "${command##*/} $*" "$one" "$four"
}
# bounded STATUS FOLDER FILE COMMAND...: COMMAND of FILE ends so in time, and does not take more memory than FILE may
bounded() {
    folder=$work/$2 file=$3
    limit=$((65536 + $(stat -L -c %s "$folder/$file") / 32))
    ended=$(cd "$folder" && shift 3 && python3 -c '
import resource, subprocess, sys
try:
    status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode
except subprocess.TimeoutExpired:
    status = "none after two minutes"
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@" "$file")
    echo "$file: status and KiB $ended, at most $limit"
    if [ "${ended% *}" != "$1" ] || [ "${ended##* }" -gt "$limit" ]; then fail "$file: $ended"; fi
}

# ---- readers of images -------------------------------------------------------------------------------------------------

# counts_of READER FOLDER FILE...: what each takes, a line each, in one run, since valgrind needs a third of a second to start
counts_of() (
    reader=$1
    cd "$work/$2"
    shift 2
    valgrind --tool=callgrind --toggle-collect=fuzz_bytes --dump-after=fuzz_bytes --combine-dumps=yes --callgrind-out-file=parts \
        "$build/tests/fuzz/counted/$reader" "$@" >replayed 2>&1 || cat replayed >&2
    sed -n 's/^totals: \([1-9]\)/\1/p' parts
)
for reader in cubin hostimage list library; do
    small=500
    # With fewer names the search for the nearest one does not give up yet, and takes the square.
    # shellcheck disable=SC2046
    case $reader in
    library) small=1500 && set -- $(cd "$work/$small" && echo *names.host) ;;
    *) set -- $(cd "$work/$small" && echo *."$(echo $reader | sed s/image//)") ;;
    esac
    counts_of "$reader" "$small" "$@" >"$work/one"
    counts_of "$reader" $((4 * small)) "$@" >"$work/four"
    printf '%s\n' "$@" | paste -d ' ' - "$work/one" "$work/four" >"$work/both"
    while read -r name one four; do in_proportion 500 "$reader $name" "$one" "$four"; done <"$work/both"
done

# ---- rex-check, which looks into all images of a file, and says which name was probably meant -------------------------

for count in 200 800 1500 6000; do cc -w -fPIC -c -o "$work/$count/program.o" "$work/$count/program.c"; done
for name in large_members.fatbin members.fatbin many_kernels.fatbin few_kernels.fatbin; do
    grow 500 1500 0 "$check" program.o $name
    for count in 1500 6000; do bounded 2 $count $name "$check" program.o; done
done
grow 500 200 0 "$check" program.o other_names.image
bounded 1 6000 other_names.image "$check" program.o
start=$(instructions "$check" --version)
for files in imports.o one_key.o tables.o 'keys.o image.so' 'keys.o drifted.so' '--source source.c source.cu' \
    '--source endless.c endless.cu'; do
    # Sorting takes a little more than four times. The files are words.
    # shellcheck disable=SC2086
    grow 600 100 "$start" "$check" $files
done
# The square of 100 000 does not come to an end.
for name in one_key.o tables.o; do bounded 1 100000 $name "$check" -q; done

# ---- a registration, which takes one image of a file -------------------------------------------------------------------

for file in "$work"/6000/*.fatbin; do bounded 0 6000 "${file##*/}" "$build/tests/fuzz/counted/image"; done

# ---- files of 10 GB that are a hole but for their beginning: no more of one is read than has to be -----------------------

cd "$work"
echo 'int value;' >value.c
gcc -c -o object.o value.c
gcc -shared -fPIC -o library value.c
cp object.o object
cp "$top/tests/data/sm_90.cubin" cubin
: >zeros
printf '!<arch>\n' >archive
printf '.version 8.0\n.target sm_90\n.address_size 64\n' >ptx
printf '// without an end' >comment
echo 'int main(void);' >source.c
# Of sections as many as fit, of which the first one has the number; and of images.
python3 -c '
import struct
size, elf = 10 << 30, bytearray(open("object.o", "rb").read())
sections = elf + bytes(64)
struct.pack_into("<Q", sections, len(elf) + 32, (size - len(elf)) // 64)
struct.pack_into("<Q", sections, 40, len(elf))
struct.pack_into("<H", sections, 60, 0)
open("sections", "wb").write(sections)
open("images", "wb").write(b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 2, size, 32, (size - 32) // 48))'
files='object library cubin zeros archive ptx comment source.c sections images'
# Files are words.
# shellcheck disable=SC2086
truncate -s 10G $files
# takes LIMIT STATUS TEXT WORD...: rex-check ends so and says TEXT, has never more than 64 MiB, and LIMIT bytes of address space; -1: as it likes
takes() {
    limit=$1 wanted=$2 text=$3
    shift 3
    python3 -c '
import resource, subprocess, sys
limit, status, text, *command = sys.argv[1:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit))))
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if done.returncode != int(status) or text not in done.stdout or used > 65536:
    sys.exit("FAIL: %s: status %d, %d KiB, %s" % (command, done.returncode, used, done.stdout))' "$limit" "$wanted" "$text" "$check" "$@" || failed=1
}
while IFS='|' read -r file status text other said; do
    [ -z "$status" ] || takes -1 "$status" "$text" "$file"
    takes -1 "$other" "$said" object.o "$file"
    takes $((64 << 20)) 2 "$file: its 10737418240 bytes cannot be mapped: " object.o "$file"
done <<'CASES'
zeros|2|it is not an ELF file|2|it is none of these: CUBIN
archive|2|it is an archive|2|it is none of these: CUBIN
ptx|2|it is PTX: give the program first, then its images|0|no findings
cubin|2|it is a CUBIN|1|image for sm_90, 6 kernels
object|0|no findings|2|it is for this processor, but it is not a shared object
library|||0|no findings
sections|2|it has more sections than any program has|2|it has more sections than any program has
comment|||2|it is none of these: CUBIN
images|||2|its OffloadBinary is truncated
CASES
takes -1 2 'it is not a source' --source source.c
for file in zeros ptx archive; do takes $((64 << 20)) 2 'it is ' $file; done
