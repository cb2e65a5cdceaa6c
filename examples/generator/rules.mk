# Host code and kernels are generated; the host code is compiled without the folder of librex's headers.
generator := $(O)/examples/generator
$(generator)/work_host.c $(generator)/work_kernels.cu: examples/generator/generate.awk examples/generator/work.loops
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)awk -f $< -v file=work -v part=$(if $(filter %.cu,$@),kernels,host) examples/generator/work.loops > $@
$(generator)/work_host.o: $(generator)/work_host.c
	$(call say,CC,$@)
	$(Q)$(CC) -std=c11 $(warnings) $(CFLAGS) $(sanitize) -c -o $@ $<
$(generator)/generator: $(generator)/work_host.o
examples/generator.libs := $(generator)/work_host.o -lrex
$(eval $(call host-image,$(generator)/rex_lib_host.so,$(generator)/work_kernels.cu))
$(eval $(call cubin,$(generator)/rex_lib_nvidia.cubin,$(generator)/work_kernels.cu))
examples/generator.needs := $(generator)/rex_lib_host.so $(if $(DEVICE_COMPILER),$(generator)/rex_lib_nvidia.cubin)
