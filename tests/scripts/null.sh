#!/bin/sh
# NULL for every pointer that an exported function takes, one at a time: each is an error with a message (tests/golden/null/messages.txt),
# and nothing crashes. The functions and their parameters are those of the headers (tests/walk/api.py); one whose type has no valid value
# below fails this test, so that a new function cannot be forgotten. Each call is made in a child of its own.
#
# Where NULL has a meaning it is in ALLOWED, and the header says so. Preconditions, where nothing looks, are those of librex(7).
. tests/support/lib.sh

release=
for one in $(tests/llvm --list); do case $one in 14 | 15 | 16 | 19 | 22) release=$one ;; esac; done
[ -n "$release" ] || skip 'no LLVM release'

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/walk python3 - "$work/calls.h" <<'PYTHON'
import re
import sys

import api

# A valid value of each type, or of one parameter.
VALUES = {
    "struct rex_module *": "&rex_this_module", "const struct rex_module *": "&rex_this_module",
    "struct rex_queue **": "&made.queue", "struct rex_queue *": "with.queue", "const struct rex_queue *": "with.queue",
    "struct rex_event **": "&made.event", "struct rex_event *": "with.event",
    "struct rex_graph **": "&made.graph", "struct rex_graph *": "with.graph", "const struct rex_graph *": "with.graph",
    "struct rex_image_view **": "&made.view", "struct rex_image_view *": "with.view", "const struct rex_image_view *": "with.view",
    "struct rex_image_list **": "&made.list", "struct rex_image_list *": "with.list", "const struct rex_image_list *": "with.list",
    "struct rex_library **": "&made.library", "struct rex_library *": "with.library", "const struct rex_library *": "with.library",
    "void *const *": "with.base", "rex_module_queue_create void *const * stream": "NULL", "size_t *": "&made.size", "const void * image": "with.image",
    "rex_library_global const char * name": '"walk_global"', "rex_library_load size_t size": "with.image_size",
    "rex_library_load without image const char * name": "rex_this_module.image_name",
    "struct rex_map_builder *": "&with.builder", "const struct rex_map_builder *": "&with.builder",
    "struct rex_map *": "&made.map", "const struct rex_map *": "&with.args", "struct rex_row": "with.row",
    "const struct rex_launch_config *": "&with.launch", "rex_library_launch const struct rex_launch_config * launch": "&with.queued", "const struct rex_dimension *": "&with.dimension",
    "const struct rex_array_part *": "&with.part",
    "struct __tgt_kernel_arguments *": "&with.packet", "const struct __tgt_kernel_arguments *": "&with.packet",
    "struct rex_gpu *": "&made.gpu", "double *": "&made.seconds", "enum rex_option": "REX_OPTION_CUBIN", "enum rex_data_call": "REX_DATA_BEGIN",
    "rex_mapper *": "a_mapper", "rex_rows *": "some_rows", "rex_info_row *": "an_info_row", "rex_log_function *": "a_log",
    "void(*)(void *argument)": "a_call", "const char *const *": "with.names", "void **": "with.base",
    "int64_t *": "with.sizes", "const int64_t *": "with.sizes",
    "bool": "true", "unsigned": "0", "uintptr_t": "rex_this_module.packet_rules",
    "int64_t device": "0", "int64_t to_device": "0", "int64_t from_device": "0", "int64_t device_id": "0", "int device": "0", "int32_t num_teams": "1", "int32_t thread_limit": "1",
    "int32_t count": "1", "int32_t arg_num": "1", "int count": "1", "size_t count": "1", "size_t index": "0", "size_t number": "0",
    "size_t size": "sizeof with.cells", "size_t pattern_size": "4", "int64_t size": "sizeof with.cells[0]",
    "int64_t element_size": "sizeof with.cells[0]", "int64_t type": "REX_MAP_TO", "int number": "0", "int error": "0",
    "int release": "19", "int compiler": "19",
    "const char * path": '"/nowhere"', "const char * name": '"walk_add__kernel__"', "const char * value": "NULL", "const char * image_name": "NULL",
    "void * host_ptr": "REX_KERNEL_ID(walk_add)", "void * host_key": "REX_KERNEL_ID(walk_add)", "const void * host_key": "REX_KERNEL_ID(walk_add)",
    "const void * bytes": "with.image", "const void * src": "with.cells", "const void * pattern": "with.cells",
    "const void * variable": "with.cells", "const void * address": "with.cells", "void * address": "with.cells",
    "void * context": "NULL", "void * argument": "NULL", "void * handle": "with.cells", "void * base": "with.cells",
    "void * begin": "with.cells", "void * memory": "with.memory",
    "void * to": "with.memory", "const void * from": "with.memory",
    "rex_*_copy_to const void * from": "with.cells", "rex_*_copy_from void * to": "with.cells",
    "void ** stream": "(void *[1]){NULL}", "void ** context": "(void *[1]){NULL}", "void * stream": "NULL",
    "rex_module_launch_map without map const struct rex_launch_config * launch": "&with.nothing",
    "rex_graph_set_args without map size_t number": "1", "rex_gpu_get size_t size": "sizeof made.gpu",
    "rex_image_list_open size_t size": "with.image_size",
}

# Where NULL is no mistake.
ALLOWED = """
    rex_configure value, rex_set_log_callback function, rex_set_log_callback context, rex_info context, rex_queue_host_func argument,
    rex_module_register image_name, rex_module_queue_create name, rex_module_queue_create stream,
    rex_module_launch_map map, rex_graph_set_args map,
    rex_map_build prefix, rex_map_build rows, rex_map_build context, rex_map_build suffix, rex_map_free map,
    rex_map_for_runtime base, rex_library_load image, rex_library_unload library,
    rex_device_free memory, rex_host_free memory, rex_queue_destroy queue, rex_event_destroy event, rex_graph_destroy graph,
    rex_image_view_close view, rex_image_list_close list, rex_target_is_present address, rex_mapped_ptr address
"""
ALLOWED = {tuple(pair.split()) for pair in ALLOWED.split(",")}

# What a wrong call returns.
FAILED = {"int": "result < 0", "int32_t": "result < 0", "int64_t": "result < 0", "bool": "!result", "size_t": "result == 0", "unsigned": "result == 0",
          "const char *": 'result == NULL || *result == 0'}


def preconditions():
    """The list of librex(7): function and parameter, a line each."""
    page = open("librex/man/librex.7").read()
    section = re.search(r"^\.SS NULL\n(.*?)^\.S[SH] ", page, re.S | re.M)
    return set(re.findall(r"^\.BR (rex_\w+) \(\),\n\.IR? (\w+)", section[1], re.M)) if section else set()


def value(name, null, kind, parameter):
    both = re.sub("rex_(device|queue)_", "rex_*_", name)
    for key in ("%s without %s %s %s" % (name, null, kind, parameter), "%s %s %s" % (name, kind, parameter),
                "%s %s %s" % (both, kind, parameter), "%s %s" % (kind, parameter), kind):
        if key in VALUES:
            return VALUES[key]
    raise SystemExit("FAIL: %s: this test has no valid value for the parameter \"%s %s\": add one" % (name, kind, parameter))


listed = preconditions()

lines, seen, undocumented = [], set(), []
for name, one in api.functions().items():
    for number in one.pointers():
        kind, parameter = one.parameters[number]
        seen.add((name, parameter))
        if (name, parameter) in listed or (name, parameter) == ("rex_queue_stream", "context"):  # here is no stream
            continue
        arguments = ", ".join("NULL" if i == number else value(name, parameter, *p) for i, p in enumerate(one.parameters))
        allowed = (name, parameter) in ALLOWED
        if allowed and "NULL" not in one.documented:
            undocumented.append("FAIL: %s does not say what NULL is for %s()" % (one.header, name))
        call = "%s(%s)" % (name, arguments)
        if one.result != "void":
            body = "%s result = %s; failed = %s;" % (one.result, call, FAILED.get(one.result, "result == NULL"))
        else:
            body = "%s; failed = rex_last_error_code() != 0;" % call
        lines.append('CASE("%s", "%s", %d, %s)' % (name, parameter, allowed, body))
for name, parameter in ALLOWED | listed:
    if (name, parameter) not in seen:
        raise SystemExit("FAIL: %s has no pointer %s" % (name, parameter))
if undocumented:
    raise SystemExit("\n".join(undocumented))
open(sys.argv[1], "w").write("\n".join(lines) + "\n")
print("%d functions, %d pointers, %d of them may be NULL, %d preconditions" % (
    len(api.functions()), len(seen), len(ALLOWED), len(listed)))
PYTHON

gcc -x c -std=gnu11 -O1 -shared -fPIC -Iinclude -o "$work/rex_lib_host.so" tests/walk/kernels.cu tests/walk/globals.cu
gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror -Wno-nonnull -D_GNU_SOURCE -Iinclude -Ilibrex -Itests -I"$work" -o "$work/null" tests/walk/null.c \
    -L"$O" -lrex -Wl,-rpath,"$top/$O" -Wl,-z,nostart-stop-gc -pthread
run env REX_LOG=off CUDA_VISIBLE_DEVICES='' tests/llvm "$release" "$work/null" "$work/rex_lib_host.so"
ends 0
sed 's/0x[0-9a-f]*/0x*/g' "$work/out" >"$work/messages"
golden null/messages.txt "$work/messages"
