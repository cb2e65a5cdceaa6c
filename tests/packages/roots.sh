#!/bin/sh
# The packages in clean roots of Debian 12 and 13: installed, used by debian/tests, removed without a trace; piuparts on top. Then the
# release archive: a user builds it with gcc and make alone, runs the unit tests, and root installs it. Wants root and Debian's mirror.
# ROOTS=DIR keeps the roots' archives there; LLVM's own host device is what programs run on.
. tests/support/lib.sh
[ "$(id -u)" = 0 ] || skip 'not root, which makes clean roots'
mirror=${MIRROR:-http://deb.debian.org/debian}
roots=${ROOTS:-build/packages/roots}
mkdir -p "$roots"
roots=$(cd "$roots" && pwd)
deb=$top/build/packages/deb
[ -n "$(find "$deb" -name 'librex0_*.deb' 2>/dev/null)" ] || tools/packages/deb "$VERSION" "$deb"

root=
leave() {
    [ -z "$root" ] || { umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"; }
    root=
}
inside() { chroot "$root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { inside apt-get -q -y -o APT::Sandbox::User=root "$@"; }
# Everything but what any package leaves, its logs, and the lists and caches of apt and dpkg, and the shared memory of programs.
listing() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./src -o -path ./var/log -o -path ./var/lib/apt -o \
        -path ./var/lib/dpkg -o -path ./var/cache \) -prune -o -print | sort)
}

# try SUITE
try() {
    suite=$1
    base=$roots/$suite.tar.gz
    if [ ! -s "$base" ]; then
        debootstrap --variant=minbase "$suite" "$roots/$suite" "$mirror" || { fail "debootstrap $suite"; return; }
        tar -C "$roots/$suite" --one-file-system -czf "$base" . && rm -rf --one-file-system "${roots:?}/$suite"
    fi
    root=$(mktemp -d "${TMPDIR:-/tmp}/librex-root.XXXXXX")
    chmod 755 "$root"
    tar -C "$root" -xzf "$base"
    mount -t proc proc "$root/proc" || { fail 'no /proc'; return; }
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
    mkdir "$root/src"
    cp "$deb"/*.deb README.md "$root/src/"
    rm -f "$root"/src/*-dbgsym_*
    cp -R tools/debian "$root/src/debian"
    echo "== Debian $(cat "$root/etc/debian_version")"
    apt update
    # What they need comes first, so that only they are gone afterwards.
    apt install --no-install-recommends gcc libc6-dev binutils pkg-config libomp5-19
    listing >"$root/tmp/before"
    # The shell of the root expands it.
    # shellcheck disable=SC2016
    inside sh -c 'apt-get -q -y --no-install-recommends -o APT::Sandbox::User=root install /src/*.deb' || { fail "$suite: not installed"; return; }
    for test in first-program rex-cc rex-check; do
        # The same.
        # shellcheck disable=SC2016
        if inside sh -c 'cd /src && sh debian/tests/$1' sh "$test"; then echo "$suite: $test passes"; else fail "$suite: $test"; fi
    done
    apt purge librex0.2 librex-dev rex-tools rex-doc || fail "$suite: not removed"
    listing >"$root/tmp/after"
    if diff "$root/tmp/before" "$root/tmp/after"; then echo "$suite: nothing is left"; else fail "$suite: files are left, or gone"; fi

    tar -C "$root/src" -xf "$work/librex-$VERSION.tar.xz"
    apt install --no-install-recommends make
    inside useradd user
    chmod 1777 "$root/dev/shm" # of debootstrap; libomp needs it
    inside chown -R user "/src/librex-$VERSION"
    inside runuser -u user -- make -s -j2 -C "/src/librex-$VERSION" || fail "$suite: the archive is not built"
    inside "/src/librex-$VERSION/tools/deps" check || fail "$suite: no packages for the tests"
    inside runuser -u user -- make -s -j2 -C "/src/librex-$VERSION" check K=unit/ || fail "$suite: the unit tests of the archive"
    inside make -s -C "/src/librex-$VERSION" install
    inside ldconfig
    if inside runuser -u user -- sh -c 'cd /src && sh debian/tests/first-program'; then
        echo "$suite: the archive is built, checked, installed and used"
    else
        fail "$suite: first-program with the archive installed"
    fi
    leave

    # apt leaves an empty folder of debconf's since Debian 13.
    if piuparts --basetgz="$base" -d "$suite" --mirror="$mirror main" --no-eatmydata --warn-on-others \
        --ignore-regex="/var/cache/debconf/tmp.ci/?" --bindmount="$repository" --extra-repo="deb [trusted=yes] file:$repository ./" "$repository"/*.deb >"$roots/piuparts-$suite.log" 2>&1; then
        echo "$suite: piuparts passes"
    else
        fail "$suite: piuparts, $roots/piuparts-$suite.log"
    fi
}
# piuparts looks for what the packages need of each other in a repository.
repository=$work
trap 'status=$?; leave; at_end "$status"' EXIT
tools/packages/dist "$VERSION" "$work"
chmod 755 "$repository"
cp "$deb"/*.deb "$repository/"
rm -f "$repository"/*-dbgsym_*
(cd "$repository" && dpkg-scanpackages --multiversion . >Packages)

for suite in ${SUITES:-bookworm trixie}; do try "$suite"; done
