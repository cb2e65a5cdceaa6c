# The reduced Rodinia programs, and tests/bench/micro, on something else than librex (peer.h): $(O)/tests/bench/peers/PEER/PROGRAM/PROGRAM, its image beside it.
# What a machine has no compiler for is left out; the runner says so.

peers         := tests/bench/peers
peers_built   := $(O)/$(peers)
peer_programs := micro nn pathfinder hotspot gaussian srad bfs
peer_base     := $(call objects,$(peers)/librex.c) $(call objects,librex/memory/map.c librex/memory/section.c)
peers-of       = $(foreach p,$(2),$(peers_built)/$(1)/$(p)/$(p))
# Of $@, by its last two names: the peer, the directory of the program's sources, and their objects, without the device run where $(1) says so.
# Queues are librex's own: a peer is never asked for one.
peer           = $(notdir $(patsubst %/,%,$(dir $(@D))))
peer_source    = $(if $(filter micro,$(@F)),tests/bench,examples)/$(@F)
peer_objects   = $(call objects,$(filter-out $(if $(1),%/offload.c %/resident.c %/devices.c),$(wildcard $(peer_source)/*.c)))
peer_libs      = -no-pie -Wl,--unresolved-symbols=ignore-in-object-files -lm $(examples/$(@F).libs) -ldl -pthread

$(O)/obj/$(peers)/%.o: more_cflags = -O2 -Wno-unknown-pragmas -DREX_BUILDING_LIBRARY
$(O)/obj/$(peers)/driver.o: more_cflags = -O2 -DREX_BUILDING_LIBRARY -isystem $(dir $(NVCC))../include

# librex's own micro.
micro := $(O)/tests/bench/micro
$(eval $(call images,$(micro)/rex_lib,tests/bench/micro/kernels.cu))
$(eval $(call host-image,$(micro)/serial_host.so,tests/bench/micro/kernels.cu))
$(micro)/%_host.so: more_kernel_cflags = -O3 $(if $(findstring serial,$(@F)),,$(openmp))
$(micro)/micro: $(call objects,$(wildcard tests/bench/micro/*.c)) $(O)/librex.so | $(addprefix $(micro)/,rex_lib_host.so serial_host.so)
	$(link) $(use_rex) -lm -pthread

# By hand: on libomptarget's host device, and on a GPU.
stock_peers  := $(call peers-of,stock,$(peer_programs))
driver_peers := $(if $(NVCC),$(call peers-of,driver,$(peer_programs)))
$(driver_peers): peer_driver = -L$(dir $(NVCC))../lib64/stubs -lcuda
$(stock_peers) $(driver_peers): $$(call peer_objects) $(common) $(peer_base) $(O)/obj/$(peers)/$$(peer).o \
                                | $$(filter %_host.so $(if $(NVCC),%.cubin),$$(call images-of,$(O)/$$(peer_source)/rex_lib))
	$(link) $(peer_driver) $(peer_libs)
	$(Q)ln -sf $(abspath $(O))/$(peer_source)/rex_lib_nvidia.cubin $(@D)/

# On the CPU without offloading, where there is OpenMP. gaussian needs memory of the device's own.
cpu_peers := $(if $(openmp),$(call peers-of,openmp-cpu,$(filter-out micro gaussian,$(peer_programs))))
$(foreach p,$(cpu_peers),$(eval $(call host-image,$(dir $(p))rex_lib_host.so,examples/$(notdir $(p))/kernels.cu,-O3 $(openmp) -include $(peers)/plain.h)))
$(O)/obj/$(peers)/nn_all.o: more_cflags = -O3 -fopenmp
$(cpu_peers): $$(filter-out %/devices.o,$$(call peer_objects)) $(common) $(peer_base) $(O)/obj/$(peers)/openmp-cpu.o \
              $$(if $$(filter nn,$$(@F)),$(O)/obj/$(peers)/nn_all.o) | $$(@D)/rex_lib_host.so
	$(link) -fopenmp $(peer_libs)

# By a compiler, $(peer_cc_PEER) with its flags. clang needs its OpenMP runtime for the device: PEER_CLANG_NN_LIB, where Debian's package has
# it or where it was unpacked.
PEER_CLANG_16_LIB ?= $(firstword $(wildcard build/llvm/16/usr/lib/llvm-16/lib /usr/lib/llvm-16/lib))
PEER_CLANG_19_LIB ?= $(firstword $(wildcard build/llvm/19/usr/lib/llvm-19/lib /usr/lib/llvm-19/lib))
peer_omp_header   := $(firstword $(wildcard build/llvm/19/usr/lib/llvm-19/lib/clang/19/include))
peer_clang         = clang-$(1) -fopenmp --offload-arch=$(ARCH) --libomptarget-nvptx-bc-path=$(PEER_CLANG_$(1)_LIB)/libomptarget-nvptx-$(ARCH).bc \
    --cuda-path=$(abspath $(dir $(NVCC))..) -Wno-unknown-cuda-version -Wno-unused-command-line-argument -isystem $(peer_omp_header) -L$(PEER_CLANG_$(1)_LIB)
peer_cc_clang-16   = $(call peer_clang,16)
peer_cc_clang-19   = $(call peer_clang,19)
peer_gcc          := $(firstword $(foreach v,15 14 13 12,$(if $(wildcard /usr/lib/gcc/x86_64-linux-gnu/$(v)/accel/nvptx-none),$(shell command -v gcc-$(v)))))
peer_cc_gcc        = $(peer_gcc) -fopenmp -foffload=nvptx-none -foffload-options=-misa=sm_80 -foffload-options=-lm -fcf-protection=none -fno-stack-protector
peer_compilers    := $(foreach v,16 19,$(if $(and $(NVCC),$(shell command -v clang-$(v)),$(wildcard $(PEER_CLANG_$(v)_LIB)/libomptarget-nvptx-$(ARCH).bc)),clang-$(v))) \
                     $(if $(peer_gcc),gcc)
openmp_programs   := $(patsubst $(peers)/openmp/%.c,%,$(wildcard $(peers)/openmp/*.c))
compiled_peers    := $(foreach c,$(peer_compilers),$(call peers-of,$(c),$(openmp_programs)))
peer_compile       = $(call do,OPENMP)$(peer_cc_$(peer)) -O2 -std=gnu11 -Iinclude -MMD -MP -DREX_BUILDING_LIBRARY -c -o $@ $<
$(peer_compilers:%=$(peers_built)/%/obj/openmp.o): $(peers)/openmp.c
	$(peer_compile)
$(foreach c,$(peer_compilers),$(openmp_programs:%=$(peers_built)/$(c)/obj/%.o)): $(peers)/openmp/$$(basename $$(@F)).c
	$(peer_compile)
$(compiled_peers): $$(call peer_objects,no device run) $(common) $(peer_base) $$(addprefix $(peers_built)/$$(peer)/obj/,openmp.o $$(@F).o)
	$(call do,LINK)$(peer_cc_$(peer)) $(LDFLAGS) -o $@ $^ $(peer_libs)

HOST_PEERS := $(micro)/micro $(stock_peers) $(cpu_peers) # what runs on libomptarget's host device
PEERS      := $(HOST_PEERS) $(if $(NVCC),$(micro)/rex_lib_nvidia.cubin) $(driver_peers) $(compiled_peers)
timing      = O='$(O)' tests/bench/peers/run $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick) $(BENCH_PROGRAMS)
plots       = @$(if $(shell command -v gnuplot),tests/bench/peers/plot build/bench,echo 'no plots: gnuplot is missing')
.PHONY: peers
peers: $(PEERS)
bench-gpu: $(PEERS) $(EXAMPLES) $(TOOLS) $(filter $(O)/tests/bench/%,$(EXTRA))
	@$(timing)
	$(plots)
# The same on libomptarget's host device, of one release, or on the GPU where there is one.
run-bench-time: $(HOST_PEERS) $(foreach p,$(filter-out micro,$(peer_programs)),$(O)/examples/$(p)/$(p)) $(TOOLS) fakes
	@$(if $(or $(REX_LLVM_LIBDIR),$(REX_OMPTARGET)),,tests/llvm 19 env) $(timing)
	$(plots)
