# pages.awk - the pages themselves: of headers and of their parts, of errors, and the guides.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
        if (text == "")
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

# The prototypes of this page's entries, after a blank line.
function synopsis(   n, is_object, shown)
{
    for (n = first_entry; n && n <= last_entry; n++) {
        is_object = declared[n] != "" && declared[n] !~ a_type && declared[n] !~ /^struct [a-z_]*;/
        if (repeated[n] || !is_object && heading[n] !~ /^[A-Za-z_0-9]+\(.+\)/)
            continue
        if (!shown++)
            put(".PP")
        if (is_object)
            prototype(declared[n])
        else
            wrapped(heading[n])
    }
}

# Another name of this page, which is installed as a link to it.
function also_called(name)
{
    links = links name_of[current] ".3 " name ".3\n"
    return ", " name
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
        listed = listed also_called(own)
    for (k = 1; k <= name_count[current]; k++)
        if (names[current, k] != name_of[current])
            listed = listed also_called(names[current, k])
    page_head(name_of[current], title_of[current], listed)
    include_line(header_of[current])
    synopsis()
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
        if (declared[n] ~ a_type)
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
    include_line("rex/error.h")
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
        for (k = 1; k <= count; k++)
            put(".BR \\%" list[k] (k == count ? "." : ","))
    }
    put(".SH HISTORY")
    put("Since librex 0.2.")
    printf "%s", substr(text, see) > out
    close(out)
}

END {
    for (k = 1; k <= entries; k++)
        for (n = 1; n <= lines_of[k]; n++)
            all_text[k] = all_text[k] " " text_of[k, n]
    for (current = 1; current <= pages; current++)
        if (name_of[current] != "")
            write_page()
    current = 0
    for (e = 1; e <= errors; e++)
        write_error(error_name[e])
    for (g = 1; g <= guide_lines; g++) {
        out = guide_file[g]
        sub(/.*\//, folder "/", out)
        if (guide_of[g] == ".\\\" @VARIABLES@")
            variables()
        else if (guide_of[g] == ".\\\" @MEMORY@")
            release_table(1)
        else if (guide_of[g] == ".\\\" @RELEASES@")
            release_table(0)
        else
            put(guide_of[g])
    }
    printf "%s", links > (folder "/links") # last: with it the pages are complete
}
