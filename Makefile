# SPDX-License-Identifier: Apache-2.0
# The front door. `make` prints what there is; everything else is meson underneath.

BUILD ?= build
MESON_FLAGS ?=
HOURS ?= 1

help:
	@echo "make build   build ./build/parshall alone"
	@echo "make programs   parshall-lab and parshall-test, too: what \`parshall bench\` and \`parshall test\` run"
	@echo "make demo    set up, then watch ten seconds of built-in traffic and a capture it writes"
	@echo "make test    set up, build, and run all tests"
	@echo "make bench   ratios of the hot path, all taken in one run"
	@echo "make reproduce   the published experiments on this machine, into docs/reproduce.md (half an hour)"
	@echo "make reproduce-wirespeed   the part of one paper alone, on flows classified at wire speed (eight minutes)"
	@echo "make reproduce-testing   the part on devices under test alone, in network namespaces (as root; ten minutes)"
	@echo "make reproduce-adaptive   the same of adaptive monitoring, into docs/reproduce-adaptive.md (an hour)"
	@echo "make recovery   whether a lossy link's losses, duplicates, reordering and delay are found by the device test (five minutes)"
	@echo "make columns docs/columns.md, from the schema"
	@echo "make lint    formatting, clang-tidy, include rule, every header compiles alone"
	@echo "make portable   the programs for any x86-64-v2 machine, into build-portable/root (three builds of all)"
	@echo "make python  the Python package in an environment of its own, build-python (four minutes); make python-test tries it"
	@echo "make notebooks   the pages of docs/notebooks, each run from scratch, by that package (a minute more)"
	@echo "make sdist   the source package of what is committed, into dist (ten seconds)"
	@echo "make wheel   the Python package for any x86-64-v2 machine with glibc 2.35, into dist (ten minutes)"
	@echo "make deb     Debian packages into dist: programs for any x86-64-v2 machine, library, manual pages, completions (twenty minutes)"
	@echo "make deb-trial   those packages in a bare Debian made for it: installed, tried, purged (as root; one to four minutes)"
	@echo "make fuzz HOURS=1   all fuzz targets in turns for so many hours of a core, on FUZZ_JOBS cores (all there are), into build-fuzz; ends with a table"
	@echo "make memcheck   tests in valgrind: what is read that was never written (a quarter of an hour)"
	@echo "make check   lint, tests, sanitizers, fuzzing, builds with and without DPDK and for an older CPU"
	@echo "make setup   install what is missing (Debian packages)"

setup:
	@tools/setup.sh

configure: setup
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --buildtype=release $(MESON_FLAGS) >/dev/null

build: configure
	@ninja -C $(BUILD) parshall

programs: build
	@ninja -C $(BUILD) parshall-lab parshall-test

everything: programs
	@ninja -C $(BUILD)

demo: build
	@tools/demo.sh $(BUILD)/parshall

test: everything
	@python3 tools/run_tests.py $(BUILD)

bench: everything
	@tools/bench.sh $(BUILD)

reproduce: programs
	@tools/setup.sh dpdk-dev || echo "without dpdk-testpmd: the reference of one figure is left out"
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce

reproduce-wirespeed: programs
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --only wirespeed

reproduce-testing: programs
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --only testing

reproduce-adaptive: programs
	@python3 tools/reproduce/adaptive.py $(BUILD)/parshall --runs $(BUILD)/reproduce

recovery: programs
	@python3 tools/recovery.py $(BUILD)/parshall

python: setup
	@tools/python.sh build-python

wheel: setup
	@tools/wheel.sh dist

notebooks: python
	@tools/notebooks.sh build-python

sdist: setup
	@tools/sdist.sh dist

python-test: python
	@build-python/env/bin/pip install --quiet -r docs/notebooks/requirements.txt
	@build-python/env/bin/python bench/peers/test_repeat_capture.py
	@for test in flows oracle models send misuse notebooks nfstream; do echo "test_$$test"; build-python/env/bin/python tests/python/test_$$test.py || exit 1; done

portable: setup
	@tools/portable.sh

deb:
	@tools/deb.sh dist

deb-trial:
	@tools/deb_trial.sh dist

columns: build
	@python3 tools/columns_page.py $(BUILD)/parshall docs/columns.md

lint: configure
	@tools/lint.sh $(BUILD)

fuzz: setup
	@tools/setup.sh llvm || echo "without llvm: lines that corpora come to are not told"
	@PARSHALL=$(wildcard $(BUILD)/parshall) python3 tools/fuzz.py --hours $(HOURS)

memcheck: setup
	@tools/memcheck.sh

check:
	@BUILD=$(BUILD) tools/check.sh

.PHONY: columns deb deb-trial fuzz help memcheck notebooks portable python python-test sdist wheel setup configure build programs everything demo test bench recovery reproduce reproduce-wirespeed reproduce-testing reproduce-adaptive lint check
