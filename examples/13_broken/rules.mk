# Five programs of one file each, which share their kernels, and the script that runs them.
broken := $(O)/examples/13_broken
broken_programs := $(patsubst examples/13_broken/%.c,$(broken)/%,$(wildcard examples/13_broken/*.c))
examples/13_broken.own := yes
$(eval $(call images,$(broken)/rex_lib,examples/13_broken/kernels.cu))
$(broken_programs): $(broken)/%: $(O)/obj/examples/13_broken/%.o $(O)/librex.so
	$(link) $(use_rex)
$(broken)/13_broken: examples/13_broken/broken.sh $(broken_programs) $(call images-of,$(broken)/rex_lib) | $(O)/tools/rex-check
	$(call do,GEN)sed 's|@SOURCES@|$(abspath examples/13_broken)|' $< > $@ && chmod 755 $@
