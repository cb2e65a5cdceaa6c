# The program of rose/, built seven ways: generated.c runs each.
gen_source := tests/runtime/generated
gen_built  := $(O)/$(gen_source)
gen_cxx     = $(if $(findstring clang,$(notdir $(firstword $(CC)))),$(subst clang,clang++,$(CC)),$(or $(CXX),g++))
# clang++ has rules of its own about C++; one program has the runtime of one sanitizer.
gen_clangxx = $(or $(if $(sanitize),,$(shell command -v clang++-19)),$(gen_cxx))
# A user's program: no -Ilibrex. C++ warns of the same things but knows no -std=c11.
gen_c_flags   = $(common_cflags)
gen_cxx_flags = -x c++ $(patsubst -std=c11,-std=c++17,$(common_cflags))

# $(1): program; $(2): compiler's variable; $(3): flags' variable; $(4): more flags
define generated-program
$(gen_built)/$(1): $(wildcard $(gen_source)/rose/*.c) $(O)/librex.so $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)for f in $(wildcard $(gen_source)/rose/*.c); do \
	    $$($(2)) $$(filter-out -MMD -MP,$$($(3))) -MMD -MP -MT $$@ -MF $$@.$$$$(basename $$$$f).d $(4) \
	        -c -o $$@.$$$$(basename $$$$f).o $$$$f || exit 1; done
	$$(Q)$$($(2)) $$(CFLAGS) $$(sanitize) $$(LDFLAGS) $$(keep_entries) -o $$@ \
	    $(foreach f,$(notdir $(wildcard $(gen_source)/rose/*.c)),$$@.$(f).o) -L$$(O) -lrex -Wl,-rpath,'$$$$ORIGIN/../../..'
endef
$(eval $(call generated-program,c_init,CC,gen_c_flags,))
$(eval $(call generated-program,c_lazy,CC,gen_c_flags,-DLAZY))
$(eval $(call generated-program,c_safe,CC,gen_c_flags,-DLAZY -DREX_KMP_SAFE))
$(eval $(call generated-program,cxx_init,gen_cxx,gen_cxx_flags,))
$(eval $(call generated-program,cxx_lazy,gen_cxx,gen_cxx_flags,-DLAZY))
$(eval $(call generated-program,clangxx_init,gen_clangxx,gen_cxx_flags,))
$(eval $(call generated-program,clangxx_lazy,gen_clangxx,gen_cxx_flags,-DLAZY))

$(gen_source).needs := $(addprefix $(gen_built)/,c_init c_lazy c_safe cxx_init cxx_lazy clangxx_init \
    clangxx_lazy)
