# completions.awk - makes the completion of a program from the output of its --help.
#
# usage: PROGRAM --help | awk -v program=PROGRAM -v shell=bash|zsh|fish -f completions.awk
#
# An option is a line of the help that begins with two spaces and a dash: its names, its argument in
# capital letters, two spaces, and a description, which may continue in indented lines. If the
# description lists values, they are offered: "how threads wait: auto (the default), spin or block".
# FILE and LIB are files. The usage shows what else is on the command line: a PROGRAM with ARGUMENTs
# of its own, files, or nothing.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function trimmed(words) {
    gsub(/^ +| +$/, "", words)
    return words
}

# Returns the values that WORDS list, separated by spaces: the part after the last colon, without a
# semicolon and the text after it.
function values_in(words,    count, list, i, found) {
    sub(/;.*/, "", words)
    sub(/.*: /, "", words)
    gsub(/ *\([^)]*\)/, "", words)
    count = split(words, list, /, | or /)
    for (i = 1; i <= count; i++) {
        if (list[i] !~ /^[a-z][a-z0-9-]*$/)
            return ""
        found = found (i > 1 ? " " : "") list[i]
    }
    return count > 1 ? found : ""
}

function add_option(line,    head, count, names, i) {
    head = line
    sub(/^  /, "", head)
    options++
    if (match(head, /  +/)) {
        text[options] = substr(head, RSTART + RLENGTH)
        head = substr(head, 1, RSTART - 1)
    }
    if (match(head, /[= ][A-Z]+$/)) {
        argument[options] = substr(head, RSTART + 1)
        joined[options] = substr(head, RSTART, 1) == "="
        head = substr(head, 1, RSTART - 1)
    }
    count = split(head, names, ", ")
    for (i = 1; i <= count; i++)
        name[options, i] = names[i]
    spellings[options] = count
}

# Returns the kind of an option's argument: "files", the values, or "" for anything else.
function kind_of(i) {
    return argument[i] ~ /^(FILE|LIB)$/ ? "files" : values_in(text[i])
}

function is_command() { return usage ~ /PROGRAM \[ARGUMENT\]/ }
function is_files() { return usage ~ /FILE|IMAGE|PROGRAM/ }

# Returns the names of option I, separated by BETWEEN; if EQUALS, a "=" follows those that need one.
function names_of(i, between, equals,    j, list) {
    for (j = 1; j <= spellings[i]; j++) {
        list = list (j > 1 ? between : "") name[i, j]
        if (equals && joined[i] && name[i, j] ~ /^--/)
            list = list "="
    }
    return list
}

# Returns the names of all options that have an argument.
function with_argument(between,    i, list) {
    for (i = 1; i <= options; i++)
        if (argument[i] != "")
            list = list (list != "" ? between : "") names_of(i, between)
    return list
}

/^(usage:|       [a-z])/ { usage = usage " " $0; next }
/^  -/ { add_option($0); next }
/^      +[^ ]/ && options > 0 { text[options] = trimmed(text[options] " " trimmed($0)); next }

# ---- bash

function bash_program() {
    print "    # The program: the first word that is neither an option nor its value."
    print "    # \"--wait=x\" comes in three words."
    print "    for ((i = 1; i < COMP_CWORD; i++)); do"
    print "        case ${COMP_WORDS[i]} in"
    print "        " with_argument(" | ") ")"
    print "            ((i++))"
    print "            [[ ${COMP_WORDS[i]} == = ]] && ((i++))"
    print "            ;;"
    print "        -*) ;;"
    print "        *) break ;;"
    print "        esac"
    print "    done"
    print "    if ((i < COMP_CWORD)); then"
    print "        # Its arguments, as the package bash-completion knows them; else files, as"
    print "        # bash does by itself."
    print "        declare -F _command_offset >/dev/null && _command_offset \"$i\""
    print "        return"
    print "    fi"
}

function bash_values(    i, kind) {
    for (i = 1; i <= options; i++) {
        kind = kind_of(i)
        if (argument[i] != "" && (kind == "files" || kind == ""))
            print "    " names_of(i, " | ") ") ;;" \
                (kind == "files" ? " # files, as bash does by itself" : "")
        else if (argument[i] != "")
            print "    " names_of(i, " | ") ") mapfile -t COMPREPLY < <(compgen -W '" kind \
                "' -- \"$current\") ;;"
    }
}

function bash(    called, words, i) {
    called = "_" program
    gsub(/-/, "_", called)
    for (i = 1; i <= options; i++)
        words = words (i > 1 ? " " : "") names_of(i, " ", 1)
    print "# bash completion for " program "(1), made from its --help; it needs no other package." \
        "      -*- shell-script -*-"
    print "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
    print ""
    print called "()"
    print "{"
    print "    local current=$2 option=$3" (is_command() ? " i" : "")
    print "    [[ $current == = ]] && current="
    print "    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    COMPREPLY=()"
    if (is_command())
        bash_program()
    print "    case $option in"
    bash_values()
    print "    *)"
    print "        if [[ $current == -* ]]; then"
    print "            mapfile -t COMPREPLY < <(compgen -W '" words "' -- \"$current\")"
    print "            # Only inside a real completion is there something to set options of."
    print "            [[ ${COMPREPLY-} == *= ]] && compopt -o nospace 2>/dev/null"
    if (is_command()) {
        print "        elif [[ $current != */* ]]; then"
        print "            mapfile -t COMPREPLY < <(compgen -c -- \"$current\")"
    }
    print "        fi"
    print "        ;;"
    print "    esac"
    print "    return 0"
    print "} && complete " (is_files() ? "-o default " : "") "-F " called " " program
}

# ---- zsh

function zsh_quoted(words) {
    gsub(/'/, "'\\''", words)
    return "'" words "'"
}

# Returns the description of option I in brackets, and its argument.
function zsh_rest(i,    words, kind) {
    words = text[i]
    gsub(/\[|\]|:|\\/, "\\\\&", words)
    words = words != "" ? "[" words "]" : ""
    kind = kind_of(i)
    if (argument[i] != "")
        words = words ":" argument[i] ":" \
            (kind == "files" ? "_files" : kind == "" ? "" : "(" kind ")")
    return words
}

function zsh(    i, j, each) {
    print "#compdef " program
    print "# zsh completion for " program "(1), made from its --help."
    print "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
    print ""
    print "_arguments -S \\"
    for (i = 1; i <= options; i++)
        for (j = 1; j <= spellings[i]; j++) {
            each = name[i, j] (joined[i] && name[i, j] ~ /^--/ ? "=" : "") zsh_rest(i)
            print "    " zsh_quoted((spellings[i] > 1 ? "(" names_of(i, " ") ")" : "") each) " \\"
        }
    if (is_command())
        print "    '(-):PROGRAM: _command_names -e' '*::ARGUMENT: _normal'"
    else
        print is_files() ? "    '*:FILE:_files'" : "    && return 0"
}

# ---- fish

function fish_quoted(words) {
    gsub(/[\\']/, "\\\\&", words)
    return "'" words "'"
}

function fish_name(each) {
    if (each ~ /^--/)
        return " -l " substr(each, 3)
    return length(each) == 2 ? " -s " substr(each, 2) : " -o " fish_quoted(substr(each, 2))
}

function fish_option(i, condition,    j, line, kind) {
    line = "complete -c " program condition
    for (j = 1; j <= spellings[i]; j++)
        line = line fish_name(name[i, j])
    kind = kind_of(i)
    if (argument[i] != "")
        line = line (kind == "files" ? " -r -F" : kind == "" ? " -x" : " -x -a " fish_quoted(kind))
    print line (text[i] != "" ? " -d " fish_quoted(text[i]) : "")
}

function fish_program(before) {
    print "function " before " -d 'No program is named yet'"
    print "    set -l words (commandline -opc)"
    print "    set -e words[1]"
    print "    while set -q words[1]"
    print "        switch $words[1]"
    print "            case " with_argument(" ")
    print "                set -e words[1]"
    print "            case '-*'"
    print "            case '*'"
    print "                return 1"
    print "        end"
    print "        set -e words[1]"
    print "    end"
    print "    return 0"
    print "end"
    print ""
    # fish would take long options that come first for its own.
    print "complete -c " program " -x -a '(__fish_complete_subcommand - " with_argument(" ") ")'"
}

function fish(    i, before) {
    print "# fish completion for " program "(1), made from its --help."
    print "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
    print ""
    before = "__" program "_before_program"
    gsub(/-/, "_", before)
    if (is_command())
        fish_program(before)
    else if (!is_files())
        print "complete -c " program " -f"
    for (i = 1; i <= options; i++)
        fish_option(i, is_command() ? " -n " before : "")
}

END {
    if (options == 0 || usage == "" || shell !~ /^(bash|zsh|fish)$/) {
        print "completions.awk: " program " --help was not understood, or there is no shell " \
            shell >"/dev/stderr"
        exit 1
    }
    if (shell == "bash")
        bash()
    if (shell == "zsh")
        zsh()
    if (shell == "fish")
        fish()
}
