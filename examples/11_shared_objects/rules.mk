# Lesson 11: two shared objects beside the program, each with images of its own, whose names its
# source gives to librex. The Makefile says what the variables mean.
so_source := examples/11_shared_objects
so_built  := $(O)/$(so_source)
so_names  := scale shift
$(foreach so,$(so_names),$(eval $(call images,$(so_built)/$(so),$(so_source)/$(so)/kernels.cu)))
$(so_names:%=$(so_built)/lib%.so): $(so_built)/lib%.so: $$(call objects,$(so_source)/$$*/$$*.c)
$(so_names:%=$(so_built)/lib%.so): $(O)/librex.so
	$(link) -shared $(use_rex)
# It finds the plug-in beside itself, and is linked with nothing of librex.
$(so_built)/plain: $(call objects,$(so_source)/plain/plain.c)
	$(link) -Wl,-rpath,'$$ORIGIN' -ldl
$(so_source).cflags := -fPIC
so_images := $(call images-of,$(addprefix $(so_built)/,$(so_names)))
$(so_source).needs := $(so_names:%=$(so_built)/lib%.so) $(so_images) $(so_built)/plain
# The program is linked with one of them, and finds both beside itself.
$(so_source).libs = -L$(so_built) -lscale -Wl,-rpath,'$$ORIGIN'
