# Four shared objects from one source, of which `bare` has no image. Each is named after the factor of its kernel.
several_source := tests/runtime/shared
several_built  := $(O)/$(several_source)
several        := $(addprefix $(several_built)/,twice thrice tenfold)
$(foreach one,twice:2 thrice:3 tenfold:10,$(eval $(call images,$(several_built)/$(firstword $(subst :, ,$(one))),\
    $(several_source)/plugin/kernels.cu,-DFACTOR=$(lastword $(subst :, ,$(one))))))
several_objects := $(patsubst %,$(several_built)/lib%.so,$(notdir $(several)) bare)
$(several_objects): $(several_built)/lib%.so: $(several_source)/plugin/plugin.c $(O)/librex.so $(O)/flags
	$(call do,LD)$(CC) $(common_cflags) -MT $@ -MF $@.d -DREX_CUBIN_NAME='"$*.cubin"' -DREX_HOST_IMAGE_NAME='"$*_host.so"' \
	    -fPIC -shared $(LDFLAGS) $(keep_entries) -o $@ $< $(use_rex)
$(several_source).needs := $(several_objects) $(call images-of,$(several))
