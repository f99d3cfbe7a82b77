# Every target sets itself up: a fresh machine needs Python >= 3.11 with pip and venv, and make.
# What is installed is pinned with hashes in constraints/; a second run finds the stamp and starts at once.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
OUT ?= demo-report
OLDEST := .venv-oldest
MINIMAL := .venv-minimal

.PHONY: demo test bench docs linkcheck soak lint types assets kernels wheel wheel-check sdist sdist-check oldest minimal pins clean help

help:
	@echo "make demo    run the demo on the bundled robot; writes $(OUT)/"
	@echo "make test    run the tests"
	@echo "make bench   all benchmarks beside their peers, in bench-report/;   ARGS=--gate   fails where a ratio fell"
	@echo "make docs    build the site in docs/_build/html, warnings are errors"
	@echo "make linkcheck   ask every address in the docs whether it is there; needs the network"
	@echo "make soak    run the fuzzers for five minutes; ARGS=\"--minutes 20 --seed 1 --only formats\" for other times and parts"
	@echo "make lint    ruff;   make types   pyright"
	@echo "make assets  model the bundled robots anew from their tables; compute their spheres, pairs and grasps"
	@echo "make kernels compile the kernels ahead of time, for x86-64-v3"
	@echo "make wheel   a wheel with these kernels in dist/;   make wheel-check   try it in a fresh environment"
	@echo "make sdist   source archive, and the wheel for every machine built from it;   make sdist-check   try that wheel"
	@echo "make oldest  run the tests on the oldest dependencies that pyproject.toml allows, in $(OLDEST); ARGS as for test"
	@echo "make minimal a plain pip install in $(MINIMAL): nothing of the extras is needed"
	@echo "make pins    refresh constraints/ after a change of dependencies"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "elbowroom needs Python 3.11 or newer, found %s; set PYTHON=" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python constraints/run.txt pyproject.toml
	$(PIP_INSTALL) --no-deps --require-hashes -r constraints/run.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run constraints/dev.txt
	$(PIP_INSTALL) --no-deps --require-hashes -r constraints/dev.txt
	@touch $@

demo: $(VENV)/.run
	$(BIN)/elbowroom demo --out $(OUT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

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

kernels: $(VENV)/.dev
	$(BIN)/python tools/build_kernels.py

wheel: kernels
	rm -f dist/elbowroom-*manylinux*.whl
	$(BIN)/python -m hatchling build --target wheel

wheel-check: wheel
	$(BIN)/python tools/check_wheel.py dist/elbowroom-*manylinux*.whl

# The wheel is made from the archive, not from here: what the archive lacks is missed at once, and it has no kernels.
sdist: $(VENV)/.dev
	rm -f dist/elbowroom-*.tar.gz dist/elbowroom-*-none-any.whl
	$(BIN)/python -m hatchling build --target sdist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/elbowroom-*.tar.gz

sdist-check: sdist
	$(BIN)/python tools/check_wheel.py dist/elbowroom-*-none-any.whl

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

PIN := $(BIN)/uv pip compile pyproject.toml constraints/build.in --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --quiet --custom-compile-command "make pins"
pins: $(VENV)/.dev
	$(PIN) --output-file constraints/run.txt
	$(PIN) --all-extras --constraint constraints/run.txt --output-file constraints/dev.txt

clean:
	rm -rf $(VENV) $(OLDEST) $(MINIMAL) $(OUT) bench-report .pytest_cache .ruff_cache
