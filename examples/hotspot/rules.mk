# Without libpng PNG_CFLAGS and PNG_LIBS are empty, and the program writes a PPM.
$(O)/obj/examples/hotspot/heatmap.o: $(O)/png
examples/hotspot.cflags := $(PNG_CFLAGS)
examples/hotspot.libs   := $(PNG_LIBS)
