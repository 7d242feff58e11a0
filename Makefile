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
	@echo "make reproduce   the published experiments on this machine: a page for each of five papers, docs/reproduce.md sums up (hours; goes on where it was stopped)"
	@echo "make reproduce-flowatcher, -measurement, -wirespeed, -mona, -flowmon   one paper alone (an hour at most; figure 9 of the first as root)"
	@echo "make reproduce-quick   the headlines of all, few and short runs, into build/reproduce-quick (ten minutes)"
	@echo "make reproduce-adaptive   all of adaptive monitoring, beyond what its paper shows, into docs/reproduce-adaptive.md (an hour)"
	@echo "make reproduce-classes   how right the classes of flows are, and how fast they are told, into docs/accuracy-classes.md (half an hour)"
	@echo "make recovery   whether a lossy link's losses, duplicates, reordering and delay are found by the device test (five minutes)"
	@echo "make soak HOURS=n   a monitor for n hours, while links, collectors, disks and clients fail around it: what grows, what does not add up (as root)"
	@echo "make kills   kill -9 at 200 random moments: whether what was told as written is there, and whole (ten minutes)"
	@echo "make columns docs/columns.md, from the schema"
	@echo "make lint    formatting, clang-tidy, include rule, every header compiles alone"
	@echo "make portable   the programs for any x86-64-v2 machine, into build-portable/root (three builds of all)"
	@echo "make python  the Python package in an environment of its own, build-python (four minutes); make python-test tries it"
	@echo "make notebooks   the pages of docs/notebooks, each run from scratch, by that package (a minute more)"
	@echo "make site    the documentation as a site of pages, into site (a minute): open site/index.html"
	@echo "make sdist   the source package of what is committed, into dist (ten seconds)"
	@echo "make wheel   the Python package for any x86-64-v2 machine with glibc 2.35, into dist (ten minutes)"
	@echo "make deb     Debian packages into dist: programs for any x86-64-v2 machine, library, manual pages, completions (twenty minutes)"
	@echo "make deb-trial   those packages in a bare Debian made for it: installed, tried, purged (as root; one to four minutes)"
	@echo "make sbom    what each program is made of, as CycloneDX, beside it"
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

# What others are compared with; without root, what is missing is left out and said so on the pages.
REPRODUCE_PAPERS := flowatcher measurement wirespeed mona flowmon

reproduce-setup: programs
	@tools/setup.sh dpdk-dev tcpdump nfdump valgrind linux-perf || echo "not installed: the figures that need it say so"

# Valgrind runs no program that is built for AVX-512.
reproduce-valgrind: reproduce-setup
	@! { grep -q avx512f /proc/cpuinfo && command -v valgrind >/dev/null; } || ISAS=avx2 PROGRAMS=parshall tools/portable.sh || echo "not built: table IV of FloWatcher says so"

reproduce reproduce-flowatcher: reproduce-valgrind

reproduce-java:
	@tools/setup.sh maven openjdk-17-jdk-headless || echo "without Java and Maven: the factor to Weka is not run"

reproduce reproduce-wirespeed: reproduce-java

reproduce: reproduce-setup
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce

$(REPRODUCE_PAPERS:%=reproduce-%): reproduce-%: reproduce-setup
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --paper $*

reproduce-quick: programs
	@python3 tools/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --folder $(BUILD)/reproduce-quick --quick

reproduce-adaptive: programs
	@python3 tools/reproduce/adaptive.py $(BUILD)/parshall --runs $(BUILD)/reproduce

reproduce-classes: programs
	@tools/setup.sh python3-venv maven openjdk-17-jdk-headless || echo "without Java and Maven: Weka is left out"
	@python3 tools/reproduce/classes.py $(BUILD)/parshall --runs $(BUILD)/classes

recovery: programs
	@python3 tools/recovery.py $(BUILD)/parshall

HOURS ?= 2
KILLS ?= 200

soak: build
	@tools/setup.sh libfaketime
	@python3 tools/soak run $(BUILD)/parshall $(BUILD)/soak-$(shell date +%Y%m%d-%H%M%S) --hours $(HOURS)

kills: build
	@folder=$$(mktemp -d) && $$(tools/readers.sh $(BUILD)/venv-kills pyarrow ipfix) tools/soak/kills.py $(BUILD)/parshall $$folder/kills --kills $(KILLS); status=$$?; rm -rf $$folder; exit $$status

python: setup
	@tools/python.sh build-python

wheel: setup
	@tools/wheel.sh dist

notebooks: python
	@tools/notebooks.sh build-python

site: programs
	@tools/setup.sh python3-venv
	@tools/site.sh $(BUILD)/parshall site

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

sbom: programs
	@python=$$(tools/readers.sh $(BUILD)/sbom 'cyclonedx-python-lib[json-validation]') && for program in parshall parshall-lab parshall-test; do \
	  "$$python" tools/sbom.py $(BUILD) $$program $(BUILD)/$$program.cdx.json || exit 1; done

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

.PHONY: columns deb deb-trial help notebooks portable python python-test sbom sdist site wheel setup configure build programs everything demo test bench recovery reproduce reproduce-adaptive lint check kills soak reproduce-setup reproduce-valgrind reproduce-java reproduce-quick $(REPRODUCE_PAPERS:%=reproduce-%) reproduce-classes fuzz memcheck
