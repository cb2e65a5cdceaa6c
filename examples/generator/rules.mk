# generate.awk makes host code and kernels. The host code is compiled without librex's headers.
generator := $(O)/examples/generator
loops := examples/generator/work.loops
$(generator)/work_host.c $(generator)/work_kernels.cu: examples/generator/generate.awk $(loops)
	$(call do,GEN)awk -f $< -v file=work -v part=$(subst work_,,$(basename $(@F))) $(loops) > $@
$(generator)/work_host.o: $(generator)/work_host.c
	$(call do,CC)$(CC) -std=c11 $(warnings) $(CFLAGS) $(sanitize) -c -o $@ $<
$(generator)/generator: $(generator)/work_host.o
$(eval $(call images,$(generator)/rex_lib,$(generator)/work_kernels.cu))
examples/generator.needs := $(call images-of,$(generator)/rex_lib)
