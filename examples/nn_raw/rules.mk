# What is not about offloading is nn's own: record files, the list of the nearest, the serial run, the frame.
$(O)/examples/nn_raw/nn_raw: $(call objects,$(addprefix examples/nn/,frame.c nearest.c records.c serial.c))
