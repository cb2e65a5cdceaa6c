# Triton's description of the kernel must lie beside the program and the image.
examples/triton.needs := $(O)/examples/triton/kernel.json
$(O)/examples/triton/kernel.json: examples/triton/kernel.json
	$(call do,GEN)cp $< $@
