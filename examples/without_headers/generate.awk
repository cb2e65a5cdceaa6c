# generate.awk - generates a function that launches a kernel, in C without a header of librex. It
# reads `rex-info --abi --json`.
#
#     rex-info --abi --json | awk -f generate.awk -v kernel=axpy -v parameters="value:int64_t:n \
#         value:double:a to:double:x:n tofrom:double:y:n"
#
# A parameter is value:TYPE:NAME, or to, from or tofrom:TYPE:NAME:COUNT. The generated function is
# `int launch_KERNEL(NAMES...)`, which returns 0 or an error of librex. A code generator in another
# language can do this with its own JSON reader.
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# ---- reading: sizes, offsets, prototypes and constants by name

function text(token) {
    token = substr(token, 2, length(token) - 2)
    gsub(/\\"/, "\"", token)
    return token
}

function value(token) {
    if (list == "structs" && depth == 3 && key == "name") struct = text(token)
    if (list == "structs" && depth == 3 && key == "size") size[struct] = token
    if (list == "structs" && depth == 5 && key == "name") field = text(token)
    if (list == "structs" && depth == 5 && key == "offset") offset[struct, field] = token
    if (list == "structs" && depth == 5 && key == "size") width[struct, field] = token
    if (list == "constants" && depth == 2) constant[key] = token
    if (list == "functions" && depth == 3 && key == "name") name = text(token)
    if (list == "functions" && depth == 3 && key == "prototype") prototype[name] = text(token)
}

{
    rest = $0
    while (match(rest, /"([^"\\]|\\.)*"|-?[0-9]+|null|[][{}:,]/)) {
        token = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (token ~ /^[[{]$/) { depth++; held = "" }
        else if (token ~ /^[]}]$/) depth--
        else if (token == ":") {
            key = text(held)
            behind_key = 1
            if (depth == 1) list = key
            continue
        }
        else if (token != "," && behind_key) value(token)
        else held = token
        behind_key = 0
    }
}

# ---- writing

function lacks(name) {
    print "generate.awk: no " name > "/dev/stderr"
    failed = 1
    exit 1
}

# Prints a store into the struct at BASE, by offset and width instead of the field's name.
function store(base, struct, field, what) {
    if (!((struct, field) in offset)) lacks(struct "." field)
    printf "    { %s v = (%s)(%s); memcpy(%s + %s, &v, sizeof v); }\n",
        integer(width[struct, field]), integer(width[struct, field]), what, base,
        offset[struct, field]
}
function integer(bytes) { return bytes == 4 ? "uint32_t" : "uintptr_t" }
function room(name, struct, count) {
    printf "static unsigned char %s[%d] __attribute__((aligned(8)));\n", name, size[struct] * count
}

function declare(function_name) {
    if (!(function_name in prototype)) lacks(function_name)
    print prototype[function_name] ";"
}

function columns(count,   i, part, bits) {
    for (i = 1; i <= count; i++) {
        split(parameter[i], part, ":")
        bits = constant["REX_MAP_TARGET_PARAM"]
        if (part[1] == "value") {
            printf "    memcpy(&base[%d], &%s, sizeof %s);\n    size[%d] = sizeof %s;\n",
                i - 1, part[3], part[3], i - 1, part[3]
            bits += constant["REX_MAP_LITERAL"]
        } else {
            printf "    base[%d] = (void *)(uintptr_t)%s;\n", i - 1, part[3]
            printf "    size[%d] = (int64_t)((size_t)%s * sizeof *%s);\n", i - 1, part[4], part[3]
            bits += constant["REX_MAP_" toupper(part[1])]
        }
        printf "    type[%d] = %d;\n", i - 1, bits
    }
}

function head(count,   i, part, arguments) {
    for (i = 1; i <= count; i++) {
        split(parameter[i], part, ":")
        arguments = arguments (i > 1 ? ", " : "") (part[1] == "to" ? "const " : "") part[2] " " \
            (part[1] == "value" ? "" : "*") part[3]
    }
    return "int launch_" kernel "(" arguments ")"
}

END {
    if (failed) exit 1
    count = split(parameters, parameter, " ")
    print "/* Written by generate.awk from the output of rex-info --abi --json. */"
    print "#include <stdint.h>\n#include <string.h>\n"
    for (struct in size) print struct ";"
    declare("rex_module_register")
    declare("rex_module_launch")
    print "\nstatic char key; /* its address is the kernel's identity */"
    room("entry", "struct __tgt_offload_entry", 1)
    room("module", "struct rex_module", 1)
    print "\n__attribute__((constructor)) static void fill(void)\n{"
    store("entry", "struct __tgt_offload_entry", "addr", "(uintptr_t)&key")
    store("entry", "struct __tgt_offload_entry", "name", "(uintptr_t)\"" kernel "__kernel__\"")
    store("module", "struct rex_module", "struct_size", size["struct rex_module"])
    store("module", "struct rex_module", "entries_begin", "(uintptr_t)entry")
    store("module", "struct rex_module", "entries_end", "(uintptr_t)(entry + sizeof entry)")
    store("module", "struct rex_module", "image_name", "(uintptr_t)\"rex_lib_nvidia.cubin\"")
    store("module", "struct rex_module", "host_image_name", "(uintptr_t)\"rex_lib_host.so\"")
    print "}\n\n" head(count) ";\n" head(count) "\n{"
    printf "    void *base[%d] = {0};\n    int64_t size[%d], type[%d];\n", count, count, count
    printf "    unsigned char packet[%d] __attribute__((aligned(8))) = {0};\n",
        size["struct __tgt_kernel_arguments"]
    columns(count)
    store("packet", "struct __tgt_kernel_arguments", "Version", 3)
    store("packet", "struct __tgt_kernel_arguments", "NumArgs", count)
    store("packet", "struct __tgt_kernel_arguments", "ArgsBase", "(uintptr_t)base")
    store("packet", "struct __tgt_kernel_arguments", "Args", "(uintptr_t)base")
    store("packet", "struct __tgt_kernel_arguments", "ArgSizes", "(uintptr_t)size")
    store("packet", "struct __tgt_kernel_arguments", "ArgTypes", "(uintptr_t)type")
    print "    int result = rex_module_register((struct rex_module *)module, NULL);"
    print "    return result != " constant["REX_OK"] " ? result"
    print "        : rex_module_launch((struct rex_module *)module, -1, 8, 128, &key, " \
        "(struct __tgt_kernel_arguments *)packet);\n}"
}
