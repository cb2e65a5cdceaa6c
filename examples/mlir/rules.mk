# A program that MLIR has lowered, and its runtime librex-mlir. mlir-lower makes program.s.
mlir := $(O)/examples/mlir

$(O)/obj/examples/mlir/%.o: more_cflags = -fPIC
$(O)/obj/examples/mlir/runtime/%.o: more_cflags = -fPIC -fvisibility=hidden
$(mlir)/librex-mlir.so: $(call objects,$(wildcard examples/mlir/runtime/*.c)) $(O)/librex.so
	$(link) -shared $(use_rex) -pthread
$(mlir)/program.o: examples/mlir/program.s
	$(call do,AS)$(CC) -c -o $@ $<
$(mlir)/mlir: $(call objects,examples/mlir/program/mlir.c) $(mlir)/program.o $(mlir)/librex-mlir.so
	$(link) -L$(mlir) -lrex-mlir -Wl,-rpath,'$$ORIGIN' -Wl,-rpath-link,$(O) -ldl -lm

# The lowered program is for x86_64 only.
EXTRA += $(if $(filter x86_64,$(shell uname -m)),$(mlir)/mlir)

.PHONY: mlir-lower
mlir-lower:  ## make program.s of examples/mlir again; needs Debian's mlir-22-tools and clang-22
	mlir-opt-22 examples/mlir/program.mlir \
	    --gpu-lower-to-nvvm-pipeline="cubin-chip=sm_75 cubin-features=+ptx75 cubin-format=isa" \
	    -o build/program.lowered.mlir
	mlir-translate-22 --mlir-to-llvmir build/program.lowered.mlir -o build/program.ll
	clang-22 -Wno-override-module -O2 -S -fPIC -fno-addrsig -o examples/mlir/program.s \
	    -x ir build/program.ll
