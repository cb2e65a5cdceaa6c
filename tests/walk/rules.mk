# The walk: random sequences of calls of every public function; tests/walk/run -h says how. It is linked with the library
# with sanitizers.

walk          := tests/walk
walk_built    := $(O)/$(walk)
walk_objects  := $(patsubst %.c,$(walk_built)/obj/%.o,$(filter-out %/null.c,$(wildcard $(walk)/*.c)))

$(walk_built)/walk_errors.h: $(walk)/api.py librex/librex.map $(HEADERS)
	$(Q)mkdir -p $(@D) && PYTHONDONTWRITEBYTECODE=1 python3 $(walk)/api.py --header > $@
$(walk_built)/obj/%.o: %.c $(O)/flags $(walk_built)/walk_errors.h
	$(call compile,$(tested_cflags) -Itests -I$(walk) -I$(walk_built) -UREX_BUILDING_LIBRARY,WALK)
$(walk_built)/walk: $(walk_objects) $(TESTED)
	$(call do,LINK)$(CC) $(CFLAGS) $(sanitize_tested) $(LDFLAGS) $(keep_entries) -rdynamic -o $@ $(walk_objects) \
	    -Wl,--whole-archive $(TESTED) -Wl,--no-whole-archive -lm $(lib_libs)
# The images for the host device and the fake GPU, and for the GPU here.
walk_names  := rex_lib globals
walk_images := $(foreach n,$(walk_names),$(walk_built)/$(n)_host.so $(walk_built)/$(n)_nvidia.cubin)
walk_real   := $(walk_names:%=$(walk_built)/gpu/%_nvidia.cubin)
$(foreach n,$(walk_names),$(eval $(call host-image,$(walk_built)/$(n)_host.so,$(walk)/$(n:rex_lib=kernels).cu)) \
    $(eval $(call cubin,$(walk_built)/gpu/$(n)_nvidia.cubin,$(walk)/$(n:rex_lib=kernels).cu)))
$(walk_built)/%_nvidia.cubin: $(walk_built)/%_host.so $(O)/tests/fake/cubin
	$(Q)$(O)/tests/fake/cubin $< $@

EXTRA += $(if $(SAN),,$(walk_built)/walk $(walk_images))

WORK += walk
walk: fetch = tests/llvm
.PHONY: walk-gpu
walk:  ## call every public function at random (default SECONDS=60 SEED=1), on the fake GPU and the host device; a failing sequence of calls is shortened
run-walk: $(walk_built)/walk $(walk_images) $(FAKES)
	@$(test_env) $(walk)/run --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)
walk-gpu: $(walk_built)/walk $(walk_real)  ## run the walk on the GPU of this machine
	@$(test_env) $(walk)/run --on device --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)
