# The tools: programs that use librex through its public headers. They find it in ../lib, installed
# or in the build directory.

tools := $(O)/tools
tool_libs := -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/../lib'

$(O)/lib:
	@mkdir -p $(@D)
	$(Q)ln -sfn . $@

$(O)/obj/tools/%.o: tools/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common_cflags) -Itools -Ilibrex $(more_tool_cflags) -c -o $@ $<

# What several tools share, and what they share with the library: its objects that need libc alone.
tool_common := $(call objects,$(wildcard tools/common/*.c) librex/image/elf.c librex/base/text.c)

TOOLS += $(tools)/rex-run
run_objects := $(call objects,$(wildcard tools/rex-run/*.c) librex/base/file.c) $(tool_common)
$(tools)/rex-run: $(run_objects) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(tool_libs) -ldl

# bytes.c is for tests.
check_objects := $(filter-out %/bytes.o,$(call objects,$(wildcard tools/rex-check/*.c))) \
                 $(tool_common)
TOOLS += $(tools)/rex-check
$(tools)/rex-check: $(check_objects) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(tool_libs)

TOOLS += $(tools)/rex-report
report_objects := $(call objects,$(wildcard tools/rex-report/*.c)) $(tool_common)
$(tools)/rex-report: $(report_objects) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(tool_libs) -lm

# rex-info has a kernel of its own inside, and lists that are made from the public headers.
info := $(O)/obj/tools/rex-info
info_headers := $(filter-out %/arguments.h %/kernel.h %/kernelform.h %/rex.h,$(HEADERS))
$(eval $(call host-image,$(info)/probe.so,tools/rex-info/probe.cu,-fno-sanitize=all))
$(info)/abi.inc: tools/rex-info/abi.awk $(info_headers)
	@mkdir -p $(@D)
	$(call say,AWK,$@)
	$(Q)awk -f $^ > $@
$(info)/devices.o: more_tool_cflags = -DPROBE_IMAGE='"$(info)/probe.so"'
$(info)/devices.o: $(info)/probe.so
$(info)/abi.o: more_tool_cflags = -I$(info)
$(info)/contract.o: more_tool_cflags = -DSONAME='"$(SONAME)"'
$(info)/abi.o: $(info)/abi.inc
TOOLS += $(tools)/rex-info
info_objects := $(call objects,$(wildcard tools/rex-info/*.c)) $(tool_common)
$(tools)/rex-info: $(info_objects) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(keep_entries) -o $@ $(filter %.o,$^) \
	    $(tool_libs) -ldl

# rex-cc is a script.
TOOLS += $(tools)/rex-cc
$(tools)/rex-cc: tools/rex-cc/rex-cc.in Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sed 's|@VERSION@|$(VERSION)|' $< > $@ && chmod 755 $@

# Completions, made from what each tool says with --help.
completion := $(O)/completion

# $(call completion-of,TOOL,SHELL,FILE)
define completion-of
COMPLETIONS += $(completion)/$(2)/$(3)
$(completion)/$(2)/$(3): $(completion)/$(1).help tools/completion/completions.awk
	@mkdir -p $$(@D)
	$$(call say,AWK,$$@)
	$$(Q)awk -v program=$(1) -v shell=$(2) -f tools/completion/completions.awk $$< > $$@ || \
	    { rm -f $$@; exit 1; }
endef

# rex-cc says nothing before there is a library beside it.
$(completion)/%.help: $(tools)/% | $(LIB) $(O)/lib
	@mkdir -p $(@D)
	$(Q)$< --help > $@ || { rm -f $@; exit 1; }

$(foreach t,$(notdir $(TOOLS)),$(eval $(call completion-of,$(t),bash,$(t))) \
    $(eval $(call completion-of,$(t),zsh,_$(t))) $(eval $(call completion-of,$(t),fish,$(t).fish)))
