#!/bin/sh
# recorder.sh REAL FOLDER: makes a stand-in for the libomptarget REAL, in FOLDER under the same name, and prints its path.
#
# It exports what REAL exports, so that librex tells the same release from it, and passes every call on with a jump; recorder.c
# counts three of them. FOLDER also gets links to what lies beside REAL: plugins are looked for beside libomptarget, and so is libomp.
set -eu
real=$(readlink -f "$1")
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc}

for file in "$(dirname "$1")"/*.so*; do
    ln -s "$file" "$folder/" 2>/dev/null || true
done
recorder=$folder/$(basename "$real")
rm -f "$recorder"

counted='__tgt_register_lib __tgt_unregister_lib __tgt_target_kernel __tgt_target_teams_mapper'
symbols=$(nm -D --defined-only "$real" | sed -n 's/^[0-9a-f]* [TWi] \([A-Za-z_][A-Za-z0-9_]*\)\(@.*\)\{0,1\}$/\1/p' | sort -u)
{
    for name in $symbols; do
        case " $counted " in *" $name "*) target=recorded_$name ;; *) target=$name ;; esac
        echo "NAME($target, $name)"
    done
} >"$folder/names.h"
# What this release exports of the counted functions: recorder.c defines only those.
defines=
for name in $counted; do
    case "
$symbols
" in *"
$name
"*) defines="$defines -DHAS$name" ;; esac
done
# One word for each definition.
# shellcheck disable=SC2086
$cc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -I"$folder" $defines -DREAL="\"$real\"" \
    -Wl,-soname,"$(basename "$recorder")" -o "$recorder" "$here/recorder.c" -ldl
echo "$recorder"
