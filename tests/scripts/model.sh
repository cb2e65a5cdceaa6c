#!/bin/sh
# Each model holds in all its states, and each mistake that is planted in it is found: `make check`
# tries some of these, `make check-all` all. registration.pml has the atomic steps of the code.
. tests/support/lib.sh
. tests/support/models.sh
python3 tests/model/steps
command -v spin >/dev/null || skip 'no spin'
needs_clang

# What each line has: tests/support/models.sh.
cat >"$work/list" <<'LIST'
TWO_THREADS registration errors:.0 cycles -DTHREADS=2 -DCALLS=2
THREE_THREADS registration errors:.0 states -DTHREADS=3 -DCALLS=1 -DANY_START
NO_CAS registration assertion cycles -DTHREADS=2 -DCALLS=2
NO_RELEASE registration non-progress cycles -DTHREADS=2 -DCALLS=2
CONF=2 present errors:.0 states
CONF=6 present errors:.0 endless
CONF=13 present errors:.0 endless
CONF=14 present errors:.0 endless
CONF=17 present errors:.0 endless
CONF=18 present errors:.0 endless
CONF=19 present errors:.0 endless
CONF=20 present errors:.0 endless
CONF=21 present errors:.0 endless
MISTAKE=NO_USER present assertion states -DCONF=3
MISTAKE=NO_SECOND_LOOK present assertion states -DCONF=2
MISTAKE=NO_WINDOW present invalid states -DCONF=19
MISTAKE=MARK_STAYS present invalid states -DCONF=19
MISTAKE=WAITS_INSIDE present invalid states -DCONF=20
MISTAKE=NOT_COPIED present assertion states -DCONF=21
LIST
[ -z "${TEST_ALL-}" ] || cat >>"$work/list" <<'LIST'
NO_RELEASE_BY_FINI registration non-progress cycles -DTHREADS=2 -DCALLS=2
NO_RETRY registration assertion cycles -DTHREADS=2 -DCALLS=2
NO_LOOP registration assertion cycles -DTHREADS=2 -DCALLS=2
NO_OWN_ATTEMPT registration non-progress cycles -DTHREADS=2 -DCALLS=2
NO_RESTORE registration non-progress cycles -DTHREADS=2 -DCALLS=2
LATE_RULES registration assertion cycles -DTHREADS=2 -DCALLS=2
LATE_FAILURE registration assertion cycles -DTHREADS=2 -DCALLS=2
NO_RENEWAL registration non-progress cycles -DTHREADS=2 -DCALLS=2
CONF=1 present errors:.0 states
CONF=3 present errors:.0 states
CONF=4 present errors:.0 states
CONF=5 present errors:.0 endless
CONF=7 present errors:.0 states
CONF=8 present errors:.0 endless
CONF=9 present errors:.0 endless
CONF=10 present errors:.0 states
CONF=11 present errors:.0 endless
CONF=12 present errors:.0 endless
CONF=15 present errors:.0 endless
CONF=16 present errors:.0 states
MISTAKE=SUBTRACT_AT_LEAVE present assertion states -DCONF=3
MISTAKE=ADD_AT_ENTER present assertion states -DCONF=3
MISTAKE=PUBLISH_EARLY present assertion states -DCONF=2
MISTAKE=BUSY_KEEPS_ENDING present invalid states -DCONF=5
MISTAKE=JOIN present assertion states -DCONF=1
MISTAKE=SUBTRACT_FIRST present assertion states -DCONF=3
MISTAKE=COUNT_AGAIN present invalid states -DCONF=6
MISTAKE=LISTED_NO_USER present assertion states -DCONF=2
MISTAKE=WAIT_WITH_LOCK present invalid states -DCONF=5
MISTAKE=ASK_ONCE present invalid states -DCONF=5
MISTAKE=DELETE_SHARED present assertion states -DCONF=9
MISTAKE=FAILED_BEGIN_ASKS present assertion states -DCONF=10
MISTAKE=FAILED_BEGIN_ADDS present assertion states -DCONF=11
MISTAKE=FAILED_END_ASKS present assertion states -DCONF=10
MISTAKE=FAILED_KEEPS present assertion states -DCONF=11
MISTAKE=FAILED_FORGETS present assertion states -DCONF=10
MISTAKE=LOOSE_CLEARED present assertion states -DCONF=12
MISTAKE=LOOSE_DRIVER present assertion states -DCONF=11
MISTAKE=NOWAIT_BEGIN present assertion states -DCONF=13
MISTAKE=NOWAIT_END present assertion states -DCONF=13
MISTAKE=LOOSE_PRESENT present assertion states -DCONF=13
MISTAKE=NOT_ASKED present assertion states -DCONF=14
MISTAKE=KEPT_UNKNOWN present assertion states -DCONF=14
MISTAKE=ZERO_ONE present assertion states -DCONF=15
MISTAKE=ZERO_UNLISTED present assertion states -DCONF=15
MISTAKE=ZERO_FORGETS present assertion states -DCONF=15
MISTAKE=EXACT present assertion states -DCONF=15
MISTAKE=LOST_UNSEEN present non-progress endless -DCONF=16
MISTAKE=LOST_MARKED present assertion states -DCONF=17
MISTAKE=LOST_QUIET present errors:.0 states -DCONF=17
MISTAKE=MAPPER_UNSEEN present assertion states -DCONF=2
MISTAKE=ATTACH_DRIVER present assertion states -DCONF=18
MISTAKE=ATTACH_LATE present assertion states -DCONF=18
MISTAKE=ATTACH_AT_ONCE present assertion states -DCONF=18
LIST

check_models
