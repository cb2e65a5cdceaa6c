# Built where gfortran is. Its module comes first, which the program reads.
FORTRAN ?= $(if $(SAN),,$(shell command -v gfortran))
fortran := $(O)/examples/fortran
examples/fortran.own  := yes
examples/fortran.fake := yes
$(eval $(call images,$(fortran)/rex_lib,examples/fortran/kernels.cu))
$(fortran)/%.o: examples/fortran/%.f90 $(O)/flags
	$(call do,FORTRAN,$<)$(FORTRAN) -std=f2018 -Wall -Wextra -Wpedantic $(WERROR) -O2 -g \
	    $(anywhere) -J$(@D) -c -o $@ $<
$(fortran)/heat.o: $(fortran)/rex.o
ifneq ($(FORTRAN),)
$(fortran)/fortran: $(fortran)/rex.o $(fortran)/heat.o $(O)/librex.so \
                    | $(call images-of,$(fortran)/rex_lib)
	$(call do,LINK)$(FORTRAN) $(LDFLAGS) -o $@ $(filter %.o,$^) $(use_rex)
else
$(fortran)/fortran:
	$(call skipped,no gfortran$(comma) or a sanitizer)
endif
