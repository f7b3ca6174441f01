# SPDX-License-Identifier: GPL-2.0
# Drives everything; "make help" shows the targets. CMake builds user space,
# Kbuild (through tools/build-modules) builds the kernel modules.

BUILD   ?= $(or $(RSM_BUILD),build)
PREFIX  ?= /usr/local
DESTDIR ?=
# The kernel that the guests boot: stock, debug, backports, a version, a path.
KERNEL  ?= stock
# The kernel that "make install" installs modules for.
KVER    ?= $(shell uname -r)
BENCH   ?=
# How long "make fuzz" goes on.
MINUTES ?= 10
# How long "make soak" does.
HOURS   ?= 2
# ON builds the tests too, which need more packages and most of the time.
TESTING ?= OFF
# ON makes every warning of the C and C++ compiler an error.
WERROR  ?= OFF
# A part of what "make lib" builds, by its name in ninja; all if empty.
LIB_TARGET ?=

# Make divides a path at blanks, CMake a list at semicolons.
ifneq ($(words $(subst ;, ,$(CURDIR)|$(BUILD)|$(PREFIX)|$(DESTDIR)|)),1)
$(error no target works with a blank or a semicolon in a path: $(CURDIR), BUILD=$(BUILD), PREFIX=$(PREFIX), DESTDIR=$(DESTDIR))
endif
ifeq ($(BUILD),)
$(error BUILD is empty; it names the directory for what is built)
endif

# Other programs of the tree look for the build in RSM_BUILD.
export RSM_BUILD := $(abspath $(BUILD))

# CMake's description of another architecture than this machine's.
TOOLCHAIN ?=

# ccache compiles nothing twice, in whichever clone. An empty CCACHE does without it, and so does a
# machine without the program or without a place for its files.
# A directory that the caller names keeps the limit of its own configuration. A precompiled header takes 7 to 23 MB, and
# the limit holds for each sixteenth: with less, headers that have changed drive out objects that are still used.
ifeq ($(origin CCACHE_DIR),undefined)
CCACHE_MAXSIZE ?= 2G
endif
HOME_CACHE     := $(or $(XDG_CACHE_HOME),$(if $(filter 1,$(words $(HOME))),$(addsuffix .cache,$(wildcard $(HOME)/))))
CCACHE_DIR     ?= $(addsuffix /ccache,$(or $(RSM_CACHE),$(addsuffix /rsm,$(HOME_CACHE))))
CCACHE         ?= $(shell command -v ccache)
# ccache makes its directory, and those around it. Without RSM_CACHE and HOME there is no place; a
# blank or a semicolon would divide the launcher, which is a list of CMake's.
CCACHE_FITS    := $(shell case '$(CCACHE_DIR)' in (*[\;\ ]*) exit ;; (/*) ;; (*) exit ;; esac; \
			place='$(CCACHE_DIR)'; until test -e "$$place"; do place=$$(dirname "$$place"); done; \
			test -d "$$place" && test -w "$$place" && echo yes)
CCACHE_REMARK   = $(if $(CCACHE_FITS),:,$(if $(and $(CCACHE),$(CCACHE_DIR)),$\
		  echo "compiling without ccache: CCACHE_DIR=$(CCACHE_DIR) is no place for its files",:))
# Part of each compilation's command, so that "cmake --build" without make finds the same files.
# Precompiled headers need the two kinds of sloppiness; each is read once for its checksum, not once for each source
# that uses it (a third of a second of processor time).
LAUNCHER        = $(if $(and $(CCACHE),$(CCACHE_FITS)),env;CCACHE_DIR=$(CCACHE_DIR);$(if $(CCACHE_MAXSIZE),CCACHE_MAXSIZE=$(CCACHE_MAXSIZE);)$\
		  CCACHE_BASEDIR=$(CURDIR);CCACHE_NOHASHDIR=1;CCACHE_INODECACHE=1;$\
		  CCACHE_SLOPPINESS=pch_defines$(comma)time_macros;$(CCACHE))
comma           = ,

CMAKE   = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
	  $(if $(TOOLCHAIN),--toolchain $(TOOLCHAIN)) \
	  "-DCMAKE_C_COMPILER_LAUNCHER=$(LAUNCHER)" "-DCMAKE_CXX_COMPILER_LAUNCHER=$(LAUNCHER)" \
	  -DBUILD_TESTING=$(TESTING) -DRSM_WERROR=$(WERROR) \
	  -Wno-dev --log-level=WARNING
DEPS    = tools/install-deps
ETC     = $(DESTDIR)/etc
EXTRA   = $(DESTDIR)/lib/modules/$(KVER)/extra
# Where the system's own udev and systemd look, wherever PREFIX is.
SYSTEM_LIB ?= /usr/lib
UNITS   = $(DESTDIR)$(SYSTEM_LIB)/systemd/system
RULES   = $(DESTDIR)$(SYSTEM_LIB)/udev/rules.d

.PHONY: all help lib modules docs demo demo-vms demo-dat demo-dat-vms check check-quick check-full \
	check-kernels check-arm64 arm64 fuzz soak soak-report bench style install \
	install-files uninstall deb clean deps-build deps-run deps-check deps-full deps-deb deps-arm64

all: lib modules

help:
	@echo "make [all]        libraries, tools and the modules for KERNEL=$(KERNEL)"
	@echo "make demo         build everything and show it at work in a virtual machine"
	@echo "make demo-vms     the same between two virtual machines that share memory"
	@echo "make demo-dat     uDAPL at work: a server and a client"
	@echo "make demo-dat-vms the same between two virtual machines"
	@echo "make check        build and test what a change has to pass (check-quick: a part that takes minutes;"
	@echo "                  check-full: all that a release has to pass)"
	@echo "make check-kernels build and test the modules on each kernel of Debian's archive (root; some 40"
	@echo "                  minutes and 1.5 GB in ~/.cache/rsm)"
	@echo "make arm64        libraries, tools and modules for arm64, in $(BUILD)/arm64 and $(BUILD)/modules, for"
	@echo "                  tools/rsm-vm --arch arm64"
	@echo "make check-arm64  the same with kselftests, which it runs in emulated arm64 guests (tens of minutes)"
	@echo "make fuzz         fuzz the kernel modules, guided by coverage, for MINUTES=$(MINUTES)"
	@echo "make soak         the bars of reliability in turn, for HOURS=$(HOURS); goes on where it stopped,"
	@echo "                  or where tests/soak/recorded.json did"
	@echo "make soak-report  writes what was counted to Documentation/reliability.md and"
	@echo "                  tests/soak/recorded.json"
	@echo "make bench        measure in virtual machines, compare with the recorded ratios, draw plots in"
	@echo "                  $(BUILD)/bench (BENCH='--rounds 20' adds options)"
	@echo "make style        static checks only"
	@echo "make docs         the manual, as HTML, in $(BUILD)/docs/html"
	@echo "make deb          Debian packages, in $(BUILD)/deb"
	@echo "make install      to PREFIX=$(PREFIX), modules for KVER=$(KVER); honours DESTDIR"
	@echo "make uninstall    removes that again, configuration files excepted"
	@echo "make clean        removes $(BUILD)"

# Dependencies are only installed for the targets that promise to need nothing
# prepared; the others say what they miss.
deps-build:
	@$(DEPS) build
deps-run: deps-build
	@$(DEPS) run
deps-check: deps-run
	@$(DEPS) docs check kernel
deps-full: deps-check
	@$(DEPS) deb packages
deps-deb: deps-build
	@$(DEPS) deb

deps-arm64: deps-run
	@$(DEPS) arm64

lib:
	@command -v cmake ninja >/dev/null || \
		{ echo "cmake or ninja is missing; get them with: tools/install-deps build"; exit 2; }
	@$(CCACHE_REMARK)
	@$(CMAKE)
	@echo "building libraries and tools in $(BUILD)"
	@if [ -t 1 ]; then quiet=; else quiet=--quiet; fi; cmake --build $(BUILD) $(LIB_TARGET:%=--target %) -- $$quiet

modules:
	@echo "building modules for kernel $(KERNEL)"
	@tools/build-modules --kernel $(KERNEL)

arm64: deps-arm64
	@$(MAKE) --no-print-directory lib BUILD=$(BUILD)/arm64 TOOLCHAIN=$(CURDIR)/cmake/arm64.cmake
	@echo "building modules for arm64"
	@tools/build-modules --arch arm64

demo: deps-run
	@$(MAKE) --no-print-directory all
	@tools/rsm-vm --kernel $(KERNEL) --timeout 1200 --copy $(BUILD)/examples:/demo \
		-- sh /demo/demo

demo-vms: deps-run
	@$(MAKE) --no-print-directory all
	@tools/rsm-vm --nodes 2 --controller ivshmem --kernel $(KERNEL) --timeout 1200 --until-first \
		--copy $(BUILD)/examples:/demo --on 2 'sh /demo/demo-vms export' \
		-- sh /demo/demo-vms

demo-dat: deps-run
	@$(MAKE) --no-print-directory all
	@tools/rsm-vm --kernel $(KERNEL) --timeout 1200 --copy $(BUILD)/examples:/demo \
		-- sh /demo/demo-dat

demo-dat-vms: deps-run
	@$(MAKE) --no-print-directory all
	@tools/rsm-vm --nodes 2 --controller ivshmem --kernel $(KERNEL) --timeout 1200 \
		--copy $(BUILD)/examples:/demo --on 2 'sh /demo/demo-dat server rsm1' \
		-- sh /demo/demo-dat client rsm1 10.77.0.2

bench:
	@/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || \
		{ echo "matplotlib is missing; get it with: tools/install-deps bench"; exit 2; }
	@$(MAKE) --no-print-directory all
	@rm -f $(BUILD)/bench/measured.json
	@status=0; KERNEL=$(KERNEL) tests/bench/record --to $(BUILD)/bench/measured.json -- $(BENCH) || status=$$?; \
		tests/bench/plot $(BUILD)/bench/measured.json $(BUILD)/bench; exit $$status

check: deps-check
	@tests/check/run

check-quick: deps-check
	@tests/check/run --quick

check-full: deps-full
	@tests/check/run --full

check-kernels: deps-run
	@$(DEPS) check packages
	@$(MAKE) --no-print-directory lib TESTING=ON
	@tests/check/kernels

check-arm64:
	@$(DEPS) check
	@$(MAKE) --no-print-directory lib
	@$(MAKE) --no-print-directory arm64 TESTING=ON LIB_TARGET=tests/kselftest/all
	@tests/check/arm64

# Guided by KCOV, which distributions' kernels have not.
fuzz: KERNEL = debug
fuzz: deps-check
	@$(MAKE) --no-print-directory lib modules TESTING=ON KERNEL=$(KERNEL)
	@KERNEL=$(KERNEL) tests/fuzz/run $(MINUTES) $(SEED)

# Most bars run on the debug kernel, where the kernel reports what is wrong.
soak: deps-check
	@$(MAKE) --no-print-directory lib modules TESTING=ON PREFIX=/usr
	@$(MAKE) --no-print-directory modules KERNEL=debug
	@$(MAKE) --no-print-directory modules KERNEL=$$(tests/check/fast-debug-kernel)
	@tests/soak/run --hours $(HOURS)

soak-report:
	@tests/soak/run --report

docs:
	@$(DEPS) docs
	@tools/make-docs $(BUILD)/docs
	@echo "the manual is in $(BUILD)/docs/html/index.html"

style:
	@tests/check/run --only style

deb: deps-deb
	@DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS-noautodbgsym}" packaging/build-deb $(BUILD)/deb

install: lib
	tools/build-modules --kernel $(KVER)
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) | grep -v Up-to-date || true
	install -d $(EXTRA)
	install -m 644 $(BUILD)/modules/$(KVER)/kernel/*.ko $(EXTRA)
	@$(MAKE) --no-print-directory install-files
ifeq ($(DESTDIR),)
	getent group rsm >/dev/null || groupadd --system rsm
	depmod $(KVER)
	ldconfig
	-udevadm control --reload
	-test ! -d /run/systemd/system || systemctl daemon-reload
endif

# Files that neither CMake nor Kbuild installs; a configuration file that is there already stays.
install-files:
	install -D -m 644 packaging/udev/60-rsm.rules $(RULES)/60-rsm.rules
	install -D -m 644 packaging/modules-load.d/rsm.conf $(DESTDIR)/usr/lib/modules-load.d/rsm.conf
	install -D -m 755 packaging/rsm-nodes $(DESTDIR)/usr/lib/rsm/rsm-nodes
	install -D -m 644 -t $(UNITS) packaging/systemd/rsm-nodes.service \
		packaging/systemd/rsm-ivshmem.socket packaging/systemd/rsm-metrics.timer \
		$(BUILD)/tools/rsmctl/rsm-metrics.service \
		$(BUILD)/tools/ivshmem-server/rsm-ivshmem.service
	test -e $(ETC)/default/rsm-ivshmem || \
		install -D -m 644 packaging/systemd/rsm-ivshmem.default $(ETC)/default/rsm-ivshmem
	test -e $(ETC)/modprobe.d/rsm.conf || \
		install -D -m 644 packaging/modprobe.d/rsm.conf $(ETC)/modprobe.d/rsm.conf
	test -e $(ETC)/rsm/rsm.segmentid || \
		install -D -m 644 packaging/rsm.segmentid $(ETC)/rsm/rsm.segmentid
	test -e $(ETC)/dat/dat.conf || \
		install -D -m 644 packaging/dat.conf $(ETC)/dat/dat.conf

uninstall:
	test ! -e $(BUILD)/install_manifest.txt || \
		sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | xargs rm -f
	rm -f $(addprefix $(EXTRA)/,rsm.ko rsm_ivshmem.ko rsm_rdma.ko) \
		$(RULES)/60-rsm.rules \
		$(DESTDIR)/usr/lib/modules-load.d/rsm.conf \
		$(DESTDIR)/usr/lib/rsm/rsm-nodes $(UNITS)/rsm-nodes.service \
		$(UNITS)/rsm-metrics.service $(UNITS)/rsm-metrics.timer \
		$(UNITS)/rsm-ivshmem.socket $(UNITS)/rsm-ivshmem.service
ifeq ($(DESTDIR),)
	-depmod $(KVER)
	ldconfig
endif

# Nothing but what was built here is removed: BUILD may name any directory, by links, too.
clean:
	@case '$(realpath $(CURDIR))/' in ('$(patsubst %/,%,$(or $(realpath $(RSM_BUILD)),$(RSM_BUILD)))'/*) \
		echo "BUILD=$(BUILD) is the source tree, or around it"; exit 2 ;; esac
	@test ! -e '$(RSM_BUILD)' || test '$(RSM_BUILD)' = '$(CURDIR)/build' || \
		grep -qsx CMAKE_PROJECT_NAME:STATIC=rsm '$(RSM_BUILD)/CMakeCache.txt' || \
		ls '$(RSM_BUILD)'/modules/*/.lock >/dev/null 2>&1 || \
		{ echo "BUILD=$(BUILD) holds no build of this project"; exit 2; }
	rm -rf -- '$(RSM_BUILD)'
