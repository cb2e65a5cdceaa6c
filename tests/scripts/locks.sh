#!/bin/sh
# Each lock of librex's own is in order in a child of fork: what librex/base/fork.h says of it is done in its file, and none is left out.
set -eu
cd "$(dirname "$0")/../.."
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# Those that nobody takes without a driver, which a child does not have.
unreachable='context stream queueimage'

# listed MACRO: the names under it in fork.h
listed() { sed -n "/^#define $1(X)/,/[^\\\\]\$/s/^ *X(\\([a-z]*\\)).*/\\1/p" librex/base/fork.h; }

count=0
for file in librex/*/*.c; do
    grep -qE 'static pthread_(mutex|rwlock|spinlock)' "$file" || continue
    count=$((count + 1))
    name=$(basename "$file" .c)
    function=$(sed -n 's/^void rex_\([a-z]*\)_fork(enum rex_fork when)$/\1/p' "$file")
    case " $unreachable " in
    *" $name "*) grep -qw "$name\.c" librex/base/fork.h || fail "$file: fork.h does not say why it is left out" ;;
    *)
        if grep -q 'rex_fork_take(&lock, when)' "$file"; then
            kind=TAKEN
        else
            kind=RENEWED
            grep -q 'rex_fork_renew(&lock)' "$file" || fail "$file: nothing is done with its lock around a fork"
        fi
        listed "REX_FORK_$kind" | grep -qx "${function:-none}" || fail "$file: it is not in fork.h's REX_FORK_$kind"
        ;;
    esac
    [ "$(grep -cE 'pthread_mutex_t .*PTHREAD_MUTEX_INITIALIZER' "$file")" -eq 1 ] || fail "$file: more than one lock"
done
[ "$count" -gt 10 ] || fail "the sources were not understood"
[ "$failed" -eq 0 ] && echo "$count locks"
exit "$failed"
