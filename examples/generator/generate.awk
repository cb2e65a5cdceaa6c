# generate.awk - a code generator, written from rex-codegen(7) alone. It reads loops and data
# regions, and writes kernels, and host code that includes no header of librex.
#
#     awk -f generate.awk -v file=work -v part=host work.loops >work_host.c
#     awk -f generate.awk -v file=work -v part=kernels work.loops >work_kernels.cu
#
# A description (work.loops shows all of it):
#
#     struct NAME { ... };                           on one line, for host and kernels
#     region NAME(parameters): clause; clause        NAME_begin() and NAME_end()
#     loop NAME(parameters): clause; clause          a function NAME() that launches
#     for VARIABLE < BOUND
#         the loop's body, until an empty line
#
# A clause is to, from, tofrom or alloc, and X[LOWER:LENGTH] or POINTER->MEMBER[LOWER:LENGTH]. A
# clause of a member also maps the struct *POINTER. Parameters without a clause are values, or
# pointers to mapped memory.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1; exit 1 }
function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# ---- reading

# Reads "NAME(parameters): clauses" after the first word.
function head(line,   n, i, part) {
    sub(/^[a-z]+ /, "", line)
    if (!match(line, /^[A-Za-z_0-9]+\(/)) fail("a name and its parameters are missing")
    name = substr(line, 1, RLENGTH - 1)
    line = substr(line, RLENGTH + 1)
    if (!match(line, /\):/)) fail("\"):\" is missing")
    clauses = substr(line, RSTART + 2)
    parameters = split(substr(line, 1, RSTART - 1), part, ",")
    signature = ""
    split("", row_of)
    for (i = 1; i <= parameters; i++) {
        part[i] = trim(part[i])
        match(part[i], /[A-Za-z_0-9]+$/)
        parameter[i] = substr(part[i], RSTART)
        type[i] = trim(substr(part[i], 1, RSTART - 1))
        signature = signature (i > 1 ? ", " : "") part[i]
        row_of[parameter[i]] = i - 1
    }
}

# ---- rows: base, begin, size and bits of each clause, from rex-codegen(7)

BEGIN { PARAMETER = 32; VALUE = 256 + PARAMETER; POINTER = 512 + PARAMETER }
function row(at, new_base, new_begin, new_size, new_bits) {
    base[at] = new_base; begin[at] = new_begin; size[at] = new_size; bits[at] = new_bits
}
function direction(word) {
    return word == "to" ? 1 : word == "from" ? 2 : word == "tofrom" ? 3 : word == "alloc" ? 0 : -1
}

function rows_of_parameters(is_parameter,   i, name_) {
    for (i = 0; i < parameters; i++) {
        name_ = parameter[i + 1]
        if (type[i + 1] ~ /\*$/) row(i, name_, name_, "0", POINTER)
        else row(i, "word(&" name_ ", sizeof " name_ ")", "base[" i "]", "sizeof " name_, VALUE)
    }
    rows = parameters
}

# Makes the rows of a clause with "X[LOWER:LENGTH]" or "POINTER->MEMBER[LOWER:LENGTH]".
function clause(text, parameter_bit,   word, what, bounds, lower, count, of) {
    word = text; sub(/ .*/, "", word)
    if (direction(word) < 0 || !match(text, /\[.*\]$/)) fail("not a clause: " text)
    what = trim(substr(text, length(word) + 1, RSTART - length(word) - 1))
    bounds = substr(text, RSTART + 1, RLENGTH - 2)
    lower = bounds; sub(/:.*/, "", lower)
    count = bounds; sub(/.*:/, "", count)
    of = what; sub(/->.*/, "", of)
    if (!(of in row_of)) fail(of " is not a parameter")
    if (of == what) {
        row(row_of[of], what, "&" what "[" lower "]", "(" count ") * (int64_t)sizeof *" what,
            parameter_bit + direction(word))
        return
    }
    row(row_of[of], of, of, "sizeof *" of, parameter_bit)
    row(rows++, of, of, "sizeof *" of, member(row_of[of]) "1")
    row(rows++, "(void *)&" what, "&" what "[" lower "]", "(" count ") * (int64_t)sizeof *" what,
        member(row_of[of]) (16 + direction(word)))
}
function member(parent) { return "(INT64_C(" parent + 1 ") << 48) + " }

function rows_of_clauses(parameter_bit,   n, i, part) {
    n = split(clauses, part, ";")
    for (i = 1; i <= n; i++)
        clause(trim(part[i]), parameter_bit)
}

# Prints the columns. Only a launch has rows of values and of pointers to mapped memory.
function print_columns(is_launch,   i, line, used) {
    for (i = 0; i < rows; i++)
        if (is_launch || (bits[i] != POINTER && bits[i] != VALUE))
            kept[used++] = i
    print "    void *base[] = {"
    for (i = 0; i < used; i++) print "        (void *)(uintptr_t)" base[kept[i]] ","
    print "    };\n    void *begin[] = {"
    for (i = 0; i < used; i++) print "        (void *)(uintptr_t)" begin_of(kept[i], i) ","
    print "    };\n    int64_t size[] = {"
    for (i = 0; i < used; i++) print "        (int64_t)(" size[kept[i]] "),"
    print "    };\n    int64_t type[] = {"
    for (i = 0; i < used; i++) print "        " bits[kept[i]] ","
    print "    };"
    return used
}
function begin_of(i, at) { return begin[i] ~ /^base\[/ ? "base[" at "]" : begin[i] }

# ---- host code

function print_module() {
    print "/* Written by generate.awk from " file ".loops. */"
    print "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
    print "struct __tgt_offload_entry { void *addr; char *name; size_t size; int32_t flags, " \
        "reserved; };"
    print "struct __tgt_kernel_arguments {"
    print "    int32_t Version, NumArgs;\n    void **ArgsBase, **Args;\n    int64_t *ArgSizes, " \
        "*ArgTypes;"
    print "    void **ArgNames, **ArgMappers;\n    int64_t Tripcount, " \
        "Flags;\n    int32_t Teams[3], Threads[3], DynCGroupMem;\n};"
    print "struct rex_module {\n    uint32_t struct_size, " \
        "flags;\n    struct __tgt_offload_entry *entries_begin, *entries_end;"
    print "    const char *image_name, *host_image_name;\n    uintptr_t others[11];\n};"
    print "#ifdef __cplusplus\nextern \"C\" {\n#endif"
    print "int rex_module_register(struct rex_module *module, const char *image_name);"
    print "int rex_module_launch(struct rex_module *module, int64_t device, int32_t teams, " \
        "int32_t threads, void *host_key,"
    print "                      struct __tgt_kernel_arguments *args);"
    print "void rex___tgt_target_data_begin(int64_t device, int32_t count, void **base, " \
        "void **begin, int64_t *sizes, int64_t *types);"
    print "void rex___tgt_target_data_end(int64_t device, int32_t count, void **base, " \
        "void **begin, int64_t *sizes, int64_t *types);"
    print "#ifdef __cplusplus\n}\n#endif\n"
    print "extern struct __tgt_offload_entry"
    print "    entries_begin[] __asm__(\"__start_omp_offloading_entries\") __attribute__((weak, " \
        "visibility(\"hidden\"))),"
    print "    entries_end[] __asm__(\"__stop_omp_offloading_entries\") __attribute__((weak, " \
        "visibility(\"hidden\")));"
    # gcc ignores the visibility of a declaration that has a name for the linker.
    print "__asm__(\".hidden __start_omp_offloading_entries\\n" \
        ".hidden __stop_omp_offloading_entries\");"
    print "extern struct rex_module rex_this_module;"
    print "__attribute__((weak, visibility(\"hidden\"))) struct rex_module rex_this_module = {"
    print "    .struct_size = sizeof(struct rex_module), .entries_begin = entries_begin, " \
        ".entries_end = entries_end,"
    print "    .image_name = \"rex_lib_nvidia.cubin\", .host_image_name = \"rex_lib_host.so\"};\n"
    print "static inline uintptr_t word(const void *value, size_t bytes)\n{"
    print "    uintptr_t word = 0;\n    memcpy(&word, value, bytes);\n    return word;\n}"
}

function print_entry(stem) {
    print "\nextern char " stem "id__;\n__attribute__((visibility(\"hidden\"))) char " stem "id__;"
    print "extern struct __tgt_offload_entry " stem "omp_offload_entry__;"
    print "__attribute__((visibility(\"hidden\"), section(\"omp_offloading_entries\"), used, " \
        "aligned(8)))"
    print "struct __tgt_offload_entry " stem "omp_offload_entry__ = {&" stem "id__, " \
        "(char *)(uintptr_t)\"" stem "kernel__\", 0, 0, 0};"
}

# Prints the kernel's signature, which rex-check compares with an image. It is a list of numbers:
# the length of the list, and the kind of each parameter.
function print_parameters(stem,   i, list) {
    list = parameters + 1
    for (i = 1; i <= parameters; i++) list = list ", " kind(type[i])
    print "static const struct {\n    uint16_t kinds[" \
        parameters + 1 "];\n    char name[sizeof \"" stem "kernel__\"];"
    print "} " stem "kinds__ __attribute__((section(\"rex_kernel_kinds\"), used, retain, " \
        "aligned(2))) = {"
    print "    {" list "}, \"" stem "kernel__\"};"
}
function kind(of) {
    if (of ~ /\*$/) return 1
    if (!(of in KIND)) fail("unknown kind of type " of)
    return KIND[of]
}
BEGIN {
    KIND["int32_t"] = 9; KIND["uint32_t"] = 10; KIND["int64_t"] = 11; KIND["uint64_t"] = 12
    KIND["float"] = 13; KIND["double"] = 14
}

function print_launch(stem,   count) {
    print_entry(stem)
    print_parameters(stem)
    print "\nint " name "(" signature ");\nint " name "(" signature ")\n{"
    count = print_columns(1)
    print "    struct __tgt_kernel_arguments packet = {"
    print "        .Version = 3, .NumArgs = " count ", .ArgsBase = base, .Args = begin, " \
        ".ArgSizes = size, .ArgTypes = type,"
    print "        .Tripcount = (int64_t)(" bound "), .Threads = {128, 1, 1}};"
    print "    int result = rex_module_register(&rex_this_module, NULL);"
    print "    return result != 0 ? result : rex_module_launch(&rex_this_module, -1, 0, 128, " \
        "&" stem "id__, &packet);\n}"
}

function print_region(   way, ways, i, count) {
    split("begin end", ways, " ")
    for (i = 1; i <= 2; i++) {
        way = ways[i]
        print "\nint " name "_" way "(" signature ");\nint " name "_" way "(" signature ")\n{"
        count = print_columns(0)
        print "    int result = rex_module_register(&rex_this_module, NULL);"
        print "    if (result == 0)\n        rex___tgt_target_data_" way "(-1, " count ", base, " \
            "begin, size, type);"
        print "    return result;\n}"
    }
}

# ---- kernels

function kernel_parameters(   i, list) {
    for (i = 1; i <= parameters; i++)
        list = list (i > 1 ? ", " : "") "(" type[i] ") " parameter[i]
    return list
}

function print_kernel(stem) {
    print "\nREX_DEVICE_KERNEL_STEM(" stem ", " kernel_parameters() ")\n{"
    print "    REX_FOR(" variable ", " bound ") {\n" body "    }\n}"
}

function print_loop(   stem) {
    if (!in_loop) return
    if (bound == "") fail("loop " name " has no \"for\"")
    stem = "GEN__" file "__" name "__"
    if (part == "kernels") print_kernel(stem)
    else {
        rows_of_parameters()
        rows_of_clauses(PARAMETER)
        print_launch(stem)
    }
    in_loop = 0
}

# ---- the description

BEGIN {
    if (part == "kernels") print "/* Written by generate.awk from " \
        file ".loops. */\n#include <rex/kernel.h>\n"
    else print_module()
}
/^[ \t]*#/ { next }
/^struct / { print part == "kernels" ? $0 : "\n" $0; next }
/^region / {
    head($0)
    if (part == "kernels") next
    rows_of_parameters()
    rows_of_clauses(0)
    print_region()
    next
}
/^loop / { head($0); in_loop = 1; bound = body = ""; next }
in_loop && /^for / { variable = $2; bound = $0; sub(/^for [^<]*< */, "", bound); next }
in_loop && NF > 0 { body = body "        " trim($0) "\n"; next }
NF == 0 { print_loop(); next }
{ fail("not understood: " $0) }
END { if (!failed) print_loop(); exit failed }
