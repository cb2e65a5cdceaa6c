# The kernels are lesson 15's. Everything except the device run is axpy_multi's.
$(O)/examples/19_queued_packets/19_queued_packets: \
    $(call objects,examples/axpy_multi/axpy_multi.c examples/axpy_multi/serial.c)
$(eval $(call images,$(O)/examples/19_queued_packets/rex_lib,examples/15_axpy_multi_raw/kernels.cu))
examples/19_queued_packets.needs := $(call images-of,$(O)/examples/19_queued_packets/rex_lib)
