# What librex costs: programs that run under callgrind, and the script that runs them. The programs are built with -O2 whatever
# CFLAGS say; the library is the one that CFLAGS made. All without debugging information: valgrind 3.19 dies of what clang writes.
bench := $(O)/tests/bench

$(eval $(call host-image,$(bench)/rex_lib_host.so,tests/bench/kernels.cu,-g0))
$(bench)/$(SONAME): $(LIB_SO)
	$(Q)mkdir -p $(@D) && strip --strip-debug -o $@ $<
$(O)/obj/tests/bench/%.o: more_cflags = -O2

# Of librex.so and of librex.a.
bench_shared := $(addprefix $(bench)/,wrappers-shared register register-heap)
bench_static := $(addprefix $(bench)/,wrappers-static maps)
$(bench)/wrappers-shared $(bench)/wrappers-static: $(call objects,tests/bench/wrappers.c)
$(bench)/register-heap: $(call objects,tests/bench/register.c)
$(bench)/register $(bench)/maps: $(O)/obj/tests/bench/$$(@F).o
# What the heap of librex holds is counted as the test of repeated registrations counts it.
$(bench)/register-heap: $(call objects,tests/runtime/reregister/heap.c)
$(bench)/maps: bench_libs := -Wl,--wrap=calloc
$(bench_shared) $(bench_static): private sanitize :=
$(bench_static): $(LIB_A)
	$(link) $(bench_libs) -Wl,--strip-debug $(lib_libs)
$(bench_shared): $(O)/librex.so $(bench)/$(SONAME)
	$(link) -Wl,--strip-debug -L$(O) -lrex -Wl,-rpath,'$$ORIGIN' $(lib_libs)

# The programs' headers may come with what is installed first.
WORK += bench
.PHONY: run-bench-time
bench: deps = bench
bench: library  ## measure what librex adds to libomptarget, in instructions and time; needs no GPU; results in build/bench; QUICK=1 is shorter
run-bench: $(if $(SAN),,$(bench_shared) $(bench_static) $(bench)/rex_lib_host.so $(O)/tools/rex-check)
	@$(if $(SAN),echo 'bench: the instructions of a sanitizer would be counted too; leave SAN out' >&2; exit 1)
	@$(test_env) QUICK='$(QUICK)' tests/bench/run
	@$(test_env) QUICK='$(QUICK)' tests/bench/check
	@+$(MAKE) --no-print-directory run-bench-time
	@$(test_env) tests/bench/path

include $(wildcard tests/bench/*/rules.mk)
