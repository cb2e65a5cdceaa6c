# Lesson 5: two shared objects beside the program, each with its own images. The Makefile says what
# the variables mean.
so_source := examples/05_shared_objects
so_built  := $(O)/$(so_source)

# $(1): the name; $(1)/$(1).c becomes lib$(1).so, and $(1)/kernels.cu its images, under the names
# that $(1).c gives to librex
define shared-object
$(call host-image,$(so_built)/$(1)_host.so,$(so_source)/$(1)/kernels.cu)
$(call cubin,$(so_built)/$(1).cubin,$(so_source)/$(1)/kernels.cu)
$(so_built)/lib$(1).so: $(O)/obj/$(so_source)/$(1)/$(1).o $(O)/librex.so
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -shared $$(CFLAGS) $$(sanitize) $$(LDFLAGS) $$(keep_entries) -o $$@ $$< -L$$(O) -lrex \
	    -Wl,-rpath,'$$$$ORIGIN/../..'
endef
$(eval $(call shared-object,scale))
$(eval $(call shared-object,shift))

$(so_source).cflags := -fPIC
$(so_source).needs  := $(foreach so,scale shift,$(addprefix $(so_built)/,\
                           lib$(so).so $(so)_host.so $(if $(DEVICE_COMPILER),$(so).cubin)))
# The program is linked with one of them, and finds both beside itself.
$(so_source).libs    = -L$(so_built) -lscale -Wl,-rpath,'$$ORIGIN' -ldl
