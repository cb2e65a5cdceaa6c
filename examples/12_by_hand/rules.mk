# Two images of one source, neither of them under the name that librex looks for by itself.
hand := $(O)/examples/12_by_hand
examples/12_by_hand.images := no
$(eval $(call host-image,$(hand)/twice.so,examples/12_by_hand/kernels.cu,-DFACTOR=2))
$(eval $(call host-image,$(hand)/thrice.so,examples/12_by_hand/kernels.cu,-DFACTOR=3))
$(eval $(call cubin,$(hand)/twice.cubin,examples/12_by_hand/kernels.cu,-DFACTOR=2))
$(eval $(call cubin,$(hand)/thrice.cubin,examples/12_by_hand/kernels.cu,-DFACTOR=3))
examples/12_by_hand.needs := $(addprefix $(hand)/,twice.so thrice.so $(if $(DEVICE_COMPILER),twice.cubin thrice.cubin))
