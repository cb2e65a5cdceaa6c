# compute-sanitizer has to name lines of the planted faults. Images by clang have them anyway.
planted := $(O)/tests/gpu/planted/rex_lib_nvidia.cubin
$(planted): more_nvcc := -lineinfo
$(planted): tests/gpu/rules.mk
