"""The examples, for the links of pages.py: their files, the order of the lessons, their kernels,
and the lines that use a name of the reference.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import glob
import os
import re

import markdown

SHOWN = (".c", ".f90", ".py", ".rs", ".cu", ".h", ".sh", ".awk", ".txt", ".mlir")
WRONG = "examples/17_broken"  # broken on purpose: not an example of use


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def folder_of(path):
    """Returns the example that the file at PATH belongs to, or None."""
    match = re.match(r"(examples/\w+)/", path)
    return match and match.group(1)


class Lessons:
    def __init__(self):
        # Of examples/README.md: the table of lessons has columns, each in the order to read it.
        rows = [markdown.cells(line) for line in read("examples/README.md").split("\n")
                if re.match(r"\|.*\]\(\d\d_", line)]
        self.columns = [["examples/" + re.search(r"\]\(([^)]+)\)", cell).group(1)
                         for cell in column if cell] for column in zip(*rows)]
        self.programs = sorted(path for column in self.columns for path in column)
        self.parts = [part for path in self.programs if folder_of(path) != WRONG
                      for at in self.files(folder_of(path)) for part in self.parts_of(at)]

    def files(self, folder):
        found = glob.glob(folder + "/**/*", recursive=True)
        return [path for suffix in SHOWN for path in sorted(found) if path.endswith(suffix)]

    def neighbours(self, folder):
        """Returns the programs of the lessons before and after FOLDER's, or None for each."""
        for column in self.columns:
            folders = list(map(folder_of, column))
            if folder in folders:
                at = folders.index(folder)
                padded = [None] + column + [None]
                return padded[at], padded[at + 2]
        return None, None

    def kernels_beside(self, path):
        """Returns the kernels of the example of PATH: {name: (file, line)}."""
        found = {}
        for at in self.files(folder_of(path)) if folder_of(path) else ():
            for number, line in enumerate(read(at).split("\n"), 1):
                match = re.match(r"REX_DEVICE_KERNEL(?:_STEM)?\((\w+)", line)
                if match and at != path:
                    found[match.group(1)] = at, number
        return found

    def parts_of(self, path):
        """Returns the parts between blank lines: (path, line, text, names used). Skips the head."""
        line, out = 1, []
        for text in read(path).rstrip("\n").split("\n\n"):
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            out.append((path, line, text, set(re.findall(r"[A-Za-z_]\w*", code))))
            line += text.count("\n") + 2
        return out

    def that_use(self, names):
        """Returns few parts that use all NAMES that lessons use: (path, line, text)."""
        wanted, out = set(names), []
        while True:
            best = max(self.parts, key=lambda part: len(part[3] & wanted))
            if not best[3] & wanted:
                return sorted(out)
            wanted -= best[3]
            out.append(best[:3])
