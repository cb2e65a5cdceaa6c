# The C++11 half of the program.
oneline_cxx11 := $(O)/obj/tests/runtime/oneline/cxx11.o
tests/runtime/oneline.libs := $(oneline_cxx11)
$(O)/tests/runtime/oneline/oneline: $(oneline_cxx11)
$(oneline_cxx11): tests/runtime/oneline/cxx11.cpp $(O)/flags
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CC) -x c++ $(filter-out -std=c11,$(test_cflags)) -std=c++11 -fno-exceptions -c -o $@ $<
