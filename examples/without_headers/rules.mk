# generate.awk makes launch_axpy(), which is compiled without the folder of librex's headers.
without := $(O)/examples/without_headers
axpy_parameters := value:int64_t:n value:double:a to:double:x:n tofrom:double:y:n
$(without)/launch_axpy.c: examples/without_headers/generate.awk $(O)/tools/rex-info
	$(call do,GEN)$(O)/tools/rex-info --abi --json > $@.json
	$(Q)awk -f $< -v kernel=axpy -v parameters='$(axpy_parameters)' $@.json > $@
$(without)/launch_axpy.o: $(without)/launch_axpy.c
	$(call do,CC)$(CC) -std=c11 $(warnings) $(CFLAGS) $(sanitize) -c -o $@ $<
$(without)/without_headers: $(without)/launch_axpy.o
