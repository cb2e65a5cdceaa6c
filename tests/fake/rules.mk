# Fakes for the unit tests, in $(O)/tests/fake: NN/libomptarget.so.NN for each release, with a libomp and a plugin's
# name beside it; lacks-*/: without an entry point; cuda/libcuda.so.1; module.so: a place for a module.

fake := $(O)/tests/fake
# $(call fake_library,FLAGS): the sources of $@ as a shared object
fake_library = $(call do,FAKE)$(CC) $(common_cflags) -fPIC -fvisibility=default -MF $@.d -MT $@ $(1) -shared -Wl,-soname,$(@F) -o $@ \
               $(filter %.c,$^)

# 25 is newer than what librex knows. A library's number tells 20 from 21, whose exports are the same.
fake_releases := 14 15 16 17 18 19 20 21 22 23 24 25
fake_lacks    := lacks-register lacks-devices
fake_targets  := $(foreach r,$(fake_releases),$(fake)/$(r)/libomptarget.so.$(r)) $(fake_lacks:%=$(fake)/%/libomptarget.so.19)
fake_omps     := $(addprefix $(fake)/,$(addsuffix /libomp.so.5,$(fake_releases) $(fake_lacks)))
fake_drivers  := $(addprefix $(fake)/,$(addsuffix /libcuda.so.1,cuda cuda-11.4 cuda-old cuda-ancient))
fake_unpacks  := $(addprefix $(fake)/empty/,libzstd.so.1 liblz4.so.1)

$(fake)/lacks-register/libomptarget.so.19: fake_lack := -DFAKE_LACKS_REGISTER
$(fake)/lacks-devices/libomptarget.so.19: fake_lack := -DFAKE_LACKS_DEVICES
$(fake_targets): tests/fake/omptarget.c $(O)/flags | $$(@D)/libomp.so.5
	$(call fake_library,-DFAKE_RELEASE=$(patsubst .%,%,$(suffix $@)) $(fake_lack))
	$(Q)touch $(@D)/libomptarget.rtl.x86_64.so
# Intel's name for libomp satisfies nobody's need of libomp.so.5.
$(fake_omps) $(fake)/iomp/libiomp5.so: tests/fake/libomp.c $(O)/flags
	$(call fake_library)
$(fake)/cuda-11.4/libcuda.so.1: fake_age := -DFAKE_WITHOUT_ATTRIBUTES
$(fake)/cuda-old/libcuda.so.1: fake_age := -DFAKE_OLD
$(fake)/cuda-ancient/libcuda.so.1: fake_age := -DFAKE_OLD -DFAKE_ANCIENT
$(fake_drivers): $(addprefix tests/fake/,cuda.c stream.c work.c memory.c image.c plugin.c link.c) $(O)/flags
	$(call fake_library,$(fake_age))
$(fake)/cuda/libcuda.so: | $(fake)/cuda/libcuda.so.1
	$(Q)ln -sf libcuda.so.1 $@
# Without a sanitizer, whose runtime would come with it into a namespace of the loader's own, and ends the process there.
$(fake)/module.so: private sanitize :=
# In the place of what unpacks fatbins, without its functions.
$(fake)/module.so $(fake_unpacks): tests/fake/module.c $(O)/flags
	$(call fake_library)

# Makes CUBINs that the fake GPU runs.
$(fake)/cubin: $(O)/obj/tests/fake/cubin.o $(LIB_A)
	$(link) $(lib_libs)

# The kernels of tests/data as host images: as usual, and with packed relocations where the linker can. Not with a
# sanitizer, which makes symbols larger.
$(eval $(call host-image,$(fake)/host.so,tests/data/kernels.cu,-fno-sanitize=all))
packs_relocations := $(shell $(CC) -Wl,--help 2>/dev/null | grep pack-relative-relocs)
$(eval $(call host-image,$(fake)/host_relr.so,tests/data/kernels.cu,-fno-sanitize=all -Wl$$(comma)-z$$(comma)pack-relative-relocs))

FAKES += $(fake_targets) $(fake_omps) $(fake_drivers) $(fake_unpacks) $(addprefix $(fake)/,iomp/libiomp5.so module.so cuda/libcuda.so cubin \
         host.so $(if $(packs_relocations),host_relr.so))

# The programs and examples for the fake GPU.
fake_programs := $(filter-out examples/hotspot_mpi $(foreach d,$(example_dirs) $(runtime_dirs),$(if $(filter yes,$($(d).own)),$(if $($(d).fake),,$(d)))),$(example_dirs) $(runtime_dirs))
$(O)/fake-gpu/ready: tests/fake/place $(fake)/cubin $(fake)/cuda/libcuda.so $(EXAMPLES) $(RUNTIME)
	$(call do,FAKE,$(@D))sh tests/fake/place $(O) $(fake_programs) && touch $@

EXTRA += $(FAKES) $(O)/fake-gpu/ready
.PHONY: fakes
fakes: $(FAKES)
