# What is not about offloading is pathfinder's own: its grids, its serial run, and the comparison.
$(O)/examples/pathfinder_raw/pathfinder_raw: $(call objects,examples/pathfinder/grid.c examples/pathfinder/serial.c)
