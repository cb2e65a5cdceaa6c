# The images are built in a folder of their own and go into the program's object; none lies beside
# the program.
embedded_built := $(O)/examples/07_embedded/images
examples/07_embedded.images := no
examples/07_embedded.cflags := -Wa,-I$(embedded_built) $(if $(DEVICE_COMPILER),-DWITH_CUBIN)
$(eval $(call host-image,$(embedded_built)/axpy_host.so,examples/07_embedded/kernels.cu))
embedded_images := $(embedded_built)/axpy_host.so
ifneq ($(DEVICE_COMPILER),)
$(eval $(call cubin,$(embedded_built)/axpy.cubin,examples/07_embedded/kernels.cu))
embedded_images += $(embedded_built)/axpy.cubin
endif
$(O)/obj/examples/07_embedded/embedded.o: $(embedded_images)
