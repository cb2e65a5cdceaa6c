# Five programs of one file each with common kernels, and the script that runs them.
broken_source := examples/17_broken
broken := $(O)/$(broken_source)
broken_programs := $(patsubst $(broken_source)/%.c,$(broken)/%,$(wildcard $(broken_source)/*.c))
examples/17_broken.own := yes
$(eval $(call images,$(broken)/rex_lib,$(broken_source)/kernels.cu))
$(broken_programs): $(broken)/%: $(O)/obj/$(broken_source)/%.o $(O)/librex.so
	$(link) $(use_rex)
$(broken)/17_broken: $(broken_programs) $(call images-of,$(broken)/rex_lib) | $(O)/tools/rex-check
$(broken)/17_broken: $(broken_source)/broken.sh
	$(call do,GEN)sed 's|@SOURCES@|$(abspath $(broken_source))|' $< > $@ && chmod 755 $@
