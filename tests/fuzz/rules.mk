# Fuzz targets: tests/fuzz/NAME.c is $(O)/tests/fuzz/NAME, which replays the inputs that are kept, or, with SAN=fuzz and clang,
# looks for new ones. A target is linked with the library itself, or with the reader of a tool or an example.

fuzz_targets := $(patsubst %.c,%,$(notdir $(wildcard tests/fuzz/*.c)))
fuzz_harness := $(call objects,tests/fuzz/harness/common.c tests/fuzz/harness/images.c)
FUZZ         := $(addprefix $(O)/tests/fuzz/,$(fuzz_targets))

# What a target reads with beside librex.a.
fuzz_check := $(filter-out %/rex-check.o,$(call objects,$(wildcard tools/rex-check/*.c tools/common/*.c)))
fuzz_with_program  := $(fuzz_check)
fuzz_with_source   := $(fuzz_check)
fuzz_with_elffile  := $(call objects,tools/common/elffile.c tools/common/elfsymbols.c tools/common/mapping.c)
fuzz_with_report   := $(filter-out %/rex-report.o,$(call objects,$(wildcard tools/rex-report/*.c tools/common/*.c)))
fuzz_with_bfs      := $(call objects,examples/bfs/graph.c) $(common)
fuzz_with_gaussian := $(call objects,examples/gaussian/system.c)
fuzz_with_hotspot  := $(call objects,examples/hotspot/input.c) $(common)
fuzz_with_nn       := $(call objects,examples/nn/records.c) $(common)
fuzz_with_srad     := $(call objects,examples/srad/picture.c) $(common)

ifeq ($(SAN),fuzz)
fuzz_main  := $(call objects,tests/fuzz/harness/libfuzzer.c)
fuzz_flags := -fsanitize=fuzzer
else
fuzz_main  := $(call objects,tests/fuzz/harness/replay.c)
fuzz_flags :=
endif

$(O)/obj/tests/fuzz/%.o: more_cflags = -Itests/fuzz/harness -Itools -Iexamples -DTEST_BUILD='"$(O)"'

# $(1) program, $(2) target, $(3) the library, $(4) flags, $(5) way from the program to the fake driver
define fuzz-target
$(1): $(O)/obj/tests/fuzz/$(2).o $(fuzz_main) $(fuzz_harness) $(fuzz_with_$(2)) $(3) | $(O)/tests/fuzz/libcuda.so.1
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $(4) $$(fuzz_flags) $$(LDFLAGS) $$(keep_entries) -Wl,-rpath,'$$$$ORIGIN$(5)' -o $$@ $$^ -lm $$(lib_libs)
endef
$(foreach t,$(fuzz_targets),$(eval $(call fuzz-target,$(O)/tests/fuzz/$(t),$(t),$(TESTED),$(sanitize_tested))))
# Instructions are counted without sanitizers: tests/scripts/hostile.sh.
counted := $(foreach t,cubin hostimage image library list,$(O)/tests/fuzz/counted/$(t))
$(foreach t,$(counted),$(eval $(call fuzz-target,$(t),$(notdir $(t)),$(LIB_A),$(sanitize),/..)))

# The driver that the targets find is the fake one, so that a run says the same on every machine.
$(O)/tests/fuzz/libcuda.so.1: $(O)/tests/fake/cuda/libcuda.so.1
	@mkdir -p $(@D)
	$(Q)ln -sf ../fake/cuda/libcuda.so.1 $@

.PHONY: fuzz-programs
fuzz-programs: $(FUZZ) $(O)/tests/fake/host.so

EXTRA += $(FUZZ) $(counted)

# ---------------------------------------------------------------------------------------------------------------------
# make fuzz: with clang, whose libFuzzer this is

FUZZ_CC ?= clang-19
.PHONY: run-fuzz run-fuzz-keep
fuzz_make = $(submake) CC='$(FUZZ_CC)' SAN=fuzz CFLAGS='-O1 -g'
fuzz:
	@tools/deps fuzz
	@+$(fuzz_make) run-fuzz
run-fuzz: fuzz-programs
	@$(test_env) tests/fuzz/run $(if $(K),-k '$(K)')

fuzz-keep:
	@tools/deps fuzz
	@+$(fuzz_make) run-fuzz-keep
run-fuzz-keep: fuzz-programs
	@$(test_env) tests/fuzz/run --keep $(if $(K),-k '$(K)')
