#!/bin/sh
# Each lock of librex's own is in order in a child of fork, and no two threads wait for each other's: every file that has one has one alone,
# and says by a macro of librex/base/fork.h what a fork does with it; no rank is given twice; all locks that are renewed have lower ranks than
# those that are taken; and where the code takes one lock under another, over any number of calls, the ranks say the same.
#
# Calls are read from the sources: what is called through a pointer is seen only where BY_POINTER says who may stand behind it.
set -eu
cd "$(dirname "$0")/../.."
exec python3 - <<'PYTHON'
import glob
import re
import sys

failures = []


def fail(text):
    failures.append(text)
    print("FAIL: " + text)


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


# Who calls through a pointer, and how sources hand over what is called.
BY_POINTER = {"empty_recent": r"rex_flight_on_stop\((\w+)\)", "rex_trace_name": r"rex_trace_names\((\w+)\)", "rex_trace_file_slice": r"\.details = (?:.*? \? (\w+) : )?(\w+)"}

# ---- what each file says

functions = {}  # (file, name): its body
public = {}     # name: the (file, name) that others call
ranks = {}      # file: (rank, kind); no rank where it is never reached
pointed = {caller: set() for caller in BY_POINTER}

for path in sorted(glob.glob("librex/*/*.[ch]")):
    raw = open(path).read()
    text = without_comments(raw)
    for head, name, body in re.findall(r"^(?!#)([\w *]*?[ *](\w+)\([^;{}]*?\))\n\{\n(.*?)^\}", text, re.S | re.M):
        functions[path, name] = body
        if not head.startswith("static") or path.endswith(".h"):
            public[name] = (path, name)
    for caller, pattern in BY_POINTER.items():
        for found in re.findall(pattern, text):
            pointed[caller].update((path, name) for name in ([found] if isinstance(found, str) else found) if name)
    locks = re.findall(r"^static pthread_(?:mutex|rwlock|spinlock)_t (\w+)", text, re.M)
    said = re.findall(r"^REX_FORK_(TAKEN|RENEWED)\((\d+), (\w+)\);", text, re.M)
    unreached = re.findall(r'^REX_FORK_UNREACHED\("[^"]+"\);', raw, re.M)
    if path.endswith(".h") or not locks and not said and not unreached:
        continue
    if len(locks) != 1 or locks[0] != "lock":
        fail("%s: its locks are %s; there has to be one, called lock" % (path, ", ".join(locks) or "none"))
    if len(said) + len(unreached) != 1:
        fail("%s: it says %d times what a fork does with its lock" % (path, len(said) + len(unreached)))
    elif unreached:
        ranks[path] = (None, "UNREACHED")
    else:
        kind, rank, in_child = said[0]
        ranks[path] = (int(rank), kind)
        if kind == "RENEWED" and "rex_fork_renew(&lock)" not in functions.get((path, in_child), ""):
            fail("%s: %s() does not renew its lock" % (path, in_child))

if len(ranks) <= 10:
    fail("the sources were not understood")
by_rank = {}
for path, (rank, kind) in ranks.items():
    if rank is not None and by_rank.setdefault(rank, path) != path:
        fail("%s and %s have the same rank, %d" % (by_rank[rank], path, rank))
renewed = [rank for rank, kind in ranks.values() if kind == "RENEWED"]
taken = [rank for rank, kind in ranks.values() if kind == "TAKEN"]
if renewed and taken and max(renewed) > min(taken):
    fail("%s is renewed, and has a higher rank than %s, which is taken" % (by_rank[max(renewed)], by_rank[min(taken)]))

# ---- what the code takes under what


def calls_of(path, body):
    return {(path, name) if (path, name) in functions else public[name]
            for name in set(re.findall(r"\b[A-Za-z_]\w*\b", body)) if (path, name) in functions or name in public}


calls = {key: calls_of(key[0], body) for key, body in functions.items()}
for caller, targets in pointed.items():
    found = [key for key in functions if key[1] == caller]
    if len(found) != 1 or not targets & set(functions):
        fail("%s() calls nothing through a pointer" % caller)
    for key in found:
        calls[key] |= targets & set(functions)
TAKE = re.compile(r"(?:rex_lock|pthread_mutex_(?:timed)?lock)\(&lock\b")
GIVE = re.compile(r"(?:rex_unlock|pthread_mutex_unlock)\(&lock\b")
takers = {key for key, body in functions.items() if TAKE.search(body)}


def reached(path, body):
    """{function: who called it} for what BODY calls, and what that calls"""
    seen = dict.fromkeys(calls_of(path, body))
    todo = list(seen)
    while todo:
        key = todo.pop(0)
        for callee in calls[key]:
            if callee not in seen:
                seen[callee] = key
                todo.append(callee)
    return seen


edges = 0
for path, name in sorted(takers):
    body = functions[path, name]
    ends = [match.start() for match in GIVE.finditer(body)]
    under = body[TAKE.search(body).end():ends[-1] if ends else None]
    seen = reached(path, under)
    for key in sorted(takers & set(seen)):
        edges += 1
        outer, inner = ranks.get(path, (None, "NONE")), ranks.get(key[0], (None, "NONE"))
        if outer[0] is None and inner[0] is not None or outer[0] is not None and inner[0] is not None and outer[0] < inner[0]:
            continue
        if outer[1] != "TAKEN" and inner[1] == "UNREACHED":
            continue
        chain = [key]
        while seen[chain[-1]] is not None:
            chain.append(seen[chain[-1]])
        fail("%s() of %s takes the lock of rank %s under that of %s, rank %s: %s" %
             (key[1], key[0], inner[0], path, outer[0], " > ".join(function for _, function in reversed(chain))))
if edges < 10:
    fail("the calls were not understood")

print("%d locks, %d of them taken before a fork, %d ways to take one under another" % (len(ranks), len(taken), edges))
sys.exit(1 if failures else 0)
PYTHON
