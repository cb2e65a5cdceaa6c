# The program is a script that runs Python with librex in the loader's path. It is not built with a
# sanitizer, because Python has none.
python := $(O)/examples/python
examples/python.own  := yes
examples/python.fake := yes
$(eval $(call images,$(python)/rex_lib,examples/python/kernels.cu))
$(python)/%.py: examples/python/%.py
	$(call do,PYTHON)cp $< $@
$(python)/python: examples/python/rules.mk $(python)/axpy.py $(python)/rex.py $(O)/librex.so \
                  | $(call images-of,$(python)/rex_lib)
	$(call do,GEN)$(if $(SAN),$(call skipped,Python has no sanitizer), \
	    printf '%s\n' '#!/bin/sh' 'here=$$(dirname "$$0")' \
	        'export LD_LIBRARY_PATH="$$here/../..:$$LD_LIBRARY_PATH"' \
	        'exec python3 "$$here/axpy.py"' > $@ && chmod 755 $@)
