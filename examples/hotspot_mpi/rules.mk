# Built where Open MPI is (MPI_LIBS), and with hotspot's model, inputs, serial run and picture.
examples/hotspot_mpi.cflags := $(MPI_CFLAGS)
examples/hotspot_mpi.libs   := $(MPI_LIBS) $(PNG_LIBS)
$(O)/examples/hotspot_mpi/hotspot_mpi: $(patsubst %,$(O)/obj/examples/hotspot/%.o,model input serial heatmap drawing)
