# A second image with the same kernel names.
again_built := $(O)/tests/runtime/reregister
$(eval $(call host-image,$(again_built)/other_host.so,tests/runtime/reregister/other/kernels.cu))
$(eval $(call cubin,$(again_built)/other.cubin,tests/runtime/reregister/other/kernels.cu))
tests/runtime/reregister.needs := $(addprefix $(again_built)/,other_host.so $(if $(DEVICE_COMPILER),other.cubin))
