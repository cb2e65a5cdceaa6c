# The program `arguments` with the static library: nothing of librex.so.
static := $(O)/tests/runtime/static
tests/runtime/static.own := yes
tests/runtime/static.cflags := -Itests/runtime/arguments
$(eval $(call images,$(static)/rex_lib,tests/runtime/arguments/kernels.cu))
$(static)/static: $(O)/obj/tests/runtime/static/static.o $(support) $(LIB_A) | $(call images-of,$(static)/rex_lib)
	$(link) -lcmocka -lm $(lib_libs)
