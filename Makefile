# The tasks of a developer, one target each. Every target first installs and builds what it needs: apt packages, a
# virtual environment, the build. Stamp files in build/ and .venv/ record finished set-up steps.
#
#   make build       builds the package, importable in .venv  make test        runs all tests, in minutes
#   make demo        runs a graph network, against torch      make test-full   adds the whole matrix and sanitizers
#   make bench       runs benchmarks (SUITE=spmm for one)     make test-matrix runs the whole matrix alone
#   make format      formats the sources                      make fuzz        runs random programs (ARGS=...)
#   make lint        checks the sources before a commit       make test-gpu    runs the tests that need an NVIDIA GPU
#   make wheel       builds a wheel into dist/                make bench-gpu   runs benchmarks on a GPU (ARGS=...)
#   make test-wheel  tests the wheel in a new environment     make gpu-bundle  packs both for another machine
#   make clean       removes the build and the environment

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := build
.PHONY: build demo bench bench-gpu fuzz test test-cpp test-text test-python test-full test-matrix test-sanitize \
        test-gpu gpu-bundle format lint lint-includes lint-prose lint-format lint-python lint-tidy \
        wheel test-wheel clean

BUILD := build
VENV := .venv
PYTHON := $(VENV)/bin/python
LLVM_BIN ?= /usr/lib/llvm-22/bin
JOBS ?= $(shell nproc)
SUITE ?= all
ARGS ?=

# Tests use a kernel cache of their own, not the user's.
test test-cpp test-text test-python test-full test-matrix test-sanitize test-gpu test-wheel fuzz: \
  export TULLE_CACHE_DIR := $(abspath $(BUILD))/cache

# Without a terminal, ninja prints failures only.
NINJA := ninja -j $(JOBS) $(shell test -t 2 || echo --quiet)
say = @printf '\033[1m==> %s\033[0m\n'

# ---- set up --------------------------------------------------------------------------------------------------

$(BUILD)/.system: scripts/install_packages.sh
	$(say) 'Installing missing system packages'
	@mkdir -p $(BUILD)
	@scripts/install_packages.sh build
	@touch $@

$(BUILD)/.system-tools: scripts/install_packages.sh
	$(say) 'Installing missing system packages for tests and lint'
	@mkdir -p $(BUILD)
	@scripts/install_packages.sh tools
	@touch $@

$(VENV)/.packages: scripts/requirements.txt | $(BUILD)/.system
	$(say) 'Setting up the virtual environment $(VENV)'
	@test -x $(PYTHON) || python3 -m venv $(VENV)
	@$(PYTHON) -m pip install -qq --disable-pip-version-check -r scripts/requirements.txt
	@touch $@

$(BUILD)/build.ninja: | $(VENV)/.packages
	$(say) 'Configuring $(BUILD)'
	@cmake -S . -B $(BUILD) -G Ninja -DTULLE_TORCH=ON -DPython3_EXECUTABLE=$(abspath $(PYTHON)) > $(BUILD)/configure.log \
	  || { cat $(BUILD)/configure.log; rm -f $@; exit 1; }

# The package loads its libraries from python/tulle/lib, both in a checkout and in a wheel.
$(VENV)/.develop: Makefile | $(VENV)/.packages
	@mkdir -p python/tulle/lib
	@ln -srf $(BUILD)/libtulle.so $(BUILD)/libtulle_torch.so python/tulle/lib/
	@$(PYTHON) -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "tulle.pth").write_text("$(abspath python)\n")'
	@touch $@

# ---- build and run -------------------------------------------------------------------------------------------

build: $(BUILD)/build.ninja $(VENV)/.develop
	$(say) 'Building the libraries and tools'
	@$(NINJA) -C $(BUILD) tulle_torch tools

demo: build
	$(say) 'Running examples/gcn_demo.py'
	@$(PYTHON) examples/gcn_demo.py $(ARGS)

bench: build $(BUILD)/.system-tools
	$(say) 'Running the benchmarks: $(SUITE)'
	@$(PYTHON) bench/run.py --suite $(SUITE) $(ARGS)

bench-gpu: build
	$(say) 'Running the benchmarks on the GPU'
	@$(PYTHON) bench/run.py --suite gpu $(ARGS)

fuzz: build
	$(say) 'Running random programs'
	@$(BUILD)/tulle-fuzz $(ARGS)

# ---- test ----------------------------------------------------------------------------------------------------

test: test-cpp test-text test-python

test-cpp: build $(BUILD)/.system-tools
	$(say) 'Building and running the C++ tests'
	@$(NINJA) -C $(BUILD)
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=ignore
	@grep -hE '^ *(matrix|sequences)' $(BUILD)/Testing/Temporary/LastTest.log || true

test-text: build $(BUILD)/.system-tools
	$(say) 'Running the text tests'
	@$(PYTHON) tests/text/run.py --build $(BUILD)

test-python: build $(BUILD)/.system-tools
	$(say) 'Running the Python tests'
	@$(PYTHON) -m pytest $(ARGS)

# test-matrix runs the whole matrix in one process per core, so the C++ tests skip it.
test-full: export TULLE_TEST_FULL := 1
test-full: export GTEST_FILTER := -Operations/Matrix*
test-full: test test-matrix test-sanitize

test-matrix: build
	$(say) 'Running the whole matrix of operations, formats, conditions and types'
	@$(NINJA) -C $(BUILD) differential_test
	@$(PYTHON) tests/differential/run_matrix.py --build $(BUILD) --jobs $(JOBS) $(ARGS)

test-sanitize: $(VENV)/.packages $(BUILD)/.system-tools
	$(say) 'Building and running the C++ tests with address and undefined-behaviour sanitizers'
	@mkdir -p $(BUILD)/sanitize
	@cmake -S . -B $(BUILD)/sanitize -G Ninja '-DTULLE_SANITIZE=address;undefined' > $(BUILD)/sanitize/configure.log
	@$(NINJA) -C $(BUILD)/sanitize
	@env -u TULLE_TEST_FULL -u GTEST_FILTER ctest --test-dir $(BUILD)/sanitize -j $(JOBS) --output-on-failure --no-tests=ignore

test-gpu: build
	$(say) 'Running the tests that need a GPU'
	@$(NINJA) -C $(BUILD) gpu_test
	@$(PYTHON) tests/gpu/run.py --build $(BUILD) $(ARGS)

# Packs the package, libraries, tests and benchmarks into one file. Unpack it on a machine with a GPU, then run
# tests/gpu/run.py or PYTHONPATH=python python3 bench/run.py --suite gpu.
gpu-bundle: build
	$(say) 'Packing $(BUILD)/gpu/bundle.tar.xz'
	@$(NINJA) -C $(BUILD) gpu_test
	@rm -rf $(BUILD)/gpu && mkdir -p $(BUILD)/gpu/bundle/{build,tests}
	@cp -rL python $(BUILD)/gpu/bundle/ && cp -r bench examples $(BUILD)/gpu/bundle/
	@cp -r tests/gpu $(BUILD)/gpu/bundle/tests/ && cp $(BUILD)/gpu_test $(BUILD)/gpu/bundle/build/
	@strip $(BUILD)/gpu/bundle/build/gpu_test $(BUILD)/gpu/bundle/python/tulle/lib/*.so
	@tar -C $(BUILD)/gpu/bundle -cJf $(BUILD)/gpu/bundle.tar.xz . && rm -r $(BUILD)/gpu/bundle

# ---- format and lint -----------------------------------------------------------------------------------------

CPP_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | xargs -r ls 2> /dev/null)
PY_PLACES = python tests scripts bench examples

format: $(VENV)/.packages $(BUILD)/.system-tools
	$(say) 'Formatting C++ and Python'
	@$(LLVM_BIN)/clang-format -i $(CPP_FILES)
	@$(VENV)/bin/ruff check --quiet --fix $(wildcard $(PY_PLACES)); \
	  $(VENV)/bin/ruff format --quiet $(wildcard $(PY_PLACES))

lint: lint-includes lint-prose lint-format lint-python lint-tidy

lint-includes: | $(BUILD)/.system
	$(say) 'Checking includes and imports between folders, and that READMEs name every file'
	@python3 scripts/check_includes.py
	@python3 scripts/check_imports.py
	@python3 scripts/check_readmes.py

lint-prose: | $(BUILD)/.system
	$(say) 'Checking the width of prose in Markdown files'
	@python3 scripts/check_prose.py

lint-format: $(BUILD)/.system-tools
	$(say) 'Checking the format of C++ with clang-format'
	@$(LLVM_BIN)/clang-format --dry-run -Werror $(CPP_FILES) 2>&1 | { ! grep -F 'error:'; }

lint-python: $(VENV)/.packages
	$(say) 'Checking Python with ruff and mypy'
	@$(VENV)/bin/ruff check --quiet $(wildcard $(PY_PLACES))
	@$(VENV)/bin/ruff format --quiet --check $(wildcard $(PY_PLACES))
	@$(VENV)/bin/mypy --no-error-summary

lint-tidy: $(BUILD)/build.ninja $(BUILD)/.system-tools
	$(say) 'Checking C++ with clang-tidy: files changed since they last passed'
	@$(PYTHON) scripts/tidy.py --build $(BUILD) --clang-tidy $(LLVM_BIN)/clang-tidy --jobs $(JOBS)

# ---- package and clean ---------------------------------------------------------------------------------------

wheel: $(VENV)/.packages
	$(say) 'Building the wheel'
	@rm -f dist/*.whl
	@$(PYTHON) -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist

# The code in the documents and the examples, with the installed package instead of the checkout.
test-wheel: wheel
	$(say) 'Testing the wheel in a new virtual environment'
	@rm -rf $(BUILD)/wheel-test
	@$(PYTHON) -m venv $(BUILD)/wheel-test
	@$(BUILD)/wheel-test/bin/python -m pip install -qq --disable-pip-version-check "$$(ls dist/*.whl)[test]"
	@env -u PYTHONPATH $(BUILD)/wheel-test/bin/python -m pytest tests/python/test_documents.py

clean:
	$(say) 'Removing build, environment and caches'
	@rm -rf $(BUILD) $(VENV) dist python/tulle/lib .mypy_cache .ruff_cache .pytest_cache .hypothesis
