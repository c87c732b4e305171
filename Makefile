# What a developer does, one word each. Every target first sets up what is missing: apt packages, a virtual
# environment, the build. Stamps in build/ and .venv/ keep that from being looked at twice.
#
#   make build      the package, importable in .venv          make test       all tests, in minutes
#   make demo       a graph network, torch.sparse and Tulle   make test-full  the whole matrix, and sanitizers
#   make bench      benchmarks (SUITE=spmm for one)           make fuzz       random programs (ARGS=... for more)
#   make format     formats the sources                       make lint       what must hold before a commit
#   make test-gpu   what needs an NVIDIA GPU                  make bench-gpu  benchmarks on it (ARGS=... for more)
#   make gpu-bundle both, packed for another machine          make test-matrix  the whole matrix alone
#   make wheel      one wheel into dist/                      make test-wheel  tests it in a new environment
#   make clean      removes build and environment

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := build
.PHONY: build demo bench bench-gpu fuzz test test-cpp test-text test-python test-full test-matrix test-sanitize test-gpu gpu-bundle \
        format lint lint-includes lint-prose lint-format lint-python lint-tidy wheel test-wheel clean

BUILD := build
VENV := .venv
PYTHON := $(VENV)/bin/python
LLVM_BIN ?= /usr/lib/llvm-22/bin
JOBS ?= $(shell nproc)
SUITE ?= all
ARGS ?=

# Tests and benchmarks leave the user's own cache of kernels alone.
test test-cpp test-text test-python test-full test-matrix test-sanitize test-gpu test-wheel fuzz: \
  export TULLE_CACHE_DIR := $(abspath $(BUILD))/cache

# Progress is for people: without a terminal only failures are printed.
NINJA := ninja -j $(JOBS) $(shell test -t 2 || echo --quiet)
say = @printf '\033[1m==> %s\033[0m\n'

# ---- set up --------------------------------------------------------------------------------------------------

$(BUILD)/.system: scripts/install_packages.sh
	$(say) 'Looking for the system packages'
	@mkdir -p $(BUILD)
	@scripts/install_packages.sh build
	@touch $@

$(BUILD)/.system-tools: scripts/install_packages.sh
	$(say) 'Looking for the packages of tests and lint'
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

# The package finds its libraries in python/tulle/lib, in a checkout as in a wheel.
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

# The whole matrix by itself, in a process for each core.
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
	$(say) 'Running the tests for the GPU'
	@$(NINJA) -C $(BUILD) gpu_test
	@$(PYTHON) tests/gpu/run.py --build $(BUILD) $(ARGS)

# Package, libraries, tests and benchmarks in one file: unpack it on a machine with a GPU and run tests/gpu/run.py there,
# or PYTHONPATH=python python3 bench/run.py --suite gpu.
gpu-bundle: build
	$(say) 'Packing $(BUILD)/gpu/bundle.tar.xz'
	@$(NINJA) -C $(BUILD) gpu_test
	@rm -rf $(BUILD)/gpu && mkdir -p $(BUILD)/gpu/bundle/{build,tests}
	@cp -rL python $(BUILD)/gpu/bundle/ && cp -r bench examples $(BUILD)/gpu/bundle/ && cp -r tests/gpu $(BUILD)/gpu/bundle/tests/ && cp $(BUILD)/gpu_test $(BUILD)/gpu/bundle/build/
	@strip $(BUILD)/gpu/bundle/build/gpu_test $(BUILD)/gpu/bundle/python/tulle/lib/*.so
	@tar -C $(BUILD)/gpu/bundle -cJf $(BUILD)/gpu/bundle.tar.xz . && rm -r $(BUILD)/gpu/bundle

# ---- format and lint -----------------------------------------------------------------------------------------

CPP_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | xargs -r ls 2> /dev/null)
PY_PLACES = python tests scripts bench examples

format: $(VENV)/.packages $(BUILD)/.system-tools
	$(say) 'Formatting C++ and Python'
	@$(LLVM_BIN)/clang-format -i $(CPP_FILES)
	@$(VENV)/bin/ruff check --quiet --fix $(wildcard $(PY_PLACES)); $(VENV)/bin/ruff format --quiet $(wildcard $(PY_PLACES))

lint: lint-includes lint-prose lint-format lint-python lint-tidy

lint-includes: | $(BUILD)/.system
	$(say) 'Checking which folder includes which, and that READMEs name every file'
	@python3 scripts/check_includes.py
	@python3 scripts/check_readmes.py

lint-prose: | $(BUILD)/.system
	$(say) 'Checking the width of prose in Markdown files'
	@python3 scripts/check_prose.py

lint-format: $(BUILD)/.system-tools
	$(say) 'Checking the format of C++'
	@$(LLVM_BIN)/clang-format --dry-run -Werror $(CPP_FILES) 2>&1 | { ! grep -F 'error:'; }

lint-python: $(VENV)/.packages
	$(say) 'Checking Python: ruff, mypy'
	@$(VENV)/bin/ruff check --quiet $(wildcard $(PY_PLACES))
	@$(VENV)/bin/ruff format --quiet --check $(wildcard $(PY_PLACES))
	@$(VENV)/bin/mypy --no-error-summary

lint-tidy: $(BUILD)/build.ninja $(BUILD)/.system-tools
	$(say) 'Checking C++ with clang-tidy: what changed since the last run'
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
