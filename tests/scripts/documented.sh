#!/bin/sh
# Every name that a public header declares has a comment: on its line, on the line before, or one of its paragraph that names it.
# Names are read by the layout of the headers: declarations begin in the first column, members stand inside of braces.
# make builds for it: nothing
set -eu
cd "$(dirname "$0")/../.."
exec python3 - include/*.h include/rex/*.h <<'PYTHON'
import re
import sys

BLOCK = re.compile(r"(?:template <[^<>]*> |typedef )?(struct|union|enum)\b[^(;]*$")
NO_NAMES = re.compile(r'\s*#|[{\s]*$|template|static_assert|_Static_assert|REX_STATIC_ASSERT|extern "C|(struct|union|enum) \w+;|\w+:')


def names_of(line, block):
    """what a line without comments declares, in a BLOCK of members or outside of one"""
    macro = re.match(r"\s*#\s*define\s+(\w+)(?<!_H)\b", line) or re.match(r"\s+X\((REX_\w+), ", line)
    if macro:
        return [macro[1]]
    line = re.sub(r"^(\s*)REX_PACKET_INT\(\d+\)", r"\1int", re.sub(r"^template <[^<>]*> |__attribute__\(\(.*?\)\)\)?", "", line))
    if NO_NAMES.match(line) or (block == "struct" and re.search(r"=|\w\(", line)) or (not block and not re.match(r"[A-Za-z_}]", line)):
        return []
    if BLOCK.match(line):
        return re.findall(r"(?:struct|union|enum) (\w+)", line)[:1]
    line = re.sub(r"[{}]", ",", re.sub(r" = \{.*", "", line))
    found = (not block and re.match(r"[\w *]*?\b(\w+)\(", line.split("=")[0])) or re.match(r".*?\(\*(\w+)\)", line)
    return [found[1]] if found else re.findall(r"([A-Za-z_]\w*)(?:\[[^]]*\])*(?: : \d+)?(?: = [^,]*?)?\s*(?:[,;]|$)", line)


count, undocumented = 0, []
for path in sys.argv[1:]:
    text = open(path).read()
    lines = [""] + text.split("\n")
    # \1 stands for what is a comment.
    code = [""] + re.sub(r"/\*.*?\*/", lambda m: "\1" + re.sub(r"[^\n]", "\1", m[0])[1:], text, flags=re.S).split("\n")
    block, heading, continued, first, good = "", "", False, {}, set(re.findall(r"#\s*undef (\w+)", text))
    for n in range(1, len(lines)):
        line = code[n].replace("\1", "").rstrip()
        begin = n
        while lines[begin - 1].strip() or "\1" in code[begin - 1]:
            begin -= 1
        paragraph = " ".join(re.findall(r"/\*.*?\*/", "\n".join(lines[begin:n + 1]), re.S))
        above = code[n - 1 - lines[n - 1].startswith("template")]
        for name in [] if continued and " X(" not in line else names_of(line, block):
            first.setdefault(name, n)
            if "\1" in code[n] or set(above.strip()) == {"\1"} or re.search(r"\b%s\b" % name, paragraph + heading):
                good.add(name)
        if BLOCK.match(line):
            block, heading = BLOCK.match(line)[1], paragraph
        elif line.startswith("}"):
            block, heading = "", ""
        continued = line.endswith("\\") or (not block and line.count("(") > line.count(")"))
    # An enumerator that a macro makes is in the list of a comment.
    listed = set(re.findall(r"^ \* (REX_\w+)  ", text, re.M))
    count += len(first)
    undocumented += ["%s:%d: %s" % (path, n, name) for name, n in first.items() if name not in good | listed]
print(*undocumented, "undocumented public names: %d of %d" % (len(undocumented), count), sep="\n")
sys.exit(1 if undocumented or count < 600 else 0)
PYTHON
