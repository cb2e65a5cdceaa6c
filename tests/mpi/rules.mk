# The program of scripts/mpi.sh, which is built where Open MPI is.
tests/mpi.cflags := $(MPI_CFLAGS)
tests/mpi.libs   := $(MPI_LIBS) -ldl

# Linked statically, as the unit tests are: the GPU is a fake.
ifneq ($(MPI_LIBS),)
$(O)/obj/tests/mpi/pointers/%.o: more_cflags = -Itests/fake -DTEST_BUILD='"$(O)"' $(MPI_CFLAGS)
$(O)/tests/mpi/pointers/pointers: $(O)/obj/tests/mpi/pointers/pointers.o $(LIB_A) | $(FAKES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(keep_entries) -rdynamic -o $@ $^ $(MPI_LIBS) -lcmocka $(lib_libs)
EXTRA += $(O)/tests/mpi/pointers/pointers
endif
