# make builds it if gfortran is installed, and not with a sanitizer. rex.f90, the module, is first.
FORTRAN ?= $(if $(SAN),false,gfortran)
fortran := $(O)/examples/fortran
examples/fortran.own  := yes
examples/fortran.fake := yes
$(eval $(call images,$(fortran)/rex_lib,examples/fortran/kernels.cu))
$(fortran)/fortran: examples/fortran/rex.f90 examples/fortran/heat.f90 $(O)/languages \
                    $(O)/librex.so | $(call images-of,$(fortran)/rex_lib)
	$(call do,FORTRAN,$<)if $(FORTRAN) --version >/dev/null 2>&1; then \
	    $(FORTRAN) -std=f2018 -Wall -Wextra -Wpedantic $(WERROR) -O2 -g $(anywhere) -J$(@D) \
	        -o $@ $(filter %.f90,$^) $(LDFLAGS) $(use_rex); \
	else $(call skipped,no gfortran$(comma) or a sanitizer); fi
