/*
 * present.pml - a Spin model of the present table of one device: the ranges of the host's memory
 * that are mapped, the calls that use them, and the calls that change them.
 *
 * The table is in librex/present. There `changing` is the entry's owner, `ends` is `awaited`, and
 * temps and listed are the calls at work. librex differs: it does not count a queue's commands in
 * the table, but asks each queue before an end enters; a call with a mapper takes all memory, and
 * no update goes by the driver after it, because the mapper may have attached a pointer in any
 * entry.
 *
 * The model has one device and two arrays, x and y. The values of an array are a set of increments,
 * one bit for each launch. libomptarget is a reference count, device memory and copies for each
 * entry. Its launches drop their references when the kernel is issued; the last end that is over
 * deletes the memory (LLVM 15 and later).
 *
 * The rules:
 *   - A call takes all its ranges in one critical section, or it waits and holds none. Each such
 *     section is one atomic step. No call of libomptarget is inside of one.
 *   - Shared calls count in `users` until they are over: launches, updates, begins of present rows,
 *     and ends that are not the last. Commands of a queue count in `commands`.
 *   - Exclusive calls mark their ranges CHANGING: begins of absent rows and ends that are the last,
 *     or that delete (DELETE): these make the reference count 0.
 *   - An end that would be the last waits for the users, and counts in `ends` meanwhile. Its entry
 *     is ENDING: new launches, commands and updates wait. A begin does not wait, and lifts ENDING.
 *     Then the end waits for the users of that time alone (OLDER).
 *   - ENDING lapses: windows are a lapse of each waiting end at any time. It is against starvation.
 *   - A call that waits is out of the gate, for which a registration waits.
 *   - A nowait call makes its ranges LOOSE, because its copies may come later; so does a call of
 *     libomptarget that fails, because the reference counts are not known then, and may be 0.
 *     Only libomptarget launches and copies in a LOOSE range. A begin makes the range an entry
 *     again if it finds it absent, and if no call used it when the begin entered.
 *   - A forwarded call does not pass the table, which counts librex's references alone. If there
 *     are such calls, a launch asks libomptarget about its absent rows, and an end makes a range
 *     LOOSE that is present afterwards though its references are UNKNOWN.
 *   - A row of length 0 lists its absent neighbours, makes the references of its present ones
 *     UNKNOWN, and makes an absent one LOOSE that libomptarget has after the call.
 *   - A mapper is run first, outside of the section, so that all its rows are taken.
 *   - A begin that attaches a pointer to an entry says so when it enters, and waits for updates by
 *     the driver. Later updates of the entry go to libomptarget.
 *   - When the device is lost, each wait for it ends. A call that looks at the table then returns
 *     an error and takes back its mark. A call that has entered leaves as ever.
 *   - Absent rows of a launch are temporary ranges (by the driver), or are listed (libomptarget).
 *
 * Spin checks:
 *   - the driver never uses freed memory, and no memory is deleted while the driver uses it;
 *   - each increment is in the host's value in the end, if its row has FROM or was present (except
 *     for two launches by libomptarget beside each other on absent rows, which lose increments
 *     without librex, too);
 *   - a known reference count equals libomptarget's when an entry goes; at rest the table has no
 *     more than LOOSE ranges, and libomptarget has nothing unless a call has failed;
 *   - every call ends: no invalid end state, and no cycle.
 *
 * tests/scripts/model.sh runs it. CONF is what runs (rows 0: any of x, y, both; TO or TOFROM):
 *   1   two launches by the driver, one by libomptarget
 *   2   one launch by the driver, one by libomptarget, a region (x, y)
 *   3   two launches by the driver, a region (x, y), a region (x) of another thread
 *   4   one launch by the driver, one by libomptarget, both regions
 *   5   a queue of two commands, a launch by the driver, two regions, REX_EBUSY
 *   6   a kernel waits for the host; the outer end waits before the nested begin
 *   7   as 4, with one entry over x and y
 *   8   as 6, but the outer end comes after the nested end
 *   9   a launch by the driver, both regions, of which the outer one ends with DELETE
 *   10  as 2, and one call fails
 *   11  as 9 without DELETE, and one call fails
 *   12  a launch by libomptarget, two regions (x), and two calls fail
 *   13  a nowait region (x) with a launch inside, another launch, another region (x)
 *   14  as 13, but the region with the launch inside is of forwarded calls
 *   15  a launch by the driver, a region (x, y), enter and exit data with a row of length 0 between
 *   16  as 5 with one command, and the device is lost
 *   17  as 6, and the device is lost
 *   18  a launch by the driver, both regions, of which the outer one attaches a pointer in x
 *   19  a kernel waits for the host, which launches, or updates, while an end waits for the kernel
 *   20  a queue's command waits for a registration, and an end for the command
 *   21  a region `to`, which ends while a launch `from` is at work
 *
 * Not modelled: mappers whose rows change, ALWAYS, updates to the device, LLVM 14's deletion, the
 * look-up of LLVM 14 and 15 that takes a reference, several queues, updates in a queue, commands in
 * LOOSE ranges, staging copies, how long windows are, weak memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CONF
#define CONF 1
#endif
#ifndef MISTAKE
#define MISTAKE 0
#endif
#define IF(mistake) (MISTAKE == mistake)

/* -DMISTAKE=NAME plants one mistake. model.sh says in which CONF Spin finds it. */
#define SUBTRACT_AT_LEAVE 2  /* an end that is not the last subtracts when it leaves */
#define ADD_AT_ENTER 3       /* a begin adds before its call of libomptarget */
#define NO_USER 4            /* an end that is not the last is no user */
#define NO_SECOND_LOOK 5     /* a call that has waited does not look again */
#define PUBLISH_EARLY 7      /* a begin's range is not CHANGING while the begin copies */
#define BUSY_KEEPS_ENDING 8  /* an end that returns REX_EBUSY leaves its mark */
#define JOIN 10              /* a driver launch uses what libomptarget has mapped for a launch */
#define SUBTRACT_FIRST 11    /* an end subtracts before it waits */
#define COUNT_AGAIN 12       /* an end goes on at once when a begin has made it one of several */
#define LISTED_NO_USER 14    /* launches that list a row do not count for an entry over it */
#define WAIT_WITH_LOCK 15    /* an enqueue waits with the queue's lock */
#define ASK_ONCE 16          /* an end asks the queue once, then sleeps */
#define DELETE_SHARED 17     /* an end with DELETE that is not the last waits for no users */
#define FAILED_BEGIN_ASKS 18 /* a begin that failed believes what libomptarget has then */
#define FAILED_BEGIN_ADDS 19 /* a begin that failed counts as one that succeeded */
#define FAILED_END_ASKS 20   /* an end that failed believes what libomptarget has then */
#define FAILED_KEEPS 21      /* a driver launch that failed keeps its ranges */
#define FAILED_FORGETS 22    /* a launch by libomptarget that failed forgets its absent rows */
#define LOOSE_CLEARED 23     /* a begin clears LOOSE while another call uses the range */
#define LOOSE_DRIVER 24      /* the driver launches in LOOSE ranges */
#define NOWAIT_BEGIN 25      /* a nowait begin does not make its ranges LOOSE */
#define NOWAIT_END 26        /* a nowait end makes its ranges no longer LOOSE */
#define LOOSE_PRESENT 27     /* a begin clears LOOSE though it finds the range present */
#define NOT_ASKED 28         /* a launch does not ask about its absent rows */
#define KEPT_UNKNOWN 29      /* a present range that only forwarded calls may hold is not LOOSE */
#define ZERO_ONE 30          /* a row of length 0 makes the references of one neighbour UNKNOWN */
#define ZERO_UNLISTED 31     /* a row of length 0 does not list its absent neighbours */
#define ZERO_FORGETS 32      /* an absent neighbour does not become LOOSE */
#define EXACT 33             /* a begin over a listed row has refs 1: a mistake in CONF 15 alone */
#define LOST_UNSEEN 34       /* a call does not look whether the device is lost */
#define LOST_MARKED 35       /* an end that finds the device lost keeps its mark */
#define LOST_QUIET 36        /* no mistake: the loss wakes no thread */
#define MAPPER_UNSEEN 37     /* a region does not take the row y, which a mapper adds */
#define ATTACH_DRIVER 38     /* the driver updates entries with an attached pointer */
#define ATTACH_LATE 39       /* a begin that attaches says so when it leaves */
#define ATTACH_AT_ONCE 40    /* a begin that attaches does not wait for updates by the driver */
#define NO_WINDOW 41         /* ENDING does not lapse */
#define MARK_STAYS 42        /* an end whose window is over keeps its mark */
#define WAITS_INSIDE 43      /* an end waits inside the gate */
#define NOT_COPIED 44        /* a launch that an end waits for does not copy back */

#define X 1
#define Y 2
#define XY 4 /* one row, and one entry, over both */
#define HAS(set, row) (((set) >> (row)) & 1)
#define UNKNOWN 15

/* ---- the host, and libomptarget: an entry is 0 (x), 1 (y) or 2 (xy) -------------------------- */

byte host[2];    /* the increments (one bit for each launch) in the host's x and y */
byte device[2];  /* the increments in the mapped device memory */
byte must[2];    /* the increments that the host's values must have in the end */
byte count[3];   /* libomptarget's reference count */
bool alive[3];   /* the entry has device memory */
bool copying[3]; /* the first begin still copies */
byte enders[3];  /* libomptarget's ends that are not over */
byte failures;   /* how many calls may still fail */
byte spoiled;    /* x, y (bits): libomptarget has lost values, or has kept references, by itself */
byte holds[3];   /* for the assertions: calls and commands that have the device address */

/* ---- the table ------------------------------------------------------------------------------- */

bool present[3], changing[3], loose[3];
byte refs[3];
byte users[3];      /* shared calls, without queue commands */
byte commands[3];   /* queue commands */
byte ends[3];       /* ends that wait */
byte held[3];       /* those whose mark has not lapsed */
byte using[3];      /* the threads (bits) that count in `users` */
byte older[3];      /* those for which an end waits that is not the last any more */
byte working[2];    /* the increments of launches at work that have x, y pinned */
byte inside;        /* the gate: ends at work */
byte temps[2];      /* temporary ranges over x, y */
byte from_temps[2]; /* those with FROM */
byte listed[2];     /* launches (bits) by libomptarget that list x, y as absent */
bool attached;      /* x has an attached pointer */
byte updates;       /* updates of x by the driver */
bool lost;          /* the device is lost */
byte asleep;        /* threads (bits) that wait on the device's condition */

/* ---- the program, and its queue -------------------------------------------------------------- */

bool opened, told, flag, runs, queue_lock, closed;
byte issued, ran, reaped;
byte i, e; /* a row, and its entry: see EACH */

#define ENTRY(row) ((present[2] || (row) == 2) -> 2 : (row))
#define MAPPED(row) ((alive[2] || (row) == 2) -> 2 : (row))
#define LISTED(row) ((row) == 2 -> (listed[0] | listed[1]) : listed[(row) & 1])
#define TEMPS(row) ((row) == 2 -> temps[0] + temps[1] : temps[(row) & 1])
#define USERS(e) (users[e] + commands[e] + (!IF(LISTED_NO_USER) && LISTED(e) != 0))
#define REMOVES(e) (LAST(e) || deletes && !IF(DELETE_SHARED)) /* this end takes the entry out */
#define LAST(e) (refs[e] == UNKNOWN || refs[e] == (IF(SUBTRACT_FIRST) -> 0 : 1))
#define ENDING(e) (held[e] > 0 && LAST(e))
#define ADD(e, value) refs[e] = (refs[e] == UNKNOWN -> UNKNOWN : refs[e] + (value))

/* EACH(set) ... NEXT: for each row i of the set, whose entry is e. */
#define EACH(set) d_step { for (i : 0 .. 2) { if :: HAS(set, i) -> e = ENTRY(i);
#define EACH_MAPPED(set) d_step { for (i : 0 .. 2) { if :: HAS(set, i) -> e = MAPPED(i);
#define NEXT :: else fi }; e = 0 }

#define POINTER 128 /* in device[0]: the address in device memory that is attached in x */
#define TAKEN (IF(MAPPER_UNSEEN) -> set & X : set)
#define LOST 5 /* a value of `way` in each call */
#define LOSS (lost && !IF(LOST_UNSEEN))

#define WHEN(condition) if :: condition ->
#define END_WHEN :: else fi

#define USE(e) users[e]++; using[e] = using[e] | (1 << me)
#define UNUSE(e) users[e]--; using[e] = using[e] & ~(1 << me); older[e] = older[e] & ~(1 << me)

#define SLEEP asleep = asleep | (1 << me); !(asleep & (1 << me))
inline wake() {
    asleep = 0
}

/* ---- libomptarget ---------------------------------------------------------------------------- */

inline may_fail() {
    if :: failures > 0 && !failed -> failures--; failed = true :: true fi
}

inline copy_in() {
    device[0] = (e != 1 -> host[0] : device[0]);
    device[1] = (e != 0 -> host[1] : device[1]);
    copying[e] = false
}

inline map(row) { /* the begin of one row */
    WHEN(HAS(set, row) && !failed)
        atomic {
            !copying[MAPPED(row)] ->
            may_fail();
            WHEN(!failed)
                e = MAPPED(row);
                fresh = !alive[e];
                count[e] = (fresh -> 1 : count[e] + 1);
                alive[e] = true;
                copying[e] = fresh;
                e = 0;
                may_fail()
            END_WHEN
        }
        WHEN(fresh)
            if :: IF(PUBLISH_EARLY) -> atomic { changing[ENTRY(row)] = false; wake() } :: else fi;
            d_step {
                if :: nowait -> late = late | (1 << row) :: else -> e = row; copy_in(); e = 0 fi;
                fresh = false
            }
        END_WHEN
    END_WHEN
}

/* An end is drop(), copy_back(), delete(). A launch runs its kernel after drop(). */
inline drop(rows) {
    atomic {
        may_fail();
        WHEN(!failed)
            EACH_MAPPED(rows)
                assert(alive[e] && count[e] > 0 || loose[e]);
                WHEN(alive[e] && count[e] > 0)
                    dropped = dropped | (1 << i);
                    enders[e]++;
                    count[e] = (deletes -> 0 : count[e] - 1);
                    last = last | (count[e] == 0 -> 1 << i : 0)
                END_WHEN
            NEXT;
            may_fail();
            WHEN(failed)
                /* An entry without references stays, for ever, or until its next end (LLVM 14). */
                if :: EACH_MAPPED(dropped) enders[e]-- NEXT :: true fi;
                last = 0; dropped = 0
            END_WHEN
        END_WHEN
    }
}

inline fetch() {
    host[0] = (e != 1 -> device[0] & ~POINTER : host[0]);
    host[1] = (e != 0 -> device[1] : host[1])
}

inline copy_back() {
    WHEN(last != 0 && from && !deletes)
        EACH_MAPPED(last)
            assert(alive[e]);
            fetch()
        NEXT
    END_WHEN
}

inline delete() {
    EACH_MAPPED(dropped)
        enders[e]--;
        WHEN(enders[e] == 0 && count[e] == 0)
            assert(holds[e] == 0); /* the driver neither works nor copies there */
            alive[e] = false;
            device[0] = (e != 1 -> 0 : device[0]);
            device[1] = (e != 0 -> 0 : device[1])
        END_WHEN
    NEXT;
    last = 0; dropped = 0
}

inline loosen(rows) {
    EACH(rows)
        present[e] = true;
        loose[e] = true;
        refs[e] = UNKNOWN
    NEXT
}

/* ---- launches -------------------------------------------------------------------------------- */

#define GO 0    /* by the driver */
#define OTHER 1 /* by libomptarget */
#define STOP 2
#define INSIDE ((CONF == 13 || CONF == 14) && mine == 1)

inline look(rows) { /* sets `way`, and in `pinned` the rows that are present */
    way = (raw -> OTHER : GO);
    pinned = 0;
    EACH(rows)
        if
        :: present[e] ->
            pinned = pinned | (1 << i);
            way = (way == GO && loose[e] && !IF(LOOSE_DRIVER) -> OTHER : way);
            way = (changing[e] || ENDING(e) -> STOP : way)
        :: IF(JOIN) && !present[e] && listed[i] && alive[i] && !raw -> pinned = pinned | (1 << i)
        :: else -> way = (way == GO && (listed[i] || HAS(found, i)) -> OTHER : way)
        fi
    NEXT;
    EACH(rows & ~pinned)
        way = (temps[i] > 0 && (way == OTHER || from || from_temps[i] > 0) -> STOP : way)
    NEXT;
    way = (LOSS -> LOST : way)
}

inline enter(rows) {
    atomic {
        do
        :: look(rows);
            if
            :: way == STOP ->
                SLEEP;
                if :: IF(NO_SECOND_LOOK) -> way = (raw -> OTHER : GO); break :: else fi
            :: else -> break
            fi
        od;
        EACH((way == LOST -> 0 : rows))
            if
            :: HAS(pinned, i) ->
                USE(e);
                working[i] = working[i] | mine;
                must[i] = must[i] | (loose[e] && !INSIDE -> 0 : mine);
                holds[e] = holds[e] + (way == GO)
            :: !HAS(pinned, i) && way == GO ->
                temps[i]++;
                from_temps[i] = from_temps[i] + from;
                must[i] = must[i] | (from -> mine : 0)
            :: !HAS(pinned, i) && way == OTHER ->
                /* Two launches by libomptarget lose increments without librex, too. */
                must[i] = (listed[i] -> must[i] & ~(listed[i] | mine)
                           : must[i] | (from -> mine : 0));
                listed[i] = listed[i] | mine
            fi;
            /* With TO, a launch by libomptarget loses the values of a forwarded end before it. */
            spoiled = spoiled | (CONF == 14 && way == OTHER && !INSIDE -> 1 << i : 0)
        NEXT
    }
}

inline kernel() {
    EACH_MAPPED(set)
        if
        :: way == GO && !HAS(pinned, i) -> copy[i] = copy[i] | mine
        :: else ->
            assert(alive[e]);
            device[i] = device[i] | mine
        fi
    NEXT
}

inline launch() {
    WHEN(CONF == 14 && !IF(NOT_ASKED))
        EACH_MAPPED(set) found = found | (alive[e] << i) NEXT
    END_WHEN;
    enter(set);
    if
    :: way == GO ->
        EACH(set & ~pinned) copy[i] = host[i] NEXT;
        if :: until_flag -> runs = true; flag || lost :: else fi;
        atomic { kernel(); may_fail() }
    :: way == LOST
    :: else ->
        map(0); map(1); drop(set);
        WHEN(!failed)
            kernel(); copy_back(); delete()
        END_WHEN
    fi;
    atomic {
        EACH((way == LOST || IF(FAILED_KEEPS) && failed && way == GO -> 0 : set))
            if
            :: HAS(pinned, i) ->
                UNUSE(e);
                working[i] = working[i] & ~mine;
                host[i] = (ends[e] > 0 && way == GO && from && !failed && !IF(NOT_COPIED)
                           -> device[i] & ~POINTER : host[i]);
                holds[e] = holds[e] - (way == GO)
            :: !HAS(pinned, i) && way == GO ->
                host[i] = (from && !failed -> copy[i] : host[i]);
                copy[i] = 0;
                temps[i]--;
                from_temps[i] = from_temps[i] - from
            :: else -> listed[i] = listed[i] & ~mine
            fi;
            must[i] = (failed -> must[i] & ~mine : must[i])
        NEXT;
        WHEN(failed && way == OTHER)
            spoiled = spoiled | set;
            if :: IF(FAILED_FORGETS) -> loosen(pinned) :: else -> loosen(set) fi
        END_WHEN;
        pinned = 0; way = 0;
        wake()
    }
}

/* ---- regions --------------------------------------------------------------------------------- */

inline begin() {
    atomic {
        do
        :: way = 0; pinned = 0;
            EACH(TAKEN)
                pinned = pinned | (present[e] && !loose[e] -> 1 << i : 0);
                way = (present[e] && changing[e] -> STOP : way);
                way = (!present[e] && TEMPS(i) > 0 -> STOP : way)
            NEXT;
            way = (attaches && updates && !IF(ATTACH_AT_ONCE) -> STOP : way);
            way = (LOSS -> LOST : way);
            if
            :: way == STOP ->
                SLEEP;
                if :: IF(NO_SECOND_LOOK) -> break :: else fi
            :: else -> break
            fi
        od;
        failed = failed || way == LOST;
        attached = attached || attaches && !IF(ATTACH_LATE);
        EACH((way == LOST -> 0 : TAKEN))
            if
            :: HAS(pinned, i) ->
                USE(e);
                ADD(e, IF(ADD_AT_ENTER));
                refs[e] = (vague && !(IF(ZERO_ONE) && i == 1) -> UNKNOWN : refs[e])
            :: vague && !HAS(pinned, i) -> listed[i] = listed[i] | (IF(ZERO_UNLISTED) -> 0 : 128)
            :: else ->
                clean = clean | (loose[i] && (!USERS(i) || IF(LOOSE_CLEARED)) -> 1 << i : 0);
                present[i] = true;
                changing[i] = true;
                refs[i] = (loose[i] || LISTED(i) && !IF(EXACT) -> UNKNOWN : 1)
            fi;
            WHEN(nowait && !IF(NOWAIT_BEGIN))
                loose[e] = true; refs[e] = UNKNOWN; clean = 0
            END_WHEN
        NEXT
    }
    WHEN(clean && !IF(LOOSE_PRESENT))
        EACH_MAPPED(clean) clean = (alive[e] -> clean & ~(1 << i) : clean) NEXT
    END_WHEN;
    if
    :: way == LOST
    :: vague && way != LOST ->
        atomic {
            if :: alive[0] -> pick = X :: alive[1] -> pick = Y :: true fi;
            EACH_MAPPED(pick) count[e]++ NEXT;
            spoiled = spoiled | (pick & ~pinned)
        }
    :: else -> map(0); map(1); map(2)
    fi;
    if :: attaches -> device[0] = device[0] | POINTER :: else fi;
    if :: late -> run later(late, 0); late = 0 :: else fi;
    if :: vague -> EACH_MAPPED(set) found = found | (alive[e] << i) NEXT :: else fi;
    atomic {
        attached = attached || attaches;
        EACH((way == LOST -> 0 : TAKEN))
            if
            :: HAS(pinned, i) ->
                UNUSE(e);
                ADD(e, !IF(ADD_AT_ENTER) && !vague)
            :: vague && !HAS(pinned, i) ->
                listed[i] = listed[i] & 127;
                WHEN(HAS(found, i) && !present[e] && !IF(ZERO_FORGETS))
                    present[e] = true; loose[e] = true; refs[e] = UNKNOWN
                END_WHEN
            :: else ->
                changing[e] = false;
                loose[e] = loose[e] && !HAS(clean, i);
                refs[e] = (HAS(clean, i) -> 1 : refs[e])
            fi
        NEXT;
        WHEN(failed && way != LOST)
            spoiled = spoiled | set;
            if
            :: IF(FAILED_BEGIN_ADDS)
            :: IF(FAILED_BEGIN_ASKS) ->
                EACH(set) present[e] = alive[e]; refs[e] = UNKNOWN NEXT
            :: else -> loosen(set)
            fi
        END_WHEN;
        clean = 0; pinned = 0; way = 0;
        wake()
    }
}

/* The end asks the queue, and waits for its stream, with neither the mutex nor the queue's lock. */
inline reap() {
    atomic {
        !queue_lock ->
        e = ENTRY(0);
        commands[e] = commands[e] - (ran - reaped);
        holds[e] = holds[e] - (ran - reaped);
        reaped = ran;
        e = 0;
        wake()
    }
}

inline drain() {
    atomic { !queue_lock -> aim = issued }
    ran >= aim || lost;
    reap()
}

#define CHANGES 1 /* another call changes a range */
#define USED 2    /* the entry has users */
#define QUEUED 3  /* the entry has queue commands */
#define OVER 4
#define AGING 6   /* an end that is not the last any more waits for its older users */

inline unmark() {
    EACH(marked) ends[e]--; held[e] = held[e] - holding NEXT;
    marked = 0
}

inline sleep_or_lapse() {
    asleep = asleep | (1 << me);
    inside = inside - !IF(WAITS_INSIDE);
    if
    :: !(asleep & (1 << me))
    :: way == USED && !lapsed && !IF(NO_WINDOW) ->
        lapsed = true;
        asleep = asleep & ~(1 << me);
        WHEN(!IF(MARK_STAYS))
            EACH(marked) held[e] = held[e] - holding NEXT;
            holding = false;
            wake()
        END_WHEN
    fi;
    inside = inside + !IF(WAITS_INSIDE)
}

inline end(may_be_busy) {
    busy = false;
    inside++;
    do
    :: way != OVER ->
        atomic {
            way = 0; gone = 0; pinned = 0; waited = 0;
            EACH(TAKEN)
                WHEN(present[e])
                    WHEN(IF(SUBTRACT_FIRST))
                        ADD(e, (HAS(taken, i) -> 0 : -1));
                        taken = taken | (1 << i)
                    END_WHEN;
                    refs[e] = (vague && !(IF(ZERO_ONE) && i == 1) -> UNKNOWN : refs[e]);
                    pinned = pinned | (1 << i);
                    gone = gone | (REMOVES(e) -> 1 << i : 0);
                    way = (changing[e] -> CHANGES : way);
                    waited = waited | (USERS(e) && REMOVES(e) -> 1 << i : 0);
                    must[i % 2] = (from || seen -> must[i % 2]
                                   : must[i % 2] & (host[i % 2] | working[i % 2]));
                    WHEN(HAS(was, i) && !REMOVES(e) && !IF(COUNT_AGAIN))
                        older[e] = (HAS(awaits, i) || older[e] -> older[e] : using[e]);
                        aging = aging | (older[e] > 0)
                    END_WHEN;
                    awaits = (REMOVES(e) -> awaits & ~(1 << i) : awaits | (was & (1 << i)))
                END_WHEN
            NEXT;
            seen = true;
            WHEN(marked & ~waited) wake() END_WHEN;
            unmark();
            WHEN(way == 0 && waited)
                way = USED;
                holding = !lapsed || IF(MARK_STAYS);
                EACH(waited)
                    ends[e]++;
                    held[e] = held[e] + holding;
                    way = (commands[e] && !(IF(ASK_ONCE) && asked) -> QUEUED : way)
                NEXT;
                marked = waited;
                was = was | waited
            END_WHEN;
            way = (way == 0 && aging -> AGING : way);
            aging = false;
            way = (LOSS -> LOST : way);
            if
            :: way == CHANGES || way == USED || way == AGING ->
                sleep_or_lapse();
                way = (IF(NO_SECOND_LOOK) -> 0 : way)
            :: way == QUEUED
            :: way == LOST || way == QUEUED && may_be_busy && issued > ran -> /* REX_EBUSY */
                if
                :: IF(BUSY_KEEPS_ENDING) || IF(LOST_MARKED) && way == LOST -> marked = 0
                :: else -> unmark()
                fi;
                EACH(taken) ADD(e, 1) NEXT;
                taken = 0;
                wake();
                busy = true;
                way = OVER
            :: else
            fi;
            WHEN(way == 0)
                unmark();
                EACH(pinned)
                    if
                    :: HAS(gone, i) ->
                        changing[e] = true;
                        must[i % 2] = must[i % 2] & (deletes -> host[i % 2] | ~device[i % 2] : 255)
                    :: else ->
                        if :: IF(NO_USER) :: else -> USE(e) fi;
                        ADD(e, (IF(SUBTRACT_FIRST) || IF(SUBTRACT_AT_LEAVE) -> 0 : -1))
                    fi
                NEXT;
                if :: nowait -> loosen(pinned) :: else fi;
                way = OVER
            END_WHEN
        }
        if
        :: way == QUEUED ->
            inside = inside - !IF(WAITS_INSIDE);
            drain();
            inside = inside + !IF(WAITS_INSIDE);
            asked = true
        :: else
        fi
    :: way == OVER -> break
    od;
    inside--;
    WHEN(!busy)
        if
        :: nowait -> run later(0, pinned)
        :: else ->
            if :: vague -> drop(pick) :: else -> drop(pinned) fi;
            if :: !failed -> copy_back(); delete() :: else fi
        fi;
        atomic {
            EACH(pinned)
                if
                :: HAS(gone, i) ->
                    assert(refs[e] == UNKNOWN || !alive[e] || failed || nowait ||
                           CONF == 14);
                    /* librex asks libomptarget if refs is UNKNOWN */
                    loose[e] = loose[e] && !(nowait && IF(NOWAIT_END));
                    present[e] = loose[e] || alive[e] && refs[e] == UNKNOWN;
                    loose[e] = present[e] && (loose[e] || CONF == 14 && !IF(KEPT_UNKNOWN));
                    attached = attached && present[0];
                    refs[e] = (present[e] -> UNKNOWN : 0);
                    changing[e] = false
                :: else ->
                    if :: IF(NO_USER) :: else -> UNUSE(e) fi;
                    ADD(e, (IF(SUBTRACT_AT_LEAVE) -> -1 : 0))
                fi
            NEXT;
            WHEN(failed)
                spoiled = spoiled | set;
                if
                :: IF(FAILED_END_ASKS) -> EACH(pinned) refs[e] = UNKNOWN NEXT
                :: else -> loosen(pinned)
                fi
            END_WHEN;
            wake()
        }
    END_WHEN;
    d_step {
        way = 0; gone = 0; pinned = 0; waited = 0; taken = 0; asked = false;
        was = 0; awaits = 0; lapsed = false; holding = false; seen = false
    }
}

inline update() { /* from the device */
    atomic {
        do
        :: way = 0; pinned = 0;
            EACH(set)
                pinned = pinned | (present[e] -> 1 << i : 0);
                way = (present[e] && (changing[e] || ENDING(e)) -> STOP : way)
            NEXT;
            way = (LOSS -> LOST : way);
            pinned = (way == LOST -> 0 : pinned);
            if :: way == STOP -> SLEEP :: else -> break fi
        od;
        EACH(pinned)
            loosely = loosely | (loose[e] || i == 0 && attached && !IF(ATTACH_DRIVER)
                                 -> 1 << i : 0); /* by libomptarget */
            updates = updates + (i == 0 && !HAS(loosely, i));
            USE(e);
            holds[e] = holds[e] + !HAS(loosely, i)
        NEXT
    }
    EACH_MAPPED(pinned)
        assert(alive[e] || HAS(loosely, i));
        assert(HAS(loosely, i) || i != 0 || !(device[0] & POINTER));
        if :: alive[e] -> fetch() :: else fi
    NEXT;
    atomic {
        EACH(pinned)
            updates = updates - (i == 0 && !HAS(loosely, i));
            UNUSE(e);
            holds[e] = holds[e] - !HAS(loosely, i)
        NEXT;
        loosely = 0; pinned = 0;
        wake()
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

proctype launcher(byte me, mine; bool raw; byte set; bool from, until_flag) {
    byte way, pinned, last, dropped, late, found, copy[2];
    bool fresh, deletes, failed, nowait;
    WHEN(set == 0)
        atomic {
            if :: set = X :: set = Y :: set = X | Y fi;
            if :: from = true :: from = false fi
        }
    END_WHEN;
    if :: until_flag || INSIDE -> opened :: else fi;
    launch();
    if :: INSIDE -> runs = true :: else fi
}

#define LOCALS \
    byte way, pinned, last, dropped, gone, marked, waited, taken, aim; \
    byte clean, loosely, late, found, pick, was, awaits; \
    bool lapsed, holding, aging, seen; \
    bool fresh, from = true, busy, asked, deletes, failed, nowait, vague, attaches

proctype outer(byte me, set) {
    LOCALS;
    attaches = (CONF == 18);
    from = (CONF != 21);
    begin();
    opened = true;
    WHEN(told)
        runs || lost;
        if :: CONF == 8 -> flag :: else fi
    END_WHEN;
    deletes = (CONF == 9 || failed);
    failed = false;
    end(true);
    WHEN(busy)
        update(); drain(); end(false)
    END_WHEN
}

proctype nested(byte me, set; bool tells) {
    LOCALS;
    if :: tells -> runs && (CONF == 8 || ends[0] > 0) || lost :: else fi;
    begin();
    if :: tells -> flag = true :: true fi;
    if :: update() :: true fi;
    if :: failed :: else -> end(false) fi;
    flag = true
}

proctype unwaited(byte me, set) { /* a region of nowait calls */
    LOCALS;
    nowait = true;
    begin();
    opened = true;
    runs;
    end(false)
}

proctype forwarded(byte set) { /* a region of forwarded calls */
    LOCALS;
    map(0);
    opened = true;
    runs;
    drop(set); copy_back(); delete()
}

proctype zero(byte me) { /* a row of length 0, where x ends and y begins */
    LOCALS;
    byte set = X | Y;
    vague = true;
    begin();
    end(false)
}

proctype later(byte copies, drops) { /* the part of a nowait call that may come after the call */
    byte last, dropped;
    bool from = true, deletes, failed;
    EACH_MAPPED(copies) copy_in() NEXT;
    !copying[0] && !copying[1];
    drop(drops); copy_back(); delete()
}

proctype enqueuer(byte me, times) { /* a launch that needs x present */
    byte way, pinned, aim;
    do
    :: times > 0 ->
        atomic { !queue_lock -> queue_lock = true }
        atomic {
            do
            :: present[ENTRY(0)] && (changing[ENTRY(0)] || ENDING(ENTRY(0))) && !LOSS ->
                queue_lock = IF(WAIT_WITH_LOCK);
                SLEEP;
                (!queue_lock || IF(WAIT_WITH_LOCK));
                queue_lock = true
            :: else -> break
            od;
            way = present[ENTRY(0)] && !lost;
            e = ENTRY(0);
            commands[e] = commands[e] + way;
            holds[e] = holds[e] + way;
            e = 0
        }
        d_step { issued = issued + way; queue_lock = false; way = 0; times-- }
    :: times == 0 -> break
    od;
    if :: drain() :: true fi;
    closed = true
}

proctype stream() {
    do
    :: issued > ran && !lost && (CONF != 20 || flag) ->
        d_step {
            e = MAPPED(0);
            assert(alive[e]);
            e = 0;
            device[0] = device[0] | (16 << ran);
            must[0] = must[0] | (16 << ran);
            ran++
        }
    :: closed && issued == ran || lost -> break
    od
}

proctype teller(byte me, mine, set) { /* what a kernel waits for comes after a call */
    LOCALS;
    byte copy[2];
    bool raw, until_flag;
    runs && ends[0] > 0;
    if :: launch() :: update() fi;
    flag = true
}

proctype registrar() {
    if
    :: issued > 0 -> inside == 0; flag = true
    :: closed && issued == 0
    fi
}

proctype loss() {
    atomic { lost = true; if :: IF(LOST_QUIET) :: else -> wake() fi }
}

#define DRIVER(me, set) run launcher(me, 1 << me, false, set, false, false)
#define LIBOMPTARGET(me) run launcher(me, 1 << me, true, 0, false, false)

init {
    atomic {
        if
        :: CONF == 1 -> DRIVER(0, 0); DRIVER(1, 0); LIBOMPTARGET(2)
        :: CONF == 2 -> DRIVER(0, 0); LIBOMPTARGET(1); run outer(2, X | Y)
        :: CONF == 3 -> DRIVER(0, 0); DRIVER(1, 0); run outer(2, X | Y); run nested(3, X, false)
        :: CONF == 4 -> DRIVER(0, 0); LIBOMPTARGET(1); run outer(2, X | Y); run nested(3, X, false)
        :: CONF == 5 || CONF == 16 ->
            DRIVER(0, X); run outer(2, X); run nested(3, X, false);
            run enqueuer(1, (CONF == 16 -> 1 : 2)); run stream()
        :: CONF == 6 || CONF == 8 || CONF == 17 ->
            told = true;
            run launcher(0, 1, false, X, true, true); run outer(1, X); run nested(2, X, true)
        :: CONF == 7 ->
            run outer(2, XY); opened;
            DRIVER(0, 0); LIBOMPTARGET(1); run nested(3, X, false)
        :: CONF == 9 || CONF == 11 || CONF == 18 ->
            failures = (CONF == 11);
            DRIVER(0, 0); run outer(1, X | Y); run nested(2, X, false)
        :: CONF == 10 -> failures = 1; DRIVER(0, 0); LIBOMPTARGET(1); run outer(2, X | Y)
        :: CONF == 12 -> failures = 2; LIBOMPTARGET(0); run outer(1, X); run nested(2, X, false)
        :: CONF == 13 ->
            DRIVER(0, X); run unwaited(2, X); run nested(3, X, false);
            run launcher(1, 2, false, X, true, false) /* TO: libomptarget alone loses values */
        :: CONF == 14 ->
            run launcher(0, 1, false, X, true, false); DRIVER(1, X);
            run forwarded(X); run nested(3, X, false)
        :: CONF == 19 ->
            told = true;
            run launcher(0, 1, false, X, true, true); run outer(1, X); run teller(2, 4, X)
        :: CONF == 20 -> run outer(2, X); run enqueuer(1, 1); run stream(); run registrar()
        :: CONF == 21 ->
            run launcher(0, 1, false, X, true, false); run launcher(1, 2, false, X, true, false);
            run outer(2, X)
        :: CONF == 15 -> DRIVER(0, 0); run outer(1, X | Y); run zero(2)
        fi;
        if :: CONF == 16 || CONF == 17 -> run loss() :: else fi
    }
    (_nr_pr == 1);
    for (i : 0 .. 2) {
        assert(present[i] == alive[i] || loose[i] || lost);
        assert(!present[i] || refs[i] == UNKNOWN || refs[i] == count[i] || lost);
        assert(!present[i] || loose[i] || lost);
        assert(!alive[i] && enders[i] == 0 || HAS(spoiled, i) || lost);
        assert(!changing[i] && !copying[i] && users[i] == 0 && ends[i] == 0);
        assert(held[i] == 0 && using[i] == 0 && older[i] == 0 && inside == 0);
        assert(commands[i] == 0 && holds[i] == 0 || lost)
    }
    for (i : 0 .. 1) {
        assert(temps[i] == 0 && from_temps[i] == 0 && listed[i] == 0 && asleep == 0);
        assert((must[i] & ~host[i]) == 0 || HAS(spoiled, i) || lost)
    }
}
