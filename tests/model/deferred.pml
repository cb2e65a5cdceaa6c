/*
 * deferred.pml - a Spin model of deferred launches (REX_LAUNCH_BLOCKING=0) on one device.
 *
 * The model has two arrays, x and y. The values of an array are a set of increments, one bit for
 * each launch. The deferred stream is a process that runs its kernels in order, at any later time.
 * The table is that of present.pml; an entry also has the number of its newest deferred launch.
 *
 * The rules, and where librex has them:
 *   - A launch is deferred if all its rows are present. It waits for room first, and holds nothing
 *     then. It pins its rows. Under the stream's lock it enqueues and takes the next number. In one
 *     section it then writes its number to its entries, if newer, and unpins them.
 *     (plan_until_run(), rex_plan_defer(), rex_present_unpin())
 *   - Any other launch waits first, then looks again, and goes on. So does one that finds no stream
 *     any more, because the program has got one. Who gives that waits for the stream's lock before.
 *     (plan_and_run(), rex_deferred_stop())
 *   - To wait is: read the newest number once, and wait for an event behind that launch. Then the
 *     number of the event is seen. The event may be one behind a later launch.
 *     (rex_await_deferred(), rex_deferred_wait_for())
 *   - These wait for the whole stream, because a value may be a device address: begin, end, update,
 *     copy, giving out an address, and a forwarder that does one of these.
 *   - A last end without users compares its entries' numbers with the seen one. If one is newer, it
 *     waits without the mutex, and looks again. It takes its entries in the section of that look.
 *     (has_awaited_launches()) From its second wait on, other launches on its entries wait, too, in
 *     windows that double. The model has no windows: its end may starve there, and CONF 9 and 14
 *     have no launch on what an end is the last of. (rex_end_hold())
 *   - A launch that an end waits for copies its rows back only if it is not deferred. No program
 *     can tell whether a deferred kernel was at work when the end came. (plan_and_run())
 *   - Giving out an address marks the entry first, then waits. A launch looks for the mark when it
 *     unpins its rows, and waits for itself. (rex_present_show())
 *   - A command of a queue waits on the device for an event. (rex_deferred_precede())
 *   - The end of a module waits, closes the gate when no launch is inside, and looks whether its
 *     kernels are in the stream. If so it opens the gate, and does all again. A launch that waits
 *     is inside: a module waits for it, too. (rex_module_fini())
 *   - A loss that a wait or an enqueue finds is kept. The call that asks next returns it, or exit
 *     logs it. All others say that the device is lost, and every number counts as done there. A
 *     queue and a waited launch return what they meet by themselves. (rex_device_lose(),
 *     rex_device_lost(), return_loss())
 *
 * Which programs the setting breaks: a kernel waits for the host, or for another kernel, and before
 * it is fed ... (CONF 10, -DMENU=...; -DWAITED=1 finds no error)
 *   the feeding thread makes a call that waits, even on other memory: FROM, TO, FORWARD, COPY,
 *     ALWAYS, NEST, ADDRESS; or a launch that is not deferred: OWN
 *   the feeding thread enqueues to a queue and syncs that: QUEUE -DCALLS=2
 *   the feeding thread meets a full stream: LAUNCH -DCALLS=2; CONF 11 LAUNCH
 *   the feeding thread needs a lock of the program that a waiting call's thread holds: LOCKED
 *   a later kernel feeds: KERNEL
 * Right are LAUNCH, UNSEEN and QUEUE, once each.
 *
 * Spin checks:
 *   - what returned before a call came is in each value that the call reads, and is not added after
 *     what the call writes;
 *   - no kernel uses freed memory; no memory is freed, and no module ends, while the stream has a
 *     kernel that uses it;
 *   - each increment is in the host's value in the end; a loss is returned once;
 *   - every call ends: no invalid end state.
 *
 * tests/scripts/deferredmodel.sh runs it. CONF is what runs: of each thread its region, what it
 * does, and how often.
 *   1   (x, y: launch, unseen y, from; 2) (launch, from; 2)
 *   2   (x, y: launch, unseen y, to, always; 2) (launch, own, nested; 1)
 *   3   (x, y: unseen y, copy, forwarder, own; 2) (x: launch, nested; 1)
 *   4   (x: nothing) (launch; 2) (launch; 1)
 *   5   (x: launch, queue; 2) (launch, from; 2)
 *   6   (x: launch; 1) (launch; 1) (the module's end)
 *   7   a loss; (x: launch, from, nested; 2) (x: launch, own, to; 2)
 *   8   a loss; (x: launch, queue; 2) (launch, the module's end; 2)
 *   9   one thread launches on y for ever, another begins and ends x
 *   10  a kernel that is fed; the feeding thread: MENU; a third waits
 *   11  as 10, and the third launches
 *   12  (x, y: launch, the address of y and its unseen use; 2) (launch; 2)
 *   13  (x: launch, a stream and its unseen use; 2) (launch; 2)
 *   14  one thread launches on x for ever, another begins and ends x inside of its region
 *
 * -DHARMLESS=1 is no mistake, in CONF 1, 2, 3, 7 and 12. librex waits all the same: that is one
 * rule less.
 *
 * librex differs: a call enters the table before it asks for a loss; entries that a call takes out
 * without an end leave their newest number with the table (dropped).
 *
 * Not modelled: what present.pml has (wake-ups, windows, unknown references, own rows in steps,
 * attached pointers), several modules, queues, devices and graphs, registration, fork, pinned and
 * managed memory, which kernel failed, how many launches the driver takes, weak memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CONF
#define CONF 1
#endif
#ifndef MISTAKE
#define MISTAKE 0
#endif
#ifndef WAITED
#define WAITED 0 /* 1: all launches are waited for */
#endif
#ifndef HARMLESS
#define HARMLESS 0 /* 1: begins that copy nothing, and ends that are not the last, do not wait */
#endif
#ifndef MENU
#define MENU 1
#endif
#ifndef CALLS
#define CALLS 1
#endif
#define IF(mistake) (MISTAKE == mistake)

/* -DMISTAKE=NAME plants one mistake. deferredmodel.sh says in which CONF Spin finds it. */
#define NO_WAIT_UPDATE 1       /* an update does not wait */
#define NO_WAIT_END 2          /* an end does not wait */
#define NO_NUMBER 3            /* a launch writes no number to its entries */
#define SEEN_ISSUED 4          /* a wait notes the newest number, not that of its event */
#define CHECK_THEN_MARK 5      /* an end takes its entries in a later section */
#define ASK_ONCE 6             /* an end that has waited does not look again */
#define LAST_WRITER 7          /* an older number replaces a newer one */
#define WITH_MUTEX 8           /* a thread waits with the table's mutex */
#define UNORDERED 9            /* a launch that is not deferred does not wait */
#define NO_WAIT_BEGIN 10       /* a begin, with ALWAYS, does not wait */
#define TWICE 11               /* two calls return the loss */
#define NEVER 12               /* a wait for room drops the loss */
#define FINI_FIRST 13          /* the end of a module does not wait, nor look */
#define FINI_ONCE 14           /* it does not look under the gate */
#define QUEUE_FREE 15          /* a command waits for no event */
#define NO_WAIT_COPY 16        /* a copy of device memory does not wait */
#define NO_WAIT_FORWARD 17     /* a forwarder does not wait */
#define BY_RANGE 18            /* an end waits for the numbers of its entries alone */
#define ROOM_WITH_LOCK 19      /* a thread waits for room with the stream's lock */
#define UNTIL_EMPTY 20         /* a thread waits until the stream is empty */
#define LOST_STOPS 21          /* a wait on a lost device does not end */
#define NO_ERROR_AT_ENQUEUE 22 /* a launch that the driver refuses drops the loss */
#define NUMBER_LATE 23         /* a launch unpins its rows before it writes its number */
#define QUEUE_WAITS 24         /* a command waits on the host */
#define EMPTY_LOOK 25          /* an end compares the newest number, not those of its entries */
#define SHOWN_DEFERS 26        /* a launch does not look for the mark of an address */
#define SHOWN_AT_ENTER 27      /* it looks when it pins its rows */
#define SHOW_LAST 28           /* an address is given first, and marked afterwards */
#define STOP_AT_ONCE 29        /* who stops deferring does not ask for the stream's lock */
#define STREAMLESS 30          /* a launch that finds no stream does not wait */
#define ALL_ROWS 31            /* an end looks at entries, too, that it leaves */
#define COPIES_BACK 32         /* a deferred launch that an end waits for copies its rows back */

#define ERRORS (CONF == 7 || CONF == 8)
#define X 1
#define Y 2
#define XY 4 /* both, in a set of sets */
#define HAS(set, row) (((set) >> (row)) & 1)
#define SOME(set, flags) (HAS(set, 0) && flags[0] || HAS(set, 1) && flags[1])
#define ENDLESS (CONF == 9 || CONF == 14)
#define DEPTH (ENDLESS -> 1 : 2)
#define SLOT(n) ((n) & 7)
#define MASK (ENDLESS -> 3 : 255)
#define NEWER(a, b) ((((a) - (b)) & MASK) > 0 && (((a) - (b)) & MASK) <= MASK / 2)
#define DONE(n) (!NEWER(n, ran))

/* ---- the host, libomptarget and the table: an entry is 0 (x) or 1 (y) ------------------------ */

byte host[2];   /* the increments (one bit for each launch) in the host's value */
byte device[2]; /* and in the mapped memory */
byte must[2];   /* the increments that the host's value must have in the end */
bool present[2], changing[2], alive[2];
byte refs[2];
byte users[2];   /* calls at work, and the queue's commands */
byte awaited[2]; /* ends that wait for the users, for COPIES_BACK */
bool shown[2];   /* the program has the device address */
byte number[2];  /* of the newest deferred launch that uses the entry */
bool mutex;      /* held over a wait, by mistake */

/* ---- the deferred stream: kernels ran + 1 to issued are in it -------------------------------- */

byte issued, ran;
byte seen; /* the newest number that a wait has seen done */
byte touches[8], adds[8], fed[8];
bool lock;    /* of the stream, held over several steps */
bool stopped; /* launches are not deferred any more */
bool lost;    /* a kernel has failed */
bool known;   /* librex has found that */
bool untold;  /* and no call has returned it */

/* ---- the queue, the gate, the program -------------------------------------------------------- */

bool pending;
byte after, command_adds, command_snap;
byte inside; /* launches that have passed the gate, also while they wait */
bool closed, ended;
bool runs, flag, held, over;
byte started, finished;

/* ---- for the assertions ---------------------------------------------------------------------- */

byte returned[2]; /* increments of launches that have returned */
byte executed;    /* increments that were made */
byte holds[2];    /* deferred kernels that have the address of the memory and have not run */
byte reports;     /* calls that returned the loss */
byte i;
byte target[3]; /* ENDLESS only */
bool reached[3];

#define EACH(set) d_step { for (i : 0 .. 1) { if :: HAS(set, i) ->
#define NEXT :: else fi } }
#define PRESENT(rows) ((rows) & (present[0] + 2 * present[1]))
#define FREE(rows) (!mutex && !SOME(rows, changing))
#define LAST(i) (present[i] && refs[i] == 1)
#define LASTS(rows) ((rows) & (LAST(0) + 2 * LAST(1)))
#define IDLE(rows) (!SOME(rows, users))

/* ---- a thread's variables: CALL begins a call, CLEAR ends it --------------------------------- */

#define LOCALS \
    byte rows, mine, aim, way, pinned, gone, marked, snap[2]; \
    short kind; \
    bool failed, first, ordered, asked, given, none, begun, commanded, streams
#define CALL \
    d_step { \
        way = 0; pinned = 0; gone = 0; marked = 0; aim = 0; \
        ordered = false; asked = false; given = false; none = false; failed = false; \
        snap[0] = returned[0]; snap[1] = returned[1] \
    }
#define CLEAR d_step { CALL; kind = 0; rows = 0; snap[0] = 0; snap[1] = 0 }

/* ---- losses, and waits ----------------------------------------------------------------------- */

#define FIND_LOSS(is_kept) \
    untold = untold || lost && !known && is_kept; \
    known = known || lost

inline ask() { /* a call that comes next returns the loss */
#if MISTAKE == TWICE
    first = untold;
#endif
#if ERRORS
    atomic {
        failed = failed || known;
        reports = reports + (untold || first);
        untold = false;
        first = false
    }
#else
    skip
#endif
}

inline return_loss() { /* a queue and a waited launch return it by themselves, kept or not */
    failed = true;
    reports = reports + (!known || untold);
    known = true;
    untold = false
}

/* For the launch `aim`, without a lock: by the first event behind it, or a new one. */
inline wait(is_kept) {
    if
    :: IF(WITH_MUTEX) -> atomic { !mutex -> mutex = true }; DONE(aim); mutex = false
    :: IF(UNTIL_EMPTY) -> issued == ran
    :: else ->
        atomic {
            !lock || IF(ROOM_WITH_LOCK) ->
            if :: NEWER(aim, seen) && !known -> aim = issued :: true fi;
            target[me] = (ENDLESS -> aim : 0);
            reached[me] = ENDLESS && DONE(aim)
        }
        /* a count does not come round for a waiting call */
        if :: ENDLESS -> reached[me] :: !ENDLESS -> DONE(aim) fi
    fi;
    atomic {
        !lock || IF(ROOM_WITH_LOCK) ->
        seen = (IF(SEEN_ISSUED) -> issued : (NEWER(aim, seen) -> aim : seen));
        FIND_LOSS(is_kept)
    }
}

inline arrive() {
    aim = issued;
    wait(true)
}

inline room() { /* a full stream: waits until it is half empty */
    if
    :: ((issued - seen) & MASK) < DEPTH || known
    :: else ->
        if :: IF(ROOM_WITH_LOCK) -> atomic { !lock -> lock = true } :: else fi;
        aim = (issued - (ENDLESS -> 0 : 1)) & MASK;
        wait(!IF(NEVER));
        if :: IF(ROOM_WITH_LOCK) -> lock = false :: else fi
    fi
}

/* ---- libomptarget's copies ------------------------------------------------------------------- */

inline read(set) { /* what returned before the call must be there */
    EACH(set)
        assert(alive[i]);
        host[i] = device[i];
        assert(lost || (snap[i] & must[i] & ~host[i]) == 0)
    NEXT
}

inline write(set) { /* what returned before the call must not be added later */
    EACH(set)
        assert(alive[i]);
        assert(lost || (snap[i] & ~executed) == 0);
        device[i] = host[i];
        must[i] = must[i] & host[i]
    NEXT
}

/* ---- launches -------------------------------------------------------------------------------- */

#define DEFER 1
#define NOW 2
#define REFUSED 3
#define ITSELF 4 /* waits for itself */
#define FAILS 5
#define FED 1    /* the kernel waits for the flag */
#define FEEDS 2  /* the kernel sets it */

#define LEAVE(set) \
    EACH(set) returned[i] = (failed -> returned[i] : returned[i] | mine) NEXT; \
    inside--

inline look(own, unseen) { /* one turn of plan_until_run() */
    if :: own || WAITED || none -> skip :: else -> room() fi;
    ask();
    if
    :: failed -> way = FAILS
    :: else ->
        atomic {
            FREE(rows) ->
            pinned = PRESENT(rows);
            way = (pinned == rows && !own && !WAITED && !none -> DEFER : NOW);
            given = SOME(rows, shown);
            if
            :: way == NOW && !ordered -> way = 0; pinned = 0
            :: else ->
                EACH(pinned) users[i]++ NEXT;
                EACH(rows | unseen) must[i] = must[i] | mine NEXT;
                EACH(rows & ~pinned) host[i] = host[i] | mine NEXT /* present.pml has the steps */
            fi
        }
        if :: way == 0 -> arrive(); ordered = true :: else fi
    fi
}

/* The stream's lock is held from the look at `stopped`: two steps only where somebody stops. */
inline enqueue(unseen, is_fed) {
    if :: CONF == 13 -> atomic { !lock -> lock = true; none = stopped } :: else fi;
    atomic {
        !lock || CONF == 13 ->
        if
        :: none -> way = 0
        :: !none && lost -> FIND_LOSS(!IF(NO_ERROR_AT_ENQUEUE)); way = FAILS
        :: else ->
            touches[SLOT(issued)] = rows | unseen;
            adds[SLOT(issued)] = mine;
            fed[SLOT(issued)] = is_fed;
            issued = (issued + 1) & MASK;
            EACH(rows | unseen) holds[i]++ NEXT
        fi;
        aim = issued;
        lock = false
    }
}

inline launch(own, unseen, is_fed) {
    atomic { !closed || ended -> way = (ended -> REFUSED : 0); inside = inside + !ended }
    ordered = IF(UNORDERED);
    do
    :: way == 0 ->
        look(own, unseen);
        if :: way == DEFER -> enqueue(unseen, is_fed) :: else fi;
        if
        :: none && way == 0 && pinned -> /* there is no stream any more */
            atomic { !mutex -> EACH(pinned) users[i]-- NEXT; pinned = 0 }
            if :: IF(STREAMLESS) -> skip :: else -> arrive() fi;
            ordered = true
        :: else
        fi
    :: else -> break
    od;
    if
    :: way == FAILS -> ask()
    :: way == DEFER && SOME(pinned, awaited) ->
        wait(true); arrive(); ask();
        if :: failed -> skip :: else -> read(pinned) fi
    :: else
    fi;
    if
    :: way == DEFER ->
        if :: IF(NUMBER_LATE) -> atomic { !mutex -> EACH(pinned) users[i]-- NEXT } :: else fi;
        atomic {
            !mutex ->
            EACH(pinned)
                number[i] = (!IF(NO_NUMBER) && (NEWER(aim, number[i]) || IF(LAST_WRITER)) -> aim
                             : number[i]);
                users[i] = users[i] - !IF(NUMBER_LATE)
            NEXT;
            given = (IF(SHOWN_AT_ENTER) -> given : SOME(rows, shown)) && !IF(SHOWN_DEFERS);
            way = (given && !failed -> ITSELF : way);
            if :: way == DEFER -> LEAVE(rows | unseen) :: else fi
        }
        if
        :: way == ITSELF -> wait(true); ask(); atomic { !mutex -> LEAVE(rows | unseen) }
        :: else
        fi
    :: way == NOW ->
        if
        :: is_fed == FED -> runs = true; flag
        :: is_fed == FEEDS -> flag = true
        :: else
        fi;
        atomic {
            if
            :: lost -> return_loss()
            :: else ->
                EACH(pinned | unseen)
                    assert(alive[i]);
                    assert((snap[i] & must[i] & ~device[i]) == 0);
                    device[i] = device[i] | mine
                NEXT;
                executed = executed | mine
            fi
        }
        atomic { !mutex -> EACH(pinned) users[i]-- NEXT; LEAVE(rows | unseen) }
    :: way == FAILS -> atomic { !mutex -> EACH(pinned) users[i]-- NEXT; LEAVE(0) }
    :: else
    fi;
    CLEAR
}

/* ---- data calls ------------------------------------------------------------------------------ */

inline begin(always) {
    if :: IF(NO_WAIT_BEGIN) || HARMLESS && !always -> skip :: else -> arrive() fi;
    ask();
    if
    :: failed -> skip
    :: else ->
        atomic {
            FREE(rows) ->
            pinned = PRESENT(rows);
            EACH(rows)
                if
                :: HAS(pinned, i) -> users[i]++
                :: else -> present[i] = true; changing[i] = true; refs[i] = 1
                fi
            NEXT
        }
        EACH(rows & ~pinned) alive[i] = true; device[i] = host[i] NEXT;
        if :: always -> write(pinned) :: else fi;
        atomic {
            !mutex ->
            EACH(rows)
                if :: HAS(pinned, i) -> users[i]--; refs[i]++ :: else -> changing[i] = false fi
            NEXT
        }
    fi
}

inline end() {
    if
    :: IF(NO_WAIT_END) || IF(BY_RANGE) || HARMLESS -> skip
    :: else -> arrive(); ordered = true
    fi;
    ask();
    do
    :: !failed && way == 0 ->
        if
        :: atomic { IF(COPIES_BACK) && FREE(rows) && !IDLE(LASTS(rows)) && marked == 0 ->
                marked = LASTS(rows);
                EACH(marked) awaited[i]++ NEXT
            }
        :: atomic { FREE(rows) && IDLE(LASTS(rows)) ->
                EACH(marked) awaited[i]-- NEXT;
                marked = 0; pinned = PRESENT(rows); gone = LASTS(rows); way = 1; aim = seen;
                EACH((IF(ALL_ROWS) -> pinned : gone))
                    aim = (number[i] && NEWER(number[i], aim) -> number[i] : aim)
                NEXT;
                aim = (IF(EMPTY_LOOK) -> issued : aim);
                if
                :: HARMLESS && gone && !ordered -> way = 0; aim = issued; ordered = true
                :: !(HARMLESS && gone && !ordered) && aim != seen && !known && !asked &&
                    !IF(NO_WAIT_END) -> way = 0
                :: else ->
                    EACH(pinned)
                        if
                        :: HAS(gone, i) -> changing[i] = !IF(CHECK_THEN_MARK)
                        :: else -> refs[i]--
                        fi
                    NEXT
                fi
            }
            if :: way == 0 -> wait(true); ask(); asked = IF(ASK_ONCE) :: else fi
        fi
    :: else -> break
    od;
    if
    :: way && gone ->
        EACH(gone) changing[i] = true NEXT;
        read(gone);
        EACH(gone) assert(holds[i] == 0); alive[i] = false; device[i] = 0 NEXT;
        atomic {
            !mutex ->
            EACH(gone)
                present[i] = false; changing[i] = false; refs[i] = 0; number[i] = 0;
                shown[i] = false
            NEXT
        }
    :: else
    fi
}

inline update(to, mistake) {
    if :: IF(mistake) -> skip :: else -> arrive() fi;
    ask();
    if
    :: failed -> skip
    :: else ->
        atomic { FREE(rows) -> pinned = PRESENT(rows); EACH(pinned) users[i]++ NEXT }
        if :: to -> write(pinned) :: else -> read(pinned) fi;
        atomic { !mutex -> EACH(pinned) users[i]-- NEXT }
    fi;
    way = 0
}

inline peek(row) { /* without a look at the table */
    d_step { assert(alive[row]); assert(lost || (snap[row] & must[row] & ~device[row]) == 0) }
}

inline copy() { /* of y, by its device address */
    if :: IF(NO_WAIT_COPY) -> skip :: else -> arrive() fi;
    ask();
    if :: failed -> skip :: else -> peek(1) fi
}

inline address() { /* of y */
    if :: IF(SHOW_LAST) -> arrive() :: else fi;
    atomic { !mutex -> shown[1] = true }
    if :: IF(SHOW_LAST) -> skip :: else -> arrive() fi
}

inline stop() { /* the program gets a stream: its copies are not seen from then on */
    stopped = true;
    if :: IF(STOP_AT_ONCE) -> skip :: else -> !lock fi; /* whoever has not seen it has enqueued */
    arrive();
    streams = true
}

/* ---- the queue: commands on x ---------------------------------------------------------------- */

inline command() {
    if :: IF(QUEUE_WAITS) -> arrive() :: else fi;
    atomic {
        FREE(X) ->
        way = present[0];
        users[0] = users[0] + way;
        must[0] = must[0] | (way -> mine : 0)
    }
    if
    :: way ->
        atomic {
            !lock ->
            after = (IF(QUEUE_FREE) -> ran : issued);
            command_snap = snap[0]; command_adds = mine; pending = true; commanded = true
        }
    :: else
    fi
}

inline sync() {
    if
    :: commanded ->
        !pending;
        atomic {
            !mutex ->
            users[0]--;
            if :: lost -> return_loss() :: else -> returned[0] = returned[0] | command_adds fi;
            commanded = false
        }
    :: else
    fi
}

proctype queue() {
    do
    :: pending && DONE(after) ->
        d_step {
            if
            :: !lost ->
                assert(alive[0]);
                assert((command_snap & must[0] & ~device[0]) == 0);
                device[0] = device[0] | command_adds;
                executed = executed | command_adds
            :: else
            fi;
            pending = false
        }
    :: over -> break
    od
}

/* ---- the end of the module ------------------------------------------------------------------- */

inline fini() {
    do
    :: way == 0 ->
        if :: IF(FINI_FIRST) -> skip :: else -> arrive() fi;
        ask();
        if
        :: failed -> way = FAILS
        :: else ->
            atomic { !mutex && inside == 0 -> closed = true } /* the gate */
            atomic {
                way = seen == issued || known || IF(FINI_ONCE) || IF(FINI_FIRST);
                ended = way;
                closed = way
            }
        fi
    :: else -> break
    od;
    assert(lost || ran == issued) /* no kernel of the module is in the stream */
}

/* ---- threads --------------------------------------------------------------------------------- */

proctype stream() {
    do
    :: ran != issued && !(IF(LOST_STOPS) && lost) ->
        if :: fed[SLOT(ran)] == FED && !lost -> runs = true; flag :: else fi;
        atomic {
            if :: ERRORS && !lost -> lost = true :: true fi;
            EACH(touches[SLOT(ran)])
                holds[i]--;
                if
                :: !lost -> assert(alive[i]); device[i] = device[i] | adds[SLOT(ran)]
                :: else
                fi
            NEXT;
            executed = executed | (lost -> 0 : adds[SLOT(ran)]);
            flag = flag || fed[SLOT(ran)] == FEEDS;
            touches[SLOT(ran)] = 0; adds[SLOT(ran)] = 0; fed[SLOT(ran)] = 0;
            ran = (ran + 1) & MASK;
            for (i : 0 .. 2) { reached[i] = reached[i] || ENDLESS && ran == target[i] }
        }
    :: over && ran == issued -> break
    od
}

/* What a thread may do: a set. */
#define LAUNCH 1     /* on x, y or both */
#define UNSEEN 2     /* on x, with a value that is the device address of y */
#define OWN 4        /* a launch that cannot be deferred */
#define FROM 8       /* updates */
#define TO 16
#define FORWARD 32   /* an update by the program's own call of libomptarget */
#define ALWAYS 64    /* a begin that copies, and its end */
#define COPY 128
#define QUEUE 256
#define FINI 512
#define NEST 1024    /* a begin, and its end */
#define LOCKED 2048  /* takes a lock of the program's own */
#define KERNEL 4096  /* a launch whose kernel sets the flag */
#define ADDRESS 8192 /* asks for the address of y, and uses it from then on, unseen */
#define STREAM 16384 /* asks for a stream, and copies x with it from then on, unseen */

proctype caller(byte me, region, sets; short menu; byte calls; bool feeds) {
    LOCALS;
    if :: feeds -> runs :: else fi;
    if :: region -> rows = region; CALL; begin(false); begun = !failed; CLEAR :: else fi;
    do
    :: calls > 0 ->
        atomic {
            calls--;
            mine = 1 << (2 * me + calls);
            if
            :: sets & X -> rows = X
            :: sets & Y -> rows = Y
            :: sets & XY -> rows = X | Y
            fi;
            if
            :: menu & LAUNCH -> kind = LAUNCH
            :: menu & UNSEEN && (begun || feeds) -> kind = UNSEEN; rows = X
            :: menu & OWN -> kind = OWN
            :: menu & FROM -> kind = FROM
            :: menu & TO -> kind = TO
            :: menu & FORWARD -> kind = FORWARD
            :: menu & ALWAYS -> kind = ALWAYS
            :: menu & NEST -> kind = NEST
            :: menu & COPY && (begun || feeds) -> kind = COPY
            :: menu & QUEUE -> kind = QUEUE
            :: menu & FINI -> kind = FINI
            :: menu & ADDRESS -> kind = ADDRESS
            :: menu & LOCKED -> kind = LOCKED
            :: menu & KERNEL -> kind = KERNEL
            :: menu & STREAM -> kind = STREAM
            fi;
            CALL
        }
        if
        :: kind == LAUNCH || kind == UNSEEN || kind == OWN || kind == KERNEL ->
            launch((kind == OWN), (kind == UNSEEN -> Y : 0), (kind == KERNEL -> FEEDS : 0))
        :: kind == FROM || kind == TO || kind == FORWARD ->
            update((kind == TO), (kind == FORWARD -> NO_WAIT_FORWARD : NO_WAIT_UPDATE))
        :: kind == ALWAYS || kind == NEST ->
            begin((kind == ALWAYS));
            if :: failed -> skip :: else -> CALL; end() fi
        :: kind == COPY -> copy()
        :: kind == QUEUE -> sync(); command()
        :: kind == FINI -> fini()
        :: kind == ADDRESS -> if :: shown[1] -> peek(1) :: else -> address() fi
        :: kind == STREAM -> if :: streams -> peek(0) :: else -> stop() fi
        :: kind == LOCKED -> atomic { !held -> held = true } held = false
        fi;
        CLEAR
    :: calls == 0 -> break
    od;
    if :: feeds -> flag = flag || menu != KERNEL :: else fi;
    sync();
    if :: begun -> rows = region; CALL; end(); CLEAR :: else fi;
    d_step { CLEAR; mine = 0; begun = false; streams = false }
    finished++
}

proctype starter() { /* launches a kernel that waits for the flag */
    LOCALS;
    byte me = 0;
    rows = X | Y; CALL; begin(false); CLEAR;
    rows = X; CALL; mine = 64; launch(false, 0, FED);
    if :: MENU == LOCKED -> atomic { !held -> held = true } :: else fi;
    rows = X; CALL; update(false, NO_WAIT_UPDATE); CLEAR;
    held = false;
    rows = X | Y; CALL; end(); CLEAR;
    mine = 0;
    finished++
}

proctype endless(byte me, set) { /* launches for ever */
    LOCALS;
    rows = set; CALL; begin(false); CLEAR;
    runs = true;
    do
    :: rows = set; mine = 1; CALL; launch(false, 0, 0)
    od
}

#if ENDLESS
ltl ends { <> (finished == 1) }
#endif

#define CALLER(me, region, sets, menu, calls) \
    started++; \
    run caller(me, region, sets, menu, calls, false)
#define FEEDER(me, region, sets, menu, calls) \
    started++; \
    run caller(me, region, sets, menu, calls, true)

init {
    atomic {
        run stream();
        if
        :: CONF == 1 ->
            CALLER(0, X | Y, X, LAUNCH | UNSEEN | FROM, 2);
            CALLER(1, 0, XY, LAUNCH | FROM, 2)
        :: CONF == 2 ->
            CALLER(0, X | Y, X, LAUNCH | UNSEEN | TO | ALWAYS, 2);
            CALLER(1, 0, X | XY, LAUNCH | OWN | NEST, 1)
        :: CONF == 3 ->
            CALLER(0, X | Y, Y, UNSEEN | COPY | FORWARD | OWN, 2);
            CALLER(1, X, X, LAUNCH | NEST, 1)
        :: CONF == 4 ->
            CALLER(0, X, X, LAUNCH, 0);
            CALLER(1, 0, X, LAUNCH, 2);
            CALLER(2, 0, X, LAUNCH, 1)
        :: CONF == 5 ->
            run queue();
            CALLER(0, X, X, LAUNCH | QUEUE, 2);
            CALLER(1, 0, X, LAUNCH | FROM, 2)
        :: CONF == 6 ->
            CALLER(0, X, X, LAUNCH, 1);
            CALLER(1, 0, X, LAUNCH, 1);
            CALLER(2, 0, X, FINI, 1)
        :: CONF == 7 ->
            CALLER(0, X, X, LAUNCH | FROM | NEST, 2);
            CALLER(1, X, X, LAUNCH | OWN | TO, 2)
        :: CONF == 8 ->
            run queue();
            CALLER(0, X, X, LAUNCH | QUEUE, 2);
            CALLER(1, 0, X, LAUNCH | FINI, 2)
        :: CONF == 9 -> run endless(2, Y); CALLER(1, X, X, 0, 0)
        :: CONF == 10 || CONF == 11 ->
            run queue();
            started++;
            run starter();
            FEEDER(1, 0, Y, MENU, CALLS);
            CALLER(2, 0, X, (CONF == 10 -> FROM | OWN | NEST : LAUNCH), (CONF == 10 -> 1 : 2))
        :: CONF == 12 ->
            CALLER(0, X | Y, Y, LAUNCH | ADDRESS, 2);
            CALLER(1, 0, Y | XY, LAUNCH, 2)
        :: CONF == 13 ->
            CALLER(0, X, X, LAUNCH | STREAM, 2);
            CALLER(1, 0, X, LAUNCH, 2)
        :: CONF == 14 -> run endless(2, X); FEEDER(1, X, X, 0, 0)
        fi
    }
    /* The exit of the program waits, and logs a loss that no call has returned. */
    (finished == started && ran == issued && !pending);
    reports = reports + (untold || lost && !known);
    over = true;
    assert(reports == lost);
    for (i : 0 .. 1) {
        assert(lost || !present[i] && !alive[i] && refs[i] == 0 && (must[i] & ~host[i]) == 0);
        assert(!changing[i] && users[i] == 0 && holds[i] == 0 && awaited[i] == 0)
    }
    assert(inside == 0 && !mutex && !lock)
}
