# The serial run is axpy_multi's own.
axpy_multi_raw.shared := $(call objects,examples/axpy_multi/serial.c)
examples/axpy_multi_raw.libs := $(axpy_multi_raw.shared) $(O)/libcommon.a -lm
$(O)/examples/axpy_multi_raw/axpy_multi_raw: $(axpy_multi_raw.shared)
