# Images that tell apart what was chosen: FACTOR is 2 for the other host image; for a GPU 3 to 5 in fatbins with another architecture,
# as they are, with Zstandard and with LZ4, 6 in PTX, 7 in a fatbin with PTX alone, 8 in an image for that other architecture.
containers := $(O)/tests/runtime/containers
containers_source := tests/runtime/containers/kernels.cu
containers_other := $(if $(filter sm_75,$(ARCH)),80,75)
$(eval $(call host-image,$(containers)/other_host.so,$(containers_source),-DFACTOR=2))
tests/runtime/containers.needs := $(containers)/other_host.so

containers_two := -fatbin -Xfatbin=-compress-all -gencode arch=compute_$(containers_other),code=sm_$(containers_other) \
                  -gencode arch=$(ARCH:sm_%=compute_%),code=$(ARCH)
containers_ptx := -fatbin -gencode arch=compute_75,code=compute_75
# $(call container,NAME,OPTIONS OF NVCC)
define container
$(containers)/$(1): $(containers_source) $(O)/arch
	$$(call do,NVCC)$$(NVCC) $(2) -Iinclude -MMD -MF $$@.d -MT $$@ -o $$@ $$<
endef
$(eval $(call container,plain.fatbin,$(containers_two) -DFACTOR=3 --no-compress))
$(eval $(call container,zstd.fatbin,$(containers_two) -DFACTOR=4 -compress-mode=size))
$(eval $(call container,lz4.fatbin,$(containers_two) -DFACTOR=5 -compress-mode=speed))
$(eval $(call container,portable.ptx,-ptx -arch=compute_75 -DFACTOR=6))
$(eval $(call container,portable.fatbin,$(containers_ptx) -DFACTOR=7))
$(eval $(call container,other.cubin,-cubin -arch=sm_$(containers_other) -DFACTOR=8))
tests/runtime/containers.needs += $(if $(NVCC),$(addprefix $(containers)/,plain.fatbin zstd.fatbin lz4.fatbin portable.ptx portable.fatbin other.cubin))
