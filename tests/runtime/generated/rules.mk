# The program of rose/, built six ways: generated.c runs each.
gen_source := tests/runtime/generated/rose
gen_built  := $(O)/tests/runtime/generated
gen_names  := c_init c_lazy cxx_init cxx_lazy clangxx_init clangxx_lazy
# clang++ has rules of its own about C++; one program has the runtime of one sanitizer.
gen_c       = $(CC)
gen_cxx     = $(if $(findstring clang,$(notdir $(firstword $(CC)))),$(subst clang,clang++,$(CC)),$(or $(CXX),g++))
gen_clangxx = $(or $(if $(sanitize),,$(shell command -v clang++-19)),$(gen_cxx))
# A user's program: no -Ilibrex. C++ warns of the same things but knows no -std=c11.
gen_flags   = $(if $(findstring xx,$@),-x c++ $(patsubst -std=c11,-std=c++17,$(common_cflags)),$(common_cflags)) \
              $(if $(filter %_init,$@),,-DLAZY)
gen_compile = $(gen_$(firstword $(subst _, ,$(@F))))

$(gen_names:%=$(gen_built)/%): $(wildcard $(gen_source)/*.c) $(O)/librex.so $(O)/flags
	$(call do,CC)for f in $(wildcard $(gen_source)/*.c); do \
	    $(gen_compile) $(gen_flags) -MT $@ -MF $@.$${f##*/}.d -c -o $@.$${f##*/}.o $$f || exit 1; done
	$(Q)$(gen_compile) $(CFLAGS) $(sanitize) $(LDFLAGS) $(keep_entries) -o $@ $(patsubst $(gen_source)/%,$@.%.o,$(wildcard $(gen_source)/*.c)) $(use_rex)
tests/runtime/generated.needs := $(gen_names:%=$(gen_built)/%)
