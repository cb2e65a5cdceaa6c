# The same kernels with OpenMP; clang may lack its library.
teams := $(O)/tests/runtime/teams
teams_openmp := $(if $(findstring clang,$(CC)),$(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes),yes)
ifneq ($(teams_openmp),)
$(eval $(call host-image,$(teams)/openmp.so,tests/runtime/teams/kernels.cu,-fopenmp))
tests/runtime/teams.needs := $(teams)/openmp.so
endif
