# The program has no kernels. It is linked with a shared object that has some, whose images these are.
nokernels := $(O)/tests/runtime/nokernels
$(eval $(call images,$(nokernels)/solver,tests/runtime/nokernels/solver/kernels.cu))
$(nokernels)/libsolver.so: tests/runtime/nokernels/solver/solver.c $(O)/librex.so $(O)/flags
	$(call do,LD)$(CC) $(common_cflags) -MT $@ -MF $@.d -fPIC -shared $(LDFLAGS) $(keep_entries) -o $@ $< $(use_rex)
tests/runtime/nokernels.needs := $(nokernels)/libsolver.so $(call images-of,$(nokernels)/solver)
tests/runtime/nokernels.libs   = -L$(nokernels) -lsolver -Wl,-rpath,'$$ORIGIN'
