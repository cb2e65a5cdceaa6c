#!/bin/sh
# The model of deferred launches holds, and each mistake that is planted in it is found: `make check`
# tries some of these, `make check-all` all.
. tests/support/lib.sh
. tests/support/models.sh
command -v spin >/dev/null || skip 'no spin'
needs_clang

# What each line has: tests/support/models.sh.
cat >"$work/list" <<'LIST'
CONF=3 deferred errors:.0 states
CONF=6 deferred errors:.0 states
CONF=10 deferred errors:.0 states
CONF=13 deferred errors:.0 states
MISTAKE=NO_NUMBER deferred assertion states -DCONF=4
MISTAKE=ASK_ONCE deferred assertion states -DCONF=4
MISTAKE=TWICE deferred assertion states -DCONF=7
MISTAKE=FINI_ONCE deferred assertion states -DCONF=6
MISTAKE=SHOWN_AT_ENTER deferred assertion states -DCONF=12
MISTAKE=STOP_AT_ONCE deferred assertion states -DCONF=13
MISTAKE=COPIES_BACK deferred invalid states -DCONF=10 -DMENU=UNSEEN
LIST
[ -z "${TEST_ALL-}" ] || cat >>"$work/list" <<'LIST'
CONF=1 deferred errors:.0 states
CONF=2 deferred errors:.0 states
CONF=4 deferred errors:.0 states
CONF=5 deferred errors:.0 states
CONF=7 deferred errors:.0 states
CONF=8 deferred errors:.0 states
CONF=9 deferred errors:.0 claim
CONF=11 deferred errors:.0 states -DMENU=QUEUE
CONF=12 deferred errors:.0 states
CONF=14 deferred errors:.0 claim
LAUNCH_FEEDS deferred errors:.0 states -DCONF=10 -DMENU=UNSEEN
QUEUE_FEEDS deferred errors:.0 states -DCONF=10 -DMENU=QUEUE
MISTAKE=NO_WAIT_UPDATE deferred assertion states -DCONF=1
MISTAKE=NO_WAIT_END deferred assertion states -DCONF=4
MISTAKE=SEEN_ISSUED deferred assertion states -DCONF=4
MISTAKE=CHECK_THEN_MARK deferred assertion states -DCONF=4
MISTAKE=LAST_WRITER deferred assertion states -DCONF=4
MISTAKE=NUMBER_LATE deferred assertion states -DCONF=4
MISTAKE=WITH_MUTEX deferred invalid states -DCONF=10
MISTAKE=UNORDERED deferred assertion states -DCONF=2
MISTAKE=NO_WAIT_BEGIN deferred assertion states -DCONF=2
MISTAKE=NO_WAIT_COPY deferred assertion states -DCONF=3
MISTAKE=NO_WAIT_FORWARD deferred assertion states -DCONF=3
MISTAKE=BY_RANGE deferred assertion states -DCONF=3
MISTAKE=NEVER deferred assertion states -DCONF=8
MISTAKE=LOST_STOPS deferred invalid states -DCONF=7
MISTAKE=NO_ERROR_AT_ENQUEUE deferred assertion states -DCONF=7
MISTAKE=FINI_FIRST deferred assertion states -DCONF=6
MISTAKE=QUEUE_FREE deferred assertion states -DCONF=5
MISTAKE=QUEUE_WAITS deferred invalid states -DCONF=10 -DMENU=QUEUE
MISTAKE=ROOM_WITH_LOCK deferred invalid states -DCONF=11 -DMENU=QUEUE
MISTAKE=UNTIL_EMPTY deferred acceptance claim -DCONF=9
MISTAKE=EMPTY_LOOK deferred acceptance claim -DCONF=9
MISTAKE=ALL_ROWS deferred acceptance claim -DCONF=14
MISTAKE=SHOWN_DEFERS deferred assertion states -DCONF=12
MISTAKE=SHOW_LAST deferred assertion states -DCONF=12
MISTAKE=STREAMLESS deferred assertion states -DCONF=13
LIST
check_models
