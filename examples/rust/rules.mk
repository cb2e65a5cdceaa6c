# make builds it if rustc is installed, and not with a sanitizer. rustc also links the program.
RUSTC ?= $(if $(SAN),false,rustc)
rust := $(O)/examples/rust
examples/rust.own  := yes
examples/rust.fake := yes
$(eval $(call images,$(rust)/rex_lib,examples/rust/kernels.cu))
$(rust)/rust: examples/rust/axpy.rs $(O)/languages $(O)/librex.so \
              | $(call images-of,$(rust)/rex_lib)
	$(call do,RUST,$<)if $(RUSTC) --version >/dev/null 2>&1; then \
	    $(RUSTC) --edition 2021 -O -g -o $@ $< \
	        $(foreach word,$(keep_entries) $(use_rex),-C link-arg=$(word)); \
	else $(call skipped,no rustc$(comma) or a sanitizer); fi
