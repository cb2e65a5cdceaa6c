#!/bin/sh
# The rooms of librex/ have one order: no include and no symbol goes from a room to one below it, no more than three files of a room need
# each other in a circle, each source has a header of its name or implements a public one, and librex/README.md, which says what the order is,
# has a line for each file.
# make builds for it: library
. tests/support/lib.sh
python3 - "$O/librex.a" <<'PYTHON'
import glob
import os
import re
import subprocess
import sys

failed = False


def fail(text):
    global failed
    failed = True
    print("FAIL: " + text)


# ---- the map: "## room" in order, and under each a row "| `file.c` | duty |" for each source

rooms, listed = [], []
for line in open("librex/README.md"):
    heading = re.match(r"## `(\w+)/`", line)
    row = re.match(r"\| `(\w+\.c)` \| \S", line)
    if heading:
        rooms.append(heading[1])
    elif row and rooms:
        listed.append((rooms[-1], row[1]))
sources = {os.path.basename(p): os.path.dirname(p).split("/", 1)[1] for p in sorted(glob.glob("librex/*/*.c"))}
headers = {p.split("/", 1)[1] for p in glob.glob("librex/*/*.h")}
if len(sources) != len(glob.glob("librex/*/*.c")):
    fail("two sources of librex/ have one name")
for pair in sorted(set(listed) ^ {(room, name) for name, room in sources.items()}) + [pair for pair in set(listed) if listed.count(pair) > 1]:
    fail("librex/README.md and the folder have no, or more than one, %s/%s" % pair)
for room in sorted(set(sources.values()) - set(rooms)):
    fail("librex/README.md says nothing of the room librex/%s" % room)
if failed:
    sys.exit(1)
level = {room: number for number, room in enumerate(rooms)}

# ---- what the map says of files and functions is there

words = open("librex/README.md").read()
code = "".join(open(p).read() for p in glob.glob("librex/*/*.[ch]") + glob.glob("include/*.h") + glob.glob("include/rex/*.h"))
for path in sorted(set(re.findall(r"`(?:librex/)?(\w+/\w+\.[ch])`", words))):
    if not os.path.exists("librex/" + path):
        fail("librex/README.md tells of %s, which is not there" % path)
for name in sorted(set(re.findall(r"`(\w+)\(\)`", words))):
    if not re.search(r"^(?!\s*return)[\w #*()]*\b%s\(" % name, code, re.M) and name != "pthread_once":
        fail("librex/README.md tells of %s(), which is not there" % name)

# ---- headers: each source has one of its name, which it includes first, or says whose public functions it has

for name, room in sources.items():
    text = open("librex/%s/%s" % (room, name)).read()
    own = "%s/%s.h" % (room, name[:-2])
    first = re.search(r"^#include (\S+)", text, re.M)
    if own in headers and (not first or first[1] != '"%s"' % own):
        fail("librex/%s/%s does not include %s first" % (room, name, own))
    public = re.search(r"\brex(/\w+|_kmp)\.h\b", text[:text.index("*/")])
    if own not in headers and (not public or not os.path.exists("include/" + public[0])):
        fail("librex/%s/%s has no header, and does not say which public one it implements" % (room, name))

# ---- includes

includes = 0
for path in sorted(glob.glob("librex/*/*.[ch]")):
    room = path.split("/")[1]
    for name in re.findall(r'^#include "([^"]+)"', open(path).read(), re.M):
        if name.startswith("rex/") or name == "rex_kmp.h":
            continue
        includes += 1
        if name not in headers:
            fail("%s includes \"%s\", which is no header of a room" % (path, name))
        elif level[name.split("/")[0]] > level[room]:
            fail("%s includes %s: up from %s to %s" % (path, name, room, name.split("/")[0]))

# ---- symbols, by what the archive's members define and need

defined, needed, edges = {}, {}, {}
for line in subprocess.run(["nm", "-A", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines():
    words = re.match(r"[^:]*:([^:]*):\s*(?:[0-9a-f]+)?\s+(\w) (\S+)", line)
    if not words:
        continue
    member = words[1][:-2] + ".c"
    if words[2] == "U":
        needed.setdefault(member, set()).add(words[3])
    elif words[2].isupper() and not words[3].startswith("__"):
        defined[words[3]] = member
for user, symbols in needed.items():
    for symbol in sorted(symbols):
        owner = defined.get(symbol, user)
        if owner == user:
            continue
        edges.setdefault(user, set()).add(owner)
        if level[sources[owner]] > level[sources[user]]:
            fail("%s/%s uses %s of %s/%s: up" % (sources[user], user, symbol, sources[owner], owner))
if len(edges) < 10:
    fail("the symbols of %s were not understood" % sys.argv[1])

# ---- circles: files of a room that reach each other

reach = {name: {owner for owner in edges.get(name, ()) if sources[owner] == sources[name]} for name in sources}
for middle in sources:
    for name in sources:
        if middle in reach[name]:
            reach[name] |= reach[middle]
for circle in sorted({tuple(sorted(other for other in reach[name] if name in reach[other])) for name in sources}):
    if len(circle) > 3:
        fail("%d files of %s need each other: %s" % (len(circle), sources[circle[0]], ", ".join(circle)))

print("%d rooms, %d files, %d includes, %d edges between files" %
      (len(rooms), len(sources), includes, sum(len(owners) for owners in edges.values())))
sys.exit(failed)
PYTHON
