# Built where rustc is, which links it.
RUSTC ?= $(if $(SAN),,$(shell command -v rustc))
rust := $(O)/examples/rust
examples/rust.own  := yes
examples/rust.fake := yes
$(eval $(call images,$(rust)/rex_lib,examples/rust/kernels.cu))
ifneq ($(RUSTC),)
$(rust)/rust: examples/rust/axpy.rs $(O)/librex.so | $(call images-of,$(rust)/rex_lib)
	$(call do,RUST,$<)$(RUSTC) --edition 2021 -O -g $(if $(WERROR),-D warnings) -o $@ $< \
	    $(foreach word,$(keep_entries) $(use_rex),-C link-arg=$(word))
else
$(rust)/rust:
	$(call skipped,no rustc$(comma) or a sanitizer)
endif
