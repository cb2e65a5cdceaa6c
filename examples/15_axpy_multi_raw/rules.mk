# Everything except the device run is axpy_multi's.
$(O)/examples/15_axpy_multi_raw/15_axpy_multi_raw: \
    $(call objects,examples/axpy_multi/axpy_multi.c examples/axpy_multi/serial.c)
