# abi.awk - turns the public headers into lists that abi.c expands: structs with their fields,
# constants, and functions that are exported, inline, or in each binary.
#
# Reads the layout of the headers: one field, enumerator or macro a line. abi.c takes sizes, offsets
# and values from the compiler. So a line that is not understood is missing, never wrong;
# tests/scripts/rex-info.sh counts what is missing.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
function squeezed(text)
{
    gsub(/[ \t]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

# The begin of a macro whose value is a number.
BEGIN { number = "^(U?INT64_C\\(|U?INT[0-9]+_MAX$|\\(\\(int64_t\\)|\\(REX_MAP_|-?[0-9])" }

# NAME is "NAME" or "NAME,".
function print_constant(name) { sub(/,.*/, "", name); print "CONSTANT(" name ")" }

# TEXT is "int32_t flags", "uint32_t Teams[3]" or "int (*done)(void *)".
function field(text,   name, type) {
    if (match(text, /\(\*[A-Za-z_0-9]+\)/)) {
        name = substr(text, RSTART + 2, RLENGTH - 3)
        type = substr(text, 1, RSTART + 1) substr(text, RSTART + RLENGTH - 1)
    } else {
        match(text, /[A-Za-z_0-9]+(\[[^]]*\])*$/)
        name = type = substr(text, RSTART)
        sub(/\[.*/, "", name)
        sub(/^[A-Za-z_0-9]+/, "", type)
        type = squeezed(substr(text, 1, RSTART - 1)) type
    }
    print "FIELD(" tag ", " name ", " quoted(type) ")"
}

function function_of(text, kind,   symbol) {
    sub(/^(REX_API|REX_PER_BINARY|static inline) /, "", text)
    if (match(text, /__asm__\("[^"]*"\)/)) {
        symbol = substr(text, RSTART + 9, RLENGTH - 11)
        text = substr(text, 1, RSTART - 1)
        sub(/__rex_real_/, "", text)
    } else {
        match(text, /[A-Za-z_0-9]+\(/)
        symbol = substr(text, RSTART, RLENGTH - 1)
    }
    sub(/ *;.*/, "", text)
    gsub(/\([ \t]+/, "(", text) # if the line was broken after the bracket
    print kind "(" symbol ", " quoted(squeezed(text)) ")"
}

{ sub(/\/\*\*<.*/, ""); sub(/\) \/\*.*/, ")") }
FNR == 1 { in_comment = in_struct = in_enum = in_function = in_cplusplus = 0 }
in_comment { if (/\*\//) in_comment = 0; next }
/^[ \t]*\/\*/ { if (!/\*\//) in_comment = 1; next }

/^#ifdef __cplusplus/ { in_cplusplus = 1 }
/^#(else|endif)/ { in_cplusplus = 0 }
in_cplusplus { next }

/^REX_PER_BINARY [^=]*rex___tgt_/ { next } # librex exports functions of these names
/^static inline / { kind = "INLINE" }
/^REX_PER_BINARY [^=]*\(/ { kind = "PER_BINARY" }
/^REX_API / || /^(void|int) (__rex_real|rex)___tgt_/ { kind = "FUNCTION" }
in_function || /^static inline / || /^REX_PER_BINARY [^=]*\(/ || /^REX_API / ||
/^(void|int) (__rex_real|rex)___tgt_/ {
    collected = in_function ? collected " " $0 : $0
    in_function = !/(;|\))$/
    if (!in_function)
        function_of(collected, kind)
    next
}
/^(typedef )?struct [A-Za-z_0-9]+ \{/ {
    in_struct = 1
    tag = "struct " ($1 == "typedef" ? $3 : $2)
    print "STRUCT(" tag ")"
    next
}
/^enum [A-Za-z_0-9]+ \{.*\};/ {
    sub(/^[^{]*\{ */, ""); sub(/ *\}.*/, "")
    n = split($0, parts, / *, */)
    for (i = 1; i <= n; i++) { sub(/ .*/, "", parts[i]); print "CONSTANT(" parts[i] ")" }
    next
}
/^enum [A-Za-z_0-9]+ \{/ { in_enum = 1; next }
/^}/ { if (in_struct) print "END(" tag ")"; in_struct = in_enum = 0; next }
in_struct && /;/ { sub(/;.*/, ""); n = split(squeezed($0), parts, / *, */)
    if (/\(/ || n == 1) field(squeezed($0))
    else {
        type = parts[1]; sub(/[^ ]+$/, "", type)
        field(parts[1])
        for (i = 2; i <= n; i++) field(type parts[i])
    }
    next
}
in_enum && /^    [A-Z_0-9]+( = |,|$)/ { print_constant($1); next }
/^    X\(REX_[A-Z]+, -?[0-9]/ { sub(/X\(/, ""); print_constant($1); next }
/^#define REX_[A-Z0-9_]+ / && $3 ~ number { print_constant($2) }
