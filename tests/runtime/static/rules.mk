# The program `arguments` with the static library: nothing of librex.so.
static_source := tests/runtime/static
static_built  := $(O)/$(static_source)
$(static_source).own := yes

$(O)/obj/$(static_source)/%.o: more_cflags = -Itests/runtime/arguments
$(eval $(call host-image,$(static_built)/rex_lib_host.so,tests/runtime/arguments/kernels.cu))
$(eval $(call cubin,$(static_built)/rex_lib_nvidia.cubin,tests/runtime/arguments/kernels.cu))
$(static_built)/static: $(O)/obj/$(static_source)/static.o $(support) $(O)/librex.a \
                        | $(static_built)/rex_lib_host.so $(if $(DEVICE_COMPILER),$(static_built)/rex_lib_nvidia.cubin)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(keep_entries) -o $@ $^ -lcmocka -lm $(lib_libs)
