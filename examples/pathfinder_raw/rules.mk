# The grids, the serial run and the comparison are pathfinder's.
pathfinder_shared := $(addprefix examples/pathfinder/,grid.c serial.c)
$(O)/examples/pathfinder_raw/pathfinder_raw: $(call objects,$(pathfinder_shared))
