# Host code and kernels are generated; the host code is compiled without the folder of librex's headers.
generator := $(O)/examples/generator
$(generator)/work_host.c $(generator)/work_kernels.cu: examples/generator/generate.awk examples/generator/work.loops
	$(call do,GEN)awk -f $< -v file=work -v part=$(if $(filter %.cu,$@),kernels,host) examples/generator/work.loops > $@
$(generator)/work_host.o: $(generator)/work_host.c
	$(call do,CC)$(CC) -std=c11 $(warnings) $(CFLAGS) $(sanitize) -c -o $@ $<
$(generator)/generator: $(generator)/work_host.o
$(eval $(call images,$(generator)/rex_lib,$(generator)/work_kernels.cu))
examples/generator.needs := $(call images-of,$(generator)/rex_lib)
