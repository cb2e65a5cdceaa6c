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

fuzz_main  := $(call objects,tests/fuzz/harness/$(if $(filter fuzz,$(SAN)),libfuzzer,replay).c)
fuzz_flags := $(if $(filter fuzz,$(SAN)),-fsanitize=fuzzer)

$(O)/obj/tests/fuzz/%.o: more_cflags = -Itests/fuzz/harness -Itools -Iexamples -DTEST_BUILD='"$(O)"'

# Instructions are counted without sanitizers: tests/scripts/hostile.sh.
counted := $(addprefix $(O)/tests/fuzz/counted/,cubin hostimage image library list)
$(FUZZ): private sanitize = $(sanitize_tested) $(fuzz_flags)
$(FUZZ): $(TESTED)
$(counted): $(LIB_A)
$(FUZZ) $(counted): $(O)/obj/tests/fuzz/$$(@F).o $(fuzz_main) $(fuzz_harness) $$(fuzz_with_$$(@F)) | $(O)/tests/fuzz/libcuda.so.1
	$(link) -Wl,-rpath,'$$ORIGIN$(if $(findstring /counted/,$@),/..)' -lm $(lib_libs)

# The driver that the targets find is the fake one, so that a run says the same on every machine.
$(O)/tests/fuzz/libcuda.so.1: $(O)/tests/fake/cuda/libcuda.so.1
	$(Q)mkdir -p $(@D) && ln -sf ../fake/cuda/libcuda.so.1 $@

.PHONY: fuzz-programs
fuzz-programs: $(FUZZ) $(O)/tests/fake/host.so

EXTRA += $(FUZZ) $(counted)

# make fuzz: with clang, whose libFuzzer this is
FUZZ_CC ?= clang-19
WORK += fuzz fuzz-keep
fuzz: library  ## fuzz the readers of files, each for FUZZ_SECONDS (default 60); K=pattern runs only those that match
fuzz-keep: library  ## copy to tests/fuzz/corpus the inputs of make fuzz that reach new code
fuzz fuzz-keep: deps = fuzz
fuzz fuzz-keep: with = CC='$(FUZZ_CC)' SAN=fuzz CFLAGS='-O1 -g'
run-fuzz run-fuzz-keep: fuzz-programs
	@$(test_env) tests/fuzz/run $(if $(filter %-keep,$@),--keep) $(if $(K),-k '$(K)')
