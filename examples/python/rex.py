"""rex.py - librex from Python, by ctypes alone: kernels by name, on memory of array or NumPy.

    library = rex.Library("rex_lib_nvidia.cubin:rex_lib_host.so")  # or the bytes of an image
    queue, y = rex.Queue(), rex.Memory(values.nbytes)
    queue.copy_to(y, values)
    queue.launch(library, "scale__kernel__", (256, 1, 1), (128, 1, 1), n, factor, y)
    queue.copy_from(values, y)
    queue.sync()

An argument is Memory, an int (64 bits), a float (a double), or an object of ctypes. Buffers must
be contiguous and writable; a queue keeps them until sync(). The loader must find librex. This is
not a package: copy the file and change it.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
from ctypes import (CDLL, RTLD_GLOBAL, Structure, addressof, byref, c_char, c_char_p, c_double,
                    c_int, c_int64, c_uint32, c_uint64, c_void_p)

# Without RTLD_GLOBAL the loader finds libomptarget's functions before librex's.
rex = CDLL("librex.so.0.2", mode=RTLD_GLOBAL)
rex.rex_error_name.restype = rex.rex_last_error.restype = c_char_p
# A struct rex_module of 144 bytes without entries, because the kernels are in a Library.
this = (c_uint32 * 36)(144)


class Error(Exception):
    """A failed call of librex: the name of the error, and rex_last_error()."""


class Config(Structure):
    """struct rex_launch_config"""
    _fields_ = [("key", c_void_p), ("device", c_int64), ("queue", c_void_p),
                ("teams", c_uint32 * 3), ("threads", c_uint32 * 3), ("trip_count", c_uint64),
                ("dynamic_memory", c_uint32), ("flags", c_uint32),
                ("cluster", c_uint32 * 3), ("reserved", c_uint32 * 3)]


def call(name, *arguments, result=c_int):
    """Calls a function of librex. Its integer parameters have 64 bits, or the value is 0."""
    function = rex[name]
    function.restype = result
    value = function(*(c_int64(each) if isinstance(each, int) else each for each in arguments))
    if (value != 0) if result is c_int else (value is None and result is not None):
        raise Error("%s: %s" % (rex.rex_error_name(rex.rex_last_error_code()).decode(),
                                rex.rex_last_error().decode(errors="replace")))
    return value


class Library:
    """An image, from the names of its files or from bytes. unload() unloads it."""
    def __init__(self, image, device=-1):
        self.handle = c_void_p()
        code, name = (image, "bytes") if isinstance(image, bytes) else (None, image)
        call("rex_library_load", byref(self.handle), device, code, len(code or b""), name.encode())

    def unload(self):
        call("rex_library_unload", self.handle)


class Memory:
    """Memory of a device; free() frees it."""
    def __init__(self, size, device=-1):
        self.device = device
        self.address = c_void_p(call("rex_device_alloc", size, device, result=c_void_p))

    def free(self):
        call("rex_device_free", self.address, self.device, result=None)


class Queue:
    """Runs copies and launches in order. sync() waits for all, and destroy() ends the queue."""
    def __init__(self, device=-1):
        self.handle, self.kept = c_void_p(), []
        call("rex_module_queue_create", byref(self.handle), this, device, None, 0, None)

    def copy_to(self, memory, buffer):
        self.kept.append((c_char * memoryview(buffer).nbytes).from_buffer(buffer))
        call("rex_queue_copy_to", self.handle, memory.address, self.kept[-1], len(self.kept[-1]))

    def copy_from(self, buffer, memory):
        self.kept.append((c_char * memoryview(buffer).nbytes).from_buffer(buffer))
        call("rex_queue_copy_from", self.handle, self.kept[-1], memory.address, len(self.kept[-1]))

    def launch(self, library, kernel, teams, threads, *arguments, shared=0):
        types = {int: c_int64, float: c_double, Memory: lambda memory: memory.address}
        values = [types.get(type(each), lambda each: each)(each) for each in arguments]
        addresses = (c_void_p * len(values))(*map(addressof, values))
        key = call("rex_library_kernel", library.handle, kernel.encode(), result=c_void_p)
        config = Config(key, -1, self.handle, teams, threads, 0, shared, 0)
        call("rex_library_launch", library.handle, byref(config), addresses, len(values))

    def sync(self):
        call("rex_queue_sync", self.handle)
        self.kept.clear()

    def destroy(self):
        call("rex_queue_destroy", self.handle)
