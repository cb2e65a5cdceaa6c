#!/bin/sh
# Where an image is looked for, in which order, and when a host image, which is code, is not trusted: tests/golden/imagefile/log.txt and,
# where this is root, owners.txt.
. tests/support/lib.sh
# A file with a hole is larger than tests/mutants/run lets files be.
ulimit -f unlimited

# librex looks beside the executable, and beside a shared object.
chmod 755 "$work"
mkdir -m 755 "$work/path1" "$work/path2" "$work/module" "$work/bin" "$work/cwd"
program "$work/bin/look" tests/tools/imagefile/look.c
chmod 755 "$work/bin/look"
cp "$build/tests/fake/module.so" "$work/module/module.so"
export FAKE_CUDA_DEVICES=0 LD_LIBRARY_PATH="$build/tests/fake/cuda" REX_OMPTARGET="$build/tests/fake/19/libomptarget.so.19" REX_LOG=off
unset REX_CUBIN REX_CUBIN_PATH
cd "$work/cwd"

# put FILE...: a host image
put() { for file in "$@"; do install -m 644 "$build/tests/fake/host.so" "$work/$file"; done; }
# look WORD=VALUE... NAME...
look() {
    run timeout 60 "$work/bin/look" "$@"
    ends 0 "$*"
    sed -E "s|$work|FOLDER|g; s/n{200,}/nnn.../g; s|/{200,}|///...|g" "$work/out" >>"$work/log"
}
begin() { printf '\n# %s\n' "$1" >>"$work/log"; }
: >"$work/log"

# An empty element is no folder.
export REX_CUBIN_PATH=":$work/path1::$work/path2"
for module in '' "module=$work/module/module.so"; do
    begin "the order, of ${module:+a shared object, and not of }the program"
    put path1/an.image path2/an.image module/an.image bin/an.image cwd/an.image
    for place in path1 path2 module bin cwd; do
        [ -n "$module" ] || [ $place != module ] || continue
        look ${module:+"$module"} an.image
        rm "$work/$place/an.image"
    done
    look ${module:+"$module"} an.image
done
begin 'with a slash'
put path1/an.image path2/an.image cwd/an.image
look ./an.image ./another.image "$work/path2/an.image"
unset REX_CUBIN_PATH

begin 'REX_CUBIN is for the main program alone, and only where no name is given'
rm "$work"/*/an.image
put special.image module/an.image bin/an.image
REX_CUBIN=$work/special.image look - bin/an.image another.image module="$work/module/module.so" -
REX_CUBIN=$work/none.image look -
look -

begin 'a host image instead; one that was asked for is not replaced'
put bin/host.image
look image=none.image host_image=host.image - other.image
look image=none.image -
look image=rex_lib_nvidia.cubin - rex_lib_nvidia.cubin image= -

begin 'files that cannot be read'
mkdir folder
mkfifo fifo
ln -s nowhere dangling
put cwd/secret bin/secret
chmod 0 secret
: >empty
printf 'some text' >text
head -c -64 "$build/tests/fake/host.so" >cut_off
{ head -c 18 "$build/tests/fake/host.so"; printf '\363\0'; tail -c +21 "$build/tests/fake/host.so"; } >other_machine
user=
[ "$(id -u)" != 0 ] || user=seteuid=65534
# A file that is there and bad ends the search: what comes later in the list is not what was meant.
REX_CUBIN_PATH=$work/cwd:$work/bin look $user ./folder ./fifo ./secret ./empty ./text ./other_machine ./cut_off ./dangling ./text/below /dev/zero \
    secret

begin 'names and paths that are too long for any file, and a folder in which the name has no room'
look "$(letters 255 n)" "$(letters 256 n)" "$(letters 4096 n)" "$(letters 9999 n)" "/$(letters 4094 n)" "/$(letters 4095 n)"
REX_CUBIN_PATH=$(letters 4090 /) look none.image an.image

begin 'who can write it: to name it with a slash is to mean it'
# The sticky bit of a folder does not help: the file may be new.
rm "$work"/*/an.image
put cwd/an.image
for modes in 755/644 1777/644 757/644 755/666 755/646 775/664; do
    echo "folder/file: $modes" >>"$work/log"
    chmod "${modes%/*}" .
    chmod "${modes#*/}" an.image
    look - "$work/cwd/an.image"
done
chmod 755 .

begin "kernels' modes, which LLVM 16 obeys, are hidden; no other global gets another name"
LC_ALL=C sed 's/unbounded_exec_mode/otherwise_exec_mode/g' "$top/tests/data/limits_sm_90.cubin" >limits.cubin
FAKE_CUDA_DEVICES=1 REX_LOG=info REX_OMPTARGET="$build/tests/fake/16/libomptarget.so.16" look entry=bounded ./limits.cubin
says 'device image ./limits.cubin: bounded_exec_mode renamed for LLVM 16, in a private copy'
says_no otherwise_exec_mode

begin 'a file of a gigabyte, and a byte'
cp "$top/tests/data/sm_90.cubin" .
truncate -s $(((1 << 30) + 1)) sm_90.cubin
look library=./sm_90.cubin
cd "$top"
golden imagefile/log.txt "$work/log"

# ---- whose it is: root's files are trusted, and those of the user and of the program's owner; the same of folders

[ "$(id -u)" = 0 ] || { echo 'left out: only root can give a file away'; exit "$failed"; }
: >"$work/log"
cd "$work/cwd"
# owned FOLDER FILE PROGRAM [WORD=VALUE]: the users of each, and what the program does before it looks
owned() {
    echo "folder of $1, file of $2, program of $3${4+, $4}" >>"$work/log"
    chown "$1" .
    chown "$2" an.image
    chown "$3" "$work/bin/look"
    REX_CUBIN_PATH=${4+.} look ${4+"$4"} -
}
chmod 644 an.image
owned 0 65534 0
owned 65534 0 0
owned 65534 65534 65534
owned 0 0 65535 seteuid=65534
owned 0 0 65535 setuid=65534
owned 0 65534 65535 setuid=65534
owned 0 65535 0 setuid=65534
# Where nothing tells which program it is, its folder is none.
look "chroot=$work" none.image
cd "$top"
golden imagefile/owners.txt "$work/log"
