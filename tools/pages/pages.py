#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: tools/pages/pages.py FOLDER MANUAL [FIGURE.svg]...

Writes the manual as linked pages to FOLDER, which is build/html for `make html`: the man pages of
the folder MANUAL and of the tools, by mandoc, the README, the examples with their sources, the
changes, figures of benchmarks, an entry page, and a search that needs no server.

A name that has a page is a link to it, in code too. A page with many headings has a table of
contents. A page of the reference shows how a lesson uses its names.
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
from lessons import Lessons, folder_of  # noqa: E402

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
MANY = 8  # headings of a page that has a table of contents, without those of every man page
USUAL = ("SYNOPSIS", "DESCRIPTION", "HISTORY", "SEE_ALSO")

WAYS = """<p><a href="readme.html#a-first-program-by-hand">A first program</a>,
<a href="tutorial.html">lessons</a> with their programs,
<a href="librex.7.html#Releases">what runs on which LLVM release</a>,
<a href="rex-troubleshooting.7.html">from a symptom to its cause</a>,
<a href="changes.html">what changed</a>.</p>"""

# Text without names to link (a link, a tag, a character reference), a header, or another name.
A_NAME = re.compile(r"<a\b.*?</a>|<[^>]*>|&#?\w+;|\brex(?:[/_]\w+)?\.h\b|\b[A-Za-z_]\w*\b", re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class ManPage:
    def __init__(self, path):
        self.path = path
        self.name, self.section = os.path.basename(path).rsplit(".", 1)
        self.file = "%s.%s.html" % (self.name, self.section)
        text = read(path)
        self.version = re.search(r'^\.TH .*"(librex [0-9.]+)"', text, re.M).group(1)
        names = re.search(r"^\.SH NAME\n(.*?)^\.SH", text, re.S | re.M).group(1)
        names = names.replace("\n", " ").replace("\\-", "-").replace("\\%", "")
        listed, about = names.strip().split(" - ", 1)
        self.about = re.sub(r"\\f[BIRP]", "", about)
        self.names = [name.strip() for name in listed.split(",")]
        header = re.search(r"^\.B #include <(.*)>", text, re.M) if self.section == "3" else None
        # A header's own page comes before those of its parts.
        self.order = (header.group(1) if header else "", not self.name.endswith(".h"),
                      self.name.lower(), self.name)


def for_mandoc(text):
    """Prepares code in the page TEXT for mandoc 1.14.6, which breaks the line before one that
    begins with a blank, and drops empty lines. Marks such lines with U+E000, removed later."""
    lines, is_code = [], False
    for line in text.split("\n"):
        if re.match(r"\.(EX|EE|nf|fi)$", line):
            is_code = line in (".EX", ".nf")
        elif is_code and re.match(" |$", line):
            line = "\\&" + line if line else "\\[uE000]"
        lines.append(line)
    return "\n".join(lines)


def plain(markup):
    """Returns the visible text of MARKUP, for the search, without navigation."""
    markup = re.sub(r"<(nav|details)\b.*?</\1>|</?(?:a|b|i|em|strong|code|span|wbr)\b[^>]*>", "",
                    markup, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def with_contents(body, begin):
    """Returns BODY with a table of its headings after the first BEGIN, if there are many."""
    head, begin, rest = body.partition(begin)
    found = re.findall(r'<h[12][^>]* id="([^"]+)">(.*?)</h', rest, re.S)
    listed = ['<li><a href="#%s">%s</a></li>' % (place, html.escape(plain(title)))
              for place, title in found if place not in USUAL]
    if len(listed) < MANY:
        return body
    return '%s%s\n<details class="contents" open><summary>Contents</summary><ul>\n%s\n</ul>' \
           "</details>%s" % (head, begin, "\n".join(listed), rest)


CURRENT = ' aria-current="page"'


def link_list(links, here):
    """Returns LINKS, pairs of a file and a name, as HTML; marks the link to HERE."""
    return " ".join('<a href="%s"%s>%s</a>' % (file, CURRENT if file == here else "", name)
                    for file, name in links)


def frame(title, body, here, version):
    links = [("index.html", "librex")] + [(file, name) for file, name in TEXTS.values()]
    return """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="stylesheet" href="pages.css">
<nav class="top">%s<form role="search" action="index.html"><input id="search" type="search" name="q"
    placeholder="Search" aria-label="Search" autocomplete="off"></form></nav>
<div id="found" role="status"></div>
<main>
%s
</main>
<footer>%s</footer>
<script src="search.js"></script>
</html>
""" % (html.escape(title), link_list(links, here), body, version)


class Site:
    def __init__(self, folder, manual):
        self.folder = folder
        paths = glob.glob(manual + "/*.[37]") + glob.glob("tools/*.1")
        self.pages = sorted(map(ManPage, paths), key=lambda page: page.order)
        self.targets = {(name, page.section): page.file
                        for page in self.pages for name in page.names}
        self.reference = {name: file for (name, section), file in self.targets.items()
                          if section == "3"}
        self.version, = {page.version for page in self.pages}
        self.lessons = Lessons()
        self.words = []  # for the search: [title, file, text, names]
        self.sources = set()

    def write(self, file, title, body, names=()):
        self.words.append([title, file, plain(body), names])
        with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
            out.write(frame(title, body, file, self.version))

    def with_names(self, body, here, kernels={}):
        """Returns BODY with a link from each name to its page or kernel, except names of HERE."""
        def link(match):
            name = match.group(0)
            file = kernels.get(name) or self.reference.get(
                name.replace("rex/", "rex_") if name.endswith(".h") else name)
            return '<a href="%s">%s</a>' % (file, name) if file not in (None, here) else name
        return A_NAME.sub(link, body)

    # ---- man pages

    def refer(self, match):
        file = self.targets.get((html.unescape(match.group(3)), match.group(5)))
        return '<a href="%s">%s</a>' % (file, match.group(0)) if file else match.group(0)

    def with_pages(self, body):
        """Returns BODY with links from names like name(3) that are not links yet."""
        # A single name may be bold; mandoc breaks lines at any blank.
        return re.sub(r"(<a\b.*?</a>)|(<b>)?\b([A-Za-z_][\w.-]*)(</b>)?\((\d)\)",
                      lambda match: match.group(1) or self.refer(match), body, flags=re.S)

    def man_page(self, page):
        body = subprocess.run(["mandoc", "-Thtml", "-O", "fragment"], check=True, text=True,
                              capture_output=True, input=for_mandoc(read(page.path))).stdout
        body = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", body, flags=re.S)
        body = body.replace("&#xE000;", "")
        # A term of a list does not link to itself: it may link to its page.
        body = re.sub(r'(<dt[^>]*>)<a class="permalink"[^>]*>(.*?)</a>', r"\1\2", body, flags=re.S)
        # mandoc makes two blocks of a paragraph's break in a block that is not filled.
        body = re.sub(r"</pre>\n<pre>", "\n\n", body).replace('<p class="Pp"></p>\n', "")
        body = re.sub(r"(<pre>.*?</pre>|<table class=\"tbl\".*?</table>)",
                      r'<div class="wide">\1</div>', body, flags=re.S)
        body = self.with_names(self.with_pages(body), page.file)
        if page.section == "3":
            body = re.sub(r'(?=<section class="Sh">\n<h1 class="Sh" id="HISTORY">)',
                          lambda _: self.examples(page), body)
        self.write(page.file, "%s(%s)" % (page.name, page.section),
                   '<h1 class="title">%s</h1>\n%s' %
                   (html.escape(page.name), with_contents(body, "</section>")), page.names)

    def examples(self, page):
        out = ['<p class="Pp">In <a href="%s#L%d">%s, line %d</a>:</p>\n'
               '<div class="wide"><pre class="lesson">%s</pre></div>' %
               (self.source(path), line, path[len("examples/"):], line,
                self.with_names(html.escape(text), page.file))
               for path, line, text in self.lessons.that_use(page.names)]
        if not out:
            return ""
        heading = '<h1 class="Sh" id="EXAMPLES">EXAMPLES</h1>'
        return '<section class="Sh">\n%s\n</section>\n' % "\n".join([heading] + out)

    # ---- texts and sources

    def source(self, path):
        """Returns the page of the source at PATH, and writes it at the first call."""
        file = "source-" + path.replace("/", "-") + ".html"
        if path not in self.sources:
            self.sources.add(path)
            self.write(file, path, '<h1 class="title">%s</h1>\n%s<pre class="source">%s</pre>' %
                       (html.escape(path).replace("/", "/<wbr>"), self.beside(path, file),
                        self.code(path, file)))
        return file

    def code(self, path, file):
        def included(match):
            at = os.path.normpath(os.path.join(os.path.dirname(path), match.group(2)))
            if not os.path.isfile(at):
                return match.group(0)
            return '%s<a href="%s">%s</a>' % (match.group(1), self.source(at), match.group(2))

        text = re.sub(r"^(# *include &quot;)([^&]+)", included, html.escape(read(path)), flags=re.M)
        kernels = {name: self.source(at) + "#L%d" % line
                   for name, (at, line) in self.lessons.kernels_beside(path).items()}
        lines = self.with_names(text, file, kernels).split("\n")
        return "\n".join('<span id="L%d">%s</span>' % one for one in enumerate(lines, 1))

    def beside(self, path, here):
        """Returns a bar with the files of an example, and the lessons before and after it."""
        folder = folder_of(path)
        if folder is None:
            return ""
        files = [(self.source(at), html.escape(at[len(folder) + 1:]))
                 for at in self.lessons.files(folder)]
        before, after = self.lessons.neighbours(folder)
        ends = ['<a rel="%s" href="%s">%s</a>' % (rel, self.source(at), form % at.split("/")[1])
                if at else "<span></span>"
                for rel, at, form in (("prev", before, "← %s"), ("next", after, "%s →"))]
        return '<nav class="beside" aria-label="%s">%s<span>%s</span>%s</nav>\n' % \
               (folder, ends[0], link_list(files, here), ends[1])

    def link_from(self, path):
        def link(target):
            if re.match(r"https?://", target):
                return target
            where, _, place = target.partition("#")
            at = os.path.normpath(os.path.join(os.path.dirname(path), where)) if where else path
            place = "#" + place if place else ""
            if at in TEXTS:
                return TEXTS[at][0] + place
            name, _, section = os.path.basename(at).rpartition(".")
            if (name, section) in self.targets:
                return self.targets[name, section]
            if re.search(r"\.(svg|png)$", at):
                return shutil.copy(at, self.folder) and os.path.basename(at)
            is_source = os.path.isfile(at) and not at.endswith(".md") and at != "LICENSE"
            return self.source(at) if is_source else None
        return link

    def text(self, path):
        file, name = TEXTS[path]
        body = markdown.convert(read(path).split("\n"), self.link_from(path))
        body = self.with_names(self.with_pages(body), file)
        self.write(file, name, with_contents(body, "</h1>"))

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
        first = read("README.md").split("\n\n")[1]
        body = ['<h1 class="title">librex</h1>',
                "<p>%s</p>" % markdown.inline(first, self.link_from("README.md")), WAYS]
        for title, belongs in GROUPS:
            body.append('<h2 id="%s">%s</h2>\n%s' %
                        (markdown.anchor(title), title, self.listed(belongs)))
        body.append('<h2 id="lessons">Lessons</h2>\n<ul class="sources">%s</ul>' %
                    "".join('<li><a href="%s">%s</a></li>' % (self.source(path), path.split("/")[1])
                            for path in self.lessons.programs))
        body.append(self.figures(figures))
        self.write("index.html", "librex", "\n".join(body))

    def search(self):
        with open(os.path.join(self.folder, "words.js"), "w", encoding="utf-8") as out:
            text = json.dumps(self.words, ensure_ascii=False, separators=(",", ":"))
            out.write("const words = %s;\n" % text.replace("</", "<\\/"))
        for file in ("search.js", "pages.css"):
            shutil.copy(os.path.join(OWN, file), self.folder)


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__, end="")
        sys.exit()
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
    site.index(figures)
    site.search()
    print("%s/index.html: %d pages" % (os.path.relpath(folder, TOP), len(site.words)))


main()
