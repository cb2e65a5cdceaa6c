# Lesson 5: two shared objects beside the program, each with its own images under the names that its source gives to
# librex. The Makefile says what the variables mean.
so_source := examples/05_shared_objects
so_built  := $(O)/$(so_source)
so_names  := scale shift
$(foreach so,$(so_names),$(eval $(call images,$(so_built)/$(so),$(so_source)/$(so)/kernels.cu)))
$(so_names:%=$(so_built)/lib%.so): $(so_built)/lib%.so: $$(call objects,$(so_source)/$$*/$$*.c) $(O)/librex.so
	$(link) -shared $(use_rex)
$(so_source).cflags := -fPIC
$(so_source).needs  := $(so_names:%=$(so_built)/lib%.so) $(call images-of,$(addprefix $(so_built)/,$(so_names)))
# The program is linked with one of them, and finds both beside itself.
$(so_source).libs    = -L$(so_built) -lscale -Wl,-rpath,'$$ORIGIN'
