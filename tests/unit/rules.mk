# Unit tests look for what they read in the build directory: fakes and host images.
$(O)/obj/tests/unit/%.o: more_cflags = -Itests/fake -DTEST_BUILD='"$(O)"' $(sanitize_tested)
$(UNIT): | $(FAKES)

# Two of them have no sanitizer: stack measures what a thread needs of its stack, and context forks under each lock, of which a sanitizer has
# its own.
plain_units := context stack
$(filter-out $(plain_units:%=$(O)/tests/unit/%),$(UNIT)): $(TESTED)
$(plain_units:%=$(O)/tests/unit/%): $(LIB_A)
$(plain_units:%=$(O)/tests/unit/%) $(plain_units:%=$(O)/obj/tests/unit/%.o) $(O)/obj/tests/unit/locks/held.o: private sanitize_tested := $(sanitize)

# In all of them: locks are taken in the order of their ranks, and given back by who holds them.
$(UNIT): $(O)/obj/tests/unit/locks/held.o
$(UNIT): private LDFLAGS += $(foreach call,lock trylock timedlock unlock,-Wl,--wrap=pthread_mutex_$(call)) -Wl,--wrap=pthread_atfork

# rows: the row macros in C11 and in C++11.
$(O)/tests/unit/rows: $(O)/obj/tests/unit/rows/c11.o $(O)/obj/tests/unit/rows/cxx11.o
$(O)/obj/tests/unit/rows.o $(O)/obj/tests/unit/rows/%.o: more_cflags += -Itests/unit
$(O)/obj/tests/unit/rows/cxx11.o: tests/unit/rows/cxx11.cpp $(O)/flags
	$(call do,CXX,$<)$(CC) -x c++ $(filter-out -std=c11,$(test_cflags)) -Itests/unit -std=c++11 -fno-exceptions -c -o $@ $<

# The functions of the C library that fail where a test says so, or that it has to see.
wrap_adopt    := malloc calloc
wrap_binding  := open dlopen realloc
wrap_choose   := clock_gettime
wrap_copies   := pthread_create
wrap_device   := dlopen dlerror malloc
wrap_mappings := malloc calloc realloc clock_gettime pthread_cond_wait pthread_cond_timedwait pthread_cond_broadcast
wrap_races    := nanosleep
wrap_trace    := close write
# Those whose own forwarders come before libomptarget's functions export them.
unit_libs      = $(if $(filter attributes bydriver deferred log mappings queuework sender stack,$(@F)),-rdynamic) $(foreach call,$(wrap_$(@F)),-Wl,--wrap=$(call))
# One of the files that are no libomptarget is librex itself.
$(O)/tests/unit/binding: | $(O)/librex.so

# report: rex-report without its main; and the program's own forwarders come before libomptarget's functions.
$(O)/obj/tests/unit/report.o: more_cflags += -Itools
$(O)/tests/unit/report: $(filter-out %/rex-report.o,$(call objects,$(wildcard tools/rex-report/*.c tools/common/*.c)))
$(O)/tests/unit/report: unit_libs = $(TESTED)
