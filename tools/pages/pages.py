#!/usr/bin/env python3
"""usage: tools/pages/pages.py FOLDER MANUAL [FIGURE.svg]...

Write the manual as linked pages to FOLDER, which `make html` calls build/html: man pages, those in
the folder MANUAL and those of the tools, by mandoc, the README, the lessons with their programs,
what changed, figures of benchmarks, an entry page, and a search that needs no server.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import markdown  # noqa: E402

OWN = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(OWN))
TEXTS = {
    "README.md": ("readme.html", "Overview"),
    "examples/README.md": ("tutorial.html", "Lessons"),
    "tests/bench/README.md": ("measurements.html", "Measurements"),
    "CHANGELOG.md": ("changes.html", "Changes"),
}
GROUPS = [
    ("Guides", lambda page: page.section == "7"),
    ("Tools", lambda page: page.section == "1"),
    ("Reference, by header",
     lambda page: page.section == "3" and not page.name.startswith("REX_E")),
    ("Errors", lambda page: page.name.startswith("REX_E")),
]


WAYS = """<p><a href="readme.html#a-first-program">A first program</a>,
<a href="tutorial.html">lessons</a> with their programs,
<a href="librex.7.html#Releases">what runs on which LLVM release</a>,
<a href="rex-troubleshooting.7.html">from a symptom to its cause</a>,
<a href="changes.html">what changed</a>.</p>"""


class ManPage:
    def __init__(self, path):
        self.path = path
        self.name, self.section = os.path.basename(path).rsplit(".", 1)
        self.file = "%s.%s.html" % (self.name, self.section)
        text = open(path, encoding="utf-8").read()
        names = re.search(r"^\.SH NAME\n(.*?)^\.SH", text, re.S | re.M).group(1)
        names = names.replace("\n", " ").replace("\\-", "-").replace("\\%", "")
        listed, self.about = names.strip().split(" - ", 1)
        self.names = [name.strip() for name in listed.split(",")]
        header = re.search(r"^\.B #include <(.*)>", text, re.M) if self.section == "3" else None
        # A header's own page comes before those of its parts.
        self.order = (header.group(1) if header else "", not self.name.endswith(".h"),
                      self.name.lower(), self.name)


def plain(markup):
    """What a reader sees of MARKUP, for the search."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


CURRENT = ' aria-current="page"'


def frame(title, body, here=""):
    links = [("index.html", "librex")] + [(file, name) for file, name in TEXTS.values()]
    bar = " ".join('<a href="%s"%s>%s</a>' % (file, CURRENT if file == here else "", name)
                   for file, name in links)
    return """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="stylesheet" href="pages.css">
<nav>%s<form role="search" action="index.html"><input id="search" type="search" name="q"
    placeholder="Search" aria-label="Search" autocomplete="off"></form></nav>
<div id="found" role="status"></div>
<main>
%s
</main>
<script src="words.js"></script>
<script src="search.js"></script>
</html>
""" % (html.escape(title), bar, body)


class Site:
    def __init__(self, folder, manual):
        self.folder = folder
        paths = glob.glob(manual + "/*.[37]") + glob.glob("tools/*.1")
        self.pages = sorted(map(ManPage, paths), key=lambda page: page.order)
        self.targets = {(name, page.section): page.file
                        for page in self.pages for name in page.names}
        self.words = []  # of the search: [title, file, what is on it, names]
        self.sources = set()

    def write(self, file, title, body, names=()):
        self.words.append([title, file, plain(body), names])
        with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
            out.write(frame(title, body, file))

    # ---- man pages

    def refer(self, match):
        file = self.targets.get((html.unescape(match.group(2)), match.group(4)))
        return '<a href="%s">%s</a>' % (file, match.group(0)) if file else match.group(0)

    def man_page(self, page):
        body = subprocess.run(["mandoc", "-Thtml", "-O", "fragment", page.path],
                              check=True, capture_output=True, text=True).stdout
        body = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", body, flags=re.S)
        # Where it stands alone; mandoc breaks lines wherever there is a blank.
        body = re.sub(r"(<b>)?\b([A-Za-z_][\w.-]*)(</b>)?\((\d)\)", self.refer, body)
        body = re.sub(r"(<pre>.*?</pre>|<table class=\"tbl\".*?</table>)",
                      r'<div class="wide">\1</div>', body, flags=re.S)
        self.write(page.file, "%s(%s)" % (page.name, page.section),
                   '<h1 class="title">%s</h1>\n%s' % (html.escape(page.name), body), page.names)

    # ---- texts and sources

    def source(self, path):
        file = "source-" + path.replace("/", "-") + ".html"
        if path not in self.sources:
            self.sources.add(path)
            text = open(path, encoding="utf-8").read()
            self.write(file, path, '<h1 class="title">%s</h1>\n<pre class="source">%s</pre>' %
                       (html.escape(path), html.escape(text)))
        return file

    def link_from(self, path):
        def link(target):
            if re.match(r"https?://", target):
                return target
            where, _, place = target.partition("#")
            at = os.path.normpath(os.path.join(os.path.dirname(path), where)) if where else path
            place = "#" + place if place else ""
            if at in TEXTS:
                return TEXTS[at][0] + place
            if re.search(r"\.(svg|png)$", at):
                return shutil.copy(at, self.folder) and os.path.basename(at)
            is_source = os.path.isfile(at) and not at.endswith(".md") and at != "LICENSE"
            return self.source(at) if is_source else None
        return link

    def text(self, path):
        file, name = TEXTS[path]
        lines = open(path, encoding="utf-8").read().split("\n")
        self.write(file, name, markdown.convert(lines, self.link_from(path)))

    def lessons(self):
        """Every program of a lesson, also where no text leads to it."""
        for path in sorted(glob.glob("examples/[0-9]*/*.c") + glob.glob("examples/[0-9]*/*.cu")):
            self.source(path)

    # ---- the entry page

    def listed(self, belongs):
        rows = ['<dt><a href="%s">%s</a></dt><dd>%s</dd>' %
                (page.file, html.escape(page.name), html.escape(page.about))
                for page in self.pages if belongs(page)]
        return "<dl class=\"pages\">\n%s\n</dl>" % "\n".join(rows)

    def figures(self, figures):
        out = []
        for path in figures:
            shutil.copy(path, self.folder)
            name = os.path.basename(path)
            about = html.escape(name.rsplit(".", 1)[0].replace("-", " "))
            out.append('<figure><img src="%s" alt="%s" loading="lazy"></figure>' % (name, about))
        return '<h2 id="figures">Benchmarks</h2>\n%s' % "\n".join(out) if out else ""

    def index(self, figures):
        first = open("README.md", encoding="utf-8").read().split("\n\n")[1]
        body = ['<h1 class="title">librex</h1>',
                "<p>%s</p>" % markdown.inline(first, self.link_from("README.md")), WAYS]
        for title, belongs in GROUPS:
            body.append('<h2 id="%s">%s</h2>\n%s' %
                        (markdown.anchor(title), title, self.listed(belongs)))
        body.append('<h2 id="programs">Programs of the lessons</h2>\n<ul class="sources">%s</ul>' %
                    "".join('<li><a href="%s">%s</a></li>' % (self.source(path), path)
                            for path in sorted(self.sources)))
        body.append(self.figures(figures))
        self.write("index.html", "librex", "\n".join(body))

    def search(self):
        with open(os.path.join(self.folder, "words.js"), "w", encoding="utf-8") as out:
            text = json.dumps(self.words, ensure_ascii=False, separators=(",", ":"))
            out.write("const words = %s;\n" % text.replace("</", "<\\/"))
        for file in ("search.js", "pages.css"):
            shutil.copy(os.path.join(OWN, file), self.folder)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, manual = map(os.path.abspath, sys.argv[1:3])
    figures = [os.path.abspath(path) for path in sys.argv[3:]]
    os.chdir(TOP)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    site = Site(folder, manual)
    for page in site.pages:
        site.man_page(page)
    for path in TEXTS:
        site.text(path)
    site.lessons()
    site.index(figures)
    site.search()
    print("%s/index.html: %d pages" % (os.path.relpath(folder, TOP), len(site.words)))


main()
