#!/bin/sh
# Every shell script of the project passes shellcheck. The first line tells which files are scripts.
set -eu
cd "$(dirname "$0")/../.."
scripts=$(find .ci tools tests examples -type f 2>/dev/null | sort | while read -r file; do
    case $(head -n 1 "$file" | tr -d '\0') in '#!'*sh) echo "$file" ;; esac
done)
echo "$scripts" | xargs -P "$(nproc 2>/dev/null || echo 2)" -n 8 shellcheck -x
echo "$scripts" | wc -l | sed 's/$/ scripts/'
