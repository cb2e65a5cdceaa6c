# make torture: each call that librex makes fails, in turn; tests/torture/run -h says how.
#
# The program is linked with librex's objects in one, in which the C library's functions have the names of tests/torture/libc.c. So calls of
# librex fail, and no others.

torture_names := $(shell sed -n 's/^    X.\([a-z_0-9]*\), [A-Z]*, .*/\1/p' tests/torture/torture.h) free dlerror
torture_objects := $(call objects,$(wildcard tests/torture/*.c))
TORTURE := $(O)/tests/torture/torture

$(O)/obj/tests/torture/%.o: more_cflags = -Itests/fake -Itests/torture -DTEST_BUILD='"$(O)"'

$(O)/tests/torture/librex.o: $(LIB_A) tests/torture/torture.h
	$(call do,LD)$(LD) -r -o $@ --whole-archive $(LIB_A) && objcopy $(foreach name,$(torture_names),--redefine-sym $(name)=torture_$(name)) $@

# Its forwarders are exported, so that librex finds itself in front, as in a program that is linked with librex.so.
$(TORTURE): $(torture_objects) $(O)/tests/torture/librex.o | $(FAKES)
	$(link) -rdynamic $(lib_libs)

EXTRA += $(TORTURE)

WORK += torture
torture:  ## make each call of librex to other libraries fail in turn, and check the result; K=pattern runs only the scenarios whose whole name matches; MOST=500 tries a sample: each error of each function once, and about 500 further failures
run-torture: test-programs
	@$(test_env) tests/torture/run $(if $(MOST),--most $(MOST)) $(if $(K),-k '$(K)')
