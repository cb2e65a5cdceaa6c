# The walk: random sequences of calls of every public function; tests/walk/run -h says how. It is linked with the library
# with sanitizers.

walk          := tests/walk
walk_built    := $(O)/$(walk)
walk_objects  := $(patsubst %.c,$(walk_built)/obj/%.o,$(filter-out %/null.c,$(wildcard $(walk)/*.c)))

$(walk_built)/walk_errors.h: $(walk)/api.py librex/librex.map $(HEADERS)
	@mkdir -p $(@D)
	$(Q)PYTHONDONTWRITEBYTECODE=1 python3 $(walk)/api.py --header > $@
$(walk_built)/obj/%.o: %.c $(O)/flags $(walk_built)/walk_errors.h
	@mkdir -p $(@D)
	$(call say,WALK,$<)
	$(Q)$(CC) $(tested_cflags) -Itests -I$(walk) -I$(walk_built) -UREX_BUILDING_LIBRARY -c -o $@ $<
$(walk_built)/walk: $(walk_objects) $(TESTED)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize_tested) $(LDFLAGS) $(keep_entries) -rdynamic -o $@ $(walk_objects) \
	    -Wl,--whole-archive $(TESTED) -Wl,--no-whole-archive -lm $(lib_libs)
$(eval $(call host-image,$(walk_built)/rex_lib_host.so,$(walk)/kernels.cu))
$(eval $(call host-image,$(walk_built)/globals_host.so,$(walk)/globals.cu))
# The same for the fake GPU.
walk_images := rex_lib_host.so globals_host.so rex_lib_nvidia.cubin globals_nvidia.cubin
walk_images := $(walk_images:%=$(walk_built)/%)
$(walk_built)/rex_lib_nvidia.cubin: $(walk_built)/rex_lib_host.so $(O)/tests/fake/cubin
	$(Q)$(O)/tests/fake/cubin $< $@
$(walk_built)/globals_nvidia.cubin: $(walk_built)/globals_host.so $(O)/tests/fake/cubin
	$(Q)$(O)/tests/fake/cubin $< $@

# And for the GPU here.
$(eval $(call cubin,$(walk_built)/gpu/rex_lib_nvidia.cubin,$(walk)/kernels.cu))
$(eval $(call cubin,$(walk_built)/gpu/globals_nvidia.cubin,$(walk)/globals.cu))

ifeq ($(SAN),)
EXTRA += $(walk_built)/walk $(walk_images)
endif

.PHONY: walk run-walk walk-gpu
walk:  ## call every public function at random, SECONDS=60 SEED=1, on the fake GPU and the host device; what is found is shrunk
	@tools/deps check
	@tests/llvm
	@+$(submake) run-walk
run-walk: $(walk_built)/walk $(walk_images) $(FAKES)
	@$(test_env) $(walk)/run --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)
walk-gpu: $(walk_built)/walk $(walk_built)/gpu/rex_lib_nvidia.cubin $(walk_built)/gpu/globals_nvidia.cubin  ## the same on the GPU here
	@$(test_env) $(walk)/run --on device --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1)
