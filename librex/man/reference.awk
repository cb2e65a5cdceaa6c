# reference.awk - the reference pages, made of the comments in the public headers: one page for each
# header, one for each part of it that has a title, and one for each error.
#
#     cc -E librex/omp/release.c |
#         awk -v folder=FOLDER -f reference.awk - errors.roff GUIDE... HEADER...
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
# the list of variables, out of the comment of `enum rex_option`, and `.\" @RELEASES@` the table of
# releases, out of the rows of facts in librex/omp/release.c.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# ---- Reading ------------------------------------------------------------------------------------

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
function entry_title(text)
{
    if (match(text, /^[A-Za-z_0-9 ]*[A-Za-z_0-9](\([^:]*\))?( \{ \.\.\. \})?: /))
        return substr(text, 1, RLENGTH - 2)
    match(text, /^[A-Za-z_][A-Za-z_0-9]*(\(\))?(, [A-Za-z_][A-Za-z_0-9]*(\(\))?)*/)
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

header == "rex/offload.h" && /^ *X\(REX_[A-Z]+, -?[0-9]+, "/ {
    split($0, part, /X\(|, -?|"/)
    error_name[++errors] = part[2]
    error_number[part[2]] = "-" part[3]
    line = $0
    gsub(/^[^"]*"|"[^"]*$/, "", line)
    error_about[part[2]] = line
}

in_comment {
    line = $0
    ended = sub(/ *\*\/.*/, "", line)
    sub(/^ \*? ?/, "", line)
    if (!ended || line != "")
        comment[++comment_lines] = line
    if (ended)
        comment_ends()
    next
}

/^\/\*/ && !in_declaration || /^\/\*\*/ {
    is_doc = /^\/\*\*/
    comment_lines = 0
    line = $0
    sub(/^\/\*+ ?/, "", line)
    ended = sub(/ *\*\/.*/, "", line)
    if (line != "")
        comment[++comment_lines] = line
    in_comment = 1
    if (ended)
        comment_ends()
    next
}

in_declaration { declare($0) }

# ---- Writing ------------------------------------------------------------------------------------

function put(line) { print line > out }

function escaped(text)
{
    gsub(/\\/, "\\e", text)
    return text
}

function code_escaped(text)
{
    text = escaped(text)
    gsub(/-/, "\\-", text)
    gsub(/"/, "\\(dq", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

function bold(text) { return "\\fB" text "\\fR" }

# A name with parentheses: a link, unless it is on this page.
function call(name)
{
    if (name in page_of && page_of[name] != current) {
        also[page_of[name]] = 1
        return bold(name) "(3)"
    }
    return bold(name) "()"
}

BEGIN {
    a_mark = "`[^`]+`|[*][*][^*]+[*][*]|[*][a-z ]+[*]|@[A-Za-z][A-Za-z_0-9]*"
    a_mark = a_mark "|[A-Za-z_][A-Za-z_0-9-]*[(][1-8]?[)]"
}

# The marks of a text, from left to right.
function marked(text,   result, token)
{
    result = ""
    while (match(text, a_mark)) {
        result = result escaped(substr(text, 1, RSTART - 1))
        token = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (token ~ /^`/)
            token = bold(code_escaped(substr(token, 2, length(token) - 2)))
        else if (token ~ /^\*\*/)
            token = bold(substr(token, 3, length(token) - 4))
        else if (token ~ /^\*/)
            token = "\\fI" substr(token, 2, length(token) - 2) "\\fR"
        else if (token ~ /^@/)
            token = "\\fI" substr(token, 2) "\\fR"
        else if (token ~ /\(\)$/)
            token = call(substr(token, 1, length(token) - 2))
        else {
            if (token ~ /^(lib)?rex(-[a-z]+)?\([17]\)$/)
                also_guide[token] = 1
            sub(/\(/, "\\fR(", token)
            gsub(/-/, "\\-", token)
            token = "\\fB" token
        }
        result = result token
    }
    return result escaped(text)
}

# Lines of at most 78 characters; a sentence begins a line, as roff wants it.
function fill(text,   word, count, k, line)
{
    count = split(text, word, / +/)
    line = ""
    for (k = 1; k <= count; k++) {
        if (word[k] == "")
            continue
        if (line != "" && length(line) + length(word[k]) > 77) {
            put(line)
            line = ""
        }
        if (word[k] ~ /[_(]/)
            word[k] = "\\%" word[k] # no hyphen in it
        line = line (line == "" ? (word[k] ~ /^[.']/ ? "\\&" : "") : " ") word[k]
        if (word[k] ~ /[.!?]\)?$/) {
            put(line)
            line = ""
        }
    }
    if (line != "")
        put(line)
}

# What stands before a text: a paragraph, but not behind a heading or twice.
function break_before(macro)
{
    if (macro != ".PP" || !fresh)
        put(macro)
    fresh = 0
}

function flush(   text, k)
{
    text = buffer
    buffer = ""
    while (match(text, /\. Returns /)) {
        k = RSTART
        fill(marked(substr(text, 1, k)))
        put(".PP")
        text = substr(text, k + 2)
    }
    fill(marked(text))
}

function is_item(line) { return line ~ /^ ? ?(@?[A-Za-z_][A-Za-z_0-9.\/]*  +|- |[0-9]+\. )[^ ]/ }

function is_code(k) { return source[k] ~ /^    / }

function item(line,   tag)
{
    sub(/^ +/, "", line)
    if (line ~ /^- /) {
        break_before(".IP \\(bu 2")
        return substr(line, 3)
    }
    tag = line
    sub(/ .*/, "", tag)
    sub(/^[^ ]+ +/, "", line)
    break_before(".TP")
    put(tag ~ /^@/ ? ".I " substr(tag, 2) : ".B " tag)
    return line
}

# source[1] to source[count], the lines of a comment.
function prose(count,   k, line, in_item)
{
    buffer = ""
    in_item = 0
    for (k = 1; k <= count; k++) {
        line = source[k]
        if (line == "") {
            flush()
            in_item = 0
        } else if (is_item(line)) {
            flush()
            buffer = item(line)
            in_item = 1
        } else if (in_item && line ~ /^  /) {
            sub(/^ +/, "", line)
            buffer = buffer " " line
        } else if (is_code(k) && buffer == "") {
            break_before(".PP")
            put(".EX")
            put(code_escaped(substr(line, 5)))
            while (k < count && (is_code(k + 1) || source[k + 1] == "" && is_code(k + 2)))
                put(code_escaped(substr(source[++k], 5)))
            put(".EE")
        } else {
            if (buffer == "" || in_item || line ~ /^Returns /) {
                flush()
                break_before(".PP")
                in_item = 0
            }
            sub(/^ +/, "", line)
            buffer = buffer (buffer == "" ? "" : " ") line
        }
    }
    flush()
}

function entry_prose(n,   k)
{
    for (k = 1; k <= lines_of[n]; k++)
        source[k] = text_of[n, k]
    source[k] = ""
    prose(lines_of[n])
}

# The members of a struct, each with its comment.
function members(body,   piece, pending, count, k, member, about)
{
    sub(/^[^{]*\{/, "", body)
    sub(/\}[^}]*$/, "", body)
    gsub(/\n[ \t]*\*\//, " */", body)
    gsub(/\n[ \t]*\*?/, " ", body)
    count = 0
    pending = ""
    while (body ~ /[^ ]/) {
        sub(/^ +/, "", body)
        if (body ~ /^\/\*/) {
            k = index(body, "*/")
            piece = substr(body, 1, k - 1)
            body = substr(body, k + 2)
            if (piece ~ /^\/\*\*</)
                about[count] = substr(piece, 5)
            else if (piece ~ /^\/\*\*/)
                pending = substr(piece, 4)
        } else {
            k = index(body, ";")
            if (k == 0)
                break
            member[++count] = substr(body, 1, k - 1)
            body = substr(body, k + 1)
            about[count] = pending
            pending = ""
        }
    }
    for (k = 1; k <= count; k++) {
        gsub(/ +/, " ", about[k])
        put(".TP")
        put(".B " code_escaped(member[k]))
        fill(marked(about[k]))
    }
}

function prototype(text)
{
    sub(/ *(;|\{|= .*)?$/, "", text)
    gsub(/\n */, " ", text)
    gsub(/(REX_API|static|REX_PER_BINARY|extern|inline|REX_DEVICE) /, "", text)
    gsub(/__attribute__\(\(.*\)\)\)? ?/, "", text)
    gsub(/ *(__asm__\("[^"]*"\)|REX_PER_BINARY)/, "", text)
    sub(/ +$/, "", text)
    wrapped(text ";")
}

# A declaration, or a macro with its parameters, in lines that end behind a comma.
function wrapped(text,   words, count, k, line)
{
    count = split(text, words, /, /)
    line = words[1]
    if (length(line) > 70 && match(line, /\(/)) {
        put(".B \"" code_escaped(substr(line, 1, RSTART)) "\"")
        line = "        " substr(line, RSTART + 1)
    }
    for (k = 2; k <= count; k++) {
        line = line ","
        if (length(line) + length(words[k]) > 69) {
            put(".B \"" code_escaped(line) "\"")
            line = "       "
        }
        line = line " " words[k]
    }
    put(".B \"" code_escaped(line) "\"")
}

function page_head(name, about, section)
{
    put(".\\\" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    put(".TH " toupper(name) " 3 " date " \"" version "\" \"librex manual\"")
    put(".nh")
    put(".ad l")
    put(".SH NAME")
    fill(section " \\- " marked(about))
}

function include_line(file)
{
    put(".SH SYNOPSIS")
    put(".nf")
    put(".B #include <" file ">")
}

# Errors that the entries of a page name, and which of them.
function page_errors(   k, n, e, count, name, text)
{
    count = 0
    for (e = 1; e <= errors; e++) {
        name = error_name[e]
        text = ""
        for (n = first_entry; n <= last_entry; n++)
            if (heading[n] ~ /\(/ && index(all_text[n], name)) {
                k = heading[n]
                sub(/\(.*/, "", k)
                if (all_text[n] ~ name "([^A-Z_]|$)" && text !~ "(^|B)" k "\\\\")
                    text = text (text == "" ? "" : ", ") bold(k) "()"
            }
        if (text == "" || name == "REX_OK")
            continue
        if (count++ == 0)
            put(".SH ERRORS")
        put(".TP")
        put(".BR " name " (3)")
        fill(error_about[name] " (" text ")")
        returned_by[name] = returned_by[name] name_of[current] "\n"
    }
}

function see_also(   k, list, count, p)
{
    put(".SH SEE ALSO")
    count = 0
    for (k = 1; k <= pages; k++)
        if (k != current && name_of[k] != "" && (k in also || header_of[k] == header_of[current]))
            list[++count] = name_of[k] " (3)"
    delete_all(also)
    for (p in also_guide) {
        k = p
        sub(/\(/, " (", k)
        gsub(/-/, "\\-", k)
        list[++count] = k
    }
    delete_all(also_guide)
    list[++count] = "librex (7)"
    sort(list, count)
    for (k = 1; k <= count; k++)
        if (k == count || list[k] != list[k + 1])
            put(".BR \\%" list[k] (k == count ? "" : ","))
}

function delete_all(array,   k) { for (k in array) delete array[k] }

# By section, then name.
function sort_key(text) { return substr(text, length(text) - 1, 1) text }
function sort(list, count,   i, k, moved)
{
    for (i = 2; i <= count; i++) {
        moved = list[i]
        for (k = i - 1; k >= 1 && sort_key(list[k]) > sort_key(moved); k--)
            list[k + 1] = list[k]
        list[k + 1] = moved
    }
}

function write_page(   k, n, listed, own)
{
    out = folder "/" name_of[current] ".3"
    first_entry = last_entry = 0
    for (n = 1; n <= entries; n++)
        if (page_of_entry[n] == current) {
            if (!first_entry)
                first_entry = n
            last_entry = n
        }
    listed = name_of[current]
    own = name_of[current]
    if (sub(/\.h$/, "", own) && own != "rex" && !(own in page_of))
        listed = listed ", " own
    for (k = 1; k <= name_count[current]; k++)
        if (names[current, k] != name_of[current])
            listed = listed ", " names[current, k]
    page_head(name_of[current], title_of[current], listed)
    include_line(header_of[current])
    put(".PP")
    for (n = first_entry; n && n <= last_entry; n++) {
        if (repeated[n])
            continue
        if (declared[n] != "" && declared[n] !~ a_type && declared[n] !~ /^struct [a-z_]*;/)
            prototype(declared[n])
        else if (heading[n] ~ /^[A-Za-z_0-9]+\(.+\)/)
            wrapped(heading[n])
    }
    put(".fi")
    put(".SH DESCRIPTION")
    fresh = 1
    for (k = 1; k <= intro_lines[current]; k++)
        source[k] = intro[current, k]
    source[k] = ""
    prose(intro_lines[current])
    for (n = first_entry; n && n <= last_entry; n++) {
        if (repeated[n])
            continue
        put(".SS " code_escaped(heading[n]))
        fresh = 1
        entry_prose(n)
        if (declared[n] ~ /^(typedef )?(struct|union)[^;(]*\{/)
            members(declared[n])
    }
    page_errors()
    put(".SH HISTORY")
    put("Since librex 0.2, where nothing else is said.")
    see_also()
    close(out)
}

function write_error(name,   list, count, k, text, see)
{
    out = folder "/" name ".3"
    page_head(name, error_about[name], name)
    include_line("rex/offload.h")
    put(".PP")
    put(".BR " name " \"   /* " code_escaped(error_number[name]) " */\"")
    put(".fi")
    put(".SH DESCRIPTION")
    text = error_text[name]
    sub(/\.SH CAUSES AND CURES\n/,
        "&A message is printed with what stands in italics filled in.\n", text)
    see = index(text, ".SH SEE ALSO\n")
    printf "%s", substr(text, 1, see - 1) > out
    count = split(returned_by[name], list, /\n/) - 1 # a line each
    for (k = 1; k <= count; k++)
        list[k] = list[k] " (3)"
    if (count > 0) {
        put(".SH RETURNED BY")
        put("The functions of these pages, which say when:")
        sort(list, count)
        for (current = 1; current <= count; current++)
            put(".BR \\%" list[current] (current == count ? "." : ","))
    }
    put(".SH HISTORY")
    put("Since librex 0.2.")
    printf "%s", substr(text, see) > out
    close(out)
}

# The list of variables, out of the comment of enum rex_option.
function variables(   n, k, count)
{
    for (n = 1; heading[n] != "enum rex_option"; n++)
        if (n > entries)
            exit 1
    count = 0
    for (k = 1; k <= lines_of[n]; k++)
        if (text_of[n, k] ~ /^REX_OPTION_/ || (count && text_of[n, k] ~ /^  /)) {
            source[++count] = text_of[n, k]
            if (sub(/^REX_OPTION_[A-Z_]+ +/, "", source[count]))
                sub(/: /, "  ", source[count])
        }
    fresh = 1
    prose(count)
}

# What the braces behind `.NAME =` hold in @row.
function field(row, name)
{
    if (!match(row, "[.]" name " = *[{][^}]*"))
        return ""
    return substr(row, RSTART, RLENGTH)
}

function number_of(text, name)
{
    return match(text, "[.]" name " = [(]*[0-9]+") ? last_number(substr(text, RSTART, RLENGTH)) : 0
}

function last_number(text)
{
    sub(/.*[^0-9]/, "", text)
    return text + 0
}

function grid(form) { return number_of(form, "dimensions") == 3 ? "x, y, z" : "x" }
function has_memory(form) { return form ~ /dynamic_memory = [(]*(1|true)/ }

# What libomptarget of a release launches: plain, env, grid on a GPU, dynamic shared memory.
function facts(row,   plain, env, driver, grids, memory, most)
{
    plain = field(row, "plain")
    env = field(row, "env")
    driver = plain ~ /refused/
    grids = grid(env)
    if (!driver && grid(plain) != grids)
        grids = "plain " grid(plain) "; env " grids
    if (number_of(row, "most_teams"))
        grids = grids ", at most " number_of(row, "most_teams") " blocks"
    most = number_of(row, "most_dynamic_memory")
    if (!has_memory(env))
        memory = "no"
    else if (most)
        memory = "less than " (most + 1) / 1024 " KiB"
    else
        memory = row ~ /shared_memory_fixed/ ? "up to 48 KiB" : "yes"
    if (has_memory(env) && !driver && !has_memory(plain))
        memory = "env only, " memory
    return (driver ? "driver" : "yes") "\tyes\t" grids "\t" memory
}

# A line for releases with the same facts.
function release_table(   row, count, k, same, before)
{
    count = split(releases, row, /[{] *[.]number = /)
    put(".TS")
    put("l l l l l.")
    put("LLVM\tplain\tenv\tgrid on a GPU\tdynamic shared memory")
    for (k = 2; k <= count; k++) {
        if (k > 2 && facts(row[k]) != before) {
            put(same "\t" before)
            same = ""
        }
        same = same (same == "" ? "" : ", ") (row[k] + 0)
        before = facts(row[k])
    }
    put(same "\t" before)
    put(".TE")
}

END {
    for (k = 1; k <= entries; k++)
        for (n = 1; n <= lines_of[k]; n++)
            all_text[k] = all_text[k] " " text_of[k, n]
    for (current = 1; current <= pages; current++)
        if (name_of[current] != "")
            write_page()
    current = 0
    for (e = 2; e <= errors; e++)
        write_error(error_name[e])
    current = 0
    for (g = 1; g <= guide_lines; g++) {
        out = guide_file[g]
        sub(/.*\//, folder "/", out)
        if (guide_of[g] == ".\\\" @VARIABLES@")
            variables()
        else if (guide_of[g] == ".\\\" @RELEASES@")
            release_table()
        else
            put(guide_of[g])
    }
}
