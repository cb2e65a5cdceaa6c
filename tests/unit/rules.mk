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

# The program's own forwarders come before libomptarget's functions.
$(foreach name,bydriver log queuework sender stack,$(O)/tests/unit/$(name)): unit_libs = -rdynamic
# mappings: memory runs out where a test says so, which sees who waits.
$(O)/tests/unit/mappings: unit_libs = -rdynamic $(foreach call,malloc calloc realloc pthread_cond_wait pthread_cond_timedwait pthread_cond_broadcast,-Wl,--wrap=$(call))
# copies: no thread starts where a test says so.
$(O)/tests/unit/copies: unit_libs = -Wl,--wrap=pthread_create
# adopt: memory runs out where a test says so.
$(O)/tests/unit/adopt: unit_libs = -Wl,--wrap=malloc,--wrap=calloc
# choose: as much time passes as a test says.
$(O)/tests/unit/choose: unit_libs = -Wl,--wrap=clock_gettime
# binding: no file is opened or loaded, and memory runs out, where a test says so. librex itself is one of the files that are no libomptarget.
$(O)/tests/unit/binding: | $(O)/librex.so
$(O)/tests/unit/binding: unit_libs = -Wl,--wrap=open,--wrap=dlopen,--wrap=realloc
# device: the driver cannot be opened where a test says so, and for what reason; memory runs out.
$(O)/tests/unit/device: unit_libs = -Wl,--wrap=dlopen,--wrap=dlerror,--wrap=malloc
# trace: a file takes a part of the bytes at a time, and is closed with an error where a test says so.
$(O)/tests/unit/trace: unit_libs = -Wl,--wrap=close,--wrap=write
# races: no time passes where a test says so.
$(O)/tests/unit/races: unit_libs = -Wl,--wrap=nanosleep

# report: rex-report without its main; and the program's own forwarders come before libomptarget's functions.
$(O)/obj/tests/unit/report.o: more_cflags += -Itools
$(O)/tests/unit/report: $(filter-out %/rex-report.o,$(call objects,$(wildcard tools/rex-report/*.c tools/common/*.c)))
$(O)/tests/unit/report: unit_libs = $(TESTED)
