# A second image with the same kernel names.
$(eval $(call images,$(O)/tests/runtime/reregister/other,tests/runtime/reregister/other/kernels.cu))
tests/runtime/reregister.needs := $(call images-of,$(O)/tests/runtime/reregister/other)
