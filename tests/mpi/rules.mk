# Linked statically, as the unit tests are: the GPU is a fake. Built where Open MPI is.
ifneq ($(MPI_LIBS),)
EXTRA += $(O)/tests/mpi/halo
endif
$(O)/obj/tests/mpi/%.o: more_cflags = -Itests/fake -DTEST_BUILD='"$(O)"' $(MPI_CFLAGS)
$(O)/tests/mpi/halo: $(addprefix $(O)/obj/,tests/mpi/halo.o examples/hotspot_mpi/halo.o) $(LIB_A) | $(FAKES)
	$(link) -rdynamic $(MPI_LIBS) -lcmocka $(lib_libs)
