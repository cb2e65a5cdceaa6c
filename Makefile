# librex: build, test, install. `make help` lists the targets; GNU make 4.3 or newer.

VERSION := 0.2.0
# The end of the SONAME, and the name of the version node in librex/librex.map: before 1.0 a minor version may change both.
ABI     := 0.2

# The address of the sources; a packager may give that of a copy.
URL     ?= https://librex.invalid/

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
# A prerequisite may name the target with $$@.
.SECONDEXPANSION:
MAKEFLAGS += --no-builtin-rules

# All paths below are relative to the top of the tree.
ifeq ($(wildcard librex/librex.map),)
$(error there is nothing to build here; 'make -C $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))' builds librex from any folder)
endif

# ---- Settings, which may all be given on the command line

ifeq ($(origin CC),default)
CC := gcc
endif
SAN      ?=
# Hardened unless CFLAGS are given: a packager or a debugging session chooses its own. _FORTIFY_SOURCE needs optimisation, and would hide from a
# sanitizer the functions that it replaces.
ifeq ($(origin CFLAGS),undefined)
CFLAGS   := -O2 -g -fstack-protector-strong
CPPFLAGS ?= $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
CPPFLAGS ?=
LDFLAGS  ?=
# Warnings are errors when tests are built; warnings of a newer compiler must not stop a build or an installation.
WERROR   ?= $(if $(filter run-check% run-asan run-ubsan run-tsan,$(MAKECMDGOALS)),-Werror)
V        ?=
K        ?=

DESTDIR    ?=
prefix     ?= /usr/local
bindir     ?= $(prefix)/bin
libdir     ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir     ?= $(prefix)/share/man
bashcompletiondir ?= $(prefix)/share/bash-completion/completions
zshcompletiondir  ?= $(prefix)/share/zsh/site-functions
fishcompletiondir ?= $(prefix)/share/fish/vendor_completions.d

NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
NVCC := $(NVCC)# else each use would start a shell

# The compiler of kernels for GPUs: nvcc if found, which makes CUBINs; clang on request, which makes PTX.
DEVICE_COMPILER ?= $(if $(NVCC),nvcc)

# The GPU in this machine, else sm_90. Only computed if there is a compiler that could use the answer.
ifneq ($(DEVICE_COMPILER),)
ARCH ?= $(or $(addprefix sm_,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null \
                                     | sed -n '1s/[^0-9]//gp')),sm_90)
ARCH := $(ARCH)
endif

# ---- Where things go: one directory for each compiler and set of flags, so that a sanitizer build never mixes with another

quote = '$(subst ','\'',$(1))'
O := build/$(notdir $(firstword $(CC)))-$(firstword $(shell \
         printf '%s' $(call quote,$(CC) | $(CPPFLAGS) | $(CFLAGS) | $(LDFLAGS) | $(SAN)) \
         $(filter clang,$(DEVICE_COMPILER)) | cksum))

ifneq ($(filter-out asan ubsan tsan fuzz,$(SAN)),)
$(error SAN is one of asan, ubsan, tsan, and fuzz for clang; not '$(SAN)')
endif
sanitize_asan  := -fsanitize=address -fno-omit-frame-pointer
sanitize_ubsan := -fsanitize=undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize_tsan  := -fsanitize=thread -fno-omit-frame-pointer
sanitize_fuzz  := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize       := $(sanitize_$(SAN))

# Tests that are linked with the library's internals have sanitizers in each build: they find accesses past the end, and leaks.
sanitize_both   := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize_tested := $(or $(sanitize),$(sanitize_both))
TESTED          := $(O)/$(if $(SAN),,tested/)librex.a

# The bits do not depend on the folder of the build, so that another name of the folder rebuilds nothing. A sanitizer's reports keep the whole path.
anywhere      := $(if $(SAN),,-ffile-prefix-map=$(call quote,$(CURDIR))=.)
warnings      := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
# Threads that use librex may have little stack: 64 KiB in some programs. Sanitizers and -O0 need more.
small_frames  := $(if $(SAN)$(filter -O0,$(CFLAGS)),,-Wframe-larger-than=8192)
common_cflags  = -std=c11 -D_GNU_SOURCE -pthread $(warnings) -Iinclude $(CPPFLAGS) $(CFLAGS) $(anywhere) $(sanitize) -MMD -MP
# A launch reads thread-local objects. The library has few of them (base/process.h), which are reached without a call.
lib_cflags     = $(common_cflags) -Ilibrex -fPIC -ftls-model=initial-exec $(small_frames) -fvisibility=hidden -DREX_BUILDING_LIBRARY= \
                 -DREX_VERSION_STRING='"$(VERSION)"' $(if $(SAN),-DREX_ASSERTS)
test_cflags    = $(common_cflags) -Ilibrex -Itests -DREX_VERSION_STRING='"$(VERSION)"'
# ThreadSanitizer cannot see how libomptarget hands device memory from one thread to another: no kernels for it.
kernel_cflags  = -x c -std=gnu11 -O2 -g -shared -fPIC -pthread -Wall -Wextra $(WERROR) -Iinclude \
                 $(anywhere) $(filter-out -fsanitize=thread,$(sanitize)) $(more_kernel_cflags) -MMD -MP
# For images of examples, as in rex-cc; clang may lack the library.
has_openmp    := $(if $(findstring clang,$(CC)),$(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes),yes)
openmp        := $(if $(SAN),,$(has_openmp:yes=-fopenmp -Wl,--as-needed))
$(O)/examples/%.so: more_kernel_cflags = -O3 $(openmp)

# Only __start_ and __stop_ symbols refer to entry tables: keep the linker from dropping them.
keep_entries := -Wl,-z,nostart-stop-gc
lib_libs     := -ldl -pthread

# libpng is optional for the examples: PNG_CFLAGS and PNG_LIBS are empty if it is missing.
have_png   := $(shell printf '\043include <png.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
PNG_CFLAGS := $(if $(have_png),-DHAVE_PNG)
PNG_LIBS   := $(if $(have_png),-lpng)

# Open MPI is optional for one example and a test: both variables are empty without mpicc, and with a sanitizer, because Open MPI was built without.
MPI_CFLAGS := $(if $(SAN),,$(patsubst -I%,-isystem %,$(shell mpicc --showme:compile 2>/dev/null)))
MPI_LIBS   := $(if $(SAN),,$(shell mpicc --showme:link 2>/dev/null))

comma := ,

# Short lines by default, whole commands with V=1. `$(call do,WORD)COMMAND` prints WORD and the target, or $(2), makes the target's folder if it is
# missing, and runs COMMAND. make itself prints and looks: there are a thousand targets, and a shell would be two processes for each.
Q   := $(if $(filter 1,$(V)),,@)
tab := $(subst ,,	)
define do
$(if $(Q),$(info $(1)$(tab)$(or $(2),$@)))$(if $(wildcard $(@D)),,@mkdir -p $(@D))
$(Q)
endef

objects  = $(patsubst %.c,$(O)/obj/%.o,$(1))
# $(call compile,FLAGS,WORD): compiles the source of $@; rules.mk sets more_cflags for some objects.
compile  = $(call do,$(or $(2),CC),$<)$(CC) $(1) $(more_cflags) -c -o $@ $<
# Links the objects and archives of $@; the arguments after it are libraries.
link     = $(call do,LINK)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(keep_entries) -o $@ $(filter %.o,$^) $(filter %.a,$^)
# librex, for programs in a folder of their own, which find it by the relative path back.
space   := $(subst ,, )
use_rex  = -L$(O) -lrex -Wl,-rpath,'$$ORIGIN/$(subst $(space),/,$(patsubst %,..,$(subst /, ,$(patsubst $(O)/%,%,$(@D)))))'
nproc   := $(shell nproc 2>/dev/null || echo 2)
# The last line of a requested target: its result, and the next step. Not with make -s.
tell     = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '%s\n' $(call quote,$(1)))
# A sub-make with one job for each processor, unless the caller has chosen a number.
submake  = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(nproc))

# ---- Things to build

HEADERS  := $(wildcard include/rex.h include/rex_kmp.h include/rex/*.h)
SONAME   := librex.so.$(ABI)
LIB_SO   := $(O)/librex.so.$(VERSION)
LIB_A    := $(O)/librex.a
LIB      := $(LIB_SO) $(O)/$(SONAME) $(O)/librex.so $(LIB_A)
# Section 1 is in tools. Sections 3 and 7 are made in one folder: the reference from the headers that programs include.
TOOLPAGES := $(wildcard tools/*.1)
GUIDES    := $(wildcard librex/man/*.7)
INTERNAL  := arguments clang clangmath kernelform openmp parameters
REFERENCE := $(filter-out $(INTERNAL:%=include/rex/%.h),$(HEADERS))
MANPAGES   = $(TOOLPAGES) $(O)/man/*.[37]
# Written last: a line for each further name of a page, which is installed as a link.
MANUAL    := $(O)/man/links

# examples/common is shared by several examples.
example_dirs := $(filter-out examples/common $(if $(MPI_LIBS),,examples/hotspot_mpi),$(patsubst %/,%,$(sort $(dir $(wildcard $(addprefix examples/*/*.,c f90 py rs))))))
runtime_dirs := $(patsubst %/,%,$(sort $(dir $(wildcard tests/runtime/*/*.c))))
# Benchmarks that need a GPU are built with the tests, so that they keep working, and are started by hand.
gpu_dirs     := $(patsubst %/,%,$(sort $(dir $(wildcard tests/gpu/*/*.c tests/bench/gpu/*/*.c))))
program_dirs := $(example_dirs) $(runtime_dirs) $(gpu_dirs)
support      := $(if $(wildcard tests/support/*.c),$(O)/libsupport.a)
common       := $(if $(wildcard examples/common/*.c),$(O)/libcommon.a)

programs-in = $(foreach d,$(1),$(O)/$(d)/$(notdir $(d)))
EXAMPLES := $(call programs-in,$(example_dirs))
RUNTIME  := $(call programs-in,$(runtime_dirs))
UNIT     := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/*.c))
TOOLS    :=# installed programs; tools/rules.mk adds to it
COMPLETIONS :=# of these, for each shell in a folder of its name; likewise
EXTRA    := $(call programs-in,$(gpu_dirs))# what else tests need built; rules.mk files add to it

WORK     := demo demo-mpi rodinia check check-all asan ubsan tsan# what installs packages first; rules.mk files add to it

.PHONY: all help library manual tools examples test-programs check-gpu run-check-gpu conform html check-html bench-gpu
.PHONY: install uninstall installcheck print-O clean FORCE
FORCE:

all: library examples manual  ## build the library, the tools and the examples (needs only gcc and make)
library: $(LIB)  ## build only the library and the tools, as a packager does before make install
manual: $(MANUAL)  ## build the man pages, in man/ of the build folder

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):[^#]*##  *\(.*\)/\1\t\2/p' $(filter %Makefile %rules.mk,$(MAKEFILE_LIST)) | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  %-14s %s\n' "$$name" "$$text"; done
	@echo
	@echo '  Settings: CC CPPFLAGS CFLAGS LDFLAGS NVCC ARCH=sm_NN SAN=asan|ubsan|tsan DESTDIR prefix bindir libdir includedir mandir'
	@echo '            bashcompletiondir zshcompletiondir fishcompletiondir'
	@echo '            DEVICE_COMPILER=nvcc (default, if nvcc is found; otherwise nothing is compiled for GPUs) makes CUBINs; =clang makes PTX and needs no CUDA toolkit; each has its own build folder'
	@echo '            V=1 shows commands, K=pattern runs the tests whose name contains it (mutants, torture and check-packages say above what K is), WERROR=-Werror stops at warnings'
	@echo '  On Debian these first install missing packages: $(sort $(WORK) html check-html deb)'
	@echo '  Building in $(O), with $(if $(DEVICE_COMPILER),$(DEVICE_COMPILER) for $(ARCH),no compiler for GPUs)'

# ---- Extra rules are beside their sources. A rules.mk may set, for its directory D (examples/X or tests/runtime/X):
#   D.cflags, D.libs    added to the generic rule
#   D.images = no       no images from D/*.cu by the generic rule (use $(call host-image,...), $(call cubin,...))
#   D.own = yes         no generic rule at all: the file itself makes $(O)/D/X and all that it needs
#   D.fake = yes        and the fake GPU runs it all the same
#   D.needs = FILES     built with the program
# and may add to EXTRA whatever `make check` has to build.

# $(eval $(call host-image,OUTPUT,SOURCES[,FLAGS])): builds kernels as a shared object for libomptarget's host device
define host-image
$(1): $(2)
	$$(call do,HOSTIMG)$$(CC) $$(kernel_cflags) -MF $$@.d -MT $$@ $(3) -o $$@ $(2)
endef

# $(eval $(call cubin,OUTPUT,SOURCE[,FLAGS])): builds kernels for the GPU, if there is a compiler for one
define cubin
$(1): $(2) $$(O)/arch $$(rex_cc_$$(DEVICE_COMPILER))
	$$(call do,DEVICE)$$(call compile_$$(DEVICE_COMPILER),$(2),$(3))
endef

# $(eval $(call images,NAME,SOURCE[,FLAGS])): builds both, as NAME_host.so and NAME.cubin; $(call images-of,NAMES): the images that are built
cubin-of  = $(patsubst %/rex_lib.cubin,%/rex_lib_nvidia.cubin,$(1:%=%.cubin))
images-of = $(1:%=%_host.so) $(if $(DEVICE_COMPILER),$(cubin-of))
define images
$(call host-image,$(1)_host.so,$(2),$(3))
$(call cubin,$(cubin-of),$(2),$(3))
endef

# $(call skipped,REASON): the command that makes $@ a program that reports itself skipped
skipped = printf '%s\n' '\#!/bin/sh' "echo 'skip: $(1)' >&2" 'exit 77' > $@ && chmod 755 $@

# $(call compile_nvcc,SOURCE,FLAGS): the command that makes $@; rules.mk sets more_nvcc for one target
compile_nvcc  = $(NVCC) -cubin -arch=$(ARCH) $(more_nvcc) -Iinclude -MMD -MF $@.d -MT $@ $(2) -o $@ $(1)
# $(call compile_clang,...): the command that makes $@ with clang. rex-cc passes clang its options, and also makes an image for the CPU, which is not
# used.
compile_clang = mkdir -p $@.images && $(O)/tools/rex-cc --device-compiler=clang --arch=$(ARCH) --images -g $(2) -o $@.images $(1) && \
                mv $@.images/rex_lib_nvidia.cubin $@ && rm -r $@.images && $(CC) -x c -Iinclude $(2) -MM -MT $@ -MF $@.d $(1)
compile_      = echo 'nothing here compiles for GPUs: install nvcc, or give DEVICE_COMPILER=clang' >&2; exit 1
rex_cc_clang  = $(O)/tools/rex-cc | $(O)/librex.so $(O)/lib

-include $(wildcard tools/rules.mk tools/*/rules.mk tests/*/rules.mk examples/*/rules.mk tests/runtime/*/rules.mk)

tools: $(TOOLS) $(COMPLETIONS)
library: tools
all: tools
	$(call tell,librex $(VERSION): library$(comma) $(words $(TOOLS)) tools and $(words $(EXAMPLES)) examples are in $(O); next: make demo$(comma) make check or make install)

# ---- The library

lib_objects := $(call objects,$(wildcard librex/*/*.c))

$(O)/obj/librex/%.o: librex/%.c $(O)/flags
	$(call compile,$(lib_cflags))

# The version script decides which symbols are exported. No -Bsymbolic: libomptarget's own calls come back through our forwarders.
# A sanitizer leaves symbols for its runtime to resolve, so -z defs is only for normal builds.
$(LIB_SO): $(lib_objects) librex/librex.map
	$(call do,LD)$(CC) $(CFLAGS) $(sanitize) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=librex/librex.map \
	    $(if $(SAN),,-Wl,-z,defs) $(LDFLAGS) -o $@ $(lib_objects) $(lib_libs)

$(O)/$(SONAME): $(LIB_SO)
	$(Q)ln -sf $(<F) $@
$(O)/librex.so: $(O)/$(SONAME)
	$(Q)ln -sf $(<F) $@

$(LIB_A): $(lib_objects)
$(O)/%.a:
	$(call do,AR)rm -f $@ && ar rcsD $@ $^

# The library for tests, with sanitizers.
tested_cflags = $(filter-out -O% $(small_frames),$(lib_cflags)) -O1 $(sanitize_tested) -DREX_ASSERTS

$(O)/tested/librex/%.o: librex/%.c $(O)/flags
	$(call compile,$(tested_cflags),TESTED)
$(O)/tested/librex.a: $(lib_objects:$(O)/obj/%=$(O)/tested/%)

# ---- The man pages of sections 3 and 7

pages_by := $(addprefix librex/man/,headers.awk roff.awk tables.awk pages.awk)
$(MANUAL): librex/man/errors.roff $(GUIDES) $(REFERENCE) librex/omp/release.c $(pages_by)
	$(call do,PAGES,$(@D))rm -f $(@D)/*.[37] && $(CC) -E -P -Ilibrex -Iinclude librex/omp/release.c | \
	    awk -v folder=$(@D) $(pages_by:%=-f %) - $(filter %.roff %.7 %.h,$^)

# Rewritten only if their content changes, so that a new version, flag or architecture rebuilds only its dependents. -Werror changes no object: `make
# check` and `make install` do not rebuild what `make` has built.
stamp = @mkdir -p $(@D); printf '%s\n' $(call quote,$(1)) | cmp -s - $@ || printf '%s\n' $(call quote,$(1)) > $@
$(O)/flags: FORCE
	$(call stamp,$(subst $(anywhere),,$(filter-out $(WERROR),$(lib_cflags) | $(test_cflags) | $(tested_cflags))))
$(O)/arch: FORCE
	$(call stamp,$(NVCC) $(ARCH) $(DEVICE_COMPILER))
# Installing or removing libpng rebuilds the programs that draw pictures.
$(O)/png: FORCE
	$(call stamp,$(PNG_CFLAGS) $(PNG_LIBS))
# A new compiler rebuilds the files that it compiles.
$(O)/languages: FORCE
	$(call stamp,$(shell command -v $(FORTRAN) $(RUSTC)))

# ---- Programs: examples, tests of the run, and benchmarks that need a GPU, each with the images of its kernels beside it

$(O)/obj/examples/%.o: examples/%.c $(O)/flags
	$(call compile,$(common_cflags))
$(O)/obj/tests/%.o: tests/%.c $(O)/flags
	$(call compile,$(test_cflags))

programs := $(call programs-in,$(foreach d,$(program_dirs),$(if $(filter yes,$($(d).own)),,$(d))))
# The directory of the sources of $@.
source    = $(patsubst $(O)/%/,%,$(dir $@))
$(foreach d,$(program_dirs),$(eval $(O)/obj/$(d)/%.o: more_cflags = $$($(d).cflags)))
with_images := $(foreach d,$(program_dirs),$(if $(filter no yes,$($(d).images) $($(d).own)),,$(if $(wildcard $(d)/*.cu),$(d))))
$(foreach d,$(with_images),$(eval $(call images,$(O)/$(d)/rex_lib,$(wildcard $(d)/*.cu))))
$(EXAMPLES): beside := $(common)
$(RUNTIME): beside := $(support)
$(RUNTIME): usual_libs := -lcmocka

# Images and further files are not linked in, but a request for the program also updates them.
$(programs): $$(call objects,$$(wildcard $$(source)/*.c)) $$(beside) $(O)/librex.so \
             | $$(if $$(filter $$(source),$(with_images)),$$(call images-of,$$(@D)/rex_lib)) $$($$(source).needs)
	$(link) $(use_rex) $(usual_libs) $($(source).libs) -lm -ldl -pthread

$(O)/libcommon.a: $(call objects,$(wildcard examples/common/*.c))

examples: $(EXAMPLES)

# ---- Unit tests: one cmocka program for each source, linked statically, so that it sees the library's internals

$(O)/libsupport.a: $(call objects,$(wildcard tests/support/*.c))

$(UNIT): private sanitize = $(sanitize_tested)
$(UNIT): $(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(support)
	$(link) $(unit_libs) -lcmocka -lm $(lib_libs)

test-programs: $(LIB) $(MANUAL) $(TOOLS) $(COMPLETIONS) $(EXAMPLES) $(UNIT) $(RUNTIME) $(EXTRA)  ## build all programs that tests run

# ---- Running

# $(deps) is the argument of tools/deps, $(fetch) another command. A second make does the work, because both may have installed files that this make
# did not find.
.PHONY: $(WORK) $(WORK:%=run-%)
deps = check
demo rodinia: deps = demo
demo-mpi: deps = demo-mpi
$(WORK):
	@tools/deps $(deps)
	$(if $(fetch),@$(fetch))
	@+$(submake) $(with) run-$@

demo:  ## build and run the heat map demo on a GPU, or on the CPU if there is no usable GPU
run-demo: $(LIB) $(O)/examples/hotspot/hotspot
	$(O)/examples/hotspot/hotspot --size 512 --png build/hotspot.png

# As root too, with more ranks than processors, and without process_vm_readv(), which containers forbid.
RANKS ?= 4
mpirun = mpirun --allow-run-as-root --oversubscribe --mca btl_vader_single_copy_mechanism none
demo-mpi:  ## run the demo on RANKS (default 4) ranks of Open MPI; the ranks are spread over the GPUs, or run on the CPU if there is no GPU
run-demo-mpi: $(LIB) $(O)/examples/hotspot_mpi/hotspot_mpi
	$(mpirun) -n $(RANKS) $(O)/examples/hotspot_mpi/hotspot_mpi --size 512 --png build/hotspot_mpi.png

rodinia:  ## run the programs adapted from Rodinia on a GPU, or on the CPU if there is no usable GPU, in a small size and in Rodinia's own; K=pattern runs only those that match
run-rodinia: $(LIB) $(EXAMPLES)
	@O='$(O)' tests/rodinia $(if $(K),-k '$(K)')

test_env = O='$(O)' CC=$(call quote,$(CC)) MAKE='$(MAKE)' SAN='$(SAN)' VERSION='$(VERSION)' NVCC='$(NVCC)'
check:  ## build everything and run all tests, each program on LLVM 14, 18, 19, 24 and one or two others; K=pattern runs only the tests that match, on all releases
check-all:  ## run all tests on all releases, and all parts of slow tests (tests/run --help names these)
asan:  ## run unit, fuzz and runtime tests and the examples with AddressSanitizer
ubsan:  ## run unit, fuzz and runtime tests and the examples with UndefinedBehaviorSanitizer
tsan:  ## run unit, fuzz and runtime tests and the examples with ThreadSanitizer
asan ubsan tsan: with = SAN=$@
# K=script/NAME of one script: if the script has a line "# make builds for it: library fakes", only these are built.
asked_script := $(if $(filter script/%,$(K)),$(wildcard tests/scripts/$(K:script/%=%)*.sh))
asked_needs  := $(if $(filter 1,$(words $(asked_script))),$(shell sed -n 's/^\# make builds for it: //p' $(asked_script)))
run-check run-check-all run-asan run-ubsan run-tsan: $(filter-out nothing,$(or $(asked_needs),test-programs))
	@$(test_env) tests/run $(if $(filter %-all,$@),--all) $(if $(K),-k '$(K)')

conform: $(LIB) $(addprefix $(O)/,tools/rex-check tests/fake/cubin tests/fake/cuda/libcuda.so.1 tests/fake/cuda/libcuda.so) | $(O)/lib  ## check that generated sources pass rex-check, compile with gcc and clang as C and C++, and run; DIR=folder (required) names the sources, ARGS=arguments goes to the program
	@$(if $(DIR),,echo 'conform: say which sources with DIR=...' >&2; exit 2;) O='$(O)' tests/conform $(DIR) -- $(ARGS)

# The walk, with its own sanitized build of the library, and the readers' targets run on no GPU.
for_gpu = $(filter-out $(addprefix $(O)/tests/,walk/% fuzz/% bench/%),$(EXTRA))
check-gpu:  ## run the runtime tests, the examples and the tests in tests/gpu on the GPU, with the libomptarget that REX_OMPTARGET names (default: librex's choice)
	@+$(submake) run-$@
run-check-gpu: $(LIB) $(TOOLS) $(RUNTIME) $(EXAMPLES) $(for_gpu)
	@$(test_env) tests/run --gpu $(if $(K),-k '$(K)')

html: $(MANUAL)  ## make the manual as linked pages with a search, in build/html
	@tools/deps html
	@tools/pages/pages.py build/html $(O)/man $(wildcard build/bench/*.svg)
check-html: html library $(TOOLS)  ## check the manual's pages and a report of a million events in a headless browser
	@tools/deps browser
	@tests/browser/check-report $(O)/tools/rex-report build/pictures
	@tests/browser/check-pages build/html $(O)/man build/pictures

bench-gpu: library  ## time librex against stock libomptarget, the CUDA driver, clang and GCC on the GPU of this machine; ROUNDS (default 3) timed runs; QUICK=1: fewer programs, and one size of each

# ---- Installing. Programs find librex by the loader's configuration, rex.pc or CMake's find_package, which this file does not change. Folders may
# have spaces in their names.

pcdir    := $(libdir)/pkgconfig
cmakedir := $(libdir)/cmake/rex
datadir  := $(prefix)/share/librex
# The installed name of a completion: .../zsh/_rex-run becomes $(zshcompletiondir)/_rex-run.
installed_completion = $($(notdir $(patsubst %/,%,$(dir $(1))))completiondir)/$(notdir $(1))
# $(call to,FOLDER): the folder to install to, as a word for the shell
to = $(call quote,$(DESTDIR)$(1))
# $(call placed,FROM): sed's arguments for a template that is installed in the folder FROM. It names the other folders relative to FROM, so that an
# installed tree may be moved
relative = -e "s|@$(1)@|$$(realpath -m --relative-to=$(call quote,$(3)) $(call quote,$(2)))|"
placed   = -e 's|@VERSION@|$(VERSION)|' -e 's|@ABI@|$(ABI)|' -e 's|@URL@|$(URL)|' $(call relative,PREFIX,$(prefix),$(1)) \
           $(call relative,BINDIR,$(bindir),$(1)) $(call relative,LIBDIR,$(libdir),$(1)) \
           $(call relative,INCLUDEDIR,$(includedir),$(1))
# A tree in /usr is not moved. With absolute names pkg-config leaves out -I and -L, which the compiler searches anyway.
absolute = -e 's|$${pcfiledir}/@PREFIX@|$(prefix)|' -e 's|$${pcfiledir}/@LIBDIR@|$(libdir)|' \
           -e 's|$${pcfiledir}/@INCLUDEDIR@|$(includedir)|'
DATA_FILES  := tools/rex-info/abi.schema.json examples/fortran/rex.f90
CMAKE_FILES := rexConfig.cmake rexConfigVersion.cmake

# Folders with a character that a run path, compiler options, LD_LIBRARY_PATH or a template cannot have.
unfit = $(firstword $(foreach c,$(comma) : ; & | \ ",$(if $(findstring $(c),$(prefix)$(bindir)$(libdir)$(includedir)),$(c))))

install: library $(TOOLS) $(COMPLETIONS) $(MANUAL)  ## install to $(DESTDIR)$(prefix) (default: /usr/local)
	$(if $(unfit),$(error librex cannot be installed in a folder with a $(unfit) in its name))
	$(Q)d=$(call to,$(libdir)); while [ ! -e "$$d" ]; do d=$$(dirname "$$d"); done; [ -d "$$d" ] && [ -w "$$d" ] || { \
	    printf '%s may not be written: install as root, or with make install prefix=$$HOME/.local\n' "$$d" >&2; exit 1; }
	$(Q)install -d $(call to,$(libdir)) $(call to,$(pcdir)) $(call to,$(cmakedir)) $(call to,$(includedir)/rex)
	$(Q)install -m 755 $(LIB_SO) $(call to,$(libdir)/)
	$(Q)ln -sf $(notdir $(LIB_SO)) $(call to,$(libdir)/$(SONAME))
	$(Q)ln -sf $(SONAME) $(call to,$(libdir)/librex.so)
	$(Q)install -m 644 $(LIB_A) $(call to,$(libdir)/)
	$(Q)install -m 644 $(filter include/rex/%,$(HEADERS)) $(call to,$(includedir)/rex/)
	$(Q)install -m 644 $(filter-out include/rex/%,$(HEADERS)) $(call to,$(includedir)/)
	$(Q)sed $(if $(filter /usr,$(prefix)),$(absolute)) $(call placed,$(pcdir)) librex/rex.pc.in > $(call to,$(pcdir)/rex.pc)
	$(Q)$(foreach f,$(CMAKE_FILES),sed $(call placed,$(cmakedir)) tools/cmake/$(f).in > $(call to,$(cmakedir)/$(f)) && ):
	$(Q)install -d $(call to,$(datadir)) && install -m 644 $(DATA_FILES) $(call to,$(datadir)/)
	$(Q)install -D -m 755 -t $(call to,$(bindir)) $(TOOLS)
	$(Q)$(foreach c,$(COMPLETIONS),install -D -m 644 $(c) $(call to,$(call installed_completion,$(c))) && ):
	$(Q)$(foreach n,1 3 7,install -D -m 644 -t $(call to,$(mandir)/man$(n)) $(filter %.$(n),$(TOOLPAGES)) $(if $(filter 1,$(n)),,$(O)/man/*.$(n)) && ):
	$(Q)while read -r page name; do ln -sf $$page $(call to,$(mandir))/man3/$$name || exit 1; done < $(MANUAL)
	$(call tell,$(installed))

# By default the loader searches only folders below /usr; rex-cc gives each program a run path.
installed = librex $(VERSION) is installed in $(DESTDIR)$(prefix); next: $(strip \
    $(if $(DESTDIR),pack it up, \
    $(if $(filter /usr /usr/%,$(libdir)),sudo ldconfig$(comma) then rex-info, \
    $(bindir)/rex-info says what runs here$(comma) $(bindir)/rex-cc compiles programs)))

uninstall: $(MANUAL)  ## remove the installed files
	$(Q)rm -f $(foreach f,$(notdir $(LIB)) pkgconfig/rex.pc $(CMAKE_FILES:%=cmake/rex/%),$(call to,$(libdir)/$(f)))
	$(Q)rm -f $(foreach h,$(HEADERS:include/%=%),$(call to,$(includedir)/$(h)))
	$(Q)rm -f $(foreach f,$(notdir $(DATA_FILES)),$(call to,$(datadir)/$(f))) $(foreach t,$(notdir $(TOOLS)),$(call to,$(bindir)/$(t)))
	$(Q)rm -f $(foreach c,$(COMPLETIONS),$(call to,$(call installed_completion,$(c))))
	$(Q)for m in $(MANPAGES); do printf '%s\0' $(call to,$(mandir))/man$${m##*.}/$${m##*/}; done | xargs -0 rm -f
	$(Q)while read -r page name; do printf '%s\0' $(call to,$(mandir))/man3/$$name; done < $(MANUAL) | xargs -0 rm -f
	$(Q)for d in $(call to,$(includedir)/rex) $(call to,$(cmakedir)) $(call to,$(datadir)); do \
	    [ ! -d "$$d" ] || rmdir --ignore-fail-on-non-empty "$$d" || exit 1; done

installcheck: library $(TOOLS)  ## install into temporary folders and use the installed files
	@$(test_env) tests/scripts/installcheck.sh

# tests/run calls this if it is started by hand.
print-O:
	@echo $(O)

clean:  ## remove all built and downloaded files
	rm -rf build

-include $(shell find $(O) -name '*.d' 2>/dev/null)
