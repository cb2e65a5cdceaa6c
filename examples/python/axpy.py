"""axpy.py - y = y + a x from Python, on memory of array and, if it is installed, of NumPy.

Run it:  make && $(make -s print-O)/examples/python/python
By hand: rex-cc --images kernels.cu && LD_LIBRARY_PATH=folder-of-librex python3 axpy.py

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import array
import os

import rex

COUNT = 100000
here = os.path.dirname(os.path.abspath(__file__))
images = ("rex_lib_nvidia.cubin", "rex_lib_host.so")
library = rex.Library(":".join(os.path.join(here, name) for name in images))
queue = rex.Queue()


def axpy(a, x, y):
    there_x, there_y = rex.Memory(8 * COUNT), rex.Memory(8 * COUNT)
    queue.copy_to(there_x, x)
    queue.copy_to(there_y, y)
    queue.launch(library, "axpy__kernel__", (64, 1, 1), (128, 1, 1), COUNT, a, there_x, there_y)
    queue.copy_from(y, there_y)
    queue.sync()
    there_x.free()
    there_y.free()
    if any(y[i] != 1 + a * i for i in range(COUNT)):
        raise SystemExit("axpy is wrong")
    return y[COUNT - 1]


x, y = array.array("d", range(COUNT)), array.array("d", [1.0]) * COUNT
print("array: y[%d] = %g" % (COUNT - 1, axpy(2.0, x, y)))
try:
    import numpy
    x, y = numpy.arange(COUNT, dtype=float), numpy.ones(COUNT)
    print("NumPy: y[%d] = %g" % (COUNT - 1, axpy(3.0, x, y)))
except ImportError:
    print("NumPy: it is not installed")
try:
    queue.launch(library, "axpi__kernel__", (1, 1, 1), (1, 1, 1))
except rex.Error as error:
    print("an error:", error)
queue.destroy()
library.unload()
