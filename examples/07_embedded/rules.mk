# The images are built in a folder of their own and go into the program's object; none lies beside the program.
embedded := $(O)/examples/07_embedded/images
examples/07_embedded.images := no
examples/07_embedded.cflags := -Wa,-I$(embedded) $(if $(DEVICE_COMPILER),-DWITH_CUBIN)
$(eval $(call images,$(embedded)/axpy,examples/07_embedded/kernels.cu))
$(O)/obj/examples/07_embedded/embedded.o: $(call images-of,$(embedded)/axpy)
