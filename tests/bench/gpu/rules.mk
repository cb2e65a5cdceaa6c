# Two ranks: built where Open MPI is.
tests/bench/gpu/halo.cflags := $(MPI_CFLAGS)
tests/bench/gpu/halo.libs   := $(MPI_LIBS)
