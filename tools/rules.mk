# The tools: programs that use librex through its public headers. They find librex in ../lib,
# installed or in the build directory.

tools    := $(O)/tools
with_lib  = -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/../lib'

$(O)/lib:
	$(Q)mkdir -p $(@D) && ln -sfn . $@

$(O)/obj/tools/%.o: tools/%.c $(O)/flags
	$(call compile,$(common_cflags) -Itools -Ilibrex)

# A tool links the objects of its folder, those of tools/common, and those of the library that need
# only libc. rex-check's bytes.c is for tests.
compiled    := $(patsubst %,$(tools)/%,rex-run rex-check rex-report rex-info)
tool_common := $(call objects,$(wildcard tools/common/*.c) \
                   $(addprefix librex/,image/elf.c base/text.c base/file.c))
own_objects  = $(filter-out %/bytes.o,$(call objects,$(wildcard tools/$(@F)/*.c)))
$(compiled): $$(own_objects) $(tool_common) $(O)/librex.so | $(O)/lib
	$(link) $(with_lib) -ldl -lm
# rex-cc is a script.
TOOLS += $(compiled) $(tools)/rex-cc
$(tools)/rex-cc: tools/rex-cc/rex-cc.in Makefile
	$(call do,GEN)sed 's|@VERSION@|$(VERSION)|' $< > $@ && chmod 755 $@

# rex-info contains a kernel of its own, and lists made from the public headers.
info := $(O)/obj/tools/rex-info
info_headers := $(filter-out %/arguments.h %/kernel.h %/kernelform.h %/openmp.h %/rex.h,$(HEADERS))
$(eval $(call host-image,$(info)/probe.so,tools/rex-info/probe.cu,-fno-sanitize=all))
$(info)/abi.inc: tools/rex-info/abi.awk $(info_headers)
	$(call do,AWK)awk -f $^ > $@
$(info)/devices.o: more_cflags = -DPROBE_IMAGE='"$(info)/probe.so"'
$(info)/devices.o: $(info)/probe.so
$(info)/abi.o: more_cflags = -I$(info)
$(info)/contract.o: more_cflags = -DSONAME='"$(SONAME)"'
$(info)/abi.o: $(info)/abi.inc

# Completions for three shells, made from the --help of each tool. rex-cc runs only with a library
# beside it.
completion := $(O)/completion
.PRECIOUS: $(completion)/%.help
$(completion)/%.help: $(tools)/% | $(LIB) $(O)/lib
	$(Q)mkdir -p $(@D) && $< --help > $@
complete = $(call do,AWK)awk -v program=$* -v shell=$(notdir $(@D)) -f $(lastword $^) $< > $@
$(completion)/bash/%: $(completion)/%.help tools/completion/completions.awk
	$(complete)
$(completion)/zsh/_%: $(completion)/%.help tools/completion/completions.awk
	$(complete)
$(completion)/fish/%.fish: $(completion)/%.help tools/completion/completions.awk
	$(complete)
tool_names := $(notdir $(TOOLS))
COMPLETIONS += $(tool_names:%=$(completion)/bash/%) $(tool_names:%=$(completion)/zsh/_%) \
               $(tool_names:%=$(completion)/fish/%.fish)
