# Five programs of one file each, which share their kernels, and the script that runs them.
broken := $(O)/examples/13_broken
broken_programs := $(patsubst examples/13_broken/%.c,$(broken)/%,$(wildcard examples/13_broken/*.c))
examples/13_broken.own := yes
$(eval $(call host-image,$(broken)/rex_lib_host.so,examples/13_broken/kernels.cu))
$(eval $(call cubin,$(broken)/rex_lib_nvidia.cubin,examples/13_broken/kernels.cu))
$(broken_programs): $(broken)/%: $(O)/obj/examples/13_broken/%.o $(O)/librex.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(keep_entries) -o $@ $< -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/../..'
$(broken)/13_broken: examples/13_broken/broken.sh $(broken_programs) $(broken)/rex_lib_host.so \
                     $(if $(DEVICE_COMPILER),$(broken)/rex_lib_nvidia.cubin) | $(O)/tools/rex-check
	$(call say,GEN,$@)
	$(Q)sed 's|@SOURCES@|$(abspath examples/13_broken)|' $< > $@ && chmod 755 $@
