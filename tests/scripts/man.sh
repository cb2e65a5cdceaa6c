#!/bin/sh
# mandoc has nothing to say of a man page, not of its style either; every page fits a terminal of 80 columns, but for messages that the
# pages of errors quote whole.
. tests/support/lib.sh
pages=$(find librex tools -name '*.[1-8]' | sort)
[ -n "$pages" ] || skip 'no man pages yet'
# No name of ours has a space.
# shellcheck disable=SC2086
mandoc -Tlint -Wstyle $pages
for page in $pages; do
    case $page in */REX_E*) continue ;; esac
    mandoc -Tascii -O width=78 "$page" | awk -v page="$page" '
        {
            gsub(/.\b/, "") # bold and underlined
            at = 0
            for (i = 1; i <= length($0); i++)
                at = substr($0, i, 1) == "\t" ? at + 8 - at % 8 : at + 1
            if (at > 80) { printf "FAIL: %s has %d columns: %s\n", page, at, $0; wide = 1 }
        }
        END { exit wide }' || failed=1
done
echo "$pages" | wc -l | sed 's/$/ pages/'
