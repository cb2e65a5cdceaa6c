"""Converts the Markdown of this project's texts to HTML: headings, paragraphs, lists, tables,
blocks of code, links, pictures, `code`, **bold**, *emphasis*.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import html
import re


def anchor(text):
    """Returns the name of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def inline(text, link):
    """LINK returns the page for the target of a link, or None to keep only the text."""
    parts = []

    def keep(code):
        parts.append(code)
        return "\0%d\0" % (len(parts) - 1)

    def linked(match):
        target = link(match.group(3))
        if match.group(1) and target:
            return keep('<img src="%s" alt="%s" loading="lazy">' %
                        (html.escape(target), html.escape(match.group(2))))
        if not target:
            return match.group(2)
        return keep('<a href="%s">' % html.escape(target)) + match.group(2) + keep("</a>")

    text = re.sub(r"`([^`]+)`", lambda m: keep("<code>%s</code>" % html.escape(m.group(1))), text)
    text = re.sub(r"<(https?://[^>]+)>",
                  lambda m: keep('<a href="%s">%s</a>' % (m.group(1), m.group(1))), text)
    text = re.sub(r"(!?)\[([^]]+)\]\(([^)]+)\)", linked, text)
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\*([^* ][^*]*)\*", r"<em>\1</em>", text)
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda m: parts[int(m.group(1))], text)
    return text


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines, link):
    head, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    out = ['<div class="wide"><table>']
    if any(head):
        out.append("<thead><tr>%s</tr></thead>" %
                   "".join("<th>%s</th>" % inline(cell, link) for cell in head))
    for row in rows:
        out.append("<tr>%s</tr>" %
                   "".join("<td>%s</td>" % inline(cell, link) for cell in row))
    return "\n".join(out + ["</table></div>"])


def item_end(lines, at, indent):
    """Returns the line after the list item that begins before AT: its lines are indented."""
    while at < len(lines):
        if lines[at].strip() and not lines[at].startswith(" " * indent):
            break
        goes_on = at + 1 < len(lines) and lines[at + 1].startswith(" " * indent)
        if not lines[at].strip() and not goes_on:
            break
        at += 1
    return at


def items(lines, at, link):
    out = ["<ul>"]
    while at < len(lines) and lines[at].startswith("- "):
        end = item_end(lines, at + 1, 2)
        body = convert([lines[at][2:]] + [line[2:] for line in lines[at + 1:end]], link)
        out.append("<li>%s</li>" % re.sub(r"^<p>(.*?)</p>", r"\1", body, count=1, flags=re.S))
        at = end
    return "\n".join(out + ["</ul>"]), at


def while_true(lines, at, test):
    end = at
    while end < len(lines) and test(lines[end]):
        end += 1
    return end


def block(lines, at, link):
    """Returns the block at AT as HTML, and the number of the line after it."""
    line = lines[at]
    if line.startswith("```"):
        end = lines.index("```", at + 1)
        return "<pre>%s</pre>" % html.escape("\n".join(lines[at + 1:end])), end + 1
    if line.startswith("    "):
        end = while_true(lines, at, lambda text: text.startswith("    ") or not text.strip())
        text = "\n".join(text[4:] for text in lines[at:end]).rstrip()
        return "<pre>%s</pre>" % html.escape(text), end
    if line.startswith("#"):
        level, text = len(line) - len(line.lstrip("#")), line.lstrip("# ")
        return '<h%d id="%s">%s</h%d>' % (level, anchor(text), inline(text, link), level), at + 1
    if line.startswith("|"):
        end = while_true(lines, at, lambda text: text.startswith("|"))
        return table(lines[at:end], link), end
    if line.startswith("- "):
        return items(lines, at, link)
    end = while_true(lines, at + 1,
                     lambda text: text.strip() and not re.match(r"```|- |\||#", text))
    return "<p>%s</p>" % inline("\n".join(lines[at:end]), link), end


def convert(lines, link):
    out, at = [], 0
    while at < len(lines):
        if lines[at].strip():
            text, at = block(lines, at, link)
            out.append(text)
        else:
            at += 1
    return "\n".join(out)
