# The program of scripts/mpi.sh, which is built where Open MPI is.
tests/mpi.cflags := $(MPI_CFLAGS)
tests/mpi.libs   := $(MPI_LIBS) -ldl
