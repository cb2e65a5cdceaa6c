# Two ranks, and the exchange of an example: built where Open MPI is.
tests/bench/gpu/halo.cflags := $(MPI_CFLAGS)
tests/bench/gpu/halo.libs   := $(O)/obj/examples/hotspot_mpi/halo.o $(MPI_LIBS)
$(O)/tests/bench/gpu/halo/halo: $(O)/obj/examples/hotspot_mpi/halo.o
