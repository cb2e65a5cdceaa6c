# Built where Open MPI is (MPI_LIBS), and with hotspot's model, inputs, serial run and picture.
hotspot_mpi_shared := $(patsubst %,$(O)/obj/examples/hotspot/%.o,model input serial heatmap drawing)
examples/hotspot_mpi.cflags := $(MPI_CFLAGS)
examples/hotspot_mpi.libs   := $(hotspot_mpi_shared) $(MPI_LIBS) $(PNG_LIBS) -lm
$(O)/examples/hotspot_mpi/hotspot_mpi: $(hotspot_mpi_shared)
