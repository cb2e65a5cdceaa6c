# Two images of one source. Neither has the name that librex looks for by default.
hand := $(O)/examples/14_by_hand
hand_source := examples/14_by_hand/kernels.cu
examples/14_by_hand.images := no
$(eval $(call host-image,$(hand)/twice.so,$(hand_source),-DFACTOR=2))
$(eval $(call host-image,$(hand)/thrice.so,$(hand_source),-DFACTOR=3))
$(eval $(call cubin,$(hand)/twice.cubin,$(hand_source),-DFACTOR=2))
$(eval $(call cubin,$(hand)/thrice.cubin,$(hand_source),-DFACTOR=3))
hand_images := twice.so thrice.so $(if $(DEVICE_COMPILER),twice.cubin thrice.cubin)
examples/14_by_hand.needs := $(addprefix $(hand)/,$(hand_images))
