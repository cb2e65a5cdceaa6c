# The tools: programs that use librex through its public headers. They find it in ../lib, installed or in the build directory.

tools := $(O)/tools
tool_libs := -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/../lib'

$(O)/lib:
	@mkdir -p $(@D)
	$(Q)ln -sfn . $@

$(O)/obj/tools/%.o: tools/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common_cflags) -Itools -c -o $@ $<

TOOLS += $(tools)/rex-run
$(tools)/rex-run: $(call objects,$(wildcard tools/rex-run/*.c)) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(tool_libs) -ldl

# What several tools share.
tool_common := $(call objects,$(wildcard tools/common/*.c))

# bytes.c is for tests.
check_objects := $(filter-out %/bytes.o,$(call objects,$(wildcard tools/rex-check/*.c))) $(tool_common)
TOOLS += $(tools)/rex-check
$(tools)/rex-check: $(check_objects) $(O)/librex.so | $(O)/lib
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $(filter %.o,$^) $(tool_libs)
