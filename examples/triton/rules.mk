# What Triton says of the kernel lies beside the program, as the image does.
examples/triton.needs := $(O)/examples/triton/kernel.json
$(O)/examples/triton/kernel.json: examples/triton/kernel.json
	$(call do,GEN)cp $< $@
