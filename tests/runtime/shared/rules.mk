# Four shared objects from one source; no image is made for `bare`.
several_source := tests/runtime/shared
several_built  := $(O)/$(several_source)

# $(1): name; $(2): factor
define several-object
$(several_built)/lib$(1).so: $(several_source)/plugin/plugin.c $(O)/librex.so $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(common_cflags) -MT $$@ -MF $$@.d -DREX_CUBIN_NAME='"$(1).cubin"' -DREX_HOST_IMAGE_NAME='"$(1)_host.so"' \
	    -fPIC -shared $$(LDFLAGS) $$(keep_entries) -o $$@ $$< -L$$(O) -lrex -Wl,-rpath,'$$$$ORIGIN/../../..'
$(several_source).needs += $(several_built)/lib$(1).so
endef
define several-images
$(call host-image,$(several_built)/$(1)_host.so,$(several_source)/plugin/kernels.cu,-DFACTOR=$(2))
$(call cubin,$(several_built)/$(1).cubin,$(several_source)/plugin/kernels.cu,-DFACTOR=$(2))
$(several_source).needs += $(several_built)/$(1)_host.so $(if $(DEVICE_COMPILER),$(several_built)/$(1).cubin)
endef
$(foreach name,twice thrice tenfold bare,$(eval $(call several-object,$(name))))
$(eval $(call several-images,twice,2))
$(eval $(call several-images,thrice,3))
$(eval $(call several-images,tenfold,10))
