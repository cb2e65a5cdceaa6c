/*
 * registration.pml - a model, for Spin, of how a module is registered and ended: the state machine of
 * librex/module/state.c, with several threads, failures, registration again, and a fork in the middle.
 *
 * `make check K=model` goes through all its states. A line that ends in `= ...` is an atomic step of the
 * code, in the function that the comment `code: NAME` names; tests/model/steps holds the two against each
 * other, in number, order, memory order and the states that are written. Where a function of the code is
 * renamed, its comment is all that changes here.
 *
 * What is shown, of THREADS threads with CALLS calls each, of which any may be a registration (that
 * succeeds or fails; asked for, or along with another module's), an end (that is refused or not) or a
 * fork:
 *
 *   - one thread at a time does the work of an attempt, and nothing is registered twice or ended twice;
 *   - every thread that waits comes to an end, if each thread that can run does run (weak fairness);
 *   - a thread that waited for an attempt that failed is given this failure, unless a later attempt has
 *     ended since; a call is never given the failure of an attempt that ended before the call began;
 *   - a call that succeeds found the module registered at some moment between its begin and its end;
 *   - packet_rules is not 0 while the state is REGISTERED;
 *   - when all is quiet, a call registers the module, also after failures and ends;
 *   - in the child of a fork all this holds, for the thread that forked and a new one.
 *
 * What is not shown:
 *
 *   - Weak memory: here each step is seen by all threads at once. That each store which others act upon
 *     is a RELEASE and each load an ACQUIRE is in the comments, and held against the code, but no proof.
 *   - What the work itself does (module/register.c), other modules, the lock of the failure (its section
 *     is one step here; a fork waits for it, so that no child finds it half done).
 *   - A log function of the program that is called during rex_module_fini() and forks, and goes on in the child.
 *   - Who may not wait: a thread that is inside of a launch, or of the log's function, is refused (check_thread()).
 *
 * With -D one of these is taken out of the model, or put in the wrong order; each has to be found:
 * NO_CAS, NO_RELEASE, NO_RELEASE_BY_FINI, NO_RETRY, NO_LOOP, NO_OWN_ATTEMPT, NO_RESTORE, LATE_RULES,
 * LATE_FAILURE, NO_RENEWAL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef CALLS
#define CALLS 2
#endif

#define UNREGISTERED 0
#define BUSY 1
#define REGISTERED 2

/* What a call comes to, beside the number of the attempt that failed, which is 1 or more. */
#define OK 0

byte state;   /* module->state */
bool rules;   /* module->packet_rules is not 0 */
bool forked;  /* registration->forked */
byte failure; /* registration->failure: of the last attempt, by its number, or OK */
bool on_host; /* registration->on_host: what a child may go on with */

bool in_child;  /* there was a fork, and this is the child, where the parent's other threads are not */
byte ended;     /* threads that came to their end, or are not in the child */
bool last_call; /* all is quiet: the attempt succeeds */

/* For the assertions alone. */
byte attempt;    /* the number of the newest */
bool is_trying;  /* which has not ended */
byte told;       /* the last attempt whose result is in `failure` */
byte workers;    /* threads that are at work */
bool in_runtime; /* libomptarget has the registration */
/* Of each thread, the parent's, the new one and the last: */
#define ALL (THREADS + 2)
bool was_registered[ALL]; /* during its call, the module was */
byte waits_for[ALL];      /* the attempt */
bool must_fail[ALL];      /* that attempt has failed */
byte doomed;              /* an attempt that has failed and whose state is still BUSY */

#define CONSISTENT assert(state != REGISTERED || rules)

/* ---- children of a fork: everything else stands still, so all this is one step ------------------ */

/* code: end_modules_in_child */
inline end_in_child()
{
    if
    :: (!rules || on_host) && /* = read packet_rules */
       state != BUSY -> /* = read state */
        skip
    :: else ->
        forked = true;
        in_runtime = false;
        rules = false; /* = write packet_rules */
#ifndef NO_RENEWAL
        state = UNREGISTERED /* = write state UNREGISTERED */
#endif
    fi
}

/* All threads are alike, so it is the first that forks. */
inline fork()
{
    d_step {
        in_child = true;
        workers = 0;
        is_trying = false;
        doomed = 0;
        end_in_child();
        CONSISTENT
    }
    ended >= THREADS - 1 /* from here on the others are not there */
}

/* ---- the state ---------------------------------------------------------------------------------- */

/* code: publish_registration */
inline publish(to)
{
    d_step {
        skip; /* = call REGISTRATION_OF */
        skip; /* = store descriptor RELEASE */
        rules = to; /* = store packet_rules RELEASE */
        if
        :: to ->
            for (other : 0 .. ALL - 1) {
                was_registered[other] = true
            }
        :: else
        fi;
        other = 0;
        CONSISTENT
    }
}

/* Leaves in `won` whether the thread is at work now. */
/* code: begin_work */
inline begin_work(from)
{
    atomic {
#ifdef NO_CAS
        won = true;
#else
        won = state == from;
#endif
        if
        :: won ->
            state = BUSY; /* = cas state BUSY ACQ_REL ACQUIRE */
            assert(workers == 0);
            workers++;
            attempt = attempt + (from == UNREGISTERED -> 1 : 0);
            number = attempt;
            is_trying = from == UNREGISTERED
        :: else ->
            waits_for[me] = (is_trying -> attempt : 0);
            must_fail[me] = waits_for[me] != 0 && waits_for[me] == doomed
        fi
    }
}

/* code: end_work */
inline end_work(to)
{
    d_step {
        state = to; /* = store state RELEASE */
        workers--;
        is_trying = false;
        doomed = 0;
        CONSISTENT
    }
}

/* code: make_attempt */
inline make_attempt()
{
#ifdef NO_OWN_ATTEMPT
    /* The log's function, which is called during an attempt, registers the module, and waits. */
    do
    :: state == BUSY
    :: else -> break
    od;
#endif
    if
    :: !forked ->
        d_step {
            assert(!in_runtime);
            in_runtime = true;
            result = OK
        }
    :: !last_call || forked ->
        d_step {
            result = number;
            doomed = number;
            for (other : 0 .. ALL - 1) {
                must_fail[other] = must_fail[other] || waits_for[other] == number
            }
            other = 0
        }
    fi;
#ifdef LATE_FAILURE
    if
    :: result != OK -> end_work(UNREGISTERED)
    :: result == OK
    fi;
#endif
    d_step {
        failure = result; /* = write failure */
        told = number
    }
#ifdef LATE_RULES
    end_work((result == OK -> REGISTERED : UNREGISTERED));
#endif
    if
    :: result == OK ->
        publish(true) /* = call publish */
    :: result != OK
    fi;
#if !defined(LATE_RULES) && !defined(NO_RELEASE)
#ifdef LATE_FAILURE
    if
    :: result == OK -> end_work(REGISTERED)
    :: result != OK
    fi
#else
    end_work((result == OK -> REGISTERED : UNREGISTERED)) /* = call end_work */
#endif
#endif
}

/* Leaves the failure of the attempt that was waited for in `result`, or OK: look again. */
/* code: await_attempt */
inline wait_for()
{
    do
    :: state == BUSY /* = load state ACQUIRE */
    :: else -> break
    od;
    atomic {
        if
        :: failure != OK -> /* = read failure */
            result = failure /* = read failure */
        :: else -> result = OK
        fi;
        assert(result != OK || !must_fail[me] || told > waits_for[me]);
        waits_for[me] = 0;
        must_fail[me] = false
    }
}

/* code: register_as */
inline register_as()
{
    do
    :: seen = state; /* = load state ACQUIRE */
#ifdef NO_RETRY
        if
        :: failure != OK -> result = failure; break
        :: else
        fi;
#endif
        if
        :: seen == REGISTERED -> result = OK; break
        :: else
        fi;
        begin_work(UNREGISTERED); /* = call begin_work */
        if
        :: won ->
            make_attempt(); /* = call make_attempt */
            skip; /* = call register_others */
            break
        :: !won ->
            wait_for(); /* = call wait_for */
            if
            :: result != OK -> break
            :: else
            fi
        fi;
#ifdef NO_LOOP
        break
#endif
    od
}

/* With the first module that is registered on LLVM 18, all others are that nobody has asked for. */
/* code: register_others */
inline register_others()
{
    begin_work(UNREGISTERED); /* = call begin_work */
    if
    :: won -> make_attempt() /* = call make_attempt */
    :: !won ->
        atomic {
            waits_for[me] = 0;
            must_fail[me] = false
        }
    fi
}

/* code: rex_registration_of */
#define REGISTRATION_OF (rules) /* = load packet_rules ACQUIRE */

/* code: rex_module_ready */
inline register_module()
{
    atomic {
        was_registered[me] = REGISTRATION_OF; /* = call REGISTRATION_OF */
        /* The first attempt that may still fail. */
        first = attempt + (is_trying -> 0 : 1)
    }
    if
    :: !was_registered[me] ->
        register_as() /* = call register_as */
    :: was_registered[me]
    fi;
    assert(result == OK || result >= first);
    assert(result != OK || was_registered[me]);
    was_registered[me] = false
}

/* code: end_part */
inline end_part()
{
    publish(false); /* = call publish */
    d_step {
        assert(in_runtime);
        in_runtime = false
    }
}

/* code: end_registration */
inline end_registration() /* of a module with one image */
{
    end_part() /* = call end_part */
}

/* code: rex_module_fini */
inline end_module()
{
    if
    :: REGISTRATION_OF -> /* = call REGISTRATION_OF */
        begin_work(REGISTERED); /* = call begin_work */
        if
        :: won ->
            if
            :: result = REGISTERED /* work is pending, or launches are: the end is refused */
            :: end_registration(); /* = call end_registration */
                result = UNREGISTERED
            fi;
            if
#ifdef NO_RESTORE
            :: result == REGISTERED
            :: result == UNREGISTERED -> end_work(result)
#elif defined(NO_RELEASE_BY_FINI)
            :: result == REGISTERED -> end_work(result)
            :: result == UNREGISTERED
#else
            :: true -> end_work(result) /* = call end_work */
#endif
            fi
        :: !won /* another thread is ending it */
        fi;
        atomic {
            waits_for[me] = 0;
            must_fail[me] = false
        }
    :: !REGISTRATION_OF
    fi
}

/* ---- threads ------------------------------------------------------------------------------------ */

#define VARIABLES byte call, seen, number, first, result, other; bool won
#define FORGET call = 0; seen = 0; number = 0; first = 0; result = 0; won = false

inline calls(may_fork)
{
    do
    :: call < CALLS ->
        if
        :: register_module()
        :: register_others()
        :: end_module()
        :: may_fork && me == 0 && !in_child -> fork()
        fi;
        atomic {
            seen = 0; number = 0; first = 0; result = 0; won = false;
            call++
        }
    :: call == CALLS -> break
    od
}

proctype thread(byte me)
{
    VARIABLES;
    {
        calls(true)
    } unless { in_child && me != 0 }
    atomic {
        FORGET;
        ended++
    }
}

/* In a child, a thread that it started. */
proctype newcomer(byte me)
{
    VARIABLES;
    if
    :: in_child && ended >= THREADS - 1 -> calls(false)
    :: ended == THREADS && !in_child
    fi;
    atomic {
        FORGET;
        ended++
    }
}

init {
    VARIABLES;
    byte me = THREADS + 1;
    atomic {
        if
        :: on_host = true
        :: on_host = false
        fi;
#ifdef ANY_START
        if
        :: state = REGISTERED; rules = true; in_runtime = true; attempt = 1; told = 1
        :: failure = 1; attempt = 1; told = 1
        :: true
        fi;
#endif
        do
        :: other < THREADS -> run thread(other); other++
        :: other == THREADS -> break
        od;
        run newcomer(THREADS);
        other = 0
    }
    ended == THREADS + 1;
    last_call = true;
    register_module();
    assert(forked -> result != OK : result == OK && rules && in_runtime)
}
