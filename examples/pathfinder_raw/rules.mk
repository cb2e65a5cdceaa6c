# What is not about offloading is pathfinder's own: its grids, its serial run, and the comparison.
pathfinder_raw.shared := $(call objects,examples/pathfinder/grid.c examples/pathfinder/serial.c)
examples/pathfinder_raw.libs := $(pathfinder_raw.shared)
$(O)/examples/pathfinder_raw/pathfinder_raw: $(pathfinder_raw.shared)
