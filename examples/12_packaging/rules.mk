# The images are built in a separate folder, and the assembler puts them into the program's object.
packaged := $(O)/examples/12_packaging/images
packaged_source := examples/12_packaging/kernels.cu
examples/12_packaging.images := no
examples/12_packaging.cflags := -Wa,-I$(packaged) $(if $(DEVICE_COMPILER),-DWITH_FATBIN)
$(eval $(call host-image,$(packaged)/axpy_host.so,$(packaged_source)))
ifneq ($(DEVICE_COMPILER),nvcc)
$(eval $(call cubin,$(packaged)/axpy.fatbin,$(packaged_source))) # clang's PTX
else
packaged_other := $(if $(filter sm_80,$(ARCH)),90,80)
$(packaged)/axpy.fatbin: $(packaged_source) $(O)/arch
	$(call do,NVCC)$(NVCC) -fatbin -gencode arch=$(ARCH:sm_%=compute_%),code=$(ARCH) \
	    -gencode arch=compute_$(packaged_other),code=sm_$(packaged_other) --no-compress \
	    -Iinclude -MMD -MF $@.d -MT $@ -o $@ $<
endif
$(O)/obj/examples/12_packaging/packaging.o: $(packaged)/axpy_host.so \
    $(if $(DEVICE_COMPILER),$(packaged)/axpy.fatbin)
