# Fakes for the unit tests, in $(O)/tests/fake: NN/libomptarget.so.NN for each release, with a libomp and a plugin's
# name beside it; lacks-*/: without an entry point; cuda/libcuda.so.1; module.so: a place for a module.

fake_releases := 14 15 16 17 18 19 20 21 22 23 24
fake_cflags    = $(common_cflags) -fPIC -fvisibility=default

# $(1) folder, $(2) release, $(3) more flags. A library's number tells 20 from 21, whose exports are the same.
define fake-omptarget
FAKES += $(O)/tests/fake/$(1)/libomptarget.so.$(2) $(O)/tests/fake/$(1)/libomp.so.5
$(O)/tests/fake/$(1)/libomptarget.so.$(2): tests/fake/omptarget.c $(O)/flags $(O)/tests/fake/$(1)/libomp.so.5
	$$(call say,FAKE,$$@)
	$$(Q)$$(CC) $$(fake_cflags) -MF $$@.d -MT $$@ -DFAKE_RELEASE=$(2) $(3) -shared \
	    -Wl,-soname,libomptarget.so.$(2) -o $$@ $$<
	$$(Q)touch $$(@D)/libomptarget.rtl.x86_64.so
$(O)/tests/fake/$(1)/libomp.so.5: tests/fake/libomp.c $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,FAKE,$$@)
	$$(Q)$$(CC) $$(fake_cflags) -MF $$@.d -MT $$@ -shared -Wl,-soname,libomp.so.5 -o $$@ $$<
endef
$(foreach r,$(fake_releases),$(eval $(call fake-omptarget,$(r),$(r),)))
# Newer than what librex knows.
$(eval $(call fake-omptarget,25,25,))
$(eval $(call fake-omptarget,lacks-register,19,-DFAKE_LACKS_REGISTER))
$(eval $(call fake-omptarget,lacks-devices,19,-DFAKE_LACKS_DEVICES))

FAKES += $(O)/tests/fake/cuda/libcuda.so.1 $(O)/tests/fake/cuda-old/libcuda.so.1 $(O)/tests/fake/cuda-ancient/libcuda.so.1 $(O)/tests/fake/iomp/libiomp5.so $(O)/tests/fake/module.so
$(O)/tests/fake/cuda-old/libcuda.so.1: fake_cuda := -DFAKE_OLD
fake_driver := $(addprefix tests/fake/,cuda.c stream.c work.c memory.c image.c plugin.c link.c)
$(O)/tests/fake/cuda-ancient/libcuda.so.1: fake_cuda := -DFAKE_OLD -DFAKE_ANCIENT
$(O)/tests/fake/cuda/libcuda.so.1 $(O)/tests/fake/cuda-old/libcuda.so.1 $(O)/tests/fake/cuda-ancient/libcuda.so.1: $(fake_driver) $(O)/flags
	@mkdir -p $(@D)
	$(call say,FAKE,$@)
	$(Q)$(CC) $(fake_cflags) $(fake_cuda) -MF $@.d -MT $@ -shared -Wl,-soname,libcuda.so.1 -o $@ $(fake_driver)
$(O)/tests/fake/cuda/libcuda.so: | $(O)/tests/fake/cuda/libcuda.so.1
	$(Q)ln -sf libcuda.so.1 $@
FAKES += $(O)/tests/fake/cuda/libcuda.so

# Makes CUBINs that the fake GPU runs.
FAKES += $(O)/tests/fake/cubin
$(O)/tests/fake/cubin: $(O)/obj/tests/fake/cubin.o $(LIB_A)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $^ $(lib_libs)

# The runtime programs and examples, for the fake GPU.
fake_programs := $(filter-out examples/hotspot_mpi $(foreach d,$(example_dirs) $(runtime_dirs),$(if $(filter yes,$($(d).own)),$(d))),$(example_dirs) $(runtime_dirs))
EXTRA += $(O)/fake-gpu/ready
$(O)/fake-gpu/ready: tests/fake/place $(O)/tests/fake/cubin $(O)/tests/fake/cuda/libcuda.so $(EXAMPLES) $(RUNTIME)
	$(call say,FAKE,$(@D))
	$(Q)sh tests/fake/place $(O) $(fake_programs)
	$(Q)touch $@

# Without a sanitizer, whose runtime would come with it into a namespace of the loader's own, and ends the process there.
$(O)/tests/fake/module.so: tests/fake/module.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,FAKE,$@)
	$(Q)$(CC) $(filter-out $(sanitize),$(fake_cflags)) -MF $@.d -MT $@ -shared -o $@ $<
# In the place of what unpacks fatbins, without its functions.
fake_empty := $(O)/tests/fake/empty/libzstd.so.1 $(O)/tests/fake/empty/liblz4.so.1
FAKES += $(fake_empty)
$(fake_empty): tests/fake/module.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,FAKE,$@)
	$(Q)$(CC) $(fake_cflags) -MF $@.d -MT $@ -shared -Wl,-soname,$(@F) -o $@ $<
# Intel's name, and a soname that satisfies nobody's need of libomp.so.5
$(O)/tests/fake/iomp/libiomp5.so: tests/fake/libomp.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,FAKE,$@)
	$(Q)$(CC) $(fake_cflags) -MF $@.d -MT $@ -shared -Wl,-soname,libiomp5.so -o $@ $<

# The kernels of tests/data as host images: as usual, and with packed relocations where the linker can. Not with a
# sanitizer, which makes symbols larger.
$(eval $(call host-image,$(O)/tests/fake/host.so,tests/data/kernels.cu,-fno-sanitize=all))
FAKES += $(O)/tests/fake/host.so
ifneq ($(shell $(CC) -Wl,--help 2>/dev/null | grep pack-relative-relocs),)
comma := ,
packed := -fno-sanitize=all -Wl$(comma)-z$(comma)pack-relative-relocs
$(eval $(call host-image,$(O)/tests/fake/host_relr.so,tests/data/kernels.cu,$(packed)))
FAKES += $(O)/tests/fake/host_relr.so
endif

EXTRA += $(FAKES)

.PHONY: fakes
fakes: $(FAKES)
