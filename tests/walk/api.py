"""The public functions: those that librex/librex.map exports, as the headers declare and document them."""
import glob
import re
import sys

USAGE = """usage: python3 tests/walk/api.py [--header]

Prints a line for each exported function: name, result, parameters, documented errors. With --header: prints macros of names and errors for the walk.
"""


class Function:
    def __init__(self, name, result, parameters, comment, header):
        self.name = name
        self.result = result            # "int", "const char *"
        self.parameters = parameters    # (type, name)
        self.comment = comment
        self.header = header
        self.errors = set()             # "REX_EINVAL"

    def pointers(self):
        """numbers of the parameters that are pointers; a function's type is one, too"""
        return [i for i, (kind, name) in enumerate(self.parameters) if "*" in kind]


def exported(path="librex/librex.map"):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    return re.findall(r"\b(rex_\w+);", text)


# Types of functions, which a parameter that points to one has in front of its star.
FUNCTION_TYPES = ("rex_mapper", "rex_rows", "rex_info_row", "rex_log_function")


def parameter(text):
    text = " ".join(text.split())
    inside = re.match(r"(.*)\(\*(\w+)\)\s*\((.*)\)$", text)
    if inside:
        return "%s(*)(%s)" % (inside[1].strip(), inside[3]), inside[2]
    found = re.match(r"(.*?)(\w+)(\[\w*\])?$", text)
    return found[1].strip() + (" *" if found[3] else ""), found[2]


def split(text):
    """at the commas that are in no parentheses"""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p for p in parts if p.strip() not in ("", "void")]


DECLARED = re.compile(r"(/\*\*(?:(?!\*/).)*\*/\s*)?(?:\b(?:REX_API|static inline)\s+|^(?=\w+ rex___))"
                      r"((?:const\s+)?(?:struct\s+|enum\s+|unsigned\s+)?\w+[\s*]+)(\w+)\(", re.S | re.M)


def declarations(path):
    text = open(path).read()
    before = ""
    for found in DECLARED.finditer(text):
        depth, at = 1, found.end()
        while depth > 0:
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        comment = " ".join(re.sub(r"^\s*/?\*+/?", "", line) for line in (found[1] or "").split("\n"))
        comment = re.sub(r"\*/\s*$", "", " ".join(comment.split()))
        made = Function(found[3], " ".join(found[2].split()), [parameter(p) for p in split(text[found.end():at - 1])], comment, path)
        made.before = before
        before = made.name
        yield made


def read_errors(functions, one, seen=()):
    """the errors in the comment of a function, with those of the functions that it refers to"""
    if one.name in seen:
        return set()
    errors = set(re.findall(r"\bREX_E\w+", one.comment))
    others = set(re.findall(r"(?:error of|result of|those of|like|as|for|:|: calls|what) (rex_\w+)\(\)", one.comment))
    if re.search(r"[Rr]eturns likewise|[Ll]ikewise\b", one.comment):
        others.add(one.before)
    bare = one.name.replace("rex_module_", "rex_")
    if bare != one.name and re.search(r"\b%s\(\) for @module" % bare, one.comment):
        others.add(bare)
    for other in others:
        if other in functions:
            errors |= read_errors(functions, functions[other], seen + (one.name,))
    return errors


def functions():
    """all of them, by name, in the order of the map"""
    declared = {}
    for path in sorted(glob.glob("include/*.h") + glob.glob("include/rex/*.h")):
        for one in declarations(path):
            declared.setdefault(one.name, one)
    found = {}
    for name in exported():
        if name not in declared:
            raise SystemExit("%s is exported, and no public header declares it" % name)
        if not declared[name].comment:
            raise SystemExit("%s has no comment in %s" % (name, declared[name].header))
        found[name] = declared[name]
        found[name].errors = read_errors(declared, declared[name])
        inline = declared.get(name.replace("rex_module_", "rex_"), declared[name])
        found[name].documented = found[name].comment + " " + inline.comment
    return found


def header(path="include/rex/error.h"):
    """for the walk, in C: of each function the errors that it may return, bit -error, and all their names"""
    numbers = {name: -int(value) for name, value in re.findall(r"X\((REX_E\w+), (-\d+),", open(path).read())}
    yield "/* Written by tests/walk/api.py from the headers. */"
    for name, one in functions().items():
        yield "#define ERRORS_%s 0x%xu" % (name, sum(1 << numbers[e] for e in one.errors))
    yield "#define EXPORTED_NAMES " + ", ".join('"%s"' % name for name in functions())


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked in (["-h"], ["--help"]):
        print(USAGE, end="")
    elif asked == ["--header"]:
        print("\n".join(header()))
    elif asked:
        print(USAGE, end="", file=sys.stderr)
        sys.exit(2)
    else:
        for name, one in functions().items():
            print("%s\t%s\t%s\t%s" % (name, one.result, "; ".join("%s %s" % p for p in one.parameters), " ".join(sorted(one.errors))))
