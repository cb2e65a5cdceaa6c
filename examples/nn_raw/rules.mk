# What is not about offloading is nn's own: record files, the list of the nearest, the serial run,
# the frame.
nn_raw.shared := $(call objects,$(addprefix examples/nn/,frame.c nearest.c records.c serial.c))
examples/nn_raw.libs := $(nn_raw.shared) $(O)/libcommon.a -lm
$(O)/examples/nn_raw/nn_raw: $(nn_raw.shared)
