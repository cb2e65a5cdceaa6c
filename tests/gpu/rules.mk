# compute-sanitizer has to name lines of the planted faults. Images by clang have them anyway.
planted := $(O)/tests/gpu/planted/rex_lib_nvidia.cubin
$(planted): more_nvcc := -lineinfo
$(planted): tests/gpu/rules.mk

# Of what is built as $(mlir), by a rules.mk of examples.
tests/gpu/mlir.libs = -L$(mlir) -lrex-mlir -Wl,-rpath,'$$ORIGIN/../../../examples/mlir'
$(O)/tests/gpu/mlir/mlir: $(O)/examples/mlir/librex-mlir.so
