# The reduced Rodinia programs, and tests/bench/micro, on something else than librex (peer.h): $(O)/tests/bench/peers/PEER/PROGRAM/PROGRAM, its image beside it.
# What a machine has no compiler for is left out; the runner says so.

peers          := tests/bench/peers
peers_built    := $(O)/$(peers)
peer_programs  := micro nn pathfinder hotspot gaussian srad bfs
openmp_programs := $(patsubst $(peers)/openmp/%.c,%,$(wildcard $(peers)/openmp/*.c))
peer_source     = $(if $(filter micro,$(1)),tests/bench,examples)/$(1)
peer_base      := $(call objects,$(peers)/librex.c) $(call objects,librex/memory/map.c librex/memory/section.c)
PEERS          :=

$(O)/obj/$(peers)/%.o: more_cflags = -O2 -Wno-unknown-pragmas -DREX_BUILDING_LIBRARY
# The driver's header is called cuda.h, as one of librex's own is.
$(O)/obj/$(peers)/driver.o: $(peers)/driver.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(common_cflags) -O2 -DREX_BUILDING_LIBRARY -isystem $(dir $(NVCC))../include -c -o $@ $<

# The objects of an example, its device run left out where $(2) says so. Queues are librex's own: a peer is never asked for one.
peer_objects = $(call objects,$(filter-out $(if $(2),%/offload.c %/resident.c %/devices.c),$(wildcard $(call peer_source,$(1))/*.c)))
peer_queueless = -no-pie -Wl,--unresolved-symbols=ignore-in-object-files

# $(1) peer, $(2) program, $(3) libraries
define hand-written-peer
PEERS += $(peers_built)/$(1)/$(2)/$(2)
$(peers_built)/$(1)/$(2)/$(2): $(call peer_objects,$(2)) $(common) $(peer_base) $(O)/obj/$(peers)/$(1).o | $(O)/$(call peer_source,$(2))/rex_lib_host.so $(if $(NVCC),$(O)/$(call peer_source,$(2))/rex_lib_nvidia.cubin)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(peer_queueless) $$(keep_entries) -o $$@ $$^ $(3) -lm $$(examples/$(2).libs) -ldl -pthread
	$$(Q)ln -sf $(abspath $(O))/$(call peer_source,$(2))/rex_lib_nvidia.cubin $$(@D)/
endef
# librex's own micro.
$(eval $(call host-image,$(O)/tests/bench/micro/rex_lib_host.so,tests/bench/micro/kernels.cu))
$(O)/tests/bench/micro/micro: $(call objects,$(wildcard tests/bench/micro/*.c)) $(O)/librex.so | $(O)/tests/bench/micro/rex_lib_host.so
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(keep_entries) -o $@ $(filter %.o,$^) -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/../../..' -lm -pthread
PEERS += $(O)/tests/bench/micro/micro
$(foreach p,$(peer_programs),$(eval $(call hand-written-peer,stock,$(p),)))
HOST_PEERS := $(PEERS) # what runs on libomptarget's host device
ifneq ($(NVCC),)
$(eval $(call cubin,$(O)/tests/bench/micro/rex_lib_nvidia.cubin,tests/bench/micro/kernels.cu))
PEERS += $(O)/tests/bench/micro/rex_lib_nvidia.cubin
$(foreach p,$(peer_programs),$(eval $(call hand-written-peer,driver,$(p),-L$(dir $(NVCC))../lib64/stubs -lcuda)))
endif

# $(1) name of the peer, $(2) program, $(3) compiler and its flags for device code
define compiled-peer
PEERS += $(peers_built)/$(1)/$(2)/$(2)
$(peers_built)/$(1)/obj/$(2).o: $(peers)/openmp/$(2).c
	@mkdir -p $$(@D)
	$$(call say,OPENMP,$$@)
	$$(Q)$(3) -O2 -std=gnu11 -Iinclude -MMD -MP -c -o $$@ $$<
$(peers_built)/$(1)/$(2)/$(2): $(call peer_objects,$(2),no device run) $(common) $(peer_base) $(peers_built)/$(1)/obj/openmp.o $(peers_built)/$(1)/obj/$(2).o
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$(3) $$(LDFLAGS) $$(peer_queueless) -o $$@ $$^ -lm $$(examples/$(2).libs) -pthread
endef
define compiler-peer
$(peers_built)/$(1)/obj/openmp.o: $(peers)/openmp.c
	@mkdir -p $$(@D)
	$$(call say,OPENMP,$$@)
	$$(Q)$(2) -O2 -std=gnu11 -Iinclude -MMD -MP -DREX_BUILDING_LIBRARY -c -o $$@ $$<
$(foreach p,$(openmp_programs),$(call compiled-peer,$(1),$(p),$(2))
)
endef

# clang needs its OpenMP runtime for the device: PEER_CLANG_NN_LIB, where Debian's package has it or where it was unpacked.
PEER_CLANG_16_LIB ?= $(firstword $(wildcard build/llvm/16/usr/lib/llvm-16/lib /usr/lib/llvm-16/lib))
PEER_CLANG_19_LIB ?= $(firstword $(wildcard build/llvm/19/usr/lib/llvm-19/lib /usr/lib/llvm-19/lib))
peer_omp_header   := $(firstword $(wildcard build/llvm/19/usr/lib/llvm-19/lib/clang/19/include))
peer_clang         = clang-$(1) -fopenmp --offload-arch=$(ARCH) --libomptarget-nvptx-bc-path=$(PEER_CLANG_$(1)_LIB)/libomptarget-nvptx-$(ARCH).bc \
    --cuda-path=$(abspath $(dir $(NVCC))..) -Wno-unknown-cuda-version -Wno-unused-command-line-argument -isystem $(peer_omp_header) -L$(PEER_CLANG_$(1)_LIB)
$(foreach v,16 19,$(if $(and $(NVCC),$(shell command -v clang-$(v)),$(wildcard $(PEER_CLANG_$(v)_LIB)/libomptarget-nvptx-$(ARCH).bc)),\
    $(eval $(call compiler-peer,clang-$(v),$(call peer_clang,$(v))))))

peer_gcc := $(firstword $(foreach v,15 14 13 12,$(if $(wildcard /usr/lib/gcc/x86_64-linux-gnu/$(v)/accel/nvptx-none),$(shell command -v gcc-$(v)))))
$(if $(peer_gcc),$(eval $(call compiler-peer,gcc,$(peer_gcc) -fopenmp -foffload=nvptx-none -foffload-options=-misa=sm_80 -foffload-options=-lm -fcf-protection=none -fno-stack-protector)))

time_examples := $(foreach p,$(filter-out micro,$(peer_programs)),$(O)/examples/$(p)/$(p))
timing         = O='$(O)' tests/bench/peers/run $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick) $(BENCH_PROGRAMS)
plots          = @$(if $(shell command -v gnuplot),tests/bench/peers/plot build/bench,echo 'no plots: gnuplot is missing')
.PHONY: peers
peers: $(PEERS)
bench-gpu: $(PEERS) $(EXAMPLES) $(TOOLS) $(O)/tests/bench/gpu/queues/queues
	@$(timing)
	$(plots)
# The same on libomptarget's host device, of one release, or on the GPU where there is one.
run-bench-time: $(HOST_PEERS) $(time_examples) $(TOOLS) fakes
	@$(if $(or $(REX_LLVM_LIBDIR),$(REX_OMPTARGET)),,tests/llvm 19 env) $(timing)
	$(plots)
