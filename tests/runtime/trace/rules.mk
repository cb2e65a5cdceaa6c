# What is written is checked by a program apart, which knows no word of librex.
tests/runtime/trace.cflags := -DCHECKER='"$(abspath tests/trace/check.py)"'
