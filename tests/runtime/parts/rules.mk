# Three images from one source, each with one kernel and one global. The images lie in memory, as those of static libraries do.
parts := $(O)/tests/runtime/parts
$(foreach one,alpha:2 beta:3 gamma:5,$(eval $(call images,$(parts)/$(firstword $(subst :, ,$(one))),\
    tests/runtime/parts/image/kernels.cu,-DNAME=$(firstword $(subst :, ,$(one))) -DFACTOR=$(lastword $(subst :, ,$(one))))))
tests/runtime/parts.needs := $(call images-of,$(addprefix $(parts)/,alpha beta gamma))
