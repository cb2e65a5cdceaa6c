# make builds it if Open MPI is installed (MPI_LIBS). hotspot has the model, inputs, serial run and
# picture.
examples/hotspot_mpi.cflags := $(MPI_CFLAGS)
examples/hotspot_mpi.libs   := $(MPI_LIBS) $(PNG_LIBS)
hotspot_shared := model input serial heatmap drawing
$(O)/examples/hotspot_mpi/hotspot_mpi: $(hotspot_shared:%=$(O)/obj/examples/hotspot/%.o)
