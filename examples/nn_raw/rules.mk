# Record files, the list of the nearest, the serial run and the frame are nn's.
nn_shared := frame.c nearest.c records.c serial.c
$(O)/examples/nn_raw/nn_raw: $(call objects,$(addprefix examples/nn/,$(nn_shared)))
