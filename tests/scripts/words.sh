#!/bin/sh
# Comments, manual pages and Markdown have short sentences whose subject is a named thing. Two counts must not grow: sentences that open with a
# word such as What or Whoever, and sentences of more than 30 words. A colon or a semicolon ends a sentence here, too. Tables, quoted
# messages and names of functions make up most of the long ones, because a page's macros are left out.
# make builds for it: nothing
. tests/support/lib.sh
needs python3
python3 - <<'PYTHON'
import glob
import re
import sys

MOST_RIDDLES, MOST_LONG, WORDS = 5, 75, 30
RIDDLE = re.compile(r"(What|Who|Whoever|Nobody|Others|Of (?!course))\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def parts(path, text):
    """The text that sentences are in, and where each piece begins."""
    if re.search(r"\.(c|h|cu)$", path):
        for comment in re.finditer(r"/\*(.*?)\*/", text, re.S):
            yield comment.start(1), re.sub(r"\n\s*\*", blank, comment[1])
    else:
        yield 0, re.sub(r"^\.[A-Z]\w*.*$|^\s*[|`].*$|^    .*$", blank, text, flags=re.M)


def sentences(path):
    text = open(path, encoding="utf8", errors="replace").read()
    for begin, part in parts(path, text):
        for sentence in re.finditer(r"\S.*?(?:[.:;](?=\s)|\Z)", part, re.S):
            words = sentence[0].split()
            if words:
                yield "%s:%d" % (path, text.count("\n", 0, begin + sentence.start()) + 1), words


files = glob.glob("README*") + glob.glob("CONTRIBUTING*")
for folder in ("librex", "include", "tools", "examples"):
    files += glob.glob(folder + "/**/*", recursive=True)
riddles, long = [], []
count = 0
for path in sorted(files):
    if not re.search(r"\.(c|h|cu|md|roff|[1-7])$", path):
        continue
    for where, words in sentences(path):
        count += 1
        if RIDDLE.match(" ".join(words)):
            riddles.append((-len(words), where, words))
        if len(words) > WORDS:
            long.append((-len(words), where, words))

failed = count < 5000
if failed:
    print("FAIL: only %d sentences were found" % count)
for found, most, what in (riddles, MOST_RIDDLES, "open with a riddle"), (long, MOST_LONG, "have more than %d words" % WORDS):
    if len(found) > most:
        failed = True
        print("FAIL: %d sentences %s, and %d may; the longest:" % (len(found), what, most))
        for length, where, words in sorted(found)[:10]:
            print("  %s: %d words: %s ..." % (where, -length, " ".join(words[:12])))
print("%d sentences: %d open with a riddle, %d have more than %d words" % (count, len(riddles), len(long), WORDS))
sys.exit(failed)
PYTHON
