#!/bin/sh
# librex/README.md lists each mutable object of the library that lasts as long as the process or a thread, and no other: what the compiler has put
# into sections that can be written, statics of functions and __thread objects included. Its guard is one that the file has.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
exec python3 - "$O/librex.a" <<'PYTHON'
import glob
import os
import re
import subprocess
import sys

failures = []


def fail(text):
    failures.append(text)
    print("FAIL: " + text)


# ---- the objects: {(file, name): whether each thread has its own}

rooms = {os.path.basename(p): p.split("/", 1)[1] for p in glob.glob("librex/*/*.c")}
objects, sections, source = {}, {}, None
for line in subprocess.run(["readelf", "-SsW", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines():
    member = re.match(r"File: .*\((\w+)\.o\)", line)
    section = re.match(r"\s+\[\s*(\d+)\] (\S+)\s+\S+\s+[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ \S+\s+([A-Zop]*) ", line)
    symbol = re.match(r"\s+\d+: [0-9a-f]+\s+\S+ (OBJECT|TLS)\s+\S+\s+\S+\s+(\w+) (\S+)", line)
    if member:
        source, sections = rooms[member[1] + ".c"], {}
    elif section:
        sections[section[1]] = (section[2], section[3])
    elif symbol and symbol[2] != "UND":
        section, flags = sections.get(symbol[2], (symbol[2], "W"))
        # What is const and has addresses in it is written by the loader alone.
        if "W" not in flags or section.startswith(".data.rel.ro"):
            continue
        # A function's own: name.3 of gcc, function.name of clang. Parts of a struct: name.0 of both.
        # What begins with __ is a sanitizer's.
        name = re.sub(r"\.\d+$", "", symbol[3]).split(".")[-1]
        if not symbol[3].startswith("__"):
            objects[source, name] = symbol[1] == "TLS"
if len(objects) < 50 or not any(objects.values()):
    fail("the objects of %s were not understood" % sys.argv[1])

# ---- the list

listed = {}
text = open("librex/README.md").read()
for source, name, purpose, guard in re.findall(r"^\| `(\w+/\w+\.c)` \| `(\w+)` \| (.*?) \| (.*?) \|$", text, re.M):
    if (source, name) in listed:
        fail("librex/README.md lists %s of %s twice" % (name, source))
    listed[source, name] = guard
for source, name in sorted(set(objects) - set(listed)):
    fail("librex/README.md does not list %s of librex/%s" % (name, source))
for source, name in sorted(set(listed) - set(objects)):
    fail("librex/README.md lists %s of librex/%s, which is not there" % (name, source))

# ---- guards

LOCK = re.compile(r"^static pthread_mutex_t lock\b", re.M)
for (source, name), guard in listed.items():
    if (source, name) not in objects:
        continue
    code = open("librex/" + source).read()
    if objects[source, name] != (guard == "thread"):
        fail("%s of %s: %s" % (name, source, "each thread has its own" if objects[source, name] else "all threads have one"))
    other = re.match(r"lock of (\w+\.c)$", guard)
    holder = rooms.get(other[1]) if other else source
    if (other or re.search(r"\block\b", guard)) and not (holder and LOCK.search(open("librex/" + holder).read())):
        fail("%s of %s: its guard is the lock of %s, which has none" % (name, source, holder or other[1]))
    rank = re.match(r"rank (\d+), (taken|renewed)$", guard)
    if rank and not re.search(r"^REX_FORK_%s\(%s, " % (rank[2].upper(), rank[1]), code, re.M):
        fail("%s of %s is not of rank %s, %s" % (name, source, rank[1], rank[2]))
    if (name == "lock") != bool(rank or guard == "never reached in a child"):
        fail("%s of %s: its guard is \"%s\"" % (name, source, guard))

print("%d objects in %d files, %d of them each thread's own" %
      (len(objects), len({source for source, _ in objects}), sum(objects.values())))
sys.exit(1 if failures else 0)
PYTHON
