# Lesson 11: two shared objects beside the program, each with its own images. Each source names its
# images for librex. The Makefile describes the variables.
so_source := examples/11_shared_objects
so_built  := $(O)/$(so_source)
so_names  := scale shift
$(foreach so,$(so_names),$(eval $(call images,$(so_built)/$(so),$(so_source)/$(so)/kernels.cu)))
$(so_names:%=$(so_built)/lib%.so): $(so_built)/lib%.so: $$(call objects,$(so_source)/$$*/$$*.c)
$(so_names:%=$(so_built)/lib%.so): $(O)/librex.so
	$(link) -shared $(use_rex)
# `plain` finds the plug-in in its own folder. It is not linked with librex.
$(so_built)/plain: $(call objects,$(so_source)/plain/plain.c)
	$(link) -Wl,-rpath,'$$ORIGIN' -ldl
$(so_source).cflags := -fPIC
so_images := $(call images-of,$(addprefix $(so_built)/,$(so_names)))
$(so_source).needs := $(so_names:%=$(so_built)/lib%.so) $(so_images) $(so_built)/plain
# The program is linked with libscale.so, and finds both shared objects in its own folder.
$(so_source).libs = -L$(so_built) -lscale -Wl,-rpath,'$$ORIGIN'
