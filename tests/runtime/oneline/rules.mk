# The C++11 half of the program.
$(O)/tests/runtime/oneline/oneline: $(O)/obj/tests/runtime/oneline/cxx11.o
$(O)/obj/tests/runtime/oneline/cxx11.o: tests/runtime/oneline/cxx11.cpp $(O)/flags
	$(call do,CXX,$<)$(CC) -x c++ $(filter-out -std=c11,$(test_cflags)) -std=c++11 -fno-exceptions -c -o $@ $<
