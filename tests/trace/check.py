#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check a timeline that REX_TRACE wrote: strict JSON, as a whole and line by line; Chrome's trace events as ui.perfetto.dev takes them;
slices of one track beside or inside each other; and that there is exactly what is expected.

usage: check.py FILE [--cut] [--tracks N] [CATEGORY/NAME=COUNT[:TO,FROM]]...

  --cut       the process was killed: the closing bracket is missing, every line is whole
  --tracks N  exactly N threads have slices
  CATEGORY/NAME=COUNT[:TO,FROM]
              there are COUNT slices of this name, with so many bytes to and from the device in all. Each
              slice of a CATEGORY that the arguments name must match an argument. The NAME * matches the slices that no earlier
              argument matches. The COUNT + is one or more.
"""

import argparse
import json
import sys
import time

LONGEST = 1200 * 10**9  # nanoseconds: no test runs for twenty minutes


def fail(text):
    sys.exit("check.py: " + text)


def strict(text, what):
    def no_twins(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            fail("%s: a key is there twice: %s" % (what, keys))
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=lambda name: fail("%s is no JSON" % name), object_pairs_hook=no_twins, parse_float=str)
    except json.JSONDecodeError as error:
        fail("%s: %s: %r" % (what, error, text[max(0, error.pos - 40):error.pos + 40]))


def nanoseconds(text):
    whole, _, part = str(text).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def read(path, cut):
    with open(path, "rb") as file:
        text = file.read().decode("utf-8", "strict")
    first, *body, last = text.split("\n")
    if first != "[" or last:
        fail("line 1 is %r, or the last line is not whole: %r" % (first, last))
    if cut == (body[-1:] == ["]"]):
        fail("the last line is %r" % body[-1:])
    body = body if cut else body[:-1]
    events = []
    for number, line in enumerate(body, 2):
        if line.startswith(",") != (number > 2):
            fail("line %d: a comma" % number)
        events.append(strict(line.lstrip(","), "line %d" % number))
    if strict(text + "]" if cut else text, "the whole") != events:
        fail("the lines are not the whole")
    return events


def check_event(event, names):
    phase = event.get("ph")
    if phase == "M":
        if event["name"] not in ("process_name", "thread_name") or not event["args"]["name"]:
            fail("metadata: %s" % event)
        if event["name"] == "thread_name":
            if event["tid"] in names:
                fail("a track has two names: %s" % event)
            names[event["tid"]] = event["args"]["name"]
        return
    if phase != "X":
        fail("an event of phase %s" % phase)
    for key, kind in (("name", str), ("cat", str), ("pid", int), ("tid", int), ("args", dict)):
        if not isinstance(event.get(key), kind):
            fail("%s is no %s in %s" % (key, kind.__name__, event))
    if event["tid"] not in names:
        fail("a track without a name: %s" % event)
    by, because = event["args"].get("by"), event["args"].get("because")
    if event["cat"] == "launch" and by not in ("driver", "libomptarget") or because is not None and by != "libomptarget":
        fail("who launched? %s" % event)


def check_times(slices):
    """A slice whose end was never taken is as long as the clock is wide; one without a length was not measured: nothing takes no time."""
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for event in slices:
        if not abs(now - nanoseconds(event["ts"])) < LONGEST or not 0 < nanoseconds(event["dur"]) < LONGEST:
            fail("begins long before or after %d us, or takes too long: %s" % (now // 1000, event))


def check_nesting(slices):
    open_ends = {}
    for event in sorted(slices, key=lambda event: (nanoseconds(event["ts"]), -nanoseconds(event["dur"]))):
        begin, track = nanoseconds(event["ts"]), open_ends.setdefault(event["tid"], [])
        end = begin + nanoseconds(event["dur"])
        while track and track[-1][0] <= begin:
            track.pop()
        if track and (end > track[-1][0] or names[event["tid"]].startswith(("queue ", "deferred "))):  # they do one thing at a time
            fail("track %d: %s ends %d ns after %s, in which it began" % (event["tid"], event["name"], end - track[-1][0], track[-1][1]))
        track.append((end, event["name"]))


def check_devices(slices, names):
    """What is on a device's track is a call of some thread, at the same time."""
    calls = {(e["ts"], e["dur"], e["name"]) for e in slices if e["cat"] != "device"}
    for event in slices:
        if (event["cat"] == "device") != names[event["tid"]].startswith("device "):
            fail("on the wrong track, %s: %s" % (names[event["tid"]], event))
        if event["cat"] == "device" and (event["ts"], event["dur"], event["name"]) not in calls:
            fail("nobody made the call that is on a device's track: %s" % event)


def check_expected(slices, expected):
    categories = {text.split("/")[0] for text in expected}
    found = {}
    for event in slices:
        if event["cat"] in categories:
            name, given = event["cat"] + "/" + event["name"], event["args"]
            found[name] = tuple(map(sum, zip(found.get(name, (0, 0, 0)), (1, given.get("bytes_to", 0), given.get("bytes_from", 0)))))
    for text in expected:
        name, _, numbers = text.rpartition("=")
        count, _, size = numbers.partition(":")
        there = found.pop(name, (0, 0, 0))
        if name.endswith("/*"):
            rest = [found.pop(other) for other in list(found) if other.startswith(name[:-1])]
            there = tuple(map(sum, zip((0, 0, 0), *rest)))
        if (there[0] == 0) if count == "+" else (there[0] != int(count)):
            fail("%s: there are %d" % (text, there[0]))
        if size and tuple(map(int, size.split(","))) != there[1:]:
            fail("%s: there are %d bytes to and %d from the device" % (text, there[1], there[2]))
    if found:
        fail("not expected: %s" % found)


if sys.argv[1:2] in (["-h"], ["--help"]):
    print(__doc__, end="")
    sys.exit()
parser = argparse.ArgumentParser(add_help=False)
parser.add_argument("--cut", action="store_true")
parser.add_argument("--tracks", type=int)
parser.add_argument("file")
parser.add_argument("expected", nargs="*")
asked = parser.parse_intermixed_args()
events, names = read(asked.file, asked.cut), {}
if not events or events[0].get("name") != "process_name" or len({event["pid"] for event in events}) != 1:
    fail("the first event does not name the process, or there are several")
for event in events:
    check_event(event, names)
slices = [event for event in events if event["ph"] == "X"]
check_times(slices)
check_nesting(slices)
check_devices(slices, names)
check_expected(slices, asked.expected)
threads = {event["tid"] for event in slices if event["tid"] < 1 << 22}
if asked.tracks is not None and len(threads) != asked.tracks:
    fail("%d threads have slices, not %d" % (len(threads), asked.tracks))
