# headers.awk - reads what the man pages of section 3 are made of: the comments in the public
# headers, the texts of errors, the rows of facts on releases, and the guides. roff.awk writes text
# as roff, tables.awk the tables of guides, and pages.awk the pages: one for each header, one for
# each part of it that has a title, and one for each error.
#
#     cc -E librex/omp/release.c |
#         awk -v folder=FOLDER -f headers.awk -f roff.awk -f tables.awk -f pages.awk - \
#             errors.roff GUIDE... HEADER...
#
# FOLDER/links has a line for each further name of a page: the page, and the name of a link to it.
#
# A header has, as its own comments say to a reader:
#
#     /* rex/queue.h - one line. */       the header's page, rex_queue.h(3)
#     /* ---- Title ---- ... */           a page called after the first function that follows
#     /** name(): text */                 an entry, in front of its declaration
#
# In the text a blank line ends a paragraph, and four blanks begin code. Items begin with
# `@name  text`, `NAME  text`, `- text` or `1. text`. @name, `code`, **bold**, *italics*, name() and
# name(3) are printed so.
# The pages of errors have their texts in errors.roff. In a guide the line `.\" @VARIABLES@` becomes
# the list of variables, out of the comment of `enum rex_option`. `.\" @RELEASES@` becomes the table
# of releases and `.\" @MEMORY@` that of memory, out of the rows of facts in librex/omp/release.c.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function lower_first(text)
{
    return text ~ /^[A-Z][a-z ]/ ? tolower(substr(text, 1, 1)) substr(text, 2) : text
}

function new_page(title, name)
{
    current = ++pages
    header_of[current] = header
    title_of[current] = lower_first(title)
    name_of[current] = name
}

# The names that an entry documents: "struct rex_row: ...", "REX_TO(pointer, length): ..." or
# "rex_atomic_add(), rex_atomic_min() of each type". The first two keep what follows the colon.
# A comment that begins with other words is no entry.
function entry_title(text)
{
    if (match(text, /^[A-Za-z_0-9 ]*[A-Za-z_0-9](\([^:]*\))?( \{ \.\.\. \})?: /))
        return substr(text, 1, RLENGTH - 2)
    match(text, /^[A-Za-z_][A-Za-z_0-9]*\(\)(, [A-Za-z_][A-Za-z_0-9]*\(\))*/)
    return substr(text, 1, RLENGTH)
}

# A page is called after its header's struct, else its first function, else its first macro that
# has parameters.
function rank_of_name(title, name)
{
    if (name == "rex_" own_name)
        return 3
    if (name ~ /_STEM$/)
        return 0
    return index(title, name "()") ? 2 : index(title, name "(") ? 1 : 0
}

# False if an earlier entry has documented it.
function add_name(title, name,   rank)
{
    if (name in page_of)
        return entry_of[name] == entry
    page_of[name] = current
    entry_of[name] = entry
    names[current, ++name_count[current]] = name
    rank = rank_of_name(title, name)
    if (name_of[current] !~ /\.h$/ && rank > best_rank[current]) {
        best_rank[current] = rank
        name_of[current] = name
    }
    return 1
}

function add_names(title,   bare, list, count, k)
{
    bare = title
    sub(/^(struct|union|enum) /, "", bare)
    while (gsub(/\([^()]*\)/, "", bare)) # a parameter may have parentheses, too
        ;
    count = split(bare, list, ", ")
    for (k = 1; k <= count; k++) {
        sub(/ .*/, "", list[k])
        if (list[k] ~ /^[A-Za-z_]/ && !add_name(title, list[k]))
            repeated[entry] = 1
    }
}

# The comment as an entry, unless it is of a name that no program uses.
function add_entry(   title, k)
{
    title = entry_title(comment[1])
    if (title == "" || title ~ /^(rex_detail_|REX_DETAIL_)/ || comment[1] == title ": " title "().")
        return 0
    entry = ++entries
    if (index(comment[1], title ": ") == 1)
        comment[1] = substr(comment[1], length(title) + 3)
    if (comment[1] ~ /^[a-z]+[ ,:]/)
        comment[1] = toupper(substr(comment[1], 1, 1)) substr(comment[1], 2)
    heading[entry] = title
    page_of_entry[entry] = current
    for (k = 1; k <= comment_lines; k++)
        text_of[entry, k] = comment[k]
    lines_of[entry] = comment_lines
    add_names(title)
    return 1
}

function comment_ends(   k, line)
{
    in_comment = 0
    while (comment_lines > 0 && comment[comment_lines] == "")
        comment_lines--
    if (top_wanted) {
        top_wanted = 0
        line = comment[1]
        for (k = 2; k <= comment_lines && comment[k] != ""; k++)
            line = line " " comment[k]
        sub(/^[^ ]* - /, "", line)
        sub(/\.( .*)?$/, "", line)
        new_page(line, (own_name == "" ? "rex" : "rex_" own_name) ".h")
        keep_intro(k)
    } else if (comment[1] ~ /^---- /) {
        gsub(/^---- ([0-9]+\. )?| -*$/, "", comment[1])
        new_page(comment[1], "")
        keep_intro(2)
    } else if (is_doc)
        in_declaration = add_entry()
    declaration = ""
}

function keep_intro(from,   k)
{
    for (k = from; k <= comment_lines; k++)
        if (comment[k] !~ /^SPDX-/) {
            sub(/Everything here is since 0\.2 unless it says otherwise\. ?/, "", comment[k])
            intro[current, ++intro_lines[current]] = comment[k]
        }
}

# A declaration ends with the first line that ends it; a macro's is in its comment.
function declare(line)
{
    if (declaration == "" && line ~ /^(#|$|\/)/) {
        in_declaration = line ~ /^#(if|else|endif)/
        return
    }
    declaration = declaration (declaration == "" ? "" : "\n") line
    if (declaration ~ a_type)
        in_declaration = line !~ /^}|};?$/
    else
        in_declaration = line !~ /(;|\{|\))$/ || open_paren(declaration)
    if (!in_declaration)
        declared[entry] = declaration
}

BEGIN { a_type = "^(typedef )?(struct|union|enum)[^;(]*[{]" }

function open_paren(text) { return gsub(/\(/, "", text) > gsub(/\)/, "", text) }

FNR == 1 {
    kind = "releases"
    if (FILENAME ~ /\.h$/)
        kind = "header"
    else if (FILENAME ~ /\.roff$/)
        kind = "errors"
    else if (FILENAME ~ /\.7$/)
        kind = "guide"
    header = own_name = FILENAME
    sub(/.*include\//, "", header)
    sub(/.*\//, "", own_name)
    sub(/\.h$/, "", own_name)
    if (own_name == "rex" || own_name ~ /^rex_/)
        sub(/^rex_?/, "", own_name)
    top_wanted = kind == "header"
    in_comment = in_declaration = 0
}

kind == "releases" {
    releases = releases $0 " "
    next
}

kind == "guide" {
    if ($1 == ".TH" && !version) {
        date = $4
        version = $5 " " $6
        gsub(/"/, "", version)
    }
    guide_of[++guide_lines] = $0
    guide_file[guide_lines] = FILENAME
    next
}

kind == "errors" {
    if ($0 ~ /^\.\\" REX_E[A-Z]+$/)
        error = $2
    else if (error != "")
        error_text[error] = error_text[error] $0 "\n"
    next
}

header == "rex/error.h" && /^ *X\(REX_E[A-Z]+, -[0-9]+, "/ {
    split($0, part, /X\(|, /)
    error_name[++errors] = part[2]
    error_number[part[2]] = part[3]
    line = $0
    gsub(/^[^"]*"|"[^"]*$/, "", line)
    error_about[part[2]] = line
}

!in_comment && (/^\/\*\*/ || /^\/\*/ && !in_declaration) {
    is_doc = /^\/\*\*/
    in_comment = 1
    comment_lines = 0
    sub(/^\/\*+/, " ")
}

in_comment {
    ended = sub(/ *\*\/.*/, "")
    sub(/^ \*? ?/, "")
    if ($0 != "" || comment_lines)
        comment[++comment_lines] = $0
    if (ended)
        comment_ends()
    next
}

in_declaration { declare($0) }
