#!/bin/sh
# The sources of the tools have an order: no two files of a tool need each other, by a symbol or in
# a circle, and each source has a header of its name, but for the one that has main.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-$(make -s --no-print-directory print-O)}
exec python3 - "$O/obj/tools" <<'PYTHON'
import glob
import os
import re
import subprocess
import sys

failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL: " + text)


def symbols(tool):
    """(what each source of TOOL defines: symbol to source, what each needs: source to symbols)"""
    defined, needed = {}, {}
    objects = [os.path.join(sys.argv[1], tool, os.path.basename(source)[:-2] + ".o")
               for source in glob.glob("tools/%s/*.c" % tool)]
    for path in objects:
        source = os.path.basename(path)[:-2] + ".c"
        needed[source] = set()
        if not os.path.exists(path):
            fail("tools/%s/%s is not built" % (tool, source))
            continue
        lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        for kind, symbol in re.findall(r"^[0-9a-f ]* (\w) (\S+)$", lines, re.M):
            if kind == "U":
                needed[source].add(symbol)
            elif kind.isupper():
                defined[symbol] = source
    return defined, needed


def uses(defined, needed):
    """source to the sources that it needs, and the symbols for which it does"""
    edges = {}
    for source, names in needed.items():
        edges[source] = {}
        for name in sorted(names):
            if name in defined and defined[name] != source:
                edges[source].setdefault(defined[name], []).append(name)
    return edges


def reached(edges, start):
    seen, todo = set(), [start]
    while todo:
        for owner in edges[todo.pop()]:
            if owner not in seen:
                seen.add(owner)
                todo.append(owner)
    return seen


def check_circles(tool, edges):
    done = set()
    for source in sorted(edges):
        circle = sorted(o for o in reached(edges, source) if source in reached(edges, o))
        if not circle or source in done:
            continue
        done.update(circle)
        fail("%d files of tools/%s need each other: %s" % (len(circle), tool, ", ".join(circle)))
        for user in circle:
            for owner in sorted(set(edges[user]) & set(circle)):
                print("    %s -> %s: %s" % (user, owner, ", ".join(edges[user][owner])))


def check_headers(tool, defined):
    for source in sorted(glob.glob("tools/%s/*.c" % tool)):
        name = os.path.basename(source)
        if name == defined.get("main"):
            continue
        includes = re.findall(r'^#include (\S+)', open(source).read(), re.M)
        own = {'"%s.h"' % name[:-2], '"%s/%s.h"' % (tool, name[:-2])}
        if not os.path.exists(source[:-2] + ".h"):
            fail("%s has no header of its name" % source)
        elif not includes or includes[0] not in own:
            fail("%s does not include its own header first" % source)


files = edge_count = 0
tools = sorted({path.split("/")[1] for path in glob.glob("tools/*/*.c")})
for tool in tools:
    defined, needed = symbols(tool)
    edges = uses(defined, needed)
    check_circles(tool, edges)
    check_headers(tool, defined)
    files += len(edges)
    edge_count += sum(len(owners) for owners in edges.values())
if edge_count < 30:
    fail("the symbols under %s were not understood" % sys.argv[1])
print("%d folders, %d files, %d edges between files" % (len(tools), files, edge_count))
sys.exit(1 if failures else 0)
PYTHON
