# Linked statically, as the unit tests are: the GPU is a fake. Built where Open MPI is.
ifneq ($(MPI_LIBS),)
$(O)/obj/tests/mpi/%.o: more_cflags = -Itests/fake -DTEST_BUILD='"$(O)"' $(MPI_CFLAGS)
$(O)/tests/mpi/halo: $(addprefix $(O)/obj/,tests/mpi/halo.o examples/hotspot_mpi/halo.o) $(LIB_A) | $(FAKES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(keep_entries) -rdynamic -o $@ $^ $(MPI_LIBS) -lcmocka $(lib_libs)
EXTRA += $(O)/tests/mpi/halo
endif
