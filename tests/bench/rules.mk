# What librex costs: programs that run under callgrind, and the script that runs them. The programs are built with -O2 whatever
# CFLAGS say; the library is the one that CFLAGS made. All without debugging information: valgrind 3.19 dies of what clang writes.
bench_built   := $(O)/tests/bench
bench_library := -L$(O) -lrex -Wl,-rpath,'$$$$ORIGIN'

$(eval $(call host-image,$(bench_built)/rex_lib_host.so,tests/bench/kernels.cu,-g0))
$(bench_built)/$(SONAME): $(LIB_SO)
	@mkdir -p $(@D)
	$(Q)strip --strip-debug -o $@ $<
$(O)/obj/tests/bench/%.o: more_cflags = -O2

# $(1) program, $(2) objects, $(3) librex as a prerequisite, $(4) librex for the linker
define bench-program
BENCH += $(bench_built)/$(1)
$(bench_built)/$(1): $(2) $(3)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(keep_entries) -Wl,--strip-debug -o $$@ $(2) $(4) $$(lib_libs)
endef
bench_object = $(call objects,tests/bench/$(1).c)
# What the heap of librex holds is counted as the test of repeated registrations counts it.
bench_heap := $(call objects,tests/runtime/reregister/heap.c)
$(eval $(call bench-program,wrappers-shared,$(call bench_object,wrappers),$(O)/librex.so $(bench_built)/$(SONAME),$(bench_library)))
$(eval $(call bench-program,wrappers-static,$(call bench_object,wrappers),$(LIB_A),$(LIB_A)))
$(eval $(call bench-program,register,$(call bench_object,register),$(O)/librex.so $(bench_built)/$(SONAME),$(bench_library)))
$(eval $(call bench-program,register-heap,$(call bench_object,register) $(bench_heap),$(O)/librex.so $(bench_built)/$(SONAME),$(bench_library)))
bench_comma := ,
$(eval $(call bench-program,maps,$(call bench_object,maps),$(LIB_A),$(LIB_A) -Wl$$(bench_comma)--wrap=calloc))

# The programs' headers may come with what is installed first.
.PHONY: run-bench run-bench-time
bench:
	@tools/deps bench
	@+$(submake) run-bench
ifneq ($(SAN),)
run-bench:
	@echo 'bench: the instructions of a sanitizer would be counted too; leave SAN out' >&2; exit 1
else
run-bench: $(BENCH) $(bench_built)/rex_lib_host.so $(O)/tools/rex-check
	@$(test_env) QUICK='$(QUICK)' tests/bench/run
	@$(test_env) QUICK='$(QUICK)' tests/bench/check
	@+$(MAKE) --no-print-directory run-bench-time
	@$(test_env) tests/bench/path
endif

include $(wildcard tests/bench/*/rules.mk)
