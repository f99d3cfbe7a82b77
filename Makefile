# Every target sets itself up: a fresh machine needs Python >= 3.11 with pip and venv, a C++20 compiler, and make.
# What is installed is pinned with hashes in constraints/; a second run finds the stamp and starts at once.
# pip installs uv, and uv the rest, in seconds and from the index that pip is set up with; without uv, pip does it all.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python tools/install.py --no-deps
OUT ?= demo-report
OLDEST := .venv-oldest
MINIMAL := .venv-minimal
ASAN := .venv-asan
CORE := $(shell find core -type f)

# Tests and demos start many processes: what one has compiled to bytecode, the others read.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-rest test-all bench docs linkcheck soak lint types assets wheel wheel-check sdist sdist-check oldest minimal asan stubs pins clean help

help:
	@echo "make demo    run the demo on the bundled robot; writes $(OUT)/"
	@echo "make test    run the tests, a few minutes;   ARGS=\"tests/robot -k panda\"   runs a part"
	@echo "make test-all    also the tests marked long: oracles, examples, documentation blocks, browsers, clusters;   make test-rest   only those"
	@echo "make bench   all benchmarks compared with their peers, in bench-report/;   ARGS=--gate   fails if a ratio fell"
	@echo "make docs    build the site in docs/_build/html, warnings are errors"
	@echo "make linkcheck   check every address in the docs; needs the network"
	@echo "make soak    run the fuzzers for five minutes; ARGS=\"--minutes 20 --seed 1 --only formats\" for other times and parts"
	@echo "make lint    ruff;   make types   pyright"
	@echo "make assets  regenerate the bundled robots from their tables; compute their spheres, pairs and grasps"
	@echo "make wheel   a wheel with both variants of the core in dist/;   make wheel-check   try it"
	@echo "make sdist   source archive, and the wheel built from it;   make sdist-check   try that wheel"
	@echo "make asan    build the core with sanitizers in $(ASAN) and run the tests that touch it; ARGS as for test"
	@echo "make stubs   write the type stub of elbowroom._core"
	@echo "make oldest  run the tests on the oldest dependencies that pyproject.toml allows, in $(OLDEST); ARGS as for test"
	@echo "make minimal check that a plain pip install in $(MINIMAL) works without the extras"
	@echo "make pins    refresh constraints/ after a change of dependencies"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "elbowroom needs Python 3.11 or newer, found %s; set PYTHON=" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.uv: $(BIN)/python constraints/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r constraints/uv.txt 2>$(VENV)/uv.log || \
	  echo "uv is not available (see $(VENV)/uv.log); pip installs instead, which takes longer"
	@touch $@

$(VENV)/.pins: $(VENV)/.uv constraints/run.txt
	$(INSTALL) --require-hashes -r constraints/run.txt
	@touch $@

# The core is built here; after an edit only what changed is compiled again.
$(VENV)/.run: $(VENV)/.pins pyproject.toml $(CORE)
	@command -v $${CXX:-c++} >/dev/null || { echo "elbowroom's core is C++20 and no compiler was found: install g++ 12 or \
	clang 15 or newer (Debian: apt install g++; macOS: xcode-select --install), or set CXX" >&2; exit 1; }
	$(INSTALL) --no-build-isolation $(CORE_SETTINGS) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run constraints/dev.txt
	$(INSTALL) --require-hashes -r constraints/dev.txt
	@touch $@

demo: $(VENV)/.run
	$(BIN)/elbowroom demo --out $(OUT)

PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile
test: $(VENV)/.dev
	$(PYTEST) -m "not long" $(ARGS)

# Three workers on two cores: many of these wait, for a browser or for robots in real time.
test-rest: $(VENV)/.dev
	$(PYTEST) -n 3 -m long $(ARGS)

test-all: $(VENV)/.dev
	$(PYTEST) $(ARGS)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

linkcheck: $(VENV)/.dev
	$(BIN)/sphinx-build -W --keep-going -q -b linkcheck docs docs/_build/linkcheck

soak: $(VENV)/.dev
	$(BIN)/python -m tests.soak $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/pyright

assets: $(VENV)/.dev
	$(BIN)/python tools/model_teaarm.py
	$(BIN)/python tools/model_rh56.py
	$(BIN)/python tools/ship_results.py
	$(BIN)/python -m tests.stored

VARIANTS := $(if $(filter x86_64 AMD64,$(shell uname -m)),v2;v3,local)
wheel: $(VENV)/.dev
	rm -rf dist/elbowroom-*.whl build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel \
	  --config-settings="cmake.define.ELBOWROOM_VARIANTS=$(VARIANTS)" .
	@mkdir -p dist
ifeq ($(shell uname -s),Linux)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/elbowroom-*.whl
else
	cp build/wheel/elbowroom-*.whl dist
endif

wheel-check: wheel
	$(BIN)/python tools/check_wheel.py dist/elbowroom-*.whl

# The wheel is made from the archive, not from here: what the archive lacks is missed at once.
sdist: $(VENV)/.dev
	rm -f dist/elbowroom-*.tar.gz dist/elbowroom-*.whl
	$(BIN)/uv build --quiet --sdist --no-build-isolation --python $(BIN)/python --out-dir dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/elbowroom-*.tar.gz

sdist-check: sdist
	$(BIN)/python tools/check_wheel.py dist/elbowroom-*.whl

# Python 3.11, the oldest we name; later ones have no wheels of the oldest dependencies.
$(OLDEST)/.oldest: $(VENV)/.dev pyproject.toml constraints/build.in
	$(BIN)/uv venv --quiet --clear --python 3.11 $(OLDEST)
	$(BIN)/uv pip compile pyproject.toml constraints/build.in --extra cluster --extra robots --extra test \
	  --resolution lowest-direct --python-version 3.11 --quiet --output-file $(OLDEST)/oldest.txt
	$(BIN)/uv pip install --quiet --python $(OLDEST) --requirement $(OLDEST)/oldest.txt
	$(BIN)/uv pip install --quiet --python $(OLDEST) --no-deps --no-build-isolation --editable .
	@touch $@

oldest: $(OLDEST)/.oldest
	$(OLDEST)/bin/python -m pytest -n 2 --dist loadfile $(ARGS)

minimal:
	$(PYTHON) -m venv --clear $(MINIMAL)
	$(MINIMAL)/bin/python -m pip install --quiet --disable-pip-version-check .
	$(MINIMAL)/bin/python -m pip check --disable-pip-version-check
	$(MINIMAL)/bin/python tools/minimal.py

# Python itself is not instrumented, so the sanitizer's library is loaded before it; leaks of Python are not ours.
$(ASAN)/.asan: $(VENV)/.dev $(CORE)
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(ASAN)
	$(BIN)/uv pip install --quiet --python $(ASAN) --no-deps --require-hashes -r constraints/run.txt -r constraints/dev.txt
	$(BIN)/uv pip install --quiet --python $(ASAN) --no-deps --no-build-isolation --editable . \
	  --config-settings=cmake.define.ELBOWROOM_SANITIZE=ON --config-settings=build-dir=build/asan
	@touch $@

asan: $(ASAN)/.asan
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  $(ASAN)/bin/python -m pytest -n 2 --dist loadfile $(or $(ARGS),$(addprefix tests/,core robot mesh spheres distance pairs))

stubs: $(VENV)/.dev
	$(BIN)/python tools/write_core_stub.py
	$(BIN)/ruff format --quiet src/elbowroom/_core

PIN := $(BIN)/uv pip compile pyproject.toml constraints/build.in --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --quiet --custom-compile-command "make pins"
pins: $(VENV)/.dev
	$(PIN) --output-file constraints/run.txt
	$(PIN) --all-extras --constraint constraints/run.txt --output-file constraints/dev.txt
	{ head -2 constraints/dev.txt; sed -n '/^uv==/,/sha256:[0-9a-f]*$$/p' constraints/dev.txt; } >constraints/uv.txt

clean:
	rm -rf $(VENV) $(OLDEST) $(MINIMAL) $(ASAN) build $(OUT) bench-report .pytest_cache .ruff_cache
