#!/bin/sh
# Every name that a public header declares has a comment of its own: functions, types, fields, enumerators, variables, macros.
#
# A name counts as documented by a comment that ends on the line before its declaration or begins on the line where it
# ends. Several declarations that follow one comment without a blank line count only if the comment names them; so do
# fields and enumerators without a comment of their own. Not counted: include guards, macros that the same header
# undefines again, forward declarations, and declarations in comments.
#
# usage: documented.sh [HEADER...]
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- include/*.h include/rex/*.h
exec python3 - "$@" <<'PYTHON'
import re
import subprocess
import sys

NAME = r"[A-Za-z_]\w*"


class Header:
    def __init__(self, path):
        self.path = path
        self.text = open(path).read()
        self.comments = []          # (start, end, text)
        self.missing = []           # (position, kind, name)
        self.seen = {}              # (kind, name): documented anywhere
        self.code = self.without_comments()
        self.defines = []           # (start, end, name)
        self.code = self.without_directives()

    def without_comments(self):
        out = list(self.text)
        for m in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', self.text, re.S):
            if m[0].startswith("/"):
                self.comments.append((m.start(), m.end(), m[0]))
                for i in range(m.start(), m.end()):
                    if out[i] != "\n":
                        out[i] = " "
        return "".join(out)

    def without_directives(self):
        code = self.code
        undefined = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(%s)" % NAME, code, re.M))
        guard = re.search(r"^[ \t]*#[ \t]*ifndef[ \t]+(%s)\s*\n[ \t]*#[ \t]*define[ \t]+\1[ \t]*\n" % NAME, code, re.M)
        for m in re.finditer(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", code, re.M):
            d = re.match(r"[ \t]*#[ \t]*define[ \t]+(%s)" % NAME, m[0])
            if d and d[1] not in undefined and not (guard and d[1] == guard[1]):
                self.defines.append((m.start(), m.end(), d[1]))
            code = code[: m.start()] + re.sub(r"[^\n]", " ", m[0]) + code[m.end():]
        # extern "C" and extern "C++" open a brace that is no body; its closing one is ignored in statements().
        return re.sub(r'extern\s+"C(?:\+\+)?"\s*\{', lambda m: re.sub(r"[^\n]", " ", m[0]), code)

    def statements(self):
        """(start, end, text) of each declaration at file scope; a function's body is left out of its text."""
        code, i, n = self.code, 0, len(self.code)
        while i < n:
            while i < n and (code[i].isspace() or code[i] in ";}"):
                i += 1
            start, depth, paren = i, 0, 0
            body = None
            while i < n:
                c = code[i]
                if c in "\"'":
                    i = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'').match(code, i).end()
                    continue
                if c in "([":
                    paren += 1
                elif c in ")]":
                    paren -= 1
                elif c == "{":
                    if depth == 0 and re.search(r"\)\s*$", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", code[start:i])) \
                            and not re.match(r"\s*(typedef|struct|union|enum)\b[^(]*$", code[start:i]):
                        body = i
                    depth += 1
                elif c == "}":
                    depth -= 1
                    if depth == 0 and body is not None:
                        i += 1
                        break
                elif c == ";" and depth == 0 and paren == 0:
                    break
                i += 1
            if start < n:
                yield start, i, code[start: body if body is not None else i]

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def comment_for(self, start, end):
        """the comment that belongs to what stands at start..end, and whether it stands directly at it"""
        last = self.text.find("\n", end)
        for s, e, text in self.comments:
            if end <= s < (last if last >= 0 else len(self.text)):
                return text, True
        before = [c for c in self.comments if c[1] <= start]
        # A comment behind another declaration on its line belongs to that one.
        while before:
            s, e, text = before[-1]
            head = self.code[self.text.rfind("\n", 0, s) + 1: s]
            if not head.strip() or self.line(e) == self.line(start):
                break
            before.pop()
        if not before:
            return "", False
        s, e, text = before[-1]
        gap = self.text[e:start]
        if not gap.strip() and gap.count("\n") <= 1:
            return text, True
        if not re.search(r"\n[ \t]*\n", gap):
            return text, False
        return "", False

    def check(self, kind, name, start, end, also="", short=None):
        """@also: a comment that may name it too; @short: its name there, for a field"""
        text, direct = self.comment_for(start, end)
        ok = direct or re.search(r"\b%s\b" % re.escape(short or name), text + " " + also) is not None
        key = (kind, name)
        if key not in self.seen:
            self.seen[key] = [False, start]
        self.seen[key][0] |= bool(ok)

    def members(self, kind, outer, text, start, body_start, body_end, splitter):
        comment = self.comment_for(start, start)[0]
        position = body_start
        for part in splitter(self.code[body_start:body_end]):
            names = member_names(part, kind)
            first = position + len(part) - len(part.lstrip())
            for name in names:
                self.check(kind, outer + "." + name if kind == "field" else name, first, first + len(part.strip()),
                           comment, name)
            position += len(part) + 1

    def run(self):
        for start, end, name in self.defines:
            self.check("macro", name, start, end)
        for start, end, text in self.statements():
            self.declaration(start, end, text)
        self.generated_enumerators()
        return [(self.line(p), k, n) for (k, n), (ok, p) in self.seen.items() if not ok]

    def declaration(self, start, end, text):
        flat = text
        while True:        # attributes and asm labels nest parentheses
            m = re.search(r"\b(__attribute__|__asm__|asm|alignas|_Alignas|__declspec)\s*\(", flat)
            if not m:
                break
            depth, i = 1, m.end()
            while depth and i < len(flat):
                depth += (flat[i] == "(") - (flat[i] == ")")
                i += 1
            flat = flat[: m.start()] + " " * (i - m.start()) + flat[i:]
        if re.match(r"(REX_STATIC_ASSERT|_Static_assert|static_assert)\b", flat):
            return
        aggregate = re.match(r"(typedef\s+)?(struct|union|enum)\s*(%s)?\s*\{" % NAME, flat)
        if aggregate:
            opening = flat.index("{")
            closing = flat.rindex("}")
            tail = re.findall(NAME, flat[closing + 1:])
            outer = aggregate[3] or (tail[-1] if tail else "")
            if outer:
                self.check("type", outer, start, end)
            if aggregate[1] and tail and tail[-1] != aggregate[3]:
                self.check("type", tail[-1], start, end, self.comment_for(start, start)[0])
            kind = "enumerator" if aggregate[2] == "enum" else "field"
            separator = "," if kind == "enumerator" else ";"
            self.members(kind, outer, flat, start, start + opening + 1, start + closing, lambda s: split(s, separator))
            return
        if re.match(r"(struct|union|enum)\s+%s\s*$" % NAME, flat.strip()):
            return
        if flat.startswith("typedef"):
            m = re.search(r"\(\s*\*\s*(%s)\s*\)\s*\(" % NAME, flat)
            name = m[1] if m else re.findall(NAME, re.sub(r"\[[^\]]*\]", "", flat))[-1]
            self.check("type", name, start, end)
            return
        before_value = flat.split("=")[0]
        m = re.search(r"(%s)\s*\(" % NAME, before_value)
        if m:
            self.check("function", m[1], start, start + len(text))
        else:
            names = re.findall(NAME, re.sub(r"\[[^\]]*\]", "", before_value))
            if names:
                self.check("variable", names[-1], start, end)

    def generated_enumerators(self):
        """those that a macro writes: named in the comment before their enum"""
        for m in re.finditer(r"\benum\s+(%s)\s*\{" % NAME, self.code):
            if not re.search(r"\b[A-Z_]+\([A-Z_]+\)", self.code[m.end(): self.code.find("}", m.end())]):
                continue
            out = subprocess.run(["gcc", "-E", "-P", "-Iinclude", self.path], capture_output=True, text=True).stdout
            body = re.search(r"\benum\s+%s\s*\{(.*?)\}" % m[1], out, re.S)
            comment = self.comment_for(m.start(), m.start())[0]
            self.seen = {k: v for k, v in self.seen.items() if not (k[0] == "enumerator" and v[1] > m.end() and
                                                                  v[1] < self.code.find("}", m.end()))}
            for part in split(body[1] if body else "", ","):
                name = re.match(r"\s*(%s)" % NAME, part)
                if name:
                    named = re.search(r"\b%s\b" % name[1], comment) is not None
                    self.seen[("enumerator", name[1])] = [named, m.start()]


def split(text, separator):
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == separator and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return parts + [current]


def member_names(part, kind):
    if kind == "enumerator":
        m = re.match(r"\s*(%s)" % NAME, part)
        return [m[1]] if m else []
    part = part.strip()
    if not part:
        return []
    m = re.search(r"\(\s*\*\s*(%s)\s*\)\s*\(" % NAME, part)
    if m:
        return [m[1]]
    part = re.sub(r"\{.*\}", "", part, flags=re.S)
    names = []
    for declarator in split(part, ","):
        found = re.findall(NAME, re.sub(r"\[[^\]]*\]|:\s*\d+", "", declarator))
        if found:
            names.append(found[-1])
    return names


total, undocumented = {}, []
for path in sys.argv[1:]:
    header = Header(path)
    for line, kind, name in header.run():
        undocumented.append("%s:%d: %s %s" % (path, line, kind, name))
    for kind, _ in header.seen:
        total[kind] = total.get(kind, 0) + 1
for line in undocumented:
    print(line)
print("public names: " + ", ".join("%d %ss" % (n, k) for k, n in sorted(total.items())))
print("undocumented public names: %d" % len(undocumented))
sys.exit(1 if undocumented else 0)
PYTHON
