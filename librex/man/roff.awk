# roff.awk - the text of a comment, a declaration or the members of a struct as roff.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

# Writes the lines of a comment, source[1] to source[count], as paragraphs, lists and examples.
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

# Where the first enumerator of @body ends. The last one has no comma.
function enumerator_end(body)
{
    return match(body, /,|\/\*/) ? RSTART : length(body) + 1
}

# The members of a struct, or those of an enum that have a comment, each with its own.
function members(body,   separator, piece, pending, count, k, member, about)
{
    separator = body ~ /^(typedef )?enum/ ? "," : ";"
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
            k = separator == "," ? enumerator_end(body) : index(body, ";")
            if (k == 0)
                break
            member[++count] = substr(body, 1, k - 1)
            body = substr(body, k + (substr(body, k, 1) == separator))
            about[count] = pending
            pending = ""
        }
    }
    for (k = 1; k <= count; k++) {
        if (separator == "," && about[k] == "")
            continue
        gsub(/ +/, " ", about[k])
        sub(/ +$/, "", member[k])
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
