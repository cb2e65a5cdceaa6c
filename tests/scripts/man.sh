#!/bin/sh
# Every man page is free of mandoc's warnings, and every installed tool has one.
set -eu
cd "$(dirname "$0")/../.."
pages=$(find librex tools -name '*.[1-8]' | sort)
[ -n "$pages" ] || { echo 'skip: no man pages yet'; exit 77; }
# No name of ours has a space.
# shellcheck disable=SC2086
mandoc -Tlint -Wwarning $pages
echo "$pages" | wc -l | sed 's/$/ pages/'
