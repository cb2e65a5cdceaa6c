# tables.awk - the tables that guides have of code: the list of variables, what libomptarget of each
# release launches, and which memory of an ended registration stays.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

# What stays of a registration that has ended: its image, its copies of entries.
function kept(row)
{
    if (row ~ /late_image_ignored/)
        return "used again\tused again"
    return (row ~ /image_read_later/ ? "stays" : "freed") "\t" \
           (row ~ /entries_copied/ ? "freed" : "stay")
}

# A line for releases with the same facts. OF_MEMORY: the table of memory that stays.
function release_table(of_memory,   row, count, k, same, now, before)
{
    count = split(releases, row, /[{] *[.]number = /)
    put(".TS")
    put(of_memory ? "l l l." : "l l l l l.")
    put("LLVM\t" (of_memory ? "image\tcopies of entries" : \
                  "plain\tenv\tgrid on a GPU\tdynamic shared memory"))
    for (k = 2; k <= count; k++) {
        now = of_memory ? kept(row[k]) : facts(row[k])
        if (k > 2 && now != before) {
            put(same "\t" before)
            same = ""
        }
        same = same (same == "" ? "" : ", ") (row[k] + 0)
        before = now
    }
    put(same "\t" before)
    put(".TE")
}
