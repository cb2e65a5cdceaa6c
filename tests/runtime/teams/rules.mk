# The same kernels with OpenMP.
teams := $(O)/tests/runtime/teams
ifneq ($(has_openmp),)
$(eval $(call host-image,$(teams)/openmp.so,tests/runtime/teams/kernels.cu,-fopenmp))
tests/runtime/teams.needs := $(teams)/openmp.so
endif
