# SPDX-License-Identifier: Apache-2.0
# The front door: `make` lists the targets of daily use. Meson does the work.

BUILD ?= build
MESON_FLAGS ?=
HOURS ?= 1

help:
	@echo "make build     build the program parshall"
	@echo "make programs  build parshall-lab and parshall-test, too: what parshall bench and parshall test run"
	@echo "make demo      install what is missing, build, and show live statistics of ten seconds of traffic"
	@echo "make test      build, and run all tests"
	@echo "make bench     measure the hot path against rivals: ratios of one run"
	@echo "make lint      check formatting, clang-tidy, include rule, headers and prose"
	@echo "make nightly   run lint, slow tests, sanitizers, fuzzing, and other builds (hours)"
	@echo "make setup     install missing Debian packages"
	@echo "make help-all  list all other targets"

help-all: help
	@echo
	@echo "Packages"
	@echo "make portable    programs for any x86-64-v2 CPU, into build-portable/root (three builds of all)"
	@echo "make static      programs for any Linux, with nothing to install: a tarball, into dist (half an hour)"
	@echo "make static-trial  try that tarball in an empty root (as root; a minute)"
	@echo "make deb         Debian packages for this machine's Debian, into dist (twenty minutes)"
	@echo "make deb-trial   install, try and purge these packages in a bare Debian (as root; four minutes)"
	@echo "make trixie      build, test and package in Debian 13 on any Debian (as root); also make bookworm"
	@echo "make sdist       source package of the last commit, into dist"
	@echo "make python      Python package in its own environment, build-python (four minutes)"
	@echo "make python-test test that package"
	@echo "make wheel       Python package for any x86-64-v2 CPU with glibc 2.35, into dist (ten minutes)"
	@echo "make sbom        list of components of each program, as CycloneDX"
	@echo "make release VERSION=v KEY=k  all packages of the last commit, into dist, signed by the GnuPG key k"
	@echo
	@echo "Pages"
	@echo "make site        documentation as a site, into site (a minute): open site/index.html"
	@echo "make columns     docs/columns.md, from the schema"
	@echo "make notebooks   docs/notebooks, each run from scratch (builds the Python package)"
	@echo
	@echo "Published experiments"
	@echo "make reproduce           all five papers, into lab/docs/reproduce (hours; continues after a stop)"
	@echo "make reproduce-NAME      one paper: flowatcher, measurement, wirespeed, mona or flowmon (an hour)"
	@echo "make reproduce-quick     headlines of all five, into build/reproduce-quick (ten minutes)"
	@echo "make reproduce-adaptive  adaptive monitoring beyond its paper, into lab/docs/reproduce-adaptive.md (an hour)"
	@echo "make reproduce-classes   accuracy and speed of classification, into lab/docs/accuracy-classes.md (half an hour)"
	@echo
	@echo "Long tests"
	@echo "make soak HOURS=n  run a monitor for n hours while links, collectors and disks fail around it (as root)"
	@echo "make kills         kill -9 at 200 random moments, and check that written records survive (ten minutes)"
	@echo "make fuzz HOURS=n  run all fuzz targets for n core-hours on FUZZ_JOBS cores, into build-fuzz"
	@echo "make memcheck      run tests in valgrind (a quarter of an hour)"
	@echo "make arm64         build for arm64 into build-arm64, and test that in an emulator (an hour)"
	@echo "make recovery      check that device tests find what a lossy link does (five minutes)"

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
	@tools/setup.sh maven default-jdk-headless || echo "without Java and Maven: the factor to Weka is not run"

reproduce reproduce-wirespeed: reproduce-java

reproduce: reproduce-setup
	@python3 lab/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce

$(REPRODUCE_PAPERS:%=reproduce-%): reproduce-%: reproduce-setup
	@python3 lab/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --paper $*

reproduce-quick: programs
	@python3 lab/reproduce $(BUILD)/parshall --runs $(BUILD)/reproduce --folder $(BUILD)/reproduce-quick --quick

reproduce-adaptive: programs
	@python3 lab/reproduce/adaptive.py $(BUILD)/parshall --runs $(BUILD)/reproduce

reproduce-classes: programs
	@tools/setup.sh python3-venv maven default-jdk-headless || echo "without Java and Maven: Weka is left out"
	@python3 lab/reproduce/classes.py $(BUILD)/parshall --runs $(BUILD)/classes

arm64: setup
	@tools/arm64.sh

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
	@build-python/env/bin/pip install --quiet -r docs/notebooks/requirements.txt -r tests/python/requirements.txt
	@build-python/env/bin/python lab/bench/peers/test_repeat_capture.py
	@build-python/env/bin/python tests/python/test_between.py build-python/env/bin/parshall
	@for test in flows types plugins anonymizer exports oracle models send misuse notebooks nfstream; do echo "test_$$test"; build-python/env/bin/python tests/python/test_$$test.py || exit 1; done

portable: setup
	@tools/portable.sh

static:
	@tools/static.sh dist

static-trial:
	@python3 tests/static/test_static.py "dist/parshall-$$(tools/version.sh)-linux-$$(uname -m).tar.gz"

release:
	@tools/release.sh "$(VERSION)" "$(KEY)" dist

deb:
	@tools/deb.sh dist

deb-trial:
	@tools/deb_trial.sh dist

# A suite's root has its own compilers and libraries: tools/suite.sh.
bookworm trixie:
	@tools/suite.sh $@ make --no-print-directory BUILD=build-$@ test
	@tools/suite.sh $@ tools/deb.sh dist
	@tools/deb_trial.sh dist $@

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

nightly:
	@BUILD=$(BUILD) tools/nightly.sh

.PHONY: arm64 bookworm trixie columns static static-trial release deb deb-trial help help-all notebooks portable python python-test sbom sdist site wheel setup configure build programs everything demo test bench recovery reproduce reproduce-adaptive lint nightly kills soak reproduce-setup reproduce-valgrind reproduce-java reproduce-quick $(REPRODUCE_PAPERS:%=reproduce-%) reproduce-classes fuzz memcheck
