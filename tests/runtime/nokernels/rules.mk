# The program has no kernels. It is linked with a shared object that has some, whose images these are.
nokernels_source := tests/runtime/nokernels
nokernels_built  := $(O)/$(nokernels_source)
$(eval $(call host-image,$(nokernels_built)/solver_host.so,$(nokernels_source)/solver/kernels.cu))
$(eval $(call cubin,$(nokernels_built)/solver.cubin,$(nokernels_source)/solver/kernels.cu))

$(nokernels_built)/libsolver.so: $(nokernels_source)/solver/solver.c $(O)/librex.so $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(common_cflags) -MT $@ -MF $@.d -fPIC -shared $(LDFLAGS) $(keep_entries) -o $@ $< -L$(O) -lrex \
	    -Wl,-rpath,'$$ORIGIN/../../..'

$(nokernels_source).needs := $(addprefix $(nokernels_built)/,libsolver.so solver_host.so $(if $(DEVICE_COMPILER),solver.cubin))
$(nokernels_source).libs   = -L$(nokernels_built) -lsolver -Wl,-rpath,'$$ORIGIN' -ldl
