# The shapes as two programs: clang's (built where clang 19 and LLVM 19's libomptarget are) and librex's, each with the recorder in it.

oracle          := tests/oracle
oracle_built    := $(O)/$(oracle)
oracle_sources  := $(wildcard $(oracle)/shapes/*.c) $(oracle)/main.c $(oracle)/recorder.c
ORACLE_CLANG    ?= clang-19
oracle_llvm     := build/llvm/19/usr/lib/llvm-19
# The functions of wrap.h: the linker leads calls of them to the recorder.
oracle_wrapped  := $(shell sed -n 's/^    X.[a-z0-9_]*, \([a-z_]*\),.*/\1/p' $(oracle)/wrap.h)

$(O)/obj/$(oracle)/%.o: more_cflags = -I$(oracle)
# librex is linked statically, so that its dlsym() can be wrapped.
$(oracle_built)/librex: $(call objects,$(oracle_sources) $(oracle)/wrap_librex.c) $(LIB_A)
	$(link) -Wl,--wrap=dlsym $(lib_libs)
$(eval $(call images,$(oracle_built)/rex_lib,$(oracle)/kernels.cu))
oracle_images := $(call images-of,$(oracle_built)/rex_lib)

$(oracle_built)/clang-obj/%.o: $(oracle)/%.c $(oracle)/rules.mk
	$(call do,CLANG,$<)$(ORACLE_CLANG) -std=gnu11 -O1 -Wall -Wextra $(WERROR) -DORACLE_CLANG -I$(oracle) -fopenmp \
	    -fopenmp-targets=$$($(ORACLE_CLANG) -print-target-triple) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<
$(oracle_built)/clang: $(patsubst $(oracle)/%.c,$(oracle_built)/clang-obj/%.o,$(oracle_sources) $(oracle)/wrap_clang.c)
	$(call do,LINK)$(ORACLE_CLANG) -fopenmp -fopenmp-targets=$$($(ORACLE_CLANG) -print-target-triple) \
	    $(addprefix -Wl$(comma)--wrap=__tgt_,$(oracle_wrapped)) -o $@ $^ -L$(oracle_llvm)/lib

EXTRA += $(if $(SAN),,$(oracle_built)/librex $(oracle_images))

WORK += oracle oracle-mutate
.PHONY: oracle-gpu oracle-programs
oracle:  ## compare the map types and results of librex with those of code that clang generates
oracle-mutate:  ## change the map-type bits in a copy of librex one at a time, and check that make oracle notices
oracle oracle-mutate: fetch = tests/llvm
oracle-programs: $(oracle_built)/librex $(oracle_images) \
    $(if $(and $(shell command -v $(ORACLE_CLANG)),$(wildcard $(oracle_llvm)/lib/libomptarget.so)),$(oracle_built)/clang)
run-oracle: oracle-programs
	@O='$(O)' sh tests/oracle/run
run-oracle-mutate: run-oracle
	@O='$(O)' sh tests/oracle/mutate.sh
# The machine with the GPU need not have clang: what clang's program computes is kept in tests/golden/oracle/results.
oracle-gpu: $(oracle_built)/librex $(oracle_images)
	@O='$(O)' sh tests/oracle/run --gpu
